"""The truth tables of judges that are asked several times, and of juries within juries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from fakes.tables import SAYS, markdown, word
from prjury.jury.confidence import Confidence
from prjury.jury.judge import Judge, JudgeType
from prjury.jury.judgment import Judgment, Status
from prjury.jury.jury import Jury, Seat
from prjury.jury.library.repeated import (
    AggregationMethod,
    RepeatedJudge,
    build_aggregation_strategy,
)
from prjury.jury.library.retry import JuryWithRetry, RoundContext
from prjury.jury.score import CategoricalScore, NumericalScore
from prjury.jury.voting import ConsensusVoting
from strategies import Says


@dataclass
class InTurn:
    """A judge that says one thing after the other."""

    name: str
    left: Iterator[Judgment] = field(default_factory=lambda: iter(()))

    def judge(self, context: object, /) -> Judgment:
        return next(self.left)


# Repeated judges.


def _run(token: str) -> Judgment:
    """A run of a judge: ``7`` is a PASS with that mark of ten, ``good`` one with a word."""
    if token in SAYS:
        return SAYS[token]
    if token.isalpha():
        return Judgment.passed("rated", score=CategoricalScore(token, ("good", "bad")))
    return Judgment.passed("rated", score=NumericalScore(float(token), 0, 10))


def representatives() -> str:
    """Which run stands for all, and the number that the strategy came to."""
    rows = []
    for runs in ("6 7 9", "6 8", "1 1 5 9", "2 4 9", "3 8 8 3 1", "E 8 A 6 7"):
        results = [_run(token) for token in runs.split()]
        row = [f"`{runs}`"]
        for method in AggregationMethod:
            said = build_aggregation_strategy(method).aggregate(results, len(results))
            told = said.metadata["repeated"]
            stands, mark = told["representative"], results[told["representative"]].score
            assert isinstance(mark, NumericalScore)
            row.append(f"run {stands + 1}, with {mark.value:g} ({told['aggregate']:.3g})")
        rows.append(row)
    return markdown(["Runs", *(f"`{method}`" for method in AggregationMethod)], rows)


def uncounted() -> str:
    """Runs that no strategy can count."""
    rows = []
    for runs in ("N N", "A A", "A E", "E E", "P P F", "good good"):
        results = [_run(token) for token in runs.split()]
        judge = RepeatedJudge(InTurn("judge", iter(results)), len(results), "median")
        said = judge.judge(None)
        label = f" `{said.label}`" if said.label else ""
        rows.append([f"`{runs}`", word(said.status) + label, f"`{said.metadata['reason']}`"])
    return markdown(["Runs", "`RepeatedJudge` says", "reason"], rows)


# Asking again.


def _sure(letter: str, confidence: str) -> Judgment:
    number = None if confidence == "–" else float(confidence)
    make = Judgment.passed if letter == "P" else Judgment.failed
    return make("said", confidence=number)


def rounds() -> str:
    """Three judges, threshold 0.7, two rounds at most."""
    rows = []
    for said in (
        ("P0.9 P0.8 F0.7", ""),
        ("P0.7 P0.7 P0.7", ""),
        ("P0.6 P0.5 F0.6", "P0.9 P0.8 P0.7"),
        ("P0.6 P0.5 F0.6", "P0.4 F0.5 F0.6"),
        ("P0.9 P– F–", ""),
        ("P– P– P–", "P– P– P–"),
    ):
        heard = [[_sure(ballot[0], ballot[1:]) for ballot in answers.split()] for answers in said]
        judges = [InTurn(f"judge {n}", iter(turn)) for n, turn in enumerate(_by_judge(heard))]
        verdict = JuryWithRetry(judges, parallel=False).vote(None).aggregated
        told = verdict.metadata
        last = told["retry"]["rounds"][-1]["mean_confidence"]
        mean = "none" if last is None else f"{last:.3g}"
        met = "yes" if told["met_threshold"] else "no"
        first, second = (f"`{answers}`" if answers else "not asked" for answers in said)
        rows.append([first, second, str(told["iterations"]), mean, met, word(verdict.status)])
    head = ["Round 1", "Round 2", "`iterations`", "Mean confidence", "`met_threshold`", "Majority"]
    return markdown(head, rows)


def _by_judge(heard: list[list[Judgment]]) -> list[list[Judgment]]:
    answered = [answers for answers in heard if answers]
    return [list(turn) for turn in zip(*answered, strict=True)]


def strategies() -> str:
    """How sure each of three answers is taken to be."""
    rows = []
    for strategy in (Confidence.SELF_REPORT, Confidence.AGREEMENT, Confidence.FLIP):
        fickle = InTurn("c", iter([_sure("F", "0.8"), _sure("P", "0.8")]))
        judges: list[Judge[Any]] = [Says("a", _sure("P", "0.9")), Says("b", _sure("P", "0.6"))]
        seats = [Seat(one, confidence=strategy) for one in (*judges, fickle)]
        jury = JuryWithRetry(seats, max_iterations=1, parallel=False)
        told = jury.vote(None).aggregated.metadata["retry"]["rounds"][0]
        sure = [f"{told['confidences'][name]:.2g}" for name in "abc"]
        rows.append([f"`{strategy}`", *sure, f"{told['mean_confidence']:.2g}"])
    return markdown(["Strategy", "`P0.9`", "`P0.6`", "`F0.8`, then `P0.8`", "Mean"], rows)


def chairs() -> str:
    """Two programs as judges, and what becomes of the word of a chair."""

    def breaks(_: RoundContext[Any]) -> Judgment:
        raise RuntimeError("no answer from the provider")

    said = {"PASS": SAYS["P"], "FAIL": SAYS["F"], "ABSTAIN": SAYS["A"]}
    model = {told: Says("chair", one, JudgeType.LLM_POWERED) for told, one in said.items()}
    rows = []
    for bench in ("PP", "PF", "FF", "AA"):
        row = [f"`{bench}`"]
        for chair in (None, Says("chair", SAYS["P"]), *model.values(), breaks):
            judges = [Says(f"judge {n}", SAYS[letter]) for n, letter in enumerate(bench)]
            jury: JuryWithRetry[Any] = JuryWithRetry(judges, chair, max_iterations=1)
            row.append(word(jury.vote(None).status))
        rows.append(row)
    head = ["Last round", "no chair", "a program: PASS", *(f"a model: {told}" for told in model)]
    return markdown([*head, "any that crashes"], rows)


# Juries within juries.


def limits() -> str:
    """What is refused, in its own words."""

    def nested(levels: int) -> Jury[Any]:
        inner = Says("judge", SAYS["P"])
        jury: Jury[Any] = Jury([inner], ConsensusVoting(), parallel=False)
        for _ in range(levels - 2):
            jury = Jury([jury.as_judge()], ConsensusVoting(), parallel=False)
        return jury

    def large(questions: int) -> Jury[Any]:
        return Jury([Says("judge", SAYS["P"])] * questions, ConsensusVoting(), parallel=False)

    rows = []
    for what, make, most in (
        ("levels of judges", nested, 10),
        ("questions in a vote", large, 1000),
    ):
        assert make(most).vote(None).status is Status.PASS
        try:
            make(most + 1)
        except ValueError as refusal:
            rows.append([what, f"{most}", f"{refusal}"])
    return markdown(["Limit", "At most", "One more"], rows)
