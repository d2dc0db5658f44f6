"""What changes in public names, and whether users of the old ones can go on."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TypeAlias, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from prjury.code.parser import Job, NotParsed, Parser
from prjury.code.publics.model import Parameter, Passing, Publics, Symbol, SymbolKind
from prjury.code.source import Source
from prjury.deadline import Deadline


def find_publics(
    sources: Sequence[Source], parser: Parser, deadline: Deadline
) -> list[Publics | NotParsed]:
    jobs: list[Job] = [
        {"language": source.language.parser, "text": source.text, "rules": [], "publics": True}
        for source in sources
    ]
    return [
        reply if isinstance(reply, NotParsed) else msgspec.convert(reply, Publics)
        for reply in parser.run(jobs, deadline)
    ]


#: Modifiers that take something away from callers or heirs when they come.
_NARROWING = frozenset({"final", "sealed", "abstract", "readonly", "optional"})
#: Modifiers that callers depend on both ways.
_BINDING = frozenset({"static", "async", "suspend", "unsafe"})
#: Modifiers that give something to callers.
_WIDENING = frozenset({"var", "const"})
#: A name with what it is qualified by.
_QUALIFIED = re.compile(r"\w+(?:\.\w+)*")
#: Types of a parameter that take everything.
_ANYTHING = frozenset({"any", "unknown"})
_POSITIONAL = frozenset({Passing.ANY, Passing.POSITION})


#: The types that a type extends, directly or not, by their simple names.
Above: TypeAlias = Callable[[str], frozenset[str]]


class Fit(StrEnum):
    """What a change of a name means to those who use it."""

    SAME = "same"
    COMPATIBLE = "compatible"
    INCOMPATIBLE = "incompatible"


def _compare_signatures(old: Symbol, new: Symbol, bases_of: Above) -> Fit:
    before, after = ([*map(str, each.parameters or ()), each.result] for each in (old, new))
    if old.kind is not new.kind or not _may_be_same_type(" | ".join(before), " | ".join(after)):
        return Fit.INCOMPATIBLE
    return _compare_modifiers_and_bases(old, new, bases_of)


def _may_be_same_type(old: str, new: str) -> bool:
    if old == new:
        return True
    before, after = _QUALIFIED.findall(old), _QUALIFIED.findall(new)
    if len(before) != len(after) or _QUALIFIED.sub("", old) != _QUALIFIED.sub("", new):
        return False
    return all(
        one == other or one.endswith(f".{other}") or other.endswith(f".{one}")
        for one, other in zip(before, after, strict=True)
    )


def _compare_modifiers_and_bases(old: Symbol, new: Symbol, bases_of: Above) -> Fit:
    come, gone = new.modifiers - old.modifiers, old.modifiers - new.modifiers
    if come & _NARROWING or gone & _WIDENING or (come | gone) & _BINDING:
        return Fit.INCOMPATIBLE
    if not set(old.bases) <= set(new.bases).union(*map(bases_of, new.bases)):
        return Fit.INCOMPATIBLE
    same = old.modifiers == new.modifiers and set(old.bases) == set(new.bases)
    return Fit.SAME if same else Fit.COMPATIBLE


def _compare_python_symbols(old: Symbol, new: Symbol, bases_of: Above) -> Fit:
    """A name that becomes a plain value may be anything, and bases are not known by their names."""
    kinds = old.kind, new.kind
    if kinds == (SymbolKind.CALLABLE, SymbolKind.CALLABLE):
        return _compare_python_parameters(old, new, bases_of)
    if kinds in {
        (SymbolKind.TYPE, SymbolKind.CALLABLE),
        (SymbolKind.CALLABLE, SymbolKind.PROPERTY),
        (SymbolKind.PROPERTY, SymbolKind.CALLABLE),
    }:
        return Fit.INCOMPATIBLE
    return Fit.SAME


def _compare_python_parameters(old: Symbol, new: Symbol, bases_of: Above) -> Fit:
    before, after = old.parameters or (), new.parameters or ()
    if old.modifiers != new.modifiers:
        return Fit.INCOMPATIBLE
    if before == after:
        return Fit.SAME
    takes = {each.passing for each in after}
    by_name = {each.name: each for each in after}
    if any(each.name in new.replaced and each.name not in by_name for each in before):
        return Fit.COMPATIBLE  # a decorator takes the old names; where they went it knows
    placed = [each for each in before if each.passing in _POSITIONAL]
    places = [each for each in after if each.passing in _POSITIONAL]
    if _fit_positional(placed, places, bases_of, rest=Passing.REST in takes) is Fit.INCOMPATIBLE:
        return Fit.INCOMPATIBLE
    for each in before:
        other = by_name.get(each.name)
        if each.passing in {Passing.REST, Passing.KEYWORDS}:
            fits = each.passing in takes
        elif each.passing is Passing.POSITION:
            fits = True
        elif other is None:
            fits = Passing.KEYWORDS in takes and each.passing is Passing.KEYWORD
        else:
            fits = other.passing is not Passing.POSITION and (other.optional or not each.optional)
        if not fits:
            return Fit.INCOMPATIBLE
    names = {each.name for each in before}
    needed = [each for each in after if each.passing is Passing.KEYWORD and not each.optional]
    return Fit.COMPATIBLE if all(each.name in names for each in needed) else Fit.INCOMPATIBLE


def _compare_script_symbols(old: Symbol, new: Symbol, bases_of: Above) -> Fit:
    if old.kind is not new.kind:
        others = {old.kind, new.kind} - {SymbolKind.VALUE}
        same = others in ({SymbolKind.PROPERTY}, {SymbolKind.CALLABLE})
        return Fit.SAME if same else Fit.INCOMPATIBLE  # a getter, or a function in a variable
    parts = [_compare_modifiers_and_bases(old, new, bases_of)]
    if old.kind is SymbolKind.TYPE:
        parts.append(_fit_declarations(old.result, new.result))
    elif old.result != new.result:
        parts.append(_fit_results(old.result, new.result, bases_of))
    if old.kind is SymbolKind.CALLABLE:
        before, after = old.parameters or (), new.parameters or ()
        rest = any(each.passing is Passing.REST for each in after)
        parts.append(_fit_positional(before, after, bases_of, rest=rest))
    return max(parts, key=list(Fit).index)


def _fit_declarations(old: str, new: str) -> Fit:
    (before, _, was), (after, _, now) = old.partition("="), new.partition("=")
    if old == new:
        return Fit.SAME
    wider = was and before == after and _split_union(was) <= _split_union(now)
    return Fit.COMPATIBLE if wider else Fit.INCOMPATIBLE


def _fit_results(old: str, new: str, bases_of: Above) -> Fit:
    """A result may become narrower; one that is not written down is whatever it was."""
    if not old or not new or _may_be_same_type(old, new):
        return Fit.SAME
    if old in {"void", "any", "unknown", "Promise<void>"} or _is_within(new, old, bases_of):
        return Fit.COMPATIBLE
    return Fit.INCOMPATIBLE


def _is_within(type_: str, other: str, bases_of: Above) -> bool:
    if _may_be_same_type(type_, other):
        return True
    wider = _split_union(other)
    return all(each in wider or bases_of(each) & wider for each in _split_union(type_))


def _split_union(type_: str) -> frozenset[str]:
    """Split a union, but for what stands in brackets."""
    members = [""]
    for part in type_.split("|"):
        plain = members[-1].replace("=>", "")
        if sum(map(plain.count, "([{<")) > sum(map(plain.count, ")]}>")):
            members[-1] += f"|{part}"
        else:
            members.append(part)
    return frozenset(member.strip() for member in members) - {""}


def _fit_positional(
    old: Sequence[Parameter], new: Sequence[Parameter], bases_of: Above, *, rest: bool
) -> Fit:
    """Compare what takes arguments by their places; one that may be left out can come, or widen."""
    fits = Fit.SAME
    for one, other in zip(old, new, strict=False):
        renamed = one.passing is Passing.ANY and one.name != other.name
        single = one.passing is Passing.REST and other.passing is not Passing.REST
        if renamed or single or (one.optional and not other.optional):
            return Fit.INCOMPATIBLE
        if one.type and other.type and not _may_be_same_type(one.type, other.type):
            if other.type not in _ANYTHING and not _is_within(one.type, other.type, bases_of):
                return Fit.INCOMPATIBLE
            fits = Fit.COMPATIBLE
        if other.optional and not one.optional:
            fits = Fit.COMPATIBLE
    more = new[len(old) :]
    if len(old) > len(new):
        return fits if rest else Fit.INCOMPATIBLE
    if not all(each.optional for each in more):
        return Fit.INCOMPATIBLE
    return Fit.COMPATIBLE if more else fits


_FITS: Mapping[str, Callable[[Symbol, Symbol, Above], Fit]] = {
    "python": _compare_python_symbols,
    "javascript": _compare_script_symbols,
    "typescript": _compare_script_symbols,
    "tsx": _compare_script_symbols,
}


class SourceText(Struct, frozen=True):
    """One text's public names, and where it is."""

    path: str
    home: str
    language: str
    publics: Publics


