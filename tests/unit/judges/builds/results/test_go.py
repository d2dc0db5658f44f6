"""Panics of Go tests, as ``go test -json`` and ``go test`` tell them."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from prjury.judges.builds.failure import Failure
from prjury.judges.builds.results.lines import LogSection
from prjury.judges.builds.results.streams import GoEvents, read_go
from prjury.judges.builds.results.tree import TreeFiles

TREE = TreeFiles(frozenset({"a/a.go", "a/a_test.go"}))
PACKAGE = "example.com/m/a"
MESSAGE = "panic: assignment to entry in nil map [recovered, repanicked]"
RUNTIME = [
    MESSAGE,
    "",
    "goroutine 21 [running]:",
    "testing.tRunner.func1.2({0x55a7a0, 0x6cacf0})",
    "\t/usr/local/go/src/testing/testing.go:1974 +0x232",
    "panic({0x55a7a0?, 0x6cacf0?})",
    "\t/usr/local/go/src/runtime/panic.go:860 +0x13a",
]
BELOW = [
    "testing.tRunner(0x99af429cb48, 0x592f08)",
    "\t/usr/local/go/src/testing/testing.go:2036 +0xea",
]
IN_SUBTEST = [
    *RUNTIME,
    "example.com/m/a.F(...)",
    "\ta/a.go:3",
    "example.com/m/a.TestG.func2(0x99af429cb48?)",
    "\ta/a_test.go:14 +0x29",
    *BELOW,
]
IN_TEST = [*RUNTIME, "example.com/m/a.TestG(0x99af429cb48)", "\ta/a_test.go:8 +0x45", *BELOW]


def events(*told: tuple[str, str, Iterable[str]]) -> list[Failure]:
    """What is told of these tests, each with how it ended and what it printed."""
    reader, number = GoEvents(TREE), 0
    for test, _, _ in told:
        reader.read(number, {"Action": "run", "Package": PACKAGE, "Test": test})
    for number, (test, action, lines) in enumerate(told):
        here = {"Package": PACKAGE, "Test": test}
        for line in lines:
            reader.read(number, {**here, "Action": "output", "Output": f"{line}\n"})
        reader.read(number, {**here, "Action": action})
    reader.read(number + 1, {"Action": "fail", "Package": PACKAGE})
    told_of = reader.finish()
    assert told_of.doubts == [f"the tests of the package {PACKAGE} stopped early"]
    return [failure for _, failure in told_of.failures]


@pytest.mark.parametrize("part", [[], ["=== RUN   TestG/sub_case"]])
def test_a_panic_without_events(part: list[str]) -> None:
    lines = [
        *part,
        "--- FAIL: TestG (0.00s)",
        "    --- FAIL: TestG/sub_case (0.00s)",
        *IN_SUBTEST,
        f"FAIL\t{PACKAGE}\t0.005s",
    ]
    ((_, failure),) = read_go(LogSection(lines, range(len(lines)), TREE)).failures
    assert (failure.name, failure.place) == ("TestG/sub_case", "a/a.go:3")


def test_a_test_that_prints_that_it_passed_still_fails() -> None:
    lines = [
        "=== RUN   TestG",
        "--- PASS: TestG (0.00s)",
        "    a_test.go:5: no",
        "--- FAIL: TestG (0.00s)",
        "FAIL",
        f"FAIL\t{PACKAGE}\t0.005s",
    ]
    told = read_go(LogSection(lines, range(len(lines)), TREE))
    assert [failure.name for _, failure in told.failures] == ["TestG"]


def test_what_a_package_prints_after_its_tests_is_its_own() -> None:
    lines = [
        "=== RUN   TestG",
        "--- PASS: TestG (0.00s)",
        "no database",
        f"FAIL\t{PACKAGE}\t0.005s",
    ]
    told = read_go(LogSection(lines, range(len(lines)), TREE))
    assert [(failure.kind, failure.message) for _, failure in told.failures] == [
        ("error", "no database")
    ]


def test_a_package_that_fails_behind_one_that_passes() -> None:
    lines = [
        "ok  \texample.com/m/b\t0.004s",
        "--- FAIL: TestG (0.00s)",
        "    a_test.go:5: no",
        "FAIL",
        f"FAIL\t{PACKAGE}\t0.005s",
    ]
    told = read_go(LogSection(lines, range(len(lines)), TREE))
    assert [failure.name for _, failure in told.failures] == ["TestG"]
