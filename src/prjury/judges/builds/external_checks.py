"""Judge by the checks of the head, which build elsewhere: wait for them and read them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError, SourceError
from prjury.judges.builds.check_summary import CheckNames, CheckSummary
from prjury.judges.builds.combine import WORST_FIRST, refuse_edited
from prjury.judges.builds.compare import compare
from prjury.judges.builds.failure import Results
from prjury.judges.builds.reported import ReportedTests, decide_reported, read_reported
from prjury.judges.builds.wording import format_duration, join_names
from prjury.jury.judgment import Check, Judgment, Location, Status
from prjury.jury.score import BooleanScore
from prjury.policy.tiers import BuildOptions
from prjury.ports import Checks, Ports, Progress, Repository
from prjury.ports.types import CheckAnnotation, CheckResult
from prjury.report.judge_facts import BASE_BROKEN, BuildFacts
from prjury.report.wording import counted
from prjury.snapshot.model import PullRequest, visible

#: How artifacts with JUnit reports are usually called.
USUAL_ARTIFACTS = ("*junit*", "*test-results*", "*test_results*", "*test-report*", "*surefire*")

_MOST_ASKED = 10
_MOST_SHOWN = 50
#: What a runner says of every job that fails, and of itself.
_GENERIC = ("Process completed with exit code ", "The operation was canceled")
#: So many looks in a row at which nothing runs and nothing changes: what is missing never comes.
_MOST_IDLE = 8
#: Seconds after which nothing more begins on a commit whose checks have ended.
_QUIET = 60.0
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
        runs = _watch_checks(ports.checks, names, pull.head.sha, deadline, ports.progress)
    except SourceError as error:
        return Judgment.errored(str(error), metadata={"reason": error.reason})
    summary = CheckSummary.of(runs, names)
    judgment = decide_by_checks(pull, summary, begun - deadline.remaining)
    if summary.pending or not summary.runs:
        return judgment
    source = _Source(ports.checks, ports.repository, pull, options, deadline)
    return refuse_edited(_add_evidence(judgment, summary, source.gather(summary), options), pull)


def _watch_checks(
    checks: Checks, names: CheckNames, commit: str, deadline: Deadline, progress: Progress
) -> Sequence[CheckResult]:
    looks: list[Sequence[CheckResult]] = []
    for look in checks.of(commit, deadline):
        looks = [*looks[1 - _MOST_IDLE :], look]
        if wait_for_checks(looks, names, time.time()):
            break
        progress.say(_say_waiting(CheckSummary.of(look, names), commit))
    return looks[-1] if looks else ()


def wait_for_checks(
    looks: Sequence[Sequence[CheckResult]], names: CheckNames, now: float = 0.0
) -> bool:
    """Another look would show nothing new.

    Checks that are named in full have settled as soon as they have ended. Otherwise it is not
    known how many there will be: they have settled when all have ended at two looks in a row, or
    when the last one ended a while ago.

    Args:
        looks: the newest ones, the last one last; one at least.
        now: seconds since 1970.
    """
    summary = CheckSummary.of(looks[-1], names)
    if not summary.complete:
        running = any(run.conclusion is None for look in looks for run in look)
        same = all(set(before) == set(after) for before, after in pairwise(looks))
        return len(looks) >= _MOST_IDLE and same and not running
    if names.exact or (all(run.ended for run in summary.runs) and summary.ended + _QUIET < now):
        return True
    return any(CheckSummary.of(look, names).complete for look in looks[-2:-1])


@dataclass(frozen=True)
class CiEvidence:
    """What is known beside the head's checks.

    Attributes:
        base: the base's checks; None where they were not asked for, or are not known.
        annotations: what failed checks say of lines, of both sides.
        tests: what the reports of both sides say; None where the head has none.
        known: the paths of the merged tree.
        notes: what a reader should know besides.
    """

    base: CheckSummary | None = None
    annotations: Mapping[int, Sequence[CheckAnnotation]] = field(default_factory=dict)
    tests: ReportedTests | None = None
    known: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    def find_on_base(self, run: CheckResult) -> CheckResult | None:
        """The same check where it fails on the base as well, and nothing of its name succeeds."""
        runs = self.base.runs if self.base else ()
        same = [each for each in runs if (each.app, each.name) == (run.app, run.name)]
        failed = [each for each in same if self.base and each in self.base.failed]
        return failed[0] if failed and len(failed) == len(same) else None

    def list_complaints(self, run: CheckResult) -> list[CheckAnnotation]:
        """What a check complains about, in files of the tree."""
        listed = self.annotations.get(run.id, ()) if run.id else ()
        return [
            each
            for each in listed
            if each.level == "failure"
            and not each.path.startswith(".github")
            and not each.message.startswith(_GENERIC)
        ]


@dataclass(frozen=True)
class _Source:
    """Asks for what the head's checks leave open; what cannot be had is noted."""

    checks: Checks
    repository: Repository
    pull: PullRequest
    options: BuildOptions
    deadline: Deadline

    def gather(self, summary: CheckSummary) -> CiEvidence:
        """The base's checks and annotations where checks failed, and the reports of both sides."""
        evidence = CiEvidence(known=self._paths(self.pull.merge.tree or self.pull.head.sha))
        if summary.failed:
            evidence = self._ask_base(evidence, summary)
        return self._ask_reports(evidence, good=not summary.failed)

    def _paths(self, tree: str) -> frozenset[str]:
        return frozenset(entry.path for entry in self.repository.files(tree))

    def _ask_base(self, evidence: CiEvidence, summary: CheckSummary) -> CiEvidence:
        base = self.pull.base.sha
        try:
            there = CheckSummary.of(
                next(iter(self.checks.of(base, self.deadline)), ()), summary.names
            )
            unknown = "" if there.runs else f"{base[:12]} has no checks"
        except SourceError as error:
            there, unknown = None, str(error)
        if unknown or there is None:
            return replace(evidence, notes=(f"the base could not be compared with: {unknown}",))
        evidence = replace(evidence, base=there)
        asked = list(summary.failed[:_MOST_ASKED])
        asked += [run for each in asked if (run := evidence.find_on_base(each))]
        try:
            read = {run.id: self.checks.annotations(run, self.deadline) for run in asked if run.id}
        except SourceError as error:
            return replace(evidence, notes=(f"the annotations cannot be read: {error}",))
        return replace(evidence, annotations=read)

    def _ask_reports(self, evidence: CiEvidence, *, good: bool) -> CiEvidence:
        artifacts = self.options.artifacts
        names = USUAL_ARTIFACTS if artifacts == "auto" else artifacts
        if not names:
            return evidence
        pull = self.pull
        try:
            head, notes = self._read_reports(pull.head.sha, names, evidence.known)
            if head is None:
                return replace(evidence, notes=(*evidence.notes, *notes))
            base, more = self._read_reports(pull.base.sha, names, self._paths(pull.base.sha))
        except (SourceError, CannotJudgeError) as error:
            note = f"the test reports cannot be read: {error}"
            return replace(evidence, notes=(*evidence.notes, note))
        unknown = "" if base else "the base has left no test reports"
        tests = ReportedTests(head, base, good, unknown)
        return replace(evidence, tests=tests, notes=(*evidence.notes, *notes, *more))

    def _read_reports(
        self, commit: str, names: Sequence[str], known: frozenset[str]
    ) -> tuple[Results | None, tuple[str, ...]]:
        """The reports, and what is wrong with artifacts that nobody has named."""
        left = self.checks.reports(commit, names, self.deadline)
        named = self.options.artifacts != "auto"
        if not left.files and not (named and left.problems):
            return None, left.problems
        problems = left.problems if named else ()
        return read_reported(left.files, known, problems), () if named else left.problems


