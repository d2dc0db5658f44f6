"""The change between two commits as a pull request, with its trial merge."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from msgspec import structs

from prjury.errors import SourceError
from prjury.git.command import GitError, find_in_tree, missing_blobs, unsafe_entries
from prjury.git.history import distance, merge_base
from prjury.git.merge import try_merge
from prjury.git.store import RawChange, Store
from prjury.scratch import scratch
from prjury.snapshot.diff import DiffError, FilePatch
from prjury.snapshot.kinds import REGULAR_MODES, SUBMODULE_MODE, has_suffix, kind_of
from prjury.snapshot.model import (
    BEYOND_LIMIT,
    MISSING,
    UNSAFE_TREE,
    FileChange,
    FileKind,
    FileStatus,
    MergeTrial,
    PullRequest,
    Side,
    printable,
    visible,
)

_NAMES = ("linguist-generated", "linguist-vendored")
_YES = frozenset({b"set", b"true"})


def exemptions(store: Store, commit: str, paths: Sequence[str]) -> Mapping[str, str]:
    """The paths that a commit's ``.gitattributes`` call generated or vendored, with the attribute.

    Files of attributes that a partial clone lacks exempt nothing.

    Raises:
        GitError: when git fails.
    """
    found = dict(_attribute_files(store, commit, paths))
    contents = store.read(sorted(set(found.values())))
    rules = {
        path: blob for path, blob in found.items() if b"linguist-" in (contents.get(blob) or b"")
    }
    return dict(_marked(store, rules, paths)) if rules else {}


def _attribute_files(store: Store, commit: str, paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Path and object name of each ``.gitattributes`` in the paths' directories and above."""
    names = sorted({f"{place}.gitattributes" for path in paths for place in _places(path)})
    found = find_in_tree(store.git, commit, names)
    return ((entry.path, entry.blob) for entry in found if entry.mode in REGULAR_MODES)


def _places(path: str) -> Iterator[str]:
    while path := posixpath.dirname(path):
        yield f"{path}/"
    yield ""


