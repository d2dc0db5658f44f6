"""Files to be judged: a directory, or the tree of a commit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, Protocol, TypeAlias

Kind: TypeAlias = Literal["file", "missing", "directory", "FIFO", "socket", "device"]


class FileTree(Protocol):
    """Files to be judged, wherever they are; each method is that of `Workspace`."""

    def kind(self, path: str) -> Kind:
        """What stands at a path."""

    def text(self, path: str) -> str:
        """A file's text."""

    def heads(self, path: str, suffix: str, size: int) -> Iterator[tuple[str, bytes]]:
        """The first bytes of each file below a directory whose name ends so."""
