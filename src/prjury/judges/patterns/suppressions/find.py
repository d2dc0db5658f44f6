"""All that silences findings in one file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from prjury.code.parser import Job, Parsed
from prjury.judges.patterns.match import MARKER, Active, FileScan, Hit
from prjury.judges.patterns.suppressions.comments import eslint, nolint, noqa
from prjury.judges.patterns.suppressions.directive import CommentPage, Directive, names_of
from prjury.judges.patterns.suppressions.marks import PROBES, Probe, allowed, declared
from prjury.judges.patterns.suppressions.prjury_comments import concerns, own_directives
from prjury.jury.judgment import Severity

Reader: TypeAlias = Callable[[CommentPage], Iterable[Directive]]

#: How the ecosystem of each language silences its own tools.
READERS: Mapping[str, Reader] = {
    "python": noqa,
    "go": nolint,
    "javascript": eslint,
    "typescript": eslint,
    "tsx": eslint,
    "java": declared,
    "kotlin": declared,
    "rust": allowed,
}

#: Directives over more lines are looked through one by one, so many of them in a file.
_FEW_LINES, _MAX_WIDE = 3, 1_000


@dataclass(frozen=True)
class SuppressionRules:
    """Which comments are listened to: ``own`` ones, and those of the ``ecosystem``."""

    own: bool = True
    ecosystem: bool = True

    @classmethod
    def to(cls, *, allow: bool, ecosystem: bool) -> SuppressionRules:
        """Where comments are not allowed to silence anything, those of others are not either."""
        return cls(allow, allow and ecosystem)

    def job(self, scan: FileScan) -> Job | None:
        """What the parser has to do for the rules, and to find annotations that silence."""
        asked, probe = scan.job, self._probe(scan)
        return {**asked, "rules": [*asked["rules"], *probe.rules]} if asked and probe else asked

    def read(self, scan: FileScan, reply: Parsed | None) -> tuple[Parsed | None, Suppressions]:
        """The reply without what was asked here, and what silences findings in the file."""
        probe = self._probe(scan)
        extra = len(probe.rules) if probe and reply else 0
        parsed, found = _split(reply, scan, extra) if reply else (None, ())
        page = CommentPage(
            scan.source,
            tuple(scan.comments(parsed)) if self.own or self.ecosystem else (),
            parsed.strings if parsed else (),
            *(tuple(span for n, span in found if n == number) for number in range(2)),
        )
        return parsed, Suppressions(list(self._directives(page)))

    def _probe(self, scan: FileScan) -> Probe | None:
        probe = PROBES.get(scan.source.language.name) if self.ecosystem else None
        return probe if probe and probe.word in scan.source.text else None

    def _directives(self, page: CommentPage) -> Iterator[Directive]:
        if self.own:
            yield from own_directives(page)
        reader = READERS.get(page.source.language.name)
        if self.ecosystem and reader:
            yield from reader(page)


def _split(
    reply: Parsed, scan: FileScan, extra: int
) -> tuple[Parsed, tuple[tuple[int, tuple[int, int]], ...]]:
    """What the rules found, and what the ``extra`` rules after them did, counted from zero."""
    if not extra:
        return reply, ()
    job = scan.job
    count = len(job["rules"]) if job else 0
    ours = tuple(entry for entry in reply.found if entry[0] < count)
    others = tuple((number - count, span) for number, span in reply.found if number >= count)
    return replace(reply, found=ours), others


@dataclass
class Suppressions:
    """The directives of one file, those over a line or two found by their lines."""

    directives: list[Directive] = field(default_factory=list)
    _at: dict[int, list[Directive]] = field(init=False, default_factory=dict)
    _wide: list[Directive] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        for directive in self.directives:
            if len(directive.lines) > _FEW_LINES:
                self._wide.append(directive)
                continue
            for line in directive.lines:
                self._at.setdefault(line, []).append(directive)
        del self._wide[_MAX_WIDE:]

    def silencer(self, hit: Hit, severity: Severity) -> Directive | None:
        """What silences the hit, ours before others; all that do have been used."""
        names = names_of(hit.active, severity)
        near = [directive for line in hit.lines for directive in self._at.get(line, ())]
        covering = [directive for directive in (*near, *self._wide) if directive.covers(hit, names)]
        for directive in covering:
            directive.used = True
        return min(covering, key=lambda directive: directive.label != MARKER, default=None)

    def unused(self, added: Collection[int], active: Collection[Active]) -> list[tuple[str, int]]:
        """Names and lines of our own comments that the pull request adds and that do nothing."""
        return [
            (name, directive.line)
            for directive in self.directives
            if directive.label == MARKER and not directive.used and directive.line in added
            for name in directive.names
            if concerns(name, active)
        ]
