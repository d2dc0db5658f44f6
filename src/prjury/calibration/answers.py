"""What became of the errors that models reported, read from the reports of past runs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, Protocol, TypeAlias, get_args

import msgspec
from msgspec import Struct

from prjury.calibration.record import AnswerBasis, Counts
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Status
from prjury.report.codec import JudgmentJson, PullJson, ReportJson

Outcome: TypeAlias = Literal["mended", "dismissed", "merged", "open"]

#: Where the judgment of a judge that asks models says on what its answers depend.
BASIS = "basis"
_MODEL_BACKED = frozenset({JudgeType.LLM_POWERED, JudgeType.AGENT})
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
    parts = []
    for judgment in model_judgments(report):
        basis = judgment.metadata.get(BASIS)
        if isinstance(basis, Mapping):
            parts.append(msgspec.convert(basis, AnswerBasis))
    return join_bases(parts)


def join_bases(parts: Sequence[AnswerBasis]) -> AnswerBasis | None:
    """Return one basis for several judges; None for none."""
    if not parts:
        return None
    models = tuple(sorted({name for part in parts for name in part.models}))
    return AnswerBasis(models, {judge: it for part in parts for judge, it in part.prompts.items()})


def model_judgments(report: ReportJson) -> Iterator[JudgmentJson]:
    """Iterate over the judgments of models."""
    for tier in report.tiers:
        yield from (each for each in tier.judgments if each.type in _MODEL_BACKED)


def name_pull(pull: PullJson) -> str:
    """Return the name of a pull request, or of its branch where it has no number."""
    return f"{pull.repo}:{pull.head.ref}" if pull.number is None else f"{pull.repo}#{pull.number}"


def group_by_pull(reports: Sequence[ReportJson]) -> dict[str, list[ReportJson]]:
    """Return the reports of each pull request, in the order in which they are given."""
    groups: dict[str, list[ReportJson]] = defaultdict(list)
    for report in reports:
        groups[name_pull(report.pull)].append(report)
    return groups


def confirmed_errors(report: ReportJson) -> dict[FindingKey, Check]:
    """Return the errors that a second question has confirmed."""
    errors = {}
    for judgment in model_judgments(report):
        if judgment.metadata.get("review", {}).get("confirmed"):
            for check in judgment.checks:
                if not check.passed and check.severity == "error":
                    errors[FindingKey.of(judgment.judge, check)] = check
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
            for key, check in confirmed_errors(report).items():
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
    judgments = (judgment for report in reports for judgment in model_judgments(report))
    return {c.fingerprint for j in judgments for c in j.checks if FindingKey.of(j.judge, c) == key}


def _is_mended(key: FindingKey, reports: Sequence[ReportJson], history: MergeHistory) -> bool:
    """Tell whether a later push changed the lines, and the judge reports them no more."""
    judged = [(r, j) for r in reports for j in model_judgments(r) if _has_voted(j, key.judge)]
    report, judgment = judged[-1]
    if any(not c.passed and FindingKey.of(key.judge, c) == key for c in judgment.checks):
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


def _has_voted(judgment: JudgmentJson, judge: str) -> bool:
    return judgment.judge == judge and judgment.status in _VOTES
