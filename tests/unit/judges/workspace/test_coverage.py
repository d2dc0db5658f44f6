from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prjury.judges.workspace.coverage import CoverageImprovementJudge, CoverageJudge, Metric
from prjury.judges.workspace.coverage_readers import CoverageCounter
from prjury.jury.context import JudgmentContext
from prjury.jury.judgment import Judgment, Status
from prjury.jury.score import NumericalScore


def count(covered: int, total: int) -> CoverageCounter:
    return CoverageCounter(covered, total - covered)


def percent(number: float) -> CoverageCounter:
    return count(int(Decimal(str(number)) * 100), 10_000)


def decide(counter: CoverageCounter | None, metric: Metric = "line", **demand: Any) -> Judgment:
    return CoverageJudge("r.xml", metric=metric, **demand).decide(counter)


PASS, FAIL, ABSTAIN = Status.PASS, Status.FAIL, Status.ABSTAIN


@pytest.mark.parametrize(
    ("current", "demand", "status", "words"),
    [
        (80, {"minimum": 80}, PASS, "line coverage is 80 %, at least 80 % is asked for"),
        (79.99, {"minimum": 80.0}, FAIL, "line coverage is 79.99 %, at least 80 % is asked for"),
        (75, {"baseline": 80, "max_drop": 5}, PASS, "a drop of at most 5 points is allowed"),
        (74.9, {"baseline": 80.0, "max_drop": 5.0}, FAIL, "74.9 % after 80 %"),
        (80, {"baseline": 80}, PASS, "no drop is allowed"),
        (79.9, {"baseline": 80}, FAIL, "no drop is allowed"),
        (79.7, {"baseline": 80, "max_drop": 0.3}, PASS, "a drop of at most 0.3 points"),
        (70, {"max_drop": 5}, ABSTAIN, "there is no baseline to compare with"),
        (70, {"minimum": 60, "max_drop": 5}, ABSTAIN, "at least 60 % is asked for; there is no"),
        (50, {"minimum": 60, "max_drop": 5}, FAIL, "at least 60 % is asked for"),
        (85, {"minimum": 85, "baseline": 50}, PASS, "is asked for; line coverage is 85 % after"),
        (84, {"minimum": 85, "baseline": 50}, FAIL, "at least 85 % is asked for"),
        (86, {"minimum": 85, "baseline": 90}, FAIL, "86 % after 90 %, no drop is allowed"),
        (66.666, {"minimum": 66.67}, FAIL, "66.66 %"),
        (66.67, {"minimum": 66.67}, PASS, "66.67 %"),
    ],
)
def test_what_is_asked(current: float, demand: dict[str, Any], status: Status, words: str) -> None:
    judgment = decide(count(int(Decimal(str(current)) * 1000), 100_000), **demand)
    assert judgment.status is status
    assert words in judgment.reasoning


def test_an_abstention_says_why_and_carries_no_score() -> None:
    judgment = decide(count(3, 4), max_drop=5)
    assert (judgment.label, judgment.metadata["reason"]) == ("no_baseline", "no_baseline")
    assert judgment.metadata["percent"] == 75.0
    assert judgment.score is None
    assert judgment.checks == ()


@given(st.integers(0, 10_000), st.integers(0, 1000), st.integers(0, 1000))
def test_tenths_are_compared_as_whole_numbers_are(covered: int, base: int, drop: int) -> None:
    found = decide(count(covered, 10_000), baseline=base / 10, max_drop=drop / 10).status
    assert found is (Status.PASS if base * 10 - covered <= drop * 10 else Status.FAIL)


@pytest.mark.parametrize(
    ("demand", "told"),
    [
        ({}, "nothing is asked: name a minimum, a baseline or a max_drop"),
        ({"minimum": 101}, "minimum is in 0..100, not 101"),
        ({"minimum": -0.1}, "minimum is in 0..100, not -0.1"),
        ({"baseline": 101}, "baseline is in 0..100, not 101"),
        ({"max_drop": -1}, "max_drop is in 0..100, not -1"),
        ({"minimum": float("nan")}, "minimum must be finite, not nan"),
    ],
)
def test_demands_that_make_no_sense(demand: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=r"asked|0\.\.100|finite") as refusal:
        CoverageJudge("r.xml", **demand)
    assert str(refusal.value) == told


def write_report(place: Path, covered: int) -> Path:
    lines = "".join(f"DA:{number},{int(number <= covered)}\n" for number in range(1, 11))
    place.write_text(f"SF:a\n{lines}end_of_record\n")
    return place


