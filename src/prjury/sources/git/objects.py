"""Reads trees and blobs, many in one command."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prjury.exchange import TreeEntry
from prjury.sources.git.command import Git, failure

#: So many paths fit on one command line, however long they are.
_PATHS_AT_ONCE = 200


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
