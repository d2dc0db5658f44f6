"""Decide the judgment of one build from its result. Pure."""

from __future__ import annotations

import re
import signal
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from prjury.judges.builds.environment import lacks_service, may_pass, remedy_for
from prjury.judges.builds.failure import Failure, Results
from prjury.judges.builds.fault import broken_command, not_started, unproven, unseen
from prjury.judges.builds.outcome import BuildResult, PlanOutcome, StepResult
from prjury.judges.builds.plan import CUSTOM, REPORTED, BuildPlan
from prjury.judges.builds.test_sets import Vanished
from prjury.jury.judgment import Check, Judgment, Location, Severity
from prjury.jury.score import BooleanScore
from prjury.ports.types import Completed
from prjury.report.judge_facts import (
    BASE_BROKEN,
    FAILURES_IGNORED,
    TESTS_VANISHED,
    BuildFacts,
    BuildRunFacts,
    RunFacts,
    TestFacts,
)
from prjury.report.wording import counted
from prjury.snapshot.model import visible

_MOST_NAMED = 5
_LONGEST_QUOTED = 160
_LIMITS = {
    "output_limit": "printed more than 200 MiB and was stopped",
    "memory_limit": "used more than the memory that a build may have and was stopped",
    "process_limit": "started more processes than a build may have and was stopped",
}

#: pytest's exit code where it collects nothing.
_NO_TESTS = 5


def _what_failed(outcome: PlanOutcome) -> str:
    """How the step that decided ended."""
    result = outcome.last
    which = f"{result.step.name}: " if len(outcome.results) > 1 else ""
    no_tests = result.completed.exit_code == _NO_TESTS and "no tests ran in " in result.tail
    why = ": pytest found no tests" if no_tests else ""
    return which + _ending(result.completed, outcome.allowed) + why


def _ending(completed: Completed, allowed: float) -> str:
    stopped, code = completed.stopped, completed.exit_code
    if stopped == "timeout":
        return f"did not finish within {duration(allowed)}"
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
    """The first cause and the number of the others, behind a colon; empty for none."""
    if not failures:
        return ""
    first = failures[0]
    where = first.place or first.name or ""
    where = "" if first.message.startswith(where) else f"{where}: "
    others = sum(one.kind != "goal" and one.state != "environment" for one in failures[1:])
    more = f" (and {others} more)" if others else ""
    return f": {where}{first.message}{more}"


def _first_of(lost: Vanished) -> str:
    """An example of the tests that did not run; empty where no name is known."""
    return f", such as {_clipped(lost.names[0])}" if lost.names else ""


def _notes(case: BuildResult, *more: str) -> str:
    """What a reader should know besides, in brackets; empty for nothing."""
    unread = case.outcome.reports.problems
    used = ", ".join(f"{tool} {version}" for tool, version in case.versions.items())
    tools = (f"with {used}",) if used else ()
    known = (*_scope(case.plan), *tools, *case.plan.notes, *unread[:3])
    notes = (*known, *_fixed(case), *filter(None, more))
    if case.base_unknown:
        notes = (*notes, f"the base could not be compared with: {case.base_unknown}")
    return f" ({'; '.join(notes)})" if notes else ""


def _clipped(text: str) -> str:
    """A line of a build's output, short enough for a sentence."""
    line = text.strip().rstrip(".")
    return line if len(line) <= _LONGEST_QUOTED else f"{line[:_LONGEST_QUOTED]}…"


def _scope(plan: BuildPlan) -> tuple[str, ...]:
    """What part was built, where parts are known at all."""
    modules, because = plan.scope.modules, plan.scope.because
    if modules:
        listed = ", ".join(modules[:_MOST_NAMED])
        more = f" and {len(modules) - _MOST_NAMED} more" if len(modules) > _MOST_NAMED else ""
        left = because.partition("; ")[2]  # what the way to find them leaves out
        besides = f"; {visible(left)}" if left else ""
        return (f"only what the change affects: {visible(listed)}{more}{besides}",)
    return (f"everything, because {because}",) if because else ()


