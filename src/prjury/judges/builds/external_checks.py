"""Judge by the checks of the head, which build elsewhere: wait for them and read them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from prjury.deadline import Deadline
from prjury.errors import SourceError
from prjury.judges.builds.check_summary import CheckNames, CheckSummary
from prjury.judges.builds.ci_evidence import beside_base, gather_evidence
from prjury.judges.builds.combine import unless_edited
from prjury.judges.builds.decide import duration
from prjury.jury.judgment import Check, Judgment
from prjury.jury.score import BooleanScore
from prjury.policy.schema import BuildOptions
from prjury.ports import Checks, Ports, Progress
from prjury.ports.types import CheckResult
from prjury.report.judge_facts import BuildFacts
from prjury.report.wording import counted
from prjury.snapshot.model import PullRequest, visible

#: So many looks in a row at which nothing runs and nothing changes: what is missing never comes.
_MOST_IDLE = 8
#: Seconds after which nothing more begins on a commit whose checks have ended.
_QUIET = 60.0
_MOST_NAMED = 5
_MOST_CHECKS = 50
_MOST_LISTED = 200
_LONGEST_NAME = 100


def judge_by_checks(
    options: BuildOptions, ports: Ports, pull: PullRequest, deadline: Deadline
) -> Judgment:
    """The judgment by the checks of the head, once all of them have ended or the time is over."""
    if ports.checks is None:
        return Judgment.errored(
            f"the checks of the head cannot be read: {ports.checks_missing}",
            metadata={"reason": "no_checks_source"},
        )
    names = CheckNames.of(options.checks)
    begun = deadline.remaining
    try:
        runs = _watch(ports.checks, names, pull.head.sha, deadline, ports.progress)
    except SourceError as error:
        return Judgment.errored(str(error), metadata={"reason": error.reason})
    summary = CheckSummary.of(runs, names)
    judgment = decide_by_checks(pull, summary, begun - deadline.remaining)
    if summary.pending or not summary.runs:
        return judgment
    evidence = gather_evidence(ports.checks, ports.repository, pull, summary, options, deadline)
    return unless_edited(beside_base(judgment, summary, evidence, options), pull)


def _watch(
    checks: Checks, names: CheckNames, commit: str, deadline: Deadline, progress: Progress
) -> Sequence[CheckResult]:
    """What was seen at the last look, which is the first one at which everything had settled."""
    looks: list[Sequence[CheckResult]] = []
    for look in checks.of(commit, deadline):
        looks = [*looks[1 - _MOST_IDLE :], look]
        if wait_for_checks(looks, names, time.time()):
            break
        progress.say(_waiting(CheckSummary.of(look, names), commit))
    return looks[-1] if looks else ()


def wait_for_checks(
    looks: Sequence[Sequence[CheckResult]], names: CheckNames, now: float = 0.0
) -> bool:
    """Whether another look would show nothing new.

    Checks that are named in full have settled as soon as they have ended. Otherwise it is not
    known how many there will be: they have settled when all have ended at two looks in a row, or
    when the last one ended a while ago.

    Args:
        looks: the newest ones, the last one last; one at least.
        now: seconds since 1970.
    """
    summary = CheckSummary.of(looks[-1], names)
    if not summary.complete:
        return _idle(looks)
    if names.exact or (all(run.ended for run in summary.runs) and summary.ended + _QUIET < now):
        return True
    return any(CheckSummary.of(look, names).complete for look in looks[-2:-1])


def _idle(looks: Sequence[Sequence[CheckResult]]) -> bool:
    running = any(run.conclusion is None for look in looks for run in look)
    same = all(set(before) == set(after) for before, after in pairwise(looks))
    return len(looks) >= _MOST_IDLE and same and not running


def decide_by_checks(pull: PullRequest, summary: CheckSummary, seconds: float) -> Judgment:
    """Decide the judgment from the checks. Pure.

    PASS where nothing failed, everything has ended and enough of it succeeded, and the change does
    not edit what says what the checks do. FAIL where anything failed. ABSTAIN otherwise.

    Args:
        seconds: how long was waited for them.
    """
    metadata, checks = _metadata(pull, summary, seconds), _checks(summary)
    if failed := summary.failed:
        words = f"{counted(len(failed), 'check')} of the head failed: {_listed(failed)}"
        score = BooleanScore(value=False)
        return Judgment.failed(words, score=score, checks=checks, metadata=metadata)
    label, words = _doubt(pull, summary, seconds)
    if label:
        doubted = {**metadata, "reason": label}
        return Judgment.abstained(words, label, checks=checks, metadata=doubted)
    score, words = BooleanScore(value=True), _success(pull, summary)
    passed = Judgment.passed(words, score=score, checks=checks, metadata=metadata)
    return unless_edited(passed, pull)


def _doubt(pull: PullRequest, summary: CheckSummary, seconds: float) -> tuple[str, str]:
    """Why the checks prove nothing, as a label and in words; nothing where they do."""
    head = f"the head {pull.head.sha[:12]}"
    if summary.pending:
        pending = counted(len(summary.pending), "check")
        late = f"after {duration(seconds)} {pending} of {head} still ran"
        return "checks_pending", f"{late}: {_listed(summary.pending)}{_also_missing(summary)}"
    if summary.undecided:
        return "checks_incomplete", (
            f"{counted(len(summary.undecided), 'check')} of {head} came to no result: "
            f"{_listed(summary.undecided)}. Run them again."
        )
    if summary.missing:
        return "no_checks", (
            f"{head} has no check called {_quoted(summary.missing)}. Correct the name in "
            "`build: {checks: […]}` (what stands before a colon is the app that reports it, "
            "`*` any), or see why it did not run."
        )
    if not summary.runs:
        return "no_checks", (
            f"{head} has no checks. See why nothing ran on it, or build it here: "
            "`build: {from: run}`."
        )
    if summary.unproved:
        return "checks_incomplete", (
            f"{_quoted(summary.unproved)} of {head} did not succeed: what is skipped or neutral "
            "proves nothing"
        )
    return "", ""


def _success(pull: PullRequest, summary: CheckSummary) -> str:
    behind = f", {counted(pull.behind, 'commit')} behind" if pull.behind else ""
    seen = f"what they saw is the head{behind}, or an earlier merge of it"
    notes = [f"{seen}, not the merge that was tried here"]
    if silent := len(summary.runs) - len(summary.succeeded):
        notes.append(f"{counted(silent, 'other check')} skipped or neutral")
    if summary.names.everything:
        notes.append("the policy names no checks, so all that there are count")
    if summary.left_out:
        notes.append(f"left out, since they build nothing: {_listed(summary.left_out)}")
    passed = f"{counted(len(summary.succeeded), 'check')} of the head {pull.head.sha[:12]} passed"
    return f"{passed} elsewhere: {_listed(summary.succeeded)} ({'; '.join(notes)})"


def _waiting(summary: CheckSummary, commit: str) -> str:
    if summary.pending:
        return f"waiting for {_listed(summary.pending)}"
    if summary.missing or not summary.runs:
        what = _quoted(summary.missing) if summary.missing else "checks"
        return f"waiting for {what} to appear on {commit[:12]}"
    return f"all checks have ended; waiting whether more appear on {commit[:12]}"


def _also_missing(summary: CheckSummary) -> str:
    return f"; missing: {_quoted(summary.missing)}" if summary.missing else ""


def _listed(runs: Sequence[CheckResult]) -> str:
    return _some([_named(run) for run in runs])


def _quoted(names: Sequence[str]) -> str:
    return _some([f"`{_short(name)}`" for name in names])


def _some(shown: Sequence[str]) -> str:
    more = f" and {len(shown) - _MOST_NAMED} more" if len(shown) > _MOST_NAMED else ""
    return ", ".join(shown[:_MOST_NAMED]) + more


def _named(run: CheckResult) -> str:
    ended = run.conclusion not in {None, "success"}
    return f"{_short(run.name)} ({_short(str(run.conclusion))})" if ended else _short(run.name)


def _short(name: str) -> str:
    return visible(name[:_LONGEST_NAME]) + "…" * (len(name) > _LONGEST_NAME)


def _checks(summary: CheckSummary) -> tuple[Check, ...]:
    """Each check that failed, has not ended or came to nothing, then those that succeeded."""
    listed = (*summary.failed, *summary.pending, *summary.undecided, *summary.succeeded)
    checks = [_check(run, failed=run in summary.failed) for run in listed[:_MOST_CHECKS]]
    if left := len(listed) - len(checks):
        failed = len(summary.failed) > _MOST_CHECKS
        checks.append(Check("more-checks", passed=not failed, message=f"{left} more"))
    return tuple(checks)


def _check(run: CheckResult, *, failed: bool) -> Check:
    ended = run.conclusion or "has not ended"
    passed = run.conclusion == "success"
    see = f"See {run.url}" if run.url else f"See what {_short(run.app)} says about it"
    return Check(
        "check-passed",
        passed,
        f"{_short(run.name)} ({_short(run.app)}): {_short(ended)}",
        severity="error" if failed or passed else "warning",
        evidence=run.url,
        fix=None if passed else f"{see}, and make it succeed.",
    )


def _metadata(pull: PullRequest, summary: CheckSummary, seconds: float) -> dict[str, Any]:
    first = (
        *summary.failed,
        *summary.pending,
        *summary.undecided,
        *summary.neutral,
        *summary.succeeded,
    )
    return {
        "subject": f"checks of {pull.head.sha[:12]}",
        **BuildFacts(origin="checks").to_metadata(),
        "waited": round(seconds, 1),
        "runs": [
            {"name": run.name, "app": run.app, "conclusion": run.conclusion, "url": run.url}
            for run in first[:_MOST_LISTED]
        ],
    }
