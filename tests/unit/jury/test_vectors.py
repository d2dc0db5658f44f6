"""Language-neutral cases of votes, juries and cascades."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from prjury.jury.cascade import CascadedJury, Tier
from prjury.jury.compose import all_of, any_of, disambiguate_names
from prjury.jury.judge import FunctionJudge, ask
from prjury.jury.judgment import Judgment, Status
from prjury.jury.jury import Jury
from prjury.jury.library.repeated import aggregate_repeated_results, build_aggregation_strategy
from prjury.jury.score import BooleanScore, CategoricalScore, NumericalScore, Score, to_numerical
from prjury.jury.verdicts import JuryVerdict, TierPolicy
from prjury.jury.voting import (
    AverageVoting,
    Ballot,
    ConsensusVoting,
    ErrorPolicy,
    MajorityVoting,
    MedianVoting,
    TiePolicy,
    VotingStrategy,
    WeightedAverageVoting,
)
from strategies import Says, seated
from vectors import Case, cases


def status_of(word: str) -> Status:
    return Status(word.lower())


def score_of(data: Any) -> Score | None:
    match data:
        case None:
            return None
        case {"type": "boolean", "value": value}:
            return BooleanScore(value)
        case {"type": "numerical", "value": value, "min": low, "max": high}:
            return NumericalScore(value, low, high)
        case {"type": "categorical", "value": value, "allowed": allowed}:
            return CategoricalScore(value, allowed)
    return NumericalScore(data)


def judgment_of(data: Case) -> Judgment:
    """The case's judgment; an abstention and an error have no score."""
    status = status_of(data["status"])
    silent = status in {Status.ABSTAIN, Status.ERROR}
    return Judgment(status, "as given", None if silent else score_of(data.get("score")))


def saying(name: str, status: str) -> Says:
    return Says(name, Judgment(status_of(status), "as given"))


def voting_of(given: Case) -> VotingStrategy:
    """The strategy with the policies of the case."""
    errors = ErrorPolicy(given["error_policy"].lower())
    disagreement = status_of(given.get("on_disagreement", "FAIL"))
    tie = TiePolicy(given.get("tie_policy", "FAIL").lower())
    kinds: dict[str, Callable[[], VotingStrategy]] = {
        "majority": lambda: MajorityVoting(tie, errors),
        "consensus": lambda: ConsensusVoting(disagreement, errors),
        "average": lambda: AverageVoting(on_error=errors),
        "weighted_average": lambda: WeightedAverageVoting(on_error=errors),
        "median": lambda: MedianVoting(on_error=errors),
    }
    return kinds[given["strategy"]]()


def normalize_score(given: Case) -> Case:
    score = score_of(given["score"])
    assert score
    return {"normalized": to_numerical(score, given["category_map"])}


def aggregate(given: Case) -> Case:
    weights = {int(place): float(weight) for place, weight in given["weights"].items()}
    said = voting_of(given).aggregate(
        [
            Ballot(f"judge{place}", judgment_of(data), weights.get(place, 1.0))
            for place, data in enumerate(given["judgments"])
        ]
    )
    score = said.score and pytest.approx(said.score.normalized, abs=1e-9)
    return {"status": said.status.name, "score": score}


def judgment(given: Case) -> Case:
    said = Judgment(
        status_of(given["status"]), given["reasoning"], score_of(given["score"]), given["label"]
    )
    return {"ok": True, "effective_score": said.effective_score}


class GivenJury:
    """A jury whose verdict is part of the case."""

    def __init__(self, data: Case) -> None:
        self.data = data

    def vote(self, context: object, **_: Any) -> JuryVerdict:
        if self.data.get("raises"):
            raise RuntimeError("as given")
        ballots = [
            Ballot(f"judge{place}", Judgment(status_of(word), "as given"))
            for place, word in enumerate(self.data["individual"])
        ]
        return JuryVerdict(Judgment(status_of(self.data["aggregate"]), "as given"), tuple(ballots))


