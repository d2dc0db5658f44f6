"""Decide the judgment of one build, and of several builds of one tree. Pure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from prjury.judges.builds import wording
from prjury.judges.builds.calls import WORDS
from prjury.judges.builds.compare import (
    PASSED,
    Comparison,
    Silence,
    Vanished,
    may_hide_new_failures,
)
from prjury.judges.builds.environment import Snippet, find_remedy, make_reason_facts
from prjury.judges.builds.evidence import TreeRun
from prjury.judges.builds.failure import Failure
from prjury.judges.builds.plan import CUSTOM, REPORTED, BuildPlan
from prjury.jury.judgment import Check, Judgment, Location, Severity, Status
from prjury.jury.score import BooleanScore
from prjury.report.judge_facts import (
    BASE_BROKEN,
    FAILURES_IGNORED,
    NO_COMPARISON,
    TESTS_VANISHED,
    BuildFacts,
    RunFacts,
    TestFacts,
)
from prjury.report.wording import pluralize
from prjury.snapshot.model import PullRequest, visible

_MOST_LISTED = 200
_MOST_QUOTED = 3
_SHORTEST_WORD = 3
#: Checks by the kind of a failure; a broken goal or a last word only follows from the others.
_NAMES = {"compile": "compiles", "test": "test", "goal": "build-goal", "error": "build-error"}
_MORE_TIME = Snippet(text="limits: {wall: 90m}")
_VANISHED_WARN = Snippet(text="build: {vanished: warn}")


def decide(comparison: Comparison) -> Judgment:
    """Decide one build: ERROR if nothing is known of the change, ABSTAIN if tests may be lost."""
    outcome = comparison.outcome
    attempts = outcome.results.flaky  # the runner itself ran them again, and they passed
    if not outcome.failed and all(one in attempts for one in outcome.failures):
        return _decide_green_run(comparison)
    if cause := find_lack(comparison):
        return _err_for_environment(comparison, cause)
    if comparison.base is None:
        return _make(comparison, Status.FAIL, wording.say_failed(comparison))
    if comparison.silence == "untested":
        return _decide_silence(comparison, comparison.silence)
    flaky = any(failure.state == "flaky" for failure in outcome.failures)
    alike = outcome.ends_like(comparison.base)
    if comparison.blocking or not (alike or flaky or not outcome.deciding_step.exit_code):
        return _make(comparison, Status.FAIL, wording.say_failed(comparison))
    return _decide_old_failures(comparison)


def _decide_old_failures(comparison: Comparison) -> Judgment:
    failures = comparison.outcome.failures
    if comparison.run.disturbed:
        remedy = ("review it once more", wording.REVIEW_AGAIN)
        return _err(comparison, wording.DISTURBED, "environment", *remedy)
    if not failures or may_hide_new_failures(comparison):
        words = wording.say_base_broken(comparison)
        return _make(comparison, Status.FAIL, words, reason=BASE_BROKEN)
    if comparison.silence:
        return _decide_silence(comparison, comparison.silence)
    old = any(failure.state == "pre_existing" for failure in failures)
    note, words = "pre_existing" if old else "flaky", wording.say_old_or_flaky(comparison)
    return _weaken_pass_if_doubtful(comparison, _make(comparison, Status.PASS, words, note=note))


def _decide_silence(comparison: Comparison, silence: Silence) -> Judgment:
    causes = wording.quote(wording.describe_first_failure(comparison.outcome.failures))
    words = wording.SILENCES[silence].format(causes)
    return _err(comparison, words, BASE_BROKEN, *wording.make_default_remedy(comparison))


def find_lack(comparison: Comparison) -> Failure | None:
    """The machine's lack, if nothing fails newly."""
    failures = comparison.outcome.failures
    if any(one.state == "new" and one.kind != "goal" for one in failures):
        return None
    return next((one for one in failures if one.state == "environment"), None)


