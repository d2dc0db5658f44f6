"""Check 5: which earlier changes, picked first, make the pick clean?

A pick often conflicts because something else was never brought to the branch. Candidates are the
units of the base since both parted that the conflicting lines come from, then those that touched
the same files, newest first, a few at most. Each is tried alone; then all together, and what the
pick does not need is left out again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from prjury.deadline import Deadline
from prjury.judges.backport.cherry_pick.trial import CherryPickTrial, Merging, is_by_hand, try_pick
from prjury.judges.merge.conflicts import counted
from prjury.jury.judgment import Check
from prjury.ports import Releases
from prjury.ports.types import BranchTip
from prjury.snapshot.merge_style import StyleCommit
from prjury.snapshot.model import Conflict, FileChange, Hunk, LineSpan, PullRequest, visible

#: So many candidates are tried.
MOST_TRIED = 6
#: A unit that changes more files than this sweeps through the project; nobody picks it for the sake
#: of another one, and to try that takes git seconds.
_BROADEST = 100
#: So many units are looked at to find them.
_MOST_UNITS = 200
#: Where more files are in conflict, an earlier change or two hardly ever makes the pick clean, and
#: to look for them takes longest.
_MOST_IN_CONFLICT = 6
#: Seconds for the whole search; it answers nothing that is essential.
SECONDS = 3.0
_LONGEST_SUBJECT = 80


@dataclass(frozen=True, slots=True)
class Prerequisites:
    """What a search has come to.

    Attributes:
        units: what has to be picked first, oldest first; empty where nothing was found.
        trial: the change picked after them, None where nothing was found.
        tried: the candidates, the likeliest first.
        colliding: how many files are in conflict, where that is too many to look for anything.
        by_hand: whether nothing is in conflict but changelogs and lock files.
        sweeping: how many candidates were left out because they change too many files.
        onto: the tree that the branch has after them.
        lacks: what the change uses and the branch lacks even then.
        unseen: why it was not looked for to the end; empty where it was.
    """

    units: tuple[StyleCommit, ...] = ()
    trial: CherryPickTrial | None = None
    tried: tuple[StyleCommit, ...] = ()
    by_hand: bool = False
    sweeping: int = 0
    colliding: int = 0
    onto: str = ""
    lacks: tuple[str, ...] = ()
    unseen: str = ""

    @property
    def found(self) -> bool:
        """Whether picking something first makes the pick clean."""
        return bool(self.units)


@dataclass(frozen=True)
class Search:
    """The search for what has to be picked first."""

    pull: PullRequest
    tip: BranchTip
    parted: str
    merging: Merging
    releases: Releases
    deadline: Deadline

    def run(self, conflicts: Sequence[Conflict]) -> Prerequisites:
        """Looks for the units that make the pick clean.

        Raises:
            SourceError: when history cannot be read.
        """
        others = [one for one in conflicts if not is_by_hand(one.path)]
        if not others:
            return Prerequisites(by_hand=True)
        if len(others) > _MOST_IN_CONFLICT:
            return Prerequisites(colliding=len(others))
        line, candidates = self._candidates(others)
        tried, sweeping = self._narrow(candidates)
        for units in self._sets(tried, [unit for unit in line if unit in tried]):
            if self._clean_after(units):
                return self._found(self._needed(units), tried)
        unseen = "" if self.deadline.remaining else "the time for the search was up"
        return Prerequisites(tried=tried, sweeping=sweeping, unseen=unseen)

    def _narrow(self, candidates: Sequence[StyleCommit]) -> tuple[tuple[StyleCommit, ...], int]:
        """The first that are worth a trial, and how many before them are not."""
        tried: list[StyleCommit] = []
        for seen, unit in enumerate(candidates):
            if len(tried) == MOST_TRIED or not self.deadline.remaining:
                return tuple(tried), seen - len(tried)
            if self.releases.breadth(unit.parents[0], unit.sha) <= _BROADEST:
                tried.append(unit)
        return tuple(tried), len(candidates) - len(tried)

    def whole(self, units: Sequence[StyleCommit]) -> Prerequisites:
        """The same for units that are all needed, oldest first: nothing is gained by some.

        Raises:
            SourceError: when history cannot be read.
        """
        some = tuple(units[:MOST_TRIED])
        if some and self._clean_after(some):
            return self._found(some, some[::-1])
        return Prerequisites(tried=some[::-1])

    def _found(
        self, units: tuple[StyleCommit, ...], tried: tuple[StyleCommit, ...]
    ) -> Prerequisites:
        return Prerequisites(units, self._after(units), tried, onto=self._tree(units) or "")

    def _sets(
        self, tried: Sequence[StyleCommit], line: Sequence[StyleCommit]
    ) -> Iterator[tuple[StyleCommit, ...]]:
        yield from ((unit,) for unit in tried)
        if len(tried) > 1:
            yield self._that_pick(line)

    def _that_pick(self, line: Sequence[StyleCommit]) -> tuple[StyleCommit, ...]:
        """All that can be picked one upon the other, oldest first."""
        chosen: tuple[StyleCommit, ...] = ()
        for unit in reversed(line):
            if self._tree((*chosen, unit)):
                chosen = (*chosen, unit)
        return chosen

    def _needed(self, units: tuple[StyleCommit, ...]) -> tuple[StyleCommit, ...]:
        """The units without those that the pick does not need; the newest are spared first."""
        for unit in reversed(units) if len(units) > 1 else ():
            fewer = tuple(one for one in units if one != unit)
            if self._clean_after(fewer):
                units = fewer
        return units

    def _clean_after(self, units: Sequence[StyleCommit]) -> bool:
        """Whether the change picks cleanly after the units, and is not in them already."""
        trial = self._after(units) if units else None
        return trial is not None and trial.merge.clean and not trial.empty

    def _after(self, units: Sequence[StyleCommit]) -> CherryPickTrial | None:
        """The change picked after the units; None where one of them cannot be picked."""
        tree = self._tree(units)
        if tree is None or not self.deadline.remaining:
            return None
        onto = replace(self.tip, sha=tree, tree=tree)
        return try_pick(self.pull, onto, self.merging, self.releases, self.deadline)

    def _tree(self, units: Sequence[StyleCommit]) -> str | None:
        """What the branch holds after the units; None where one conflicts or changes nothing."""
        tree = self.tip.tree
        for unit in units:
            if not self.deadline.remaining:
                return None
            picked = self.releases.picked_tree(unit.parents[0], unit.sha, tree)
            if picked is None or picked == tree:
                return None
            tree = picked
        return tree

    def _candidates(
        self, conflicts: Sequence[Conflict]
    ) -> tuple[list[StyleCommit], list[StyleCommit]]:
        """Units that touch the files in conflict, newest first; and again, the likeliest first.

        Those come first that the conflicting lines come from.
        """
        spans = _old_lines(self.pull.files, conflicts)
        paths = [path for file in spans for path in _paths(file)]
        if not paths:
            return [], []
        base = self.pull.merge_base
        listed = self.releases.units(self.parted, base, paths, _MOST_UNITS)
        units = [unit for unit in listed if unit.parents]
        blamed: set[str] = set()
        for file, lines in spans.items():
            if file.old_blob and lines and self.deadline.remaining:
                old = file.old_path or file.path
                blamed |= self.releases.blamed(old, lines, self.parted, base)
        return units, sorted(units, key=lambda unit: unit.sha not in blamed)


def _paths(file: FileChange) -> Sequence[str]:
    return tuple(dict.fromkeys(filter(None, (file.old_path, file.path))))


def _old_lines(
    files: Sequence[FileChange], conflicts: Sequence[Conflict]
) -> dict[FileChange, list[LineSpan]]:
    """The files in conflict, with the base's lines of the hunks in which they are."""
    found: dict[FileChange, list[LineSpan]] = {}
    for conflict in conflicts:
        if file := _file_of(conflict.path, files):
            found.setdefault(file, []).extend(_lines(file, conflict))
    return found


