"""The change between two commits as a pull request, with its trial merge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from msgspec import Struct
from msgspec.structs import replace

from prjury.errors import SourceError
from prjury.git.command import (
    GitError,
    decode_path,
    find_in_tree,
    list_unsafe_paths,
    read_blob_sizes,
)
from prjury.git.history import distance, require_merge_base
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


def find_linguist_marks(store: Store, commit: str, paths: Sequence[str]) -> Mapping[str, str]:
    """Find the paths that a commit's ``.gitattributes`` call generated or vendored."""
    places = {str(place) for path in paths for place in PurePosixPath(path).parents}
    names = sorted(str(PurePosixPath(place, ".gitattributes")) for place in places)
    entries = find_in_tree(store.git, commit, names)
    files = {entry.path: entry.blob for entry in entries if entry.mode in REGULAR_MODES}
    contents = store.read(sorted(set(files.values())))
    rules = [path for path, blob in files.items() if b"linguist-" in (contents.get(blob) or b"")]
    if not rules:
        return {}
    index = "".join(f"100644 {files[path]}\t{path}\0" for path in rules)
    query = "".join(f"{path}\0" for path in paths)
    with scratch("prjury-index-") as scratch_place:
        env = {"GIT_INDEX_FILE": f"{scratch_place}/index"}  # nothing but the files of attributes
        store.git("update-index", "-z", "--index-info", stdin=_encode(index), env=env)
        args = ("check-attr", "--cached", "-z", "--stdin", *_NAMES)
        output = store.git(*args, stdin=_encode(query), env=env)
    fields = iter(output.split(b"\0"))
    rows = zip(fields, fields, fields, strict=False)
    return {decode_path(path): name.decode() for path, name, value in rows if value in _YES}


def _encode(text: str) -> bytes:
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
#: Reasons to leave a file unread by its kind.
_REASONS = {FileKind.LOCK: "a lock file", FileKind.SUBMODULE: "a submodule pointer"}
_READ_LAST = frozenset({FileKind.GENERATED, FileKind.VENDORED})


class Caps(Struct, frozen=True):
    """What is read at most; the rest is named as not checked.

    ``removed_lines`` and the sizes of a file and a line are for one file, the others for all.
    """

    files: int = 1_000
    added_lines: int = 20_000
    removed_lines: int = 200_000
    text_bytes: int = 5 * 1024 * 1024
    file_bytes: int = 1024 * 1024
    line_characters: int = 20_000


_CAPS = Caps()


def take_snapshot(
    store: Store, base: Side, head: Side, *, caps: Caps = _CAPS, notes: Iterable[str] = ()
) -> PullRequest:
    """Return the pull request that would bring ``head`` into ``base``."""
    start = require_merge_base(store.git, base, head)
    behind, ahead = distance(store.git, base.sha, head.sha)
    unsafe = list_unsafe_paths(store.git, start, head.sha)
    shots = [_mark_if_unsafe(shot, unsafe) for shot in _read_patched(store, start, head.sha)]
    shots = shots if unsafe else _mark_linguist_exempt(store, base.sha, shots)
    shots.sort(key=lambda shot: (shot.file.kind in _READ_LAST, shot.file.path))
    return PullRequest(
        repo=store.operator.name,
        base=base,
        head=head,
        merge_base=start,
        merge=_make_refused_merge(unsafe) if unsafe else _merge(store, base.sha, head.sha, start),
        files=tuple(sorted(_apply_caps(caps, shots), key=lambda file: file.path)),
        behind=behind,
        ahead=ahead,
        title=_read_subject(store, head.sha) if ahead == 1 else "",
        notes=tuple(notes),
    )


def _read_subject(store: Store, sha: str) -> str:
    """Read the first line of a commit's message, the title of a pull request of one commit."""
    subject = store.git("log", "-1", "--no-show-signature", "--format=%s", "--encoding=UTF-8", sha)
    return subject.decode("utf-8", "replace").strip()[:500]


def _merge(store: Store, base: str, head: str, merge_base: str) -> MergeTrial:
    """Try the merge; if the head holds the whole base already, its own tree is the answer."""
    if merge_base == base:
        return MergeTrial(store.git.text("rev-parse", "--verify", f"{head}^{{tree}}"))
    return try_merge(store.git, base, head)


def _make_refused_merge(unsafe_paths: Sequence[str]) -> MergeTrial:
    more = f" and {len(unsafe_paths) - 1} more" if len(unsafe_paths) > 1 else ""
    why = (
        f"the change holds the path `{visible(unsafe_paths[0])}`{more}, which could be written "
        "outside of the tree or into `.git`: no ordinary git makes one. Nothing is merged, built "
        "or picked; remove it from the branch"
    )
    return MergeTrial(None, impossible=why, reason=UNSAFE_TREE)


class _Patched(Struct, frozen=True):
    """A changed file and its patch, which is taken apart only if it is within the caps."""

    file: FileChange
    patch: FilePatch


def _mark_if_unsafe(shot: _Patched, unsafe: Sequence[str]) -> _Patched:
    """Call a file at a path that leaves the tree not read."""
    path = shot.file.path
    if not any(path == place or path.startswith(f"{place}/") for place in unsafe):
        return shot
    file = replace(shot.file, additions=max(1, shot.file.additions))
    return replace(shot, file=replace(file, unread="its path leaves the tree"))


