"""Git objects with their real names: what is stored under a name hashes to it."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


class Named(NamedTuple):
    """What a tree says of a name in it: git's mode, without a leading zero, and an object."""

    mode: str
    sha: str


class Absent(LookupError):  # noqa: N818 - a path that is not there
    """Nothing to delete."""


@dataclass
class Objects:
    """A tiny object database."""

    held: dict[str, tuple[str, bytes]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.add("tree", b"")

    def add(self, kind: str, content: bytes) -> str:
        sha = hashlib.sha1(b"%s %d\0%s" % (kind.encode(), len(content), content)).hexdigest()  # noqa: S324 - git's own
        self.held[sha] = (kind, content)
        return sha

    def is_a(self, kind: str, sha: object) -> bool:
        return isinstance(sha, str) and self.held.get(sha, ("", b""))[0] == kind

    def load(self, repository: Path, *revisions: str) -> None:
        """Everything that the revisions of a real repository lead to."""
        listed = _git(repository, "rev-list", "--objects", "--no-object-names", *revisions)
        answer = _git(repository, "cat-file", "--batch", given=listed)
        while answer:
            head, _, rest = answer.partition(b"\n")
            sha, kind, size = head.decode().split()
            assert self.add(kind, rest[: int(size)]) == sha
            answer = rest[int(size) + 1 :]

    def write(self, repository: Path) -> None:
        """Puts all objects into a real repository, which checks them."""
        for sha, (kind, content) in self.held.items():
            told = _git(repository, "hash-object", "-w", "-t", kind, "--stdin", given=content)
            assert told.decode().strip() == sha

    def tree(self, sha: str) -> dict[str, Named]:
        """What stands in a tree itself; names are UTF-8 with surrogateescape."""
        kind, content = self.held[sha]
        assert kind == "tree", kind
        found: dict[str, Named] = {}
        while content:
            head, _, rest = content.partition(b"\0")
            mode, _, name = head.partition(b" ")
            found[name.decode("utf-8", "surrogateescape")] = Named(mode.decode(), rest[:20].hex())
            content = rest[20:]
        return found

    def changed(self, sha: str, changes: Mapping[tuple[str, ...], Named | None]) -> str:
        """A tree with other entries, by the parts of their paths; None takes one away.

        Raises:
            Absent: where there is none to take away.
        """
        entries = self.tree(sha)
        below: dict[str, dict[tuple[str, ...], Named | None]] = {}
        for (name, *rest), entry in changes.items():
            if rest:
                below.setdefault(name, {})[tuple(rest)] = entry
            elif entry is not None:
                entries[name] = entry
            elif entries.pop(name, None) is None:
                raise Absent(name)
        for name, inner in below.items():
            there = entries.get(name)
            base = there.sha if there and there.mode == "40000" else EMPTY_TREE
            made = self.changed(base, inner)
            entries[name] = Named("40000", made)
            if made == EMPTY_TREE:
                del entries[name]
        return self.add("tree", b"".join(_line(*one) for one in sorted(entries.items(), key=_key)))

    def files(self, tree: str, above: str = "") -> Iterator[tuple[str, Named]]:
        """All files of a tree, with their whole paths."""
        for name, entry in self.tree(tree).items():
            if entry.mode == "40000":
                yield from self.files(entry.sha, f"{above}{name}/")
            else:
                yield f"{above}{name}", entry

    def commit(self, sha: str) -> tuple[dict[str, list[str]], str]:
        """A commit's headers and its message."""
        kind, content = self.held[sha]
        assert kind == "commit", kind
        head, _, message = content.decode("utf-8", "surrogateescape").partition("\n\n")
        headers: dict[str, list[str]] = {}
        for line in head.split("\n"):
            name, _, value = line.partition(" ")
            headers.setdefault(name, []).append(value)
        return headers, message

    def tree_of(self, commit: str) -> str:
        return self.commit(commit)[0]["tree"][0]

    def before(self, commit: str) -> set[str]:
        """A commit and all before it."""
        seen: set[str] = set()
        todo = [commit]
        while todo:
            sha = todo.pop()
            if sha not in seen:
                seen.add(sha)
                todo += self.commit(sha)[0].get("parent", [])
        return seen


def _key(item: tuple[str, Named]) -> bytes:
    """Git's order: a directory as if a slash ended its name."""
    name, entry = item
    return name.encode("utf-8", "surrogateescape") + b"/" * (entry.mode == "40000")


def _line(name: str, entry: Named) -> bytes:
    path = name.encode("utf-8", "surrogateescape")
    return b"%s %s\0%s" % (entry.mode.encode(), path, bytes.fromhex(entry.sha))


def _git(repository: Path, *arguments: str, given: bytes = b"") -> bytes:
    command = ["git", "-C", str(repository), *arguments]
    return subprocess.run(command, input=given, capture_output=True, check=True).stdout
