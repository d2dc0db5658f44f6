"""Earlier changes that have to be picked first, because the pick conflicts or lacks names.

Candidates are the commits of the base since the branches forked from which the conflicting lines
come, then those that touched the same files, newest first. Each is tried alone, then all together;
what is not needed is left out again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from msgspec import structs

from prjury.deadline import Deadline
from prjury.errors import SourceError
from prjury.judges.backport.checks.picks_cleanly import (
    CherryPickTrial,
    Merging,
    is_by_hand,
    try_pick,
)
from prjury.judges.backport.checks.symbols import MissingOnBranch, MissingSymbols
from prjury.judges.backport.history import MOST_UNITS
from prjury.jury.judgment import Check
from prjury.ports import Releases
from prjury.ports.types import BranchTip
from prjury.report.wording import counted
from prjury.snapshot.merge_style import StyleCommit
from prjury.snapshot.model import Conflict, FileChange, LineSpan, PullRequest, visible

if TYPE_CHECKING:
    from prjury.judges.backport.look import LookContext

#: So many candidates are tried.
MOST_TRIED = 6
#: Larger changes are not tried: they are no prerequisites in practice, and trying is slow.
_BROADEST = 100
#: So many commits are listed to find candidates, and so many of one file.
_MOST_UNITS = 200
#: With more conflicting files a search is slow and hardly ever succeeds.
_MOST_IN_CONFLICT = 6
#: Seconds for the whole search.
SECONDS = 3.0
_LONGEST_SUBJECT = 80
#: So many missing names are traced to the commits that added them.
_MOST_TRACED = 6


@dataclass(frozen=True, slots=True)
class Prerequisites:
    """The result of a search.

    Attributes:
        commits: what has to be picked first, oldest first; empty if nothing was found.
        trial: the change picked after them, None if nothing was found.
        tried: the candidates, the likeliest first.
        in_vain: why nothing makes the pick clean.
        onto: the branch's tree after the commits.
        lacks: what is missing on the branch even then.
        unchecked: why the search was not finished; empty if it was.
    """

    commits: tuple[StyleCommit, ...] = ()
    trial: CherryPickTrial | None = None
    tried: tuple[StyleCommit, ...] = ()
    in_vain: str = ""
    onto: str = ""
    lacks: tuple[str, ...] = ()
    unchecked: str = ""

    @property
    def found(self) -> bool:
        """Return true if the pick is clean after earlier commits."""
        return bool(self.commits)


@dataclass(frozen=True)
class Search:
    """The search for prerequisites on one branch since it forked from the base."""

    pull: PullRequest
    tip: BranchTip
    fork_point: str
    merging: Merging
    releases: Releases
    deadline: Deadline

    def find(
        self,
        trial: CherryPickTrial,
        missing: Sequence[MissingSymbols],
        missing_in: Callable[[str], MissingOnBranch],
    ) -> Prerequisites:
        """Search for what makes the pick clean and adds the missing names."""
        try:
            clean = trial.merge.clean
            found = Prerequisites() if clean else self.run(trial.merge.conflicts)
            if not missing or not (found.found or clean):
                return found
            commits = self._sort_commits([*found.commits, *self._introducing(missing)])
            if list(found.commits) != commits:
                more = self._all_of(commits)
                found = found if found.found and not more.found else more
            if not found.found:
                return found
            left = missing_in(found.onto)
        except SourceError as error:
            return Prerequisites(unchecked=str(error))
        names = (*(one.name for one in left.found), *filter(None, [left.unchecked]))
        return replace(found, lacks=tuple(dict.fromkeys(names)))

    def run(self, conflicts: Sequence[Conflict]) -> Prerequisites:
        """Search for the commits that make the pick clean."""
        others = [one for one in conflicts if not is_by_hand(one.path)]
        if not others:
            why = "nothing has to be picked first: only changelogs or lock files conflict"
            return Prerequisites(in_vain=why)
        if len(others) > _MOST_IN_CONFLICT:
            return Prerequisites(in_vain=f"not searched: too many files conflict ({len(others)})")
        line, candidates = self._candidates(others)
        tried, sweeping = self._narrow(candidates)
        for commits in ((commit,) for commit in tried):
            if self._clean_after(commits):
                return self._make_result(commits, tried)
        line = [commit for commit in line if commit in tried] if len(tried) > 1 else []
        together = self._that_pick(line)
        if self._clean_after(together):
            return self._make_result(self._drop_needless(together), tried)
        unchecked = "" if self.deadline.remaining else "the time for the search ran out"
        return Prerequisites(
            tried=tried, in_vain=_failure_words(tried, sweeping), unchecked=unchecked
        )

    def _introducing(self, missing: Sequence[MissingSymbols]) -> Iterator[StyleCommit]:
        """Yield the commits of the base that added the missing names and files."""
        fork, base = self.fork_point, self.pull.merge_base
        for one in missing[:_MOST_TRACED]:
            path = one.defined.path
            if one.defined.line is None:
                yield from self.releases.units(fork, base, [path], _MOST_UNITS)[-1:]
            elif commit := self.releases.bringing(one.name, path, fork, base):
                yield commit

    def _sort_commits(self, commits: Sequence[StyleCommit]) -> list[StyleCommit]:
        """Return each commit once, in the order in which they came to the base, oldest first."""
        found = {commit.sha: commit for commit in commits if commit.parents}
        if len(found) < 2:  # noqa: PLR2004 - nothing to sort
            return list(found.values())
        messages = self.releases.brought(self.fork_point, self.pull.merge_base, MOST_UNITS)
        places = {message.sha: -place for place, message in enumerate(messages)}
        return sorted(found.values(), key=lambda commit: places.get(commit.sha, -MOST_UNITS))

    def _narrow(self, candidates: Sequence[StyleCommit]) -> tuple[tuple[StyleCommit, ...], int]:
        """Return the first candidates that are worth a trial, and how many were skipped."""
        tried: list[StyleCommit] = []
        for seen, commit in enumerate(candidates):
            if len(tried) == MOST_TRIED or not self.deadline.remaining:
                return tuple(tried), seen - len(tried)
            if self.releases.breadth(commit.parents[0], commit.sha) <= _BROADEST:
                tried.append(commit)
        return tuple(tried), len(candidates) - len(tried)

    def _all_of(self, commits: Sequence[StyleCommit]) -> Prerequisites:
        """Try commits that are all needed, oldest first."""
        some = tuple(commits[:MOST_TRIED])
        if some and self._clean_after(some):
            return self._make_result(some, some[::-1])
        return Prerequisites(tried=some[::-1])

    def _make_result(
        self, commits: tuple[StyleCommit, ...], tried: tuple[StyleCommit, ...]
    ) -> Prerequisites:
        return Prerequisites(
            commits, self._pick_after(commits), tried, onto=self._tree(commits) or ""
        )

    def _that_pick(self, line: Sequence[StyleCommit]) -> tuple[StyleCommit, ...]:
        """Return all that can be picked on top of each other, oldest first."""
        chosen: tuple[StyleCommit, ...] = ()
        for commit in reversed(line):
            if self._tree((*chosen, commit)):
                chosen = (*chosen, commit)
        return chosen

    def _drop_needless(self, commits: tuple[StyleCommit, ...]) -> tuple[StyleCommit, ...]:
        """Leave out what the pick does not need, the newest first."""
        for commit in reversed(commits) if len(commits) > 1 else ():
            fewer = tuple(one for one in commits if one != commit)
            if self._clean_after(fewer):
                commits = fewer
        return commits

    def _clean_after(self, commits: Sequence[StyleCommit]) -> bool:
        trial = self._pick_after(commits) if commits else None
        return trial is not None and trial.merge.clean and not trial.empty

    def _pick_after(self, commits: Sequence[StyleCommit]) -> CherryPickTrial | None:
        """Pick the change after the commits; None if one of them cannot be picked."""
        tree = self._tree(commits)
        if tree is None or not self.deadline.remaining:
            return None
        onto = structs.replace(self.tip, sha=tree, tree=tree)
        return try_pick(self.pull, onto, self.merging, self.releases, self.deadline)

    def _tree(self, commits: Sequence[StyleCommit]) -> str | None:
        """Return the branch's tree after the commits; None if one conflicts or has no effect."""
        tree = self.tip.tree
        for commit in commits:
            if not self.deadline.remaining:
                return None
            picked = self.releases.picked_tree(commit.parents[0], commit.sha, tree)
            if picked is None or picked == tree:
                return None
            tree = picked
        return tree

    def _candidates(
        self, conflicts: Sequence[Conflict]
    ) -> tuple[list[StyleCommit], list[StyleCommit]]:
        """Return commits that touch the conflicting files: newest first, and likeliest first."""
        spans = _old_lines(self.pull.files, conflicts)
        paths = [path for file in spans for path in _paths(file)]
        if not paths:
            return [], []
        base = self.pull.merge_base
        listed = self.releases.units(self.fork_point, base, paths, _MOST_UNITS)
        commits = [commit for commit in listed if commit.parents]
        blamed: set[str] = set()
        for file, lines in spans.items():
            if file.old_blob and lines and self.deadline.remaining:
                old = file.old_path or file.path
                blamed |= self.releases.blamed(old, lines, self.fork_point, base)
        return commits, sorted(commits, key=lambda commit: commit.sha not in blamed)