@pytest.mark.parametrize(
    ("report", "options", "outcome"),
    [
        ("r.info", {"minimum": 80}, "pass"),
        ("link.info", {"minimum": 80}, "pass"),
        (Path("r.info"), {"minimum": 81}, "fail"),
        ("r.info", {"minimum": 80, "metric": "method"}, "no_such_counter"),
        ("broken.info", {"minimum": 80}, "report_invalid"),
        ("no.info", {"minimum": 80}, "report_missing"),
        (".", {"minimum": 80}, "report_missing"),
        ("build", {"minimum": 80}, "pass"),
        ("../r.info", {"minimum": 80}, "outside_workspace"),
    ],
)
def test_the_report_of_the_workspace(
    report: str | Path, options: dict[str, Any], outcome: str, tmp_path: Path
) -> None:
    write_report(tmp_path / "r.info", 8)
    (tmp_path / "link.info").symlink_to("r.info")
    (tmp_path / "broken.info").write_text("SF:a\nDA:1,1\n")
    (tmp_path / "build").mkdir()
    if report == "build":
        write_report(tmp_path / "build" / "lcov.info", 8)
    judgment = CoverageJudge(report, **options).judge(JudgmentContext("goal", workspace=tmp_path))
    assert judgment.metadata.get("reason", judgment.status.value) == outcome
    if outcome in {"pass", "fail"}:
        assert judgment.metadata["report"] == str(report)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "nothing is asked"),
        ({"report": "", "minimum": 80}, "'' is not a path"),
        ({"minimum": 80, "metric": "lines"}, "there is no metric 'lines'; known are line, branch"),
    ],
)
def test_options_are_checked_when_it_is_made(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        CoverageJudge(**options)


@pytest.mark.parametrize(
    ("current", "demand", "status", "told", "score"),
    [
        (85, {"baseline": 85}, Status.FAIL, "after 85 %, that is no improvement", 0.0),
        (84, {"baseline": 85}, Status.FAIL, "that is no improvement", 0.0),
        (90, {"baseline": 80}, Status.PASS, "after 80 %, 50 % of the possible gain", 0.5),
        (85, {"baseline": 50, "minimum": 85}, Status.PASS, "70 % of the possible gain", 0.7),
        (84, {"baseline": 50, "minimum": 85}, Status.FAIL, "at least 85 % is asked for", 0.68),
        (100, {"baseline": 100}, Status.PASS, "100 % of the possible gain", 1.0),
        (99, {"baseline": 100}, Status.FAIL, "that is no improvement", 0.0),
    ],
)
def test_improvement(
    current: float, demand: dict[str, Any], status: Status, told: str, score: float
) -> None:
    judgment = decide(percent(current), mode="improved", **demand)
    assert judgment.status is status
    assert told in judgment.reasoning
    assert judgment.score == NumericalScore(score)


@pytest.mark.parametrize("key", ["baseline_coverage", "baselineCoverage"])
def test_the_baseline_of_the_context(key: str, tmp_path: Path) -> None:
    (tmp_path / "lcov.info").write_text("SF:a\nDA:1,1\nDA:2,0\nend_of_record\n")

    def found(baseline: object, judge: CoverageJudge | CoverageImprovementJudge) -> str:
        context = JudgmentContext("goal", workspace=tmp_path, metadata={key: baseline})
        judgment = judge.judge(context)
        return judgment.metadata.get("reason") or judgment.status.value

    preserved = CoverageJudge("lcov.info", mode="preserved")
    assert found(50, preserved) == "pass"
    assert found(51.5, preserved) == "fail"
    assert found(None, preserved) == "no_baseline"
    assert found("50 %", preserved) == "baseline_invalid"
    assert found(True, preserved) == "baseline_invalid"
    assert found(40, CoverageImprovementJudge()) == "pass"
    assert found(50, CoverageImprovementJudge()) == "fail"
    assert found(40, CoverageImprovementJudge(target=60)) == "fail"
    assert found(99, CoverageImprovementJudge(40, 50)) == "pass"
    assert found(99, CoverageJudge("lcov.info", 50)) == "pass"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"mode": "floor"}, "the mode floor needs a minimum"),
        ({"mode": "floor", "minimum": 1, "baseline": 1}, "compares with no baseline"),
        ({"mode": "improved", "max_drop": 1}, "allows no drop"),
        ({"mode": "added_lines", "minimum": 1}, "there is no mode 'added_lines'"),
        ({"mode": "best"}, "there is no mode 'best'; known are floor, preserved"),
    ],
)
def test_modes_that_make_no_sense(options: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        CoverageJudge("r.xml", **options)