class ChangeKind(StrEnum):
    """What happens to a name."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


class NameChange(Struct, frozen=True):
    """The change of one name of a home; code that uses it goes on with a compatible one."""

    path: str
    home: str
    old: Symbol | None
    new: Symbol | None
    compatible: bool = True

    @property
    def kind(self) -> ChangeKind:
        if self.old is None:
            return ChangeKind.ADDED
        return ChangeKind.CHANGED if self.new else ChangeKind.REMOVED

    @property
    def symbol(self) -> Symbol:
        return cast("Symbol", self.new or self.old)


_SEPARATOR = re.compile(r"\.|::")
#: Languages in which several definitions of one name are as many offers.
_OVERLOADING = frozenset({"java", "kotlin", "typescript", "tsx"})

_Place: TypeAlias = tuple[SourceText, Symbol]
_Key: TypeAlias = tuple[str, str, str]


def changes(old: Sequence[SourceText], new: Sequence[SourceText]) -> list[NameChange]:
    """The changes by path and line, without members of new or removed types."""
    old, new = _mark_offered_by_export_lists(old, new)
    outermost = _drop_members_of_whole_types(_Comparison(_State(old), _State(new)).find_changes())
    return sorted(outermost, key=lambda each: (each.path, each.symbol.line, each.symbol.name))


class _State:
    """One state of the texts, as tables of their names."""

    def __init__(self, texts: Iterable[SourceText]) -> None:
        self.places: dict[_Key, list[_Place]] = defaultdict(list)
        self.served: dict[tuple[str, str], set[str]] = defaultdict(set)
        #: The bases, and the last key, of types by their simple names.
        self.bases: dict[tuple[str, str], set[str]] = defaultdict(set)
        self.types: dict[tuple[str, str], _Key] = {}
        for text in texts:
            self.served[text.language, text.home] |= text.publics.served
            for symbol in text.publics.symbols:
                key = text.language, text.home, symbol.name
                self.places[key].append((text, symbol))
                if symbol.kind is SymbolKind.TYPE:
                    simple = text.language, _SEPARATOR.split(symbol.name)[-1]
                    self.bases[simple].update(symbol.bases)
                    self.types[simple] = key


class _Comparison(Struct, frozen=True):
    """Two states of the texts."""

    old: _State
    new: _State

    def find_changes(self) -> Iterator[NameChange]:
        for key in {**self.old.places, **self.new.places}:
            was, is_ = self.old.places.get(key, []), self.new.places.get(key, [])
            home, name = key[:2], key[2].rpartition(".")[2]
            if not is_ and (name in self.new.served.get(home, ()) or self._is_inherited(key)):
                continue
            if was or name not in self.old.served.get(home, ()):
                yield from self._compare_name(was, is_)

    def _walk_bases(self, language: str, name: str) -> frozenset[str]:
        """The types that a type extends, directly or not, by their simple names."""
        ancestors, todo = set[str](), [name]
        while todo:
            simple = language, todo.pop()
            both = (state.bases.get(simple, set()) for state in (self.old, self.new))
            bases = set[str]().union(*both) - ancestors
            ancestors |= bases
            todo += bases
        return frozenset(ancestors)

    def _is_inherited(self, key: _Key) -> bool:
        language, _, name = key
        owner, dot, member = name.rpartition(".")
        bases = self._walk_bases(language, _SEPARATOR.split(owner)[-1]) if dot else frozenset[str]()
        types = (self.new.types.get((language, base)) for base in bases)
        return any(at and (*at[:2], f"{at[2]}.{member}") in self.new.places for at in types)

    def _compare_name(self, was: Sequence[_Place], is_: Sequence[_Place]) -> Iterator[NameChange]:
        """The changes of one name's definitions; equal ones cancel each other out."""
        old, come = _list_offered(was), _list_offered(is_)
        if not come and any(symbol.kind is SymbolKind.ALIAS for _, symbol in is_):
            return
        gone = list[_Place]()
        for place in old:
            equal = next((each for each in come if self._fit(place, each) is Fit.SAME), None)
            if equal is None:
                gone.append(place)
            else:
                come.remove(equal)
        if len(gone) == len(come) == 1:
            if SymbolKind.ALIAS not in {gone[0][1].kind, come[0][1].kind}:
                fits = self._fit(gone[0], come[0]) is Fit.COMPATIBLE
                yield _make_change(gone[0], come[0], compatible=fits)
        else:
            yield from (_make_change(place, None, compatible=False) for place in gone)
            yield from (_make_change(None, place, compatible=True) for place in come)

    def _fit(self, old: _Place, new: _Place) -> Fit:
        language = new[0].language
        compare = _FITS.get(language, _compare_signatures)
        return compare(old[1], new[1], lambda name: self._walk_bases(language, name))


