"""The dictionary of build systems, and what is derived from it."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import pytest

import prjury
from fakes.roots import root_of
from prjury.judges.builds.plan import When
from prjury.judges.builds.systems import SYSTEMS
from prjury.judges.builds.systems.recipes import read_recipe
from prjury.policy.load import json_schema
from prjury.policy.tiers import System

PAGE = Path(__file__).parents[5] / ".github" / "docs" / "judges" / "recipes.md"
FOUND = ("Found", "Runs", "Tried on")
RECIPES = Path(prjury.__file__).parent / "judges" / "builds" / "recipes"


def test_the_policy_names_all_systems() -> None:
    assert tuple(SYSTEMS) == get_args(System)
    listed = json_schema()["$defs"]["BuildOptions"]["properties"]["systems"]["anyOf"][1]["items"]
    assert listed["enum"] == sorted(SYSTEMS)


@pytest.mark.parametrize("name", SYSTEMS)
def test_each_system_is_complete(name: str) -> None:
    system = SYSTEMS[name]
    assert system.manifests
    assert system.plans(root_of({"README": ""})) == ()
    assert system.when in get_args(When)
    assert system.covers
    assert all(
        suffix == "*" or suffix.startswith(".")
        for suffixes in system.covers.values()
        for suffix in suffixes
    )


def test_no_two_systems_have_builds_of_one_name() -> None:
    names = [name for system in SYSTEMS.values() for name in system.covers]
    assert len(names) == len(set(names))


def table(*rows: Sequence[str]) -> str:
    head, *others = rows
    lines = [head, ["---"] * len(head), *others]
    ruler = "|" + "|".join("---" for _ in head) + "|"
    printed = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join([printed[0], ruler, *printed[2:]])


def test_the_documentation_has_the_table() -> None:
    place = re.compile(r"(?<=<!-- systems: found -->\n)(.*?)(?=<!-- end -->)", re.DOTALL)
    recipes = [read_recipe(file.read_text(), file.name) for file in sorted(RECIPES.glob("*.yml"))]
    rows = []
    for recipe in recipes:
        files = ", ".join(f"`{name}`" for name in dict.fromkeys(one.file for one in recipe.detect))
        if recipe.when == "on_request":
            files += ", if the policy names it"
        rows.append((files, recipe.description, recipe.tried or "experimental"))
    made = table(FOUND, *rows) + "\n"
    if os.environ.get("PRJURY_UPDATE_GOLDEN"):
        PAGE.write_text(place.sub(lambda _: made, PAGE.read_text()))
    (shown,) = place.findall(PAGE.read_text())
    assert shown == made
