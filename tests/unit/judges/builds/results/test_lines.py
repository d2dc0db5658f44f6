"""Lines of a log: whose path a failure bears, and the tests that closing lines count."""

from __future__ import annotations

import pytest

from prjury.judges.builds.failure import Kind
from prjury.judges.builds.results.lines import LogSection, RunnerOutput
from prjury.judges.builds.results.runners import read_inside
from prjury.judges.builds.results.tree import TreeFiles

#: ``out`` is a link that leads out of the tree.
TREE = TreeFiles(frozenset({"out", "main/src/x.py", "src/x.py"}))
SECTION = LogSection((), (), TREE)


@pytest.mark.parametrize("path", ["out/main/src/x.py", "out/x.py", "made/up.py", "/tmp/x.py"])
@pytest.mark.parametrize("kind", ["test", "error", "compile"])
def test_a_path_that_is_not_the_tree_s_is_left_away(path: str, kind: Kind) -> None:
    failure = SECTION.failure(kind, "boom", path, 3, "t" if kind == "test" else None)
    assert (failure.path, failure.line) == (None, None)


def test_errors_in_two_files_that_are_not_the_tree_s_are_two() -> None:
    one, other = (SECTION.failure("compile", "boom", f"out/{name}.py", 3) for name in "ab")
    assert (one.message, other.message) == ("out/a.py:3: boom", "out/b.py:3: boom")
    assert one.id != other.id
    assert one.id == SECTION.failure("compile", "boom", "out/a.py", 9).id


@pytest.mark.parametrize("path", ["test_a.py", "mit leer/größe & maß/test_a.py", "a b.py"])
def test_pytest_names_a_file_with_blanks_as_it_is(path: str) -> None:
    lines = ["    def test_a():", ">       assert 1 == 2", "E       assert 1 == 2", ""]
    tree = TreeFiles(frozenset({path}))
    section = LogSection((), (), tree)
    assert section.find_place([*lines, f"{path}:2: AssertionError"], last=True) == (path, "2")


def test_a_package_that_was_installed_from_the_tree_is_found_there() -> None:
    tree = TreeFiles(frozenset({"src/shop/cart.py", "test_a.py", "six.py"}))
    place = ".tox/py/lib/python3.11/site-packages"
    lines = ["test_a.py:1: in test_a", f"{place}/shop/cart.py:7: in total"]
    assert LogSection((), (), tree).find_place(lines, last=True) == ("src/shop/cart.py", "7")
    assert tree.find("/x/venv/lib/python3.11/site-packages/shop/cart.py") == "src/shop/cart.py"
    assert tree.find(f"{place}/six.py") is None
    assert tree.find(f"{place}/toys/cart.py") is None


AUTOMAKE = """\
PASS: alloc.sh
XFAIL: known
FAIL: ztest
SKIP: lzma
# TOTAL: 4
# PASS:  1
# SKIP:  1
# XFAIL: 1
# FAIL:  1
# XPASS: 0
# ERROR: 0
"""
GOOGLE = """\
[==========] Running 2 tests from 1 test suite.
[ RUN      ] Sum.Small
[       OK ] Sum.Small (0 ms)
[ RUN      ] Sum.Large
[  SKIPPED ] Sum.Large (0 ms)
[==========] 2 tests from 1 test suite ran. (0 ms total)
[  PASSED  ] 1 test.
[  SKIPPED ] 1 test, listed below:
[  SKIPPED ] Sum.Large
"""


def read(text: str) -> RunnerOutput:
    lines = text.splitlines()
    return read_inside(LogSection(lines, range(len(lines)), TreeFiles(frozenset())))


