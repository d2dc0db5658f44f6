from __future__ import annotations

import copy
import json
import math
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from prjury.jury.context import ExecutionStatus, JudgmentContext
from prjury.jury.frozen import FrozenDict, freeze
from prjury.jury.judgment import Check, Judgment, Location, Status
from prjury.jury.score import BooleanScore, CategoricalScore, NumericalScore


def test_the_words_of_a_status() -> None:
    assert [status.value for status in Status] == ["pass", "fail", "abstain", "error"]


@pytest.mark.parametrize("status", ["pass", "PASS", None, True, 1])
def test_a_status_is_required_and_is_a_status(status: Any) -> None:
    with pytest.raises(TypeError, match="a status is a Status"):
        Judgment(status, "fine")


@pytest.mark.parametrize("status", [Status.ABSTAIN, Status.ERROR])
@pytest.mark.parametrize("reason", ["", " ", "\n\t"])
def test_silence_needs_a_reason(status: Status, reason: str) -> None:
    with pytest.raises(ValueError, match="needs a reason"):
        Judgment(status, reason)


@pytest.mark.parametrize("status", [Status.ABSTAIN, Status.ERROR])
def test_silence_carries_no_score(status: Status) -> None:
    with pytest.raises(ValueError, match="carries no score"):
        Judgment(status, "no key", BooleanScore.FAIL)


def test_an_error_carries_no_label() -> None:
    with pytest.raises(ValueError, match="no label"):
        Judgment(Status.ERROR, "crashed", label="not_applicable")


@pytest.mark.parametrize("label", ["", " ", "\t"])
def test_a_label_is_not_blank(label: str) -> None:
    with pytest.raises(ValueError, match="blank"):
        Judgment(Status.PASS, "", label=label)


