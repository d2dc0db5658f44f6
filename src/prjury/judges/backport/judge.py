"""The backport judge: twelve checks for each release branch, the cheapest first.

What depends on the change alone is found out once; then each branch is looked at on its own,
several at a time. Nothing that goes wrong on one branch keeps another one from its verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial

from prjury.code.parser import Parser
from prjury.deadline import Deadline
from prjury.errors import PrJuryError
from prjury.judges.backport.change import Change, change_of
from prjury.judges.backport.content.missing_symbols import Searching
from prjury.judges.backport.look import Look
from prjury.judges.backport.past.history import History, history_of
from prjury.judges.backport.picked import PickedJudges
from prjury.judges.backport.requests.branches import is_locked
from prjury.judges.backport.requests.find import find_requests
from prjury.judges.backport.requests.lines import bare
from prjury.judges.backport.verdict import decide
from prjury.jury.guard import guarded
from prjury.jury.judgment import Check
from prjury.policy.schema import BackportConfig
from prjury.ports import Releases, Repository
from prjury.ports.types import BranchTip
from prjury.report.model import Backport
from prjury.snapshot.model import UNSAFE_TREE, PullRequest, printable, visible

#: So many branches are looked at at the same time; most of the work is git's.
_AT_ONCE = 4


@dataclass(frozen=True)
class BackportJudge:
    """Judges whether a change can be brought to release branches; it never votes on the merge.

    Attributes:
        searching: finds words in trees.
        picked: the judges of picked changes.
        own_label: the label with ``{branch}`` that a run gives itself, which is nobody's wish.
        texts: whether title and description may ask for a backport.
        thorough: the branches that are looked into to the end, whatever the first checks say; None
            for all of them.
    """

    config: BackportConfig
    repository: Repository
    releases: Releases
    searching: Searching
    picked: PickedJudges = field(default_factory=PickedJudges)
    parser: Parser = field(default_factory=Parser)
    own_label: str | None = None
    texts: bool = True
    thorough: frozenset[str] | None = None

    def judge(
        self, pull: PullRequest, branches: Sequence[str], deadline: Deadline
    ) -> tuple[Backport, ...]:
        """The verdict for each branch, in their order."""
        with ThreadPoolExecutor(_AT_ONCE, "backport") as pool:
            found = dict(zip(branches, pool.map(partial(self._open, pull), branches), strict=True))
            tips = [tip for tip in found.values() if isinstance(tip, BranchTip)]
            if tips:
                verdicts = self._judged(pull, tips, deadline, pool)
                found |= {tip.name: verdict for tip, verdict in zip(tips, verdicts, strict=True)}
        return tuple(one for one in found.values() if isinstance(one, Backport))

    def _open(self, pull: PullRequest, name: str) -> BranchTip | Backport:
        """Check 1: the branch is there, and takes changes."""
        if pull.merge.reason == UNSAFE_TREE:
            return Backport(name, "error", None, reasons=(pull.merge.impossible or "",))
        try:
            tip = self.releases.tip(name)
        except PrJuryError as error:
            return Backport(name, "error", None, reasons=(str(error),))
        where = printable(name)
        if entry := is_locked(name, self.config.locked):
            return _closed(tip, f"{where} takes nothing any more: `{visible(entry)}` is locked")
        if bare(name) == bare(pull.base.ref):
            return _closed(tip, f"the change goes to {where} anyway")
        return tip

    def _judged(
        self, pull: PullRequest, tips: Sequence[BranchTip], deadline: Deadline, pool: Executor
    ) -> list[Backport]:
        args = (self.repository, self.releases, self.parser, deadline)
        spoken = pull if self.texts else replace(pull, title="", body="")
        try:
            change = change_of(
                pull,
                lambda messages: find_requests(spoken, self.config, messages, own=self.own_label),
                *args,
            )
            change = replace(change, concerned=self.picked.concerned(pull))
        except PrJuryError as error:
            return [Backport(tip.name, "error", None, reasons=(str(error),)) for tip in tips]
        histories = list(pool.map(lambda tip: history_of(pull, tip, self.releases), tips))
        looks = self._looks(change, tips, histories, deadline)
        return list(pool.map(_verdict, looks))

    def _looks(
        self,
        change: Change,
        tips: Sequence[BranchTip],
        histories: Sequence[History],
        deadline: Deadline,
    ) -> list[Look]:
        known = [len(one.earlier) for one in histories if one.parted]
        latest = min(known, default=0)  # the fewest changes since it parted
        names = [tip.name for tip in tips]
        return [
            Look(
                self.config,
                self.repository,
                self.releases,
                self.searching,
                self.picked,
                self.parser,
                change,
                tip,
                history,
                deadline,
                branches=names,
                newest=not history.parted or len(history.earlier) == latest,
                others=[one.earlier for one in histories if one is not history],
                thorough=self.thorough is None or tip.name in self.thorough,
            )
            for tip, history in zip(tips, histories, strict=True)
        ]


def _verdict(look: Look) -> Backport:
    """The verdict; whatever goes wrong on one branch is that branch's error."""
    tip = look.tip
    return guarded(
        lambda: decide(look.case()),
        lambda crash: Backport(
            tip.name, "error", None, reasons=(crash.reasoning,), branch_sha=tip.sha
        ),
    )


def _closed(tip: BranchTip, words: str) -> Backport:
    check = Check("branch", passed=False, message=words, severity="hint")
    return Backport(
        tip.name, "not_applicable", None, reasons=(words,), checks=(check,), branch_sha=tip.sha
    )
