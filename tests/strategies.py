"""Hypothesis strategies for everything that the court knows."""

from __future__ import annotations

import string
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from prjury.jury.cascade import CascadedJury, Tier, conclude
from prjury.jury.count import aggregate_ballots
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment, Location, Status
from prjury.jury.jury import Jury, Seat
from prjury.jury.score import BooleanScore, CategoricalScore, NumericalScore, Score
from prjury.jury.verdicts import JuryVerdict, TierAttempt, TierPolicy, Verdict
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

VOTES = (Status.PASS, Status.FAIL)
SILENT = (Status.ABSTAIN, Status.ERROR)
LABELS = ("not_applicable", "not_configured", "budget", "too_large")


def seated(
    judges: Iterable[Any],
    voting: VotingStrategy,
    name: str = "jury",
    *,
    parallel: bool = True,
    models_lift: bool = True,
) -> Jury[Any]:
    """A jury for contexts of any type."""
    return Jury(tuple(judges), voting, name, parallel, models_lift)


words = st.text(string.ascii_lowercase, min_size=1, max_size=6)
sentences = st.text(min_size=1, max_size=20).filter(lambda text: bool(text.strip()))
shares = st.floats(0.0, 1.0)
weights = st.floats(0.0, 1e300) | st.integers(0, 10)


@dataclass(frozen=True)
class Says:
    """A judge that always says the same."""

    name: str
    judgment: Judgment
    type: JudgeType = JudgeType.DETERMINISTIC

    def judge(self, context: object, /) -> Judgment:
        return self.judgment


@st.composite
def numerical_scores(draw: st.DrawFn) -> NumericalScore:
    bound = st.floats(-1e6, 1e6) | st.integers(-10, 10)
    low, high = sorted(draw(st.lists(bound, min_size=2, max_size=2, unique=True)))
    inside: st.SearchStrategy[float] = st.sampled_from([low, high])
    if isinstance(low, float) and isinstance(high, float):
        inside |= st.floats(low, high)
    return NumericalScore(draw(inside), low, high)


@st.composite
def categorical_scores(draw: st.DrawFn) -> CategoricalScore:
    allowed = draw(st.lists(words, min_size=1, max_size=4, unique=True))
    weighed = draw(st.none() | st.dictionaries(st.sampled_from(allowed), shares))
    return CategoricalScore(draw(st.sampled_from(allowed)), allowed, weighed)


def scores() -> st.SearchStrategy[Score]:
    booleans = st.builds(BooleanScore, st.booleans())
    return st.one_of(booleans, numerical_scores(), categorical_scores())


def json_values() -> st.SearchStrategy[Any]:
    numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    scalars = st.none() | st.booleans() | st.text(max_size=8) | numbers
    return st.recursive(
        scalars,
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
        ),
        max_leaves=6,
    )


def metadata() -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.text(max_size=6), json_values(), max_size=3)


@st.composite
def locations(draw: st.DrawFn) -> Location:
    line = draw(st.none() | st.integers(1, 10_000))
    end = None if line is None else draw(st.none() | st.integers(line, 20_000))
    return Location(draw(st.text(min_size=1, max_size=12)), line, end)


def checks() -> st.SearchStrategy[Check]:
    return st.builds(
        Check,
        name=words,
        passed=st.booleans(),
        message=st.text(max_size=12),
        location=st.none() | locations(),
        severity=st.sampled_from(["error", "warning", "hint"]),
        evidence=st.none() | st.text(max_size=12),
        fix=st.none() | st.text(max_size=12),
    )


@st.composite
def judgments(
    draw: st.DrawFn, statuses: Sequence[Status] = tuple(Status), *, evidence: bool = True
) -> Judgment:
    """Judgments; without evidence (checks and metadata) where only the vote matters."""
    status = draw(st.sampled_from(statuses))
    labels = st.none() if status is Status.ERROR else st.none() | st.sampled_from(LABELS)
    return Judgment(
        status,
        draw(sentences),
        None if status in SILENT else draw(st.none() | scores()),
        draw(labels),
        draw(st.none() | shares),
        tuple(draw(st.lists(checks(), max_size=2))) if evidence else (),
        draw(metadata()) if evidence else {},
    )