def _mark_linguist_exempt(store: Store, base: str, shots: Sequence[_Patched]) -> list[_Patched]:
    marks = find_linguist_marks(store, base, [shot.file.path for shot in shots])
    return [
        replace(shot, file=replace(shot.file, exempt=f"{mark} in the base's .gitattributes"))
        if (mark := marks.get(shot.file.path))
        else shot
        for shot in shots
    ]


def _read_patched(store: Store, old: str, new: str) -> list[_Patched]:
    try:
        raw = store.raw_changes(old, new)
        patches = list(store.patches(old, new))
    except GitError as error:
        return _mark_missing_or_reraise(store, old, new, error)
    except DiffError as error:
        raise SourceError(f"git's diff could not be read: {error}", reason="git_failed") from error
    return _pair_and_count_hidden_text(store, raw, patches)


def _mark_missing_or_reraise(store: Store, old: str, new: str, error: GitError) -> list[_Patched]:
    """Read the files whose objects are here, and name the others as not checked."""
    raw = store.raw_changes(old, new, renames=False)
    present = read_blob_sizes(store.git, [blob for change in raw for blob in _list_blobs(change)])
    missing = [change for change in raw if not present.keys() >= set(_list_blobs(change))]
    if not missing:
        raise error
    whole = [change for change in raw if change not in missing]
    leave_out = [change.path for change in missing]
    patches = list(store.patches(old, new, renames=False, leave_out=leave_out)) if whole else []
    shots = _pair_and_count_hidden_text(store, whole, patches)
    for change in missing:
        file = make_file_change(change)
        # Nobody knows how many lines it adds: at least one, unless it is deleted.
        additions, reason = int(file.new_blob is not None), f"its content is {MISSING}"
        shots.append(_Patched(replace(file, additions=additions, unread=reason), FilePatch()))
    return shots


def _list_blobs(change: RawChange) -> list[str]:
    sides = ((change.old_mode, change.old_blob), (change.new_mode, change.new_blob))
    return [blob for mode, blob in sides if mode not in {_NOTHING, SUBMODULE_MODE}]


def _pair_and_count_hidden_text(
    store: Store, raw: Sequence[RawChange], patches: Sequence[FilePatch]
) -> list[_Patched]:
    """Pair each raw entry with its patch, or two (delete, create) where the type changes."""
    expected = sum(1 + (change.status == "T") for change in raw)
    if expected != len(patches):
        raise SourceError(
            f"git listed {expected} patches and wrote {len(patches)}", reason="git_failed"
        )
    remaining = iter(patches)
    shots = []
    for change in raw:
        patch = next(remaining)
        if change.status == "T":
            patch = patch.combine(next(remaining))
        shots.append(_make_patched(change, patch))
    return _count_hidden_text(store, shots)


def make_file_change(change: RawChange) -> FileChange:
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


def _make_patched(change: RawChange, patch: FilePatch) -> _Patched:
    file = make_file_change(change)
    kind = kind_of(printable(file.path), file.new_mode or file.old_mode, binary=patch.binary)
    unread = "binary content" if patch.binary else None
    if patch.points_to_lfs:
        kind, unread = FileKind.BINARY, "a Git LFS pointer, whose content is not here"
    additions, deletions = patch.additions, patch.deletions
    file = replace(file, kind=kind, additions=additions, deletions=deletions, unread=unread)
    return _Patched(file, patch)


def _count_hidden_text(store: Store, shots: Sequence[_Patched]) -> list[_Patched]:
    """Count the lines of binary content under a name that promises text: it may hide code."""
    blobs = [shot.file.new_blob for shot in shots if _may_hide_text(shot.file)]
    content = store.read([blob for blob in blobs if blob])
    return [replace(shot, file=_count_lines_if_hiding_text(shot.file, content)) for shot in shots]


def _may_hide_text(file: FileChange) -> bool:
    regular = file.new_mode in REGULAR_MODES
    return bool(file.unread) and regular and (file.readable or not has_suffix(file.path))


def _count_lines_if_hiding_text(
    file: FileChange, content: Mapping[str, bytes | None]
) -> FileChange:
    data = content.get(file.new_blob or "") if _may_hide_text(file) else None
    if data is None or not (file.readable or data.startswith(b"#!")):
        return file
    kind = file.kind if file.readable else FileKind.SOURCE
    lines = data.count(b"\n") + (not data.endswith(b"\n"))
    reason = "not text (NUL bytes or UTF-16)"
    return replace(file, kind=kind, additions=max(1, lines), unread=reason)


@dataclass
class _Allowance:
    """What may still be read."""

    caps: Caps
    files: int = 0
    lines: int = 0
    size: int = 0

    def spend_or_refuse(self, patch: FilePatch) -> str | None:
        """Say which cap the file's patch is beyond, or take it off what is left."""
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


def _apply_caps(caps: Caps, shots: Iterable[_Patched]) -> Iterator[FileChange]:
    """Yield the files with their hunks; those beyond a cap without, and with the reason."""
    allowance = _Allowance(caps)
    for shot in shots:
        file, patch = shot.file, shot.patch
        kind_reason = _REASONS.get(file.kind, "binary content")
        reason = file.unread or (None if file.readable else file.exempt or kind_reason)
        reason = reason or allowance.spend_or_refuse(patch)
        yield replace(file, unread=reason) if reason else replace(file, hunks=patch.hunks())
