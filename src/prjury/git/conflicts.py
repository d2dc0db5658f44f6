"""The paths of a merge that collide: what git reports of each, where, and a sentence for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from prjury.git.command import PLAIN_DIFF, Git, GitError, blob_sizes, read_blobs
from prjury.git.history import merge_bases
from prjury.snapshot.diff import DiffError, FilePatch, read_patches
from prjury.snapshot.kinds import REGULAR_MODES, SUBMODULE_MODE, SYMLINK_MODE
from prjury.snapshot.model import MISSING, Conflict, ConflictType, printable, visible
from prjury.snapshot.threeway import Classify, Edit, SideNames, ThreeWay, edits_of, lines_of

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
        classify: decides what kind of work a conflict is.
    """

    git: Git
    ours: str
    theirs: str
    names: SideNames
    classify: Classify


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

    @property
    def noun(self) -> str:
        """What kind of thing it is."""
        nouns = {SYMLINK_MODE: "a symbolic link", SUBMODULE_MODE: "a submodule"}
        return nouns.get(self.mode, "a file")


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
        types = [message.type for message in self.messages]
        kinds = (kind for words, kind in _TYPES.items() if any(t.startswith(words) for t in types))
        kind = next(kinds, ConflictType.OTHER)
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

    def message(self, words: str) -> MergeMessage | None:
        """The first message of a type that starts with these words."""
        return next((one for one in self.messages if one.type.startswith(words)), None)


def sentence(clash: ConflictReader, names: SideNames) -> str:
    """What collides at a path, and which side did what."""
    return {
        ConflictType.MODIFY_DELETE: _deleted,
        ConflictType.RENAME: _renamed,
        ConflictType.BINARY: _binary,
        ConflictType.SUBMODULE: _submodule,
        ConflictType.MODE: _mode,
        ConflictType.CONTENT: _link,
        ConflictType.ADD_ADD: _link,
        ConflictType.OTHER: _other,
    }[clash.type](clash, names)


def _deleted(clash: ConflictReader, names: SideNames) -> str:
    if THEIRS in clash.stages:
        return f"{names.onto} deletes the file, {names.head} changes it"
    return f"{names.head} deletes the file, {names.onto} changes it"


def _renamed(clash: ConflictReader, names: SideNames) -> str:
    if gone := clash.message("CONFLICT (rename/delete)"):
        return _renamed_and_deleted(clash, gone.paths, names)
    if twice := clash.message("CONFLICT (rename/rename)"):
        old, ours, theirs = map(visible, twice.paths[:3])
        return f"{names.onto} renames `{old}` to `{ours}`, {names.head} renames it to `{theirs}`"
    if clash.message("CONFLICT (rename involved in collision)"):
        return "a file that is renamed to this path collides with another one there"
    if clash.message("CONFLICT(directory rename unclear split)"):
        return "one side splits the directory, the other adds files whose new place is unclear"
    if suggested := clash.message("CONFLICT (directory rename suggested)"):
        return _suggested(clash, visible(suggested.paths[-1]), names)
    return "the sides rename directories so that their files collide at this path"


def _suggested(clash: ConflictReader, old: str, names: SideNames) -> str:
    if OURS in clash.stages and THEIRS in clash.stages:
        return f"`{old}` is added to a directory that is renamed, and its new place is taken"
    adds, renames = _by(clash, names)
    return f"{adds} adds `{old}` to a directory that {renames} renames"


def _renamed_and_deleted(clash: ConflictReader, paths: tuple[str, ...], names: SideNames) -> str:
    renames, deletes = _by(clash, names)
    new, old = map(visible, paths[:2])
    return f"{renames} renames `{old}` to `{new}`, {deletes} deletes it"


def _by(clash: ConflictReader, names: SideNames) -> tuple[str, str]:
    """Whose version stands at the path, and the other side."""
    if OURS in clash.stages:
        return names.onto, names.head
    return names.head, names.onto


def two_renames(ours: str | None, theirs: str | None, names: SideNames) -> str:
    """A path to which one side or both rename a file, by where these files were."""
    if ours and theirs:
        return (
            f"{names.onto} renames `{visible(ours)}` to this path, "
            f"{names.head} renames `{visible(theirs)}` to it"
        )
    renames, adds = (names.onto, names.head) if ours else (names.head, names.onto)
    return f"{renames} renames `{visible(ours or theirs or '')}` to this path, {adds} adds a file"


def _binary(clash: ConflictReader, _names: SideNames) -> str:
    return f"both sides {'change' if BASE in clash.stages else 'add'} a binary file"


def _submodule(clash: ConflictReader, names: SideNames) -> str:
    ours, theirs = clash.stages.get(OURS), clash.stages.get(THEIRS)
    if ours and theirs:
        moves = f"{names.onto} moves the submodule to {ours.blob[:7]}"
        return f"{moves}, {names.head} to {theirs.blob[:7]}"
    return "one side moves the submodule, the other removes it"


def _mode(clash: ConflictReader, names: SideNames) -> str:
    ours, theirs = clash.stages.get(OURS), clash.stages.get(THEIRS)
    if not ours or not theirs:
        return "the sides have different kinds of things at this path"
    if ours.noun != theirs.noun:
        return f"{names.onto} has {ours.noun} at this path, {names.head} {theirs.noun}"
    modes = f"{ours.mode} on {names.onto}, {theirs.mode} on {names.head}"
    return f"both sides add the same file with different modes: {modes}"


def _link(clash: ConflictReader, names: SideNames) -> str:
    ours, theirs = clash.stages.get(OURS), clash.stages.get(THEIRS)
    if ours and theirs and ours.mode == theirs.mode == SYMLINK_MODE:
        if BASE in clash.stages:
            return "both sides change where the symbolic link points"
        return "both sides add a symbolic link, to different places"
    return _other(clash, names)


def _other(clash: ConflictReader, names: SideNames) -> str:
    if clash.message("CONFLICT (file/directory)"):
        has_file, has_directory = _by(clash, names)
        return f"{has_directory} has a directory at this path, {has_file} a file"
    return "the sides disagree about what stands at this path"


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
#: Among so many deleted files it is looked for one that was renamed.
_MOST_DELETED = 500


def conflicts_of(trial: FailedMerge, clashes: Sequence[ConflictReader]) -> tuple[Conflict, ...]:
    """The conflict at each path."""
    renamed = _renamed_paths(trial, clashes)
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


def _renamed_paths(trial: FailedMerge, clashes: Sequence[ConflictReader]) -> dict[str, str]:
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

    Only what the side deletes can be that; nothing is looked for where it deletes very much.
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
