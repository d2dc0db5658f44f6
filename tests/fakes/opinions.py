"""Judges with fixed opinions, for examples in which the vote is the point."""

from __future__ import annotations

from collections.abc import Iterable

from prjury.jury.judge import FunctionJudge
from prjury.jury.judgment import Judgment, Status
from prjury.jury.score import NumericalScore, Score


def says(
    name: str, status: Status = Status.PASS, score: Score | None = None
) -> FunctionJudge[object]:
    """A judge that always says the same."""
    return FunctionJudge(lambda _: Judgment(status, f"{name} says {status}", score), name)


def rates(name: str, value: float, best: float = 1.0) -> FunctionJudge[object]:
    """A judge that gives marks, from 0 to the best; half of them pass."""
    status = Status.PASS if value * 2 >= best else Status.FAIL
    return says(name, status, NumericalScore(value, 0, best))


def answers(name: str, judgments: Iterable[Judgment]) -> FunctionJudge[object]:
    """A judge that says one thing after the other."""
    left = iter(judgments)
    return FunctionJudge(lambda _: next(left), name)
