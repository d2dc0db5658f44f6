"""Judge by the checks of the head, which build elsewhere: wait for them and read them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from glob import escape
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError, SourceError
from prjury.judges.builds.compare import compare
from prjury.judges.builds.decide import abstain_if_ci_edited, combine_judgments, decide, doubt
from prjury.judges.builds.environment import Snippet, make_reason_facts
from prjury.judges.builds.evidence import Run
from prjury.judges.builds.external_builds import make_reported_run, parse_ci_reports, tree_of
from prjury.judges.builds.failure import Results
from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.wording import format_duration, join_names
from prjury.judges.builds.workplace import list_paths
from prjury.jury.judgment import Check, Judgment, Severity, Status
from prjury.jury.score import BooleanScore
from prjury.policy.tiers import BuildOptions
from prjury.ports import Checks, Ports
from prjury.ports.types import CheckResult
from prjury.report.judge_facts import BASE_BROKEN, BuildFacts
from prjury.report.wording import pluralize
from prjury.snapshot.model import PullRequest, visible

_TABLE = msgspec.json.decode(
    Path(__file__).with_name("checks.json").read_bytes(), type=dict[str, tuple[str, ...]]
)
#: How artifacts with JUnit reports are usually called.
USUAL_ARTIFACTS = _TABLE["artifacts"]
#: What reports checks and neither builds nor tests: coverage and quality gates, licence agreements,
#: previews, and bots that look after dependencies or queues.
NO_BUILDS = _TABLE["no_builds"]

#: Looks in a row at which nothing runs and nothing changes: what is missing never comes.
_MOST_IDLE = 8
#: Seconds after which nothing more begins on a commit whose checks have ended.
_QUIET = 60.0
_MOST_CHECKS = 50
_LONGEST_NAME = 100
_BUILD_HERE = Snippet(text="build: {from: run}")
_LONGER = Snippet(text="build: {timeout: 60m}")
#: GitHub accepts neutral and skipped ones for a required check; here they prove nothing.
_ENDS: Mapping[str | None, str] = {
    None: "pending", "success": "succeeded", "neutral": "silent", "skipped": "silent",
    **dict.fromkeys(("failure", "timed_out", "startup_failure", "error"), "failed"),
}  # fmt: skip
#: The policy's option: names, each ``name`` or ``app:name``, or a word for every check.
Wanted = Sequence[str] | Literal["auto", "all"]


def matches_check(pattern: str, run: CheckResult) -> bool:
    """True if a check has this name, or ``app:name``; ``*`` stands for any text."""
    app, colon, name = pattern.partition(":")
    plain = all(sign.isascii() and (sign.isalnum() or sign in "_@*.[]-") for sign in app)
    pairs = [(pattern, run.name)]
    if colon and app and plain and name[:1].strip():
        pairs = [(app, run.app), (name, run.name)]
    return all(fnmatchcase(text, escape(like).replace("[*]", "*")) for like, text in pairs)


class CheckSummary(Struct, frozen=True):
    """The checks of a commit that count, by their ends; `names` are those that the policy wants.

    Under a name of `unproved` nothing succeeded; without names one success is enough.
    """

    runs: tuple[CheckResult, ...] = ()
    names: tuple[str, ...] = ()
    left_out: tuple[CheckResult, ...] = ()
    failed: tuple[CheckResult, ...] = ()
    pending: tuple[CheckResult, ...] = ()
    succeeded: tuple[CheckResult, ...] = ()
    undecided: tuple[CheckResult, ...] = ()
    missing: tuple[str, ...] = ()
    unproved: tuple[str, ...] = ()

    @classmethod
    def of(cls, runs: Sequence[CheckResult], wanted: Wanted = "all") -> CheckSummary:
        """Choose the checks that count, and sort them."""
        names = () if isinstance(wanted, str) else tuple(dict.fromkeys(wanted))
        left_out = _select(runs, NO_BUILDS) if wanted == "auto" else ()
        counting = [run for run in runs if run not in left_out]
        counting = list(_select(runs, names)) if names else counting
        failed, pending, succeeded, undecided = (
            tuple(run for run in counting if _ENDS.get(run.conclusion, "undecided") == end)
            for end in ("failed", "pending", "succeeded", "undecided")
        )
        by_end = (failed, pending, succeeded, undecided)
        missing = tuple(name for name in names if not _select(counting, [name]))
        unproved = tuple(name for name in names if not _select(succeeded, [name]))
        if not (names or succeeded):
            unproved = tuple(dict.fromkeys(run.name for run in counting))
        return cls(tuple(counting), names, left_out, *by_end, missing, unproved)

    @property
    def tested_base(self) -> str | None:
        """The base that all were merged with; empty if one ran on the head alone, None if open."""
        bases = {run.base for run in self.succeeded}
        if "" in bases:
            return ""
        return bases.pop() if len(bases) == 1 else None

    @property
    def complete(self) -> bool:
        """Everything that is wanted is there and has ended."""
        return bool(self.runs) and not self.pending and not self.missing


def _select(runs: Sequence[CheckResult], patterns: Sequence[str]) -> tuple[CheckResult, ...]:
    return tuple(run for run in runs if any(matches_check(pattern, run) for pattern in patterns))


def wait_and_judge_by_checks(
    options: BuildOptions, ports: Ports, pull: PullRequest, deadline: Deadline
) -> Judgment:
    """Judge by the checks of the head, once all of them have ended or the time is over."""
    if ports.checks is None:
        words = f"the checks of the head cannot be read: {ports.checks_missing}"
        return Judgment.errored(words, metadata=make_reason_facts("no_checks_source", _BUILD_HERE))
    begun, checks = deadline.remaining, _RemoteChecks(options, ports, ports.checks, pull, deadline)
    try:
        summary = CheckSummary.of(checks.wait_for_checks(), options.checks)
    except SourceError as error:
        return Judgment.errored(str(error), metadata={"reason": error.reason})
    judgment = decide_by_checks(pull, summary, begun - deadline.remaining)
    if summary.pending or not summary.runs:
        return judgment
    tested = None
    if outcome := checks.fetch_reports_as_run(passed=not summary.failed):
        paths = list_paths(ports.repository, tree_of(pull))
        tested = decide(compare(*outcome, paths, options))
    if summary.failed:
        judgment = checks.explain_failure_with_base(judgment, summary, tested)
    judgments = [judgment] if tested is None else [tested, judgment]
    combined = combine_judgments(judgments[:: -1 if summary.failed else 1], checks.notes)
    return abstain_if_ci_edited(combined.with_metadata(**_make_facts(summary)), pull)


class _RemoteChecks(Struct, frozen=True):
    """What ran elsewhere on the head and on the base; `notes` say what could not be read."""

    options: BuildOptions
    ports: Ports
    checks: Checks
    pull: PullRequest
    deadline: Deadline
    notes: list[str] = []

    def wait_for_checks(self) -> Sequence[CheckResult]:
        """Return the last look at the checks of the head."""
        commit, names = self.pull.head.sha, self.options.checks
        looks: list[Sequence[CheckResult]] = []
        for look in self.checks.poll(commit, self.deadline):
            looks = [*looks[1 - _MOST_IDLE :], look]
            if may_stop_waiting(looks, names, time.time()):
                break
            summary = CheckSummary.of(look, names)
            what = _list_runs(summary.pending) or _quote_names(summary.missing) or "more checks"
            self.ports.progress.say(f"waiting for {what} of {commit[:12]}")
        return looks[-1] if looks else ()

    def fetch_reports_as_run(self, *, passed: bool) -> tuple[BuildPlan, Run] | None:
        """Read reports of both sides; what is wrong with artifacts not asked for is but a note."""
        usual, sides = self.options.artifacts == "auto", list[Results]()
        names = USUAL_ARTIFACTS if usual else self.options.artifacts
        head, base, repository = self.pull.head.sha, self.pull.base.sha, self.ports.repository
        if not names:
            return None
        try:
            for commit, tree in ((head, tree_of(self.pull)), (base, base)):
                artifacts = self.checks.reports(commit, names, self.deadline)
                problems = () if usual else artifacts.problems
                self.notes.extend(() if problems else artifacts.problems)
                if not (artifacts.files or problems):
                    break
                paths = list_paths(repository, tree)
                sides.append(parse_ci_reports(artifacts.files, paths, problems))
        except (SourceError, CannotJudgeError) as error:
            self.notes.append(f"the test reports cannot be read: {error}")
            return None
        if not sides:
            return None
        base_results = sides[1] if sides[1:] else None
        unknown = "" if base_results else "the base has left no test reports"
        return make_reported_run(sides[0], base_results, passed=passed, base_problem=unknown)

    def explain_failure_with_base(
        self, judgment: Judgment, head_checks: CheckSummary, by_tests: Judgment | None
    ) -> Judgment:
        """The FAIL of the head's checks, with what the base's say; they excuse nothing."""
        commit = self.pull.base.sha
        try:
            base = CheckSummary.of(next(iter(self.checks.poll(commit, self.deadline)), ()))
            unknown = "" if base.runs else f"{commit[:12]} has no checks"
        except SourceError as error:
            base, unknown = CheckSummary(), str(error)
        if unknown:
            self.notes.append(f"the base could not be compared with: {unknown}")
        old = []
        for run in head_checks.failed:
            same = [each for each in base.runs if (each.app, each.name) == (run.app, run.name)]
            if same and all(each in base.failed for each in same):
                old.append(run)
        words, reason = judgment.reasoning, {}
        if old and (len(old) < len(head_checks.failed) or self.options.pre_existing == "block"):
            words = f"{words}; {len(old)} of them failed on the base as well"
        elif old and by_tests and by_tests.status is Status.FAIL and by_tests.reason != BASE_BROKEN:
            words = f"{words}, on the base as well, but not in the same way"
        elif old:
            reason = {"reason": BASE_BROKEN}
            words = (
                f"{words}, and so did the base. A check that fails may have left out what comes "
                "after it, so what this change breaks is not known. Fix the base first."
            )
        return replace(judgment, reasoning=words).with_metadata(**reason)


def may_stop_waiting(
    looks: Sequence[Sequence[CheckResult]], wanted: Wanted = "all", now: float = 0.0
) -> bool:
    """All that is named in full has ended, or all at two looks; `now` is seconds since 1970."""
    summary = CheckSummary.of(looks[-1], wanted)
    if not summary.complete:
        running = any(run.conclusion is None for look in looks for run in look)
        same = all(set(before) == set(after) for before, after in pairwise(looks))
        return len(looks) >= _MOST_IDLE and same and not running
    if summary.names and not any("*" in name for name in summary.names):
        return True
    if all(0 < run.ended < now - _QUIET for run in summary.runs):
        return True
    return len(looks) > 1 and CheckSummary.of(looks[-2], wanted).complete


def decide_by_checks(pull: PullRequest, summary: CheckSummary, waited: float) -> Judgment:
    """Decide by checks for which so many seconds were waited. Pure."""
    subject = f"checks of {pull.head.sha[:12]}"
    metadata = {"system": "checks", "subject": subject, **_make_facts(summary)}
    checks = _make_checks(summary)
    if failed := summary.failed:
        words = f"{pluralize(len(failed), 'check')} of the head failed: {_list_runs(failed)}"
        score = BooleanScore(value=False)
        return Judgment.failed(words, score=score, checks=checks, metadata=metadata)
    words, score = _describe_passed(pull, summary), BooleanScore(value=True)
    passed = Judgment.passed(words, score=score, checks=checks, metadata=metadata)
    if why := _find_reason_to_abstain(pull, summary, waited):
        return doubt(passed, *why)
    return passed


def _make_facts(summary: CheckSummary) -> dict[str, Any]:
    return BuildFacts(origin="checks", tested_base=summary.tested_base).to_metadata()


def _find_reason_to_abstain(
    pull: PullRequest, summary: CheckSummary, waited: float
) -> tuple[str, str, Snippet] | None:
    head = f"the head {pull.head.sha[:12]}"
    missing = _quote_names(summary.missing)
    if summary.pending:
        late = f"after {format_duration(waited)} {pluralize(len(summary.pending), 'check')} of"
        words = f"{late} {head} still ran: {_list_runs(summary.pending)}"
        return f"{words}; missing: {missing}" if missing else words, "checks_pending", _LONGER
    if summary.undecided:
        what = f"{pluralize(len(summary.undecided), 'check')} of {head} came to no result"
        words = f"{what}: {_list_runs(summary.undecided)}. Run them again."
        rerun = Snippet("sh", "a shell", f"gh run list --commit {pull.head.sha}; gh run rerun ID")
        return words, "checks_incomplete", rerun
    if missing:
        words = (
            f"{head} has no check called {missing}. Correct the name in `build: {{checks: […]}}` "
            "(what stands before a colon is the app that reports it, `*` any), or see why it did "
            "not run."
        )
        return words, "no_checks", Snippet(text="build: {checks: auto}")
    if not summary.runs:
        words = f"{head} has no checks. See why nothing ran on it, or build it here."
        return words, "no_checks", _BUILD_HERE
    if summary.unproved:
        what = f"{_quote_names(summary.unproved)} of {head} did not succeed"
        words = f"{what}: what is skipped or neutral proves nothing"
        return words, "checks_incomplete", _BUILD_HERE
    return None


def _describe_passed(pull: PullRequest, summary: CheckSummary) -> str:
    notes = [_describe_tested_commit(pull, summary)]
    if silent := len(summary.runs) - len(summary.succeeded):
        notes.append(f"{pluralize(silent, 'other check')} skipped or neutral")
    if not summary.names:
        notes.append("the policy names no checks, so all that there are count")
    if summary.left_out:
        notes.append(f"left out, since they build nothing: {_list_runs(summary.left_out)}")
    passed = f"{pluralize(len(summary.succeeded), 'check')} of the head {pull.head.sha[:12]} passed"
    return f"{passed} elsewhere: {_list_runs(summary.succeeded)} ({'; '.join(notes)})"


def _describe_tested_commit(pull: PullRequest, summary: CheckSummary) -> str:
    base = summary.tested_base
    if base == pull.base.sha:
        return "of the merge with this base"
    if base:
        return f"of the merge with {base[:12]}, the base is at {pull.base.sha[:12]} now"
    behind = f", {pluralize(pull.behind, 'commit')} behind" if pull.behind else ""
    tree = f"the head{behind}" if base == "" else f"the head{behind}, or an earlier merge of it"
    return f"what they saw is {tree}, not the merge that was tried here"


def _list_runs(runs: Sequence[CheckResult]) -> str:
    names = []
    for run in runs:
        end = "" if run.conclusion in {None, "success"} else f" ({_shorten(str(run.conclusion))})"
        names.append(f"{_shorten(run.name)}{end}")
    return join_names(names)


def _quote_names(names: Sequence[str]) -> str:
    return join_names([f"`{_shorten(name)}`" for name in names])


def _shorten(name: str) -> str:
    return visible(name[:_LONGEST_NAME]) + ("…" if len(name) > _LONGEST_NAME else "")


def _make_checks(summary: CheckSummary) -> tuple[Check, ...]:
    listed = (*summary.failed, *summary.pending, *summary.undecided, *summary.succeeded)
    checks = []
    for run in listed[:_MOST_CHECKS]:
        passed = run.conclusion == "success"
        app, end = _shorten(run.app), _shorten(run.conclusion or "has not ended")
        words = f"{_shorten(run.name)} ({app}): {end}"
        see = run.url or f"what {app} says about it"
        fix = None if passed else f"See {see}, and make it succeed."
        severity: Severity = "error" if passed or run in summary.failed else "warning"
        checks.append(Check("check-passed", passed, words, None, severity, run.url, fix))
    if rest := len(listed) - len(checks):
        failed = len(summary.failed) > _MOST_CHECKS
        checks.append(Check("more-checks", passed=not failed, message=f"{rest} more"))
    return tuple(checks)
