"""The visible list of backport checks."""

from __future__ import annotations

from pathlib import Path

from prjury.judges.backport.check_list import CHECKS
from prjury.judges.backport.verdict import BREAKING, CAREFUL, TO_CHANGE

PAGE = Path(__file__).parents[5] / ".github/docs/judges/backport.md"
NAMES = list(dict.fromkeys(check.name for check in CHECKS))


def test_the_page_names_the_checks_in_the_order_of_the_report() -> None:
    rows = [line.split("|")[1] for line in PAGE.read_text("utf-8").splitlines() if "|" in line]
    named = [word.strip("`, ") for row in rows for word in row.split() if word.startswith("`")]
    assert [name for name in named if name in NAMES] == NAMES


def test_checks_that_settle_a_verdict_come_first() -> None:
    stages = [check.stage for check in CHECKS]
    assert stages == ["first"] * stages.count("first") + [s for s in stages if s != "first"]


def test_the_verdict_knows_no_other_check() -> None:
    assert set(NAMES) >= BREAKING | CAREFUL | TO_CHANGE
