"""Makes the public names of the parser's tree, in the parser's own process."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from importlib import import_module
from typing import Any

from msgspec import to_builtins
from msgspec.structs import replace

from prjury.code.names import Node
from prjury.code.publics.model import Publics

#: Nobody writes declarations inside of declarations any deeper.
DEEPEST = 60
#: Characters of a type or a list that are read.
_LONGEST = 50_000

_TIGHT = re.compile(r"\s*([<>\[\]().]|::)\s*")
_COMMA = re.compile(r"\s*,\s*")


def line_of(node: Node) -> int:
    line: int = node.range().start.line
    return line + 1


def tidy(text: str) -> str:
    return _COMMA.sub(", ", _TIGHT.sub(r"\1", " ".join(text.split()))).strip(", ")


def text_of(node: Node | None) -> str:
    """A node's text in one way of spacing, without comments; nothing for no node."""
    if node is None:
        return ""
    text: str = node.text()[:_LONGEST]
    if "//" in text or "/*" in text or "#" in text:
        start = node.range().start.index
        for comment in reversed(list(_comments(node))):
            place = comment.range()
            text = f"{text[: place.start.index - start]} {text[place.end.index - start :]}"
    return tidy(text)


def _comments(node: Node) -> Iterator[Node]:
    for child in node.children():
        if child.kind().endswith("comment"):
            yield child
        else:
            yield from _comments(child)


def children_at(node: Node, depth: int) -> list[Node]:
    """The children of a node at this depth of declarations, which must not be too deep."""
    if depth > DEEPEST:
        raise ValueError(f"declarations stand more than {DEEPEST} deep in each other")
    children: list[Node] = node.children()
    return children


def child_of(node: Node, *kinds: str) -> Node | None:
    return next((child for child in node.children() if child.kind() in kinds), None)


def children_of(node: Node | None, *kinds: str) -> list[Node]:
    return [child for child in node.children() if child.kind() in kinds] if node else []


def words_of(node: Node, words: Collection[str]) -> frozenset[str]:
    return frozenset(child.kind() for child in node.children() if child.kind() in words)


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
    for name in READERS.values():
        _reader(name)


def read_publics_json(root: Node, language: str) -> dict[str, Any]:
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
