"""The results of TAP: lines that were read, and never those that were planned."""

from __future__ import annotations

from pathlib import Path

import pytest

from prjury.judges.builds.compare import find_vanished_tests
from prjury.judges.builds.failure import Failure, Results
from prjury.judges.builds.results.junit import parse_reports
from prjury.judges.builds.results.read import merge_results, read_log
from prjury.judges.builds.results.tree import TreeFiles

TREE = TreeFiles(frozenset({"test/a.test.js", "src/a.js"}))
HEAD = "TAP version 13\n"
FULL = HEAD + "1..3\nok 1 - a\nok 2 - b\nok 3 - c\n"
NODE = (
    "# Subtest: suite\n    # Subtest: adds\n    ok 1 - adds\n    # Subtest: bad\n"
    "    not ok 2 - bad\n      ---\n      error: 'boom'\n      ...\n    1..2\n"
    "not ok 1 - suite\n  ---\n  failureType: 'subtestsFailed'\n{}  ...\n1..1\n"
)
REPORT = (
    b'<testsuites><testcase name="adds" time="0" classname="test"/>'
    b'<testcase name="bad" time="0" classname="test">'
    b'<failure type="testCodeFailure" message="boom">boom</failure></testcase></testsuites>'
)


def read(
    text: str, tmp_path: Path, reports: Results | None = None, *, failed: bool = True
) -> tuple[tuple[Failure, ...], Results]:
    log = tmp_path / "log"
    log.write_text(text)
    logs = [read_log(log, TREE, str, failed=failed)]
    return merge_results(logs, reports or Results(), expected=False)


@pytest.mark.parametrize("failed", [True, False])
@pytest.mark.parametrize(
    ("text", "run"),
    [
        (HEAD + "1..3\nok 1 - a\n", 1),
        (HEAD + "1..3\nok 1 - a\nBail out! no db\n", 1),
        (HEAD + "1..3\nBail out!\n", 0),
        (HEAD + "1..3\n", 0),
        (HEAD + "ok 1 - a\nok 2 - b\n1..3\n", 2),
        ("1..3\nok 1 - a\nok 2 - b # SKIP\n", 1),
        ("1..3\nok 1 - a\nok 2 - b\n1..1\nok 1 - d\n", 3),
    ],
)
def test_fewer_results_than_planned_are_a_doubt_and_lost(
    text: str, run: int, failed: bool, tmp_path: Path
) -> None:
    base = read(FULL, tmp_path, failed=False)[1]
    here = read(text, tmp_path, failed=failed)[1]
    assert here.run == run
    assert len(here.problems) == 1
    assert base.run == 3
    assert not base.problems
    assert find_vanished_tests(here, base).count >= 3 - run


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "ok 1 - a\nnot ok 2 - b\nok 3 - c\n",
        HEAD + "1..3\nok 1\nnot ok 2\nok 3\n",
        "ok 1 a\nnot ok 2 b\nok 3 c\n1..3\n",
        "1..3\nok - a\nnot ok - b\nok\n",
        "1..1\nok 1 - a\n1..2\nnot ok 1 - b\nok 2 - c\n",
        "ok 1 - a\n1..1\nok 1 - b\nnot ok 2 - c\n1..2\n",
        HEAD + "1..1\nnot ok 1 - f # time=2ms {\n    1..3\n    ok 1 - a # time=1ms\n"
        "    not ok 2 - b\n    ok 3 - c\n}\n",
        HEAD + "    ok 1 - a\n    not ok 2 - b\n    ok 3 - c\n    1..3\nnot ok 1 - f\n1..1\n",
    ],
)
def test_each_result_is_a_test_with_a_plan_or_name_or_without(text: str, tmp_path: Path) -> None:
    failures, results = read(text, tmp_path)
    assert results.run == 3
    assert [failure.kind for failure in failures] == ["test"]
    assert not results.problems
    good = read(text, tmp_path, failed=False)[1]
    assert (good.run, good.ignored) == (3, 1)


@pytest.mark.parametrize("mark", ["|-", "|", ">-"])
def test_a_message_that_is_announced_and_missing_is_none(mark: str, tmp_path: Path) -> None:
    text = f"{HEAD}1..1\nnot ok 1 - a\n  ---\n  message: {mark}\n  ...\n"
    assert [failure.message for failure in read(text, tmp_path)[0]] == ["failed"]


@pytest.mark.parametrize("name", ["", " a", " - a"])
@pytest.mark.parametrize("directive", ["# SKIP", "# Skip y", "# skip", "# TODO x", "#todo"])
@pytest.mark.parametrize("result", ["ok", "not ok"])
def test_what_is_left_out_is_no_test(
    result: str, directive: str, name: str, tmp_path: Path
) -> None:
    failures, results = read(f"1..2\nok 1 - b\n{result} 2{name} {directive}\n", tmp_path)
    assert (failures, results.run, results.skipped) == ((), 1, 1)


def test_a_suite_that_fails_by_itself_is_a_failure(tmp_path: Path) -> None:
    text = (
        HEAD + "# Subtest: s\n    # Subtest: a\n    ok 1 - a\n    1..1\nnot ok 1 - s\n"
        "  ---\n  type: 'suite'\n  failureType: 'hookFailed'\n  error: 'gone'\n  ...\n1..1\n"
    )
    failures, _ = read(text, tmp_path)
    assert [(failure.name, failure.message) for failure in failures] == [("s", "gone")]


@pytest.mark.parametrize("runner", ["node", "mocha", "vitest"])
@pytest.mark.parametrize("failed", [True, False])
def test_tap_beside_a_report_is_of_the_same_tests(
    runner: str, failed: bool, tmp_path: Path
) -> None:
    reports = parse_reports([("reports/node.xml", REPORT)], [], TREE, str)
    reports.by_runner[runner] = reports.by_runner.pop("node")
    failures, results = read(HEAD + NODE.format(""), tmp_path, reports, failed=failed)
    assert [failure.id for failure in failures] == ["test:reports:bad"]
    assert (results.run, results.counted) == (2, 0)


def test_lines_outside_of_a_stream_are_no_tests(tmp_path: Path) -> None:
    assert not read("ok 1 - a\nnot ok 2 - b\n", tmp_path)[1].run
    assert not read("1..5\n1..7\n", tmp_path)[1].problems


def test_a_source_file_that_cannot_be_parsed_comes_before_the_tests_that_import_it(
    tmp_path: Path,
) -> None:
    text = (
        HEAD + "# src/a.js:2\n#   return (x + ;\n#               ^\n"
        "# SyntaxError: Unexpected token ';'\n"
        "#     at wrapSafe (node:internal/modules/cjs/loader:1464:18)\n# Subtest: test/a.test.js\n"
        "not ok 1 - test/a.test.js\n  ---\n  error: 'test failed'\n  ...\n1..1\n"
    )
    failures, results = read(text, tmp_path)
    assert [(one.kind, one.place) for one in failures] == [
        ("compile", "src/a.js:2"),
        ("error", "test/a.test.js"),
    ]
    assert results.run == 0
