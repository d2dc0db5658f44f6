"""Clashing paths as conflicts: type, sentence, class and lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from prjury.git.ancestry import merge_bases
from prjury.git.command import Git, GitError
from prjury.git.conflict_messages import sentence, two_renames
from prjury.git.merge_tree import BASE, OURS, THEIRS, ConflictReader, FailedMerge
from prjury.git.objects import blob_sizes, read_blobs
from prjury.snapshot.diff import DiffError, FilePatch, read_patches
from prjury.snapshot.model import Conflict, ConflictType, printable
from prjury.snapshot.threeway import Edit, ThreeWay, edits_of, lines_of

#: What is looked into at most: files, and bytes of one version and of all versions together.
_FILES, _FILE_BYTES, _ALL_BYTES = 1_000, 1024 * 1024, 32 * 1024 * 1024
#: The way in which git compares the versions when it merges them.
_DIFF_OPTIONS = (
    "-p",
    "-U0",
    "--text",
    "--no-textconv",
    "--no-ext-diff",
    "--no-color",
    "--no-renames",
    "--full-index",
    "--diff-algorithm=histogram",
    "--no-indent-heuristic",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)


def three_ways(git: Git, clashes: Sequence[ConflictReader]) -> dict[str, ThreeWay | str]:
    """The clashing files by path; one that is not looked into is told by the reason.

    Raises:
        GitError: when git cannot compare the versions.
    """
    sizes = blob_sizes(git, [blob for clash in clashes for blob in _blobs(clash)])
    found: dict[str, ThreeWay | str] = {}
    chosen: list[ConflictReader] = []
    total = 0
    for clash in clashes:
        size = [sizes.get(blob) for blob in _blobs(clash)]
        more = total + sum(filter(None, size))
        if reason := _refusal(size, len(chosen), more):
            found[clash.path] = reason
        else:
            chosen.append(clash)
            total = more
    return found | _read(git, chosen)


def _blobs(clash: ConflictReader) -> list[str]:
    return [clash.stages[stage].blob for stage in (BASE, OURS, THEIRS) if stage in clash.stages]


def _refusal(sizes: Sequence[int | None], files: int, total: int) -> str | None:
    """Why a file is not looked into."""
    known = [size for size in sizes if size is not None]
    if len(known) < len(sizes):
        return "not looked into: its content is missing from this partial clone"
    if max(known) > _FILE_BYTES:
        return f"not looked into: larger than {_FILE_BYTES // 1024} KiB"
    if files >= _FILES or total > _ALL_BYTES:
        return "not looked into: too many conflicts for one merge"
    return None


@dataclass(frozen=True)
class _Pair:
    """Two versions that are to be compared, under a name of our own."""

    name: str
    old: str
    new: str


def _read(git: Git, clashes: Sequence[ConflictReader]) -> dict[str, ThreeWay | str]:
    if not clashes:
        return {}
    patches = _patches(
        git, [pair for at, clash in enumerate(clashes) for pair in _pairs(at, clash)]
    )
    content = read_blobs(git, [blob for clash in clashes for blob in _blobs(clash)])
    return {
        clash.path: _three_way(clash, content, [patches.get(p.name) for p in _pairs(at, clash)])
        for at, clash in enumerate(clashes)
    }


def _pairs(at: int, clash: ConflictReader) -> list[_Pair]:
    """The base against both sides; where there is none, one side against the other."""
    base, ours, theirs = (clash.stages.get(stage) for stage in (BASE, OURS, THEIRS))
    if not ours or not theirs:
        return []
    if not base:
        return [_Pair(f"{at:06}a", ours.blob, theirs.blob)]
    return [_Pair(f"{at:06}a", base.blob, ours.blob), _Pair(f"{at:06}b", base.blob, theirs.blob)]


def _patches(git: Git, pairs: Sequence[_Pair]) -> Mapping[str, FilePatch]:
    """The patch of each pair by its name; none for versions that are the same."""
    old = "".join(f"100644 blob {pair.old}\t{pair.name}\n" for pair in pairs)
    new = "".join(f"100644 blob {pair.new}\t{pair.name}\n" for pair in pairs)
    trees = git("mktree", "--batch", stdin=f"{old}\n{new}".encode()).decode().split()
    output = git("diff-tree", *_DIFF_OPTIONS, *trees)
    differing = [pair.name for pair in pairs if pair.old != pair.new]
    try:
        return dict(zip(differing, read_patches(output), strict=True))
    except (DiffError, ValueError) as error:
        raise GitError(f"git's comparison could not be read: {error}") from error


def _three_way(
    clash: ConflictReader, content: Mapping[str, bytes | None], patches: Sequence[FilePatch | None]
) -> ThreeWay:
    base, ours, theirs = (
        lines_of(content.get(clash.stages[stage].blob) or b"") if stage in clash.stages else ()
        for stage in (BASE, OURS, THEIRS)
    )
    edits: list[tuple[Edit, ...]] = [edits_of(patch.hunks()) if patch else () for patch in patches]
    if BASE in clash.stages:
        return ThreeWay.of(base, ours, theirs, (edits[0], edits[1]))
    return ThreeWay.without_base(ours, theirs, edits[0])


#: Conflicts that are looked into line by line.
_READ = frozenset({ConflictType.CONTENT, ConflictType.ADD_ADD})
#: So many places of a file are told of.
_MOST_REGIONS = 100
#: Among so many deleted files it is looked for one that was renamed.
_MOST_DELETED = 500


def conflicts_of(trial: FailedMerge, clashes: Sequence[ConflictReader]) -> tuple[Conflict, ...]:
    """What is to be said of each path."""
    renamed = _renamed(trial, clashes)
    files = three_ways(
        trial.git,
        [
            clash
            for clash in clashes
            if clash.type in _READ and clash.regular and clash.path not in renamed
        ],
    )
    return tuple(
        Conflict(clash.path, ConflictType.RENAME, mechanical=False, reason=renamed[clash.path])
        if clash.path in renamed
        else _conflict(trial, clash, files)
        for clash in clashes
    )


def _conflict(
    trial: FailedMerge, clash: ConflictReader, files: Mapping[str, ThreeWay | str]
) -> Conflict:
    file = files.get(clash.path)
    if isinstance(file, ThreeWay):
        return _classified(trial, clash, file)
    if clash.type is ConflictType.BINARY:
        whole = trial.classify(printable(clash.path), ThreeWay((), (), ()), trial.names)
        if whole.mechanical:
            return Conflict(clash.path, clash.type, mechanical=True, reason=whole.reason)
    return Conflict(
        clash.path, clash.type, mechanical=False, reason=file or sentence(clash, trial.names)
    )


def _classified(trial: FailedMerge, clash: ConflictReader, file: ThreeWay) -> Conflict:
    found = trial.classify(printable(clash.path), file, trial.names)
    places = tuple(
        file.place(region, mechanical=easy)
        for region, easy in zip(file.regions, found.regions, strict=True)
    )
    lines = (places[0].head.first, places[-1].head.last) if places else None
    shown = places[:_MOST_REGIONS]
    return Conflict(clash.path, clash.type, found.mechanical, found.reason, lines, shown)


def _renamed(trial: FailedMerge, clashes: Sequence[ConflictReader]) -> dict[str, str]:
    """Paths at which both sides have a new file, one of which came there by a rename."""
    added = [clash.path for clash in clashes if clash.type is ConflictType.ADD_ADD]
    bases = merge_bases(trial.git, trial.ours, trial.theirs) if added else []
    if not bases:
        return {}
    ours, theirs = (
        _renames(trial.git, bases[0], side, added) for side in (trial.ours, trial.theirs)
    )
    return {
        path: two_renames(ours.get(path), theirs.get(path), trial.names)
        for path in added
        if path in ours or path in theirs
    }


def _renames(git: Git, base: str, side: str, added: Sequence[str]) -> dict[str, str]:
    """Where those of the added files were that a side has renamed.

    Only what the side deletes can be that; nothing is said where it deletes very much.
    """
    gone = _fields(git, "--no-renames", "--diff-filter=D", "--name-only", base, side)
    if not 0 < len(gone) <= _MOST_DELETED or len(added) > _MOST_DELETED:
        return {}
    find = ("-M50%", "--no-rename-empty", "--diff-filter=R", "--name-status")
    fields = _fields(git, *find, base, side, "--", *gone, *added)
    return dict(zip(fields[2::3], fields[1::3], strict=True))


def _fields(git: Git, *args: str) -> list[str]:
    """What git lists; nothing in a partial clone that lacks what would have to be compared."""
    output, code, _ = git.try_run("diff-tree", "-r", "-z", *args)
    return output.decode("utf-8", "surrogateescape").split("\0")[:-1] if code == 0 else []
