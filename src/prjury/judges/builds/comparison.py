"""The merged tree's outcome beside the base's: what is old, and what that proves. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from prjury.judges.builds.custom_command import SYSTEM
from prjury.judges.builds.failure import Failure
from prjury.judges.builds.outcome import PlanOutcome
from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.vanished import Vanished
from prjury.report.wording import counted

#: Characters of a command in a sentence.
_LONGEST_STEP = 60


def comparable(outcome: PlanOutcome) -> bool:
    """Whether it is worth asking how the base fares: a limit or a signal is the change's own."""
    return (
        outcome.failed
        and not outcome.last.completed.stopped
        and outcome.last.completed.exit_code >= 0
    )


def compared(outcome: PlanOutcome, base: PlanOutcome) -> PlanOutcome:
    """The outcome with the failures that the base has as well marked as such.

    Each failure of the base accounts for one of the merged tree: of two that cannot be told apart
    the second one is new where the base has only one.
    """
    return replace(outcome, failures=tuple(_marked(outcome, base)))


def _marked(outcome: PlanOutcome, base: PlanOutcome) -> Iterator[Failure]:
    there = Counter(failure.id for failure in base.failures)
    for failure in outcome.failures:
        old = there[failure.id] > 0 and failure.state != "environment"
        there[failure.id] -= old
        yield replace(failure, state="pre_existing") if old else failure


def unmarked(outcome: PlanOutcome) -> PlanOutcome:
    """The outcome as it was before it was compared with a base that turned out to tell nothing."""
    return replace(
        outcome,
        failures=tuple(
            replace(failure, state="new") if failure.state == "pre_existing" else failure
            for failure in outcome.failures
        ),
    )


def same_end(outcome: PlanOutcome, base: PlanOutcome) -> bool:
    """Whether both broke off at the same step with the same exit code.

    A different end means that something happened which the causes that were read do not tell.
    """
    ours, theirs = outcome.last, base.last
    return base.failed and (ours.step, ours.completed.exit_code, ours.completed.stopped) == (
        theirs.step,
        theirs.completed.exit_code,
        theirs.completed.stopped,
    )


def fixed(outcome: PlanOutcome, base: PlanOutcome) -> tuple[Failure, ...]:
    """The tests that fail on the base and demonstrably pass with the change."""
    failing = {failure.id for failure in outcome.failures}
    ran = frozenset(outcome.reports.ran)
    tests = (failure for failure in base.failures if failure.kind == "test")
    return tuple(failure for failure in tests if failure.id in ran and failure.id not in failing)


def unproven(plan: BuildPlan, outcome: PlanOutcome, base: PlanOutcome, lost: Vanished) -> str:
    """Why old failures may hide new ones, or nothing where it is shown that they do not.

    What shows it: nothing but tests failed (and the goals that run them), both runs have results
    that could be read in full, and no test of the base is lost.
    """
    return next(_doubts(plan, outcome, base, lost), "")


def _doubts(
    plan: BuildPlan, outcome: PlanOutcome, base: PlanOutcome, lost: Vanished
) -> Iterator[str]:
    kinds = {failure.kind for failure in outcome.failures}
    if "test" not in kinds or kinds - {"test", "goal"}:
        yield "not only tests failed, so something may have kept tests from running"
    exit_code = outcome.last.completed.exit_code
    if exit_code and plan.all_ran not in {None, exit_code}:
        yield f"exit code {exit_code} does not tell that every test ran"
    if plan.system == SYSTEM and plan.all_ran != exit_code:
        yield f"`{outcome.last.step.text[:_LONGEST_STEP]}` may leave out what comes after a failure"
    if len(outcome.results) < len(plan.steps):
        yield f"the steps after `{outcome.last.step.text[:_LONGEST_STEP]}` were not reached"
    yield from _doubts_about(outcome, "the merged tree")
    yield from _doubts_about(base, "the base")
    if lost.count:
        such = f", such as {lost.names[0]}" if lost.names else ""
        yield f"{counted(lost.count, 'test')} of the base did not run{such}"


def _doubts_about(run: PlanOutcome, of: str) -> Iterator[str]:
    if run.last.completed.stopped or run.last.completed.exit_code < 0:
        yield f"the build of {of} was cut off"
    if run.reports.problems:
        yield f"in {of} {run.reports.problems[0]}"
    if not run.reports.tests and not run.reports.counted:
        yield f"there are no test results of {of}"


def unseen(plan: BuildPlan, outcome: PlanOutcome) -> str:
    """What may still not have run for the failures' sake, on either side; a note, no doubt."""
    if plan.all_ran == outcome.last.completed.exit_code:
        return ""
    return f"what `{plan.text}` leaves out after a failure ran on neither side"
