"""What is known about a change and one branch; each part is found when it is first read."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from threading import Lock

from msgspec import Struct
from msgspec.structs import replace

from prjury.code.parser import Parser
from prjury.deadline import Deadline
from prjury.errors import SourceError
from prjury.git.releases import Releases
from prjury.judges.backport.checks.api import Interface, compare_public_names
from prjury.judges.backport.checks.asked_for import (
    FoundRequests,
    RequestSources,
    find_requests,
    read_answer_for_branch,
)
from prjury.judges.backport.checks.dependencies import (
    BumpOnBranch,
    Bumps,
    compare_bumps,
    find_dependency_changes,
    moves_only_versions,
)
from prjury.judges.backport.checks.lines_and_files import ADDED, TouchedOnBranch, compare_touched
from prjury.judges.backport.checks.not_there_yet import (
    AppliedCommits,
    Identity,
    find_applied_or_reverted,
    identity_of,
)
from prjury.judges.backport.checks.picked import PickedJudges
from prjury.judges.backport.checks.picks_cleanly import CherryPickTrial
from prjury.judges.backport.checks.prerequisites import SECONDS, Prerequisites, PrerequisiteSearch
from prjury.judges.backport.checks.symbols import MissingOnBranch, find_missing_symbols
from prjury.judges.backport.history import EarlierChange, History, measure_habits
from prjury.judges.backport.origins import read_origins
from prjury.judges.backport.references import UsedNames, find_used_names_and_modules
from prjury.judges.backport.score import (
    BranchTraits,
    ChangeTraits,
    Score,
    find_traits,
    score_change,
)
from prjury.policy.schema import BackportConfig
from prjury.ports import Repository, SearchableRepository
from prjury.ports.types import BranchTip
from prjury.snapshot.model import PullRequest, printable


class Tools(Struct, frozen=True):
    """What looks at changes; neither ``own_label`` nor, unless ``texts``, texts are requests."""

    config: BackportConfig
    repository: SearchableRepository
    releases: Releases
    judges: PickedJudges = PickedJudges()
    own_label: str | None = None
    texts: bool = True


@dataclass(frozen=True)
class Change:
    """The pull request and what depends on it alone, found once for all branches."""

    pull: PullRequest
    repository: Repository
    identity: Identity
    requests: RequestSources
    interface: Interface
    bumps: Bumps
    traits: ChangeTraits
    concerned: frozenset[str] = frozenset()
    parents: tuple[str, ...] = ()
    _lock: Lock = field(default_factory=Lock, repr=False, compare=False)

    @property
    def used_names(self) -> UsedNames:
        """What the change refers to, found once when the first branch asks."""
        with self._lock:
            return self._used_names

    @cached_property
    def _used_names(self) -> UsedNames:
        return find_used_names_and_modules(self.pull, self.repository)


def read_change(pull: PullRequest, tools: Tools, deadline: Deadline) -> Change:
    """Find what the change brings."""
    repository, patterns = tools.repository, tools.judges.patterns
    commits = tools.releases.messages(pull.merge_base, pull.head.sha)
    single = [one for one in reversed(commits) if len(one.parents) == 1]
    texts = [one.text for one in commits]
    return Change(
        pull,
        repository,
        identity_of(pull, [(one.parents[0], one.sha) for one in single]),
        find_requests(pull, tools.config, texts, tools.own_label, trust_texts=tools.texts),
        compare_public_names(pull, repository, Parser(), deadline),
        find_dependency_changes(pull, repository),
        find_traits(pull),
        patterns.find_files_with_clues(pull) if patterns else frozenset(),
        commits[0].parents if commits else (),
    )


@dataclass(eq=False)
class BranchContext:
    """What is known about one branch; ``others``: earlier changes as other branches have them."""

    tools: Tools
    deadline: Deadline
    change: Change
    interface: Interface
    tip: BranchTip
    history: History
    picking: Future[CherryPickTrial]
    branches: Sequence[str] = ()
    newest: bool = False
    others: Sequence[Sequence[EarlierChange]] = ()
    thorough: bool = True

    @property
    def pull(self) -> PullRequest:
        """The change."""
        return self.change.pull

    @property
    def trial(self) -> CherryPickTrial:
        """The change picked onto the branch."""
        return self.picking.result()

    @cached_property
    def applied_or_reason(self) -> tuple[AppliedCommits | None, str]:
        """How the branch's history holds the change, and why it could not be read."""
        history, releases, tree = self.history, self.tools.releases, self.trial.merge.tree
        if history.fork_point is None:
            return None, history.unchecked
        try:
            applied = find_applied_or_reverted(self.change.identity, self.tip, history, releases)
            if applied and tree and not self.trial.empty and not applied.reverted:
                # A merge took nothing of the commit, or a message only mentions it.
                lines = releases.lines_between(self.tip.tree, tree)
                lost = lines == (self.pull.additions, self.pull.deletions)
                applied = replace(applied, lost=lost)
        except SourceError as error:
            return None, str(error)
        return applied, ""

    @cached_property
    def requests(self) -> FoundRequests:
        """What people ask for on this branch."""
        requests = read_answer_for_branch(self.change.requests, self.tip.name, self.branches)
        if requests.answer is None and (sha := self._find_mended_commit_on_branch()):
            where = f"{printable(self.tip.name)} has {sha[:7]}, which it mends"
            return FoundRequests("yes", (f"a commit: Fixes: {sha[:12]}; {where}",))
        return requests

    def _find_mended_commit_on_branch(self) -> str | None:
        mended = self.change.requests.mended
        messages = self.history.messages if mended else ()
        picked = {sha for m in messages for sha in read_origins(m.text).shas}
        for sha in mended:
            if self.tools.releases.holds(self.tip.sha, sha) or any(map(sha.startswith, picked)):
                return sha
        return None

    @cached_property
    def touched(self) -> TouchedOnBranch:
        """Which touched files and lines the branch has."""
        base, tip, releases = self.pull.merge_base, self.tip.sha, self.tools.releases
        return compare_touched(
            self.pull,
            self.tools.repository,
            tip,
            lambda paths: releases.find_moves(base, tip, paths),
        )

    @property
    def gone(self) -> bool:
        """Return true if the branch has none of the files that the change builds on."""
        touched = any(file.status not in ADDED for file in self.pull.files)
        try:
            return touched and not self.trial.merge.clean and not self.touched.has
        except SourceError:
            return False

    @cached_property
    def bumps(self) -> Sequence[BumpOnBranch]:
        """The changed versions beside the branch's own."""
        return compare_bumps(self.change.bumps, self.tip.sha, self.tools.repository)

    @property
    def has_newer_versions(self) -> bool:
        """Return true if the change only raises versions that the branch has, or has newer ones."""
        alone = moves_only_versions(self.change.bumps, self.pull.files)
        return alone and all(one.has_version_or_newer for one in self.bumps)

    @property
    def raises_versions(self) -> bool:
        """Return true if only files with versions change, and one by more than a patch."""
        paths = {*self.change.bumps.lock_files, *(one.path for one in self.change.bumps.changed)}
        alone = all(file.path in paths for file in self.pull.files)
        return alone and any(one.is_beyond_patch for one in self.bumps)

    @cached_property
    def missing(self) -> MissingOnBranch:
        """What the change uses and the branch lacks."""
        return find_missing_symbols(self.change.used_names, self.tip.sha, self.tools.repository)

    @property
    def needs_more(self) -> bool:
        """Return true if the pick conflicts or the branch lacks what it uses."""
        return not self.trial.merge.clean or bool(self.missing.symbols)

    @cached_property
    def prerequisites(self) -> Prerequisites | None:
        """What has to be picked first; None if nothing was searched for."""
        fork_point = self.history.fork_point
        if fork_point is None or self.gone or not self.needs_more:
            return None
        tools, deadline = self.tools, self.deadline.within(SECONDS)
        search = PrerequisiteSearch(
            self.pull, self.tip, fork_point, tools.config.merge, tools.releases, deadline
        )
        return search.find_for_pick_and_names(
            self.trial,
            self.missing.symbols,
            lambda tree: find_missing_symbols(self.change.used_names, tree, tools.repository),
        )

    @property
    def final_tree(self) -> str | None:
        """The branch's tree after the pick and its prerequisites; None with conflicts."""
        first = None if self.trial.merge.clean else self.prerequisites
        last = first.trial if first and first.trial else self.trial
        return last.merge.tree

    @cached_property
    def pick(self) -> PullRequest:
        """The pick as a pull request onto the branch; there has to be a final tree."""
        return self.tools.releases.open_pick(self.pull, self.tip, self.final_tree or "")

    @property
    def reached(self) -> int:
        """The number of earlier changes that reached this or another branch."""
        return sum(change.reached for change in chain(self.history.earlier, *self.others))

    @cached_property
    def score(self) -> Score | None:
        """How likely people are to backport the change; None if its history is not known."""
        if self.history.fork_point is None:
            return None
        try:
            removed = self.touched.share
        except SourceError:
            return None
        habits = measure_habits(self.change.traits.words, self.history.earlier, self.others)
        conflicts = len(self.trial.merge.conflicts)
        return score_change(
            self.change.traits, BranchTraits(habits, conflicts, removed, self.newest)
        )

    def deepen(self) -> None:
        """Add the prerequisites to what the change offers."""
        if self.prerequisites and self.prerequisites.found and self.final_tree:
            repository, pick = self.tools.repository, self.pick
            self.interface = compare_public_names(pick, repository, Parser(), self.deadline)
