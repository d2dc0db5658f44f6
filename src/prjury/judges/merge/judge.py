"""Tier 0, first half: does the change come onto its base, the way the project does it?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from prjury.judges.context import PullRequestContext
from prjury.judges.merge.conflicts import (
    conflict_check,
    conflict_json,
    conflict_messages,
    merge_paths,
)
from prjury.judges.merge.parses import NAME as PARSES
from prjury.judges.merge.parses import check_syntax
from prjury.jury.judge import Judge, JudgeType
from prjury.jury.judgment import Check, Judgment, Status
from prjury.policy.tiers import MergeOptions
from prjury.ports import Ports
from prjury.report.judge_facts import LeftOut, MergeFacts
from prjury.report.wording import counted
from prjury.snapshot.merge_style import RECENT, Habit, RebaseTrial, StyleCommit, Way, habit
from prjury.snapshot.model import PullRequest, Side, printable, visible

_LONGEST_SUBJECT = 60
_GIVEN_UP = {
    "timeout": "the time was over",
    "too_large": "there are more commits than are picked one by one",
}


def rebase_checks(pull: PullRequest, trial: RebaseTrial, merged: Judgment) -> Judgment:
    """The judgment where the project rebases.

    Args:
        merged: what the trial merge alone proves.
    """
    if trial.unfinished:
        return _unfinished(trial, merged)
    if trial.stopped_at:
        return _stopped(pull, trial, trial.stopped_at)
    picked = Check("rebase-clean", passed=True, message=_count_picks(pull, trial))
    return Judgment.passed(_clean(trial), checks=(picked, *_differences(pull, trial)))


def _unfinished(trial: RebaseTrial, merged: Judgment) -> Judgment:
    """A conflict that a plain merge has is one all the same; without it nothing is known."""
    why = _GIVEN_UP[trial.unfinished or "timeout"]
    where = f" after {trial.picked} of {counted(trial.total, 'commit')}" if trial.picked else ""
    words = f"the rebase was given up{where}: {why}"
    if merged.failed_checks:
        return replace(merged, reasoning=f"{merged.reasoning}; {words}")
    fix = "Squash the commits, or set `merge: {strategy: squash}` if the project does not rebase."
    given_up = Check("rebase-clean", passed=False, message=words, fix=fix)
    return Judgment.abstained(words, trial.unfinished, checks=(given_up, *merged.checks))


def _stopped(pull: PullRequest, trial: RebaseTrial, commit: StyleCommit) -> Judgment:
    conflicts = trial.conflicts
    place = f"commit {trial.picked + 1} of {trial.total}"
    sha = commit.sha[:7]
    words = f"{place} (`{sha}` {_subject(commit)}): {conflict_messages(conflicts)}"
    left = trial.total - trial.picked - 1
    after = f"; {counted(left, 'commit')} after it not tried" if left else ""
    base = printable(pull.base.ref)
    fix = f"Rebase the branch onto `{base}` and resolve the conflict at `{sha}`."
    at = None if commit.sha == pull.head.sha else sha
    stopped = {"sha": commit.sha, "subject": _subject(commit), "place": place}
    return Judgment.failed(
        f"{words}{after}; {_plain_merge(pull)}",
        checks=(
            *([_merge_check(pull)] if pull.merge.clean else ()),
            *(conflict_check(conflict, at=at, fix=fix) for conflict in merge_paths(conflicts)),
        ),
        metadata={
            **MergeFacts(stopped).to_metadata(),
            "conflicts": list(map(conflict_json, conflicts)),
        },
    )


def _subject(commit: StyleCommit) -> str:
    subject = visible(commit.subject)
    return subject if len(subject) <= _LONGEST_SUBJECT else f"{subject[:_LONGEST_SUBJECT]}…"


def _plain_merge(pull: PullRequest) -> str:
    return "a plain merge is clean" if pull.merge.clean else "a plain merge conflicts as well"


def _merge_check(pull: PullRequest) -> Check:
    message = "no conflicts" if pull.merge.clean else conflict_messages(pull.merge.conflicts)
    return Check("merge-clean", pull.merge.clean, message, severity="warning")


def _clean(trial: RebaseTrial) -> str:
    if not trial.total:
        return "nothing to rebase: the base has every commit already"
    return f"{counted(trial.total, 'commit')} {'rebases' if trial.total == 1 else 'rebase'} cleanly"


def _count_picks(pull: PullRequest, trial: RebaseTrial) -> str:
    merges = pull.ahead - trial.total - trial.applied
    parts = [
        f"{counted(trial.picked, 'commit')} picked",
        f"{trial.applied} left out that the base has already" if trial.applied else "",
        f"{counted(merges, 'merge')} left out" if merges > 0 else "",
        f"{trial.emptied} without any change" if trial.emptied else "",
    ]
    return ", ".join(filter(None, parts))


def _differences(pull: PullRequest, trial: RebaseTrial) -> Iterator[Check]:
    """Where rebased commits come to something else than the merge that is built."""
    yield _merge_check(pull)
    if pull.merge.clean and trial.tree != pull.merge.tree:
        message = "the rebased commits come to another tree than the merge, which is what is built"
        yield Check("same-tree", passed=False, message=message, severity="warning")


NAME = "merge"
#: A rebase that takes longer is given up, and so it ends before the judge's own time does.
_REBASE_SECONDS, _REBASE_SHARE = 120.0, 0.9


def make(options: MergeOptions, ports: Ports) -> Judge[PullRequestContext]:
    """The merge judge with these options, and these ports."""
    return MergeJudge(options, ports)


@dataclass(frozen=True)
class MergeJudge:
    """Reads the snapshot's trial merge; where the project rebases it tries that as well.

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
        return add_syntax(self._try(context), *check_syntax(pull, self.ports, context.deadline))

    def _try(self, context: PullRequestContext) -> Judgment:
        pull = context.pull
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
    subject = f"{way.way} onto {_tip(pull.base)}"
    metadata = {**MergeFacts().to_metadata(), "subject": subject, "strategy": strategy}
    impossible = pull.merge.impossible or (rebase and rebase.impossible)
    if impossible:
        return Judgment.errored(impossible, metadata={**metadata, "reason": pull.merge.reason})
    if _held(pull):
        return Judgment.passed("nothing to merge: the base holds the head already").with_metadata(
            **metadata
        )
    judgment = _merged(pull) if rebase is None else rebase_checks(pull, rebase, _merged(pull))
    how = Check("strategy", passed=True, message=f"{way.way}: {way.reason}")
    behind = f"{counted(pull.behind, 'commit')} behind" if pull.behind else "up to date"
    found = replace(
        judgment, reasoning=f"{judgment.reasoning}, {behind}", checks=(how, *judgment.checks)
    )
    return found.with_metadata(**metadata)


