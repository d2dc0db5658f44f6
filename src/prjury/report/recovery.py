"""What came of an agent's attempt to repair the tests of a change; it has no vote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

#: ``recovered``: the build passes with the patch. ``not_recovered``: it does not.
#: ``not_tried``: no agent could be started.
RecoveryOutcome: TypeAlias = Literal["recovered", "not_recovered", "not_tried"]

#: Said where a review is made in several jobs: none of them has both the tree and an agent's key.
NO_REPAIR = "fix: a repair is tried by `prjury review` alone, not in jobs of their own"


@dataclass(frozen=True, slots=True)
class RefusedEdit:
    """A file that the agent changed although it may not; undone."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class RepairRound:
    """One attempt.

    Attributes:
        number: from 1.
        outcome: what the build said afterwards, or why it was not asked.
        edited: the files that the agent changed and may change.
        refused: the first of those that were undone; ``refused_total`` counts all.
        usd: None where the agent does not say.
    """

    number: int
    outcome: str
    edited: tuple[str, ...] = ()
    refused: tuple[RefusedEdit, ...] = ()
    refused_total: int = 0
    seconds: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None


@dataclass(frozen=True, slots=True)
class Recovery:
    """All attempts, and the patch with which the build passes.

    Attributes:
        reason: why no further round was made, in words.
        patch: what ``git apply`` reads, on top of the merged tree; empty unless it is recovered.
    """

    outcome: RecoveryOutcome
    reason: str
    rounds: tuple[RepairRound, ...] = ()
    patch: str = ""

    @property
    def usd(self) -> float | None:
        """What the agent says that it has cost; None where it never says."""
        costs = [each.usd for each in self.rounds if each.usd is not None]
        return sum(costs) if costs else None

    @property
    def words(self) -> str:
        """The outcome in one sentence."""
        count = len(self.rounds)
        rounds = f"{count} round{'' if count == 1 else 's'}"
        cost = "" if self.usd is None else f", ${self.usd:.2f}"
        if self.outcome == "recovered":
            files = len(self.rounds[-1].edited)
            edited = f"{files} file{'' if files == 1 else 's'}"
            found = f"recoverable: patch attached, recovered in round {count} ({edited}{cost})"
            return f"{found}; the verdict on this pull request stays"
        if self.outcome == "not_tried":
            return f"not recovered: {self.reason}"
        return f"not recovered in {rounds}{cost}: {self.reason}"
