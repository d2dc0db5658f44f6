"""What a text offers others: its public names, read from headings of declarations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

from prjury.code.names.binding import Rule
from prjury.code.parser import Job, Parsed, Range, job
from prjury.code.source import Source, UnreadableError

#: Stands for a default value, whichever it is.
_DEFAULT = "=…"


class SymbolKind(StrEnum):
    """What a public name stands for; an alias for something that another text defines."""

    TYPE = "type"
    CALLABLE = "callable"
    PROPERTY = "property"
    VALUE = "value"
    ALIAS = "alias"


class Passing(StrEnum):
    """How an argument reaches its parameter."""

    ANY = "any"
    POSITION = "position"
    KEYWORD = "keyword"
    REST = "rest"
    KEYWORDS = "keywords"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter as callers see it.

    Attributes:
        name: empty where callers cannot use it, as in Java.
        type: as it is written; empty where none is, and in Python, where none is enforced.
    """

    name: str
    type: str = ""
    optional: bool = False
    passing: Passing = Passing.ANY

    def __str__(self) -> str:
        stars = {Passing.REST: "*", Passing.KEYWORDS: "**"}.get(self.passing, "")
        default = _DEFAULT if self.optional and not stars else ""
        if self.type and self.name:
            return f"{stars}{self.name}: {self.type}{default}"
        return f"{stars}{self.name or self.type}{default}"


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name that others may use.

    Attributes:
        name: with the types in which it stands, such as ``Cart.total``.
        line: where its name stands, in git's numbers.
        parameters: of a callable, or of a type that lists them, such as a record.
        result: the type of the value; for a type its word and more, such as ``interface <T>``.
        modifiers: those that matter to callers, such as ``static``.
        bases: the simple names of what a type extends or implements.
        replaced: names of earlier parameters that a decorator still takes.
        offered: whether the name is meant for others; one that is not may still be there for
            a use of it before, such as an imported name.
    """

    name: str
    kind: SymbolKind
    line: int
    parameters: tuple[Parameter, ...] | None = None
    result: str = ""
    modifiers: frozenset[str] = frozenset()
    bases: tuple[str, ...] = ()
    replaced: frozenset[str] = frozenset()
    offered: bool = True

    @property
    def label(self) -> str:
        """What to call it: ``Cart.total(int)``; a type by its name alone."""
        if self.parameters is None or self.kind is SymbolKind.TYPE:
            return self.name
        return f"{self.name}({', '.join(map(str, self.parameters))})"

    @property
    def signature(self) -> str:
        """All of it on one line: ``static Cart.total(int): Money``."""
        words = sorted(self.modifiers)
        listed = None if self.parameters is None else ", ".join(map(str, self.parameters))
        name = self.name if listed is None else f"{self.name}({listed})"
        if self.kind is SymbolKind.TYPE:
            word, _, more = self.result.partition(" ")
            bases = f" of {', '.join(self.bases)}" if self.bases else ""
            return " ".join([*words, word, name]) + more + bases
        return " ".join([*words, name]) + (f": {self.result}" if self.result else "")


@dataclass(frozen=True, slots=True)
class Publics:
    """The public names of one text.

    Attributes:
        package: the package that the text names, None where its place decides.
        listed: the names that it lists as all of its public ones, None where it does not.
        served: names that it may answer for without a definition that was found, such as
            deprecated ones; where it does not parse, all words in it.
        broken: the first line that does not parse, None where all do.
    """

    symbols: tuple[Symbol, ...] = ()
    package: str | None = None
    listed: frozenset[str] | None = None
    served: frozenset[str] = frozenset()
    broken: int | None = None

    def without_imports(self) -> Publics:
        """The same of a text that imports for its own use, unless it lists a name."""
        alias = SymbolKind.ALIAS
        symbols = (replace(s, offered=s.offered and s.kind is not alias) for s in self.symbols)
        return replace(self, symbols=tuple(symbols))


_STRING = r'"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`'
_OPERATORS = r"->|=>|[<>=!:+]=|::|\?\."
_SINGLE = r"[()\[\]{}<>,=;:?]"
_TOKENS = {
    True: re.compile(rf"{_STRING}|'(?:\\.|[^'\\])*'|{_OPERATORS}|{_SINGLE}"),
    False: re.compile(rf"{_STRING}|'(?:\\[^']*|[^'\\])'|{_OPERATORS}|{_SINGLE}"),
}
_CLOSINGS = frozenset(")]}>")
_TIGHT = re.compile(r"\s*([<>\[\]().]|::)\s*")
_COMMA = re.compile(r"\s*,\s*")


@dataclass(frozen=True)
class Brackets:
    """How brackets are recognised in a language.

    Attributes:
        quotes: whether strings may stand in single quotes.
        angles: whether ``<`` and ``>`` are brackets.
    """

    quotes: bool = False
    angles: bool = True

    def tokens(self, text: str, start: int = 0) -> Iterator[tuple[int, str, int]]:
        """The place and text of each sign, and how deep in brackets it stands."""
        openings = "([{<" if self.angles else "([{"
        closings = ")]}>" if self.angles else ")]}"
        depth = 0
        for match in _TOKENS[self.quotes].finditer(text, start):
            token = match[0]
            if token in closings:
                depth -= 1
            yield match.start(), token, depth
            if token in openings:
                depth += 1

    def split(self, text: str, separator: str = ",") -> list[str]:
        """The parts between outermost separators, stripped; none of them is empty."""
        places = [at for at, token, depth in self.tokens(text) if token == separator and depth <= 0]
        starts = [0, *(at + len(separator) for at in places)]
        parts = (text[a:b].strip() for a, b in zip(starts, [*places, len(text)], strict=True))
        return [part for part in parts if part]

    def cut(self, text: str, *stops: str) -> str:
        """What stands before the first outermost one of these signs."""
        for at, token, depth in self.tokens(text):
            if depth <= 0 and token in stops:
                return text[:at].strip()
        return text.strip()

    def after(self, text: str, sign: str) -> str:
        """What stands behind the first outermost sign; nothing where there is none."""
        for at, token, depth in self.tokens(text):
            if depth <= 0 and token == sign:
                return text[at + len(sign) :].strip()
        return ""

    def group(self, text: str, opening: str = "(") -> tuple[str, str, str] | None:
        """What stands before, in and behind the first outermost brackets of a sort."""
        start = next(
            (at for at, token, depth in self.tokens(text) if token == opening and depth <= 0), None
        )
        if start is None:
            return None
        end = self.closing(text, start)
        return text[:start].strip(), text[start + 1 : end].strip(), text[end + 1 :].strip()

    def closing(self, text: str, start: int) -> int:
        """The place of the bracket that closes the one at ``start``; the end without one."""
        for at, token, depth in self.tokens(text, start):
            if at > start and depth == 0 and token in _CLOSINGS:
                return at
        return len(text)

    def variables(self, text: str) -> tuple[str, str]:
        """The type variables at the beginning, and what follows them."""
        if not text.startswith("<"):
            return "", text
        end = self.closing(text, 0) + 1
        return tidy(text[:end]), text[end:].strip()

    def heading(self, text: str, annotation: re.Pattern[str], modifier: re.Pattern[str]) -> Heading:
        """Takes a heading apart."""
        at, annotations, modifiers = 0, [], set()
        while True:
            if match := annotation.match(text, at):
                end = match.end()
                if text[end : end + 1] == "(":
                    end = self.closing(text, end) + 1
                annotations.append(text[at:end].strip())
                at = end + (text[end : end + 1] == " ")
            elif match := modifier.match(text, at):
                modifiers.add(match[1])
                at = match.end()
            else:
                return Heading(frozenset(modifiers), " ".join(annotations), text[at:])


@dataclass(frozen=True, slots=True)
class Heading:
    """The words and annotations before what is declared, and the rest."""

    modifiers: frozenset[str]
    annotations: str
    rest: str


def tidy(text: str) -> str:
    """The same type or list in one way of spacing."""
    return _COMMA.sub(", ", _TIGHT.sub(r"\1", " ".join(text.split()))).strip(", ")


#: Characters of a heading that are read; a longer one is read from its beginning.
_LONGEST = 50_000
#: Nobody writes declarations inside of declarations any deeper.
_DEEPEST = 60

_TEXT = r"(\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`[^`]*`)"
#: Strings, which are kept, and comments.
_HASHES = re.compile(_TEXT + r"|#[^\n]*")
_SLASHES = re.compile(_TEXT + r"|//[^\n]*|/\*(?s:.*?)\*/")

#: Roles whose inside belongs to nothing else.
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
    source: Source = field(repr=False)

    @property
    def line(self) -> int:
        """The line in which it begins."""
        return self.source.line_at(self.start)

    def line_of(self, name: str) -> int:
        """The line in which the name stands, as far as that is known."""
        at = self.raw.find(name)
        while at > 0 and (self.raw[at - 1].isalnum() or self.raw[at - 1] in '_@."'):
            at = self.raw.find(name, at + 1)
        return self.source.line_at(self.start + max(at, 0))


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
        UnreadableError: for more levels than people write.
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
        made.append(Declaration(role, clean, start, raw, parent, source))
        around.append((len(made) - 1, end))
        if role in _CLOSED:
            hidden_until = end
    return made


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
