"""One phrase for a branch, the same wherever it stands."""

from __future__ import annotations

import pytest

from prjury.report.backports import backport_line
from prjury.report.model import Backport

REJECTED = "not tried: the change is rejected"


@pytest.mark.parametrize(
    ("backport", "words"),
    [
        (Backport("1.x", "needs_human", applies=True), "needs a human, picks cleanly"),
        (Backport("1.x", "suitable", applies=True), "suitable, picks cleanly"),
        (Backport("1.x", "not_applicable", applies=True, reasons=("empty",)), "not applicable"),
        (Backport("1.x", "not_applicable", applies=None, reasons=(REJECTED,)), REJECTED),
        (Backport("1.x", "already_present", applies=True), "already there"),
        (Backport("1.x", "error", applies=None, reasons=("no",)), "could not be tried"),
    ],
)
def test_the_verdict_comes_first_and_the_trial_does_not_contradict_it(
    backport: Backport, words: str
) -> None:
    assert backport_line(backport).partition(": ")[2] == words
