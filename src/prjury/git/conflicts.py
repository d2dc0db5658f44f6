"""The paths of a merge that collide: what git says of each, and where."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from msgspec import Struct

from prjury.git.command import PLAIN_DIFF, Git, GitError, read_blob_sizes, read_blobs
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


class FailedMerge(Struct, frozen=True):
    """A merge that did not succeed by itself."""

    git: Git
    onto: str
    head: str
    names: SideNames


class MergeMessage(Struct, frozen=True):
    """One of git's messages about the merge: the paths concerned, its type, its words."""

    paths: tuple[str, ...]
    type: str
    words: str


class ConflictStage(Struct, frozen=True):
    """A version of a path: git's file mode and the object's name."""

    mode: str
    blob: str


class ConflictReader(Struct, frozen=True):
    """A path that does not merge."""

    path: str
    #: Its versions, as far as there are any: `BASE`, `OURS`, `THEIRS`.
    stages: Mapping[int, ConflictStage]
    messages: tuple[MergeMessage, ...] = ()

    @property
    def type(self) -> ConflictType:
        """The kind of collision."""
        kind = ConflictType.OTHER
        if self.messages:
            words = self.first_message.type
            kind = next((kind for start, kind in _TYPES.items() if words.startswith(start)), kind)
        if kind is not ConflictType.CONTENT or BASE in self.stages:
            return kind
        return ConflictType.ADD_ADD if self.distinct_content else ConflictType.MODE

    @property
    def distinct_content(self) -> bool:
        """True if the sides' versions hold different things."""
        sides = [self.stages[stage].blob for stage in (OURS, THEIRS) if stage in self.stages]
        return len(sides) < 2 or sides[0] != sides[1]  # noqa: PLR2004 - both sides

    @property
    def regular(self) -> bool:
        """True if both sides have a plain file there."""
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


def read_versions_or_reasons(
    git: Git, clashes: Sequence[ConflictReader]
) -> tuple[dict[str, ThreeWay], dict[str, str]]:
    """Read the versions of clashing files by path; and why others are not looked into."""
    sizes = read_blob_sizes(git, [blob for clash in clashes for blob in _list_versions(clash)])
    reasons, readable, total = dict[str, str](), list[ConflictReader](), 0
    for clash in clashes:
        size = [sizes.get(blob) for blob in _list_versions(clash)]
        more = total + sum(filter(None, size))
        if reason := _explain_unread(size, len(readable), more):
            reasons[clash.path] = reason
        else:
            readable.append(clash)
            total = more
    return _read_versions(git, readable), reasons


def _list_versions(clash: ConflictReader) -> list[str]:
    return [clash.stages[stage].blob for stage in (BASE, OURS, THEIRS) if stage in clash.stages]


def _explain_unread(sizes: Sequence[int | None], files_before: int, total: int) -> str | None:
    if None in sizes:
        return f"not looked into: its content is {MISSING}"
    if max(filter(None, sizes), default=0) > _FILE_BYTES:
        return f"not looked into: larger than {_FILE_BYTES // 1024} KiB"
    if files_before >= _FILES or total > _ALL_BYTES:
        return "not looked into: too many conflicts for one merge"
    return None


def _read_versions(git: Git, clashes: Sequence[ConflictReader]) -> dict[str, ThreeWay]:
    if not clashes:
        return {}
    pairs = [_pair_versions(clash) for clash in clashes]
    patches = iter(_diff_unequal_pairs(git, [pair for some in pairs for pair in some]))
    content = read_blobs(git, [blob for clash in clashes for blob in _list_versions(clash)])
    files: dict[str, ThreeWay] = {}
    for clash, some in zip(clashes, pairs, strict=True):
        edits: list[tuple[Edit, ...]] = [
            edits_of(next(patches).hunks()) if old != new else () for old, new in some
        ]
        base, head, other = (
            lines_of(content.get(clash.stages[stage].blob) or b"") if stage in clash.stages else ()
            for stage in (BASE, OURS, THEIRS)
        )
        if BASE in clash.stages:
            files[clash.path] = ThreeWay.of(base, head, other, (edits[0], edits[1]))
        else:
            files[clash.path] = ThreeWay.drop_base(head, other, edits[0])
    return files


