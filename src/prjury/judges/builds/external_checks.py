"""Judge by the checks of the head, which build elsewhere: wait for them and read them."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError, SourceError
from prjury.judges.builds.check_summary import CheckNames, CheckSummary
from prjury.judges.builds.combine import refuse_edited
from prjury.judges.builds.compare import compare
from prjury.judges.builds.failure import Results
from prjury.judges.builds.reported import ReportedTests, decide_reported, read_reported
from prjury.judges.builds.wording import format_duration
from prjury.jury.judgment import Check, Judgment, Location, Status
from prjury.jury.score import BooleanScore
from prjury.policy.schema import BuildOptions
from prjury.ports import Checks, Ports, Progress, Repository
from prjury.ports.types import CheckAnnotation, CheckResult
from prjury.report.judge_facts import BASE_BROKEN, BuildFacts
from prjury.report.wording import counted
from prjury.snapshot.model import PullRequest, visible

#: How artifacts with JUnit reports are usually called.
USUAL_ARTIFACTS = ("*junit*", "*test-results*", "*test_results*", "*test-report*", "*surefire*")

_WORST_FIRST = (Status.FAIL, Status.ERROR, Status.ABSTAIN, Status.PASS)
_MOST_ASKED = 10
_MOST_SHOWN = 50
#: What a runner says of every job that fails, and of itself.
_GENERIC = re.compile(
    r"Process completed with exit code \d+|The operation was canceled|Error: \S+$"
)


@dataclass(frozen=True)
class CiEvidence:
    """What is known beside the head's checks.

    Attributes:
        base: the base's checks; None where they were not asked for, or are not known.
        base_unknown: why they are not known, though they were asked for.
        annotations: what failed checks say of lines, of both sides.
        tests: what the reports of both sides say; None where the head has none.
        known: the paths of the merged tree.
        notes: what a reader should know besides.
    """

    base: CheckSummary | None = None
    base_unknown: str = ""
    annotations: Mapping[int, Sequence[CheckAnnotation]] = field(default_factory=dict)
    tests: ReportedTests | None = None
    known: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    def on_base(self, run: CheckResult) -> CheckResult | None:
        """The same check where it fails on the base as well, and nothing of its name succeeds."""
        runs = self.base.runs if self.base else ()
        same = [one for one in runs if (one.app, one.name) == (run.app, run.name)]
        failed = [one for one in same if self.base and one in self.base.failed]
        return failed[0] if failed and len(failed) == len(same) else None

    def said(self, run: CheckResult) -> tuple[CheckAnnotation, ...]:
        """What a check complains about, in files of the tree."""
        every = self.annotations.get(run.id, ()) if run.id else ()
        return tuple(one for one in every if one.level == "failure" and _says_something(one))


def _says_something(annotation: CheckAnnotation) -> bool:
    inside = not annotation.path.startswith(".github")
    return inside and _GENERIC.match(annotation.message) is None


def gather_evidence(
    checks: Checks,
    repository: Repository,
    pull: PullRequest,
    summary: CheckSummary,
    options: BuildOptions,
    deadline: Deadline,
) -> CiEvidence:
    """Ask for what the head's checks leave open; what cannot be had is noted."""
    gathering = _Gathering(checks, repository, pull, options, deadline)
    evidence = CiEvidence(known=gathering.paths(pull.merge.tree or pull.head.sha))
    if summary.failed:
        evidence = gathering.with_base(evidence, summary)
    return gathering.with_tests(evidence, good=not summary.failed)


@dataclass(frozen=True)
class _Gathering:
    checks: Checks
    repository: Repository
    pull: PullRequest
    options: BuildOptions
    deadline: Deadline

    def paths(self, tree: str) -> frozenset[str]:
        return frozenset(entry.path for entry in self.repository.files(tree))

    def with_base(self, evidence: CiEvidence, summary: CheckSummary) -> CiEvidence:
        base = self.pull.base.sha
        try:
            runs = next(iter(self.checks.of(base, self.deadline)), ())
        except SourceError as error:
            return replace(evidence, base_unknown=str(error))
        there = CheckSummary.of(runs, summary.names)
        evidence = replace(evidence, base=there)
        if not there.runs:
            evidence = replace(evidence, base=None, base_unknown=f"{base[:12]} has no checks")
        asked = list(summary.failed[:_MOST_ASKED])
        asked = [*asked, *filter(None, map(evidence.on_base, asked))]
        try:
            said = {run.id: self.checks.annotations(run, self.deadline) for run in asked if run.id}
        except SourceError as error:
            return replace(evidence, notes=(f"the annotations cannot be read: {error}",))
        return replace(evidence, annotations=said)

    def with_tests(self, evidence: CiEvidence, *, good: bool) -> CiEvidence:
        names = self._names()
        if not names:
            return evidence
        try:
            head, problems = self._reports(self.pull.head.sha, evidence.known)
            if head is None:
                return replace(evidence, notes=(*evidence.notes, *problems))
            base, more = self._reports(self.pull.base.sha, self.paths(self.pull.base.sha))
        except (SourceError, CannotJudgeError) as error:
            note = f"the test reports cannot be read: {error}"
            return replace(evidence, notes=(*evidence.notes, note))
        unknown = "" if base else "the base has left no test reports"
        notes = (*evidence.notes, *problems, *more)
        return replace(evidence, tests=ReportedTests(head, base, good, unknown), notes=notes)

    def _names(self) -> Sequence[str]:
        return USUAL_ARTIFACTS if self.options.artifacts == "auto" else self.options.artifacts

    def _reports(
        self, commit: str, known: frozenset[str]
    ) -> tuple[Results | None, tuple[str, ...]]:
        """The reports, and what is wrong with artifacts that nobody has named."""
        left = self.checks.reports(commit, self._names(), self.deadline)
        named = self.options.artifacts != "auto"
        if not left.files and not (named and left.problems):
            return None, left.problems
        found = left.problems if named else ()
        return read_reported(left.files, known, found), () if named else left.problems


