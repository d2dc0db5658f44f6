"""Panics of Go tests, as ``go test -json`` and ``go test`` tell them."""

from __future__ import annotations

import pytest

from prjury.judges.builds.results.lines import LogSection
from prjury.judges.builds.results.streams import read_go_failures
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
END = f"FAIL\t{PACKAGE}\t0.005s"


@pytest.mark.parametrize("part", [[], ["=== RUN   TestG/sub_case"]])
def test_a_panic_without_events(part: list[str]) -> None:
    lines = [
        *part,
        "--- FAIL: TestG (0.00s)",
        "    --- FAIL: TestG/sub_case (0.00s)",
        *IN_SUBTEST,
        END,
    ]
    ((_, failure),) = read_go_failures(LogSection(lines, range(len(lines)), TREE)).failures
    assert (failure.name, failure.place) == ("TestG/sub_case", "a/a.go:3")


RAN, PASSED, BAD = "=== RUN   TestG", "--- PASS: TestG (0.00s)", "--- FAIL: TestG (0.00s)"


@pytest.mark.parametrize(
    ("lines", "kind", "message"),
    [
        ([RAN, PASSED, "    a_test.go:5: no", BAD, "FAIL"], "test", "failed"),
        ([RAN, PASSED, "no database"], "error", "no database"),
        (["ok  \tx/b\t0.004s", BAD, "    a_test.go:5: no", "FAIL"], "test", "no"),
    ],
    ids=["it prints that it passed", "after all tests", "behind a package that passes"],
)
def test_what_a_package_prints_is_its_own(lines: list[str], kind: str, message: str) -> None:
    section = LogSection([*lines, END], range(len(lines) + 1), TREE)
    told = [(failure.kind, failure.message) for _, failure in read_go_failures(section).failures]
    assert told == [(kind, message)]
