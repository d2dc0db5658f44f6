"""Bridges to agent frameworks; each is an extra, imported when it is used."""

from __future__ import annotations

from prjury.errors import CannotJudgeError
from prjury.jury.judgment import Status
from prjury.jury.verdicts import JuryVerdict, Verdict


def is_accepted(verdict: JuryVerdict | Verdict) -> bool:
    """Tell whether the work is accepted, False where feedback helps; raise for other verdicts."""
    if verdict.status in {Status.PASS, Status.FAIL}:
        return verdict.status is Status.PASS
    raise CannotJudgeError(f"the work could not be judged: {verdict.aggregated.reasoning}")