def _marked(
    store: Store, files: Mapping[str, str], paths: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Asks git, by an index that holds nothing but the files of attributes."""
    entries = "".join(f"100644 {blob}\t{path}\0" for path, blob in files.items())
    asked = "".join(f"{path}\0" for path in paths)
    with scratch("prjury-index-") as place:
        env = {"GIT_INDEX_FILE": f"{place}/index"}
        store.git("update-index", "-z", "--index-info", stdin=_bytes(entries), env=env)
        output = store.git(
            "check-attr", "--cached", "-z", "--stdin", *_NAMES, stdin=_bytes(asked), env=env
        )
    fields = iter(output.split(b"\0"))
    for path, name, value in zip(fields, fields, fields, strict=False):
        if value in _YES:
            yield path.decode("utf-8", "surrogateescape"), name.decode()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


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
    """What is read at most; the rest is named as not checked.

    ``removed_lines`` and the sizes of a file and a line are for one file, the others for all.
    """

    files: int = 1_000
    added_lines: int = 20_000
    removed_lines: int = 200_000
    text_bytes: int = 5 * 1024 * 1024
    file_bytes: int = 1024 * 1024
    line_characters: int = 20_000


def take_snapshot(
    store: Store, base: Side, head: Side, *, caps: Caps = Caps(), notes: Iterable[str] = ()
) -> PullRequest:
    """The pull request that would bring ``head`` into ``base``.

    Raises:
        SourceError: when both have no common commit, or objects of the history are missing.
    """
    start = merge_base(store.git, base, head)
    behind, ahead = distance(store.git, base.sha, head.sha)
    unsafe = unsafe_entries(store.git, start, head.sha)
    shots = [_refused(shot, unsafe) for shot in _shots(store, start, head.sha)]
    shots = shots if unsafe else _unless_exempt(store, base.sha, shots)
    return PullRequest(
        repo=store.operator.name,
        base=base,
        head=head,
        merge_base=start,
        merge=_unsafe(unsafe) if unsafe else _trial(store, base.sha, head.sha, start),
        files=tuple(sorted(_within(caps, sorted(shots, key=_order)), key=lambda file: file.path)),
        behind=behind,
        ahead=ahead,
        title=_subject(store, head.sha) if ahead == 1 else "",
        notes=tuple(notes),
    )


def _subject(store: Store, sha: str) -> str:
    """The first line of a commit's message, which a one-commit pull request takes as its title."""
    subject = store.git("log", "-1", "--no-show-signature", "--format=%s", "--encoding=UTF-8", sha)
    return subject.decode("utf-8", "replace").strip()[:500]


def _trial(store: Store, base: str, head: str, merge_base: str) -> MergeTrial:
    """The trial merge; where the head holds the whole base already, its own tree is the answer."""
    if merge_base == base:
        return MergeTrial(store.git.text("rev-parse", "--verify", f"{head}^{{tree}}"))
    return try_merge(store.git, base, head)


def _unsafe(paths: Sequence[str]) -> MergeTrial:
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    why = (
        f"the change holds the path `{visible(paths[0])}`{more}, which could be written outside of "
        "the tree or into `.git`: no ordinary git makes one. Nothing is merged, built or picked; "
        "remove it from the branch"
    )
    return MergeTrial(None, impossible=why, reason=UNSAFE_TREE)


@dataclass(frozen=True)
class _Shot:
    """A changed file and its patch, which is taken apart only if it is within the caps."""

    file: FileChange
    patch: FilePatch


def _refused(shot: _Shot, unsafe: Sequence[str]) -> _Shot:
    """A file at a path that leaves the tree counts as not read."""
    path = shot.file.path
    if not any(path == one or path.startswith(f"{one}/") for one in unsafe):
        return shot
    file = structs.replace(shot.file, additions=max(1, shot.file.additions))
    return replace(shot, file=structs.replace(file, unread="its path leaves the tree"))


def _order(shot: _Shot) -> tuple[bool, str]:
    return shot.file.kind in {FileKind.GENERATED, FileKind.VENDORED}, shot.file.path


def _unless_exempt(store: Store, base: str, shots: Sequence[_Shot]) -> list[_Shot]:
    """The shots, with what the base's own attributes exempt marked as such."""
    marks = exemptions(store, base, [shot.file.path for shot in shots])
    return [
        replace(
            shot, file=structs.replace(shot.file, exempt=f"{mark} in the base's .gitattributes")
        )
        if (mark := marks.get(shot.file.path))
        else shot
        for shot in shots
    ]


def _shots(store: Store, old: str, new: str) -> list[_Shot]:
    try:
        raw = store.raw_changes(old, new)
        patches = list(store.patches(old, new))
    except GitError as error:
        return _shots_of_partial_clone(store, old, new, error)
    except DiffError as error:
        raise SourceError(f"git's diff could not be read: {error}", reason="git_failed") from error
    return _paired(store, raw, patches)


def _shots_of_partial_clone(store: Store, old: str, new: str, error: GitError) -> list[_Shot]:
    """The files whose objects are here, and the others named as not checked."""
    raw = store.raw_changes(old, new, renames=False)
    missing = missing_blobs(store.git, [blob for change in raw for blob in _blobs(change)])
    if not missing:
        raise error
    gone = [change for change in raw if missing.intersection(_blobs(change))]
    here = [change for change in raw if change not in gone]
    leave_out = [change.path for change in gone]
    patches = list(store.patches(old, new, renames=False, leave_out=leave_out)) if here else []
    return _paired(store, here, patches) + [_Shot(_missing(change), FilePatch()) for change in gone]


def _missing(change: RawChange) -> FileChange:
    """Nobody knows how many lines it adds: at least one, unless it is deleted."""
    file = _described(change)
    reason = f"its content is {MISSING}"
    return structs.replace(file, additions=int(file.new_blob is not None), unread=reason)


def _blobs(change: RawChange) -> list[str]:
    sides = ((change.old_mode, change.old_blob), (change.new_mode, change.new_blob))
    return [blob for mode, blob in sides if mode not in {_NOTHING, SUBMODULE_MODE}]


def _paired(store: Store, raw: Sequence[RawChange], patches: Sequence[FilePatch]) -> list[_Shot]:
    """Git writes one patch for each raw entry, two (delete, create) where the type changes."""
    expected = sum(1 + (change.status == "T") for change in raw)
    if expected != len(patches):
        raise SourceError(
            f"git listed {expected} patches and wrote {len(patches)}", reason="git_failed"
        )
    remaining = iter(patches)
    found = [_shot(change, _next(remaining, change)) for change in raw]
    return _without_hidden_text(store, found)


def _next(patches: Iterator[FilePatch], change: RawChange) -> FilePatch:
    first = next(patches)
    return first if change.status != "T" else first.followed_by(next(patches))


def _described(change: RawChange) -> FileChange:
    """The change as far as the raw entry shows it."""
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
    )