def _add_evidence(
    judgment: Judgment, summary: CheckSummary, evidence: CiEvidence, options: BuildOptions
) -> Judgment:
    """The judgment by the head's checks, with what else the CI has said. Pure."""
    tests, tested = evidence.tests, None
    if tests:
        tested = decide_reported(compare(tests.plan, tests.run, evidence.known, options))
    if summary.failed:
        decided = _decide_failed(judgment, summary, evidence, options, tested)
    elif tested is None or WORST_FIRST.index(judgment.status) <= WORST_FIRST.index(tested.status):
        decided = _with_tests(judgment, tested)
    else:  # the reports tell what the checks do not
        words = f"{tested.reasoning} (by its checks: {judgment.reasoning})"
        decided = replace(_with_tests(tested, judgment, tests_last=False), reasoning=words)
    if not evidence.notes:
        return decided
    return replace(decided, reasoning=f"{decided.reasoning} ({'; '.join(evidence.notes)})")


def _decide_failed(
    judgment: Judgment,
    summary: CheckSummary,
    evidence: CiEvidence,
    options: BuildOptions,
    tested: Judgment | None,
) -> Judgment:
    old = [run for run in summary.failed if evidence.find_on_base(run)]
    complaints = [check for run in summary.failed for check in _check_complaints(run, evidence)]
    judgment = replace(judgment, checks=(*judgment.checks, *complaints[:_MOST_SHOWN]))
    words, reason = judgment.reasoning, {}
    if old and (len(old) < len(summary.failed) or options.pre_existing == "block"):
        words = f"{words}; {len(old)} of them failed on the base as well"
    elif old and tested and tested.status is Status.FAIL and tested.reason != BASE_BROKEN:
        words = f"{words}, on the base as well, but not in the same way: {tested.reasoning}"
    elif old:
        reason = {"reason": BASE_BROKEN}
        words = (
            f"{words}, and so did the base. A check that fails may have left out what comes after "
            "it, so what this change breaks is not known. Fix the base first."
        )
    return _with_tests(replace(judgment, reasoning=words), tested).with_metadata(**reason)