def _fixed(case: BuildResult) -> tuple[str, ...]:
    if case.base is None or not (repaired := case.outcome.passing(case.base.failures)):
        return ()
    named = repaired[0].name or repaired[0].id
    more = f" and {len(repaired) - 1} more" if len(repaired) > 1 else ""
    return (f"fixes {named}{more}, which the base fails",)


def duration(seconds: float) -> str:
    """Seconds up to a minute and a half, then minutes."""
    if seconds < 90:  # noqa: PLR2004 - one and a half minutes
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"  # noqa: PLR2004
    return f"{seconds / 60:.0f} min"


_MOST_LISTED = 200
#: Checks by the kind of a failure; a broken goal or a last word only follows from the others.
_NAMES = {"compile": "compiles", "test": "test", "goal": "build-goal", "error": "build-error"}
_CAUSES = ("compile", "test")
_MOST_QUOTED = 3
#: What runners print about tests that passed.
_PASSED = re.compile(r"\s*(?:=== |--- PASS|PASS\b|ok\b|✓|✔|test .* \.\.\. ok$|[\w.]+ PASSED)")
_STATES = {
    "new": "",
    "pre_existing": " (on the base as well)",
    "environment": " (the environment, not the code)",
    "flaky": " (flaky: it passed when it was run again alone)",
}


def checks_of(case: BuildResult) -> tuple[Check, ...]:
    """Each command, the tests, then each failure and how many there are beside those listed."""
    outcome = case.outcome
    executed = [_executed(result, case.ordered) for result in outcome.results]
    return (*executed, *_tests(case), *_vanished(case), *cause_checks(case))


def _executed(result: StepResult, failures: Sequence[Failure]) -> Check:
    done = result.completed
    ended = f"stopped: {done.stopped}" if done.stopped else f"exit code {done.exit_code}"
    return Check(
        "build-executed",
        result.good,
        f"`{result.step.text}`: {ended}, {duration(done.seconds)}",
        evidence=(result.tail if result.good else _shown(result, failures)) or None,
    )


def _shown(result: StepResult, failures: Sequence[Failure]) -> str:
    """The first failures in full; where none could be read, the last lines."""
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
            severity="error" if case.options.vanished == "fail" else "warning",
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


def _how_many(reports: Results) -> str:
    """How many tests there were and where that is known from; empty where it is not known."""
    where = f" in {counted(reports.files, 'report')}" if reports.files else " named in the log"
    named = f"{counted(reports.tests, 'test')}{where}" if reports.tests else ""
    tallied = f"{counted(reports.counted, 'test')} counted in the log" if reports.counted else ""
    return " and ".join(filter(None, [named, tallied]))


def cause_checks(case: BuildResult) -> list[Check]:
    """A check for each failure that could be read."""
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


def metadata_of(case: BuildResult, note: str = "") -> dict[str, Any]:
    """The judgment's metadata: facts for the report, and all failures in the report's form."""
    outcome, done = case.outcome, case.outcome.last.completed
    logs = () if case.plan.system == REPORTED else (str(done.log),)
    ran = BuildRunFacts(
        compared=case.base is not None,
        tests=_test_facts(case),
        test_files=0 if _any_results(outcome.reports) else case.test_files,
        failures=_failure_counts(outcome.failures),
    )
    return {
        "subject": f"`{case.plan.without_setup}`",
        **RunFacts(case.plan.text, done.exit_code, logs).to_metadata(),
        **BuildFacts(note=note, ran=ran).to_metadata(),
        "system": case.plan.system,
        "stopped": done.stopped,
        "seconds": round(outcome.seconds, 1),
        "recognised_by": list(case.plan.reasons),
        "directory": case.plan.directory,
        "modules": list(case.plan.scope.modules),
        "scope": case.plan.scope.because,
        "fixed": [f.id for f in outcome.passing(case.base.failures)[:_MOST_LISTED]]
        if case.base
        else [],
        "ran_again": case.ran_again,
        "versions": dict(case.versions),
        "failures": [failure.as_json() for failure in case.ordered[:_MOST_LISTED]],
        "summaries": _summaries(case),
    }


def _test_facts(case: BuildResult) -> TestFacts | None:
    """How many tests ran, here and on the base; None where there are no test results."""
    base = case.base
    if not (_any_results(case.outcome.reports) or case.lost.count):
        return None
    lost = case.lost.count if base is not None and not case.blocking else None
    on_base = _counts(base) if base and _any_results(base.reports) else None
    return _counts(case.outcome, lost, on_base)