def _decide_green_run(comparison: Comparison) -> Judgment:
    """Exit code 0 and no failing test that was read; whether all were read is the question."""
    results, own = comparison.outcome.results, comparison.plan.system == CUSTOM
    code, reason = "", "report_invalid"
    if results.problems:
        code = "unread"
    elif results.files and not results.run and not results.tests and (own or comparison.test_files):
        code = "empty"
    elif comparison.plan.has_report and not results.tests:
        code, reason = "missing", "report_missing"
    if code:
        words = wording.say_unread(comparison, code)
        snippet = Snippet(text='build: {command: "…", junit: ["**/TEST-*.xml"]}')
        return _err(comparison, words, reason, "", snippet)
    passed = _make(comparison, Status.PASS, wording.say_passed(comparison), log=None)
    if comparison.shows_reports_alone:
        return doubt(passed, wording.REPORTS_ALONE.format(passed.reasoning), "reports_alone")
    return _weaken_pass_if_doubtful(comparison, passed)


def _weaken_pass_if_doubtful(comparison: Comparison, passed: Judgment) -> Judgment:
    if comparison.lost.count:
        words, reason = wording.say_vanished(comparison.lost), TESTS_VANISHED
    elif comparison.ignored:
        words = wording.IGNORED.format(pluralize(comparison.ignored, "test"))
        reason = FAILURES_IGNORED
    elif gap := comparison.why_not_compared:
        words, reason = wording.say_not_compared(comparison, gap), NO_COMPARISON
    else:
        return passed
    return _lower_by_option(comparison, passed, words, reason)


def _lower_by_option(comparison: Comparison, passed: Judgment, words: str, reason: str) -> Judgment:
    if comparison.options.vanished == "warn":
        note = {"note": reason} if reason == NO_COMPARISON else {}
        return replace(passed, reasoning=f"{words}; {passed.reasoning}").with_metadata(**note)
    log = comparison.outcome.deciding_step.log or None
    if comparison.options.vanished == "fail":
        score = BooleanScore(value=False)
        failed = replace(passed, status=Status.FAIL, reasoning=words, score=score)
        return failed.with_metadata(log=log, reason=reason)
    late = comparison.run.base_unknown == wording.say_base_stopped("timeout")
    snippet = _MORE_TIME if late else _VANISHED_WARN
    return doubt(passed, wording.ASKED.format(words), reason, snippet, log=log)


def _err_for_environment(comparison: Comparison, cause: Failure) -> Judgment:
    lines = [cause.message, *cause.details.splitlines()]
    remedy = comparison.fault or find_remedy(lines, comparison.paths, comparison.run.versions)
    line = remedy.line if remedy else cause.message
    is_sure = remedy and (remedy.strict or remedy.download)
    misspelt = not is_sure and _is_misspelt(comparison, line)
    advice, snippet = wording.make_default_remedy(comparison)
    if remedy and not misspelt:
        advice, snippet = wording.say_remedy(remedy, comparison.plan), remedy.snippet
    reason = "tool_missing" if misspelt else "environment"
    return _err(comparison, wording.say_elsewhere(comparison, line), reason, advice, snippet)


def _is_misspelt(comparison: Comparison, line: str) -> bool:
    """The tool complains about a word of the policy's own command, which works on neither side."""
    if comparison.plan.system != CUSTOM or comparison.silence != "untested":
        return False
    texts = (line, comparison.outcome.deciding_step.command)
    complaint, words = ({word.strip("'\"`‘’.,:") for word in text.split()} for text in texts)
    return any(len(word) > _SHORTEST_WORD for word in complaint & words)


def _make(comparison: Comparison, status: Status, words: str, **more: Any) -> Judgment:  # noqa: ANN401 - JSON
    score = None if status is Status.ERROR else BooleanScore(value=status is Status.PASS)
    metadata = {**make_metadata(comparison), **more}
    words += wording.join_notes(comparison)
    return Judgment(status, words, score, checks=make_checks(comparison), metadata=metadata)


def _err(comparison: Comparison, words: str, reason: str, to_do: str, snippet: Snippet) -> Judgment:
    if to_do:
        words += wording.TO_DO.format(to_do)
    return _make(comparison, Status.ERROR, words, **make_reason_facts(reason, snippet, to_do))


