"""What a model says where programs and the score leave a backport open."""

from __future__ import annotations

from dataclasses import replace

from prjury.jury.judgment import Judgment, Status
from prjury.jury.population import is_benign
from prjury.report.model import Backport


def is_open(backport: Backport) -> bool:
    """Whether a human has to decide about a clean pick, so that an opinion is worth something."""
    return backport.verdict == "needs_human" and backport.applies is True


def with_opinion(backport: Backport, opinion: Judgment) -> Backport:
    """The verdict, which still is a human's to make, with what a model says of the change.

    Nothing is added where no model could be asked.
    """
    if is_benign(opinion):
        return backport
    words = {Status.PASS: "a model finds it suitable", Status.FAIL: "a model advises against"}
    told = words.get(opinion.status, "no answer of a model")
    failed = [f"{check.name}: {check.message}" for check in opinion.failed_checks]
    said = (f"{told} ({opinion.reasoning})", *failed)
    return replace(backport, reasons=(*backport.reasons, *said))
