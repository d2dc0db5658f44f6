"""The truth tables of the voting strategies, made by letting them vote."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from fakes.tables import SAYS, markdown, word
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment, Status
from prjury.jury.jury import Jury
from prjury.jury.score import NumericalScore
from prjury.jury.voting import (
    AverageVoting,
    Ballot,
    ConsensusVoting,
    ErrorPolicy,
    MajorityVoting,
    MedianVoting,
    VotingStrategy,
    WeightedAverageVoting,
)
from strategies import Says

_, FAIL, ABSTAIN, ERROR = Status
AS_FAIL, AS_ABSTAIN, IGNORE, PROPAGATE = ErrorPolicy


def ballots(bench: str) -> list[Ballot]:
    return [Ballot(f"judge {n}", SAYS[letter]) for n, letter in enumerate(bench, start=1)]


# Who votes.


def errors() -> str:
    """The same bench under each error policy: who counts, and what the evidence says."""
    head = ["`on_error`", "votes", "passes", "`abstain`", "`error`", "`PPEA` ends as", "it says"]
    rows = []
    for policy in ErrorPolicy:
        said = MajorityVoting(on_error=policy).aggregate(ballots("PPEA"))
        counts = said.metadata["aggregation"]
        figures = [str(counts[key]) for key in ("eligible", "pass", "abstain", "error")]
        rows.append([f"`{policy.name}`", *figures, word(said.status), said.reasoning])
    return markdown(head, rows)


# Strategies that read scores.


#: How each strategy differs, in words: what it reads, what a tie is, when to take it.
STRATEGIES: Mapping[str, tuple[VotingStrategy, str, str, str]] = {
    "Majority": (
        MajorityVoting(),
        "statuses",
        "`TiePolicy`, FAIL by default",
        "yes-or-no judges that count alike",
    ),
    "Average": (
        AverageVoting(),
        "scores",
        "the threshold passes",
        "marks that count alike, and every mark should move the result",
    ),
    "Weighted average": (
        WeightedAverageVoting(),
        "scores and weights",
        "the threshold passes",
        "some judges matter more than others, and you can say why",
    ),
    "Median": (
        MedianVoting(),
        "scores",
        "mean of the middle pair",
        "marks that count alike, from judges that are sometimes far off",
    ),
    "Consensus": (
        ConsensusVoting(),
        "statuses",
        "`on_disagreement`, FAIL by default",
        "one objection is enough: security, compliance",
    ),
}


def _scored(token: str, name: str) -> Ballot:
    """A ballot from ``P``, ``0.8`` (a PASS), ``F:0.8`` (a FAIL with a score) or ``0.8×5``."""
    what, _, weight = token.partition("×")
    letter, _, score = what.rpartition(":")
    judgment = SAYS.get(what)
    if judgment is None:
        make = Judgment.failed if letter == "F" else Judgment.passed
        judgment = make("rated", score=NumericalScore(float(score)))
    return Ballot(name, judgment, float(weight or 1))


def comparison() -> str:
    """The strategies beside each other, with what one judge of five does to each.

    Four judges give 0.8; the fifth, whose weight is four times theirs, gives a FAIL with 0.0.
    """
    outlier = [_scored(token, "judge") for token in ["0.8"] * 4 + ["F:0.0×4"]]
    rows = []
    for name, (voting, reads, ties, when) in STRATEGIES.items():
        said = voting.aggregate(outlier)
        score = "yes" if said.score else "no"
        end = word(said.status) + (f" {said.effective_score:.2f}" if said.score else "")
        rows.append([name, reads, score, ties, end, when])
    head = ["Strategy", "Reads", "Carries a score", "A tie", "One outlier of five", "Take it for"]
    return markdown(head, rows)


# Models lower, never lift.


def models() -> str:
    """Juries of one program (P, F, A, E) and two models, by majority."""
    head = ["Programs say", "Models say", "The vote alone", "The jury"]
    rows = []
    for certain, others in product("PFAE", ("PP", "FF")):
        judges = [Says("program", SAYS[certain])]
        judges += [Says("model", SAYS[letter], JudgeType.LLM_POWERED) for letter in others]
        alone = MajorityVoting().aggregate(ballots(certain + others))
        said = Jury(judges, MajorityVoting(), models_lift=False).vote(None).aggregated
        rows.append([f"`{certain}`", f"`{others}`", word(alone.status), word(said.status)])
    return markdown(head, rows)
