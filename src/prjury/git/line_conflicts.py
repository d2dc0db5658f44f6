"""Clashing paths as conflicts: type, sentence, class and lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from prjury.git.ancestry import merge_bases
from prjury.git.command import Git
from prjury.git.conflict_messages import sentence, two_renames
from prjury.git.merge_tree import ConflictReader, FailedMerge
from prjury.git.versions import three_ways
from prjury.snapshot.conflicts import classify, regenerate
from prjury.snapshot.model import Conflict, ConflictType, printable
from prjury.snapshot.threeway import ThreeWay

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
    if clash.type is ConflictType.BINARY and (command := regenerate(printable(clash.path))):
        reason = f"a lock file: take either side's and run `{command}`"
        return Conflict(clash.path, clash.type, mechanical=True, reason=reason)
    return Conflict(
        clash.path, clash.type, mechanical=False, reason=file or sentence(clash, trial.names)
    )


def _classified(trial: FailedMerge, clash: ConflictReader, file: ThreeWay) -> Conflict:
    told = classify(printable(clash.path), file, trial.names)
    places = tuple(
        file.place(region, mechanical=easy)
        for region, easy in zip(file.regions, told.regions, strict=True)
    )
    lines = (places[0].head.first, places[-1].head.last) if places else None
    shown = places[:_MOST_REGIONS]
    return Conflict(clash.path, clash.type, told.mechanical, told.reason, lines, shown)


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
