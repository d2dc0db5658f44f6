"""Reads trees and blobs, many in one command."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from prjury.git.command import Git, failure
from prjury.ports.types import TreeEntry

#: So many paths fit on one command line, however long they are.
_PATHS_AT_ONCE = 200
#: Names that some file system takes for ``.git``: in any case, with dots, blanks or a stream at
#: the end, as the short name of Windows, or with characters in them that macOS does not see.
_DOT_GIT = re.compile(r"(\.git|git~1)[ .]*([:\\].*)?", re.DOTALL)
_NOT_SEEN = dict.fromkeys(
    (*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF)
)


def list_tree(git: Git, tree: str) -> list[TreeEntry]:
    """Every file of a commit or tree, in git's order."""
    return _entries(git("ls-tree", "-r", "-z", "--full-tree", tree))


def find_in_tree(git: Git, tree: str, paths: Sequence[str]) -> list[TreeEntry]:
    """What stands at these paths of a tree: files, links, submodules or directories."""
    found: list[TreeEntry] = []
    for at in range(0, len(paths), _PATHS_AT_ONCE):
        some = paths[at : at + _PATHS_AT_ONCE]
        found += _entries(git("ls-tree", "-z", "--full-tree", tree, "--", *some))
    return found


def unsafe_entries(git: Git, old: str, new: str) -> list[str]:
    """The paths of entries that could be written outside of the tree, or into a repository.

    Looked at are the directories of ``new`` in which something differs from ``old``.
    """
    args = ("diff-tree", "-r", "-t", "--raw", "--no-renames", "-z", old, new)
    fields = iter(git(*args).split(b"\0"))
    changed = ((head.split(b" "), next(fields)) for head in fields if head)
    places = {
        head[3].decode(): path.decode("utf-8", "surrogateescape") + "/"
        for head, path in changed
        if head[1] == b"040000"
    }
    places = {f"{new}^{{tree}}": "", **places}
    trees = _batch(git("cat-file", "--batch", stdin=_lines(list(places))))
    return sorted(
        place + name.decode("utf-8", "surrogateescape")
        for place, (oid, content) in zip(places.values(), trees, strict=True)
        for name in _names(content or b"", len(oid) // 2)
        if is_unsafe(name)
    )


def _names(tree: bytes, width: int) -> Iterator[bytes]:
    """The names in a tree object as git stores it; ``width`` is the length of a binary name."""
    at = 0
    while at < len(tree):
        start, end = tree.index(b" ", at) + 1, tree.index(b"\0", at)
        yield tree[start:end]
        at = end + 1 + width


def is_unsafe(name: bytes) -> bool:
    """Whether an entry of this name is another place than a file in its own directory."""
    seen = name.decode("utf-8", "replace").translate(_NOT_SEEN).casefold()
    return name in {b"", b".", b".."} or b"/" in name or bool(_DOT_GIT.fullmatch(seen))


def _entries(listing: bytes) -> list[TreeEntry]:
    return [_entry(record) for record in listing.split(b"\0") if record]


def _entry(record: bytes) -> TreeEntry:
    head, _, path = record.partition(b"\t")
    mode, _, blob = head.decode().split(" ")
    return TreeEntry(path.decode("utf-8", "surrogateescape"), mode, blob)


def read_blobs(git: Git, blobs: Sequence[str]) -> dict[str, bytes | None]:
    """The blobs' bytes by object name; None for those that a partial clone lacks."""
    wanted = list(dict.fromkeys(blobs))
    if not wanted:
        return {}
    return dict(_batch(git("cat-file", "--batch", stdin=_lines(wanted))))


def blob_sizes(git: Git, blobs: Sequence[str]) -> dict[str, int]:
    """The blobs' sizes in bytes by object name, without those that a partial clone lacks.

    Raises:
        GitError: for an object that is here and damaged.
    """
    return {name: int(rest[1]) for name, *rest in _checked(git, blobs) if len(rest) > 1}


def missing_blobs(git: Git, blobs: Sequence[str]) -> set[str]:
    """Those of the blobs that a partial clone lacks.

    Raises:
        GitError: for an object that is here and damaged, which git would call missing as well.
    """
    return {name for name, *rest in _checked(git, blobs) if rest == ["missing"]}


def _checked(git: Git, blobs: Sequence[str]) -> list[list[str]]:
    """For each object its name, type and size, or its name and ``missing``."""
    if not blobs:
        return []
    output, code, stderr = git.try_run("cat-file", "--batch-check", stdin=_lines(blobs))
    if code or stderr:
        raise failure("cat-file", code, stderr)
    return [line.split() for line in output.decode().splitlines()]


def _lines(names: Sequence[str]) -> bytes:
    return "".join(f"{name}\n" for name in dict.fromkeys(names)).encode()


def _batch(output: bytes) -> Iterator[tuple[str, bytes | None]]:
    at = 0
    while at < len(output):
        end = output.index(b"\n", at)
        name, *rest = output[at:end].decode().split(" ")
        if rest[0] in {"missing", "ambiguous"}:
            yield name, None
            at = end + 1
            continue
        size = int(rest[1])
        yield name, output[end + 1 : end + 1 + size]
        at = end + 1 + size + 1
