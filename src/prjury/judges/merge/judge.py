"""Tier 0, first half: does the change come onto its base, the way the project does it?"""

from __future__ import annotations

from dataclasses import dataclass, replace

from prjury.judges.context import PullRequestContext
from prjury.judges.merge.conflicts import (
    check_of,
    conflict_messages,
    described,
    no_complex,
    together,
)
from prjury.judges.merge.rebase import rebase_checks
from prjury.jury.judge import Judge, JudgeType
from prjury.jury.judgment import Check, Judgment
from prjury.policy.schema import MergeOptions
from prjury.ports import Ports
from prjury.snapshot.merge_style import RECENT, Habit, RebaseTrial, Way, habit
from prjury.snapshot.model import PullRequest, Side, printable

NAME = "merge"
#: A rebase that takes longer is given up, and so it ends before the judge's own time does.
_REBASE_SECONDS, _REBASE_SHARE = 120.0, 0.9


def make(options: MergeOptions, ports: Ports) -> Judge[PullRequestContext]:
    """The merge judge with these options, behind these doors."""
    return MergeJudge(options, ports)


@dataclass(frozen=True)
class MergeJudge:
    """Reads the photograph's trial merge; where the project rebases it tries that as well.

    PASS: the head comes onto the base the project's way without a conflict. FAIL: it does not.
    ABSTAIN: a rebase that was not tried to its end. ERROR: no trial is possible.
    """

    options: MergeOptions
    ports: Ports
    name: str = NAME
    description: str = "brings the head onto the tip of the base in object space"
    type: JudgeType = JudgeType.DETERMINISTIC

    def judge(self, context: PullRequestContext, /) -> Judgment:
        """Whether the change can be merged, rebased or squashed, as the project does it."""
        pull = context.pull
        if pull.merge.impossible or _held(pull):
            return decide(pull, Habit(Way.MERGE, "no other way was tried"))
        way = self._way(pull)
        if way.way is not Way.REBASE:
            return decide(pull, way)
        left = context.deadline.remaining * _REBASE_SHARE
        deadline = context.deadline.within(min(_REBASE_SECONDS, left))
        trial = self.ports.repository.rebase(pull.base.sha, pull.head.sha, deadline)
        return decide(pull, way, trial)

    def _way(self, pull: PullRequest) -> Habit:
        if self.options.strategy != "auto":
            return Habit(Way(self.options.strategy), "the policy says so")
        return habit(self.ports.repository.recent(pull.base.sha, RECENT))


def decide(pull: PullRequest, way: Habit, rebase: RebaseTrial | None = None) -> Judgment:
    """What the trials prove.

    Args:
        way: the project's way. A squash is the trial merge: what it commits is the merged tree.
        rebase: the trial, where the project's way is to rebase.
    """
    strategy = {"way": way.way.value, "reason": way.reason}
    metadata = {"subject": f"{way.way} onto {_tip(pull.base)}", "strategy": strategy}
    impossible = pull.merge.impossible or (rebase and rebase.impossible)
    if impossible:
        return Judgment.errored(impossible, metadata={**metadata, "reason": pull.merge.reason})
    if _held(pull):
        return Judgment.passed("nothing to merge: the base holds the head already").told(**metadata)
    judgment = _merged(pull) if rebase is None else rebase_checks(pull, rebase, _merged(pull))
    how = Check("strategy", passed=True, message=f"{way.way}: {way.reason}")
    behind = f"{pull.behind} behind" if pull.behind else "up to date"
    told = replace(
        judgment, reasoning=f"{judgment.reasoning}, {behind}", checks=(how, *judgment.checks)
    )
    return told.told(**metadata)


def _held(pull: PullRequest) -> bool:
    """Whether the base has had the head all along."""
    return pull.merge_base == pull.head.sha


def _tip(side: Side) -> str:
    """The branch and its tip, or the tip alone where no branch was named."""
    sha = f"`{side.sha[:7]}`"
    return sha if side.sha.startswith(side.ref) else f"`{printable(side.ref)}` @{sha}"


def _merged(pull: PullRequest) -> Judgment:
    """What the trial merge alone proves."""
    conflicts = pull.merge.conflicts
    if pull.merge.clean:
        clean = Check("merge-clean", passed=True, message="no conflicts")
        return Judgment.passed("clean", checks=(clean, *no_complex(())))
    return Judgment.failed(
        conflict_messages(conflicts),
        checks=(*no_complex(conflicts), *map(check_of, together(conflicts))),
        metadata={"conflicts": list(map(described, conflicts))},
    )
