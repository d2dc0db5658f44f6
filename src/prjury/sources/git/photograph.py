"""Takes the photograph: two refs of a repository become one `PullRequest` value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from prjury.errors import SourceError
from prjury.pull.diff import DiffError, FilePatch
from prjury.pull.kinds import SUBMODULE_MODE, SYMLINK_MODE, kind_of
from prjury.pull.model import (
    FileChange,
    FileKind,
    FileStatus,
    MergeTrial,
    PullRequest,
    Side,
    printable,
)
from prjury.sources.git.command import GitError
from prjury.sources.git.merge import try_merge
from prjury.sources.git.store import RawChange, Store

_STATUS = {
    "A": FileStatus.ADDED,
    "M": FileStatus.MODIFIED,
    "D": FileStatus.DELETED,
    "R": FileStatus.RENAMED,
    "C": FileStatus.COPIED,
    "T": FileStatus.TYPE_CHANGED,
}
_NOTHING = "000000"


@dataclass(frozen=True)
class Caps:
    """What is read at most; the rest is named as not checked."""

    files: int = 1_000
    added_lines: int = 20_000
    text_bytes: int = 5 * 1024 * 1024
    file_bytes: int = 1024 * 1024
    line_characters: int = 20_000


def photograph(
    store: Store, base: Side, head: Side, *, caps: Caps = Caps(), notes: Iterable[str] = ()
) -> PullRequest:
    """The pull request that would bring ``head`` into ``base``.

    Raises:
        SourceError: when both have no common commit, or objects of the history are missing.
    """
    merge_base = _merge_base(store, base, head)
    behind, ahead = _distance(store, base.sha, head.sha)
    files = _files(store, merge_base, head.sha)
    return PullRequest(
        repo=store.operator.name,
        base=base,
        head=head,
        merge_base=merge_base,
        merge=_trial(store, base.sha, head.sha, merge_base),
        files=tuple(_within(caps, sorted(files, key=lambda file: file.path))),
        behind=behind,
        ahead=ahead,
        title=_subject(store, head.sha) if ahead == 1 else "",
        notes=tuple(notes),
    )


def _merge_base(store: Store, base: Side, head: Side) -> str:
    output, code, stderr = store.git.try_run("merge-base", base.sha, head.sha)
    if code == 0:
        return output.decode().split()[0]
    names = f"{printable(base.ref)} and {printable(head.ref)}"
    if store.operator.shallow_file:
        raise SourceError(
            f"{names} have no common commit in this shallow clone",
            why="Its history was cut off before the point where they part",
            remedy="Run: git fetch --unshallow",
            reason="shallow_history",
        )
    if stderr:
        raise SourceError(
            f"the history of {names} cannot be read: {stderr.splitlines()[-1]}",
            why="Objects are missing or damaged",
            remedy="Run: git fsck, or clone again",
            reason="git_failed",
        )
    raise SourceError(
        f"{names} have no common commit",
        why="Their histories are unrelated",
        remedy="Name the branch that the change was made from with --base",
        reason="no_merge_base",
    )


def _distance(store: Store, base: str, head: str) -> tuple[int, int]:
    counts = store.git.text("rev-list", "--left-right", "--count", f"{base}...{head}")
    behind, ahead = counts.split()
    return int(behind), int(ahead)


def _subject(store: Store, sha: str) -> str:
    """The first line of a commit's message, which a one-commit pull request takes as its title."""
    subject = store.git("log", "-1", "--no-show-signature", "--format=%s", "--encoding=UTF-8", sha)
    return subject.decode("utf-8", "replace").strip()[:500]


def _trial(store: Store, base: str, head: str, merge_base: str) -> MergeTrial:
    """The trial merge; where the head holds the whole base already, its own tree is the answer."""
    if merge_base == base:
        return MergeTrial(store.git.text("rev-parse", "--verify", f"{head}^{{tree}}"))
    return try_merge(store.git, base, head)


def _files(store: Store, old: str, new: str) -> list[FileChange]:
    try:
        raw = store.raw_changes(old, new)
        patches = list(store.patches(old, new))
    except GitError as error:
        return _files_of_partial_clone(store, old, new, error)
    except DiffError as error:
        raise SourceError(f"git's diff could not be read: {error}", reason="git_failed") from error
    return _paired(store, raw, patches)


def _files_of_partial_clone(store: Store, old: str, new: str, error: GitError) -> list[FileChange]:
    """The files whose objects are here, and the others named as not checked."""
    raw = store.raw_changes(old, new, renames=False)
    missing = store.missing([blob for change in raw for blob in _blobs(change)])
    if not missing:
        raise error
    gone = [change for change in raw if missing.intersection(_blobs(change))]
    here = [change for change in raw if change not in gone]
    leave_out = [change.path for change in gone]
    patches = list(store.patches(old, new, renames=False, leave_out=leave_out)) if here else []
    reason = "its content is missing from this partial clone"
    return _paired(store, here, patches) + [_described(change, reason) for change in gone]