def cascade(given: Case) -> Case:
    tiers = []
    for data in given["tiers"]:
        jury: Any = GivenJury(data)
        tiers.append(Tier(data["name"], jury, TierPolicy(data["policy"].lower())))
    verdict = CascadedJury(tiers).vote(None)
    executed = [attempt for attempt in verdict.attempts if attempt.verdict]
    last = executed[-1].verdict
    return {
        "status": verdict.status.name,
        "executed": [attempt.name for attempt in executed],
        "stopped_at": executed[-1].name,
        "individual_count": len(last.individual) if last else None,
    }


def meta_jury(given: Case) -> Case:
    members = [
        seated([saying("only", member["aggregate"])], _propagating(), member["name"]).as_judge()
        for member in given["members"]
    ]
    jury: Jury[Any] = Jury(members, voting_of(given))
    verdict = jury.vote(None)
    return {
        "status": verdict.aggregated.status.name,
        "individual": [said.status.name for said in verdict.individual],
    }


def _propagating() -> VotingStrategy:
    return ConsensusVoting(on_error=ErrorPolicy.PROPAGATE)


def compose(given: Case) -> Case:
    called: list[str] = []

    def answering(word: str) -> FunctionJudge[object]:
        def answer(context: object) -> Judgment:
            called.append(word)
            return Judgment(status_of(word), "as given")

        return FunctionJudge(answer, word)

    operator = {"and": all_of, "or": any_of}[given["operator"]]
    said = ask(operator(*map(answering, given["judges"])), None)
    return {"status": said.status.name, "called": len(called)}


def auto_name(given: Case) -> Case:
    return {"names": list(disambiguate_names(given["names"]))}


def overall_verdict(given: Case) -> Case:
    *earlier, last = [
        (f"tier{place}", seated([saying("judge", word)], _propagating()))
        for place, word in enumerate(given["statuses"])
    ]
    tiers = [Tier(name, jury, continue_on_reject=True) for name, jury in earlier]
    final = Tier(*last, TierPolicy.FINAL_TIER)
    return {"verdict": CascadedJury([*tiers, final]).vote(None).status.name}


def output(place: int, data: Case) -> Judgment:
    """One of the repeated results, which tells its place."""
    if data["error"] is not None:
        return Judgment.errored(str(data["error"]))
    return Judgment.passed(f"output {place}", score=raw_score(data["score"]))


def raw_score(value: float | str | bool | None) -> Score | None:
    """The score as it is given, on a scale that has room for it."""
    match value:
        case None:
            return None
        case bool():
            return BooleanScore(value)
        case str():
            return CategoricalScore(value, (value,))
    return NumericalScore(value, min(value, 0), max(value, 1))


def repeated(given: Case) -> Case:
    results = [output(place, data) for place, data in enumerate(given["results"])]
    found = aggregate_repeated_results(results, given["total_judges"])
    strategy = build_aggregation_strategy(given["method"])
    said = strategy.aggregate(results, given["total_judges"])
    told = said.metadata["repeated"]
    assert said.score
    return {
        "valid_count": len(found.valid_results),
        "error_count": len(found.errors),
        "representative": results.index(replace(said, metadata={})),
        "representative_score": said.score.value,
        "aggregate": pytest.approx(told["aggregate"], abs=1e-9),
    }


def build_aggregator(given: Case) -> Case:
    return {"strategy": build_aggregation_strategy(given["selector"]).strategy}


REPLAYED: Mapping[str, Callable[[Case], Case]] = {
    operation.__name__: operation
    for operation in (
        normalize_score,
        aggregate,
        judgment,
        cascade,
        meta_jury,
        compose,
        auto_name,
        overall_verdict,
        repeated,
        build_aggregator,
    )
}


def test_every_operation_is_replayed() -> None:
    assert {case["op"] for case in cases("jury")} <= {*REPLAYED}


@pytest.mark.parametrize(
    "case",
    [*cases("jury"), *cases("library", "repeated", "build_aggregator")],
    ids=lambda case: case["id"],
)
def test_replay(case: Case) -> None:
    replay, expected = REPLAYED[case["op"]], dict(case["expect"])
    if "raises" in expected:
        refusal = TypeError if expected["raises"] == "type_error" else ValueError
        with pytest.raises(refusal, match=r"."):
            replay(case["input"])
        return
    found = replay(case["input"])
    if refused := expected.pop("not_status", None):
        assert found["status"] != refused
    assert {key: found[key] for key in expected} == expected