def _counts(side: PlanOutcome, lost: int | None = None, base: TestFacts | None = None) -> TestFacts:
    reports = side.reports
    sides = (side.failures, reports.failures)
    failed = max(sum(failure.kind == "test" for failure in failures) for failures in sides)
    return TestFacts(reports.run, failed, reports.skipped, lost, base)


def _any_results(reports: Results) -> bool:
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


def decide(case: BuildResult) -> Judgment:
    """Decide one build.

    PASS; FAIL for what the change breaks, and where the base is as broken and may hide what it
    breaks; ERROR where exit code 0 stands alone though there should be reports with it.
    """
    if not case.outcome.failed and not case.outcome.failures:
        return _green(case)
    if cause := case.outcome.environment:
        return _not_here(case, cause)
    if case.base is None:
        return _red(case, _causes(case.blocking or case.outcome.failures))
    if wrong := broken_command(case.plan, case.outcome, case.base):
        return not_tried(case.plan, *_misfit(case, wrong))
    return _beside_base(case, case.base)


def _not_here(case: BuildResult, cause: Failure) -> Judgment:
    """The ERROR of a build that cannot be done here, whatever the change is like."""
    remedy = remedy_for(cause, case.versions, case.known)
    tried = ", tried twice" if case.base is None and may_pass(cause) else ""
    why = f"{tried}, and the change is not to blame: {_clipped(cause.message)}"
    return _unbuilt(case, f"{why}. To have it judged: {remedy}", remedy)


def _unbuilt(case: BuildResult, why: str, remedy: str) -> Judgment:
    return Judgment.errored(
        f"it cannot be built here{why}.{_notes(case)}",
        checks=checks_of(case),
        metadata={**metadata_of(case), "reason": "environment", "remedy": remedy},
    )


def _beside_base(case: BuildResult, base: PlanOutcome) -> Judgment:
    """The judgment of a failed build whose base was built as well."""
    alike = case.outcome.ends_like(base)
    if alike and not case.outcome.failures:
        if cause := not_started(case.outcome):
            return _not_here(case, cause)
        return _base_broken(case, "what went wrong could not be read")
    flaky = any(failure.state == "flaky" for failure in case.outcome.failures)
    causes = case.blocking or case.outcome.failures
    if causes and all(map(lacks_service, causes)) and any(map(lacks_service, base.failures)):
        return _not_here(case, causes[0])
    if case.blocking or not (alike or flaky):
        return _red(case, _causes(causes))
    if case.plan.keep_going:
        return _base_broken(case, "there was no time to run it again without stopping at failures")
    lost = case.lost if case.options.vanished == "warn" else Vanished()
    doubt = unproven(case.plan, case.outcome, base, lost)
    return _base_broken(case, doubt) if doubt else _unless_vanished(case, _excused(case))


def _unless_vanished(case: BuildResult, passed: Judgment) -> Judgment:
    """The judgment, or the policy's answer where tests that ran on the base did not run here."""
    lost, ignored = case.lost, case.ignored
    if not lost.count and not ignored:
        return passed
    if not lost.count:
        return _unless_warned(case, passed, _ignored_words(ignored), FAILURES_IGNORED)
    words = f"{counted(lost.count, 'test')} that ran on the base did not run here{_first_of(lost)}"
    return _unless_warned(case, passed, words, TESTS_VANISHED)


def _ignored_words(ignored: int) -> str:
    return f"{counted(ignored, 'test')} failed by the log, and the command ended with exit code 0"


def _unless_warned(case: BuildResult, passed: Judgment, words: str, reason: str) -> Judgment:
    """The policy's answer to tests that did not run, or whose failure changes nothing."""
    if case.options.vanished == "warn":
        return replace(passed, reasoning=f"{words}; {passed.reasoning}")
    log = str(case.outcome.last.completed.log)
    metadata = {**passed.metadata, "log": log, "reason": reason}
    if case.options.vanished == "fail":
        failed = BooleanScore(value=False)
        return Judgment.failed(words, score=failed, checks=passed.checks, metadata=metadata)
    return Judgment.abstained(
        f"{words}. Check whether that is meant; nothing else failed.",
        reason,
        checks=passed.checks,
        metadata=metadata,
    )


