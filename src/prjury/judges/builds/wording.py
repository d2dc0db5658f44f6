"""Every sentence about a build, each whole and in one place. Pure."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence

from prjury.judges.builds.compare import Comparison, Gap, Vanished
from prjury.judges.builds.environment import Remedy, Snippet
from prjury.judges.builds.evidence import StepRun, TreeRun
from prjury.judges.builds.failure import Failure, Results
from prjury.judges.builds.plan import CUSTOM, REPORTED, BuildPlan
from prjury.report.wording import pluralize
from prjury.snapshot.model import visible

_MOST_NAMED = 5
_LONGEST_QUOTED = 160
_LONGEST_STEP = 60

BASE_KEPT = "what the base came to is known from an earlier run"
RUNNING_AGAIN = "running {} once more"
BUILDING_BASE = "building the base without the change"
EDITS_SETTINGS = "this change edits what decides which tests run: {}"
FROM_EVIDENCE = "built elsewhere, read from its evidence"
LACKING = "{} could not run: what they need is missing here, or does not answer"
TO_DO = " To have it judged: {}."
MORE_FAILURES = "{} more in the {}"
IGNORED = "{} failed by the log, and the command ended with exit code 0"
ASKED = "{}. Check whether that is meant; nothing else failed."
REPORTS_ALONE = (
    "{}, but nothing shows that these are the reports of all tests: name those of the base as "
    "well, or how the CI's job ended"
)
BASE_UNBUILDABLE = "it cannot be built here ({})"
BASE_SLOW = "an earlier commit of the base took longer than there is time for this one"
REVIEW_AGAIN = Snippet("sh", "a shell", "prjury review")
EVIDENCE_HOW = (
    "run `prjury build` where the change may be built, or `prjury evidence from-junit` on the "
    "reports of its CI, and name the file that it writes: "
    "`prjury review --evidence build-evidence.json`"
)
SILENCES = {
    "untested": "nothing is known of this change: with it and without it the build fails before a "
    "test runs: {}.",
    "unpassed": "nothing is known of this change: no test passes, with it or without it: {}.",
}
DISTURBED = (
    "it fails as the base fails now, but the base passed in an earlier run: the machine has "
    "changed since, or this change disturbs the base's build."
)
_LIMITS = {
    "output_limit": "printed more than 200 MiB and was stopped",
    "memory_limit": "used more than the memory that a build may have and was stopped",
    "process_limit": "started more processes than a build may have and was stopped",
    "disk_limit": "wrote more than 5 GiB and was stopped",
    "file_limit": "made more than 500,000 files and was stopped",
}
_GAPS = {
    "unknown": "the base could not be built: {}",
    "failed": "the base's build failed before a test ran: {}",
    "untested": "the base's build passed without a test result, though the base has tests",
    "partly": "the base's build broke off before all its tests had run: {}",
    "removed": "the build shows no test results, and this change removes {}",
}
_UNREAD = {
    "unread": "not all of its test reports could be read, so that failing tests may hide there",
    "empty": "its test reports hold no test",
    "missing": "the test report that it was asked to write is missing or empty; probably "
    "something ended the tests before they ran",
}
STATES = {
    "new": "",
    "pre_existing": " (on the base as well)",
    "environment": " (the environment, not the code)",
    "flaky": " (flaky: it failed, and passed when run again)",
}


def quote(text: str) -> str:
    """A line of a build's output, short enough for a sentence."""
    line = text.strip().rstrip(".")
    return line if len(line) <= _LONGEST_QUOTED else f"{line[:_LONGEST_QUOTED]}…"


def format_duration(seconds: float) -> str:
    """Seconds up to a minute and a half, then minutes."""
    if seconds < 90:  # noqa: PLR2004 - one and a half minutes
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"  # noqa: PLR2004
    return f"{seconds / 60:.0f} min"


def join_names(names: Sequence[str], most: int = _MOST_NAMED) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def say_base_stopped(limit: str | None) -> str:
    how = f"stopped ({limit})" if limit else "ended by a signal"
    return f"its own build was {how}"


