"""What became of the errors that models reported, read from the reports of past runs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from prjury.calibration.record import Counts
from prjury.jury.judge import MODEL_BACKED
from prjury.jury.judgment import Check, Status
from prjury.jury.voting import Ballot
from prjury.report.codec import PullJson, ReportJson, ballot_of
from prjury.report.judge_facts import ModelSetup, PanelFacts

if TYPE_CHECKING:
    from prjury.calibration.clone import CloneHistory

_VOTES = frozenset({Status.PASS, Status.FAIL})


class FindingKey(Struct, frozen=True):
    """A place of which an error was reported, whatever the words were."""

    judge: str
    path: str
    quote: str


def _key_of(judge: str, check: Check) -> FindingKey:
    path = check.location.path if check.location else ""
    return FindingKey(judge, path, " ".join((check.evidence or check.message).split()))


def read_model_setup(report: ReportJson) -> ModelSetup | None:
    """Return on what the answers of models in a report depend; None if none has answered."""
    setups = (PanelFacts.of(ballot.judgment).setup for ballot in model_ballots(report))
    return join_model_setups([setup for setup in setups if setup])


def join_model_setups(parts: Sequence[ModelSetup]) -> ModelSetup | None:
    """Return one setup for several judges; None for none."""
    if not parts:
        return None
    models = tuple(sorted({name for part in parts for name in part.models}))
    return ModelSetup(models, {judge: it for part in parts for judge, it in part.prompts.items()})


def model_ballots(report: ReportJson) -> list[Ballot]:
    """Return what judges that ask models have said."""
    judgments = [judgment for tier in report.tiers for judgment in tier.judgments]
    return [ballot_of(judgment) for judgment in judgments if judgment.type in MODEL_BACKED]


def name_pull(pull: PullJson) -> str:
    """Return the name of a pull request, or of its branch where it has no number."""
    return f"{pull.repo}:{pull.head.ref}" if pull.number is None else f"{pull.repo}#{pull.number}"


def find_confirmed_errors(report: ReportJson) -> dict[FindingKey, Check]:
    """Return the errors that a second question has confirmed."""
    errors = {}
    for ballot in model_ballots(report):
        if PanelFacts.of(ballot.judgment).confirmed:
            for check in ballot.judgment.failed_checks:
                if check.severity == "error":
                    errors[_key_of(ballot.judge, check)] = check
    return errors


def count_answers(reports: Sequence[ReportJson], clone: CloneHistory | None) -> Counts:
    """Count what became of each confirmed error, once a pull request; its reports are in order."""
    pulls: dict[str, list[ReportJson]] = defaultdict(list)
    for report in reports:
        pulls[name_pull(report.pull)].append(report)
    outcomes = Counter[str]()
    for group in pulls.values():
        first: dict[FindingKey, int] = {}
        for at, report in enumerate(group):
            for key in find_confirmed_errors(report):
                first.setdefault(key, at)
        outcomes.update(_find_outcome(key, group[at:], clone) for key, at in first.items())
    return Counts(**outcomes)


def _find_outcome(
    key: FindingKey, reports: Sequence[ReportJson], clone: CloneHistory | None
) -> str:
    """Return what became of an error that the first of these reports holds."""
    dismissed = {each.finding for report in reports for each in report.dismissals}
    names = set[str]()  # under which reports list it; they differ by criterion
    last = None
    for report in reports:
        for ballot in model_ballots(report):
            checks = ballot.judgment.failed_checks
            same = [check for check in checks if _key_of(ballot.judge, check) == key]
            names.update(check.fingerprint for check in same)
            if ballot.judge == key.judge and ballot.judgment.status in _VOTES:
                last = None if same else report
    if dismissed & names:
        return "dismissed"
    if last is not None and _changes_lines(key, reports[0], last, clone):
        return "mended"
    return "merged" if clone and clone.is_merged(reports[-1].pull) else "open"


def _changes_lines(
    key: FindingKey, first: ReportJson, last: ReportJson, clone: CloneHistory | None
) -> bool:
    """Tell whether a later push changed the lines of an error, which a model may only forget."""
    if last.pull.head == first.pull.head:
        return False
    text = clone.read(last.pull, key.path) if clone else None
    if text is not None:
        return key.quote not in " ".join(text.split())
    old, new = (
        {file.path: file.new_blob for file in report.pull.files}.get(key.path)
        for report in (first, last)
    )
    return old is None or old != new