def _paths(file: FileChange) -> Sequence[str]:
    return tuple(dict.fromkeys(filter(None, (file.old_path, file.path))))


def _old_lines(
    files: Sequence[FileChange], conflicts: Sequence[Conflict]
) -> dict[FileChange, list[LineSpan]]:
    """Return the conflicting files with the base's lines of the conflicting hunks."""
    found: dict[FileChange, list[LineSpan]] = {}
    for conflict in conflicts:
        if file := _file_of(conflict.path, files):
            found.setdefault(file, []).extend(_lines(file, conflict))
    return found


def _file_of(path: str, files: Sequence[FileChange]) -> FileChange | None:
    """Return the changed file of a path on the branch, where its directory may differ."""
    name = PurePosixPath(path).name
    alike = (file for file in files if PurePosixPath(file.path).name == name)
    return next((file for file in files if path in _paths(file)), None) or next(alike, None)


def _lines(file: FileChange, conflict: Conflict) -> Iterator[LineSpan]:
    """Yield the base's lines of the conflicting hunks; of all hunks if no lines are known."""
    regions = [region.head for region in conflict.regions]
    for hunk in file.hunks:
        start, end = hunk.new_start, hunk.new_start + hunk.new_lines
        meeting = [start <= one.last + 1 and one.first <= end for one in regions]
        if not regions or any(meeting):
            yield LineSpan(max(hunk.old_start, 1), hunk.old_lines)


