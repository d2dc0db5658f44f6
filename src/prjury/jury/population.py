"""Who was asked and who votes: ballots, what becomes of errors, and the evidence of both.

Abstentions leave the population of every strategy. Errors follow the `ErrorPolicy`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment, Status
from prjury.jury.score import finite

#: Labels of abstentions that are nobody's fault: they open a gate rather than close it.
NOT_APPLICABLE = "not_applicable"
NOT_CONFIGURED = "not_configured"
BENIGN_LABELS = frozenset({NOT_APPLICABLE, NOT_CONFIGURED})

#: Why an aggregate abstains when nobody's vote counted.
NOBODY_VOTED = "nobody_voted"

#: Judges whose silence a sentence explains; the rest is counted.
_MOST_TOLD = 10


def is_benign(judgment: Judgment) -> bool:
    """Whether the judge abstained for a reason that is nobody's fault."""
    return judgment.status is Status.ABSTAIN and judgment.label in BENIGN_LABELS


@dataclass(frozen=True, slots=True)
class Ballot:
    """One judge's judgment with the judge's name and weight, as counted by a voting strategy.

    Raises:
        ValueError: for a weight that is negative or not finite.
    """

    judge: str
    judgment: Judgment
    weight: float = 1.0
    type: JudgeType = JudgeType.DETERMINISTIC
    elapsed_ms: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.judgment, Judgment):
            raise TypeError(f"{self.judge}: a ballot holds a Judgment, not {self.judgment!r}")
        object.__setattr__(self, "type", JudgeType(self.type))
        if finite(self.weight, f"the weight of {self.judge}") < 0:
            raise ValueError(f"the weight of {self.judge} is negative: {self.weight}")


class ErrorPolicy(StrEnum):
    """What becomes of a ballot that is an error."""

    TREAT_AS_FAIL = "treat_as_fail"
    TREAT_AS_ABSTAIN = "treat_as_abstain"
    IGNORE = "ignore"
    PROPAGATE = "propagate"


@dataclass(frozen=True, slots=True)
class Population:
    """Who was asked, who votes, and the sentence that tells it."""

    ballots: tuple[Ballot, ...]
    voters: tuple[Ballot, ...]
    strategy: str
    on_error: ErrorPolicy

    def evidence(self, *, reason: str | None = None, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
        """The metadata of an aggregate: its counts, and a word for why it decides nothing."""
        counts = Counter(ballot.judgment.status for ballot in self.ballots)
        errors_are_abstentions = self.on_error is ErrorPolicy.TREAT_AS_ABSTAIN
        abstained = counts[Status.ABSTAIN] + counts[Status.ERROR] * errors_are_abstentions
        aggregation = {
            "strategy": self.strategy,
            "input": len(self.ballots),
            "eligible": len(self.voters),
            "pass": counts[Status.PASS],
            "fail": counts[Status.FAIL],
            "abstain": abstained,
            "error": counts[Status.ERROR],
            "error_policy": self.on_error.value,
            **more,
        }
        return {"aggregation": aggregation, **({"reason": reason} if reason else {})}

    def sentence(self, main: str) -> str:
        """The main clause, then who did not vote and why."""
        silent = sorted(filter(None, map(_why_silent, self.ballots)))
        more = [f"{len(silent) - _MOST_TOLD} more did not vote"] if silent[_MOST_TOLD:] else []
        return "; ".join([main, *silent[:_MOST_TOLD], *more])


def population(
    ballots: Iterable[Ballot], strategy: str, on_error: ErrorPolicy, *, weighted: bool = False
) -> Population | Judgment:
    """Who votes; a judgment instead where there is nothing to count.

    Raises:
        ValueError: for no ballots at all.
    """
    everyone = tuple(ballots)
    if not everyone:
        raise ValueError("there are no ballots to count")
    seated = tuple(b for b in everyone if b.weight > 0) if weighted else everyone
    votes = {Status.PASS, Status.FAIL}
    if on_error is ErrorPolicy.TREAT_AS_FAIL:
        votes.add(Status.ERROR)
    voters = tuple(b for b in seated if b.judgment.status in votes)
    asked = Population(everyone, voters, strategy, on_error)
    erred = [b for b in seated if b.judgment.status is Status.ERROR]
    if erred and on_error is ErrorPolicy.PROPAGATE:
        return _undecidable(asked, erred)
    return asked if voters else _nobody_votes(asked)


def _undecidable(asked: Population, erred: Iterable[Ballot]) -> Judgment:
    names = ", ".join(sorted(ballot.judge for ballot in erred))
    words = sorted(str(ballot.judgment.metadata.get("reason") or "") for ballot in erred)
    return Judgment.errored(
        asked.sentence(f"could not be decided because of {names}"),
        metadata=asked.evidence(reason=next(filter(None, words), "judge_erred")),
    )


def _nobody_votes(asked: Population) -> Judgment:
    label = None
    if all(is_benign(ballot.judgment) for ballot in asked.ballots):
        labels = {ballot.judgment.label for ballot in asked.ballots}
        label = NOT_CONFIGURED if NOT_CONFIGURED in labels else NOT_APPLICABLE
    return Judgment(
        Status.ABSTAIN,
        asked.sentence("nobody voted"),
        label=label,
        metadata=asked.evidence(reason=label or NOBODY_VOTED),
    )


def _why_silent(ballot: Ballot) -> str:
    verb = {Status.ABSTAIN: "abstained", Status.ERROR: "erred"}.get(ballot.judgment.status)
    first_line = ballot.judgment.reasoning.strip().partition("\n")[0]
    return f"{ballot.judge} {verb}: {first_line}" if verb else ""
