from __future__ import annotations

import copy
import json
import math
import pickle
from dataclasses import FrozenInstanceError, asdict, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from fakes.refusals import refused
from prjury.jury.frozen import FrozenDict
from prjury.jury.judgment import Check, Judgment, Location, Status
from prjury.jury.score import CategoricalScore, NumericalScore

# What a judgment cannot be.


@pytest.mark.parametrize("status", ["pass", "PASS", None, True, 1])
def test_a_status_is_required_and_is_a_status(status: Any) -> None:
    with refused(TypeError, f"a status is a Status, not {status!r}"):
        Judgment(status, "fine")


@pytest.mark.parametrize("status", [Status.ABSTAIN, Status.ERROR])
@pytest.mark.parametrize("reason", ["", " ", "\n\t"])
def test_silence_needs_a_reason(status: Status, reason: str) -> None:
    with refused(ValueError, f"{status} needs a reason"):
        Judgment(status, reason)


def test_an_error_carries_no_label() -> None:
    with refused(ValueError, "error carries no label"):
        Judgment(Status.ERROR, "crashed", label="not_applicable")


@pytest.mark.parametrize("status", [Status.PASS, Status.FAIL, Status.ABSTAIN])
@pytest.mark.parametrize("label", ["", " ", "\t"])
def test_a_label_is_not_blank(status: Status, label: str) -> None:
    with refused(ValueError, "a label is not blank"):
        Judgment(status, "so", label=label)


@pytest.mark.parametrize(
    ("confidence", "words"),
    [
        (-0.1, "confidence must be in 0..1, not -0.1"),
        (1.1, "confidence must be in 0..1, not 1.1"),
        (2, "confidence must be in 0..1, not 2"),
        (math.nan, "confidence must be finite, not nan"),
        (math.inf, "confidence must be finite, not inf"),
    ],
)
def test_a_confidence_is_a_share(confidence: float, words: str) -> None:
    with refused(ValueError, words):
        Judgment(Status.PASS, "", confidence=confidence)


@pytest.mark.parametrize("confidence", [0, 0.0, 0.5, 1, 1.0])
@pytest.mark.parametrize("status", Status)
def test_everybody_may_be_as_sure_as_they_are(status: Status, confidence: float) -> None:
    assert Judgment(status, "so", confidence=confidence).confidence == confidence


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"reasoning": None}, "a reasoning is text, not a NoneType"),
        ({"reasoning": b"fine"}, "a reasoning is text, not a bytes"),
        ({"label": 7}, "a label is text, not a int"),
        ({"label": 0}, "a label is text, not a int"),
        ({"score": 0.5}, "a score is a Score or None, not 0.5"),
        ({"score": True}, "a score is a Score or None, not True"),
        ({"confidence": True}, "confidence must be a number, not True"),
        ({"checks": ["merge-clean"]}, "a check is a Check, not ('merge-clean',)"),
        ({"metadata": [("a", 1)]}, "metadata is a mapping, not a list"),
        ({"metadata": None}, "metadata is a mapping, not a NoneType"),
    ],
)
def test_every_part_has_its_type(values: dict[str, Any], words: str) -> None:
    with refused(TypeError, words):
        Judgment(**{"status": Status.PASS, "reasoning": "fine", **values})


# What a judgment is.


@pytest.mark.parametrize(
    ("judgment", "expected"),
    [
        (Judgment.passed("", score=NumericalScore(7, 0, 10)), 0.7),
        (Judgment.passed(""), 1.0),
        (Judgment.failed(""), 0.0),
        (Judgment.passed("", score=CategoricalScore("b", ("a", "b"))), 1.0),
        (Judgment.failed("", score=CategoricalScore("b", ("a", "b"), {"b": 0.4})), 0.4),
        (Judgment.abstained("not mine"), None),
        (Judgment.errored("crashed"), None),
    ],
)
def test_effective_score(judgment: Judgment, expected: float | None) -> None:
    assert judgment.effective_score == expected


EVERYTHING: dict[str, Any] = {
    "score": NumericalScore(0.4),
    "checks": (Check("b", passed=False),),
    "metadata": {"reason": "c"},
    "confidence": 0.5,
    "label": "d",
}


@given(strategies.metadata())
def test_metadata_is_kept_frozen_and_can_be_written(metadata: dict[str, Any]) -> None:
    kept = Judgment.passed("", metadata=metadata).metadata
    assert isinstance(kept, FrozenDict)
    assert json.loads(json.dumps(kept)) == json.loads(json.dumps(metadata))


@given(strategies.judgments(), strategies.metadata())
def test_more_metadata_changes_nothing_else(judgment: Judgment, more: dict[str, Any]) -> None:
    told = judgment.with_metadata(**more)
    assert told.metadata == {**judgment.metadata, **Judgment.passed("", metadata=more).metadata}
    assert replace(told, metadata={}) == replace(judgment, metadata={})


