"""From outcomes to the judgment. Pure."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prjury.judges.build.comparison import same_end, unproven
from prjury.judges.build.failure import Failure
from prjury.judges.build.outcome import Outcome, StepResult
from prjury.judges.build.plan import BuildPlan
from prjury.jury.judgment import Check, Judgment, Location, Status
from prjury.jury.score import BooleanScore
from prjury.ports import Completed

_MOST_CAUSES = 10
_MOST_LISTED = 200
_LIMITS = {
    "output_limit": "printed more than 200 MiB and was stopped",
    "memory_limit": "used more than the memory that a build may have and was stopped",
    "process_limit": "started more processes than a build may have and was stopped",
}


@dataclass(frozen=True)
class Case:
    """All that the judgment rests on.

    Attributes:
        base: what became of the same plan on the base, None where that was not tried.
        base_unknown: why the base could not be compared with, where it was tried in vain.
        known: the paths of the merged tree.
    """

    plan: BuildPlan
    outcome: Outcome
    known: frozenset[str] = frozenset()
    base: Outcome | None = None
    base_unknown: str = ""


def decide(case: Case) -> Judgment:
    """PASS or FAIL; ERROR where exit code 0 stands alone though there should be reports with it.

    FAIL also where the base is as broken, unless it is proved that this hides nothing.
    """
    outcome = case.outcome
    if not outcome.failed:
        return _green(case)
    new = [failure for failure in outcome.failures if failure.state == "new"]
    if case.base is None or new or not same_end(outcome, case.base):
        return _red(case, _causes(new or outcome.failures))
    if doubt := unproven(case.plan, outcome, case.base):
        hidden = (
            ", and so does the base without this change: mend the base first, for nothing can be "
            f"told about this change ({doubt}){_causes(outcome.failures)}"
        )
        return _red(case, hidden, {"reason": "base_broken"})
    return Judgment.passed(
        f"failed as on the base: {_what_failed(outcome)}, but every test of the base ran and all "
        f"that fails, fails on the base as well{_causes(outcome.failures)}{_notes(case)}",
        score=BooleanScore(value=True),
        checks=_checks(case),
        metadata=_metadata(case),
    )


def _red(case: Case, why: str, more: Mapping[str, str] | None = None) -> Judgment:
    return Judgment.failed(
        f"{_what_failed(case.outcome)}{why}{_notes(case)}",
        score=BooleanScore(value=False),
        checks=_checks(case),
        metadata={**_metadata(case), **(more or {})},
    )


def _green(case: Case) -> Judgment:
    """Exit code 0 and no failing test that was read; whether all were read is the question."""
    reports = case.outcome.reports
    checks, metadata, notes = _checks(case), _metadata(case), _notes(case)
    if reports.problems:
        return Judgment.errored(
            f"the build ended with exit code 0, but not all of its test reports could be read, "
            f"so that failing tests may hide there{notes}",
            checks=checks,
            metadata={**metadata, "reason": "report_invalid"},
        )
    if case.plan.reported and not reports.tests:
        return Judgment.errored(
            f"the build ended with exit code 0, but the test report that it was told to write is "
            f"missing or empty; probably something ended the tests before they ran{notes}",
            checks=checks,
            metadata={**metadata, "reason": "report_missing"},
        )
    return Judgment.passed(
        f"passed in {_duration(case.outcome.seconds)}{notes}",
        score=BooleanScore(value=True),
        checks=checks,
        metadata={**metadata, "log": None},
    )


def build_changed(judgment: Judgment, plan: BuildPlan, base: BuildPlan) -> Judgment:
    """The judgment where the change replaces the build that the base has.

    A PASS would be the word of a build that the change has chosen itself.
    """
    if judgment.status is not Status.PASS:
        return judgment
    return Judgment.abstained(
        f"this change replaces the build that judges it: the base is tested by {base.system}, "
        f"`{base.text}`, the merged tree by {plan.system}, `{plan.text}`, which passed. Look at "
        f"it, or name the build in the policy: `build: {{command: {base.text}}}`.",
        "build_changed",
        checks=judgment.checks,
        metadata={**judgment.metadata, "reason": "build_changed"},
    )


def _what_failed(outcome: Outcome) -> str:
    result = outcome.last
    which = f"{result.step.name}: " if len(outcome.results) > 1 else ""
    return which + _ending(result.completed, outcome.allowed)


def _ending(completed: Completed, allowed: float) -> str:
    stopped, code = completed.stopped, completed.exit_code
    if stopped == "timeout":
        return f"did not finish within {_duration(allowed)}"
    if stopped:
        return _LIMITS.get(stopped, f"was stopped ({stopped})")
    if code < 0:
        return f"killed by {_signal_name(-code)}"
    if code:
        return f"failed with exit code {code}"
    return "ended with exit code 0, but its test reports hold failures"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _causes(failures: Sequence[Failure]) -> str:
    if not failures:
        return ""
    first = failures[0]
    where = f"{first.place}: " if first.place else f"{first.name}: " if first.name else ""
    more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
    return f": {where}{first.message}{more}"


def _notes(case: Case) -> str:
    unread = case.outcome.reports.problems
    notes = (*case.plan.notes, *unread[:3])
    if case.base_unknown:
        notes = (*notes, f"the base could not be compared with: {case.base_unknown}")
    return f" ({'; '.join(notes)})" if notes else ""


def _duration(seconds: float) -> str:
    if seconds < 90:  # noqa: PLR2004 - one and a half minutes
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"  # noqa: PLR2004
    return f"{seconds / 60:.0f} min"


def _checks(case: Case) -> tuple[Check, ...]:
    outcome = case.outcome
    executed = [_executed(result) for result in outcome.results]
    return (*executed, *_tests(case), *_cause_checks(case))


def _executed(result: StepResult) -> Check:
    done = result.completed
    ended = f"stopped: {done.stopped}" if done.stopped else f"exit code {done.exit_code}"
    return Check(
        "build-executed",
        result.good,
        f"`{result.step.text}`: {ended}, {_duration(done.seconds)}",
        evidence=result.tail or None,
    )


def _tests(case: Case) -> tuple[Check, ...]:
    """Whether tests passed, where tests are part of the build and were reached."""
    reports, outcome = case.outcome.reports, case.outcome
    failing = [failure for failure in outcome.failures if failure.kind == "test"]
    if reports.tests:
        counted = len(reports.failures)
        message = f"{reports.tests} tests in {reports.files} reports, {counted} failed"
    elif not case.plan.tests or (not outcome.last.good and not failing):
        return ()
    else:
        message = f"{len(failing)} failed" if failing else "no test reports; the exit code says so"
    passed = not failing and not reports.failures and outcome.last.good
    return (Check("tests-passed", passed, message),)


def _cause_checks(case: Case) -> list[Check]:
    names = {"compile": "compiles", "test": "test", "goal": "build-goal", "error": "build-error"}
    checks = []
    for failure in case.outcome.failures[:_MOST_CAUSES]:
        located = (
            Location(failure.path, failure.line)
            if failure.path in case.known and failure.path
            else None
        )
        named = f"{failure.name}: " if failure.name and failure.kind == "test" else ""
        old = " (on the base as well)" if failure.state == "pre_existing" else ""
        checks.append(
            Check(
                names[failure.kind],
                passed=False,
                message=f"{named}{failure.message}{old}",
                location=located,
                severity="warning" if old else "error",
                evidence=failure.message,
            )
        )
    if left := len(case.outcome.failures) - len(checks):
        checks.append(Check("more-failures", passed=False, message=f"{left} more in the log"))
    return checks


def _metadata(case: Case) -> dict[str, Any]:
    outcome = case.outcome
    return {
        "subject": f"`{case.plan.text}`",
        "command": case.plan.text,
        "system": case.plan.system,
        "exit_code": outcome.last.completed.exit_code,
        "stopped": outcome.last.completed.stopped,
        "seconds": round(outcome.seconds, 1),
        "log": str(outcome.last.completed.log),
        "recognised_by": list(case.plan.reasons),
        "tests": outcome.reports.tests or None,
        "failures": [failure.as_json() for failure in outcome.failures[:_MOST_LISTED]],
    }
