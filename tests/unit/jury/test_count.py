from __future__ import annotations

from typing import Any

import pytest

from fakes.refusals import refused
from prjury.jury.count import aggregate_ballots
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment, Status
from prjury.jury.score import NumericalScore
from prjury.jury.voting import Ballot

MODEL = JudgeType.LLM_POWERED


def sure(judgment: Judgment, name: str = "build") -> Ballot:
    return Ballot(name, judgment)


def model(judgment: Judgment, name: str = "quality") -> Ballot:
    return Ballot(name, judgment, type=MODEL)


class Scripted:
    """A strategy that says the same of the whole bench, and another thing of the certain ones."""

    name = "scripted"

    def __init__(self, of_all: Any, of_the_certain: Any = None) -> None:
        self.answers = {3: of_all, 1: of_the_certain}
        self.asked: list[int] = []

    def aggregate(self, ballots: Any, /) -> Any:
        self.asked.append(len(ballots))
        return self.answers[len(ballots)]


ONE_CERTAIN = [sure(Judgment.passed("")), model(Judgment.passed("")), model(Judgment.passed(""))]
ALL_CERTAIN = [sure(Judgment.passed(""), name) for name in "abc"]
TIED = Judgment(Status.ABSTAIN, "a tie", label="x", metadata={"reason": "tie", "count": 3})


@pytest.mark.parametrize(
    ("alone", "reason"),
    [
        (Judgment.failed("broken", score=NumericalScore(0.2)), {}),
        (Judgment.failed("broken", metadata={"reason": "tests", "count": 1}), {"reason": "tests"}),
        (Judgment.errored("broken", metadata={"reason": "timeout"}), {"reason": "timeout"}),
    ],
)
def test_what_is_held_down_has_the_reason_of_the_certain_and_the_counts_of_all(
    alone: Judgment, reason: dict[str, str]
) -> None:
    assert aggregate_ballots(Scripted(TIED, alone), ONE_CERTAIN) == Judgment(
        alone.status,
        "broken; no model-backed judge can lift that: a tie",
        metadata={"count": 3, "held_down_from": "abstain", **reason},
    )


@pytest.mark.parametrize("said", [Judgment.failed("no"), Judgment.errored("crashed")])
def test_what_is_low_already_is_not_held_down(said: Judgment) -> None:
    voting = Scripted(said, Judgment.failed("broken"))
    assert aggregate_ballots(voting, ONE_CERTAIN) is said
    assert voting.asked == [3]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [(None, "NoneType"), (True, "bool"), ("pass", "str"), (Status.PASS, "Status")],
)
def test_a_strategy_answers_with_a_judgment(answer: Any, kind: str) -> None:
    words = f"scripted voting returned a {kind}, not a Judgment"
    with refused(TypeError, words):
        aggregate_ballots(Scripted(answer), ALL_CERTAIN)
    with refused(TypeError, words):
        aggregate_ballots(Scripted(Judgment.passed(""), answer), ONE_CERTAIN)
