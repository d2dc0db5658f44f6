"""A reviewer's words from the reply to the report: golden comments arrive, inventions do not fail.

The figures are those of ``tests/benchmarks/reviews.py``, which prints all of them.
"""

from __future__ import annotations

import pytest

from benchmarks.reviews import INVENTIONS, review_golden, review_inventions


def test_golden_comments_arrive_in_their_own_words_at_their_own_lines() -> None:
    outcome = review_golden(0.0)
    assert outcome.share_arrived >= 0.95
    assert outcome.share_failed >= 0.95


@pytest.mark.slow
def test_inventions_fail_nothing_though_the_second_question_errs() -> None:
    outcomes = [review_inventions(kind, 0.2, seed) for kind in INVENTIONS for seed in range(5)]
    failed = sum(outcome.failed for outcome in outcomes)
    assert failed / sum(outcome.reported for outcome in outcomes) < 0.02


@pytest.mark.parametrize("kind", INVENTIONS)
def test_without_a_second_question_inventions_are_warnings_at_most(kind: str) -> None:
    assert review_inventions(kind, None).failed == 0
