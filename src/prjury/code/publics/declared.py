"""Makes the public names of the parser's tree, in the parser's own process."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from importlib import import_module
from typing import Any

from msgspec import to_builtins
from msgspec.structs import replace

from prjury.code.names import MODULES, Node
from prjury.code.publics.model import Publics

#: Nobody writes declarations inside of declarations any deeper.
DEEPEST = 60
#: Characters of a type or a list that are read.
_LONGEST = 50_000

_TIGHT = re.compile(r"\s*([<>\[\]().]|::)\s*")
_COMMA = re.compile(r"\s*,\s*")


class Tree:
    """A node in so many declarations; one that is not there is false, and has no text."""

    def __init__(self, node: Node | None = None, depth: int = 0) -> None:
        self.node: Node = node
        self.kind: str = node.kind() if node else ""
        self.depth = depth

    def __bool__(self) -> bool:
        return self.node is not None

    @property
    def line(self) -> int:
        line: int = self.node.range().start.line
        return line + 1

    @property
    def raw(self) -> str:
        return self.node.text() if self.node else ""

    @property
    def text(self) -> str:
        """The text in one way of spacing, without comments."""
        text = self.raw[:_LONGEST]
        if "//" in text or "/*" in text or "#" in text:
            start = self.node.range().start.index
            for comment in reversed(list(self.find_comments())):
                place = comment.node.range()
                text = f"{text[: place.start.index - start]} {text[place.end.index - start :]}"
        return tidy(text)

    def find_comments(self) -> Iterator[Tree]:
        for child in self.children():
            if child.kind.endswith("comment"):
                yield child
            else:
                yield from child.find_comments()

    def field(self, name: str) -> Tree:
        return Tree(self.node.field(name) if self.node else None, self.depth)

    def children(self, *kinds: str) -> list[Tree]:
        """All children, or those of these kinds."""
        nodes = self.node.children() if self.node else []
        children = [Tree(node, self.depth) for node in nodes]
        return [child for child in children if child.kind in kinds] if kinds else children

    def named_children(self) -> list[Tree]:
        return [child for child in self.children() if child.node.is_named()]

    def child(self, *kinds: str) -> Tree:
        return next(iter(self.children(*kinds)), Tree())

    def child_after(self, token: str) -> Tree:
        children = iter(self.children())
        after = next(children, None) if any(child.kind == token for child in children) else None
        return after or Tree()

    def open_children(self, *opened_kinds: str) -> Iterator[Tree]:
        """The children, and in the place of blocks theirs; ValueError for those too deep."""
        if self.depth > DEEPEST:
            raise ValueError(f"declarations stand more than {DEEPEST} deep in each other")
        for child in self.children():
            child.depth += 1
            if child.kind in opened_kinds:
                yield from child.open_children(*opened_kinds)
            else:
                yield child

    @property
    def modifiers(self) -> frozenset[str]:
        """The words before a declaration of Java or Kotlin."""
        return frozenset(child.raw for child in self.child("modifiers").children())

    def words(self, words: Collection[str]) -> frozenset[str]:
        return frozenset(child.kind for child in self.children() if child.kind in words)


def tidy(text: str) -> str:
    return _COMMA.sub(", ", _TIGHT.sub(r"\1", " ".join(text.split()))).strip(", ")


_WORD = re.compile(r"\w+")


def read_publics_as_dict(root: Node, language: str) -> dict[str, Any]:
    reader = import_module(f"prjury.code.publics.{MODULES[language]}")
    publics: Publics = reader.read(Tree(root))
    errors = [Tree(node) for node in root.find_all(kind="ERROR")]
    if errors:
        publics = replace(
            publics,
            served=frozenset(_WORD.findall(root.text())),
            broken=errors[0].line,
            errors=tuple(error.raw for error in errors),
        )
    result: dict[str, Any] = to_builtins(publics)
    return result
