"""What a CI that already ran says beside its checks: the base's, annotations, and test reports.

It tells old failures from new, and where they are. A check that fails on both sides excuses
nothing: what it would have said of the change after that is not known.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError, SourceError
from prjury.judges.builds.check_summary import CheckSummary
from prjury.judges.builds.reported import ReportedTests, decide_reported, read_reported
from prjury.judges.builds.test_sets import Reports
from prjury.jury.judgment import Check, Judgment, Location, Status
from prjury.policy.schema import BuildOptions
from prjury.ports import Checks, Repository
from prjury.ports.types import CheckAnnotation, CheckResult
from prjury.report.judge_facts import BASE_BROKEN, BuildFacts
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
    ) -> tuple[Reports | None, tuple[str, ...]]:
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
    case = evidence.tests.result(options, evidence.known) if evidence.tests else None
    tested = decide_reported(case) if case else None
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