def _check_complaints(run: CheckResult, evidence: CiEvidence) -> Iterator[Check]:
    """What a failed check says of lines; what it said of them on the base is old."""

    def identify(complaint: CheckAnnotation) -> tuple[str, str]:
        return complaint.path, " ".join(complaint.message.split())  # lines may move

    there = evidence.find_on_base(run)
    before = Counter(map(identify, evidence.list_complaints(there) if there else ()))
    for complaint in evidence.list_complaints(run):
        old = before[identify(complaint)] > 0
        before[identify(complaint)] -= old
        located = complaint.path in evidence.known and complaint.line > 0
        words = visible(" ".join(complaint.message.split())[:500])
        yield Check(
            "check-annotation",
            passed=False,
            message=f"{visible(run.name[:100])}: {words}{' (on the base as well)' if old else ''}",
            location=Location(complaint.path, complaint.line) if located else None,
            severity="warning" if old else "error",
            evidence=complaint.message[:4_000] if "\n" in complaint.message else None,
        )


def _with_tests(
    judgment: Judgment, tested: Judgment | None, *, tests_last: bool = True
) -> Judgment:
    """The judgment with the checks and facts of the other one; its own count where both have any.

    Where the tests say that all that fails is old, and checks fail that are new, they are left out:
    they are not what failed.
    """
    if tested is None:
        return judgment
    harmless = judgment.status is Status.FAIL and tested.status is Status.PASS
    facts = {} if harmless else dict(tested.metadata)
    notes = [facts_of.note for each in (tested, judgment) if (facts_of := BuildFacts.of(each))]
    note = next(filter(None, notes), "")
    more = {"note": note} if note and judgment.status is Status.PASS else {}
    metadata = {**facts, **judgment.metadata, **more, "from": "checks"}
    checks = [judgment.checks, () if harmless else tested.checks]
    first, last = checks if tests_last else reversed(checks)
    return replace(judgment, checks=(*first, *last), metadata=metadata)


def decide_by_checks(pull: PullRequest, summary: CheckSummary, seconds: float) -> Judgment:
    """Decide the judgment from the checks. Pure.

    PASS where nothing failed, everything has ended and enough of it succeeded, and the change does
    not edit what says what the checks do. FAIL where anything failed. ABSTAIN otherwise.

    Args:
        seconds: how long was waited for them.
    """
    metadata, checks = _make_metadata(pull, summary, seconds), _make_checks(summary)
    if failed := summary.failed:
        words = f"{counted(len(failed), 'check')} of the head failed: {_list_runs(failed)}"
        score = BooleanScore(value=False)
        return Judgment.failed(words, score=score, checks=checks, metadata=metadata)
    label, words = _find_doubt(pull, summary, seconds)
    if label:
        metadata["reason"] = label
        return Judgment.abstained(words, label, checks=checks, metadata=metadata)
    score = BooleanScore(value=True)
    words = _say_passed(pull, summary)
    passed = Judgment.passed(words, score=score, checks=checks, metadata=metadata)
    return refuse_edited(passed, pull)


