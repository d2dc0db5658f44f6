"""Where a text declares names, as a tree of headings, which the languages' readers understand."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from prjury.code.names.binding import Rule
from prjury.code.parser import Job, Parsed, Range, job
from prjury.code.source import Source

#: Characters of a heading that are read; what a longer one declares is told from its beginning.
_LONGEST = 50_000

_ERROR: Rule = {"kind": "ERROR"}

#: Roles whose inside belongs to nobody else.
_CLOSED = frozenset({"callable", "value", "constant", "hidden"})


@dataclass(frozen=True, slots=True)
class Declaration:
    """One place where names are declared.

    Attributes:
        role: which of the grammar's rules found it.
        heading: what stands before its body, on one line and without comments.
        start: its offset in the text.
        raw: the heading as it stands there.
        parent: the place of the one around it in the list, -1 for none.
    """

    role: str
    heading: str
    start: int
    raw: str
    parent: int

    def line_of(self, name: str, source: Source) -> int:
        """The line in which the name stands, as far as that can be told."""
        at = self.raw.find(name)
        while at > 0 and (self.raw[at - 1].isalnum() or self.raw[at - 1] in '_@."'):
            at = self.raw.find(name, at + 1)
        return source.line_at(self.start + max(at, 0))


@dataclass(frozen=True)
class Grammar:
    """How declarations are found in a language, as ast-grep's rules.

    Attributes:
        roles: by role; ``callable``, ``value``, ``constant`` and ``hidden`` hide what is declared
            inside, and a ``wrapper`` ends where the first declaration inside begins.
        bodies: with which a heading ends.
    """

    roles: Mapping[str, Rule]
    bodies: Rule


def declaring(source: Source, grammar: Grammar) -> Job:
    """What the parser is asked about a text."""
    rules = [{"rule": rule} for rule in (*grammar.roles.values(), grammar.bodies, _ERROR)]
    return {**job(source.text, source.language, rules), "strings": []}


def declarations(source: Source, grammar: Grammar, parsed: Parsed) -> list[Declaration]:
    """The declarations that are not inside of a function or a value, outer ones first."""
    roles = (*grammar.roles, "")
    order = sorted(
        (start, -end, number) for number, (start, end) in parsed.found if number < len(roles)
    )
    ends = _headings(order, roles)
    made: list[Declaration] = []
    around: list[tuple[int, int]] = []
    hidden_until = -1
    for start, minus_end, number in order:
        end, role = -minus_end, roles[number]
        if not role or start < hidden_until:
            continue
        while around and around[-1][1] <= start:
            around.pop()
        parent = around[-1][0] if around else -1
        raw = source.text[start : min(ends.get((start, end), end), start + _LONGEST)]
        clean = _clean(raw, start, parsed.comments)
        made.append(Declaration(role, clean, start, raw, parent))
        around.append((len(made) - 1, end))
        if role in _CLOSED:
            hidden_until = end
    return made


def _headings(order: Sequence[tuple[int, int, int]], roles: Sequence[str]) -> dict[Range, int]:
    """Where the body of each declaration begins that has one."""
    ends: dict[Range, int] = {}
    around: list[tuple[Range, str]] = []
    for start, minus_end, number in order:
        while around and around[-1][0][1] <= start:
            around.pop()
        role = roles[number]
        if around and (not role or around[-1][1] == "wrapper"):
            ends.setdefault(around[-1][0], start)
        if role:
            around.append(((start, -minus_end), role))
    return ends


def _clean(raw: str, start: int, comments: Sequence[Range]) -> str:
    at = bisect_left(comments, (start, start))
    pieces, last = [], 0
    while at < len(comments) and comments[at][0] < start + len(raw):
        begin, end = comments[at][0] - start, comments[at][1] - start
        pieces += [raw[last:begin], " "]
        last = max(last, end)
        at += 1
    return " ".join("".join([*pieces, raw[last:]]).split())


def broken_at(source: Source, grammar: Grammar, parsed: Parsed) -> int | None:
    """The first line that does not parse, in git's numbers."""
    errors = [place[0] for number, place in parsed.found if number > len(grammar.roles)]
    return source.line_at(min(errors)) if errors else None
