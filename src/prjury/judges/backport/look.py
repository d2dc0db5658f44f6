"""One branch looked at: each check in its turn, as long as the ones before leave something open."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from prjury.code.parser import Parser
from prjury.deadline import Deadline
from prjury.errors import SourceError
from prjury.judges.backport.change import Change
from prjury.judges.backport.cherry_pick.introducing_commits import in_order, introducing_commits
from prjury.judges.backport.cherry_pick.prerequisites import (
    SECONDS,
    Prerequisites,
    Search,
    needs_nothing_first,
)
from prjury.judges.backport.cherry_pick.trial import CherryPickTrial, picks_cleanly, try_pick
from prjury.judges.backport.content import dependency_check, missing_symbols
from prjury.judges.backport.content.interface import Interface, interface_of
from prjury.judges.backport.content.interface_checks import interface_checks
from prjury.judges.backport.content.line_overlap import LineOverlap, line_overlap, overlap_check
from prjury.judges.backport.content.missing_symbols import MissingOnBranch, Searching
from prjury.judges.backport.past.already_applied import (
    AppliedCommits,
    applied_commits,
    not_there_yet,
)
from prjury.judges.backport.past.history import History
from prjury.judges.backport.picked import PickedJudges
from prjury.judges.backport.requests.find import FoundRequests, requested_branches, requests_of
from prjury.judges.backport.score.history_features import EarlierChange, history_features
from prjury.judges.backport.score.score import Circumstances, Score, score
from prjury.judges.backport.verdict import BranchFacts, is_open
from prjury.jury.judgment import Check
from prjury.policy.schema import BackportConfig
from prjury.ports import Releases, Repository
from prjury.ports.types import BranchTip
from prjury.snapshot.model import FileStatus, PullRequest, printable

#: Files that a change brings along need not be on the branch before it.
_BROUGHT = frozenset({FileStatus.ADDED, FileStatus.COPIED})


@dataclass(frozen=True)
class Look:
    """What is found out about one branch; each part when it is first asked for.

    Attributes:
        branches: the names of all that are judged together.
        newest: whether it parted last from the base.
        others: what became of earlier changes on the other branches.
        thorough: whether everything is looked at, also where the first checks decide.
    """

    config: BackportConfig
    repository: Repository
    releases: Releases
    searching: Searching
    picked: PickedJudges
    parser: Parser
    change: Change
    tip: BranchTip
    history: History
    deadline: Deadline
    branches: Sequence[str] = ()
    newest: bool = False
    others: Sequence[Sequence[EarlierChange]] = ()
    thorough: bool = True

    def case(self) -> BranchFacts:
        """Everything that the verdict rests on.

        Raises:
            SourceError: when the pick cannot be tried.
        """
        known = (self._pull, self.tip, self._trial, self._present)
        case = BranchFacts(*known, hollow=self._hollow, checks=tuple(self._place()))
        if case.settled:
            return case
        cheap = replace(
            case,
            asked=self._asked.answer,
            approved=self._asked.approved,
            gone=self._gone,
            newer=self._newer,
            checks=(
                *case.checks,
                *self._wanted(),
                *self._picks(),
                *self._content(self.change.interface),
            ),
            score=self._score,
            default=self.config.default,
            parents=self.change.parents,
        )
        if not (self.thorough or is_open(cheap)):
            return replace(cheap, cut_short=True)
        content = self._content(self._interface)
        found = (*self._wanted(), *self._picks(), *self._needed_first(), *content, *self._used())
        return replace(cheap, first=self._first, checks=(*case.checks, *found))

    @property
    def _pull(self) -> PullRequest:
        return self.change.pull

    def _place(self) -> Iterator[Check]:
        """Checks 1 and 2: the branch, and whether it has the change."""
        where = f"{printable(self.tip.name)} is at {self.tip.sha[:7]}"
        if self.history.unseen:
            told = f"{where}; its history was not looked into: {self.history.unseen}"
            yield Check("branch", passed=True, message=told, severity="hint")
        else:
            units = len(self.history.earlier)
            parted = f"parted from the base {units} change{'s' * (units != 1)} ago"
            yield Check("branch", passed=True, message=f"{where}, {parted}")
        found, unseen = self._told
        yield not_there_yet(found, self._empty, self.tip.name, unseen)

    @property
    def _hollow(self) -> bool:
        """Whether there is nothing to pick, as in a commit that somebody made without files."""
        return self._trial.empty and not self._pull.files

    @property
    def _empty(self) -> bool:
        return self._trial.empty and not self._hollow

    @cached_property
    def _trial(self) -> CherryPickTrial:
        merging = self.config.merge
        return try_pick(self._pull, self.tip, merging, self.releases, self.deadline)

    @property
    def _present(self) -> AppliedCommits | None:
        return self._told[0]

    @cached_property
    def _told(self) -> tuple[AppliedCommits | None, str]:
        """How the branch holds the change by its history, or why nobody knows."""
        history, identity = self.history, self.change.identity
        if history.parted is None:
            return None, history.unseen
        try:
            args = (history.parted, history.messages, self.releases)
            found = applied_commits(identity, self.tip, *args)
            return self._as_it_is(found) if found else None, ""
        except SourceError as error:
            return None, str(error)

    def _as_it_is(self, found: AppliedCommits) -> AppliedCommits:
        """A branch may hold a commit by a merge that took nothing of it, or only speak of one."""
        tree = self._trial.merge.tree
        if tree is None or self._trial.empty or found.reverted:
            return found
        brings = self.releases.lines_between(self.tip.tree, tree)
        return replace(found, lost=brings == (self._pull.additions, self._pull.deletions))

    @cached_property
    def _asked(self) -> FoundRequests:
        return requests_of(self.change.requests, self.tip.name, self.branches)

    def _wanted(self) -> Iterator[Check]:
        """Check 3."""
        yield requested_branches(self.change.requests, self.tip.name, self.branches)

    def _picks(self) -> Iterator[Check]:
        """Check 4."""
        yield picks_cleanly(self._trial, self.tip)

    def _needed_first(self) -> Iterator[Check]:
        """Check 5."""
        if not self._gone and (not self._trial.merge.clean or self._lacked.found):
            yield from _looked_into("prerequisites", self._about_prerequisites)

    def _about_prerequisites(self) -> Check:
        if self.history.parted is None:
            raise SourceError("history is not here as far as both parted")
        first = self._first or Prerequisites()
        if first.unseen:
            raise SourceError(first.unseen)
        return needs_nothing_first(first, clean=self._trial.merge.clean)

    @cached_property
    def _first(self) -> Prerequisites | None:
        """What has to be picked first; None where nothing has, or nobody can look for it."""
        parted = self.history.parted
        if parted is None or self._gone:
            return None
        if self._trial.merge.clean and not self._lacked.found:
            return None
        deadline = self.deadline.within(SECONDS)
        merging = self.config.merge
        search = Search(self._pull, self.tip, parted, merging, self.releases, deadline)
        try:
            found = Prerequisites()
            if not self._trial.merge.clean:
                found = search.run(self._trial.merge.conflicts)
            return self._with_names(search, found)
        except SourceError as error:
            return Prerequisites(unseen=str(error))

    def _with_names(self, search: Search, found: Prerequisites) -> Prerequisites:
        """The same with what brings the names that the branch lacks."""
        if not self._lacked.found or not (found.found or self._trial.merge.clean):
            return found
        about = (self._pull, search.parted, self.releases)
        brought = introducing_commits(self._lacked.found, *about)
        units = in_order([*found.units, *brought], *about)
        if list(found.units) != units:
            more = search.whole(units)
            found = found if found.found and not more.found else more
        if not found.found:
            return found
        lacked = missing_symbols.missing_on(
            self.change.needs, found.onto, self.repository, self.searching
        )
        names = (*(one.name for one in lacked.found), *filter(None, [lacked.unseen]))
        return replace(found, lacks=tuple(dict.fromkeys(names)))

    def _content(self, interface: Interface) -> Iterator[Check]:
        """Checks 6 to 8."""
        yield from _looked_into("lines-and-files", lambda: overlap_check(self._standing))
        yield from interface_checks(interface)
        if self.change.bumps.told:
            yield from self._about_bumps()

    def _used(self) -> Iterator[Check]:
        """Checks 9 to 11."""
        yield from _looked_into(
            "symbols", lambda: missing_symbols.check_of(self._lacked, self.tip.name)
        )
        if tree := self._tree:
            take_snapshot = partial(self._open_snapshot, tree)
            yield from self.picked.checks(self.change.concerned, take_snapshot, self.deadline)

    def _open_snapshot(self, tree: str) -> PullRequest:
        """The pick as a pull request onto the branch."""
        return self.releases.picked(self._pull, self.tip, tree)

    @property
    def _interface(self) -> Interface:
        """What users of the branch meet: with what comes first, where something has to."""
        first, tree = self._first, self._tree
        if tree is None or first is None or not first.found:
            return self.change.interface
        whole = self._open_snapshot(tree)
        return interface_of(whole, self.repository, self.parser, self.deadline)

    @property
    def _newer(self) -> bool:
        """Whether the change only raises versions that the branch has, or has newer ones."""
        moved = self.change.bumps
        return dependency_check.only_raises(moved, self._pull.files) and all(
            one.relation is dependency_check.Relation.ALREADY for one in self._standings
        )

    @cached_property
    def _standings(self) -> Sequence[dependency_check.BumpOnBranch]:
        return dependency_check.bumps_on_branch(self.change.bumps, self.tip.sha, self.repository)

    def _about_bumps(self) -> Iterator[Check]:
        moved, name = self.change.bumps, self.tip.name
        try:
            yield from dependency_check.checks_of(moved, self._standings, name)
        except SourceError as error:
            yield _unseen("dependencies", error)

    @property
    def _tree(self) -> str | None:
        """What the branch would hold, what has to come first included."""
        first = self._first if not self._trial.merge.clean else None
        last = first.trial if first and first.trial else self._trial
        return last.merge.tree

    @cached_property
    def _standing(self) -> LineOverlap:
        return line_overlap(self._pull, self.repository, self.tip.sha)

    @cached_property
    def _lacked(self) -> MissingOnBranch:
        return missing_symbols.missing_on(
            self.change.needs, self.tip.sha, self.repository, self.searching
        )

    @property
    def _gone(self) -> bool:
        """Whether the branch has none of the files that the change builds on."""
        merge = self._trial.merge
        touched = [file for file in self._pull.files if file.status not in _BROUGHT]
        try:
            if not touched or merge.clean or self._standing.has:
                return False
            there = {entry.path for entry in self.repository.files(self.tip.sha)}
        except SourceError:
            return False
        # Git finds a file again that has another name there.
        return not any(conflict.path in there for conflict in merge.conflicts)

    @cached_property
    def _score(self) -> Score | None:
        try:
            found = self._standing
        except SourceError:
            return None
        merge, words = self._trial.merge, self.change.traits.words
        own = self.history.earlier
        circumstances = Circumstances(
            conflicts=len(merge.conflicts),
            lacks=len(found.lacks),
            removed=found.removed.value,
            context=found.context.value,
            newest=self.newest,
            habits=history_features(words, own, self.others) if self.history.parted else None,
        )
        return score(self.change.traits, circumstances)


def _looked_into(name: str, make: Callable[[], Check]) -> Iterator[Check]:
    """The check; one that cannot be made says so, and neither passes nor speaks against it."""
    try:
        yield make()
    except SourceError as error:
        yield _unseen(name, error)


def _unseen(name: str, why: object) -> Check:
    return Check(name, passed=False, message=f"not looked into: {why}", severity="hint")