def _find_doubt(pull: PullRequest, summary: CheckSummary, seconds: float) -> tuple[str, str]:
    """Why the checks prove nothing, as a label and in words; nothing where they do."""
    head = f"the head {pull.head.sha[:12]}"
    if summary.pending:
        pending = counted(len(summary.pending), "check")
        late = f"after {format_duration(seconds)} {pending} of {head} still ran"
        missing = f"; missing: {_quote_names(summary.missing)}" if summary.missing else ""
        return "checks_pending", f"{late}: {_list_runs(summary.pending)}{missing}"
    if summary.undecided:
        return "checks_incomplete", (
            f"{counted(len(summary.undecided), 'check')} of {head} came to no result: "
            f"{_list_runs(summary.undecided)}. Run them again."
        )
    if summary.missing:
        return "no_checks", (
            f"{head} has no check called {_quote_names(summary.missing)}. Correct the name in "
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
            f"{_quote_names(summary.unproved)} of {head} did not succeed: what is skipped or "
            "neutral proves nothing"
        )
    return "", ""


def _say_passed(pull: PullRequest, summary: CheckSummary) -> str:
    notes = [_say_tested(pull, summary)]
    if silent := len(summary.runs) - len(summary.succeeded):
        notes.append(f"{counted(silent, 'other check')} skipped or neutral")
    if summary.names.everything:
        notes.append("the policy names no checks, so all that there are count")
    if summary.left_out:
        notes.append(f"left out, since they build nothing: {_list_runs(summary.left_out)}")
    passed = f"{counted(len(summary.succeeded), 'check')} of the head {pull.head.sha[:12]} passed"
    return f"{passed} elsewhere: {_list_runs(summary.succeeded)} ({'; '.join(notes)})"


def _say_tested(pull: PullRequest, summary: CheckSummary) -> str:
    base = summary.tested_base
    if base == pull.base.sha:
        return "of the merge with this base"
    if base:
        return f"of the merge with {base[:12]}, the base is at {pull.base.sha[:12]} now"
    behind = f", {counted(pull.behind, 'commit')} behind" if pull.behind else ""
    seen = f"what they saw is the head{behind}, or an earlier merge of it"
    return f"{seen}, not the merge that was tried here"


def _say_waiting(summary: CheckSummary, commit: str) -> str:
    if summary.pending:
        return f"waiting for {_list_runs(summary.pending)}"
    if summary.missing or not summary.runs:
        what = _quote_names(summary.missing) if summary.missing else "checks"
        return f"waiting for {what} to appear on {commit[:12]}"
    return f"all checks have ended; waiting whether more appear on {commit[:12]}"


def _list_runs(runs: Sequence[CheckResult]) -> str:
    names = []
    for run in runs:
        ended = run.conclusion not in {None, "success"}
        names.append(f"{_cut(run.name)}{f' ({_cut(str(run.conclusion))})' if ended else ''}")
    return join_names(names)


def _quote_names(names: Sequence[str]) -> str:
    return join_names([f"`{_cut(name)}`" for name in names])


def _cut(name: str) -> str:
    return visible(name[:_LONGEST_NAME]) + ("…" if len(name) > _LONGEST_NAME else "")


def _make_checks(summary: CheckSummary) -> tuple[Check, ...]:
    """Each check that failed, has not ended or came to nothing, then those that succeeded."""
    listed = (*summary.failed, *summary.pending, *summary.undecided, *summary.succeeded)
    checks = [_make_check(run, failed=run in summary.failed) for run in listed[:_MOST_CHECKS]]
    if left := len(listed) - len(checks):
        failed = len(summary.failed) > _MOST_CHECKS
        checks.append(Check("more-checks", passed=not failed, message=f"{left} more"))
    return tuple(checks)


def _make_check(run: CheckResult, *, failed: bool) -> Check:
    passed = run.conclusion == "success"
    see = f"See {run.url}" if run.url else f"See what {_cut(run.app)} says about it"
    return Check(
        "check-passed",
        passed,
        f"{_cut(run.name)} ({_cut(run.app)}): {_cut(run.conclusion or 'has not ended')}",
        severity="error" if failed or passed else "warning",
        evidence=run.url,
        fix=None if passed else f"{see}, and make it succeed.",
    )


def _make_metadata(pull: PullRequest, summary: CheckSummary, seconds: float) -> dict[str, Any]:
    listed = (*summary.failed, *summary.pending, *summary.undecided, *summary.neutral)
    return {
        "subject": f"checks of {pull.head.sha[:12]}",
        **BuildFacts(origin="checks", tested_base=summary.tested_base).to_metadata(),
        "waited": round(seconds, 1),
        "runs": [
            {"name": run.name, "app": run.app, "conclusion": run.conclusion, "url": run.url}
            for run in (*listed, *summary.succeeded)[:_MOST_LISTED]
        ],
    }