def decide_untried(plan: BuildPlan, why: str, reason: str) -> Judgment:
    which = {"command": plan.text, "system": plan.system, "directory": plan.directory}
    wants = [(wish.tool, wish.version) for wish in plan.wants]
    metadata = {**make_reason_facts(reason, wants=wants), **which, **BuildFacts().to_metadata()}
    return Judgment.errored(why, metadata=metadata)


def make_checks(comparison: Comparison) -> tuple[Check, ...]:
    """Each command, the tests, then each failure and how many there are beside those listed."""
    checks = []
    for step in comparison.outcome.steps:
        words, evidence = wording.describe_step(step), step.tail
        if not step.good:
            lines = [one for one in evidence.splitlines() if not one.lstrip().startswith(PASSED)]
            causes = [one for one in comparison.worst_first if one.kind != "goal"][:_MOST_QUOTED]
            texts = [": ".join(filter(None, (o.place or o.name, o.shown))) for o in causes]
            evidence = "\n\n".join(texts) or "\n".join(lines) or evidence
        checks.append(Check("build-executed", step.good, words, evidence=evidence or None))
    checks += [*_make_test_totals_check(comparison), *_make_failing_comparison_checks(comparison)]
    return (*checks, *check_causes(comparison))


def _make_test_totals_check(comparison: Comparison) -> tuple[Check, ...]:
    outcome, results = comparison.outcome, comparison.outcome.results
    failing = [one for one in outcome.failures if one.kind == "test" and one.state != "flaky"]
    failed = max(len(failing), len(results.failures))
    if totals := wording.describe_tests(results):
        skipped = f", {results.skipped} skipped" if results.skipped else ""
        message = f"{totals}, {wording.describe_failed(failed, outcome)}{skipped}"
    elif not comparison.plan.tests or (not outcome.deciding_step.good and not failing):
        return ()
    else:
        message = f"{failed} failed" if failing else "no test reports; the exit code says so"
    return (Check("tests-passed", not failed and outcome.deciding_step.good, message),)


def _make_failing_comparison_checks(comparison: Comparison) -> Iterator[Check]:
    """Yield what speaks against the tests: those that did not run, by name, or no comparison."""
    severity: Severity = "error" if comparison.options.vanished == "fail" else "warning"
    lost = comparison.lost
    if lost.count:
        rest = len(lost.names) - _MOST_LISTED
        names = [*lost.names[:_MOST_LISTED], *([f"… and {rest} more"] if rest > 0 else [])]
        words, evidence = wording.say_vanished(Vanished(count=lost.count)), "\n".join(names) or None
        yield Check(
            "tests-vanished", passed=False, message=words, severity=severity, evidence=evidence
        )
    green = not comparison.outcome.failed and not comparison.blocking
    if green and (gap := comparison.why_not_compared):
        words = wording.say_not_compared(comparison, gap)
        yield Check("comparison", passed=False, message=words, severity=severity)


def check_causes(comparison: Comparison) -> list[Check]:
    """A check for each failure that could be read; one for all tests that lack a service."""
    failures = comparison.worst_first
    lacking = [one for one in failures if one.kind == "test" and one.state == "environment"]
    checks = []
    if lacking:
        names = "\n".join(one.name or one.id for one in lacking[:_MOST_LISTED])
        words = wording.LACKING.format(pluralize(len(lacking), "test"))
        checks.append(
            Check("environment", passed=False, message=words, severity="warning", evidence=names)
        )
    others = [one for one in failures if one not in lacking]
    for failure in others[:_MOST_LISTED]:
        located = failure.path in comparison.paths and failure.path
        excused = comparison.excuses(failure) or failure not in comparison.blocking
        checks.append(
            Check(
                _NAMES[failure.kind],
                passed=False,
                message=wording.describe_failure(failure, comparison.run.history.get(failure.id)),
                location=Location(failure.path or "", failure.line) if located else None,
                severity="warning" if excused else "error",
                evidence=failure.shown,
            )
        )
    if rest := others[_MOST_LISTED:]:
        place = "reports" if comparison.plan.system == REPORTED else "log"
        words = wording.MORE_FAILURES.format(len(rest), place)
        severity: Severity = "warning" if all(map(comparison.excuses, rest)) else "error"
        checks.append(Check("more-failures", passed=False, message=words, severity=severity))
    return checks


