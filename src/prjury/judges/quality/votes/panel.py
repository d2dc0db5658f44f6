"""Several seats, one judgment: who agrees, who dissents, and whose words stand for all. Pure.

A seat is one model, or one of several runs of it. A seat that has no answer never counts as a pass:
more than half of the seats must have voted, and more of them must pass than fail.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from prjury.jury.judgment import Check, Judgment, Location, Status
from prjury.jury.population import Ballot

_VOTES = (Status.PASS, Status.FAIL)


@dataclass(frozen=True)
class Poll:
    """The ballots of the last round.

    Attributes:
        chair: what the chair says of them, where there is one; over seats none of which voted it
            has nothing to say.
    """

    ballots: Sequence[Ballot]
    chair: Judgment | None = None

    def judgment(self) -> Judgment:
        """The seats' common judgment: that of a real seat, with the others' objections beside it.

        ABSTAIN, or ERROR if a seat crashed, where too few seats voted.
        """
        if self.chair is not None and not any(map(self._saying, _VOTES)):
            return Poll(self.ballots).judgment()
        if len(self.ballots) == 1 and self.chair is None:
            return self.ballots[0].judgment
        status = self._status()
        speaker = self._speaker(status) if status in _VOTES else self._silence()
        checks = (*speaker.checks, *self._objections(speaker))
        told = replace(speaker, reasoning=self._words(speaker), checks=checks)
        about = {"panel": self._panel(), "agreement": self._agreement(status)}
        return told.told(**about, **self._scope(speaker))

    def _status(self) -> Status | None:
        """What the seats come to; None where too few of them voted."""
        if self.chair is not None:
            return self._chairs_vote(self.chair)
        passed, failed = (len(self._saying(status)) for status in _VOTES)
        if not self._has_quorum:
            return None
        return Status.PASS if passed > failed else Status.FAIL

    def _chairs_vote(self, chair: Judgment) -> Status | None:
        """What the chair says: it breaks ties, and may lower what the seats come to."""
        passed, failed = (len(self._saying(status)) for status in _VOTES)
        if chair.status is Status.PASS and failed > passed:
            return Status.FAIL
        lacking = chair.status is Status.PASS and not self._has_quorum
        return None if lacking or chair.status not in _VOTES else chair.status

    @property
    def _has_quorum(self) -> bool:
        """Whether more than half of the seats voted."""
        return sum(len(self._saying(status)) for status in _VOTES) * 2 > len(self.ballots)

    def _saying(self, status: Status | None) -> list[Judgment]:
        return [b.judgment for b in self.ballots if b.judgment.status is status]

    def _speaker(self, status: Status | None) -> Judgment:
        """Whose score is the upper median among those that say so; else the chair itself."""
        same = sorted(self._saying(status), key=_lowest_first)
        if same:
            return same[len(same) // 2]
        return self.chair or self.ballots[0].judgment

    def _silence(self) -> Judgment:
        """The first reason why there is no answer; a crash before anything else."""
        if self.chair is not None and self.chair.status not in _VOTES:
            return self.chair
        silent = [b.judgment for b in self.ballots if b.judgment.status not in _VOTES]
        crashed = [judgment for judgment in silent if judgment.status is Status.ERROR]
        return (crashed or silent)[0]

    def _words(self, speaker: Judgment) -> str:
        votes = {word: len(self._saying(status)) for word, status in _WORDS.items()}
        told = ", ".join(f"{count} {word}" for word, count in votes.items() if count)
        chair = "; the chair decided" if self.chair is not None else ""
        return f"{told} of {len(self.ballots)} seats{chair}: {speaker.reasoning}"

    def _objections(self, speaker: Judgment) -> Iterator[Check]:
        """What others found wrong and the speaker did not, each once, as warnings."""
        seen = {_place(check) for check in speaker.failed_checks}
        for ballot in self.ballots:
            for check in ballot.judgment.failed_checks:
                if _place(check) not in seen:
                    seen.add(_place(check))
                    message = f"{ballot.judge}: {check.message}"
                    yield replace(check, message=message, severity="warning")

    def _scope(self, speaker: Judgment) -> dict[str, Any]:
        """Which files were read: by the seats, for the chair has read opinions alone."""
        if speaker is not self.chair:
            return {}
        said = next(b.judgment for b in self.ballots if b.judgment.status in _VOTES)
        return {"scope": said.metadata["scope"]} if "scope" in said.metadata else {}

    def _panel(self) -> list[dict[str, Any]]:
        return [_seat(ballot) for ballot in self.ballots]

    def _agreement(self, status: Status | None) -> dict[str, Any]:
        same = len(self._saying(status)) if status else 0
        return {"agree": same, "seats": len(self.ballots)}


def _lowest_first(said: Judgment) -> tuple[float, bool]:
    """By score; of equal ones those first that failed a must criterion."""
    return said.effective_score or 0.0, not said.metadata.get("must_failed")


def _place(check: Check) -> tuple[str, Location | None, str | None]:
    """Where a check stands; where its location is no line, by its evidence."""
    placed = check.location is not None and check.location.line is not None
    return check.name, check.location, None if placed else check.evidence


_WORDS = {
    "pass": Status.PASS,
    "fail": Status.FAIL,
    "without an answer": Status.ABSTAIN,
    "crashed": Status.ERROR,
}


def _seat(ballot: Ballot) -> dict[str, Any]:
    """A seat in the judgment's metadata: what it said of each criterion, and how surely."""
    said = ballot.judgment
    metadata = said.metadata
    criteria = metadata.get("criteria")
    answers = criteria if isinstance(criteria, Mapping) else {}
    return {
        "seat": ballot.judge,
        "status": said.status.value,
        "score": said.score.normalized if said.score is not None else None,
        "confidence": said.confidence,
        "reason": said.label or metadata.get("reason"),
        "reasoning": said.reasoning,
        "criteria": {name: answer["verdict"] for name, answer in answers.items()},
        "dropped": metadata.get("evidence", {}).get("dropped", 0),
        "flipped": metadata.get("flipped"),
    }
