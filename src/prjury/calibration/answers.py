"""What became of the errors that models reported, read from the reports of past runs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Literal, Protocol, TypeAlias, get_args

from msgspec import Struct

from prjury.calibration.record import Counts
from prjury.jury.judge import MODEL_BACKED
from prjury.jury.judgment import Check, Status
from prjury.jury.voting import Ballot
from prjury.report.codec import PullJson, ReportJson, ballot_of
from prjury.report.judge_facts import AnswerBasis, PanelFacts

Outcome: TypeAlias = Literal["mended", "dismissed", "merged", "open"]

_VOTES = frozenset({Status.PASS, Status.FAIL})


class MergeHistory(Protocol):
    """What a clone says of pull requests."""

    def is_merged(self, pull: PullJson) -> bool:
        """Tell whether the base branch holds the change."""

    def read(self, pull: PullJson, path: str) -> str | None:
        """Return the text of a file at the pull request's head; None if it is not here."""


class NoHistory:
    """No clone is here."""

    def is_merged(self, pull: PullJson) -> bool:  # noqa: ARG002 - nothing is known
        """Tell of no merge."""
        return False

    def read(self, pull: PullJson, path: str) -> None:
        """Return nothing."""


class FindingKey(Struct, frozen=True):
    """A place of which an error was reported, whatever the words were."""

    judge: str
    path: str
    quote: str

    @classmethod
    def of(cls, judge: str, check: Check) -> FindingKey:
        """The key of a check that failed."""
        path = check.location.path if check.location else ""
        return cls(judge, path, " ".join((check.evidence or check.message).split()))


class ErrorOutcome(Struct, frozen=True):
    """An error that was reported, and what became of it."""

    pull: str
    finding: FindingKey
    claim: str
    outcome: Outcome


def basis_of(report: ReportJson) -> AnswerBasis | None:
    """Return on what the answers of models in a report depend; None if none has answered."""
    bases = (PanelFacts.of(ballot.judgment).basis for ballot in model_ballots(report))
    return join_bases([basis for basis in bases if basis])


def join_bases(parts: Sequence[AnswerBasis]) -> AnswerBasis | None:
    """Return one basis for several judges; None for none."""
    if not parts:
        return None
    models = tuple(sorted({name for part in parts for name in part.models}))
    return AnswerBasis(models, {judge: it for part in parts for judge, it in part.prompts.items()})


def model_ballots(report: ReportJson) -> list[Ballot]:
    """Return what judges that ask models have said."""
    judgments = [judgment for tier in report.tiers for judgment in tier.judgments]
    return [ballot_of(judgment) for judgment in judgments if judgment.type in MODEL_BACKED]


def name_pull(pull: PullJson) -> str:
    """Return the name of a pull request, or of its branch where it has no number."""
    return f"{pull.repo}:{pull.head.ref}" if pull.number is None else f"{pull.repo}#{pull.number}"


def group_by_pull(reports: Sequence[ReportJson]) -> dict[str, list[ReportJson]]:
    """Return the reports of each pull request, in the order in which they are given."""
    groups: dict[str, list[ReportJson]] = defaultdict(list)
    for report in reports:
        groups[name_pull(report.pull)].append(report)
    return groups


def find_confirmed_errors(report: ReportJson) -> dict[FindingKey, Check]:
    """Return the errors that a second question has confirmed."""
    errors = {}
    for ballot in model_ballots(report):
        if PanelFacts.of(ballot.judgment).confirmed:
            for check in ballot.judgment.failed_checks:
                if check.severity == "error":
                    errors[FindingKey.of(ballot.judge, check)] = check
    return errors


def find_answers(reports: Sequence[ReportJson], history: MergeHistory) -> list[ErrorOutcome]:
    """Return what became of each confirmed error, once a pull request.

    Args:
        reports: of each pull request the earlier ones first.
    """
    answers = []
    for name, group in group_by_pull(reports).items():
        first: dict[FindingKey, tuple[int, Check]] = {}
        for at, report in enumerate(group):
            for key, check in find_confirmed_errors(report).items():
                first.setdefault(key, (at, check))
        for key, (at, check) in first.items():
            outcome = _find_outcome(key, group[at:], history)
            answers.append(ErrorOutcome(name, key, check.message, outcome))
    return answers


def count_answers(answers: Sequence[ErrorOutcome]) -> Counts:
    """Count the outcomes."""
    outcomes = Counter(answer.outcome for answer in answers)
    return Counts(**{name: outcomes[name] for name in get_args(Outcome)})


def _find_outcome(key: FindingKey, reports: Sequence[ReportJson], history: MergeHistory) -> Outcome:
    """Return what became of an error that the first of these reports holds."""
    dismissed = {each.finding for report in reports for each in report.dismissals}
    if dismissed & _fingerprints(key, reports):
        return "dismissed"
    if _is_mended(key, reports, history):
        return "mended"
    return "merged" if history.is_merged(reports[-1].pull) else "open"


def _fingerprints(key: FindingKey, reports: Sequence[ReportJson]) -> set[str]:
    """Return the names under which reports list an error; they differ by criterion."""
    return {
        check.fingerprint
        for report in reports
        for ballot in model_ballots(report)
        for check in ballot.judgment.failed_checks
        if FindingKey.of(ballot.judge, check) == key
    }


def _is_mended(key: FindingKey, reports: Sequence[ReportJson], history: MergeHistory) -> bool:
    """Tell whether a later push changed the lines, and the judge reports them no more."""
    report, ballot = [
        (report, ballot)
        for report in reports
        for ballot in model_ballots(report)
        if ballot.judge == key.judge and ballot.judgment.status in _VOTES
    ][-1]
    if any(FindingKey.of(key.judge, check) == key for check in ballot.judgment.failed_checks):
        return False
    if report.pull.head == reports[0].pull.head:
        return False
    text = history.read(report.pull, key.path)
    if text is not None:
        return key.quote not in " ".join(text.split())
    blobs = [
        {file.path: file.new_blob for file in each.pull.files}.get(key.path)
        for each in (reports[0], report)
    ]
    return blobs[0] is None or blobs[0] != blobs[1]
