"""The library's page: a judge in five lines, a jury in ten, and both run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fakes.pages import output_of

PAGE = Path(__file__).resolve().parents[2] / ".github" / "docs" / "library.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    return [body for name, body in BLOCK.findall(PAGE.read_text("utf-8")) if name == language]


@pytest.mark.parametrize(("place", "most"), [(0, 5), (1, 10)], ids=["a judge", "a jury"])
def test_it_takes_few_lines(place: int, most: int) -> None:
    lines = [line for line in blocks("python")[place].splitlines() if line.strip()]
    assert len(lines) <= most


def test_the_jury_says_what_is_shown() -> None:
    a_judge, a_jury = blocks("python")
    (shown,) = blocks("text")
    assert output_of(a_judge + a_jury) == shown


def test_the_judge_is_a_judge_of_its_own() -> None:
    (a_judge, _) = blocks("python")
    asks = """
from prjury import JudgmentContext
print(tested.name, tested(JudgmentContext("fix it", agent_output="Fixed.")).reasoning)
"""
    assert output_of(a_judge + asks) == "tested no word of tests\n"
