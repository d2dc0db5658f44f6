from __future__ import annotations

import pytest

from fakes import reports as fake
from prjury.jury.judgment import Judgment
from prjury.report.model import SkippedJudge
from prjury.report.view import TableRow, limit_rows, rows


def told(*every: TableRow) -> list[str]:
    return [f"{row.tier} | {row.judge} | {row.outcome.symbol} {row.words}" for row in every]


def test_one_row_per_judge_with_its_subject_and_its_words() -> None:
    assert told(*rows(fake.broken_build())) == [
        "build | merge onto `main` @`abc1234` | ✅ merges cleanly, 3 commits behind",
        "build | build: `./mvnw -q verify` | ❌ failed with exit code 1",
        "version-patterns | all judges | ⏭️ not run: build failed",
        "quality | all judges | ⏭️ not run: build failed",
    ]


def test_a_judge_that_was_not_asked_for_is_a_row() -> None:
    assert (
        told(*rows(fake.conflicting()))[-1]
        == "quality | quality | ⏭️ not run: the branch conflicts with its base"
    )


@pytest.mark.parametrize(
    ("skipped", "row"),
    [
        ((), "build | all judges | ⏭️ not run: t failed"),
        ((SkippedJudge("build", "--no-build"),), "build | build | ⏭️ not run: --no-build"),
    ],
)
def test_a_tier_that_did_not_run_is_one_row(skipped: tuple[SkippedJudge, ...], row: str) -> None:
    attempts = (fake.tier("t", fake.ballot("a", fake.MERGED)), fake.not_run("build", "t failed"))
    assert told(*rows(fake.report(*attempts, skipped={"build": skipped})))[1:] == [row]


def test_at_most_eight_rows_keep_the_worst_in_order() -> None:
    ballots = [fake.ballot(f"p{n}", Judgment.passed("ok")) for n in range(9)]
    ballots.append(fake.ballot("bad", Judgment.failed("no")))
    every = rows(fake.report(fake.tier("t", *ballots), fake.not_run("later", "t failed")))
    few = limit_rows(every, 8)
    assert len(few) == 8
    assert told(*few[-2:]) == [
        "t | bad | ❌ no",
        "t and later | 4 more judges | ✅ 3 pass and 1 not run",
    ]
