"""Failures, what makes them the same, and what compilers and build tools print of them.

The logs were captured from the tools themselves.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.logs import LOGS, PLACES, TREE, read_failed, read_step
from prjury.judges.builds.failure import Results, identity, make_failure, sort_failures, sort_unique
from prjury.judges.builds.results.read import merge_results


def test_colours_and_carriage_returns_do_not_hide_an_error(tmp_path: Path) -> None:
    (failure,) = read_failed(b"\x1b[1m\x1b[31m./a.go:3:1: \x1b[0mbad\xff\r\n", tmp_path)[0]
    assert (failure.place, failure.message) == ("a.go:3", "bad�")


def test_a_make_that_was_called_from_another_one_tells_where_it_is(tmp_path: Path) -> None:
    text = (
        f"make[1]: Entering directory '{TREE}/sub'\ninc.c:1:2: error: x\n"
        f"make[1]: Leaving directory '{TREE}/sub'\na.c:1:2: error: y\n"
    )
    assert [failure.place for failure in read_failed(text, tmp_path)[0]] == ["sub/inc.c:1", "a.c:1"]


@pytest.mark.parametrize(
    "path", ["/etc/passwd.c", "../up.c", "~/x.c", "a/../../b.c", "c:/x.c", "."]
)
def test_a_path_outside_the_tree_is_not_a_place(path: str) -> None:
    failure = make_failure("compile", "bad", path, 3)
    assert (failure.path, failure.line, failure.place) == (None, None, "")


@pytest.mark.parametrize(
    ("message", "same"),
    [
        ("make: *** [Makefile:3: test] Error 1", "make: *** [Makefile: test] Error 1"),
        ("redeclared, see a.go:3:14", "redeclared, see a.go"),
        ("/tmp/ccX1.o: undefined", ": undefined"),
        ("…/tmp/ccX1.o: undefined", ": undefined"),
        ("took 1.5 seconds", "took "),
        ("p.Foo@1a2b3c", "p.Foo"),
    ],
)
def test_what_does_not_make_a_failure_another_one(message: str, same: str) -> None:
    assert make_failure("goal", message).id == f"goal::{same}"


def test_a_very_long_name_stays_recognisable_and_distinct() -> None:
    one, other = "x" * 5000, "x" * 5000 + "y"
    assert len(identity("", one)) == 306
    assert identity("", one) != identity("", other)
    assert make_failure("test", "no", name=one, suite="").id == identity("", one)
    assert (
        make_failure("test", "no", name="a\n b", suite="").id == identity("", "a  b") == "test::a b"
    )


def test_the_causes_come_before_what_gave_up_because_of_them() -> None:
    goal, error = make_failure("goal", "gave up"), make_failure("error", "odd")
    test, cause = make_failure("test", "no", name="t"), make_failure("compile", "bad", "a.c", 1)
    assert sort_unique([goal, error, test, cause, cause]) == [cause, test, error, goal]
    assert sort_failures([test, goal, cause]) == [cause, test, goal]


def test_a_traceback_that_a_failing_test_names_as_well_is_that_test_s() -> None:
    test = make_failure("test", "no", "a.py", 3, "t")
    error = make_failure("error", "ValueError: no", "a.py", 3)
    assert sort_unique([error, test]) == [test]
    other = make_failure("error", "F821 undefined name", "a.py", 3)
    assert sort_unique([other, test]) == [test, other]


def test_places_of_the_run_are_taken_out_of_what_it_says() -> None:
    text = f"file://{TREE}/a.c {TREE}/b.c {TREE} {TREE.parent}/home/x"
    assert PLACES.make_paths_relative(text) == "a.c b.c . …/home/x"
    assert PLACES.reports == TREE.parent / "reports"


ANY_TEXT = st.text(st.characters(codec="utf-8"), max_size=200)
LINES = st.sampled_from(
    [
        *sorted({line for log in LOGS.glob("*.txt") for line in log.read_text().splitlines()}),
        "packages/a test$ x",
        "packages/a test: ok 1 - x",
        "make[1]: Entering directory 'x'",
        '{"Action":1}',
        '{"Action":"x","Package":[]}',
    ]
)


def test_pnpm_prefixes_lines_with_scripts_whose_names_hold_a_colon(tmp_path: Path) -> None:
    text = (
        ". test:unit$ uvu .\n. test:lint$ eslint .\n. test:unit:   Total:     74\n. test:lint:\n"
        ". test:unit:   Passed:    74\n. test:unit:   Skipped:   1\n"
    )
    assert read_step(text, tmp_path, failed=False).by_runner["uvu"].counted == 74


@settings(deadline=None)
@given(st.lists(LINES | ANY_TEXT, max_size=30))
def test_any_text_can_be_read(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    failures, reports = read_failed("\n".join(lines), tmp_path_factory.getbasetemp())
    for failure in failures:
        assert failure.message
        assert failure.line is None or 0 < failure.line < 10**9
        assert failure.path is None or not failure.path.startswith(("/", "../"))
    assert reports.counted >= 0
    if reports.ran and not reports.counted:
        assert {failure.id for failure in failures if failure.kind == "test"} <= set(
            reports.ran
        ) | {failure.id for failure in failures if failure.id not in reports.ran}


HOSTILE = {
    "headings": "--- FAIL: T (0s)\n" * 50_000,
    "points": "TAP version 13\n" + "ok 1 - x\n" * 50_000,
    "totals": "     Summary [   0.355s] 999999999 tests run: 4 passed\n" * 20_000,
    "colons": ("a" * 1000 + ":" * 1000 + "(" * 1000 + "\n") * 500,
    "one-line": "x" * 20_000_000,
    "escapes": "\x1b[" + "1" * 2_000_000 + "\x1b]" * 1_000_000,
    "links": "\x1b]" * 500_000 + "\n" + "\\x1b]" * 200_000,
    "braces": '{"Action":' * 100_000 + "\n" + '{"Action":"x","a":' + "[" * 100_000 + "}\n",
    "empty": "\n" * 2_000_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_a_hostile_log_is_read_in_time(name: str, tmp_path: Path) -> None:
    start = time.process_time()
    read_failed(HOSTILE[name], tmp_path)
    assert time.process_time() - start < 20


def test_more_errors_than_anybody_reads_are_told_to_be_more(tmp_path: Path) -> None:
    text = "".join(f"a.c:{line}:1: error: bad\n" for line in range(1, 2002))
    failures, reports = read_failed(text, tmp_path)
    assert len(failures) == 2000
    assert reports.problems == ("more than 2000 errors were printed",)


def test_nothing_in_the_log_of_a_step_that_did_not_fail_is_a_failure(tmp_path: Path) -> None:
    text = "a.c:1:1: error: bad\nmake: *** [Makefile:3: a] Error 1"
    step = read_step(text, tmp_path, failed=False)
    assert merge_results([step], Results(), expected=False) == ((), Results())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("at f (file://{tree}/a%20b%25c/x.mjs:3:1)", "at f (a b%c/x.mjs:3:1)"),
        ("at file://{tree}/quo'te/x.mjs:3:1", "at quo'te/x.mjs:3:1"),
        ("at {tree}/a%20b/x.mjs:3:1", "at a%20b/x.mjs:3:1"),
        ("at file://{tree}/a%0Ab.mjs:3:1", "at a%0Ab.mjs:3:1"),
        ("at file:///usr/a%20b.mjs", "at file:///usr/a%20b.mjs"),
    ],
)
def test_the_address_of_a_file_stands_for_its_path(text: str, shown: str) -> None:
    assert PLACES.make_paths_relative(text.replace("{tree}", str(TREE))) == shown


def test_a_traceback_that_ends_in_an_installed_package(tmp_path: Path) -> None:
    text = (
        'Traceback (most recent call last):\n  File "a.py", line 2, in <module>\n    f()\n'
        '  File ".venv/lib/x.py", line 9, in f\n    raise ValueError\nValueError: no\n'
    )
    ((failure,), _) = read_failed(text, tmp_path)
    assert (failure.kind, failure.place, failure.message) == ("error", "a.py:2", "ValueError: no")