def describe_end(run: TreeRun) -> str:
    step = run.deciding_step
    which = f"{step.name}: " if len(run.steps) > 1 else ""
    nothing = ": pytest found no tests" if step.collects_nothing else ""
    return f"{which}{_explain_end(step, run.allowed)}{nothing}"


def _explain_end(step: StepRun, allowed_seconds: float) -> str:
    if step.stopped == "timeout":
        return f"did not finish within {format_duration(allowed_seconds)}"
    if step.stopped:
        return _LIMITS.get(step.stopped, f"was stopped ({step.stopped})")
    if not step.exit_code:
        return "its test reports hold failures"
    if step.exit_code < 0:
        names = {one.value: one.name for one in signal.Signals}
        return f"killed by {names.get(-step.exit_code, f'signal {-step.exit_code}')}"
    return f"failed with exit code {step.exit_code}"


def describe_first_failure(failures: Sequence[Failure]) -> str:
    if not failures:
        return ""
    first = failures[0]
    where = first.place or first.name or ""
    where = "" if first.message.startswith(where) else f"{where}: "
    others = sum(one.kind != "goal" and one.state != "environment" for one in failures[1:])
    return f"{where}{first.message}{f' (and {others} more)' if others else ''}"


def join_notes(comparison: Comparison) -> str:
    notes = list(filter(None, _list_notes(comparison)))
    return f" ({'; '.join(notes)})" if notes else ""


def _list_notes(comparison: Comparison) -> Iterator[str]:
    plan, run = comparison.plan, comparison.run
    if plan.modules:
        yield f"only what the change affects: {visible(join_names(plan.modules))}"
    if run.versions:
        yield "with " + ", ".join(f"{tool} {version}" for tool, version in run.versions.items())
    yield from plan.notes
    for step in comparison.outcome.steps:
        if step.may_fail and not step.good:
            yield f"`{step.command[:_LONGEST_STEP]}` failed, and the tests ran all the same"
    tests = [f"`{step.text}` ({step.why})" for step in plan.left_out if step.tests]
    if tests:
        yield f"tests of the CI that are not run here: {join_names(tests, 3)}"
    unknown = [f"`{step.text}`" for step in plan.left_out if step.kind == "unknown"]
    if unknown:
        yield f"no step of the CI is known to test; it runs {join_names(unknown, 3)}"
    yield from comparison.outcome.results.problems[:3]
    if run.base_commit:
        yield f"compared with {run.base_commit[:12]}, an earlier commit of the base"
    if run.base_unknown:
        yield f"the base could not be compared with: {run.base_unknown}"
    if run.withheld and comparison.fault:
        yield f"not handed to the build, since they hold credentials: {join_names(run.withheld, 3)}"


def say_passed(comparison: Comparison) -> str:
    if comparison.plan.system == REPORTED:
        return "passed"
    took, base = format_duration(comparison.outcome.seconds), comparison.base
    built = base is not None and not comparison.run.base_kept and not comparison.run.base_commit
    beside = f", the base in {format_duration(base.seconds)}" if base and built else ""
    return f"passed in {took}{beside}"


def say_failed(comparison: Comparison) -> str:
    counting = [one for one in comparison.worst_first if not comparison.excuses(one)]
    causes = describe_first_failure(counting or comparison.outcome.failures)
    why = f": {causes}" if causes else ""
    return f"{describe_end(comparison.outcome)}{why}"


def say_base_broken(comparison: Comparison) -> str:
    causes = describe_first_failure(comparison.outcome.failures)
    return (
        f"{describe_end(comparison.outcome)}, and so did the base, which may hide what this change "
        f"breaks. Fix the base first.\n{causes}"
    )


def say_old_or_flaky(comparison: Comparison) -> str:
    failures = [one for one in comparison.outcome.failures if one.kind != "goal"]
    old = sum(one.state == "pre_existing" for one in failures)
    flaky = sum(one.state == "flaky" for one in failures)
    only_tests = all(one.kind == "test" for one in failures)
    what = f"{pluralize(old, 'test')} failed" if only_tests else pluralize(old, "failure")
    words = [f"{what} as on the base"] if old else []
    words += [f"{pluralize(flaky, 'flaky test')} passed when run again"] if flaky else []
    causes = describe_first_failure(comparison.outcome.failures)
    return f"{' and '.join(words)}; nothing else fails: {causes}"


