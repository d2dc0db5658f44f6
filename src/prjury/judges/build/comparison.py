"""The merged tree's outcome beside the base's: what is old, and what that proves. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from prjury.judges.build.failure import Failure
from prjury.judges.build.outcome import Outcome
from prjury.judges.build.plan import BuildPlan


def comparable(outcome: Outcome) -> bool:
    """Whether it is worth asking how the base fares: a limit or a signal is the change's own."""
    return (
        outcome.failed
        and not outcome.last.completed.stopped
        and outcome.last.completed.exit_code >= 0
    )


def compared(outcome: Outcome, base: Outcome) -> Outcome:
    """The outcome with the failures that the base has as well marked as such.

    Each failure of the base accounts for one of the merged tree: of two that cannot be told apart
    the second one is new where the base has only one.
    """
    return replace(outcome, failures=tuple(_marked(outcome, base)))


def _marked(outcome: Outcome, base: Outcome) -> Iterator[Failure]:
    there = Counter(failure.id for failure in base.failures)
    for failure in outcome.failures:
        old = there[failure.id] > 0
        there[failure.id] -= old
        yield replace(failure, state="pre_existing") if old else failure


def same_end(outcome: Outcome, base: Outcome) -> bool:
    """Whether both broke off at the same step with the same exit code.

    A different end means that something happened which the causes that were read do not tell.
    """
    ours, theirs = outcome.last, base.last
    return base.failed and (ours.step, ours.completed.exit_code, ours.completed.stopped) == (
        theirs.step,
        theirs.completed.exit_code,
        theirs.completed.stopped,
    )


def unproven(plan: BuildPlan, outcome: Outcome, base: Outcome) -> str:
    """Why old failures may hide new ones, or nothing where it is proved that they do not.

    The proof: the tool ran every test, both runs have reports that could be read in full, nothing
    but tests failed, and every test that ran on the base ran here as well.
    """
    return next(_doubts(plan, outcome, base), "")


def _doubts(plan: BuildPlan, outcome: Outcome, base: Outcome) -> Iterator[str]:
    exit_code = outcome.last.completed.exit_code
    if {failure.kind for failure in outcome.failures} != {"test"}:
        yield "not only tests failed, so something may have kept tests from running"
    if plan.all_ran is None:
        yield f"{plan.system} does not tell whether everything ran in spite of the failure"
    if plan.all_ran not in {None, exit_code}:
        yield f"exit code {exit_code} does not tell that every test ran"
    if len(outcome.results) < len(plan.steps):
        yield f"the steps after `{outcome.last.step.text}` were not reached"
    for of, run in (("the merged tree", outcome), ("the base", base)):
        if run.reports.problems:
            yield f"in {of} {run.reports.problems[0]}"
        if not run.reports.tests:
            yield f"there are no test reports of {of}"
    if absent := Counter(base.reports.ran) - Counter(outcome.reports.ran):
        yield f"{absent.total()} tests that run on the base did not run, such as {min(absent)}"
