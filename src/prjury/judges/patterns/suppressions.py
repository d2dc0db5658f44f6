"""``prjury-ignore[rule]`` in a comment: silences findings of its own line and of the next one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from prjury.code.parser import Parsed
from prjury.judges.patterns.match import Active, FileScan, Hit

#: The word that makes a file worth reading even where no rule's literal stands in it.
MARKER = "prjury-ignore"

_DIRECTIVE = re.compile(re.escape(MARKER) + r"\[([^\]\n]{1,500})\]")


@dataclass
class Directive:
    """One name in one comment.

    Attributes:
        rule: ``rule`` or ``pack/rule``.
        line: git's number of the line that it stands on.
        used: whether it has silenced anything, also on lines that the pull request does not add.
    """

    rule: str
    line: int
    used: bool = False

    def covers(self, hit: Hit) -> bool:
        """Whether it speaks of this rule, here."""
        named = self.rule in {hit.active.name, hit.active.rule.id}
        return named and any(line in {self.line, self.line + 1} for line in hit.lines)

    def concerns(self, active: Collection[Active]) -> bool:
        """Whether one of the rules that looked at the file is meant, or none that could be."""
        pack, slash, _ = self.rule.rpartition("/")
        return not slash or any(pack == each.pack.id for each in active)


@dataclass
class Suppressions:
    """The directives of one file."""

    directives: list[Directive] = field(default_factory=list)

    @classmethod
    def of(cls, scan: FileScan, parsed: Parsed | None) -> Suppressions:
        """Reads the file's comments."""
        return cls(list(_directives(scan, parsed)) if MARKER in scan.source.text else [])

    def split(self, hits: Iterable[Hit]) -> tuple[list[Hit], list[Hit]]:
        """The hits that remain, and those that a comment silences."""
        remaining: list[Hit] = []
        silenced: list[Hit] = []
        for hit in hits:
            covering = [directive for directive in self.directives if directive.covers(hit)]
            for directive in covering:
                directive.used = True
            (silenced if covering else remaining).append(hit)
        return remaining, silenced

    def unused(self, added: Collection[int], active: Collection[Active]) -> list[Directive]:
        """Directives that the pull request adds and that silence nothing."""
        return [
            directive
            for directive in self.directives
            if not directive.used and directive.line in added and directive.concerns(active)
        ]


def _directives(scan: FileScan, parsed: Parsed | None) -> Iterator[Directive]:
    for start, end in scan.comments(parsed):
        for match in _DIRECTIVE.finditer(scan.source.text, start, end):
            line = scan.source.line_at(match.start())
            for name in match[1].split(","):
                yield Directive(name.strip(), line)