def add_syntax(judgment: Judgment, checks: Sequence[Check], doubts: Sequence[LeftOut]) -> Judgment:
    """The judgment, lowered to FAIL if a changed file does not parse.

    Args:
        doubts: files that may not parse, and that count as not read.
    """
    metadata = {**judgment.metadata, **MergeFacts(unparsed=tuple(doubts)).to_metadata()}
    checks = (*judgment.checks, *checks)
    broken = [check for check in checks if check.name == PARSES and check.severity == "error"]
    broken = [check for check in broken if not check.passed]
    if not broken or judgment.status not in {Status.PASS, Status.ABSTAIN}:
        return replace(judgment, checks=checks, metadata=metadata)
    place = broken[0].location
    where = f"{visible(place.path)}:{place.line}" if place and place.line else ""
    more = f", and {counted(len(broken) - 1, 'more file')}" if len(broken) > 1 else ""
    words = f"{where or (visible(place.path) if place else '')} {broken[0].message}{more}"
    return Judgment.failed(f"{words} ({judgment.reasoning})", checks=checks, metadata=metadata)


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
        return Judgment.passed("merges cleanly", checks=[clean])
    return Judgment.failed(
        conflict_messages(conflicts),
        checks=[conflict_check(conflict) for conflict in merge_paths(conflicts)],
        metadata={"conflicts": list(map(conflict_json, conflicts))},
    )