def _mark_offered_by_export_lists(
    old: Sequence[SourceText], new: Sequence[SourceText]
) -> tuple[list[SourceText], list[SourceText]]:
    """Let texts that list their names before and after the change offer these alone."""
    lists = [{text.home: text.publics.listed for text in side} for side in (old, new)]

    def mark(text: SourceText) -> SourceText:
        both = [side.get(text.home, text.publics.listed) for side in lists]
        names = frozenset[str]().union(*filter(None, both))
        only = text.publics.listed if None not in both else None
        symbols = tuple(_mark_offered(each, names, only) for each in text.publics.symbols)
        return replace(text, publics=replace(text.publics, symbols=symbols))

    return [mark(text) for text in old], [mark(text) for text in new]


def _mark_offered(symbol: Symbol, listed: frozenset[str], only: frozenset[str] | None) -> Symbol:
    outermost, dot, _ = symbol.name.partition(".")
    if outermost in (listed if only is None else only):
        return symbol if dot else replace(symbol, offered=True)
    return symbol if only is None else replace(symbol, offered=False)


def _list_offered(places: Iterable[_Place]) -> list[_Place]:
    """The definitions that are offered: the last one, where one takes another's place."""
    offered = [place for place in places if place[1].offered]
    return offered if offered and offered[0][0].language in _OVERLOADING else offered[-1:]


def _make_change(old: _Place | None, new: _Place | None, *, compatible: bool) -> NameChange:
    text, _ = cast("_Place", new or old)
    return NameChange(text.path, text.home, old and old[1], new and new[1], compatible)


def _drop_members_of_whole_types(name_changes: Iterable[NameChange]) -> Iterator[NameChange]:
    """Without the members of types that come or go as a whole."""
    name_changes = list(name_changes)
    whole = {
        (each.kind, each.home, each.symbol.name)
        for each in name_changes
        if each.kind is not ChangeKind.CHANGED and each.symbol.kind is SymbolKind.TYPE
    }
    for each in name_changes:
        name = each.symbol.name
        owners = (name[: match.start()] for match in _SEPARATOR.finditer(name))
        if not any((each.kind, each.home, owner) in whole for owner in owners):
            yield each
