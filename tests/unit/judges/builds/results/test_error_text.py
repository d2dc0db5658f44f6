"""The values below an assertion's message."""

from __future__ import annotations

import pytest

from prjury.judges.builds.results.error_text import with_sides, with_values
from prjury.judges.builds.results.go import go_failure
from prjury.judges.builds.results.runner_output import LogSection
from prjury.judges.builds.results.tree import TreeFiles

EQUAL = "Expected values to be strictly equal:"
DEEP = "Expected values to be strictly deep-equal:"
TO_BE = "expect(received).toBe(expected) // Object.is equality"
TO_EQUAL = "expect(received).toEqual(expected) // deep equality"
FRAME = "    at TestContext.<anonymous> (a.test.js:3:29)"


@pytest.mark.parametrize(
    ("message", "below", "told"),
    [
        (EQUAL, ["", "3 !== 2", "", FRAME], f"{EQUAL} 3 !== 2"),
        (
            f"  AssertionError: {EQUAL}",
            ["  ", "  3 !== 2", "  ", FRAME],
            f"AssertionError: {EQUAL} 3 !== 2",
        ),
        (
            DEEP,
            ["+ actual - expected", "", "  {", "    b: [", "+     2", "-     3", "    ]", "  }"],
            f"{DEEP} + 2 - 3",
        ),
        (
            "Expected values to be loosely deep-equal:",
            ["", "[", "  1", "]", "", "should loosely deep-equal", "", "[", "  2", "]", FRAME],
            "Expected values to be loosely deep-equal: [ 1 ] should loosely deep-equal [ 2 ]",
        ),
        (
            EQUAL,
            ["", "2 !== 3", "", "      + expected - actual", "", "      -2", "      +3", FRAME],
            f"{EQUAL} 2 !== 3",
        ),
        (EQUAL, ["2 !== 3", f"AssertionError: {EQUAL}", "2 !== 3"], f"{EQUAL} 2 !== 3"),
        ("no values:", [FRAME], "no values:"),
        ("no values:", ["+ actual - expected", "", "  {}"], "no values:"),
        ("boom", ["3 !== 2"], "boom"),
        (TO_BE, ["", "    Expected: 3", "    Received: 2"], f"{TO_BE} (Expected: 3, Received: 2)"),
        (
            TO_EQUAL,
            [
                "",
                "- Expected  - 1",
                "+ Received  + 1",
                "",
                "  Object {",
                '-   "a": 1,',
                '+   "a": 2,',
            ],
            f'{TO_EQUAL} (- "a": 1, + "a": 2)',
        ),
        (TO_EQUAL, ["", "> 3 |  expect(1).toEqual(2)"], TO_EQUAL),
        (
            "AssertionError: expected { a: { …(2) } } to deeply equal { a: { …(2) } }",
            [
                "",
                "- Expected",
                "+ Received",
                "",
                "  {",
                "-   1",
                "+   2",
                "  }",
                " ❯ a.test.js:5:19",
            ],
            "AssertionError: expected { a: { …(2) } } to deeply equal { a: { …(2) } } (- 1, + 2)",
        ),
        ("expected 2 to be 3", ["- Expected", "+ Received", "- 3", "+ 2"], "expected 2 to be 3"),
    ],
)
def test_values_stand_behind_the_message(message: str, below: list[str], told: str) -> None:
    assert with_values(message, below) == told


def test_many_values_are_cut() -> None:
    told = with_values(EQUAL, ["x" * 1_000, "y"])
    assert told == f"{EQUAL} {'x' * 200}…"
    assert "last" not in with_values(EQUAL, [*["x"] * 40, "last"])


@pytest.mark.parametrize(
    ("message", "below", "told"),
    [
        (
            "assertion `left == right` failed",
            ["  left: 3", " right: 2", "stack backtrace:"],
            "assertion `left == right` failed (left: 3, right: 2)",
        ),
        (
            "assertion `left == right` failed: wrong",
            ["in two lines", "  left: 3", " right: 2"],
            "assertion `left == right` failed: wrong (left: 3, right: 2)",
        ),
        (
            "assertion failed: `(left == right)`",
            ["  left: `3`,", " right: `2`"],
            "assertion failed: `(left == right)` (left: `3`, right: `2`)",
        ),
        ("assertion failed: 1 == 2", ["stack backtrace:", "left: 1"], "assertion failed: 1 == 2"),
        ("oh", ["left: 1"], "oh"),
    ],
)
def test_both_sides_of_an_assertion_of_rust(message: str, below: list[str], told: str) -> None:
    assert with_sides(message, below) == told


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (
            ["    a_test.go:7: got:", "        1", "        want:", "        2", "--- FAIL: T"],
            "got: 1 want: 2",
        ),
        (["    a_test.go:7: got:", "    a_test.go:7: other"], "other"),
        (
            [
                "    a_test.go:7: ",
                "        \tError Trace:\t/x/a_test.go:7",
                "        \tError:      \tNot equal: ",
                "        \t            \texpected: 1",
                "        \t            \tactual  : 2",
                "        \tTest:       \tT",
            ],
            "Not equal: expected: 1 actual  : 2",
        ),
    ],
)
def test_values_of_a_go_test(output: list[str], message: str) -> None:
    section = LogSection((), (), TreeFiles(frozenset({"a_test.go"})))
    failure = go_failure(section, "example.com/m", "T", output)
    assert (failure.place, failure.message) == ("a_test.go:7", " ".join(message.split()))
