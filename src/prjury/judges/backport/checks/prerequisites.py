"""Earlier changes that have to be picked first, because the pick conflicts or lacks names.

Candidates are commits of the base since the branches forked from which the conflicting lines come,
then those that touched the same files. Each is tried alone, then all, and then without each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

from msgspec import Struct
from msgspec.structs import replace

from prjury.deadline import Deadline
from prjury.errors import SourceError
from prjury.git.releases import Releases
from prjury.judges.backport.checks.picks_cleanly import (
    CherryPickTrial,
    Merging,
    is_by_hand,
    try_pick,
)
from prjury.judges.backport.checks.symbols import MissingOnBranch, MissingSymbols
from prjury.judges.backport.history import MOST_UNITS
from prjury.jury.judgment import Check
from prjury.ports.types import BranchTip
from prjury.snapshot.merge_style import HistoryCommit
from prjury.snapshot.model import Conflict, FileChange, LineSpan, PullRequest, visible

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


class Prerequisites(Struct, frozen=True):
    """What has to be picked first, oldest first, and the change picked ``onto`` the tree after it.

    ``lacks`` is missing even then; ``note`` says why nothing was found.
    """

    commits: tuple[HistoryCommit, ...] = ()
    trial: CherryPickTrial | None = None
    note: str = ""
    onto: str = ""
    lacks: tuple[str, ...] = ()
    unchecked: str = ""

    @property
    def found(self) -> bool:
        """Return true if the pick is clean after earlier commits."""
        return bool(self.commits)


class PrerequisiteSearch(Struct, frozen=True):
    """The search for prerequisites on one branch since it forked from the base."""

    pull: PullRequest
    tip: BranchTip
    fork_point: str
    merging: Merging
    releases: Releases
    deadline: Deadline

    def find_for_pick_and_names(
        self,
        trial: CherryPickTrial,
        missing: Sequence[MissingSymbols],
        find_missing: Callable[[str], MissingOnBranch],
    ) -> Prerequisites:
        """Search for what makes the pick clean and adds the missing names."""
        try:
            result = Prerequisites()
            if not trial.merge.clean:
                result = self._search_clean_pick(trial.merge.conflicts)
                if not result.found:
                    return result
            if missing:
                result = self._add_names(result, missing)
            if not result.found:
                return result
            rest = find_missing(result.onto) if missing else MissingOnBranch()
        except SourceError as error:
            return Prerequisites(unchecked=str(error))
        names = [*(one.name for one in rest.symbols), *filter(None, [rest.unchecked])]
        return replace(result, lacks=tuple(dict.fromkeys(names)))

    def _search_clean_pick(self, conflicts: Sequence[Conflict]) -> Prerequisites:
        others = [one for one in conflicts if not is_by_hand(one.path)]
        if not others:
            why = "nothing has to be picked first: only changelogs or lock files conflict"
            return Prerequisites(note=why)
        if len(others) > _MOST_IN_CONFLICT:
            return Prerequisites(note=f"not searched: too many files conflict ({len(others)})")
        commits, likeliest = self._list_commits_by_age_and_blame(others)
        tried = self._choose_few_narrow(likeliest)
        for commit in tried:
            if result := self._pick_change_after((commit,)):
                return result
        # All that can be picked on top of each other, oldest first.
        chosen: tuple[HistoryCommit, ...] = ()
        for commit in reversed([commit for commit in commits if commit in tried]):
            if self._pick_into_tree((*chosen, commit)):
                chosen = (*chosen, commit)
        if len(chosen) > 1 and (result := self._pick_change_after(chosen)):
            for commit in reversed(chosen):
                fewer = tuple(one for one in result.commits if one != commit)
                result = self._pick_change_after(fewer) or result
            return result
        if not self.deadline.remaining:
            return Prerequisites(unchecked="the time for the search ran out")
        names = _list_short(tried) or f"there is none of at most {_BROADEST} files"
        return Prerequisites(note=f"no earlier change makes it clean ({names})")

    def _add_names(self, result: Prerequisites, missing: Sequence[MissingSymbols]) -> Prerequisites:
        fork, base = self.fork_point, self.pull.merge_base
        adding: list[HistoryCommit] = []
        for one in missing[:_MOST_TRACED]:
            path = one.defined.path
            if one.defined.line is None:
                adding += self.releases.units(fork, base, [path], _MOST_UNITS)[-1:]
            elif commit := self.releases.bringing(one.name, path, fork, base):
                adding.append(commit)
        commits = self._sort_commits([*result.commits, *adding])[:MOST_TRIED]
        if commits == list(result.commits):
            return result
        if more := self._pick_change_after(tuple(commits)):
            return more
        if result.found:
            return result
        note = "no commit on the base since the branches forked adds what is missing"
        if commits:
            shas = _list_short(commits[::-1])
            note = f"the commits that add what is missing do not pick cleanly ({shas})"
        return Prerequisites(note=note)

    def _sort_commits(self, commits: Sequence[HistoryCommit]) -> list[HistoryCommit]:
        """Return each commit once, in the order in which they came to the base, oldest first."""
        by_sha = {commit.sha: commit for commit in commits if commit.parents}
        messages = self.releases.list_brought(self.fork_point, self.pull.merge_base, MOST_UNITS)
        places = {message.sha: -place for place, message in enumerate(messages)}
        return sorted(by_sha.values(), key=lambda commit: places.get(commit.sha, -MOST_UNITS))

    def _choose_few_narrow(self, candidates: Sequence[HistoryCommit]) -> tuple[HistoryCommit, ...]:
        tried: list[HistoryCommit] = []
        for commit in candidates:
            if len(tried) == MOST_TRIED or not self.deadline.remaining:
                break
            if self.releases.breadth(commit.parents[0], commit.sha) <= _BROADEST:
                tried.append(commit)
        return tuple(tried)

    def _pick_change_after(self, commits: tuple[HistoryCommit, ...]) -> Prerequisites | None:
        """Pick the change after the commits; None if it is not clean then, or has no effect."""
        tree = self._pick_into_tree(commits) if commits else None
        if tree is None or not self.deadline.remaining:
            return None
        onto = replace(self.tip, sha=tree, tree=tree)
        trial = try_pick(self.pull, onto, self.merging, self.releases, self.deadline)
        if not trial.merge.clean or trial.empty:
            return None
        return Prerequisites(commits, trial, onto=tree)

    def _pick_into_tree(self, commits: Sequence[HistoryCommit]) -> str | None:
        """Return the branch's tree after the commits; None if one conflicts or has no effect."""
        tree = self.tip.tree
        for commit in commits:
            if not self.deadline.remaining:
                return None
            picked = self.releases.pick_tree(commit.parents[0], commit.sha, tree)
            if picked is None or picked == tree:
                return None
            tree = picked
        return tree

    def _list_commits_by_age_and_blame(
        self, conflicts: Sequence[Conflict]
    ) -> tuple[list[HistoryCommit], list[HistoryCommit]]:
        files = [file for one in conflicts if (file := _file_of(one.path, self.pull.files))]
        paths = dict.fromkeys(path for file in files for path in (file.old_path, file.path) if path)
        if not paths:
            return [], []
        base = self.pull.merge_base
        listed = self.releases.units(self.fork_point, base, list(paths), _MOST_UNITS)
        commits = [commit for commit in listed if commit.parents]
        blamed: set[str] = set()
        for file in files:
            spans = [LineSpan(max(hunk.old_start, 1), hunk.old_lines) for hunk in file.hunks]
            if file.old_blob and spans and self.deadline.remaining:
                old = file.old_path or file.path
                blamed |= self.releases.blame_lines(old, spans, self.fork_point, base)
        return commits, sorted(commits, key=lambda commit: commit.sha not in blamed)


