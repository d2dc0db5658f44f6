"""Reports as coverage.py 7.17, Go 1.26 and c8 write them, and what is wrong with others."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prjury.errors import CannotJudgeError
from prjury.judges.workspace.coverage_readers import CoverageCounter, parse_jacoco, read_coverage

REPORTS = Path(__file__).parent / "coverage_reports"
A_PY = {1: True, 2: True, 3: True, 4: False, 7: True, 8: False}
A_JS = {1: True, 2: True, 3: True, 4: True, 5: False, 6: True, 7: True}
RECORD = "SF:a.js\nDA:1,1\nDA:2,0\nend_of_record\n"


@pytest.mark.parametrize(
    ("name", "counts", "file", "lines"),
    [
        ("coverage.xml", {"line": (4, 6), "branch": (1, 2)}, "src/pkg/a.py", A_PY),
        (
            "coverage.lcov",
            {"line": (4, 6), "branch": (1, 2), "method": (1, 2)},
            "src/pkg/a.py",
            A_PY,
        ),
        ("c8.info", {"line": (7, 8), "branch": (3, 4), "method": (1, 2)}, "a.js", A_JS),
        ("c8.xml", {"line": (7, 8), "branch": (3, 4), "method": (1, 2)}, "a.js", A_JS),
        (
            "go.out",
            {"line": (2, 4)},
            "example.com/x/a.go",
            {3: True, 4: True, 5: True, 6: True, 7: False},
        ),
    ],
)
def test_reports_of_real_tools(
    name: str, counts: dict[str, tuple[int, int]], file: str, lines: dict[int, bool]
) -> None:
    (report,) = read_coverage(REPORTS / name)
    counters = report.metrics.counters
    assert {metric: (it.covered, it.total) for metric, it in counters.items()} == counts
    assert report.files[file] == lines


def written(place: Path, name: str, text: str) -> Path:
    (place / name).write_text(text, errors="surrogateescape")
    return place / name


def test_the_lines_of_a_report_without_totals_are_counted(tmp_path: Path) -> None:
    text = (REPORTS / "c8.xml").read_text().replace("-valid", "-of")
    metrics = read_coverage(written(tmp_path, "coverage.xml", text))[0].metrics
    assert {name: (it.covered, it.total) for name, it in metrics.counters.items()} == {
        "line": (7, 8),
        "method": (1, 2),
    }


def test_lines_of_no_file_count_for_nothing(tmp_path: Path) -> None:
    text = (REPORTS / "c8.xml").read_text().replace("-valid", "-of")
    lines = "<lines><line number='1' hits='1'/></lines>"
    nameless = text.replace("</classes>", f"<class name='a' filename=''>{lines}</class></classes>")
    assert nameless != text
    counter = read_coverage(written(tmp_path, "coverage.xml", nameless))[0].metrics.counters["line"]
    assert (counter.covered, counter.total) == (7, 8)


def test_the_only_report_of_a_directory(tmp_path: Path) -> None:
    (tmp_path / "coverage").mkdir()
    written(tmp_path, "coverage/lcov.info", RECORD)
    assert read_coverage(tmp_path)[0].metrics.line == 50
    written(tmp_path, "coverage/cobertura-coverage.xml", (REPORTS / "c8.xml").read_text())
    with pytest.raises(CannotJudgeError, match=r"holds 2 coverage reports: coverage/cobertura"):
        read_coverage(tmp_path)


def refused(path: Path) -> str:
    with pytest.raises(CannotJudgeError) as refusal:
        read_coverage(path)
    return f"{refusal.value.reason}: {refusal.value.why or ''}"


CLOVER = """<coverage generated="1"><project timestamp="1">
<file name="/w/src/A.php"><class name="A"/><line num="3" type="method" count="2"/>
<line num="4" type="stmt" count="2"/><line num="5" type="stmt" count="0"/></file>
<metrics statements="2" conditionals="4" coveredconditionals="1" methods="1" coveredmethods="1"/>
</project></coverage>"""


@pytest.mark.parametrize(
    "text",
    [
        CLOVER,
        CLOVER.replace('generated="1"', 'clover="4.4"').replace("/w/src/A.php", "A")
        .replace('name="A"', 'name="A" path="/w/src/A.php"', 1),
        CLOVER.replace(' generated="1"', ""),
    ],
)  # fmt: skip
def test_clover_of_phpunit_and_others(text: str, tmp_path: Path) -> None:
    [report] = read_coverage(written(tmp_path, "clover.xml", text))
    assert report.files == {"/w/src/A.php": {4: True, 5: False}}
    assert report.metrics.counters == {
        "line": CoverageCounter(1, 1),
        "branch": CoverageCounter(1, 3),
        "method": CoverageCounter(1, 0),
    }


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "report_invalid: It is in none of the formats that are read"),
        ("total 80 %", "report_invalid: It is in none of the formats that are read"),
        ("<testsuite/>", "report_invalid: It is in none of the formats that are read"),
        ("<coverage><class filename='a'><line number='x' hits='1'/>", "A <line> has no number"),
        ("<coverage lines-covered='3' lines-valid='2'/>", "Its counts contradict each other"),
        (
            "<!DOCTYPE coverage [<!ENTITY a 'b'>]><coverage>&a;</coverage>",
            "report_invalid: It declares entities, which are refused",
        ),
        ("<coverage>" + "<a>" * 200, "report_invalid: It is nested deeper than 100 levels"),
        ("<coverage>", "report_invalid: It is not XML"),
        ("{}", "report_invalid: It is in none of the formats that are read"),
        ("SF:a\nDA:1,1\n", "report_invalid: It ends in the middle of a file's record"),
        ("TN:\nDA:1,1\n", "A count is malformed, or belongs to no file"),
        ("SF:a\nDA:1;1\n", "report_invalid: A count is malformed"),
        ("SF:a\nhello\n", "report_invalid: It is not a tracefile of LCOV"),
        ("SF:" + "a" * 70_000, "report_invalid: A line has 64 KiB or more"),
        ("mode: some\n", "It is no cover profile of Go"),
        ("mode: set\na.go:3.1,2.1 1 1\n", "It is no cover profile of Go, by its line 2"),
        ("mode: set\na.go:3.1,4.1 1\n", "It is no cover profile of Go, by its line 2"),
    ],
)
def test_what_is_no_report(text: str, told: str, tmp_path: Path) -> None:
    assert told in refused(written(tmp_path, "report", text))


@pytest.mark.slow
def test_a_report_that_would_fill_the_memory(tmp_path: Path) -> None:
    blocks = "".join(f"a{n}.go:1.1,9999999.1 1 1\n" for n in range(9))
    assert refused(written(tmp_path, "c.out", f"mode: set\n{blocks}")).startswith("too_large")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(["", "{", "mode: set\n", "SF:", "<coverage>"]), st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(tmp_path: Path, start: str, rest: bytes) -> None:
    path = tmp_path / "report"
    path.write_bytes(start.encode() + rest)
    with suppress(CannotJudgeError):
        read_coverage(path)


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


def write_files(place: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text)
    return place


def refusal(path: Path) -> CannotJudgeError:
    with pytest.raises(CannotJudgeError) as refused:
        parse_jacoco(path)
    return refused.value


def test_a_report(tmp_path: Path) -> None:
    metrics = parse_jacoco(write_files(tmp_path, {"jacoco.xml": SHOP}) / "jacoco.xml")
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
    metrics = parse_jacoco(write_files(tmp_path, {"r.xml": lines(0, 0)}) / "r.xml")
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
    error = refusal(write_files(tmp_path, {"r.xml": report}) / "r.xml")
    assert error.reason == "report_invalid"
    assert error.what == f"the report {tmp_path}/r.xml cannot be understood"


def test_no_report(tmp_path: Path) -> None:
    assert refusal(tmp_path / "r.xml").reason == "report_missing"
    error = refusal(tmp_path)
    assert error.reason == "report_missing"
    assert error.what == f"there is no report at {tmp_path}/target/site/jacoco/jacoco.xml"


def test_the_modules_of_a_project_are_added_up(tmp_path: Path) -> None:
    write_files(
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
    error = refusal(write_files(tmp_path, dict.fromkeys(names, lines(9, 1))))
    assert error.reason == "report_ambiguous"
    assert error.what == (f"{tmp_path} holds 4 aggregated coverage reports: {', '.join(names[:3])}")


def test_a_link_below_a_directory_is_not_followed(tmp_path: Path) -> None:
    write_files(tmp_path, {"elsewhere/r.xml": lines(1, 0), "work/target/site/jacoco/other": ""})
    (tmp_path / "work/target/site/jacoco/jacoco.xml").symlink_to(tmp_path / "elsewhere/r.xml")
    error = refusal(tmp_path / "work")
    assert (error.reason, error.why) == ("unreadable", "It is a symbolic link")
