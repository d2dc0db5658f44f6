"""Where a text declares names, as a tree of headings, which the languages' readers understand."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from prjury.code.names.binding import Rule
from prjury.code.parser import Job, Parsed, Range, job
from prjury.code.source import Source, UnreadableError

#: Characters of a heading that are read; what a longer one declares is told from its beginning.
_LONGEST = 50_000
#: Nobody writes declarations inside of declarations any deeper.
_DEEPEST = 60

_TEXT = r"(\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`[^`]*`)"
#: Strings, which are kept, and comments.
_HASHES = re.compile(_TEXT + r"|#[^\n]*")
_SLASHES = re.compile(_TEXT + r"|//[^\n]*|/\*(?s:.*?)\*/")

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
    """How declarations are found in a language.

    Attributes:
        roles: the kinds of nodes by role. ``callable``, ``value``, ``constant`` and ``hidden`` hide
            what is declared inside; a ``wrapper`` ends where the first declaration inside begins.
        bodies: the kinds with which a heading ends.
        only: what else must be true of a node of some kinds.
    """

    roles: Mapping[str, str]
    bodies: str
    only: Mapping[str, Rule] = field(default_factory=dict)

    @cached_property
    def role_of(self) -> Mapping[str, str]:
        """The role of each kind; none for a body, and ``broken`` for what does not parse."""
        known = {kind: role for role, kinds in self.roles.items() for kind in kinds.split()}
        return {**known, **dict.fromkeys(self.bodies.split(), ""), "ERROR": "broken"}

    @cached_property
    def rule(self) -> Rule:
        """One rule for all of it: every further one costs a walk through the whole tree."""
        rules = [{**self.only.get(kind, {}), "kind": kind} for kind in self.role_of]
        return {"rule": {"any": rules}, "kinds": True}


def declaring(source: Source, grammar: Grammar) -> Job:
    """What the parser is asked about a text."""
    asked = job(source.text, source.language, [grammar.rule])
    return {**asked, "comments": [], "strings": []}


def declarations(source: Source, grammar: Grammar, parsed: Parsed) -> list[Declaration]:
    """The declarations that are not inside of a function or a value, outer ones first.

    Raises:
        UnreadableError: for more levels than anybody writes.
    """
    roles = grammar.role_of
    order = sorted(
        (place[0], -place[1], roles[kind])
        for (_, place), kind in parsed.rewritten.items()
        if kind != "ERROR"
    )
    ends = _headings(order)
    made: list[Declaration] = []
    around: list[tuple[int, int]] = []
    hidden_until = -1
    for start, minus_end, role in order:
        end = -minus_end
        if not role or start < hidden_until:
            continue
        while around and around[-1][1] <= start:
            around.pop()
        if len(around) > _DEEPEST:
            raise UnreadableError(f"declarations stand more than {_DEEPEST} deep in each other")
        parent = around[-1][0] if around else -1
        raw = source.text[start : min(ends.get((start, end), end), start + _LONGEST)]
        clean = _clean(raw, source.language.name)
        made.append(Declaration(role, clean, start, raw, parent))
        around.append((len(made) - 1, end))
        if role in _CLOSED:
            hidden_until = end
    return made


def broken_at(source: Source, parsed: Parsed) -> int | None:
    """The first line that does not parse, in git's numbers."""
    errors = [place[0] for (_, place), kind in parsed.rewritten.items() if kind == "ERROR"]
    return source.line_at(min(errors)) if errors else None


def _headings(order: Sequence[tuple[int, int, str]]) -> dict[Range, int]:
    """Where the body of each declaration begins that has one."""
    ends: dict[Range, int] = {}
    around: list[tuple[Range, str]] = []
    for start, minus_end, role in order:
        while around and around[-1][0][1] <= start:
            around.pop()
        if around and (not role or around[-1][1] == "wrapper"):
            ends.setdefault(around[-1][0], start)
        if role:
            around.append(((start, -minus_end), role))
    return ends


def _clean(raw: str, language: str) -> str:
    """The heading on one line, without comments."""
    if language == "python":
        raw = _HASHES.sub(r"\1", raw) if "#" in raw else raw
    elif "//" in raw or "/*" in raw:
        raw = _SLASHES.sub(_kept, raw)
    return " ".join(raw.split())


def _kept(match: re.Match[str]) -> str:
    return match[1] or " "
