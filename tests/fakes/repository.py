"""A repository of plain dictionaries, and the pull request between two of them."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from prjury.deadline import Deadline
from prjury.ports.types import TreeEntry
from prjury.snapshot.kinds import kind_of
from prjury.snapshot.merge_style import HistoryCommit, RebaseTrial
from prjury.snapshot.model import FileChange, FileStatus, Hunk, Line, MergeTrial, PullRequest, Side

BASE, HEAD, MERGED = "b" * 40, "a" * 40, "c" * 40

Files = Mapping[str, str | bytes]


def as_bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


def blob_of(content: str | bytes) -> str:
    return hashlib.sha1(as_bytes(content), usedforsecurity=False).hexdigest()


@dataclass
class FakeRepository:
    """Commits as dictionaries of path to content.

    ``modes`` gives paths another mode than a plain file's, ``gone`` are objects of a partial clone
    that are missing, ``reads`` notes what was asked for.
    """

    commits: dict[str, Files]
    modes: dict[str, str] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    reads: list[list[str]] = field(default_factory=list)

    def files(self, commit: str) -> Sequence[TreeEntry]:
        return [
            TreeEntry(path, self.modes.get(path, "100644"), blob_of(content))
            for path, content in sorted(self.commits[commit].items())
        ]

    def read(self, blobs: Sequence[str]) -> Mapping[str, bytes | None]:
        self.reads.append(list(blobs))
        stored = {
            blob_of(content): as_bytes(content)
            for files in self.commits.values()
            for content in files.values()
        }
        return {blob: None if blob in self.gone else stored[blob] for blob in blobs}

    def nearest_tag(self, commit: str) -> str:
        """There is none."""
        return ""

    def export_and_list_missing(self, tree: str, directory: Path) -> Sequence[str]:
        raise NotImplementedError

    def recent(self, tip: str, count: int) -> Sequence[HistoryCommit]:
        return ()

    def rebase(self, base: str, head: str, deadline: Deadline) -> RebaseTrial:
        raise NotImplementedError


def pull_between(
    before: Files,
    after: Files,
    *,
    renamed: Mapping[str, str] | None = None,
    unread: Mapping[str, str] | None = None,
    modes: Mapping[str, str] | None = None,
    behind: int = 0,
    tree: str | None = None,
) -> PullRequest:
    """The pull request that turns ``before`` into ``after``; ``renamed`` maps new paths to old."""
    came_from = dict(renamed or {})
    left = set(came_from.values())
    paths = sorted({*before, *after} - left)
    files = [
        change(path, before.get(came_from.get(path, path)), after.get(path), came_from.get(path))
        for path in paths
        if before.get(came_from.get(path, path)) != after.get(path) or path in came_from
    ]
    return PullRequest(
        repo="octo/pets",
        base=Side("main", BASE),
        head=Side("topic", HEAD),
        merge_base=BASE,
        merge=MergeTrial(tree),
        behind=behind,
        files=tuple(
            _dressed(file, (unread or {}).get(file.path), (modes or {}).get(file.path))
            for file in files
        ),
    )


def _dressed(file: FileChange, unread: str | None, mode: str | None) -> FileChange:
    kind = kind_of(file.path, mode)
    hunks = () if unread else file.hunks
    return FileChange(
        path=file.path,
        status=file.status,
        kind=kind,
        additions=file.additions,
        deletions=file.deletions,
        old_path=file.old_path,
        old_blob=file.old_blob,
        new_blob=file.new_blob,
        old_mode=file.old_mode,
        new_mode=mode or file.new_mode,
        hunks=hunks,
        unread=unread,
    )


def change(
    path: str, old: str | bytes | None, new: str | bytes | None, old_path: str | None = None
) -> FileChange:
    hunk = hunk_between(as_bytes(old or b""), as_bytes(new or b""))
    signs = [line.sign for line in hunk.lines]
    status = FileStatus.ADDED if old is None else FileStatus.MODIFIED
    if new is None:
        status = FileStatus.DELETED
    return FileChange(
        path=path,
        status=FileStatus.RENAMED if old_path else status,
        kind=kind_of(path),
        additions=signs.count("+"),
        deletions=signs.count("-"),
        old_path=old_path,
        old_blob=None if old is None else blob_of(old),
        new_blob=None if new is None else blob_of(new),
        old_mode="100644",
        new_mode="100644",
        hunks=(hunk,) if {"+", "-"} & set(signs) else (),
    )


def hunk_between(old: bytes, new: bytes) -> Hunk:
    """One hunk that shows both sides completely; lines end at line feeds and nowhere else."""
    before, after = _lines(old), _lines(new)
    lines = tuple(_hunk_lines(before, after))
    return Hunk(1, len(before), 1, len(after), "", lines)


def _lines(content: bytes) -> list[bytes]:
    lines = content.split(b"\n")
    return lines[:-1] if lines[-1] == b"" else lines


def _hunk_lines(before: list[bytes], after: list[bytes]) -> Iterator[Line]:
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for tag, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        if tag == "equal":
            for offset in range(old_end - old_start):
                text = _text(before[old_start + offset])
                yield Line(" ", old_start + offset + 1, new_start + offset + 1, text)
            continue
        for number in range(old_start, old_end):
            yield Line("-", number + 1, None, _text(before[number]))
        for number in range(new_start, new_end):
            yield Line("+", None, number + 1, _text(after[number]))


def _text(line: bytes) -> str:
    return line.removesuffix(b"\r").decode("utf-8", "surrogateescape")
