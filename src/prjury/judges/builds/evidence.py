"""What a build's judgment rests on, as checks and as metadata. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from prjury.judges.builds.build_result import BuildResult
from prjury.judges.builds.comparison import fixed
from prjury.judges.builds.failure import Failure
from prjury.judges.builds.outcome import PlanOutcome, Reports, StepResult
from prjury.judges.builds.wording import duration
from prjury.jury.judgment import Check, Location, Severity
from prjury.report.wording import counted

_MOST_LISTED = 200
#: Checks by the kind of a failure; a broken goal or a last word only follows from the others.
_NAMES = {"compile": "compiles", "test": "test", "goal": "build-goal", "error": "build-error"}
_CAUSES = ("compile", "test")
_MOST_QUOTED = 3
#: What runners say of tests that passed.
_PASSED = re.compile(r"\s*(?:=== |--- PASS|PASS\b|ok\b|✓|✔|test .* \.\.\. ok$|[\w.]+ PASSED)")
_STATES = {
    "new": "",
    "pre_existing": " (on the base as well)",
    "environment": " (this machine, not the code)",
    "flaky": " (flaky: it passed when it was run again alone)",
}


def checks_of(case: BuildResult) -> tuple[Check, ...]:
    """Each command, the tests, then each failure and how many there are beside those listed."""
    outcome = case.outcome
    executed = [_executed(result, case.ordered) for result in outcome.results]
    return (*executed, *_tests(case), *_vanished(case), *_cause_checks(case))


def _executed(result: StepResult, failures: Sequence[Failure]) -> Check:
    done = result.completed
    ended = f"stopped: {done.stopped}" if done.stopped else f"exit code {done.exit_code}"
    return Check(
        "build-executed",
        result.good,
        f"`{result.step.text}`: {ended}, {duration(done.seconds)}",
        evidence=(result.tail if result.good else _what_failed(result, failures)) or None,
    )


def _what_failed(result: StepResult, failures: Sequence[Failure]) -> str:
    """The first failures in full; where none could be read, the last lines that tell of no pass."""
    causes = [failure for failure in failures if failure.kind != "goal"][:_MOST_QUOTED]
    if causes:
        return "\n\n".join(
            f"{failure.place or failure.name or ''}: {failure.shown}" for failure in causes
        )
    lines = [line for line in result.tail.splitlines() if not _PASSED.match(line)]
    return "\n".join(lines) or result.tail


def _tests(case: BuildResult) -> tuple[Check, ...]:
    """Whether tests passed, where tests are part of the build and were reached."""
    reports, outcome = case.outcome.reports, case.outcome
    failing = [failure for failure in outcome.failures if failure.kind == "test"]
    failed = max(len(failing), len(reports.failures))
    if known := _how_many(reports):
        skipped = f", {reports.skipped} skipped" if reports.skipped else ""
        message = f"{known}, {_how_many_failed(failed, outcome)}{skipped}"
    elif not case.plan.tests or (not outcome.last.good and not failing):
        return ()
    else:
        message = f"{failed} failed" if failing else "no test reports; the exit code says so"
    return (Check("tests-passed", not failed and outcome.last.good, message),)


def _vanished(case: BuildResult) -> tuple[Check, ...]:
    """The tests that the base ran and this run did not, by name as far as they are known."""
    lost = case.lost
    if not lost.count:
        return ()
    names = [*lost.names[:_MOST_LISTED]]
    if left := len(lost.names) - len(names):
        names.append(f"… and {left} more")
    return (
        Check(
            "tests-vanished",
            passed=False,
            message=f"{counted(lost.count, 'test')} that ran on the base did not run here",
            severity="error" if case.vanished == "fail" else "warning",
            evidence="\n".join(names) or None,
        ),
    )


def _how_many_failed(failed: int, outcome: PlanOutcome) -> str:
    """A log whose step ended well is not searched for failures, so it does not say 0."""
    if failed or (outcome.reports.files and outcome.last.good):
        return f"{failed} failed"
    return (
        "and the exit code says that none failed" if outcome.last.good else "but the build failed"
    )


def _how_many(reports: Reports) -> str:
    """How many tests there were and who says so; empty where nobody does."""
    where = f" in {counted(reports.files, 'report')}" if reports.files else " named in the log"
    named = f"{counted(reports.tests, 'test')}{where}" if reports.tests else ""
    tallied = f"{counted(reports.counted, 'test')} counted in the log" if reports.counted else ""
    return " and ".join(filter(None, [named, tallied]))


def _cause_checks(case: BuildResult) -> list[Check]:
    checks = []
    for failure in case.ordered[:_MOST_LISTED]:
        located = (
            Location(failure.path, failure.line)
            if failure.path in case.known and failure.path
            else None
        )
        named = f"{failure.name}: " if failure.name and failure.kind == "test" else ""
        old = _STATES[failure.state]
        checks.append(
            Check(
                _NAMES[failure.kind],
                passed=False,
                message=f"{named}{failure.message}{old}",
                location=located,
                severity="warning" if case.excuses(failure) else "error",
                evidence=failure.shown,
            )
        )
    if left := len(case.outcome.failures) - len(checks):
        severity: Severity = "error" if case.blocking[_MOST_LISTED:] else "warning"
        message = f"{left} more in the log"
        checks.append(Check("more-failures", passed=False, message=message, severity=severity))
    return checks


def metadata_of(case: BuildResult) -> dict[str, Any]:
    """What programs may want to know, all failures in the form of the report among it."""
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
        "directory": case.plan.directory,
        "modules": list(case.plan.scope.modules),
        "scope": case.plan.scope.because,
        "tests": _test_counts(case),
        "test_files": 0 if _any_results(outcome.reports) else case.test_files,
        "fixed": [f.id for f in fixed(outcome, case.base)[:_MOST_LISTED]] if case.base else [],
        "ran_again": case.ran_again,
        "compared": case.base is not None,
        "failures": [failure.as_json() for failure in case.ordered[:_MOST_LISTED]],
        "failure_counts": _failure_counts(outcome.failures),
        "summaries": _summaries(case),
    }


def _test_counts(case: BuildResult) -> dict[str, Any] | None:
    """How many tests ran, here and on the base; None where there are no test results."""
    if not _any_results(case.outcome.reports):
        return None
    base = case.base
    known = base is not None and not case.blocking
    return {
        **_counts(case.outcome),
        "vanished": case.lost.count if known else None,
        "base": _counts(base) if base and _any_results(base.reports) else None,
    }


def _counts(outcome: PlanOutcome) -> dict[str, int]:
    failing = sum(failure.kind == "test" for failure in outcome.failures)
    reports = outcome.reports
    failed = max(failing, sum(failure.kind == "test" for failure in reports.failures))
    return {"run": reports.run, "failed": failed, "skipped": reports.skipped}


def _any_results(reports: Reports) -> bool:
    return bool(reports.tests or reports.counted or reports.skipped)


def _failure_counts(failures: Iterable[Failure]) -> dict[str, dict[str, int]]:
    """All failures, by state and kind, those included that are too many to be listed."""
    counts: dict[str, Counter[str]] = {}
    for failure in failures:
        counts.setdefault(failure.state, Counter())[failure.kind] += 1
    return {state: dict(kinds) for state, kinds in counts.items()}


def _summaries(case: BuildResult) -> list[str]:
    """The checks that only sum up the failures: they are no findings beside those."""
    kinds = {failure.kind for failure in case.outcome.failures}
    follow = [name for kind, name in _NAMES.items() if kind not in _CAUSES]
    return ["build-executed", "tests-passed", *(follow if kinds & {*_CAUSES} else ())]
