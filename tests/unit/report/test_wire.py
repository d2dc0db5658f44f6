from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes import reports as fake
from fakes.derivation import gate_from_report
from prjury.jury.gate import GatePolicy
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment, Location, Status
from prjury.jury.score import CategoricalScore, NumericalScore
from prjury.jury.verdicts import TierAttempt, TierPolicy
from prjury.report.codec import (
    ReportJson,
    read_form,
    report_schema,
    report_to_json,
    verdict_from_report,
)
from prjury.report.model import Report

REPORTS = [fake.passed, fake.broken_build, fake.conflicting, fake.needs_a_human]
SCHEMA = report_schema()


def through_json(report: Report) -> dict[str, Any]:
    data = json.loads(json.dumps(report_to_json(report), ensure_ascii=False).encode().decode())
    jsonschema.validate(data, SCHEMA)
    assert isinstance(data, dict)
    return data


@pytest.mark.parametrize("make", REPORTS)
def test_every_report_satisfies_the_schema_and_gives_the_same_verdict(
    make: Callable[[], Report],
) -> None:
    report = make()
    data = through_json(report)
    again = verdict_from_report(read_form(data, ReportJson))
    assert again.status is report.verdict.status
    assert again.decided_by == report.verdict.decided_by
    assert again.aggregated.reasoning == report.verdict.aggregated.reasoning
    assert gate_from_report(data) is report.gate


def test_conflicts_of_a_backport_carry_their_places() -> None:
    (pom, cart) = through_json(fake.passed())["backports"][1]["conflicts"]

    assert pom == {
        "path": "pom.xml",
        "type": "content",
        "mechanical": False,
        "reason": "Merge conflict in pom.xml",
        "lines": [12, 12],
        "regions": [
            {"head": {"first": 12, "count": 1}, "onto": {"first": 14, "count": 1}},
        ],
    }
    assert (cart["lines"], cart["regions"]) == (None, [])


def test_the_schema_itself_is_sound() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["properties"]["schema"]["const"] == "prjury/report/v1"


def test_labels_are_told() -> None:
    data = through_json(fake.report(pull_request=fake.pull([], labels=("bug", "backport 1.0.x"))))
    assert data["pull"]["labels"] == ["bug", "backport 1.0.x"]


def test_a_score_is_normalised_or_absent() -> None:
    words = CategoricalScore("fair", ("bad", "fair", "good"))
    ballots = [
        fake.ballot("a", Judgment.passed("x", score=NumericalScore(8, 0, 10))),
        fake.ballot("b", Judgment.passed("x", score=words)),
        fake.ballot("c", Judgment.passed("x")),
    ]
    data = through_json(fake.report(fake.tier("t", *ballots)))
    assert [judgment["score"] for judgment in data["tiers"][0]["judgments"]] == [0.8, None, None]


def test_strings_are_utf8_and_hold_no_secret() -> None:
    secret = "ghp_" + "a1B2" * 9
    path = b"dir/\xff.py".decode("utf-8", "surrogateescape")
    judgment = Judgment.failed(
        f"log: {secret}",
        checks=[Check("c", False, "x\x1b[31m", Location("\udc80.py"), evidence=secret)],
        metadata={secret: [secret]},
    )
    report = fake.report(
        fake.tier("t", fake.ballot("j", judgment)),
        pull_request=fake.pull([fake.file(path)], title=secret),
    )
    text = json.dumps(through_json(report))
    assert secret not in text
    assert "\\\\xff.py" in text
    assert "\\\\x80.py" in text


STATUSES = st.sampled_from(list(Status))
LABELS = st.sampled_from([None, "not_applicable", "not_configured", "budget"])


@st.composite
def judgments(draw: st.DrawFn) -> Judgment:
    status = draw(STATUSES)
    scored = status in {Status.PASS, Status.FAIL} and draw(st.booleans())
    scopes: list[dict[str, Any]] = [{}, {"scope": {"read": ["a.py"]}}, {"scope": {"read": []}}]
    scope = draw(st.sampled_from(scopes))
    return Judgment(
        status,
        "because",
        NumericalScore(draw(st.floats(0, 1))) if scored else None,
        draw(LABELS) if status is Status.ABSTAIN else None,
        metadata=scope,
    )


@st.composite
def attempts(draw: st.DrawFn) -> TierAttempt:
    kinds = st.sampled_from(list(JudgeType))
    ballots = [
        fake.ballot(f"j{n}", judgment, kind=draw(kinds))
        for n, judgment in enumerate(draw(st.lists(judgments(), max_size=3)))
    ]
    policy = draw(st.sampled_from(list(TierPolicy)))
    name = draw(st.uuids()).hex
    return fake.tier(name, *ballots, policy=policy, advisory=draw(st.booleans()))


GATES = st.builds(
    GatePolicy,
    block_on=st.frozensets(st.sampled_from([Status.FAIL, Status.ERROR, Status.ABSTAIN])),
    not_configured=st.sampled_from(["pass", "block"]),
    coverage_floor=st.sampled_from([0.0, 0.5, 0.95, 1.0]),
)


@given(st.lists(attempts(), min_size=1, max_size=3), GATES)
def test_the_round_trip_keeps_status_and_gate(tiers: list[TierAttempt], policy: GatePolicy) -> None:
    pull = fake.pull([fake.file("a.py", 6), fake.file("b.py", 4)])
    report = fake.report(*tiers, pull_request=pull, gate_policy=policy)
    data = report_to_json(report)
    again = verdict_from_report(read_form(data, ReportJson))
    assert again.status is report.verdict.status
    assert again.aggregated.label == report.verdict.aggregated.label
    assert again.decided_by == report.verdict.decided_by
    assert gate_from_report(data) is report.gate


@pytest.mark.parametrize("key", ["schema", "pull", "tiers", "coverage", "policy", "version"])
def test_what_is_no_report_is_refused(key: str) -> None:
    data = report_to_json(fake.passed())
    data[key] = {"x": 1}
    with pytest.raises(ValueError, match=key):
        verdict_from_report(read_form(data, ReportJson))