def _excused(case: BuildResult) -> Judgment:
    """The PASS where all that failed fails on the base too, or is flaky and allowed."""
    failures = [failure for failure in case.outcome.failures if failure.kind != "goal"]
    old = sum(failure.state == "pre_existing" for failure in failures)
    lucky = len(failures) - old
    only_tests = all(failure.kind == "test" for failure in failures)
    what = f"{counted(old, 'test')} failed" if only_tests else counted(old, "failure")
    known = f"{what} as on the base" if old else ""
    luck = f"{counted(lucky, 'flaky test')} passed when run again" if lucky else ""
    words = " and ".join(filter(None, [known, luck]))
    note = unseen(case.plan, case.outcome)
    return Judgment.passed(
        f"{words}; every test of the base ran, and nothing else fails"
        f"{_causes(case.outcome.failures)}{_notes(case, note)}",
        score=BooleanScore(value=True),
        checks=checks_of(case),
        metadata=metadata_of(case, "pre_existing" if old else "flaky"),
    )


def _base_broken(case: BuildResult, doubt: str) -> Judgment:
    """The base fails in the same way, and that may hide what the change breaks."""
    if older := case.plan.older:
        return _unbuilt(case, f": neither the change nor the base builds: {older}", older)
    hidden = (
        ", and so did the base, which may hide what this change breaks: "
        f"{_clipped(doubt)}. Fix the base first.\n{_causes(case.outcome.failures)[2:]}"
    )
    return _red(case, hidden, reason=BASE_BROKEN)


def _misfit(case: BuildResult, wrong: str) -> tuple[str, str]:
    """What to do about a command that cannot work, and the reason code."""
    why = (
        f"`{case.outcome.last.step.text}` cannot work here, nor on the base: {_clipped(wrong)}. "
        "Usually the command is misspelt, or its tool is not installed. Correct "
        "`build: {command: …}` in .github/prjury.yml, or install the tool."
    )
    return why, "tool_missing"


def _red(case: BuildResult, why: str, **more: str) -> Judgment:
    return Judgment.failed(
        f"{_what_failed(case.outcome)}{why}{_notes(case)}",
        score=BooleanScore(value=False),
        checks=checks_of(case),
        metadata=metadata_of(case) | more,
    )


def _green(case: BuildResult) -> Judgment:
    """Exit code 0 and no failing test that was read; whether all were read is the question."""
    checks, metadata, noted = checks_of(case), metadata_of(case), _notes(case)
    took = "" if case.plan.system == REPORTED else f" in {duration(case.outcome.seconds)}"
    if doubt := next(_unbelieved(case), None):
        reason, why = doubt
        ended = "the build ended with exit code 0" if took else "no failing test was read"
        return Judgment.errored(
            f"{ended}, but {why}{noted}",
            checks=checks,
            metadata={**metadata, "reason": reason},
        )
    passed = Judgment.passed(
        f"passed{took}{noted}",
        score=BooleanScore(value=True),
        checks=checks,
        metadata={**metadata, "log": None},
    )
    return _unless_vanished(case, passed)


def _unbelieved(case: BuildResult) -> Iterator[tuple[str, str]]:
    """Why exit code 0 does not show that the tests passed: the reason's code and its words."""
    reports, own = case.outcome.reports, case.plan.system == CUSTOM
    if reports.problems:
        yield (
            "report_invalid",
            "not all of its test reports could be read, so that failing tests may hide there",
        )
    if reports.files and not (reports.tests or reports.counted) and (own or case.test_files):
        yield "report_invalid", "its test reports hold no test"
    if case.plan.reported and not reports.tests:
        missing = "the test report that it was asked to write is missing or empty"
        yield "report_missing", f"{missing}; probably something ended the tests before they ran"


def not_tried(plan: BuildPlan, why: str, reason: str) -> Judgment:
    """The ERROR of a build that could not be run."""
    which = {"command": plan.text, "system": plan.system, "directory": plan.directory}
    return Judgment.errored(why, metadata={"reason": reason, **which, **BuildFacts().to_metadata()})
