"""Errors in one line, as the tools print them."""

from __future__ import annotations

import pytest

from prjury.judges.builds.compilers import one_liners
from prjury.judges.builds.results.runner_output import LogSection
from prjury.judges.builds.results.tree import TreeFiles

TREE = TreeFiles(frozenset({"core/price_test.c", "t.cpp", "Makefile"}))


def read(line: str) -> list[tuple[str, str, str]]:
    found = one_liners(LogSection([line], [0], TREE))
    return [(failure.kind, failure.place, failure.message) for _, failure in found]


@pytest.mark.parametrize(
    ("line", "place", "message"),
    [
        (
            "price_test: core/price_test.c:6: main: Assertion `twice(2) == 4' failed.",
            "core/price_test.c:6",
            "Assertion `twice(2) == 4' failed.",
        ),
        (
            "t: t.cpp:9: void n::f(int): Assertion `x::y(1) == 2' failed.",
            "t.cpp:9",
            "Assertion `x::y(1) == 2' failed.",
        ),
        (
            "Assertion failed: (twice(2) == 4), function main, file core/price_test.c, line 6.",
            "core/price_test.c:6",
            "Assertion failed: (twice(2) == 4)",
        ),
        (
            "Assertion failed: (f(a, b)), file t.cpp, line 7.",
            "t.cpp:7",
            "Assertion failed: (f(a, b))",
        ),
    ],
)
def test_assertions_of_c(line: str, place: str, message: str) -> None:
    assert read(line) == [("error", place, message)]


@pytest.mark.parametrize("line", ["Assertion failed: x", "a: Assertion `x' failed."])
def test_assertions_without_a_place_are_left_out(line: str) -> None:
    assert read(line) == []


@pytest.mark.parametrize(
    "how", ["Error 1", "Error 127", "Aborted (core dumped)", "Segmentation fault", "Killed"]
)
def test_how_make_tells_that_a_command_failed(how: str) -> None:
    line = f"make: *** [Makefile:2: test] {how}"
    assert read(line) == [("goal", "Makefile:2", line)]


def test_what_make_says_of_itself_is_no_failure() -> None:
    assert read("make: *** Waiting for unfinished jobs....") == []
