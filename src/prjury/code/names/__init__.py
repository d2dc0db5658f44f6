"""Names as a file spells them: what a qualified name is called there, through imports and aliases.

A pack says ``numpy.float_``, a file ``import numpy as np`` and ``np.float_``. `word_rules` turns
the one into ast-grep utility rules for the other, in the parser's own process.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from itertools import takewhile
from typing import Any

from prjury.code.names.binding import Binding, Node, Rule, spellings

#: The module that reads names, by the parser's word for the language, and what in it does if not
#: the module itself: `bindings` of imports, rules for `references` and `imports`, its `SEPARATORS`,
#: and whether a name may be written in full without an import (`ABSOLUTE`).
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

    A member may come with its module, so its beginning must; of Java the type, or ``package.*``.
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


def word_rules(
    language: str, bindings: Sequence[Binding], wanted: Mapping[str, Sequence[str]]
) -> dict[str, Rule]:
    """Utility rules for names in a file with these bindings.

    For each ``word`` that is a use, ``word-import`` is an import, ``word-anywhere`` either of them.
    """
    naming = _naming(language)
    made: dict[str, Rule] = {}
    for word, names in wanted.items():
        chains = spellings(names, bindings, naming.SEPARATORS)
        chains += [tuple(re.split(r"::|\.", name)) for name in names if naming.ABSOLUTE]
        made[word] = naming.references(chains) if chains else NOTHING
        made[f"{word}-import"] = naming.imports(names)
        made[f"{word}-anywhere"] = {"any": [made[word], made[f"{word}-import"]]}
    return made


def _naming(language: str) -> Any:  # noqa: ANN401 - a module, or an object like one
    name, attribute = _MODULES[language]
    module = import_module(f"prjury.code.names.{name}")
    return getattr(module, attribute) if attribute else module