def prerequisites(context: LookContext) -> Check | None:
    """Return the check on prerequisites if the pick conflicts or the branch lacks names."""
    if context.gone or not context.needs_more:
        return None
    if context.history.fork_point is None:
        raise SourceError("the history does not reach back to where the branches forked")
    found = context.prerequisites
    if found is None:
        return None
    if found.unchecked:
        raise SourceError(found.unchecked)
    return prerequisites_check(found, clean=context.trial.merge.clean)


def prerequisites_check(found: Prerequisites, *, clean: bool = False) -> Check:
    """Return the check ``prerequisites``, which fails if something has to be picked first.

    Args:
        clean: whether the pick itself is clean, so that only missing names were searched for.
    """
    if found.found:
        first = ", then ".join(f"`{one.sha[:7]}` {short_subject(one)}" for one in found.commits)
        lacks = ", ".join(map(visible, found.lacks))
        message = f"picks cleanly after {first}"
        if lacks:
            message += f"; even then the branch lacks {lacks}"
        fix = "\n".join(map(pick_command, found.commits))
        return Check("prerequisites", passed=False, message=message, severity="warning", fix=fix)
    message = _no_source(found.tried) if clean else found.in_vain
    return Check("prerequisites", passed=True, message=message, severity="hint")


def _no_source(tried: Sequence[StyleCommit]) -> str:
    if not tried:
        return "no commit on the base since the branches forked adds what is missing"
    return f"the commits that add what is missing do not pick cleanly ({_short(tried)})"


def _failure_words(tried: Sequence[StyleCommit], sweeping: int) -> str:
    reported = []
    if tried:
        what = counted(len(tried), "earlier change")
        reported.append(f"none of {what} makes it clean ({_short(tried)})")
    if sweeping:
        reported.append(f"not tried: {counted(sweeping, 'change')} of more than {_BROADEST} files")
    nothing = "no commit on the base since the branches forked touches the conflicting files"
    return "; ".join(reported) or nothing


def _short(commits: Sequence[StyleCommit]) -> str:
    return ", ".join(commit.sha[:7] for commit in commits)


def short_subject(commit: StyleCommit) -> str:
    """Return the subject as one short line."""
    subject = visible(commit.subject)
    return subject if len(subject) <= _LONGEST_SUBJECT else f"{subject[:_LONGEST_SUBJECT]}…"


def pick_command(commit: StyleCommit) -> str:
    """Return the command that picks a commit."""
    mainline = "-m 1 " if commit.is_merge else ""
    return f"git cherry-pick -x {mainline}{commit.sha}"
