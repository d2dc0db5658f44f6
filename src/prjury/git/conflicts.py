"""The paths of a merge that collide: what git says of each, and where."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from prjury.git.command import PLAIN_DIFF, Git, GitError, blob_sizes, read_blobs
from prjury.snapshot.diff import DiffError, FilePatch, read_patches
from prjury.snapshot.kinds import LOCK_FILES, REGULAR_MODES, is_changelog
from prjury.snapshot.model import MISSING, Conflict, ConflictType, printable, visible
from prjury.snapshot.threeway import Edit, Lines, SideNames, ThreeWay, edits_of, lines_of

#: What stands before the words of git's messages.
_PREFIX = re.compile(r"^(?:CONFLICT ?\([^)]*\)|warning|ERROR|error): ?")
#: The stages of a path in git's index.
BASE, OURS, THEIRS = 1, 2, 3

#: The words of git's merge-ort for each kind of conflict, in the order in which they are preferred.
_TYPES: Mapping[str, ConflictType] = {
    "CONFLICT (file/directory)": ConflictType.OTHER,
    "CONFLICT (distinct modes)": ConflictType.MODE,
    "CONFLICT (binary)": ConflictType.BINARY,
    "CONFLICT (submodule": ConflictType.SUBMODULE,
    "CONFLICT (rename/delete)": ConflictType.RENAME,
    "CONFLICT (modify/delete)": ConflictType.MODIFY_DELETE,
    "CONFLICT (rename": ConflictType.RENAME,
    "CONFLICT (directory rename": ConflictType.RENAME,
    "CONFLICT(directory rename": ConflictType.RENAME,
    "CONFLICT (file in way of directory rename)": ConflictType.RENAME,
    "CONFLICT (contents)": ConflictType.CONTENT,
    "CONFLICT (content)": ConflictType.CONTENT,
}


@dataclass(frozen=True, slots=True)
class FailedMerge:
    """A merge that did not succeed by itself.

    Attributes:
        ours: the commit that is merged onto.
        theirs: the commit that is merged.
        names: what both are called in sentences.
    """

    git: Git
    ours: str
    theirs: str
    names: SideNames


@dataclass(frozen=True, slots=True)
class MergeMessage:
    """One of git's messages about the merge: the paths concerned, its type, its words."""

    paths: tuple[str, ...]
    type: str
    words: str


@dataclass(frozen=True, slots=True)
class ConflictStage:
    """A version of a path: git's file mode and the object's name."""

    mode: str
    blob: str


@dataclass(frozen=True, slots=True)
class ConflictReader:
    """A path that does not merge.

    Attributes:
        stages: its versions, as far as there are any: `BASE`, `OURS`, `THEIRS`.
        messages: git's messages on it.
    """

    path: str
    stages: Mapping[int, ConflictStage]
    messages: tuple[MergeMessage, ...] = ()

    @property
    def type(self) -> ConflictType:
        """How the sides collide."""
        kind = ConflictType.OTHER
        if self.messages:
            words = self.first_message.type
            kind = next((kind for start, kind in _TYPES.items() if words.startswith(start)), kind)
        if kind is not ConflictType.CONTENT or BASE in self.stages:
            return kind
        return ConflictType.ADD_ADD if self.distinct_content else ConflictType.MODE

    @property
    def distinct_content(self) -> bool:
        """Whether the sides' versions hold different things."""
        ours, theirs = self.stages.get(OURS), self.stages.get(THEIRS)
        return not ours or not theirs or ours.blob != theirs.blob

    @property
    def regular(self) -> bool:
        """Whether both sides have a plain file there."""
        sides = (self.stages.get(OURS), self.stages.get(THEIRS))
        return all(side is not None and side.mode in REGULAR_MODES for side in sides)

    @property
    def first_message(self) -> MergeMessage:
        """The message of the preferred type."""
        for words in _TYPES:
            for message in self.messages:
                if message.type.startswith(words):
                    return message
        return self.messages[0]


#: What is looked into at most: files, and bytes of one version and of all versions together.
_FILES, _FILE_BYTES, _ALL_BYTES = 1_000, 1024 * 1024, 32 * 1024 * 1024
#: The way in which git compares the versions when it merges them.
_DIFF_OPTIONS = (
    *PLAIN_DIFF,
    "-p",
    "-U0",
    "--text",
    "--no-renames",
    "--diff-algorithm=histogram",
    "--no-indent-heuristic",
)


def three_ways(git: Git, clashes: Sequence[ConflictReader]) -> dict[str, ThreeWay | str]:
    """The clashing files by path; for one that is not looked into, the reason.

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
        return f"not looked into: its content is {MISSING}"
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
#: So many places of a file are reported.
_MOST_REGIONS = 100


def conflicts_of(trial: FailedMerge, clashes: Sequence[ConflictReader]) -> tuple[Conflict, ...]:
    """The conflict at each path."""
    readable = [clash for clash in clashes if clash.type in _READ and clash.regular]
    files = three_ways(trial.git, readable)
    return tuple(_conflict(trial, clash, files.get(clash.path)) for clash in clashes)


def _conflict(trial: FailedMerge, clash: ConflictReader, file: ThreeWay | str | None) -> Conflict:
    versions = file if isinstance(file, ThreeWay) else None
    resolution = None
    if versions or clash.type is ConflictType.BINARY:
        resolution = describe_resolution(printable(clash.path), versions)
    reason = resolution or git_words(clash, trial)
    if isinstance(file, str):
        reason = f"{reason} ({file})"
    regions = versions.regions if versions else ()
    places = [versions.place(region) for region in regions] if versions else []
    lines = (places[0].head.first, places[-1].head.last) if places else None
    shown = tuple(places[:_MOST_REGIONS])
    return Conflict(clash.path, clash.type, resolution is not None, reason, lines, shown)


def git_words(clash: ConflictReader, trial: FailedMerge) -> str:
    """Git's own message on a path, with both sides called by their names."""
    if not clash.messages:
        return "git could not merge it"
    words = clash.first_message.words.strip()
    words = _PREFIX.sub("", words).partition(".  ")[0].partition("; ")[0].removesuffix(".")
    words = words.replace(trial.ours, trial.names.onto).replace(trial.theirs, trial.names.head)
    return visible(words)


def describe_resolution(path: str, file: ThreeWay | None) -> str | None:
    """How anybody can resolve the conflict; None if it needs a human.

    Args:
        file: the three versions; None where they are not known line by line.
    """
    if command := LOCK_FILES.get(PurePosixPath(path).name.lower()):
        return f"a lock file: take either side's and run `{command}`"
    if file is not None and is_changelog(path) and _only_adds_entries(file):
        return "changelog entries: keep both"
    return None


def _only_adds_entries(file: ThreeWay) -> bool:
    """Whether both sides add lines wherever they collide, and leave those of the base as they were.

    The last line of the base may have had no end.
    """
    for region in file.regions:
        base, ours, theirs = (
            [line.rstrip("\r\n") for line in lines] for lines in file.texts(region)
        )
        if min(len(ours), len(theirs)) <= len(base):
            return False
        if not (_contains_in_order(ours, base) and _contains_in_order(theirs, base)):
            return False
    return bool(file.regions)


def _contains_in_order(many: Lines, few: Lines) -> bool:
    remaining = iter(many)
    return all(line in remaining for line in few)
