"""Names as a file spells them: what a qualified name is called there, through imports and aliases.

A pack says ``numpy.float_``; a file says ``import numpy as np`` and then ``np.float_``, or ``from
numpy import float_ as f`` and then ``f``. `utilities` turns the one into ast-grep utility rules for
the other. Each language is a module with three functions (or an object with three such methods):

    bindings(root, names)  what the imports of a file call things, as far as these names may matter
    references(chains)     the rule of a use of one of these spellings
    imports(names)         the rule of the place in an import that brings one of these names

These modules are run by the parser's own process: they know ast-grep's nodes and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from itertools import takewhile
from typing import Any, Protocol

from prjury.code.names.binding import Binding, Chain, Node, Rule, spellings

#: The module that reads names, by the parser's word for the language, and what in it is a `Naming`
#: if not the module itself.
_MODULES: Mapping[str, tuple[str, str]] = {
    "python": ("python", ""),
    "javascript": ("javascript", "JAVASCRIPT"),
    "typescript": ("javascript", "TYPESCRIPT"),
    "tsx": ("javascript", "TYPESCRIPT"),
    "go": ("go", ""),
    "rust": ("rust", ""),
    "java": ("java", ""),
    "kotlin": ("kotlin", ""),
}

#: What no node is: the rule for names that a file cannot mean.
NOTHING: Rule = {"regex": "^.^"}


class Naming(Protocol):
    """How one language brings names in and uses them."""

    #: What stands between the parts of a name; the last one also before a member.
    SEPARATORS: str
    #: Whether a qualified name may be written in full without an import.
    ABSOLUTE: bool

    def bindings(self, root: Node, names: Sequence[str]) -> Iterable[Binding]:
        """The names that the file's imports bind."""

    def references(self, chains: Sequence[Chain]) -> Rule:
        """The rule of a use of one of the spellings."""

    def imports(self, names: Sequence[str]) -> Rule:
        """The rule of the place in an import that brings one of the names."""


def load() -> None:
    """Loads the modules of all languages."""
    for language in _MODULES:
        _naming(language)


def has_names(language: str) -> bool:
    """Return true if rules may name things by their qualified names in a language."""
    return language in _MODULES


@cache
def anchors(language: str, names: tuple[str, ...]) -> frozenset[str]:
    """The words of which one stands in every file that uses one of the names.

    A member may come with its module, so that its own name need not stand in an import; the
    beginning must. Java's types stand there themselves, or their package does with a ``*``.
    """
    return frozenset(anchor for name in names for anchor in _anchors(language, name))


def _anchors(language: str, name: str) -> list[str]:
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


def find_bindings(root: Node, language: str, names: Sequence[str]) -> list[Binding]:
    """The bindings of a file's imports, as far as they matter to these names."""
    return list(_naming(language).bindings(root, names))


def utilities(
    language: str, bindings: Sequence[Binding], wanted: Mapping[str, Sequence[str]]
) -> dict[str, Rule]:
    """Utility rules for names in a file with these bindings.

    For each entry ``word: names`` there are ``word`` (a use of one of the names, as the file's
    imports spell it), ``word-import`` (where it is imported) and ``word-anywhere`` (either).
    """
    naming = _naming(language)
    made: dict[str, Rule] = {}
    for word, names in wanted.items():
        chains = spellings(names, bindings, naming.SEPARATORS)
        chains += [tuple(_split_name(name, naming)) for name in names if naming.ABSOLUTE]
        made[word] = naming.references(chains) if chains else NOTHING
        made[f"{word}-import"] = naming.imports(names)
        made[f"{word}-anywhere"] = {"any": [made[word], made[f"{word}-import"]]}
    return made


def _naming(language: str) -> Naming:
    name, attribute = _MODULES[language]
    module: Any = import_module(f"prjury.code.names.{name}")
    naming: Naming = getattr(module, attribute) if attribute else module
    return naming


def _split_name(name: str, naming: Naming) -> list[str]:
    return name.split("::" if ":" in naming.SEPARATORS else ".")
