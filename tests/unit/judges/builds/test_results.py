"""What is read from logs and reports that tools wrote themselves, and from documented forms.

What is expected stands beside them in ``logs/expected.json``; ``PRJURY_UPDATE_GOLDEN=1`` renews it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from fakes.logs import KNOWN, LOGS, PLACES, TREE, read_failed, read_step
from prjury.judges.builds.failure import Results, make_failure
from prjury.judges.builds.results.junit import parse_reports
from prjury.judges.builds.results.lines import find_ambiguous
from prjury.judges.builds.results.read import (
    merge_results,
    read_transcript,
    turn_unexplained_goals_to_errors,
)
from prjury.judges.builds.results.tree import TreeFiles

NAMES = sorted(path.name for path in LOGS.iterdir() if path.suffix in {".txt", ".xml"})
EXPECTED = LOGS / "expected.json"
#: Where the reports lie whose place matters.
PLACED = {
    "gotestsum.xml": "report/junit.xml",
    "nextest.xml": "target/nextest/ci/junit.xml",
    "surefire-nested.xml": "one/target/surefire-reports/TEST-p.ATest$In.xml",
    "surefire-setup.xml": "one/target/surefire-reports/TEST-p.SetupTest.xml",
    "surefire-rerun.xml": "one/target/surefire-reports/TEST-p.ATest$In.xml",
}


def read_facts(name: str, tmp_path: Path) -> dict[str, Any]:
    """Return what is read from a log of a step that failed, or from a report."""
    text = (LOGS / name).read_text()
    if name.endswith(".xml"):
        content = text.replace("{tree}", str(TREE)).encode()
        files = [(PLACED.get(name, "junit.xml"), content)]
        results = parse_reports(files, [], TreeFiles(KNOWN), PLACES.make_paths_relative)
        failures = results.failures
    else:
        failures, results = read_failed(text, tmp_path)
    facts = {
        "failures": [f"{one.kind} {one.place or '-'} {one.message} | {one.id}" for one in failures],
        "ran": sorted(set(results.ran) - {one.id for one in failures}),
        "counts": f"{results.run} ran, {results.skipped} skipped, {len(results.flaky)} flaky",
        "problems": list(results.problems),
    }
    return {key: value for key, value in facts.items() if value}


@pytest.mark.parametrize("name", NAMES)
def test_what_is_read(name: str, tmp_path: Path) -> None:
    facts = read_facts(name, tmp_path)
    expected = json.loads(EXPECTED.read_text()) if EXPECTED.exists() else {}
    if os.environ.get("PRJURY_UPDATE_GOLDEN"):
        expected = {one: expected.get(one) for one in NAMES} | {name: facts}
        EXPECTED.write_text(json.dumps(expected, indent=1, ensure_ascii=False) + "\n")
    assert facts == expected[name]


#: Runs without a failure, in which a test prints what looks like another test that passed.
FORGED = {
    "cargo": (
        (
            "     Running unittests src/lib.rs (target/debug/deps/a-0123456789abcdef)\n\n"
            "running 1 test\n{}test tests::real ... ok\n\n"
            "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; "
            "finished in 0.00s\n"
        ),
        "test tests::forged ... ok\n",
        "test:src/lib.rs (a):tests::real",
    ),
    "pytest": (
        "{}tests/test_a.py::real PASSED [100%]\n\n==== 1 passed in 0.01s ====\n",
        "tests/test_a.py::forged PASSED [100%]\n",
        "test:tests/test_a.py:tests.test_a#real",
    ),
    "unittest": (
        "{}real (tests.test_u.T.real) ... ok\n\n---\nRan 1 test in 0.000s\n\nOK\n",
        "forged (tests.test_u.T.forged) ... ok\n",
        "test:tests/test_u.py:tests.test_u.T#real",
    ),
    "tap": (
        (
            "TAP version 13\n{}# Subtest: real\nok 1 - real\n  ---\n  duration_ms: 1\n  ...\n1..1\n"
            "# tests 1\n# suites 0\n# pass 1\n# fail 0\n# cancelled 0\n"
        ),
        "ok 7 - forged\n",
        "test::real",
    ),
    "plain-tap": ("1..1\n{}ok 1 real\n", "ok 2 forged\n", "test::real"),
    "nextest": (
        (
            "    Starting 1 test across 1 binary\n{}        PASS [   0.004s] a tests::real\n"
            "     Summary [   0.355s] 1 test run: 1 passed, 0 skipped\n"
        ),
        "        PASS [   0.004s] a tests::forged\n",
        "test:a:tests::real",
    ),
    "vitest": (
        (
            " RUN  v4.1.12 .\n{} ✓ a.test.mjs > real 0ms\n\n Test Files  1 passed (1)\n"
            "      Tests  1 passed (1)\n"
        ),
        " ✓ a.test.mjs > forged 0ms\n",
        "test:a.test.mjs:real",
    ),
    "mocha": ("\n{}  ✔ real\n\n  1 passing (5ms)\n", "  ✔ forged\n", "test::real"),
    "vitest-tap": (
        "TAP version 13\n1..1\nok 1 - a.test.mjs > real # time=0.10ms\n{}",
        "ok 2 - a.test.mjs > forged # time=0.10ms\n",
        "test::a.test.mjs > real",
    ),
    "jest": (
        (
            "PASS ./a.test.js\n{}  ✓ real (1 ms)\n\nTest Suites: 1 passed, 1 total\n"
            "Tests:       1 passed, 1 total\n"
        ),
        "  ✓ forged (1 ms)\n",
        "test:a.test.js:real",
    ),
}


def test_a_time_in_the_name_of_a_test_is_a_part_of_it(tmp_path: Path) -> None:
    text = "  ✓ waits 5 s\n  ✓ waits 10 s (12ms)\n  ✓ adds 3ms\n\n  3 passing (1s)\n"
    _, results = merge_results([read_step(text, tmp_path, failed=False)], Results(), expected=False)
    assert results.ran == ("test::waits 5 s", "test::waits 10 s", "test::adds")


@pytest.mark.parametrize("runner", sorted(FORGED))
def test_names_count_only_where_the_runner_counts_as_many(runner: str, tmp_path: Path) -> None:
    text, forged, real = FORGED[runner]
    _, honest = merge_results(
        [read_step(text.format(""), tmp_path, failed=False)], Results(), expected=False
    )
    assert (honest.ran, honest.counted, honest.tests) == ((real,), 0, 1)
    _, other = merge_results(
        [read_step(text.format(forged), tmp_path, failed=False)], Results(), expected=False
    )
    assert other.ran == ()
    assert other.counted in {1, 2}


def test_what_a_go_test_prints_is_inside_of_its_events(tmp_path: Path) -> None:
    _, reports = read_failed((LOGS / "go-json.txt").read_text(), tmp_path)
    assert not any("Forged" in name for name in reports.ran)


def test_a_go_test_that_was_cut_off_is_a_doubt(tmp_path: Path) -> None:
    events = (LOGS / "go-cached.txt").read_text().splitlines(keepends=True)
    _, reports = read_failed("".join(events[:-1]), tmp_path)
    assert reports.problems == ("the tests of 1 packages did not end",)


def test_a_go_test_that_fails_by_itself_besides_its_subtest_is_told(tmp_path: Path) -> None:
    lines = (LOGS / "go-json.txt").read_text().splitlines()
    own = json.dumps(
        {
            "Action": "output",
            "Package": "example.com/m",
            "Test": "TestTable",
            "Output": "    a_test.go:27: its own\n",
        }
    )
    at = next(i for i, line in enumerate(lines) if "--- FAIL: TestTable (" in line)
    failures, _ = read_failed("\n".join([*lines[:at], own, *lines[at:]]), tmp_path)
    assert [(f.place, f.message) for f in failures if f.name == "TestTable"] == [
        ("a_test.go:27", "its own")
    ]


def test_a_library_s_own_tests_are_told_by_its_package(tmp_path: Path) -> None:
    text = (
        "     Running unittests src/lib.rs (target/debug/deps/b_c-0123456789abcdef)\n\n"
        "running 1 test\ntest t ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; "
        "0 measured; 0 filtered out\n"
    )
    known = frozenset({"a/src/lib.rs", "b-c/src/lib.rs", "src/lib.rs"})
    assert read_failed(text, tmp_path, known)[1].ran == ("test:src/lib.rs (b_c):t",)


JEST = "\nTests:       2 passed, 2 total\n"


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("== 2 failed, 1 passed in 0.01s ==", ["pytest counts 2 failed tests and names none"]),
        (
            "FAILED tests/test_a.py::t - no\n== 2 failed, 1 passed in 0.01s ==",
            ["pytest counts 2 failed tests and names 1"],
        ),
        (
            f"Test Suites: 1 failed, 1 of 4 total{JEST}",
            ["jest left tests out: 1 failed, 1 of 4 total"],
        ),
        (f"Test Suites: 1 failed, 1 passed, 2 total{JEST}", []),
        ("1..3\nok 1 - a\nBail out! no db", ["TAP left tests out: no db"]),
    ],
)
def test_what_may_hide_failing_tests_is_a_doubt(
    text: str, problems: list[str], tmp_path: Path
) -> None:
    assert list(read_failed(text, tmp_path)[1].problems) == problems


def test_another_error_at_the_place_of_a_reported_test_is_kept(tmp_path: Path) -> None:
    test = make_failure("test", "no", "tests/test_a.py", 4, "t", "tests/test_a.py")
    text = "tests/test_a.py:4:1: F821 undefined name\n"
    failures, _ = merge_results([read_step(text, tmp_path)], Results(1, 1, (test,)), expected=False)
    assert [failure.kind for failure in failures] == ["test", "error"]


def reported(*cases: tuple[str, str], runner: str = "pytest", failing: str = "") -> Results:
    """Reports with these tests, of which one may fail."""
    failures = [make_failure("test", "no", None, None, n, s) for s, n in cases if n == failing]
    ran = tuple(f"test:{suite}:{name}" for suite, name in cases)
    return Results(1, len(ran), tuple(failures), (), ran, by_runner={runner: len(ran)})


VERBOSE = (
    "tests/test_a.py::one PASSED\ntests/test_a.py::two FAILED\n"
    "FAILED tests/test_a.py::two - no\n==== 1 failed, 1 passed in 0.1s ====\n"
)
ONE, TWO = ("tests/test_a.py", "tests.test_a#one"), ("tests/test_a.py", "tests.test_a#two")


def test_reports_outweigh_what_the_log_says_of_tests(tmp_path: Path) -> None:
    of_log = read_step(VERBOSE, tmp_path)
    reports = reported(ONE, TWO, failing="tests.test_a#two")
    failures, both = merge_results([of_log], reports, expected=False)
    assert [(failure.id, failure.message) for failure in failures] == [
        ("test:tests/test_a.py:tests.test_a#two", "no")
    ]
    assert (both.ran, both.counted, both.tests, both.problems) == (reports.ran, 0, 2, ())
    failures, both = merge_results([of_log], reported(ONE, TWO), expected=False)
    assert failures == ()  # the runner's own report says that it passed


def test_a_failing_test_that_the_report_does_not_hold_is_kept_however_many_it_holds(
    tmp_path: Path,
) -> None:
    others = [(suite, f"{name}{number}") for suite, name in (ONE, TWO) for number in range(3)]
    failures, _ = merge_results([read_step(VERBOSE, tmp_path)], reported(*others), expected=False)
    assert [failure.name for failure in failures] == ["tests.test_a#two"]


def test_a_class_that_cannot_be_set_up_is_told_once(tmp_path: Path) -> None:
    text = (
        "[ERROR] p.SetupTest -- Time elapsed: 0.018 s <<< ERROR!\n"
        "java.lang.RuntimeException: no db\n\n"
        "[ERROR] Tests run: 1, Failures: 0, Errors: 1, Skipped: 0\n"
    )
    error = make_failure("error", "no db", name="p.SetupTest")
    reports = replace(reported(("target", "p.ATest#a"), runner="jvm"), failures=(error,))
    assert merge_results([read_step(text, tmp_path)], reports, expected=False)[0] == (error,)
    other = replace(reports, failures=(replace(error, name="p.OtherTest"),))
    assert len(merge_results([read_step(text, tmp_path)], other, expected=False)[0]) == 2


@pytest.mark.parametrize(
    "line",
    [
        "[ERROR] There was a timeout in the fork",
        "[ERROR] There was a timeout or other error in the fork",
        "[ERROR] There are test failures.\nFailed to run task: 'npm run test' failed.",
    ],
)
def test_tests_that_do_not_stop_maven_and_have_no_report_are_ignored_ones(
    line: str, tmp_path: Path
) -> None:
    good = read_step(f"{line}\n", tmp_path, failed=False)
    assert merge_results([good], reported(ONE, runner="jvm"), expected=False)[1].ignored == 1


def test_where_reports_were_asked_for_names_in_a_log_prove_nothing(tmp_path: Path) -> None:
    of_log = read_step(VERBOSE, tmp_path)
    failures, reports = merge_results([of_log], Results(), expected=True)
    assert [failure.name for failure in failures] == ["tests.test_a#two"]
    assert (reports.ran, reports.tests, reports.counted) == ((), 0, 2)
    assert merge_results([of_log], Results(), expected=False)[1].tests == 2


def test_a_test_that_a_report_of_unknown_origin_names_is_not_counted_twice(tmp_path: Path) -> None:
    reports = reported(ONE, TWO, runner="", failing="tests.test_a#two")
    failures, both = merge_results([read_step(VERBOSE, tmp_path)], reports, expected=False)
    assert len(failures) == 1
    assert (both.ran, both.problems) == (reports.ran, ())


def test_what_is_no_test_is_kept_beside_reports(tmp_path: Path) -> None:
    text = (LOGS / "jest-verbose.txt").read_text()
    cases = [("", f"sum {name}") for name in "abcdefg"]
    failures, _ = merge_results(
        [read_step(text, tmp_path)], reported(*cases, runner="jest"), expected=False
    )
    assert [(failure.kind, failure.place) for failure in failures] == [
        ("compile", "d.test.js"),
        ("compile", "c.test.js:1"),
    ]


def test_what_a_report_and_a_log_place_alike_is_told_once(tmp_path: Path) -> None:
    error = make_failure("compile", "SyntaxError: invalid syntax", "tests/test_c.py", 1, "tests.c")
    reports = Results(1, 1, (error, error))
    failures, _ = merge_results(
        [read_step((LOGS / "pytest-collect.txt").read_text(), tmp_path)], reports, expected=False
    )
    assert [(f.kind, f.place, f.name) for f in failures] == [
        ("compile", "tests/test_c.py:1", "tests.c"),
        ("compile", "tests/test_b.py:1", "tests/test_b.py"),
    ]


def test_a_failing_test_whose_name_a_passing_one_bears_as_well() -> None:
    failure = make_failure("test", "no", name="adds", suite="")
    assert find_ambiguous([failure], ["test::adds", "test::adds"]) == ["test::adds"]
    assert find_ambiguous([failure, failure], ["test::adds"]) == []
    assert find_ambiguous([], ["test::adds", "test::adds"]) == []
    reports = Results(1, 2, (failure,), (), ("test::adds", "test::adds"))
    assert merge_results([], reports, expected=False)[1].problems == (
        "several tests are called :adds, and not all of them failed",
    )


def test_tests_of_several_steps_add_up(tmp_path: Path) -> None:
    one = read_step("==== 2 passed in 0.1s ====\n", tmp_path, failed=False)
    other = read_step("==== 1 failed, 3 passed in 0.1s ====\n", tmp_path)
    _, reports = merge_results([one, other], reported(ONE), expected=False)
    assert reports.counted == 5


def goals(*messages: str, causes: tuple[int, ...] = ()) -> list[str]:
    """The kinds that these goals, one line apart, come to; a test fails just before some."""
    found = []
    for number, message in enumerate(messages):
        if number in causes:
            found.append((number * 2, make_failure("test", "no", name="t")))
        found.append((number * 2 + 1, make_failure("goal", message)))
    return [
        failure.kind
        for failure in turn_unexplained_goals_to_errors(found)
        if failure.kind != "test"
    ]


@pytest.mark.parametrize(
    ("messages", "causes", "kinds"),
    [
        (["make: *** [Makefile:1: a] Error 1"], (), ["error"]),
        (["make: *** [Makefile:1: a] Error 1"], (0,), ["goal"]),
        (
            ["make: *** [Makefile:1: a] Error 1", "make: *** [Makefile:2: b] Error 1"],
            (0,),
            ["goal", "error"],
        ),
        (
            ["make[1]: *** [Makefile:1: a] Error 1", "make: *** [Makefile:2: b] Error 2"],
            (0,),
            ["goal", "goal"],
        ),
        (["test failed: --lib", "test failed: --test it"], (0,), ["goal", "error"]),
        (["npm script test failed", "make: *** [Makefile:1: a] Error 1"], (0,), ["goal", "goal"]),
        (["one: exit 1", "two: exit 1"], (1,), ["error", "goal"]),
        (["org.x:maven-y:1:test on project t: There are test failures."], (), ["goal"]),
    ],
)
def test_a_goal_that_gave_up_for_no_reason_that_is_known_stands_for_itself(
    messages: list[str], causes: tuple[int, ...], kinds: list[str]
) -> None:
    assert goals(*messages, causes=causes) == kinds


def test_only_what_go_means_for_programs_is_taken_for_it(tmp_path: Path) -> None:
    lines = ['{"reason": "why"}', '{"Action": "stop"}', "{]"]
    assert read_step("\n".join(lines), tmp_path).tail.splitlines() == lines


def test_lines_are_read_whatever_ends_them(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"one\r\ntwo\rthree\n\nfour")
    tree = TreeFiles(frozenset())
    sections = read_transcript(log, tree, str).split_sections(tree)
    assert [list(section.lines) for section in sections] == [["one", "two", "three", "", "four"]]


@pytest.mark.nightly
def test_of_a_long_log_the_end_is_kept(tmp_path: Path) -> None:
    line = "a line that says nothing, in many words, over and over again; number {}\n"
    text = "a.go:1:1: first\n" + "".join(map(line.format, range(470_000))) + "a.go:9:1: last\n"
    failures, reports = read_failed(text, tmp_path)
    assert [failure.message for failure in failures] == ["last"]
    assert reports.problems == ("the log is too long to be read in full",)


@pytest.mark.slow
def test_the_end_of_a_log_of_very_many_lines_is_read(tmp_path: Path) -> None:
    text = "a.go:1:1: first\n" + "\n" * 2_300_000 + "a.go:9:1: last\n"
    failures, reports = read_failed(text, tmp_path)
    assert [failure.message for failure in failures] == ["last"]
    assert reports.problems == ("the log is too long to be read in full",)


TREE_OF_FILES = TreeFiles(
    frozenset(
        "a.py sub/a.py sub/deep/b.py only.py m/x/c.go x/c.go one/src/p/A.java two/src/p/A.java "
        "packages/web/package.json packages/api/package.json x/web/package.json tests/t.py "
        "pkg/__init__.py pkg/mod.py".split()
    ),
    "sub",
)


@pytest.mark.parametrize(
    ("told_path", "found"),
    [
        ("a.py", "sub/a.py"),
        ("./a.py", "sub/a.py"),
        ("../a.py", "a.py"),
        ("deep/b.py", "sub/deep/b.py"),
        ("b.py", "sub/deep/b.py"),
        ("only.py", "only.py"),
        ("A.java", None),
        ("gone.py", None),
        ("/usr/lib/a.py", None),
        ("…/home/only.py", None),
        ("", None),
    ],
)
def test_the_file_that_a_tool_means(told_path: str, found: str | None) -> None:
    assert TREE_OF_FILES.find(told_path) == found


def test_files_that_are_not_there_keep_their_place() -> None:
    assert TREE_OF_FILES.resolve("made/up.py") == "sub/made/up.py"
    assert TREE_OF_FILES.resolve("/usr/x.py") == "/usr/x.py"
    assert TREE_OF_FILES.resolve("x.py", "") == "x.py"


def test_files_by_package_type_and_module() -> None:
    tree = TreeFiles(TREE_OF_FILES.paths)
    assert tree.find_in_package("example.com/m/x", "c.go") == "m/x/c.go"
    assert tree.find_in_package("example.com/other/x", "c.go") == "x/c.go"
    assert tree.find_in_package("example.com/y", "d.go") is None
    nearest = tree.find_nearest("p/A.java", "two/target/reports/TEST-p.A.xml")
    assert (nearest, tree.find_nearest("q/A.java")) == ("two/src/p/A.java", None)
    assert tree.package("@x/api") == "packages/api"
    assert tree.package("web") is None
    assert tree.find_module("tests.t.Class.test") == "tests/t.py"
    assert tree.find_module("pkg.mod.f") == "pkg/mod.py"
    assert tree.find_module("pkg.other") == "pkg/__init__.py"
    assert tree.find_module("p." * 200) is None
    assert TREE_OF_FILES.find_module("deep.b.test") == "sub/deep/b.py"