def _blobs(change: RawChange) -> list[str]:
    sides = ((change.old_mode, change.old_blob), (change.new_mode, change.new_blob))
    return [blob for mode, blob in sides if mode not in {_NOTHING, SUBMODULE_MODE}]


def _paired(
    store: Store, raw: Sequence[RawChange], patches: Sequence[FilePatch]
) -> list[FileChange]:
    """Git writes one patch for each raw entry, two (delete, create) where the type changes."""
    expected = sum(1 + (change.status == "T") for change in raw)
    if expected != len(patches):
        raise SourceError(
            f"git listed {expected} patches and wrote {len(patches)}", reason="git_failed"
        )
    remaining = iter(patches)
    found = [_changed(change, _next(remaining, change)) for change in raw]
    return _without_hidden_text(store, found)


def _next(patches: Iterator[FilePatch], change: RawChange) -> FilePatch:
    first = next(patches)
    if change.status != "T":
        return first
    second = next(patches)
    return FilePatch((*first.hunks, *second.hunks), binary=first.binary or second.binary)


def _described(change: RawChange, unread: str | None = None) -> FileChange:
    """What the raw entry alone tells."""
    status = _STATUS.get(change.status, FileStatus.MODIFIED)
    if status is FileStatus.MODIFIED and change.old_blob == change.new_blob:
        status = FileStatus.MODE_CHANGED
    old, new = change.old_mode != _NOTHING, change.new_mode != _NOTHING
    return FileChange(
        path=change.path,
        status=status,
        kind=kind_of(printable(change.path), change.new_mode if new else change.old_mode),
        old_path=change.old_path,
        old_blob=change.old_blob if old else None,
        new_blob=change.new_blob if new else None,
        old_mode=change.old_mode if old else None,
        new_mode=change.new_mode if new else None,
        unread=unread,
    )


def _changed(change: RawChange, patch: FilePatch) -> FileChange:
    file = _described(change)
    signs = [line.sign for hunk in patch.hunks for line in hunk.lines]
    mode = file.new_mode or file.old_mode
    kind = kind_of(printable(file.path), mode, binary=patch.binary)
    return replace(
        file,
        kind=kind,
        hunks=patch.hunks,
        additions=signs.count("+"),
        deletions=signs.count("-"),
        unread="binary content" if patch.binary else None,
    )


def _without_hidden_text(store: Store, files: Sequence[FileChange]) -> list[FileChange]:
    """Binary content under a name that promises text counts by its lines: it may hide code."""
    hiding = {
        file.new_blob
        for file in files
        if file.unread and file.readable and file.new_blob and file.new_mode != SYMLINK_MODE
    }
    content = store.read([blob for blob in hiding if blob])
    return [_counted(file, content) if file.new_blob in hiding else file for file in files]


def _counted(file: FileChange, content: Mapping[str, bytes | None]) -> FileChange:
    data = content.get(file.new_blob or "") or b""
    lines = data.count(b"\n") + (not data.endswith(b"\n"))
    return replace(file, additions=max(1, lines), unread="not text (NUL bytes or UTF-16)")


@dataclass
class _Allowance:
    """What may still be read."""

    files: int
    lines: int
    size: int

    def refusal(self, file: FileChange, size: int) -> str | None:
        if self.files < 1 or self.lines < file.additions or self.size < size:
            return "beyond the limit for one pull request"
        self.files -= 1
        self.lines -= file.additions
        self.size -= size
        return None


def _within(caps: Caps, files: Iterable[FileChange]) -> Iterable[FileChange]:
    """The files with the hunks of those beyond a cap taken out and the reason put in."""
    allowance = _Allowance(caps.files, caps.added_lines, caps.text_bytes)
    for file in files:
        if file.unread or not file.readable:
            yield file if file.unread else replace(file, unread=_kind_reason(file.kind), hunks=())
            continue
        size = sum(len(line.text) for line in file.added_lines)
        longest = max((len(line.text) for line in file.added_lines), default=0)
        reason = None
        if size > caps.file_bytes:
            reason = f"larger than {caps.file_bytes // 1024} KiB"
        elif longest > caps.line_characters:
            reason = f"has a line of more than {caps.line_characters} characters"
        reason = reason or allowance.refusal(file, size)
        yield replace(file, hunks=(), unread=reason) if reason else file


def _kind_reason(kind: FileKind) -> str:
    return {
        FileKind.LOCK: "a lock file",
        FileKind.GENERATED: "generated",
        FileKind.VENDORED: "vendored",
        FileKind.SUBMODULE: "a submodule pointer",
    }.get(kind, "binary content")
