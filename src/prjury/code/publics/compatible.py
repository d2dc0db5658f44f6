"""Whether code that uses a name goes on working with its new signature, as far as signatures tell.

Where compiled code names the whole signature (Java, Kotlin, Go, Rust), any change of it breaks
something. Python's and JavaScript's callers see less of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import TypeAlias

from prjury.code.publics.brackets import Brackets
from prjury.code.publics.model import Parameter, Passing, Symbol, SymbolKind

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
_TYPES = Brackets(quotes=True)
_POSITIONAL = frozenset({Passing.ANY, Passing.POSITION})


#: The types that a type extends, directly or not, by their simple names.
Above: TypeAlias = Callable[[str], frozenset[str]]


def _nothing(_name: str) -> frozenset[str]:
    return frozenset()


class Fit(StrEnum):
    """What a change of a name means to those who use it."""

    SAME = "same"
    COMPATIBLE = "compatible"
    INCOMPATIBLE = "incompatible"


def fit(language: str, old: Symbol, new: Symbol, above: Above = _nothing) -> Fit:
    """How the new signature fits those who use the old one."""
    return _FITS.get(language, _strict)(old, new, above)


def _strict(old: Symbol, new: Symbol, above: Above) -> Fit:
    same = len(old.parameters or ()) == len(new.parameters or ()) and all(
        (one.name, one.optional, one.passing) == (other.name, other.optional, other.passing)
        and _is_alike(one.type, other.type)
        for one, other in zip(old.parameters or (), new.parameters or (), strict=True)
    )
    if old.kind is not new.kind or not same or not _is_alike(old.result, new.result):
        return Fit.INCOMPATIBLE
    return _around(old, new, above)


def _is_alike(old: str, new: str) -> bool:
    """Whether two types are the same but for how far their names are qualified."""
    if old == new:
        return True
    before, after = _QUALIFIED.findall(old), _QUALIFIED.findall(new)
    return _QUALIFIED.sub("", old) == _QUALIFIED.sub("", new) and all(
        one == other or one.endswith(f".{other}") or other.endswith(f".{one}")
        for one, other in zip(before, after, strict=True)
    )


def _around(old: Symbol, new: Symbol, above: Above) -> Fit:
    """How modifiers and bases fit."""
    come, gone = new.modifiers - old.modifiers, old.modifiers - new.modifiers
    if come & _NARROWING or gone & _WIDENING or (come | gone) & _BINDING:
        return Fit.INCOMPATIBLE
    if not set(old.bases) <= set(new.bases).union(*map(above, new.bases)):
        return Fit.INCOMPATIBLE
    same = old.modifiers == new.modifiers and set(old.bases) == set(new.bases)
    return Fit.SAME if same else Fit.COMPATIBLE


def _python(old: Symbol, new: Symbol, _above: Above) -> Fit:
    """A name that becomes a plain value may be anything, and bases are not told by their names."""
    kinds = old.kind, new.kind
    if kinds == (SymbolKind.CALLABLE, SymbolKind.CALLABLE):
        return _callable(old, new)
    if kinds in {
        (SymbolKind.TYPE, SymbolKind.CALLABLE),
        (SymbolKind.CALLABLE, SymbolKind.PROPERTY),
        (SymbolKind.PROPERTY, SymbolKind.CALLABLE),
    }:
        return Fit.INCOMPATIBLE
    return Fit.SAME


def _callable(old: Symbol, new: Symbol) -> Fit:
    before, after = old.parameters or (), new.parameters or ()
    if old.modifiers != new.modifiers:
        return Fit.INCOMPATIBLE
    if before == after:
        return Fit.SAME
    takes = {each.passing for each in after}
    named = {each.name: each for each in after}
    kept = [each for each in before if each.name not in new.replaced or each.name in named]
    if len(kept) < len(before):
        return Fit.COMPATIBLE  # a decorator takes the old names; where they went it knows
    if not _positions(kept, after, rest=Passing.REST in takes):
        return Fit.INCOMPATIBLE
    for each in before:
        other = named.get(each.name)
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
    known = {each.name for each in before}
    needed = [each for each in after if each.passing is Passing.KEYWORD and not each.optional]
    return Fit.COMPATIBLE if all(each.name in known for each in needed) else Fit.INCOMPATIBLE


def _positions(before: Sequence[Parameter], after: Sequence[Parameter], *, rest: bool) -> bool:
    """Whether arguments that are given by their place reach what they did before."""
    old = [each for each in before if each.passing in _POSITIONAL]
    new = [each for each in after if each.passing in _POSITIONAL]
    if len(old) > len(new) and not rest:
        return False
    for one, other in zip(old, new, strict=False):
        if one.passing is Passing.ANY and one.name != other.name:
            return False
        if one.optional and not other.optional:
            return False
    return all(each.optional for each in new[len(old) :])


def _script(old: Symbol, new: Symbol, above: Above) -> Fit:
    callable_ = {SymbolKind.CALLABLE}
    kinds = {old.kind, new.kind}
    if kinds in ({SymbolKind.PROPERTY, SymbolKind.VALUE}, callable_ | {SymbolKind.VALUE}):
        return Fit.SAME  # a getter, or a function in a variable
    if old.kind is not new.kind:
        return Fit.INCOMPATIBLE
    parts = [_around(old, new, above)]
    if old.kind is SymbolKind.TYPE:
        parts.append(_declared(old.result, new.result))
    elif old.result != new.result:
        parts.append(_narrowed(old.result, new.result, above))
    if old.kind in callable_:
        parts.append(_arguments(old.parameters or (), new.parameters or (), above))
    return max(parts, key=list(Fit).index)


def _declared(old: str, new: str) -> Fit:
    if old == new:
        return Fit.SAME
    before, _, was = old.partition("=")
    after, _, is_ = new.partition("=")
    if before != after or not was:
        return Fit.INCOMPATIBLE
    return Fit.COMPATIBLE if _members(was) <= _members(is_) else Fit.INCOMPATIBLE


def _narrowed(old: str, new: str, above: Above) -> Fit:
    """A result may become narrower; one that is not written down is whatever it was."""
    if not old or not new or _is_alike(old, new):
        return Fit.SAME
    if old in {"void", "any", "unknown", "Promise<void>"} or _is_within(new, old, above):
        return Fit.COMPATIBLE
    return Fit.INCOMPATIBLE


def _is_within(type_: str, other: str, above: Above) -> bool:
    """Whether every value of a type is one of another, as far as the texts tell."""
    if _is_alike(type_, other):
        return True
    wider = _members(other)
    return all(each in wider or above(each) & wider for each in _members(type_))


def _members(type_: str) -> frozenset[str]:
    return frozenset(_TYPES.split(type_.replace("|", ",")))


def _arguments(old: Sequence[Parameter], new: Sequence[Parameter], above: Above) -> Fit:
    """Callers name no parameters; one that may be left out can come at the end, or go wider."""
    fits = Fit.SAME
    for one, other in zip(old, new, strict=False):
        if (one.optional and not other.optional) or (
            one.passing is Passing.REST and other.passing is not Passing.REST
        ):
            return Fit.INCOMPATIBLE
        if one.type and other.type and not _is_alike(one.type, other.type):
            if other.type not in _ANYTHING and not _is_within(one.type, other.type, above):
                return Fit.INCOMPATIBLE
            fits = Fit.COMPATIBLE
        if other.optional and not one.optional:
            fits = Fit.COMPATIBLE
    more = new[len(old) :]
    if len(old) > len(new):
        return fits if new and new[-1].passing is Passing.REST else Fit.INCOMPATIBLE
    if not all(each.optional for each in more):
        return Fit.INCOMPATIBLE
    return Fit.COMPATIBLE if more else fits


_FITS: Mapping[str, Callable[[Symbol, Symbol, Above], Fit]] = {
    "python": _python,
    "javascript": _script,
    "typescript": _script,
    "tsx": _script,
}
