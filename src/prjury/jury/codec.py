"""Judgments and ballots as JSON values and back; the round trip is identity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, TypeAlias

from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment, Location, Status
from prjury.jury.score import BooleanScore, CategoricalScore, NumericalScore, Score
from prjury.jury.voting import Ballot

Json: TypeAlias = dict[str, Any]

_SCORES: Mapping[str, type[Score]] = {
    "boolean": BooleanScore,
    "numerical": NumericalScore,
    "categorical": CategoricalScore,
}


def check_to_json(check: Check) -> Json:
    """A check with its fingerprint, in the form of the published report."""
    return {
        "name": check.name,
        "passed": check.passed,
        "message": check.message,
        "severity": check.severity,
        "location": asdict(check.location) if check.location else None,
        "evidence": check.evidence,
        "fix": check.fix,
        "fingerprint": check.fingerprint,
    }


def check_from_json(data: Mapping[str, Any]) -> Check:
    """The check that `check_to_json` wrote."""
    values = {key: value for key, value in data.items() if key != "fingerprint"}
    place = values.pop("location", None)
    return Check(**values, location=Location(**place) if place else None)


def score_to_json(score: Score | None) -> Json | None:
    """The score with its type and its bounds or words."""
    if score is None:
        return None
    kind = next(name for name, kind in _SCORES.items() if isinstance(score, kind))
    return {"type": kind, **{each.name: plain(getattr(score, each.name)) for each in fields(score)}}


def score_from_json(data: Mapping[str, Any] | None) -> Score | None:
    """The score that `score_to_json` wrote; ValueError for an unknown type."""
    if data is None:
        return None
    if data["type"] not in _SCORES:
        raise ValueError(f"unknown score type {data['type']!r}")
    return _SCORES[data["type"]](**{key: value for key, value in data.items() if key != "type"})


def plain(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Frozen metadata as plain dictionaries and lists."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, tuple | list) else value


def judgment_to_json(judgment: Judgment) -> Json:
    """A judgment with nothing left out."""
    return {
        "status": judgment.status.value,
        "reasoning": judgment.reasoning,
        "score": score_to_json(judgment.score),
        "label": judgment.label,
        "confidence": judgment.confidence,
        "checks": [check_to_json(check) for check in judgment.checks],
        "metadata": plain(judgment.metadata),
    }


def judgment_from_json(data: Mapping[str, Any]) -> Judgment:
    """The judgment that `judgment_to_json` wrote."""
    return Judgment(
        Status(data["status"]),
        data["reasoning"],
        score_from_json(data.get("score")),
        data.get("label"),
        data.get("confidence"),
        tuple(check_from_json(check) for check in data.get("checks", ())),
        data.get("metadata", {}),
    )


def ballot_to_json(ballot: Ballot) -> Json:
    """A ballot without its judge's name: the judgment, its weight and where it comes from."""
    cast = {"type": ballot.type.value, "weight": ballot.weight, "elapsed_ms": ballot.elapsed_ms}
    return {**judgment_to_json(ballot.judgment), **cast}


def ballot_from_json(judge: str, data: Mapping[str, Any]) -> Ballot:
    """The ballot of this judge that `ballot_to_json` wrote."""
    kind = JudgeType(data["type"])
    return Ballot(judge, judgment_from_json(data), data["weight"], kind, data["elapsed_ms"])