def _shot(change: RawChange, patch: FilePatch) -> _Shot:
    file = _described(change)
    kind = kind_of(printable(file.path), file.new_mode or file.old_mode, binary=patch.binary)
    unread = "binary content" if patch.binary else None
    if patch.points_to_lfs:
        kind, unread = FileKind.BINARY, "a Git LFS pointer, whose content is not here"
    counted = structs.replace(
        file, kind=kind, additions=patch.additions, deletions=patch.deletions, unread=unread
    )
    return _Shot(counted, patch)


def _without_hidden_text(store: Store, shots: Sequence[_Shot]) -> list[_Shot]:
    """Binary content under a name that promises text counts by its lines: it may hide code."""
    hiding = [shot.file.new_blob for shot in shots if _may_hide_text(shot.file)]
    content = store.read([blob for blob in hiding if blob])
    return [replace(shot, file=_counted(shot.file, content)) for shot in shots]


def _may_hide_text(file: FileChange) -> bool:
    regular = file.new_mode in REGULAR_MODES
    return bool(file.unread) and regular and (file.readable or not has_suffix(file.path))


def _counted(file: FileChange, content: Mapping[str, bytes | None]) -> FileChange:
    data = content.get(file.new_blob or "") if _may_hide_text(file) else None
    if data is None or not (file.readable or data.startswith(b"#!")):
        return file
    kind = file.kind if file.readable else FileKind.SOURCE
    lines = data.count(b"\n") + (not data.endswith(b"\n"))
    reason = "not text (NUL bytes or UTF-16)"
    return structs.replace(file, kind=kind, additions=max(1, lines), unread=reason)


@dataclass
class _Allowance:
    """What may still be read."""

    caps: Caps
    files: int = 0
    lines: int = 0
    size: int = 0

    def refusal(self, patch: FilePatch) -> str | None:
        """Why the file's patch is beyond a cap; if it is not, it is taken off what is left."""
        caps = self.caps
        if patch.added_bytes > caps.file_bytes:
            return f"larger than {caps.file_bytes // 1024} KiB"
        if patch.longest > caps.line_characters:
            return f"has a line of more than {caps.line_characters} characters"
        files, lines = self.files + 1, self.lines + patch.additions
        size = self.size + patch.added_bytes
        limits = (
            (files, caps.files, f"{caps.files:,} files"),
            (lines, caps.added_lines, f"{caps.added_lines:,} added lines"),
            (size, caps.text_bytes, f"{caps.text_bytes // 1024**2} MiB of text"),
            (patch.deletions, caps.removed_lines, f"{caps.removed_lines:,} removed lines"),
        )
        for count, cap, words in limits:
            if count > cap:
                return f"{BEYOND_LIMIT}: {words}"
        self.files, self.lines, self.size = files, lines, size
        return None


def _within(caps: Caps, shots: Iterable[_Shot]) -> Iterator[FileChange]:
    """The files with their hunks; those beyond a cap without, and with the reason."""
    allowance = _Allowance(caps)
    for shot in shots:
        file, patch = shot.file, shot.patch
        reason = file.unread or (None if file.readable else file.exempt or _kind_reason(file.kind))
        reason = reason or allowance.refusal(patch)
        yield (
            structs.replace(file, unread=reason)
            if reason
            else structs.replace(file, hunks=patch.hunks())
        )


def _kind_reason(kind: FileKind) -> str:
    return {
        FileKind.LOCK: "a lock file",
        FileKind.SUBMODULE: "a submodule pointer",
    }.get(kind, "binary content")
