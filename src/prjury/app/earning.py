"""Earning the gate: a record at the base lets a tier of models block that otherwise advises."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from prjury.app.policy_in_force import read_text_at
from prjury.calibration.answers import Record, join_model_setups, read_record
from prjury.errors import PrJuryError
from prjury.jury.cascade import conclude
from prjury.jury.judge import MODEL_BACKED
from prjury.jury.judgment import Status
from prjury.jury.verdicts import TierAttempt, Verdict
from prjury.policy.schema import Config
from prjury.ports import Repository
from prjury.report.judge_facts import PanelFacts


def read_base_record(repository: Repository, commit: str, config: Config) -> str | None:
    """Read the record at the base commit; None if it has none, empty if it cannot be read."""
    try:
        return read_text_at(repository, commit, config.calibration, config.calibration)
    except PrJuryError:
        return ""


def let_tiers_block(
    verdict: Verdict, config: Config, calibration_text: str | None, today: date
) -> tuple[Verdict, tuple[str, ...]]:
    """Let each tier block whose record fits; and say why another record does not count."""
    if calibration_text is None:
        return verdict, ()
    record = read_record(calibration_text, config.calibration)
    flaw = record if isinstance(record, str) else record.find_flaw(today)
    attempts, notes = list[TierAttempt](), list[str]()
    for tier, attempt in zip(config.tiers, verdict.attempts, strict=True):
        earned = attempt
        if tier.advisory == "auto" and attempt.advisory and _is_asked(attempt):
            reason = flaw or (_find_misfit(record, attempt) if isinstance(record, Record) else None)
            if reason:
                notes.append(
                    f"{tier.name} only advises, for {config.calibration} does not count: {reason}"
                )
            else:
                earned = replace(attempt, advisory=False)
        attempts.append(earned)
    return conclude(attempts), tuple(notes)


def _is_asked(attempt: TierAttempt) -> bool:
    judgments = attempt.verdict.individual if attempt.verdict else ()
    return any(one.status is Status.ERROR or PanelFacts.parse(one).setup for one in judgments)


def _find_misfit(record: Record, attempt: TierAttempt) -> str | None:
    """Return why the record is not about the judges of a tier; None if it is."""
    setups = []
    for ballot in attempt.verdict.ballots if attempt.verdict else ():
        setup = PanelFacts.parse(ballot.judgment).setup
        if setup:
            setups.append(setup)
        elif ballot.judgment.status in {Status.PASS, Status.FAIL} and ballot.type in MODEL_BACKED:
            return f"{ballot.judge} does not say which model and questions its answers depend on"
    joined = join_model_setups(setups)
    return record.find_misfit(joined) if joined else None
