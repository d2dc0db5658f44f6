"""What silences findings: a name, or any, over some lines of one file."""

from __future__ import annotations

from dataclasses import dataclass

from prjury.code.parser import Range
from prjury.code.source import Source
from prjury.judges.patterns.match import Active, Hit
from prjury.jury.judgment import Severity

#: Names of findings as a whole: every one, and those of APIs that are deprecated, or gone.
ANY, DEPRECATION, REMOVAL = "*", "*deprecation", "*removal"


@dataclass
class Directive:
    """One comment or annotation, or one name in it.

    Attributes:
        label: the kind of comment, such as ``noqa``.
        text: the comment as it is written, on one line and short.
        line: git's number of the line that it stands on.
        lines: the lines over which it holds.
        names: what it speaks of: rules, other tools' codes, `ANY`, `DEPRECATION`, `REMOVAL`.
        used: whether it has silenced anything, also on lines that the pull request does not add.
    """

    label: str
    text: str
    line: int
    lines: range
    names: frozenset[str]
    used: bool = False

    def covers(self, hit: Hit, names: frozenset[str]) -> bool:
        """Whether it speaks of a finding with these names, here."""
        return bool(self.names & names) and any(line in self.lines for line in hit.lines)

    def __str__(self) -> str:
        return f"{self.text} on line {self.line}"


def names_of(active: Active, severity: Severity) -> frozenset[str]:
    """Every name by which a comment can mean a finding of this severity.

    A rule that is an error says that the declared version no longer has something; one that is
    less, or less in this project because its version only deprecates it, speaks of a deprecation.
    """
    rule = active.rule
    lesser = severity != "error" and rule.deprecated is not None
    kind = DEPRECATION if lesser or rule.severity != "error" else REMOVAL
    return frozenset({ANY, kind, active.name, rule.id, *rule.codes})


@dataclass(frozen=True)
class CommentPage:
    """A file as the readers of foreign comments see it.

    Attributes:
        comments: where comments are, in order.
        strings: where the contents of strings are.
        marks: what the language's probe asks for: annotations, attributes.
        items: what such a mark can stand on.
    """

    source: Source
    comments: tuple[Range, ...]
    strings: tuple[Range, ...] = ()
    marks: tuple[Range, ...] = ()
    items: tuple[Range, ...] = ()

    def text(self, span: Range) -> str:
        """The text at a place."""
        return self.source.text[span[0] : span[1]]

    def first(self, span: Range) -> int:
        """The line on which a place begins."""
        return self.source.line_at(span[0])

    def lines(self, span: Range) -> range:
        """The lines of a place."""
        return range(self.first(span), self.source.line_at(max(span[0], span[1] - 1)) + 1)

    def alone(self, span: Range) -> bool:
        """Whether nothing but blanks stands before a place on its line."""
        begin = self.source.text.rfind("\n", 0, span[0]) + 1
        return not self.source.text[begin : span[0]].strip()