def _file_of(path: str, files: Sequence[FileChange]) -> FileChange | None:
    """Return the changed file of a path on the branch, where its directory may differ."""
    for file in files:
        if path in {file.old_path, file.path}:
            return file
    name = PurePosixPath(path).name
    return next((file for file in files if PurePosixPath(file.path).name == name), None)


def check_no_prerequisites(result: Prerequisites) -> Check:
    """Return the check ``prerequisites``, which fails if something has to be picked first."""
    if not result.found:
        return Check("prerequisites", passed=True, message=result.note, severity="hint")
    first = ", then ".join(f"`{one.sha[:7]}` {short_subject(one)}" for one in result.commits)
    message = f"picks cleanly after {first}"
    if result.lacks:
        message += f"; even then the branch lacks {', '.join(map(visible, result.lacks))}"
    fix = "\n".join(map(pick_command, result.commits))
    return Check("prerequisites", passed=False, message=message, severity="warning", fix=fix)


def _list_short(commits: Sequence[HistoryCommit]) -> str:
    return ", ".join(commit.sha[:7] for commit in commits)


def short_subject(commit: HistoryCommit) -> str:
    """Return the subject as one short line."""
    subject = visible(commit.subject)
    return subject if len(subject) <= _LONGEST_SUBJECT else f"{subject[:_LONGEST_SUBJECT]}…"


def pick_command(commit: HistoryCommit) -> str:
    """Return the command that picks a commit."""
    mainline = "-m 1 " if commit.is_merge else ""
    return f"git cherry-pick -x {mainline}{commit.sha}"