@pytest.mark.parametrize(
    ("text", "ran", "failed", "skipped"),
    [
        ("3 Tests 1 Failures 1 Ignored", 2, 1, 1),
        ("[====] 2 test cases ran.", 2, 0, 0),
        ("59/60 tests succeeded.", 60, 1, 0),
        ("FAIL: test_free (a.c: 3)\nFAIL: 538 of 539 tests passed.", 539, 1, 0),
        ("Success: 990 tests passed.", 990, 0, 0),
        ("FAILURE: 2 out of 990 tests failed.", 990, 2, 0),
        ("Tests failed: 14\nTests passed: 360", 374, 14, 0),
        ("CBC encrypt: SUCCESS!\nCBC decrypt: FAILURE!\nFAILED: src/a.c.o\nBUILD SUCCESS", 2, 1, 0),
        ("58/58 tests successful", 58, 0, 0),
        ("Tests failed: 1\nTests passed: 349", 350, 1, 0),
        ("PASSED: 24\nFAILED: 1", 25, 1, 0),
        ("[ OK ] BigInt1\n[FAIL] BigInt2", 2, 1, 0),
        ("16 tests; 16 passed, 0 failed", 16, 0, 0),
        ("652 passed, 1 failed, 1 errored, 3 skipped", 654, 2, 3),
        ("100%: Checks: 12, Failures: 0, Errors: 0", 12, 0, 0),
        ("66%: Checks: 3, Failures: 1, Errors: 0", 3, 1, 0),
        ("[==========] tests: 3 test(s) run.", 3, 0, 0),
        ("All tests passed (34 assertions in 7 test cases)", 7, 0, 0),
        ("test cases:  9 |  7 passed | 1 failed | 1 skipped", 8, 1, 1),
        ("[doctest] test cases:  5 |  4 passed | 1 failed | 2 skipped", 5, 1, 2),
        ("1 doctest, 12 tests, 2 failures, 1 skipped", 11, 2, 1),
        ("4 examples, 1 failure, 1 pending", 3, 1, 1),
        ("606 tests, 1471 assertions, 0 failures, 1 errors, 0 pendings, 1 omissions", 606, 1, 0),
        ("10 runs, 20 assertions, 0 failures, 0 errors, 2 skips", 8, 0, 2),
        ("OK (5 tests, 10 assertions)", 5, 0, 0),
        ("Tests: 5, Assertions: 9, Failures: 1, Skipped: 1.", 4, 1, 1),
        ("Files=3, Tests=20,  0 wallclock secs", 20, 0, 0),
        ("ok | 5 passed (2 steps) | 1 failed (9ms)", 6, 1, 0),
        (" 5 pass\n 1 skip\n 0 fail\nRan 6 tests across 1 file. [2.00ms]", 5, 0, 1),
        ("3 specs, 0 failures, 1 pending spec", 2, 0, 1),
        ("1 of 243 tests failed:", 243, 1, 0),
        ("  15 tests passed\n  1 test failed", 16, 1, 0),
        ("46 tests, 45 passed, 1 failed", 46, 1, 0),
        ("115 tests conducted, 0 failed.", 115, 0, 0),
        ("Pass 1853, Fail 2", 1855, 2, 0),
        ("225 of 225 tests passed (0 malformed, 0 skipped)", 225, 0, 0),
        ("argon2i v=16: OK\nargon2d v=16: OK\nchecking for cc... ok\nit is OK", 2, 0, 0),
        ("1 of 5 tests failed", 5, 1, 0),
        ("PASS: 539 of 539 tests passed.", 539, 0, 0),
        ("hash v=16: PASS\nhash v=19: FAIL\nFAILED: a.o", 2, 1, 0),
        ("  | Test Range ... Passed!\n[PASS]\n-- Performing Test HAVE_X - Failed", 1, 0, 0),
    ],
)  # fmt: skip
def test_what_closing_lines_count(text: str, ran: int, failed: int, skipped: int) -> None:
    found = read(text)
    assert (found.counted, found.skipped) == (ran, skipped)
    assert bool(found.unnamed) == bool(failed)
    assert not failed or f"counts {failed} failed test" in found.unnamed[0]


@pytest.mark.parametrize("text", ["passed", "1 passed", "no tests failed", "It will PASS soon"])
def test_what_counts_nothing(text: str) -> None:
    assert not read(text).has_results


def test_what_make_ignores_of_tests_is_a_failure() -> None:
    lines = (
        "make: [Makefile:7: test] Aborted (ignored)\nmake[1]: [Makefile:9: clean] Error 1 (ignored)"
    )
    assert (read(lines).broken, read(lines).unnamed) == (1, [])


def test_names_are_believed_where_they_are_as_many_as_are_counted() -> None:
    found = read(AUTOMAKE)
    assert (found.ran, found.skipped) == (["test::alloc.sh", "test::known", "test::ztest"], 1)
    assert [one.name for _, one in found.failures] == ["ztest"]
    found = read(GOOGLE)
    assert (found.ran, found.counted, found.skipped) == (["test::Sum.Small"], 0, 1)
    found = read(AUTOMAKE.replace("PASS: alloc.sh\n", ""))
    assert (found.ran, found.counted) == ([], 3)
