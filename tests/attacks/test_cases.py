"""The table of attacks: each is held by tests that exist, or says why it cannot happen."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / ".github/docs/measured.md"
CASES: list[Mapping[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("cases.yml").read_text("utf-8")
)
AREAS = {
    "CFG": "policies", "GIT": "git", "MRG": "merges", "SCN": "diffs and parsers", "BLD": "builds",
    "REP": "reports of tools", "ART": "artifacts", "MD": "comments", "LOG": "logs",
    "OUT": "outputs", "SEC": "secrets", "INJ": "words to models", "LLM": "models' servers",
    "CMD": "commands", "API": "GitHub", "RACE": "races and crashes", "DOS": "floods",
    "BKP": "backports",
}  # fmt: skip


@cache
def names_in(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_case_is_held_by_tests_or_cannot_happen(case: Mapping[str, Any]) -> None:
    assert ("tests" in case) is not ("why" in case)
    for test in case.get("tests", ()):
        path, _, name = test.partition("::")
        assert name in names_in(path), test


def render() -> str:
    held = sum("tests" in case for case in CASES)
    lines = [
        f"{len(CASES)} attacks, {held} held by tests, {len(CASES) - held} that cannot happen here.",
        "",
        "| | Attack | Held by |",
        "|---|---|---|",
    ]
    for case in CASES:
        area = AREAS[case["id"].partition("-")[0]]
        links = [_link(*test.partition("::")[::2]) for test in case.get("tests", ())]
        lines.append(f"| {area} | {case['attack']} | {'; '.join(links) or case['why']} |")
    return "\n".join(lines)


def _link(path: str, name: str) -> str:
    words = name.removeprefix("test_").replace("_", " ")
    return f"[{re.sub(r'^([a-z]{3} [0-9]{2} )+', '', words)}](../../{path})"


def test_the_page_shows_the_table() -> None:
    page = DOCUMENT.read_text("utf-8")
    pattern = re.compile(r"(?<=<!-- attacks -->\n).*?(?=\n<!-- end -->)", re.DOTALL)
    if os.environ.get("PRJURY_UPDATE_GOLDEN"):
        DOCUMENT.write_text(pattern.sub(lambda _: render(), page), "utf-8")
    assert pattern.findall(DOCUMENT.read_text("utf-8")) == [render()]
