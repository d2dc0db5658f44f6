"""Language-neutral cases of conflicts: SIMPLE is mechanical."""

from __future__ import annotations

import pytest

from fakes.threeway import three_way
from prjury.judges.merge.conflict_class import classify
from prjury.snapshot.threeway import ThreeWay
from vectors import Case, cases


def sides_of(marked: str) -> ThreeWay:
    """Both sides of a text with one pair of markers; the base had something else there."""
    before, _, rest = marked.partition("<<<<<<< HEAD\n")
    ours, _, rest = rest.partition("=======\n")
    theirs, _, after = rest.partition(">>>>>>> pr\n")
    # A side without lines has deleted them; where both have some, both have added them.
    base = "" if ours and theirs else f"{ours}{theirs}".replace("core", "older")
    return three_way(*(f"{before}{text}{after}" for text in (base, ours, theirs)))


@pytest.mark.parametrize(
    "case", cases("snapshot", "classify_conflict"), ids=lambda case: case["id"]
)
def test_a_case(case: Case) -> None:
    path, hunks = case["input"]["path"], case["input"]["hunks"]
    found = [classify(path, sides_of(hunk)).mechanical for hunk in hunks]

    assert found
    assert ("SIMPLE" if all(found) else "COMPLEX") == case["expect"]["class"]
