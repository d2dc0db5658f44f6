"""The truth tables of the voting strategies, made by letting them vote."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import product

from fakes.tables import SAYS, grouped, markdown, several, word
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
    TiePolicy,
    VotingStrategy,
    WeightedAverageVoting,
)
from strategies import Says

_, FAIL, ABSTAIN, ERROR = Status
AS_FAIL, AS_ABSTAIN, IGNORE, PROPAGATE = ErrorPolicy


def ballots(bench: str) -> list[Ballot]:
    return [Ballot(f"judge {n}", SAYS[letter]) for n, letter in enumerate(bench, start=1)]


# Strategies that read statuses.

Choice = Callable[[ErrorPolicy], VotingStrategy]


def _status_table(choices: Mapping[Status, Choice], open_question: str) -> str:
    """Outcomes by error policy; where the choices differ, the cell names the open question."""

    def cell(bench: str, policies: Sequence[ErrorPolicy]) -> str:
        ends = {
            tuple(choice(policy).aggregate(ballots(bench)).status for choice in choices.values())
            for policy in policies
        }
        (end,) = ends
        if len(set(end)) == 1:
            return word(end[0])
        assert end == tuple(choices), f"{bench} ends neither alike nor as chosen: {end}"
        return open_question

    columns = ((AS_FAIL,), (AS_ABSTAIN, IGNORE), (PROPAGATE,))
    head = ["Ballots", *(" or ".join(f"`{one.name}`" for one in column) for column in columns)]
    head[1] += " (default)"
    rows = grouped(several("PFAE", 3), lambda bench: [cell(bench, column) for column in columns])
    return markdown(head, rows)


def majority() -> str:
    choices: dict[Status, Choice] = {Status(tie): partial(MajorityVoting, tie) for tie in TiePolicy}
    return _status_table(choices, "*tie*")


def consensus() -> str:
    others = (FAIL, ABSTAIN, ERROR)
    choices: dict[Status, Choice] = {other: partial(ConsensusVoting, other) for other in others}
    return _status_table(choices, "*disagreement*")


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


def _scored(token: str, name: str) -> Ballot:
    """A ballot from ``P``, ``0.8`` (a PASS), ``F:0.8`` (a FAIL with a score) or ``0.8×5``."""
    what, _, weight = token.partition("×")
    letter, _, score = what.rpartition(":")
    judgment = SAYS.get(what)
    if judgment is None:
        make = Judgment.failed if letter == "F" else Judgment.passed
        judgment = make("rated", score=NumericalScore(float(score)))
    return Ballot(name, judgment, float(weight or 1))


def _marks(cases: Iterable[tuple[str, VotingStrategy, str]]) -> str:
    rows = []
    for bench, voting, options in cases:
        names = "abcdef"
        cast = [_scored(token, name) for token, name in zip(bench.split(), names, strict=False)]
        said = voting.aggregate(cast)
        score = "–" if said.score is None else f"{said.effective_score:.4g}"
        rows.append([f"`{bench}`", options, word(said.status), score, said.reasoning])
    return markdown(["Ballots", "Options", "Ends as", "Score", "It says"], rows)


def average() -> str:
    banded = AverageVoting(undecided=(0.4, 0.6))
    return _marks(
        [
            ("0.8 0.7 0.6", AverageVoting(), ""),
            ("P P F", AverageVoting(), ""),
            ("0.6 0.4", AverageVoting(), ""),
            ("0.6 0.2", AverageVoting(), ""),
            ("0.7 0.7 0.7", AverageVoting(0.7), "`threshold=0.7`"),
            ("0.9 F:0.9", AverageVoting(), ""),
            ("0.8 A", AverageVoting(), ""),
            ("0.8 E", AverageVoting(), ""),
            ("0.8 E", AverageVoting(on_error=IGNORE), "`IGNORE`"),
            ("0.8 E", AverageVoting(on_error=PROPAGATE), "`PROPAGATE`"),
            ("A A", AverageVoting(), ""),
            ("0.6 0.4", banded, "`undecided=(0.4, 0.6)`"),
            ("0.6 0.6", banded, "`undecided=(0.4, 0.6)`"),
            ("0.7 0.6", banded, "`undecided=(0.4, 0.6)`"),
        ]
    )


def weighted() -> str:
    cautious = WeightedAverageVoting(on_error=PROPAGATE)
    return _marks(
        [
            ("1.0×0.5 0.8×0.3 0.6×0.2", WeightedAverageVoting(), ""),
            ("1.0×5 0.8×3 0.6×2", WeightedAverageVoting(), ""),
            ("P F", WeightedAverageVoting(), ""),
            ("P×3 F×7", WeightedAverageVoting(), ""),
            ("P F×0", WeightedAverageVoting(), ""),
            ("P E×0", cautious, "`PROPAGATE`"),
            ("P×1 E×3", WeightedAverageVoting(), ""),
            ("P×1 A×9", WeightedAverageVoting(), ""),
            ("P×0 F×0", WeightedAverageVoting(), ""),
        ]
    )


def median() -> str:
    return _marks(
        [
            ("0.2 0.8 0.9", MedianVoting(), ""),
            ("0.9 0.8 0.0", MedianVoting(), ""),
            ("0.3 0.7 0.8 0.9", MedianVoting(), ""),
            ("0.4 0.6", MedianVoting(), ""),
            ("0.9 0.9 E E E", MedianVoting(), ""),
            ("0.9 0.9 E E E", MedianVoting(on_error=AS_ABSTAIN), "`TREAT_AS_ABSTAIN`"),
            ("0.1×9 0.8 0.9", MedianVoting(), ""),
        ]
    )


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
        said = Jury(judges, MajorityVoting(), parallel=False).vote(None).aggregated
        rows.append([f"`{certain}`", f"`{others}`", word(alone.status), word(said.status)])
    return markdown(head, rows)
