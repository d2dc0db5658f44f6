"""What becomes of public names from one state of some texts to another.

A name belongs to a home, such as a package: whoever uses it names both, and so a name that moves to
another home is removed for them. Within its home it may move from file to file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeAlias

from prjury.code.publics.compatible import Fit, fit
from prjury.code.publics.model import Publics, Symbol, SymbolKind


@dataclass(frozen=True, slots=True)
class Text:
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


@dataclass(frozen=True, slots=True)
class NameChange:
    """What happens to one name.

    Attributes:
        path: where it is, or was if it is removed.
        old: how it was; None for an added one.
        new: how it is; None for a removed one.
        compatible: whether code that uses the old name goes on working, as far as signatures tell.
        home: what the name belongs to.
        unless: a type outside of the texts from which a member that is gone may be inherited.
    """

    kind: ChangeKind
    path: str
    home: str
    old: Symbol | None
    new: Symbol | None
    compatible: bool = True
    unless: str | None = None

    @property
    def symbol(self) -> Symbol:
        """The name as it is, or as it was."""
        found = self.new or self.old
        if found is None:
            raise ValueError("a change of a name that never was")
        return found


_SEPARATOR = re.compile(r"\.|::")
#: Languages in which several definitions of one name are as many offers.
_OVERLOADING = frozenset({"java", "kotlin", "typescript", "tsx"})

_Place: TypeAlias = tuple[Text, Symbol]
_Key: TypeAlias = tuple[str, str, str]


def changes(old: Sequence[Text], new: Sequence[Text]) -> list[NameChange]:
    """What happens to each name, by path and line; members of new or removed types are not told."""
    old, new = _listed_alike(old, new)
    before, after = _table(old), _table(new)
    kept_names, had_names = _served(new), _served(old)
    found: list[NameChange] = []
    for key in {**before, **after}:
        was, is_ = before.get(key, []), after.get(key, [])
        home, name = key[:2], key[2].rpartition(".")[2]
        if not is_ and (name in kept_names.get(home, ()) or _inherited(key, after)):
            continue
        if not was and name in had_names.get(home, ()):
            continue
        found += (_with_doubt(each, key, after) for each in _of_name(was, is_))
    kept = _outermost(found)
    return sorted(kept, key=lambda each: (each.path, each.symbol.line, each.symbol.name))


def _table(texts: Iterable[Text]) -> dict[_Key, list[_Place]]:
    table: dict[_Key, list[_Place]] = {}
    for text in texts:
        for symbol in text.publics.symbols:
            table.setdefault((text.language, text.home, symbol.name), []).append((text, symbol))
    return table


def _served(texts: Iterable[Text]) -> dict[tuple[str, str], frozenset[str]]:
    """What each home may offer without a definition that was found."""
    served: dict[tuple[str, str], frozenset[str]] = {}
    for text in texts:
        home = text.language, text.home
        served[home] = served.get(home, frozenset()) | text.publics.served
    return served


def _listed_alike(old: Sequence[Text], new: Sequence[Text]) -> tuple[list[Text], list[Text]]:
    """Texts that list their names offer these alone, where both states of them do so.

    A list that is only now written, or goes away, tells what was meant and changes nothing.
    """
    lists = [{text.home: text.publics.listed for text in side} for side in (old, new)]

    def alike(text: Text) -> Text:
        both = [side.get(text.home, text.publics.listed) for side in lists]
        named = frozenset[str]().union(*(each for each in both if each is not None))
        if all(each is None for each in both):
            return text
        only = None not in both
        own = text.publics.listed if only else named
        symbols = tuple(
            _offered(each, own or frozenset(), only=only) for each in text.publics.symbols
        )
        return replace(text, publics=replace(text.publics, symbols=symbols))

    return [alike(text) for text in old], [alike(text) for text in new]


def _offered(symbol: Symbol, listed: frozenset[str], *, only: bool) -> Symbol:
    outermost, dot, _ = symbol.name.partition(".")
    if outermost in listed:
        return replace(symbol, offered=symbol.offered if dot else True)
    return replace(symbol, offered=False) if only else symbol


def _inherited(key: _Key, after: Mapping[_Key, list[_Place]]) -> bool:
    """Whether a member that is gone from its type is one of a type that it extends."""
    language, _, name = key
    owner, dot, member = name.rpartition(".")
    if not dot:
        return False
    known = {at[2].rpartition(".")[2]: at for at in after if at[0] == language}
    todo, seen = [(*key[:2], owner)], set[_Key]()
    while todo:
        at = todo.pop()
        if at in seen:
            continue
        seen.add(at)
        if (at[0], at[1], f"{at[2]}.{member}") in after:
            return True
        bases = [base for _, symbol in after.get(at, ()) for base in symbol.bases]
        todo += [known[base] for base in bases if base in known]
    return False


def _with_doubt(change: NameChange, key: _Key, after: Mapping[_Key, list[_Place]]) -> NameChange:
    """A member that is gone may be one of a type outside, wherever overriding is not marked."""
    language, home, name = key
    if change.kind is not ChangeKind.REMOVED or language == "java" or "." not in name:
        return change
    known = {at[2].rpartition(".")[2] for at in after if at[0] == language}
    owners = after.get((language, home, name.rpartition(".")[0]), ())
    bases = [base for _, owner in owners for base in owner.bases if base not in known | {"object"}]
    return replace(change, unless=bases[0]) if bases else change


def _of_name(was: Sequence[_Place], is_: Sequence[_Place]) -> Iterator[NameChange]:
    """What happens to the definitions of one name; equal ones cancel each other out."""
    old = [place for place in was if place[1].offered]
    new = [place for place in is_ if place[1].offered]
    if not old:
        yield from (_added(place) for place in new)
    elif not new:
        if not any(symbol.kind is SymbolKind.ALIAS for _, symbol in is_):
            yield from map(_removed, old)
    else:
        gone, come = _unequal(old, new)
        if len(gone) == len(come) == 1 or (gone and come and not _overloads(old[0])):
            yield from _changed(gone[-1], come[-1])
        elif _overloads(old[0]):
            yield from map(_removed, gone)
            yield from map(_added, come)


def _unequal(old: Sequence[_Place], new: Sequence[_Place]) -> tuple[list[_Place], list[_Place]]:
    """The definitions that have no equal on the other side."""
    come, gone = list(new), []
    for place in old:
        same = (each for each in come if fit(place[0].language, place[1], each[1]) is Fit.SAME)
        if (equal := next(same, None)) is None:
            gone.append(place)
        else:
            come.remove(equal)
    return gone, come


def _overloads(place: _Place) -> bool:
    """Whether several definitions of a name are as many offers."""
    return place[0].language in _OVERLOADING


def _added(place: _Place) -> NameChange:
    return NameChange(ChangeKind.ADDED, place[0].path, place[0].home, None, place[1])


def _removed(place: _Place) -> NameChange:
    return NameChange(
        ChangeKind.REMOVED, place[0].path, place[0].home, place[1], None, compatible=False
    )


def _changed(old: _Place, new: _Place) -> Iterator[NameChange]:
    if SymbolKind.ALIAS not in {old[1].kind, new[1].kind}:
        fits = fit(new[0].language, old[1], new[1]) is Fit.COMPATIBLE
        yield NameChange(ChangeKind.CHANGED, new[0].path, new[0].home, old[1], new[1], fits)


def _outermost(found: Iterable[NameChange]) -> Iterator[NameChange]:
    """Without the members of types that come or go as a whole."""
    found = list(found)
    whole = {
        (each.kind, each.home, each.symbol.name)
        for each in found
        if each.kind is not ChangeKind.CHANGED and each.symbol.kind is SymbolKind.TYPE
    }
    for each in found:
        owners = [
            each.symbol.name[: match.start()] for match in _SEPARATOR.finditer(each.symbol.name)
        ]
        if not any((each.kind, each.home, owner) in whole for owner in owners):
            yield each
