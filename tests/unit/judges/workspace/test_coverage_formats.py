"""Reports as coverage.py 7.17, Go 1.26 and c8 write them, and what is wrong with others."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prjury.errors import CannotJudgeError
from prjury.judges.workspace.coverage_readers import CoverageCounter, read_coverage

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