def make_metadata(comparison: Comparison) -> dict[str, Any]:
    """The judgment's metadata: facts for the report, and all failures in the report's form."""
    plan, outcome, run = comparison.plan, comparison.outcome, comparison.run
    last = outcome.deciding_step
    logs = (last.log,) if last.log else ()
    facts = BuildFacts(
        compared=comparison.base is not None,
        tests=_count_tests(comparison),
        test_files=0 if outcome.results.has_tests else comparison.test_files,
        failures=_sum_failures([{one.state: {one.kind: 1}} for one in outcome.failures]),
    )
    has_causes = any(one.kind in {"compile", "test"} for one in outcome.failures)
    follow = [name for kind, name in _NAMES.items() if kind in {"goal", "error"}]
    return {
        "subject": f"`{plan.without_setup}`",
        **RunFacts(plan.text, last.exit_code, logs).to_metadata(),
        **facts.to_metadata(),
        "system": plan.system,
        "stopped": last.stopped,
        "seconds": round(outcome.seconds, 1),
        "recognised_by": list(plan.reasons),
        "directory": plan.directory,
        "modules": list(plan.modules),
        "ran_again": run.retry is not None,
        "versions": dict(run.versions),
        "failures": [failure.as_json() for failure in comparison.worst_first[:_MOST_LISTED]],
        "summaries": ["build-executed", "tests-passed", *(follow if has_causes else ())],
        **({"base_commit": run.base_commit} if run.base_commit else {}),
    }


def _count_tests(comparison: Comparison) -> TestFacts | None:
    base, outcome = comparison.base, comparison.outcome
    if not (outcome.results.has_tests or comparison.lost.count):
        return None
    compared = base is not None and not comparison.blocking and not comparison.why_not_compared
    base_tests = _count_side(base) if base and base.results.has_tests else None
    return _count_side(outcome, comparison.lost.count if compared else None, base_tests)


def _count_side(run: TreeRun, lost: int | None = None, base: TestFacts | None = None) -> TestFacts:
    failing = sum(one.kind == "test" and one.state != "flaky" for one in run.failures)
    in_reports = sum(failure.kind == "test" for failure in run.results.failures)
    return TestFacts(run.results.run, max(failing, in_reports), run.results.skipped, lost, base)


def _is_ci_configuration(path: str) -> bool:
    """True for a file by which a change chooses its own checks, or the build that judges it."""
    lowered = path.lower()
    name = lowered.rpartition("/")[2]
    stem, _, suffix = name.removeprefix(".").rpartition(".")
    if lowered.startswith(tuple(WORDS["ci_directories"])) or name in {"action.yml", "action.yaml"}:
        return True
    in_root = "/" not in lowered and stem in WORDS["ci_files"] and suffix in {"yml", "yaml", "star"}
    return in_root or name.startswith("jenkinsfile")


def list_touched(pull: PullRequest) -> tuple[str, ...]:
    return tuple(path for file in pull.files for path in (file.path, file.old_path) if path)


def abstain_if_ci_edited(judgment: Judgment, pull: PullRequest) -> Judgment:
    """The judgment, or ABSTAIN instead of a PASS by checks that the change itself defines."""
    edited = next(filter(_is_ci_configuration, list_touched(pull)), None)
    if edited is None or judgment.status is not Status.PASS:
        return judgment
    words = (
        f"this change edits {visible(edited)}, which says what is run elsewhere. All passed "
        f"there, but by the change's own rules, so look at it. {judgment.reasoning}"
    )
    return doubt(judgment, words, "build_changed")


def doubt(
    judgment: Judgment, words: str, reason: str, snippet: Snippet | None = None, **more: object
) -> Judgment:
    """The ABSTAIN in the place of a judgment, whose checks and facts stay."""
    metadata = {**judgment.metadata, **make_reason_facts(reason, snippet), **more}
    return Judgment.abstained(words, reason, checks=judgment.checks, metadata=metadata)


WORST_FIRST = (Status.FAIL, Status.ERROR, Status.ABSTAIN, Status.PASS)


