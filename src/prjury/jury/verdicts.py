"""Verdicts as JSON values and back, and verdicts within verdicts.

The round trip is identity. A jury or a cascade that sits on a jury as a judge keeps its whole
verdict in its judgment's metadata, under ``jury`` or ``cascade``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from prjury.jury.cascade import TierAttempt, TierPolicy, Verdict
from prjury.jury.codec import (
    Json,
    ballot_from_json,
    cast_to_json,
    judgment_from_json,
    judgment_to_json,
    plain,
)
from prjury.jury.judgment import Judgment
from prjury.jury.jury import JuryVerdict
from prjury.jury.voting import Ballot


def jury_verdict_to_json(verdict: JuryVerdict) -> Json:
    """A jury's verdict with every ballot."""
    if not isinstance(verdict, JuryVerdict):
        raise TypeError(f"a jury's verdict is a JuryVerdict, not a {type(verdict).__name__}")
    return {
        "aggregated": judgment_to_json(verdict.aggregated),
        "ballots": [
            {
                "judge": ballot.judge,
                **cast_to_json(ballot),
                "judgment": judgment_to_json(ballot.judgment),
            }
            for ballot in verdict.ballots
        ],
    }


def jury_verdict_from_json(data: Mapping[str, Any]) -> JuryVerdict:
    """The verdict that `jury_verdict_to_json` wrote."""
    ballots = tuple(
        ballot_from_json(ballot["judge"], {**ballot["judgment"], **ballot})
        for ballot in data["ballots"]
    )
    return JuryVerdict(judgment_from_json(data["aggregated"]), ballots)


def verdict_to_json(verdict: Verdict | JuryVerdict) -> Json:
    """A cascade's verdict with every attempt, or a jury's with every ballot.

    Raises:
        TypeError: for something else.
    """
    if isinstance(verdict, JuryVerdict):
        return jury_verdict_to_json(verdict)
    if not isinstance(verdict, Verdict):
        raise TypeError(f"a verdict is a Verdict or a JuryVerdict, not a {type(verdict).__name__}")
    return {"aggregated": judgment_to_json(verdict.aggregated), **attempts_to_json(verdict)}


def attempts_to_json(verdict: Verdict) -> Json:
    """Every attempt, and which of them decided."""
    return {
        "decided_by": verdict.decided_by,
        "attempts": [
            {
                "name": attempt.name,
                "policy": attempt.policy.value,
                "advisory": attempt.advisory,
                "verdict": attempt.verdict and jury_verdict_to_json(attempt.verdict),
                "skipped_because": attempt.skipped_because,
                "elapsed_ms": attempt.elapsed_ms,
            }
            for attempt in verdict.attempts
        ],
    }


def verdict_from_json(data: Mapping[str, Any]) -> Verdict:
    """The verdict of a cascade that `verdict_to_json` wrote.

    Raises:
        ValueError: for the verdict of a jury.
    """
    if "attempts" not in data and "ballots" in data:
        raise ValueError("this is the verdict of a jury: read it with jury_verdict_from_json")
    return Verdict(
        judgment_from_json(data["aggregated"]), data["decided_by"], _attempts_from_json(data)
    )


def _attempts_from_json(data: Mapping[str, Any]) -> tuple[TierAttempt, ...]:
    return tuple(
        TierAttempt(
            attempt["name"],
            TierPolicy(attempt["policy"]),
            attempt["advisory"],
            attempt["verdict"] and jury_verdict_from_json(attempt["verdict"]),
            attempt["skipped_because"],
            attempt["elapsed_ms"],
        )
        for attempt in data["attempts"]
    )


# Verdicts within verdicts.


def children_of(ballots: tuple[Ballot, ...]) -> Mapping[str, JuryVerdict | Verdict]:
    """The verdicts of the juries and cascades among the judges, by name."""
    children = ((ballot.judge, _child(ballot.judgment)) for ballot in ballots)
    return {name: verdict for name, verdict in children if verdict}


def _child(judgment: Judgment) -> JuryVerdict | Verdict | None:
    metadata = plain(judgment.metadata)
    members, inner = metadata.pop("jury", None), metadata.pop("cascade", None)
    if isinstance(members, dict) and all(map(_is_ballot, members.values())):
        ballots = tuple(ballot_from_json(name, data) for name, data in members.items())
        verdict = JuryVerdict(judgment, ballots)
        return replace(verdict, aggregated=_find_own(judgment, metadata, len(verdict.checks)))
    if isinstance(inner, dict) and "attempts" in inner:
        voted = Verdict(judgment, inner.get("decided_by"), _attempts_from_json(inner))
        return replace(voted, aggregated=_find_own(judgment, metadata, len(voted.checks)))
    return None


def _is_ballot(data: object) -> bool:
    return isinstance(data, dict) and {"status", "type", "weight"} <= data.keys()


def _find_own(judgment: Judgment, metadata: Mapping[str, Any], borrowed: int) -> Judgment:
    """The judgment without what it has of the members: their verdict, and their checks."""
    own = judgment.checks[: max(len(judgment.checks) - borrowed, 0)]
    return replace(judgment, checks=own, metadata=metadata)
