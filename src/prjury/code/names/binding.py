"""What a name stands for in a file, and the spellings that follow from it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from msgspec import Struct

#: A node of ast-grep's. Its stubs call every field optional, where the grammar knows better.
Node: TypeAlias = Any

#: A rule of ast-grep's.
Rule: TypeAlias = dict[str, Any]

#: The identifiers of a spelling, first to last: ``("np", "float_")``.
Chain: TypeAlias = tuple[str, ...]


class Binding(Struct, frozen=True):
    """A name of the file, none of a wildcard, and what it stands for but for ``hidden`` names."""

    local: str
    target: str
    hidden: frozenset[str] = frozenset()


def spellings(names: Iterable[str], bindings: Sequence[Binding], separators: str) -> list[Chain]:
    """The ways in which the names, and everything below them, may begin in a file."""
    chains = {
        chain: None
        for name in names
        for binding in bindings
        if (chain := _spell(name, binding, separators))
    }
    return list(chains)


def _spell(name: str, binding: Binding, separators: str) -> Chain | None:
    target = binding.target
    if is_below(target, name, separators):
        return (binding.local,) if binding.local else None
    member = separators[-1]
    if not name.startswith(target) or not name[len(target) :].startswith(member):
        return None
    rest = tuple(part for part in name[len(target) :].split(member) if part)
    if binding.local:
        return (binding.local, *rest)
    return None if rest[0] in binding.hidden else rest


def is_below(name: str, ancestor: str, separators: str) -> bool:
    """Return true if a qualified name is another one or a part of it."""
    rest = name.removeprefix(ancestor)
    return name == ancestor or (name.startswith(ancestor) and rest[0] in separators)


def match_one(words: Iterable[str]) -> str:
    """The regex of exactly one of the words."""
    return match_any(map(re.escape, words))


#: White space, continued lines and comments, as they may stand between the parts of a name.
_GAP = r"(?:[\s\\]|#[^\n]*\n|//[^\n]*\n|/\*[^*]*\*/)*"


def match_chains(chains: Iterable[Chain], separator: str = r"\.") -> str:
    """The regex of exactly one of the chains, with gaps wherever they may stand."""
    return match_any(match_chain(chain, separator) for chain in chains)


def match_chain(chain: Chain, separator: str = r"\.") -> str:
    """The regex of a chain."""
    return f"{_GAP}{separator}{_GAP}".join(map(re.escape, chain))


def match_any(regexes: Iterable[str]) -> str:
    """The regex of exactly one of several."""
    return f"^(?:{'|'.join(sorted(set(regexes)))})$"


def any_kind(*kinds: str) -> Rule:
    """The rule of a node of one of these kinds."""
    return {"any": [{"kind": kind} for kind in kinds]}


def inside(*outer: str) -> Rule:
    """The rule of a node inside of these kinds or fields (``call.function``), inner ones first."""
    kind, _, field = outer[0].partition(".")
    around = inside(*outer[1:]) if outer[1:] else {}
    return {"inside": {"kind": kind, **({"field": field} if field else {}), **around}}


def within(kind: str, *outer: str) -> Rule:
    """The rule of a node of one kind inside of others, as for `inside`."""
    return {"kind": kind, **inside(*outer)}


def split_everywhere(name: str, separator: str = ".") -> list[tuple[str, str]]:
    """``a.b.c`` as ``a`` and ``b.c``, ``a.b`` and ``c``."""
    parts = name.split(separator)
    return [(separator.join(parts[:at]), separator.join(parts[at:])) for at in range(1, len(parts))]
