"""Makes the public names of the parser's tree, in the parser's own process."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

from msgspec import to_builtins
from msgspec.structs import replace

from prjury.code.names.binding import Node
from prjury.code.publics.model import Publics
from prjury.code.publics.nodes import line_of

#: The module that reads them, by the parser's word for the language.
READERS = {
    "java": "java",
    "kotlin": "kotlin",
    "python": "python",
    "javascript": "script",
    "typescript": "script",
    "tsx": "script",
    "go": "go",
    "rust": "rust",
}
_WORD = re.compile(r"\w+")


def load() -> None:
    """Import the readers of all languages."""
    for name in READERS.values():
        _reader(name)


def read_publics_json(root: Node, language: str) -> dict[str, Any]:
    """The `Publics` of a text, as JSON has them."""
    publics: Publics = _reader(READERS[language]).read(root)
    errors = root.find_all(kind="ERROR")
    if errors:
        publics = replace(
            publics,
            served=frozenset(_WORD.findall(root.text())),
            broken=line_of(errors[0]),
            errors=tuple(error.text() for error in errors),
        )
    result: dict[str, Any] = to_builtins(publics)
    return result


def _reader(name: str) -> Any:  # noqa: ANN401 - a module
    return import_module(f"prjury.code.publics.{name}")