def _file_of(path: str, files: Sequence[FileChange]) -> FileChange | None:
    """The change's file that is at a path of the branch, where it may be in another directory."""
    name = PurePosixPath(path).name
    alike = (file for file in files if PurePosixPath(file.path).name == name)
    return next((file for file in files if path in _paths(file)), None) or next(alike, None)


def _lines(file: FileChange, conflict: Conflict) -> Iterator[LineSpan]:
    """The hunks that are in conflict, all of them where no lines are known."""
    regions = [region.head for region in conflict.regions]
    for hunk in file.hunks:
        if not regions or any(_meets(hunk, region) for region in regions):
            yield LineSpan(max(hunk.old_start, 1), hunk.old_lines)


def _meets(hunk: Hunk, region: LineSpan) -> bool:
    return hunk.new_start <= region.last + 1 and region.first <= hunk.new_start + hunk.new_lines


def named(unit: StyleCommit) -> str:
    """The unit's whole object name and its subject."""
    return f"{unit.sha} {short_subject(unit)}".rstrip()


def short_subject(unit: StyleCommit) -> str:
    """Its subject as one line for messages."""
    subject = visible(unit.subject)
    return subject if len(subject) <= _LONGEST_SUBJECT else f"{subject[:_LONGEST_SUBJECT]}…"


def pick_of(unit: StyleCommit) -> str:
    """The command that picks a unit."""
    mainline = "-m 1 " if unit.is_merge else ""
    return f"git cherry-pick -x {mainline}{unit.sha}"


def needs_nothing_first(found: Prerequisites, *, clean: bool = False) -> Check:
    """The check that tells of the search.

    Args:
        clean: whether the pick is clean without anything, and what it lacks is looked for.
    """
    if found.found:
        units = ", then ".join(f"`{unit.sha[:7]}` {short_subject(unit)}" for unit in found.units)
        even = f"; even then it lacks {', '.join(map(visible, found.lacks))}" if found.lacks else ""
        message = f"picks cleanly after {units}{even}"
        fix = "\n".join(map(pick_of, found.units))
        return Check("prerequisites", passed=False, message=message, severity="warning", fix=fix)
    message = _nothing_brings(found) if clean else "; ".join(_in_vain(found))
    return Check("prerequisites", passed=True, message=message, severity="hint")


def _nothing_brings(found: Prerequisites) -> str:
    if not found.tried:
        return "nothing on the base since both parted brings what it lacks"
    names = ", ".join(unit.sha[:7] for unit in found.tried)
    return f"what brings what it lacks does not pick cleanly ({names})"


def _in_vain(found: Prerequisites) -> Iterator[str]:
    if found.by_hand:
        yield "nothing has to be picked first: only changelogs or lock files are in conflict"
        return
    if found.tried:
        names = ", ".join(unit.sha[:7] for unit in found.tried)
        yield f"none of {counted(len(found.tried), 'earlier change')} makes it clean ({names})"
    if found.sweeping:
        many = counted(found.sweeping, "sweeping change")
        yield f"not tried: {many} of more than {_BROADEST} files"
    if found.colliding:
        yield f"not looked for: {counted(found.colliding, 'file')} in conflict are too many"
    elif not found.tried and not found.sweeping:
        yield "nothing on the base since both parted touches the files in conflict"