def combine_judgments(judgments: Sequence[Judgment], notes: Sequence[str] = ()) -> Judgment:
    """One judgment: the worst status, and the words and checks of all, the worst first."""
    ordered = sorted(judgments, key=lambda judgment: WORST_FIRST.index(judgment.status))
    worst = ordered[0]
    words = [judgment.reasoning for judgment in ordered]
    if len(ordered) > 1:
        words.clear()
        for judgment in ordered:
            directory = judgment.metadata.get("directory")
            where = f" in {directory}" if directory else ""
            words.append(f"{judgment.metadata.get('system', 'build')}{where}: {judgment.reasoning}")
    reasoning = "; ".join([*(text.removesuffix(".") for text in words[:-1]), words[-1]])
    voted = worst.status in {Status.PASS, Status.FAIL}
    return Judgment(
        worst.status,
        f"{reasoning} ({'; '.join(notes)})" if notes else reasoning,
        BooleanScore(worst.status is Status.PASS) if voted else None,
        label=worst.label,
        checks=tuple(check for judgment in ordered for check in judgment.checks),
        metadata=_merge_metadata(ordered) if len(ordered) > 1 else worst.metadata,
    )


def _merge_metadata(worst_first: Sequence[Judgment]) -> dict[str, Any]:
    every = [judgment.metadata for judgment in worst_first]
    counts = [metadata["tests"] for metadata in every if metadata.get("tests")]
    tests: dict[str, Any] = _sum_counts(counts) if counts else {}
    if tests:  # what one build does not know is not known
        lost = [each["vanished"] for each in counts]
        bases = [each["base"] for each in counts]
        tests["vanished"] = None if None in lost else sum(lost)
        tests["base"] = _sum_counts(bases) if all(bases) else None
    builds = [{**judgment.metadata, "status": judgment.status.value} for judgment in worst_first]
    for build in builds:
        build.pop("failures", None)
    return {
        **every[0],
        "subject": ", ".join(str(one["subject"]) for one in every if "subject" in one),
        "command": "; ".join(str(one.get("command", "")) for one in every),
        "failures": [failure for one in every for failure in one.get("failures", ())],
        "failure_counts": _sum_failures([one.get("failure_counts") or {} for one in every]),
        "tests": tests or None,
        "test_files": 0 if tests else max(one.get("test_files") or 0 for one in every),
        "builds": builds,
    }


def _sum_counts(every: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    return {key: sum(counts[key] for counts in every) for key in ("run", "failed", "skipped")}


def _sum_failures(every: Sequence[Mapping[str, Mapping[str, int]]]) -> dict[str, dict[str, int]]:
    totals: dict[str, Counter[str]] = {}
    for counts in every:
        for state, kinds in counts.items():
            totals.setdefault(state, Counter()).update(kinds)
    return {state: dict(total) for state, total in totals.items()}


def abstain_if_build_lost(
    judgment: Judgment, merged: Sequence[BuildPlan], base: Sequence[BuildPlan]
) -> Judgment:
    """The judgment, or ABSTAIN where the change replaces a tested build that the base has."""
    lost = [plan for plan in base if plan.tests and not any(one.covers(plan) for one in merged)]
    if not lost:
        return judgment
    builds = [plan for plan in merged if plan.directory == lost[0].directory] or list(merged)
    now = f"{builds[0].system}, `{builds[0].without_setup}`" if builds else "nothing"
    snippet = Snippet(text=f"build: {{command: {json.dumps(lost[0].text)}}}")
    words = (
        f"this change replaces the build that judges it: the base is tested by {lost[0].system}, "
        f"`{lost[0].without_setup}`, the merged tree by {now}, which passed. Look at it, or name "
        f"the build in the policy: `build: {{command: {lost[0].text}}}`."
    )
    return doubt(judgment, words, "build_changed", snippet)


def note_untested_base(merged: Sequence[BuildPlan], base: Sequence[BuildPlan]) -> tuple[str, ...]:
    """The notes where the base has no build, or one without tests."""
    if not base:
        return ("no build was recognised on the base",)
    untested = {plan.directory: plan for plan in base if not plan.tests}
    return tuple(
        f"the base's own build, `{untested[plan.directory].without_setup}`, has no tests"
        for plan in merged
        if plan.tests and plan.directory in untested
    )
