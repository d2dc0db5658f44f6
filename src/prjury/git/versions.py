"""The three versions of files in conflict, read together: four commands, however many they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from prjury.git.command import Git, GitError
from prjury.git.merge_tree import BASE, OURS, THEIRS, ConflictReader
from prjury.git.objects import blob_sizes, read_blobs
from prjury.snapshot.diff import DiffError, FilePatch, read_patches
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