@pytest.mark.parametrize("confidence", [-0.1, 1.1, math.nan, math.inf])
def test_a_confidence_is_a_share(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence"):
        Judgment(Status.PASS, "", confidence=confidence)


@pytest.mark.parametrize(
    "values",
    [
        {"reasoning": None},
        {"reasoning": b"fine"},
        {"label": 7},
        {"score": 0.5},
        {"score": True},
        {"confidence": True},
        {"checks": ["merge-clean"]},
        {"metadata": [("a", 1)]},
    ],
)
def test_every_part_has_its_type(values: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        Judgment(**{"status": Status.PASS, "reasoning": "fine", **values})


def test_status_and_score_are_independent() -> None:
    good = Judgment.failed("good and yet no", score=NumericalScore(0.9))
    assert (good.status, good.effective_score) == (Status.FAIL, 0.9)
    bad = Judgment.passed("bad and yet yes", score=BooleanScore.FAIL)
    assert (bad.status, bad.effective_score) == (Status.PASS, 0.0)


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


def test_the_shorthands() -> None:
    assert Judgment.passed("a", label="x", confidence=0.5).label == "x"
    assert Judgment.failed("a", checks=iter([Check("b", passed=False)])).checks[0].name == "b"
    assert Judgment.abstained("no key", "not_configured").metadata == {"reason": "not_configured"}
    assert Judgment.abstained("no key", "a", metadata={"reason": "b"}).metadata == {"reason": "b"}
    assert Judgment.errored("boom", metadata={"reason": "x"}).status is Status.ERROR


def test_failed_checks_keep_their_order() -> None:
    checks = [Check("a", passed=False), Check("b", passed=True), Check("c", passed=False)]
    assert [check.name for check in Judgment.failed("", checks=checks).failed_checks] == ["a", "c"]


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def endless() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    ("metadata", "path"),
    [
        ({"a": {1, 2}}, r"metadata\.a is a set"),
        ({"a": [{"b": object()}]}, r"metadata\.a\[0\]\.b is a object"),
        ({"a": {"b": [0, math.nan]}}, r"metadata\.a\.b\[1\] is nan"),
        ({"a": -math.inf}, r"metadata\.a is -inf"),
        ({"a": b"bytes"}, r"metadata\.a is a bytes"),
        ({"a": {1: "one"}}, r"metadata\.a has the key 1"),
        ({"a": "\udc80"}, r"metadata\.a holds a lone surrogate"),
        ({"a": {"\udc80": 1}}, r"metadata\.a \(a key\) holds a lone surrogate"),
        ({"a": 10**5000}, r"metadata\.a is an integer of 16610 bits"),
        ({"a": deep(200)}, r"metadata\.a(\[0\])+ is nested deeper"),
        ({"a": endless()}, r"metadata\.a(\[0\])+ is nested deeper"),
    ],
)
def test_refused_metadata_names_its_path(metadata: dict[str, Any], path: str) -> None:
    with pytest.raises(ValueError, match=path):
        Judgment.passed("", metadata=metadata)


@given(strategies.metadata())
def test_metadata_is_kept_and_can_be_written(metadata: dict[str, Any]) -> None:
    kept = Judgment.passed("", metadata=metadata).metadata
    assert json.loads(json.dumps(kept)) == json.loads(json.dumps(metadata))


def test_metadata_does_not_follow_its_source() -> None:
    inner = {"read": ["a.py"]}
    source = {"scope": inner}
    judgment = Judgment.passed("", metadata=source)
    inner["read"].append("b.py")
    source["verdict"] = inner
    assert judgment.metadata == {"scope": {"read": ("a.py",)}}


MUTATIONS: list[Callable[[Any], object]] = [
    lambda frozen: frozen.update(a=1),
    lambda frozen: frozen.setdefault("b", 1),
    lambda frozen: frozen.pop("a"),
    lambda frozen: frozen.popitem(),
    lambda frozen: frozen.clear(),
    lambda frozen: frozen.__setitem__("a", 1),
    lambda frozen: frozen.__delitem__("a"),
    lambda frozen: frozen.__ior__({"a": 1}),
    lambda frozen: frozen["a"].__setitem__("b", 1),
]


@pytest.mark.parametrize("mutate", MUTATIONS)
def test_metadata_is_frozen_all_the_way_down(mutate: Callable[[Any], object]) -> None:
    judgment = Judgment.passed("", metadata={"a": {"b": [1]}})
    with pytest.raises(TypeError, match="cannot be changed"):
        mutate(judgment.metadata)
    assert judgment.metadata == {"a": {"b": (1,)}}


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


def test_a_frozen_dictionary_is_a_dictionary() -> None:
    frozen = freeze({"a": [1, {"b": None}]})
    assert frozen == {"a": (1, {"b": None})}
    assert isinstance(frozen, FrozenDict)
    assert isinstance(frozen["a"][1], FrozenDict)


@pytest.mark.parametrize(("line", "end"), [(0, None), (-1, None), (2, 1), (None, 3)], ids=repr)
def test_lines_count_from_one_and_forwards(line: int | None, end: int | None) -> None:
    with pytest.raises(ValueError, match="line"):
        Location("a.py", line, end)


def test_a_location_has_a_path() -> None:
    with pytest.raises(ValueError, match="path"):
        Location("")
    assert str(Location("a.py")) == "a.py"
    assert str(Location("a.py", 3, 5)) == "a.py:3"


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ({"name": " "}, ValueError),
        ({"severity": "fatal"}, ValueError),
        ({"passed": 1}, TypeError),
        ({"passed": None}, TypeError),
        ({"name": None}, TypeError),
        ({"message": 3}, TypeError),
        ({"evidence": b"x"}, TypeError),
        ({"fix": ["x"]}, TypeError),
    ],
)
def test_an_impossible_check_is_refused(values: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        Check(**{"name": "a", "passed": True, **values})


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


def test_a_context_shares_no_metadata_with_the_judges() -> None:
    shared = {"attempt": 1}
    context = JudgmentContext("add a button", metadata=shared)
    shared["attempt"] = 2
    assert context.metadata == {"attempt": 1}
    assert context.execution_status is ExecutionStatus.UNKNOWN
    with pytest.raises(TypeError, match="cannot be changed"):
        context.metadata["attempt"] = 3  # type: ignore[index]