def _pair_versions(clash: ConflictReader) -> list[tuple[str, str]]:
    """Pair the base with both sides; without a base one side with the other."""
    sides = [clash.stages[stage].blob for stage in (OURS, THEIRS)]
    if BASE not in clash.stages:
        return [(sides[0], sides[1])]
    return [(clash.stages[BASE].blob, side) for side in sides]


def _diff_unequal_pairs(git: Git, pairs: Sequence[tuple[str, str]]) -> Sequence[FilePatch]:
    """Read the patches of the pairs that differ, in their order."""
    rows = [(f"{at:06}", pair) for at, pair in enumerate(pairs)]
    old = "".join(f"100644 blob {pair[0]}\t{name}\n" for name, pair in rows)
    new = "".join(f"100644 blob {pair[1]}\t{name}\n" for name, pair in rows)
    trees = git("mktree", "--batch", stdin=f"{old}\n{new}".encode()).decode().split()
    output = git("diff-tree", *_DIFF_OPTIONS, *trees)
    try:
        patches = list(read_patches(output))
    except (DiffError, ValueError) as error:
        raise GitError(f"git's comparison could not be read: {error}") from error
    expected = sum(old != new for old, new in pairs)
    if len(patches) != expected:
        raise GitError(f"git's comparison holds {len(patches)} patches, not {expected}")
    return patches


#: Conflicts that are looked into line by line.
_READ = frozenset({ConflictType.CONTENT, ConflictType.ADD_ADD})
#: So many places of a file are reported.
_MOST_REGIONS = 100


def make_conflicts(trial: FailedMerge, clashes: Sequence[ConflictReader]) -> tuple[Conflict, ...]:
    """Describe the conflict at each path."""
    readable = [clash for clash in clashes if clash.type in _READ and clash.regular]
    files, reasons = read_versions_or_reasons(trial.git, readable)
    return tuple(
        _make_conflict(trial, clash, files.get(clash.path), reasons.get(clash.path))
        for clash in clashes
    )


def _make_conflict(
    trial: FailedMerge, clash: ConflictReader, versions: ThreeWay | None, why_unread: str | None
) -> Conflict:
    resolution = None
    if versions or clash.type is ConflictType.BINARY:
        resolution = describe_resolution(printable(clash.path), versions)
    reason = resolution or quote_git_message(clash, trial)
    reason += f" ({why_unread})" if why_unread else ""
    regions = versions.regions if versions else ()
    places = [versions.trim(region) for region in regions] if versions else []
    lines = (places[0].head.first, places[-1].head.last) if places else None
    shown = tuple(places[:_MOST_REGIONS])
    return Conflict(clash.path, clash.type, resolution is not None, reason, lines, shown)


def quote_git_message(clash: ConflictReader, trial: FailedMerge) -> str:
    """Quote git's own message on a path, with both sides called by their names."""
    if not clash.messages:
        return "git could not merge it"
    words = clash.first_message.words.strip()
    words = _PREFIX.sub("", words).partition(".  ")[0].partition("; ")[0].removesuffix(".")
    words = words.replace(trial.onto, trial.names.onto).replace(trial.head, trial.names.head)
    return visible(words)


def describe_resolution(path: str, file: ThreeWay | None) -> str | None:
    """Say how anybody can resolve the conflict; None if it needs a human."""
    if command := LOCK_FILES.get(PurePosixPath(path).name.lower()):
        return f"a lock file: take either side's and run `{command}`"
    if file is not None and is_changelog(path) and _sides_only_add_lines(file):
        return "changelog entries: keep both"
    return None


def _sides_only_add_lines(file: ThreeWay) -> bool:
    """Return true if both sides add lines wherever they collide, and leave those of the base.

    The last line of the base may have had no end.
    """
    for region in file.regions:
        base, *sides = ([line.rstrip("\r\n") for line in lines] for lines in file.texts(region))
        for side in sides:
            if len(side) <= len(base) or not _contains_in_order(side, base):
                return False
    return bool(file.regions)


def _contains_in_order(many: Lines, few: Lines) -> bool:
    remaining = iter(many)
    return all(line in remaining for line in few)
