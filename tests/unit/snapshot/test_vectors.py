"""The semantics cases of conflicts, replayed where they are at hand: SIMPLE is mechanical."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.threeway import three_way
from prjury.judges.merge.conflict_class import classify
from prjury.snapshot.threeway import ThreeWay

FILE = Path(__file__).resolve().parents[4] / "shared" / "data" / "vectors.json"
CASES: list[dict[str, Any]] = (
    [case for case in json.loads(FILE.read_text())["vectors"] if case["op"] == "classify_conflict"]
    if FILE.is_file()
    else []
)


def sides_of(marked: str) -> ThreeWay:
    """Both sides of a text with one pair of markers; the base had something else there."""
    before, _, rest = marked.partition("<<<<<<< HEAD\n")
    ours, _, rest = rest.partition("=======\n")
    theirs, _, after = rest.partition(">>>>>>> pr\n")
    # A side without lines has deleted them; where both have some, both have added them.
    base = "" if ours and theirs else f"{ours}{theirs}".replace("core", "older")
    return three_way(*(f"{before}{text}{after}" for text in (base, ours, theirs)))


@pytest.mark.skipif(not CASES, reason="the semantics cases are not here")
def test_there_are_cases() -> None:
    assert {case["expect"]["class"] for case in CASES} == {"SIMPLE", "COMPLEX"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_case(case: dict[str, Any]) -> None:
    path, hunks = case["input"]["path"], case["input"]["hunks"]
    found = [classify(path, sides_of(hunk)).mechanical for hunk in hunks]

    assert found
    assert ("SIMPLE" if all(found) else "COMPLEX") == case["expect"]["class"]