def beside_base(
    judgment: Judgment, summary: CheckSummary, evidence: CiEvidence, options: BuildOptions
) -> Judgment:
    """The judgment by the head's checks, with what else the CI has said. Pure.

    Args:
        judgment: by the head's checks alone.
    """
    tests = evidence.tests
    tested = (
        decide_reported(compare(tests.plan, tests.run, evidence.known, options)) if tests else None
    )
    if summary.failed:
        judged = _red(judgment, summary, evidence, options, tested)
    else:
        judged = _green(judgment, tested)
    if evidence.base_unknown:
        unknown = f"the base could not be compared with: {evidence.base_unknown}"
        return _noted(judged, (unknown, *evidence.notes))
    return _noted(judged, evidence.notes)


def _green(judgment: Judgment, tested: Judgment | None) -> Judgment:
    """The judgment where no check failed: the reports may still tell what they do not."""
    if tested is None:
        return judgment
    if _WORST_FIRST.index(judgment.status) <= _WORST_FIRST.index(tested.status):
        return _with_tests(judgment, tested)
    words = f"{tested.reasoning} (by its checks: {judgment.reasoning})"
    return replace(_with_tests(tested, judgment, tests_last=False), reasoning=words)


def _red(
    judgment: Judgment,
    summary: CheckSummary,
    evidence: CiEvidence,
    options: BuildOptions,
    tested: Judgment | None,
) -> Judgment:
    """The judgment where checks failed."""
    pairs = [(run, evidence.on_base(run)) for run in summary.failed]
    old = [run for run, there in pairs if there]
    found = replace(judgment, checks=(*judgment.checks, *_annotated(summary, evidence)))
    if not old:
        return _with_tests(found, tested)
    if len(old) < len(pairs) or options.pre_existing == "block":
        words = f"{judgment.reasoning}; {len(old)} of them failed on the base as well"
        return _with_tests(replace(found, reasoning=words), tested)
    if tested and tested.status is Status.FAIL and tested.reason != BASE_BROKEN:
        words = f"{judgment.reasoning}, on the base as well, but not in the same way"
        return _with_tests(replace(found, reasoning=f"{words}: {tested.reasoning}"), tested)
    words = (
        f"{judgment.reasoning}, and so did the base. A check that fails may have left out what "
        "comes after it, so what this change breaks is not known. Fix the base first."
    )
    return _with_tests(replace(found, reasoning=words), tested).with_metadata(reason=BASE_BROKEN)


def _kind(annotation: CheckAnnotation) -> tuple[str, str]:
    """What stays the same where lines move."""
    return annotation.path, " ".join(annotation.message.split())


def _annotated(summary: CheckSummary, evidence: CiEvidence) -> tuple[Check, ...]:
    """What the failed checks say of lines."""
    checks = [check for run in summary.failed for check in _annotations_of(run, evidence)]
    return tuple(checks[:_MOST_SHOWN])


def _annotations_of(run: CheckResult, evidence: CiEvidence) -> Iterator[Check]:
    there = evidence.on_base(run)
    before = Counter(map(_kind, evidence.said(there))) if there else Counter[tuple[str, str]]()
    for one in evidence.said(run):
        old = before[_kind(one)] > 0
        before[_kind(one)] -= old
        place = (
            Location(one.path, one.line) if one.path in evidence.known and one.line > 0 else None
        )
        words = visible(" ".join(one.message.split())[:500])
        yield Check(
            "check-annotation",
            passed=False,
            message=f"{visible(run.name[:100])}: {words}{' (on the base as well)' * old}",
            location=place,
            severity="warning" if old else "error",
            evidence=one.message[:4_000] if "\n" in one.message else None,
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
    ran = BuildFacts.of(tested)
    harmless = judgment.status is Status.FAIL and tested.status is Status.PASS
    facts = {} if harmless else dict(tested.metadata)
    found = BuildFacts.of(judgment)
    note = (ran.note if ran else "") or (found.note if found else "")
    more = {"note": note} if note and judgment.status is Status.PASS else {}
    origin = {"from": "checks"}
    metadata = {**facts, **judgment.metadata, **more, **origin}
    pair = (judgment.checks, () if harmless else tested.checks)
    first, last = pair if tests_last else pair[::-1]
    return replace(judgment, checks=(*first, *last), metadata=metadata)


def _noted(judgment: Judgment, notes: Sequence[str]) -> Judgment:
    if not notes:
        return judgment
    return replace(judgment, reasoning=f"{judgment.reasoning} ({'; '.join(notes)})")


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
    return refuse_edited(beside_base(judgment, summary, evidence, options), pull)


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
    return refuse_edited(passed, pull)


def _doubt(pull: PullRequest, summary: CheckSummary, seconds: float) -> tuple[str, str]:
    """Why the checks prove nothing, as a label and in words; nothing where they do."""
    head = f"the head {pull.head.sha[:12]}"
    if summary.pending:
        pending = counted(len(summary.pending), "check")
        late = f"after {format_duration(seconds)} {pending} of {head} still ran"
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
