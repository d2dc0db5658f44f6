"""Errors that tools print, by problem matchers, with the lines below that belong to them."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping

import pytest
from msgspec.json import decode

from prjury.judges.builds.results.lines import LogSection
from prjury.judges.builds.results.problems import MatcherFile, MatcherSet, read_problems
from prjury.judges.builds.results.tree import TreeFiles

TREE = TreeFiles(frozenset({"core/price_test.c", "t.cpp", "Makefile", "src/a.ts"}))


def matcher_file(*patterns: Mapping[str, object]) -> str:
    return json.dumps({"problemMatcher": [{"owner": "x", "pattern": list(patterns)}]})


def read(line: str) -> list[tuple[str, str, str]]:
    found = read_problems(LogSection([line], [0], TREE))
    return [(failure.kind, failure.place, failure.message) for _, failure in found]


@pytest.mark.parametrize(
    "text",
    [
        '[error] src/a.ts:45:7: ERROR: Unexpected "functoin"',
        '✘ [ERROR] Unexpected "functoin"\n\n    src/a.ts:45:7:\n      45 │ export functoin',
    ],
)
def test_esbuild_by_itself_and_below_others(text: str) -> None:
    lines = text.split("\n")
    ((_, failure),) = read_problems(LogSection(lines, range(len(lines)), TREE))
    assert (failure.kind, failure.place) == ("compile", "src/a.ts:45")
    assert failure.message == 'Unexpected "functoin"'


PROVE = """#          got: 'x'
# Looks like you failed 1 test of 30.
syntax error at lib/X.pm line 5, near "foo bar"
Compilation failed in require at t/a.t line 3.
t/a.t   (Wstat: 256 (exited 1) Tests: 30 Failed: 1)
  Failed test:  3
Result: FAIL"""


def test_prove_names_each_test_and_each_file() -> None:
    lines, tree = PROVE.split("\n"), TreeFiles(frozenset({"t/a.t", "lib/X.pm"}))
    found = [one for _, one in read_problems(LogSection(lines, range(len(lines)), tree))]
    assert [(one.kind, one.place, one.message) for one in found] == [
        ("compile", "lib/X.pm:5", 'syntax error at lib/X.pm line 5, near "foo bar"'),
        ("error", "t/a.t", "Wstat: 256 (exited 1) Tests: 30 Failed: 1"),
    ]


@pytest.mark.parametrize(
    "how", ["Error 1", "Error 127", "Aborted (core dumped)", "Segmentation fault", "Killed"]
)
def test_how_make_tells_that_a_command_failed(how: str) -> None:
    line = f"make: *** [Makefile:2: test] {how}"
    assert read(line) == [("goal", "Makefile:2", line)]


#: As GitHub's own documentation shows it.
STYLISH = """{"problemMatcher": [{"owner": "eslint-stylish", "pattern": [
  {"regexp": "^([^\\\\s].*)$", "file": 1},
  {"regexp": "^\\\\s+(\\\\d+):(\\\\d+)\\\\s+(error|warning|info)\\\\s+(.*)\\\\s\\\\s+(.*)$",
   "line": 1, "column": 2, "severity": 3, "message": 4, "code": 5, "loop": true}]}]}"""


def test_the_example_of_the_format_is_read() -> None:
    log = ["test.js", "  1:0   error  Missing it  err/a", "  5:5   error  Not that  err/b", "", "x"]
    found = list(MatcherSet(decode(STYLISH, type=MatcherFile).matchers).find_errors(log))
    assert [(index, values["line"], values["message"]) for _, index, values in found] == [
        (1, "1", "Missing it"),
        (2, "5", "Not that"),
    ]
    assert {values["file"] for _, _, values in found} == {"test.js"}


@pytest.mark.parametrize(
    "patterns",
    [
        [{"regexp": "(a)", "message": 1}],
        [{"regexp": "^(a)", "message": 1, "extra": 1}],
        [{"message": 1}],
    ],
)
def test_a_file_that_has_not_the_form_is_refused(patterns: list[dict[str, object]]) -> None:
    with pytest.raises(ValueError, match=r"expression|unknown|required"):
        decode(matcher_file(*patterns), type=MatcherFile)


def test_hostile_lines_take_no_time_and_hide_nothing() -> None:
    hostile = [("a.c" + ":1" * 900 + "[" * 100)[:2_000], "make[" * 400, "Assertion failed: (" * 100]
    lines = [*hostile * 300, "t.cpp:7: error: boom"]
    started = time.monotonic()
    found = list(read_problems(LogSection(lines, range(len(lines)), TREE)))
    assert [failure.place for _, failure in found] == ["t.cpp:7"]
    assert time.monotonic() - started < 5


TSC = """\
src/a.ts(3,5): error TS2322: Type '{ a: string; }' is not assignable to type 'A'.
  Types of property 'a' are incompatible.
    Type 'string' is not assignable to type 'number'.
src/a.ts(9,5): error TS2304: Cannot find name 'x'."""
MAVEN = """\
[ERROR] src/A.java:[3,5] cannot find symbol
[ERROR]   symbol:   class Missing
[ERROR]   location: class A
[ERROR] -> [Help 1]"""
GO = "a.go:4:9: not enough return values\n\thave (number)\n\twant (int, string)\nFAIL a"


@pytest.mark.parametrize(
    ("log", "details"),
    [
        (TSC, TSC.partition("error ")[2].rpartition("\n")[0]),
        (MAVEN, "cannot find symbol\n  symbol:   class Missing\n  location: class A"),
        (GO, "not enough return values\n\thave (number)\n\twant (int, string)"),
    ],
    ids=["tsc", "maven", "go"],
)
def test_what_belongs_to_a_message(log: str, details: str) -> None:
    lines = log.splitlines()
    tree = TreeFiles(frozenset({"src/a.ts", "src/A.java", "a.go"}))
    found = [failure for _, failure in read_problems(LogSection(lines, range(len(lines)), tree))]
    assert found[0].details == details
    assert all(not failure.details for failure in found[1:])
