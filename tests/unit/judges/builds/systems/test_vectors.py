"""Replays language-neutral cases of changed files and modules, where they lie beside the tree."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fakes.maven import coordinates, parent_pom, pom, project
from fakes.roots import root_of, touching
from prjury.judges.builds.systems.maven import plans

FILE = Path(__file__).resolve().parents[6] / "shared" / "data" / "vectors.json"
VECTORS: list[Mapping[str, Any]] = json.loads(FILE.read_text())["vectors"] if FILE.exists() else []
CASES = [case for case in VECTORS if case["op"] == "modules"]

SINGLE = {"pom.xml": project(coordinates("a", "<version>1</version>"))}
SEVERAL = {
    "pom.xml": parent_pom("root", "core", "other"),
    "core/pom.xml": pom("core"),
    "other/pom.xml": pom("other"),
}


def modules_of(files: list[str]) -> list[str]:
    """The modules as the cases name them: ``.`` is the root, which here is everything."""
    changes = touching(*files)
    if not changes.paths:
        return []  # only documentation changes, so nothing is built
    tree = SEVERAL if any(path.startswith("core/") for path in files) else SINGLE
    (plan,) = plans(root_of(tree), changes)
    return list(plan.scope.modules) or ["."]


@pytest.mark.skipif(not CASES, reason="the cases are not beside this tree")
def test_there_are_cases() -> None:
    assert len(CASES) >= 3


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_modules(case: Mapping[str, Any]) -> None:
    assert modules_of(case["input"]["files"]) == case["expect"]["modules"]
