"""What a change does, whom it is asked for by, and the verdict that follows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from integration.backport.bench import ASKED, Bench, Story, lines

THREE = {"a.py": lines({3: "three"})}
MOVED = {"a.py": None, "core/a.py": lines({30: "x"})}
CORE = "def total(items):\n    return sum(items)\n\n\ndef count(items):\n    return len(items)\n"
TOTAL = CORE.partition("\n\n\n")[0] + "\n"
MIGRATION = "shop/migrations/0002_more.py"
HUGE = 80_000


def flask(version: str) -> Mapping[str, str]:
    return {"requirements.txt": f"six==1.0\n\n\n\nflask=={version}\n"}


@dataclass(frozen=True)
class Told:
    """A verdict, and part of its decisive reason."""

    story: Story
    verdict: str
    says: str
    asked: Mapping[str, Any] = field(default_factory=lambda: {"labels": ASKED})


NOBODY: dict[str, Any] = {}

TOLD = {
    "clean": Told(Story(change=[THREE], branch=[{"b.py": "b\n"}]), "suitable", "asked for"),
    "by default": Told(
        Story(change=[THREE]), "suitable", "default answer is yes", {"policy": "default: yes"}
    ),
    "by a trailer of the description": Told(
        Story(change=[THREE]), "suitable", "Backport-to: 1.x", {"body": "Hi.\n\nBackport-to: 1.x"}
    ),
    "refused by a label": Told(
        Story(change=[THREE]), "not_suitable", "refused for this", {"labels": ("No-Backport",)}
    ),
    "moved on the branch": Told(Story(change=[THREE], branch=[MOVED]), "suitable", "asked for"),
    "some files are missing": Told(
        Story(change=[{**THREE, "b.py": "b\n"}], branch=[{"a.py": None}]),
        "needs_human",
        "conflicts in 1 file",
    ),
    "all files are missing": Told(
        Story(change=[THREE], branch=[{"a.py": None}]), "not_applicable", "none of the files"
    ),
    "a major version of a dependency": Told(
        Story(start=flask("2.1.0"), change=[flask("3.0.0")]),
        "needs_human",
        "moves flask from 2.1.0 to 3.0.0; 1.x is at 2.1.0, a major version away",
        NOBODY,
    ),
    "a dependency of which the branch has a lower version": Told(
        Story(start=flask("1.0.0"), main=[(flask("2.1.0"), "P")], change=[flask("2.1.1")]),
        "needs_human",
        "1.x is at 1.0.0, a major version away",
        NOBODY,
    ),
    "a migration": Told(
        Story(change=[{**THREE, MIGRATION: "class Migration:\n    pass\n"}]),
        "suitable",
        "asked for",
    ),
    "a public name is gone": Told(
        Story(start={"core.py": CORE}, change=[{"core.py": TOTAL}]),
        "needs_human",
        "removes `count(items)` (core.py:5): needs a major release",
        NOBODY,
    ),
    "a public name more": Told(
        Story(start={"core.py": TOTAL}, change=[{"core.py": CORE}]), "suitable", "asked for"
    ),
    "a huge file": Told(
        Story(
            start={"big.txt": lines(count=HUGE)},
            branch=[{"big.txt": lines({HUGE // 2: "x"}, HUGE)}],
            change=[{"big.txt": lines({3: "x"}, HUGE)}],
        ),
        "suitable",
        "asked for",
    ),
}


@pytest.mark.parametrize("name", TOLD)
def test_the_verdict_and_its_reason(tmp_path: Path, name: str) -> None:
    told = TOLD[name]
    found = Bench(tmp_path, told.story).judge(**told.asked)
    assert (found.verdict, told.says in found.reasons[0]) == (told.verdict, True), found.reasons
    assert bool(found.commands) is (found.verdict != "not_applicable")
    assert not (found.prerequisites and found.verdict == "not_applicable")


#: What is said of a change in passing.
ASIDE = {
    "a migration": "adds 1 migration (Django)",
    "a public name more": "adds 1 public name: needs a minor release",
    "some files are missing": "the branch lacks 1 of 2 touched files: `a.py`",
}


@pytest.mark.parametrize("name", ASIDE)
def test_a_reason_that_does_not_decide_is_told_too(tmp_path: Path, name: str) -> None:
    told = TOLD[name]
    found = Bench(tmp_path, told.story).judge(**told.asked)
    assert any(ASIDE[name] in reason for reason in found.reasons[1:])