def ballots(
    statuses: Sequence[Status] = tuple(Status), *, evidence: bool = False
) -> st.SearchStrategy[Ballot]:
    """Ballots; their judges' names repeat now and then."""
    return st.builds(
        Ballot,
        judge=st.sampled_from(["build", "merge", "style", "tests"]) | words,
        judgment=judgments(statuses, evidence=evidence),
        weight=weights,
        type=st.sampled_from(JudgeType),
        elapsed_ms=st.integers(0, 10_000),
    )


def benches(
    statuses: Sequence[Status] = tuple(Status), *, min_size: int = 1, evidence: bool = False
) -> st.SearchStrategy[list[Ballot]]:
    return st.lists(ballots(statuses, evidence=evidence), min_size=min_size, max_size=6)


error_policies = st.sampled_from(ErrorPolicy)


def majorities() -> st.SearchStrategy[MajorityVoting]:
    return st.builds(MajorityVoting, st.sampled_from(TiePolicy), error_policies)


def consensuses() -> st.SearchStrategy[ConsensusVoting]:
    others = st.sampled_from([Status.FAIL, Status.ABSTAIN, Status.ERROR])
    return st.builds(ConsensusVoting, others, error_policies)


def on_scores(kind: type[VotingStrategy]) -> st.SearchStrategy[Any]:
    """Average, weighted average or median, with any threshold and band."""
    bands = st.tuples(shares, shares).map(lambda pair: (min(pair), max(pair)))
    return st.builds(kind, st.just(0.5) | shares, st.none() | bands, error_policies)


def means() -> st.SearchStrategy[VotingStrategy]:
    return on_scores(AverageVoting) | on_scores(WeightedAverageVoting)


def voting_strategies() -> st.SearchStrategy[VotingStrategy]:
    return st.one_of(majorities(), consensuses(), means(), on_scores(MedianVoting))


def juries() -> st.SearchStrategy[Jury[object]]:
    judges = st.builds(Says, words, judgments(evidence=False), st.sampled_from(JudgeType))
    seats = st.builds(Seat, judges, weights)
    return st.builds(Jury, st.lists(seats, min_size=1, max_size=3), voting_strategies())


@st.composite
def tiers(draw: st.DrawFn, name: str = "tier", policy: TierPolicy | None = None) -> Tier[object]:
    return Tier(
        name,
        draw(st.none() | juries() | juries()),
        policy or draw(st.sampled_from(TierPolicy)),
        draw(st.booleans()),
        draw(st.sampled_from(["block", "continue"])),
        draw(st.none() | shares),
        draw(st.booleans()),
    )


@st.composite
def cascades(draw: st.DrawFn) -> CascadedJury[object]:
    earlier = [draw(tiers(f"tier{n}")) for n in range(draw(st.integers(0, 2)))]
    return CascadedJury([*earlier, draw(tiers("last", TierPolicy.FINAL_TIER))])


@st.composite
def attempts(
    draw: st.DrawFn, name: str = "tier", *, final: bool = False, evidence: bool = False
) -> TierAttempt:
    policy = TierPolicy.FINAL_TIER if final else draw(st.sampled_from(TierPolicy))
    if draw(st.integers(0, 4)) == 0:
        return TierAttempt(name, policy, draw(st.booleans()), skipped_because="another was final")
    bench = tuple(draw(benches(evidence=evidence)))
    verdict = JuryVerdict(aggregate_ballots(draw(voting_strategies()), bench), bench)
    return TierAttempt(name, policy, draw(st.booleans()), verdict, None, draw(st.integers(0, 99)))


@st.composite
def verdicts(draw: st.DrawFn, *, evidence: bool = False) -> Verdict:
    names = [f"tier{n}" for n in range(draw(st.integers(0, 3)))]
    earlier = [draw(attempts(name, evidence=evidence)) for name in names]
    return conclude([*earlier, draw(attempts("last", final=True, evidence=evidence))])
