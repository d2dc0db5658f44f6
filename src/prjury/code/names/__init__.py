"""Names as a file spells them: what a qualified name is called there, through imports and aliases.

A pack says ``numpy.float_``, a file ``import numpy as np`` and ``np.float_``. The one becomes
ast-grep utility rules for the other (`make_use_import_rules`), in the parser's own process.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from itertools import takewhile
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


def spell_names(names: Iterable[str], bindings: Sequence[Binding], separators: str) -> list[Chain]:
    """The ways in which the names, and everything below them, may begin in a file."""
    chains = {
        chain: None
        for name in names
        for binding in bindings
        if (chain := _spell_full_name_locally(name, binding, separators))
    }
    return list(chains)


def _spell_full_name_locally(full_name: str, binding: Binding, separators: str) -> Chain | None:
    target = binding.target
    if is_below(target, full_name, separators):
        return (binding.local,) if binding.local else None
    member = separators[-1]
    if not full_name.startswith(target) or not full_name[len(target) :].startswith(member):
        return None
    rest = tuple(part for part in full_name[len(target) :].split(member) if part)
    if binding.local:
        return (binding.local, *rest)
    return None if rest[0] in binding.hidden else rest


def is_below(name: str, ancestor: str, separators: str) -> bool:
    rest = name.removeprefix(ancestor)
    return name == ancestor or (name.startswith(ancestor) and rest[0] in separators)


def match_one(words: Iterable[str]) -> str:
    return match_any(map(re.escape, words))


#: White space, continued lines and comments, as they may stand between the parts of a name.
_GAP = r"(?:[\s\\]|#[^\n]*\n|//[^\n]*\n|/\*[^*]*\*/)*"


def match_chains(chains: Iterable[Chain], separator: str = r"\.") -> str:
    """The regex of exactly one of the chains, with gaps wherever they may stand."""
    return match_any(match_chain(chain, separator) for chain in chains)


def match_chain(chain: Chain, separator: str = r"\.") -> str:
    return f"{_GAP}{separator}{_GAP}".join(map(re.escape, chain))


def match_any(regexes: Iterable[str]) -> str:
    return f"^(?:{'|'.join(sorted(set(regexes)))})$"


def any_kind(kinds: str) -> Rule:
    return {"any": [{"kind": kind} for kind in kinds.split()]}


def has_field(field: str, regex: str) -> Rule:
    return {"has": {"field": field, "regex": regex}}


def somewhere_in(outer: Rule) -> Rule:
    return {"inside": {"stopBy": "end", **outer}}


def list_places(places: str) -> list[Rule]:
    """The rules of a node directly inside of each of these kinds or fields."""
    return [inside(place) for place in places.split()]


def inside(*outer: str) -> Rule:
    """The rule of a node inside of these kinds or fields (``call.function``), inner ones first."""
    kind, _, field = outer[0].partition(".")
    around = inside(*outer[1:]) if outer[1:] else {}
    return {"inside": {"kind": kind, **({"field": field} if field else {}), **around}}


def within(kind: str, *outer: str) -> Rule:
    return {"kind": kind, **inside(*outer)}


def split_everywhere(name: str) -> list[tuple[str, str]]:
    """``a.b.c`` as ``a`` and ``b.c``, ``a.b`` and ``c``."""
    return [(name[: dot.start()], name[dot.end() :]) for dot in re.finditer(r"\.", name)]


#: The module here, and in `publics`, that reads names, by the parser's word for the language. Here
#: it has, itself or in its `NAMINGS`, `find_import_bindings`, rules that `match_references` and
#: `match_imports`, its `SEPARATORS`, and whether a name may be written in full without an import.
MODULES: Mapping[str, str] = {
    **{name: name for name in ("java", "kotlin", "python", "go", "rust")},
    **dict.fromkeys(("javascript", "typescript", "tsx"), "script"),
}

#: What no node is: the rule for names that a file cannot mean.
NOTHING: Rule = {"regex": "^.^"}


def has_names(parser: str | None) -> bool:
    return parser in MODULES


@cache
def anchors(language: str, names: tuple[str, ...]) -> frozenset[str]:
    """The words of which one stands in every file that uses a name, with or without its module."""
    return frozenset(anchor for name in names for anchor in _list_prefilter_words(language, name))


def _list_prefilter_words(language: str, name: str) -> list[str]:
    for own in ("builtins.", "globalThis."):
        if name.startswith(own):
            return [name.removeprefix(own).partition(".")[0]]
    if language in {"java", "kotlin"}:
        parts = name.split(".")
        package = list(takewhile(lambda part: not part[:1].isupper(), parts))
        wild = [".".join([*some, "*"]) for some in (package, parts[:-1])]
        return [".".join(parts[: len(package) + 1]), *wild]
    path, slash, last = name.rpartition("/")
    return [path + slash + re.split(r"::|\.", last)[0]]


def find_import_bindings(root: Node, language: str, removed_names: Sequence[str]) -> list[Binding]:
    return list(_naming(language).find_import_bindings(root, removed_names))


def make_use_import_rules(
    language: str, bindings: Sequence[Binding], names_by_word: Mapping[str, Sequence[str]]
) -> dict[str, Rule]:
    """For each ``word``, a use, make ``word-import``, an import, and ``word-anywhere``, either."""
    naming = _naming(language)
    made: dict[str, Rule] = {}
    for word, names in names_by_word.items():
        chains = spell_names(names, bindings, naming.SEPARATORS)
        chains += [tuple(re.split(r"::|\.", name)) for name in names if naming.ABSOLUTE]
        single = sorted({chain[0] for chain in chains if len(chain) == 1})
        longer = [chain for chain in chains if len(chain) > 1]
        made[word] = naming.match_references(single, longer) if chains else NOTHING
        made[f"{word}-import"] = naming.match_imports(names)
        made[f"{word}-anywhere"] = {"any": [made[word], made[f"{word}-import"]]}
    return made


def _naming(language: str) -> Any:  # noqa: ANN401 - a module, or an object like one
    module: Any = import_module(f"prjury.code.names.{MODULES[language]}")
    return module.NAMINGS[language] if MODULES[language] == "script" else module
