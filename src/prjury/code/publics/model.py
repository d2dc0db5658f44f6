"""What a text offers others: its public names and their signatures."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

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


class Parameter(Struct, frozen=True):
    """One parameter as callers see it; no name or type that means nothing to them."""

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


class Symbol(Struct, frozen=True):
    """A name that others may use, with the types in which it stands, such as ``Cart.total``.

    Attributes:
        parameters: of a callable, or of a type that lists them, such as a record.
        result: the type of the value; for a type its word and more, such as ``interface <T>``.
        bases: the simple names of what a type extends or implements.
        replaced: names of earlier parameters that a decorator still takes.
        offered: whether the name is meant for others, unlike an imported one.
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
        """The name with its parameters, ``Cart.total(int)``; a type's name alone."""
        return self.name if self.kind is SymbolKind.TYPE else self._name_with_parameters

    @property
    def signature(self) -> str:
        """All of it on one line: ``static Cart.total(int): Money``."""
        words = sorted(self.modifiers)
        name = self._name_with_parameters
        if self.kind is SymbolKind.TYPE:
            word, _, more = self.result.partition(" ")
            bases = f" of {', '.join(self.bases)}" if self.bases else ""
            return " ".join([*words, word, name]) + more + bases
        return " ".join([*words, name]) + (f": {self.result}" if self.result else "")

    @property
    def _name_with_parameters(self) -> str:
        listed = None if self.parameters is None else ", ".join(map(str, self.parameters))
        return self.name if listed is None else f"{self.name}({listed})"


class Publics(Struct, frozen=True):
    """The public names of one text.

    Attributes:
        package: the package that the text names, None where its place decides.
        listed: the names that it lists as all of its public ones, None where it does not.
        served: names that may be there without a definition; all words where it does not parse.
        broken: the first line that does not parse, and ``errors`` the texts that do not.
    """

    symbols: tuple[Symbol, ...] = ()
    package: str | None = None
    listed: frozenset[str] | None = None
    served: frozenset[str] = frozenset()
    broken: int | None = None
    errors: tuple[str, ...] = ()

    def is_like(self, other: Publics) -> bool:
        return self._drop_lines() == other._drop_lines()

    def _drop_lines(self) -> Publics:
        symbols = tuple(replace(symbol, line=0) for symbol in self.symbols)
        return replace(self, symbols=symbols, broken=None, served=frozenset())

    def drop_imports(self) -> Publics:
        """The same of a text that imports for its own use, unless it lists a name."""
        alias = SymbolKind.ALIAS
        symbols = (replace(s, offered=s.offered and s.kind is not alias) for s in self.symbols)
        return replace(self, symbols=tuple(symbols))