@given(strategies.judgments())
def test_a_judgment_is_a_value(judgment: Judgment) -> None:
    twins = (
        replace(judgment),
        copy.copy(judgment),
        copy.deepcopy(judgment),
        pickle.loads(pickle.dumps(judgment)),  # noqa: S301 - our own bytes
    )
    for twin in twins:
        assert twin == judgment
        assert hash(twin) == hash(judgment)
    assert asdict(judgment)["metadata"] == judgment.metadata
    with pytest.raises(FrozenInstanceError):
        judgment.reasoning = "another"  # type: ignore[misc]


# Locations and checks.


@pytest.mark.parametrize(
    ("line", "end", "words"),
    [
        (0, None, "lines count from 1, not 0"),
        (-1, None, "lines count from 1, not -1"),
        (2, 1, "end line 1 without a line at or before it"),
        (None, 3, "end line 3 without a line at or before it"),
    ],
)
def test_lines_count_from_one_and_forwards(line: int | None, end: int | None, words: str) -> None:
    with refused(ValueError, words):
        Location("a.py", line, end)


@pytest.mark.parametrize("number", [True, 1.0, "1"])
def test_lines_are_whole_numbers(number: Any) -> None:
    with refused(TypeError, f"a line is a whole number, not {number!r}"):
        Location("a.py", number)
    with refused(TypeError, f"a line is a whole number, not {number!r}"):
        Location("a.py", 1, number)


def test_a_location_has_a_path() -> None:
    with refused(ValueError, "a location needs a path"):
        Location("")
    path: Any = None
    with refused(TypeError, "a location's path is text, not a NoneType"):
        Location(path)


@pytest.mark.parametrize(
    ("values", "error", "words"),
    [
        ({"name": " "}, ValueError, "a check needs a name"),
        ({"name": None}, TypeError, "a check's name is text, not a NoneType"),
        ({"severity": "fatal"}, ValueError, "check a: severity 'fatal' is not known"),
        ({"passed": 1}, TypeError, "check a: passed is True or False, not 1"),
        ({"passed": None}, TypeError, "check a: passed is True or False, not None"),
        ({"message": 3}, TypeError, "check a: message is text, not a int"),
        ({"message": None}, TypeError, "check a: message is text, not a NoneType"),
        ({"evidence": b"x"}, TypeError, "check a: evidence is text, not a bytes"),
        ({"evidence": b""}, TypeError, "check a: evidence is text, not a bytes"),
        ({"fix": ["x"]}, TypeError, "check a: fix is text, not a list"),
        ({"location": "a.py"}, TypeError, "check a: a location is a Location, not 'a.py'"),
    ],
)
def test_an_impossible_check_is_refused(
    values: dict[str, Any], error: type[Exception], words: str
) -> None:
    with refused(error, words):
        Check(**{"name": "a", "passed": True, **values})


# Fingerprints.


def test_a_fingerprint_is_the_same_in_every_version() -> None:
    moved = Check("jakarta", passed=False, message="moved", location=Location("A.java", 7))
    assert moved.fingerprint == "2deac1add781582c"
    assert replace(moved, location=None, evidence="import  x;\n").fingerprint == "49455c04f7a7527c"


@given(strategies.checks(), st.integers(1, 10_000), st.integers(0, 10))
def test_a_fingerprint_survives_moving_lines(check: Check, line: int, more: int) -> None:
    path = check.location.path if check.location else "a.py"
    here = replace(check, location=Location(path, 1))
    there = replace(check, location=Location(path, line, line + more))
    assert here.fingerprint == there.fingerprint
    assert len(here.fingerprint) == 16
    assert int(here.fingerprint, 16) >= 0


def test_a_fingerprint_tells_findings_apart_but_not_their_indentation() -> None:
    check = Check("jakarta", passed=False, message="moved", location=Location("A.java", 7))
    found = replace(check, evidence="import javax.persistence.Entity;")
    assert found.fingerprint == replace(found, message="moved in 3.0").fingerprint
    assert found.fingerprint == replace(found, evidence=f"\t{found.evidence}  ").fingerprint
    others = [
        replace(found, evidence="import javax.persistence.Id;"),
        replace(found, name="other"),
        replace(found, location=Location("B.java", 7)),
        replace(found, location=None),
    ]
    assert len({found.fingerprint, *(other.fingerprint for other in others)}) == 5


def test_a_fingerprint_of_undecodable_text() -> None:
    check = Check("a", passed=False, evidence="\udc80", location=Location("\udcff.py"))
    assert len(check.fingerprint) == 16
