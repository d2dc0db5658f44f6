"""Run one build on the merged tree and, where that helps to judge a failure, on the base."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Literal

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError, SourceError
from prjury.judges.builds.build_result import (
    BuildResult,
    PlanOutcome,
    comparable,
    compared,
    unmarked,
)
from prjury.judges.builds.failure import Failure
from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.run import Builder, Workplace, noted, refuse_needed
from prjury.ports.types import TreeEntry

#: More failing tests than this are not flaky, and too many to run again one by one.
_MOST_AGAIN = 20


@dataclass(frozen=True)
class BuildSide:
    """A tree to be built: its object name and its files."""

    tree: str
    entries: Sequence[TreeEntry]


@dataclass(frozen=True)
class ComparisonRun:
    """Runs plans on two trees.

    Attributes:
        merged: what the change makes of the base.
        base: the base without it.
        when: whether the base is built only when something failed, or always.
        pre_existing: ``"block"`` where old failures fail the judge too, so that the base matters
            only if it is always built.
        vanished: what follows where tests of the base did not run.
        flaky: ``"warn"`` where a test that passes when it is run again fails the judge no more.
    """

    builder: Builder
    merged: BuildSide
    base: BuildSide
    when: Literal["on_failure", "always"] = "on_failure"
    pre_existing: Literal["warn", "block"] = "warn"
    flaky: Literal["warn", "block"] = "block"
    vanished: Literal["ask", "fail", "warn"] = "ask"

    def case(self, plan: BuildPlan, deadline: Deadline) -> BuildResult:
        """All that is to be known of this build.

        Raises:
            CannotJudgeError: when a tool is missing or the sandbox is not available, or when files
                of the tree are missing that may be needed.
        """
        with ExitStack() as stack:
            merged = stack.enter_context(self.builder.opened(self.merged.tree, self.merged.entries))
            refuse_needed(merged.absent, self.merged.entries, self.base.entries)
            plan = noted(plan, merged.absent)
            outcome = merged.run(plan, deadline)
            case = BuildResult(
                plan,
                outcome,
                merged.known,
                flaky=self.flaky,
                old=self.pre_existing,
                vanished=self.vanished,
            )
            if not self._asks_base(outcome):
                return case
            case = self._with_base(case, merged, deadline)
            return self._with_flaky(case, merged, deadline) if comparable(case.outcome) else case

    def _asks_base(self, outcome: PlanOutcome) -> bool:
        if outcome.environment:
            return False
        if self.when == "always":
            return not outcome.last.completed.stopped
        return comparable(outcome) and self.pre_existing == "warn"

    def _with_base(self, case: BuildResult, merged: Workplace, deadline: Deadline) -> BuildResult:
        """Add the base's outcome; run both to the end where the plan has such a form.

        Where the time is too short for that, the case stays what it was, unproven.
        """
        say = self.builder.ports.progress.say
        say("trying the base without the change")
        try:
            with self.builder.opened(self.base.tree, self.base.entries) as base:
                refuse_needed(base.absent, self.base.entries, self.merged.entries)
                old = base.run(case.plan, deadline)
                case = replace(case, outcome=compared(case.outcome, old), base=old)
                if not (case.plan.keep_going and case.only_old_failures):
                    return _refused_if_stopped(case)
                say("both fail alike; trying again without stopping at failures")
                old = base.run(case.plan.keep_going, deadline)
            if old.last.completed.stopped:
                return case
            outcome = merged.run(case.plan.keep_going, deadline)
            if outcome.last.completed.stopped == "timeout":
                return case
            return case.to_the_end(compared(outcome, old), old)
        except (CannotJudgeError, SourceError) as error:
            return _without_base(case, str(error))

    def _with_flaky(self, case: BuildResult, merged: Workplace, deadline: Deadline) -> BuildResult:
        """Run the new failing tests once more, alone; what passes then is flaky."""
        suspects = [f for f in case.outcome.failures if f.kind == "test" and f.state == "new"]
        rerun = case.plan.rerun_failed
        steps = rerun(suspects) if rerun and 0 < len(suspects) <= _MOST_AGAIN else None
        if not steps:
            return case
        say = self.builder.ports.progress.say
        say(f"running {len(suspects)} failing tests again, alone")
        try:
            again = merged.run(case.plan, deadline, alone=steps)
            flaky_ids = _passed_again(suspects, again)
            case = replace(
                case, outcome=_marked_flaky(case.outcome, flaky_ids), ran_again=len(suspects)
            )
            if self.flaky == "block" or not flaky_ids or not _only_flaky(case):
                return case
            say("they passed; trying everything once more")
            outcome = merged.run(case.plan.once_more, deadline)
        except CannotJudgeError:
            return case  # the failures stand as they are
        if case.base is None:
            return case
        outcome_again = compared(outcome, case.base)
        failing = {failure.id for failure in outcome_again.failures}
        flaky_before = (f for f in case.outcome.failures if f.state == "flaky")
        passed_now = tuple(f for f in flaky_before if f.id not in failing)
        failures = (*_failing_again(outcome_again.failures, flaky_ids), *passed_now)
        return case.to_the_end(replace(outcome_again, failures=failures), case.base)


def _refused_if_stopped(case: BuildResult) -> BuildResult:
    """Drop a base that was cut off: it proves nothing."""
    stopped = case.base.last.completed.stopped if case.base else None
    if not stopped:
        return case
    return _without_base(case, f"its own build was stopped ({stopped})")


def _without_base(case: BuildResult, why: str) -> BuildResult:
    return replace(case, outcome=unmarked(case.outcome), base=None, base_unknown=why)


def _only_flaky(case: BuildResult) -> bool:
    """Whether nothing fails the judge but the goals that ran the flaky tests."""
    return all(failure.kind == "goal" for failure in case.blocking)


def _marked_flaky(outcome: PlanOutcome, flaky_ids: frozenset[str]) -> PlanOutcome:
    failures = tuple(
        replace(failure, state="flaky") if failure.id in flaky_ids else failure
        for failure in outcome.failures
    )
    return replace(outcome, failures=failures)


def _failing_again(failures: Sequence[Failure], flaky_ids: frozenset[str]) -> Iterator[Failure]:
    """Mark as new what passes alone and fails again among the others."""
    for failure in failures:
        again = failure.id in flaky_ids and failure.state == "new"
        words = f"{failure.message} (passes alone, fails again with the others)"
        yield replace(failure, message=words) if again else failure


def _passed_again(suspects: Sequence[Failure], again: PlanOutcome) -> frozenset[str]:
    """The tests that failed before and demonstrably passed now; a missing result is no pass."""
    if again.last.completed.stopped:
        return frozenset()
    failing = {failure.id for failure in again.failures}
    ran = set(again.reports.ran)
    return frozenset(f.id for f in suspects if f.id in ran and f.id not in failing)
