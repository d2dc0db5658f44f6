"""The lines below a compiler's message that belong to it, and those that do not."""

from __future__ import annotations

import pytest

from prjury.judges.builds.results.lines import LogSection
from prjury.judges.builds.results.problems import read_problems
from prjury.judges.builds.results.tree import TreeFiles

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
