from __future__ import annotations

from pathlib import Path

import pytest

from prjury.errors import CannotJudgeError
from prjury.judges.workspace.coverage_readers import CoverageCounter, parse_jacoco

HEAD = (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
    '<!DOCTYPE report PUBLIC "-//JACOCO//DTD Report 1.1//EN" "report.dtd">'
)
#: As JaCoCo writes it: every level repeats what lies below it.
SHOP = f"""{HEAD}<report name="shop"><sessioninfo id="host-1" start="1" dump="2"/>
<package name="shop">
  <class name="shop/Till" sourcefilename="Till.java">
    <method name="total" desc="(II)I" line="5">
      <counter type="INSTRUCTION" missed="4" covered="12"/>
      <counter type="LINE" missed="1" covered="4"/>
      <counter type="METHOD" missed="0" covered="3"/>
    </method>
    <counter type="INSTRUCTION" missed="4" covered="12"/>
    <counter type="LINE" missed="1" covered="4"/>
  </class>
  <sourcefile name="Till.java">
    <line nr="3" mi="0" ci="3" mb="0" cb="0"/>
    <counter type="LINE" missed="1" covered="4"/>
  </sourcefile>
  <counter type="INSTRUCTION" missed="4" covered="12"/>
  <counter type="BRANCH" missed="1" covered="1"/>
  <counter type="LINE" missed="1" covered="4"/>
  <counter type="COMPLEXITY" missed="1" covered="3"/>
  <counter type="METHOD" missed="0" covered="3"/>
  <counter type="CLASS" missed="0" covered="1"/>
</package>
<counter type="INSTRUCTION" missed="4" covered="12"/>
<counter type="BRANCH" missed="1" covered="1"/>
<counter type="LINE" missed="1" covered="4"/>
<counter type="COMPLEXITY" missed="1" covered="3"/>
<counter type="METHOD" missed="0" covered="3"/>
<counter type="CLASS" missed="0" covered="1"/>
</report>"""


def lines(covered: int, missed: int) -> str:
    counter = f'<counter type="LINE" missed="{missed}" covered="{covered}"/>'
    return f"{HEAD}<report name='x'>{counter}</report>"


def written(place: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text)
    return place


def refusal(path: Path) -> CannotJudgeError:
    with pytest.raises(CannotJudgeError) as refused:
        parse_jacoco(path)
    return refused.value


def test_a_report(tmp_path: Path) -> None:
    metrics = parse_jacoco(written(tmp_path, {"jacoco.xml": SHOP}) / "jacoco.xml")
    assert metrics.counters == {
        "instruction": CoverageCounter(12, 4),
        "branch": CoverageCounter(1, 1),
        "line": CoverageCounter(4, 1),
        "complexity": CoverageCounter(3, 1),
        "method": CoverageCounter(3, 0),
        "class": CoverageCounter(1, 0),
    }
    assert (metrics.line, metrics.branch, metrics.method) == (80.0, 50.0, 100.0)
    assert metrics.percent("class") == 100.0


def test_a_count_of_nothing_is_none(tmp_path: Path) -> None:
    metrics = parse_jacoco(written(tmp_path, {"r.xml": lines(0, 0)}) / "r.xml")
    assert metrics.line is None


@pytest.mark.parametrize(
    "report",
    [
        '<coverage line-rate="0.8"/>',
        "<testsuite/>",
        "<report><counter covered='1' missed='1'/></report>",
        "<report><counter type='LINE' covered='-1' missed='1'/></report>",
        "<report><counter type='LINE' covered='1'/></report>",
        "<report><counter type='LINE' covered='1.5' missed='1'/></report>",
        "<report><counter type='LINE' covered='1' missed='1000000000000000'/></report>",
        "<report><counter type='LINE' covered='٣' missed='1'/></report>",
    ],
)
def test_what_is_no_such_report(tmp_path: Path, report: str) -> None:
    error = refusal(written(tmp_path, {"r.xml": report}) / "r.xml")
    assert error.reason == "report_invalid"
    assert error.what == f"the report {tmp_path}/r.xml cannot be understood"


def test_no_report(tmp_path: Path) -> None:
    assert refusal(tmp_path / "r.xml").reason == "report_missing"
    error = refusal(tmp_path)
    assert error.reason == "report_missing"
    assert error.what == f"there is no report at {tmp_path}/target/site/jacoco/jacoco.xml"


def test_the_modules_of_a_project_are_added_up(tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            "target/site/jacoco/jacoco.xml": lines(1, 0),
            "a/target/site/jacoco/jacoco.xml": lines(2, 1),
            "b/c/target/site/jacoco/jacoco.xml": lines(4, 2),
            "d/build/reports/jacoco/test/jacocoTestReport.xml": lines(8, 2),
            "e/xtarget/site/jacoco/jacoco.xml": lines(100, 0),
            "e/jacoco.xml": lines(100, 0),
        },
    )
    assert parse_jacoco(tmp_path).counters == {"line": CoverageCounter(15, 5)}
    assert parse_jacoco(tmp_path).line == 75.0


def test_several_aggregated_reports_are_not_guessed_at(tmp_path: Path) -> None:
    names = [f"{module}/target/site/jacoco-aggregate/jacoco.xml" for module in "abcd"]
    error = refusal(written(tmp_path, dict.fromkeys(names, lines(9, 1))))
    assert error.reason == "report_ambiguous"
    assert error.what == (f"{tmp_path} holds 4 aggregated coverage reports: {', '.join(names[:3])}")


def test_a_link_below_a_directory_is_not_followed(tmp_path: Path) -> None:
    written(tmp_path, {"elsewhere/r.xml": lines(1, 0), "work/target/site/jacoco/other": ""})
    (tmp_path / "work/target/site/jacoco/jacoco.xml").symlink_to(tmp_path / "elsewhere/r.xml")
    error = refusal(tmp_path / "work")
    assert (error.reason, error.why) == ("unreadable", "It is a symbolic link")