def say_unread(comparison: Comparison, code: str) -> str:
    has_end = comparison.plan.system != REPORTED
    ended = "the build ended with exit code 0" if has_end else "no failing test was read"
    return f"{ended}, but {_UNREAD[code]}"


def say_vanished(lost: Vanished) -> str:
    link = ", such as" if lost.count > 1 else ":"
    example = f"{link} {quote(lost.names[0])}" if lost.names else ""
    return f"{pluralize(lost.count, 'test')} that ran on the base did not run here{example}"


def say_not_compared(comparison: Comparison, gap: Gap) -> str:
    base = comparison.base
    detail = comparison.run.base_unknown or comparison.removed_test
    if base and gap != "removed":
        detail = describe_first_failure(base.failures) or describe_end(base)
    why = _GAPS[gap].format(quote(detail))
    repairs = "this change repairs the base's build, so" if gap in {"failed", "partly"} else "so"
    return f"tests not compared: {why}; {repairs} nobody can say which tests of the base are lost"


def say_elsewhere(comparison: Comparison, cause: str) -> str:
    if comparison.silence == "unpassed":
        return SILENCES["unpassed"].format(quote(cause))
    twice = ", tried twice" if comparison.fault and comparison.fault.passes else ""
    twice = ", nor can the base" if comparison.silence else twice
    return f"it cannot be built here{twice}, and the change is not to blame: {quote(cause)}."


def make_default_remedy(comparison: Comparison) -> tuple[str, Snippet]:
    """The remedy of a build that fails on both sides for a reason that no row knows."""
    plan, base = comparison.plan, comparison.base
    place = next((one.place for one in comparison.outcome.failures if one.path), "")
    if plan.older:
        return plan.older, Snippet(text="build: {from: checks}")
    command = (plan.text if plan.system == CUSTOM else plan.without_setup).replace('"', '\\"')
    snippet = Snippet(text=f'build: {{command: "{command}"}}')
    if place and base and any(one.kind == "compile" for one in base.failures):
        return f"repair {place} on the base first, or build another part by the policy", snippet
    return (
        "correct the command, `build: {command: …}` in .github/prjury.yml, or install what it needs"
    ), snippet


def say_remedy(remedy: Remedy, plan: BuildPlan) -> str:
    """The remedy, with the services that the CI has and that are not here."""
    services = [step.text for step in plan.left_out if step.kind == "services"]
    asks = "services:" in remedy.snippet.text and services
    return f"{remedy.words}: {join_names(services)}" if asks else remedy.words


def describe_tests(results: Results) -> str:
    where = f" in {pluralize(results.files, 'report')}" if results.files else " named in the log"
    listed = f"{pluralize(results.tests, 'test')}{where}" if results.tests else ""
    tallied = f"{pluralize(results.counted, 'test')} counted in the log" if results.counted else ""
    return " and ".join(filter(None, [listed, tallied]))


def describe_failed(failed: int, run: TreeRun) -> str:
    """Count the failed tests; a log whose step ended well is not searched for failures."""
    good = run.deciding_step.good
    if failed or (run.results.files and good):
        return f"{failed} failed"
    return "and the exit code says that none failed" if good else "but the build failed"


def describe_step(step: StepRun) -> str:
    if step.exit_code is None:
        return f"`{step.command}`: how it ended is not known"
    ended = f"stopped: {step.stopped}" if step.stopped else f"exit code {step.exit_code}"
    return f"`{step.command}`: {ended}, {format_duration(step.seconds)}"


def describe_failure(failure: Failure, history: tuple[int, int] | None) -> str:
    prefix = f"{failure.name}: " if failure.name and failure.kind == "test" else ""
    before = f" (failed on {history[0]} of the last {history[1]} bases)" if history else ""
    return f"{prefix}{failure.message}{STATES[failure.state]}{before}"
