"""Every command that takes a path, from a directory of one's own, with relative paths."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from e2e.conftest import Prjury
from e2e.test_own_packs import CASES, PACK
from fakes.history import History

POLICY = """\
tiers:
  - {name: build, judges: [merge, {build: {command: "true"}}]}
  - {name: patterns, policy: final_tier, judges: [{patterns: {packs: [house], paths: [rules]}}]}
"""
SIDES = "--repo up/shop --base main --head change".split()
#: Arguments, and the files that are there afterwards.
COMMANDS = {
    "review": ([*SIDES, "--no-llm", "--no-build"], []),
    "review ": (
        [
            *SIDES,
            *("--config", "own.yml", "--body-file", "body.md", "--output", "json=up/report.json"),
            *("--model", "scripted:answers.json", "--record", "up/answers.jsonl"),
        ],
        ["up/report.json", "up/answers.jsonl"],
    ),
    "backport": ([*SIDES, "--onto", "main", "--output", "json=up/b.json"], ["up/b.json"]),
    "build": ([*SIDES, "--config", "own.yml", "--output", "up/built.json"], ["up/built.json"]),
    "judge": (["file-exists", "--workspace", "up/shop", "--option", "path=a.py"], []),
    "judge file-exists": (["--option", "path=own.yml"], []),
    "rules list": (["rules"], []),
    "rules show": (["house", "rules/own.yml"], []),
    "rules test": (["rules"], []),
    "check-config": (["own.yml"], []),
    "init": (["--repo", "up/shop"], ["up/shop/.github/prjury.yml"]),
    "doctor": (["--repo", "up/shop", "--offline"], []),
}


@pytest.fixture
def here(tmp_path: Path) -> Path:
    place = tmp_path / "here"
    shop = History(place / "up" / "shop")
    shop.commit({"a.py": "x = 1\n"})
    shop.switch("change", create=True)
    shop.commit({"b.py": "y = 2\n"})
    (place / "rules").mkdir()
    (place / "rules" / "own.yml").write_text(PACK)
    (place / "rules" / "own.cases.yml").write_text(CASES)
    (place / "own.yml").write_text(POLICY)
    judged = POLICY.replace('{command: "true"}', '{command: "true", from: evidence}')
    (place / "evidence.yml").write_text(judged)
    (place / "body.md").write_text("It adds y.")
    (place / "answers.json").write_text("[]")
    return place


@pytest.mark.parametrize("command", COMMANDS)
def test_relative_paths_are_those_of_the_directory(
    here: Path, prjury: Prjury, command: str
) -> None:
    options, made = COMMANDS[command]
    at_the_root = set(Path("/").iterdir())
    run = prjury(*command.split(), *options, cwd=here)
    # Nothing is set up in the repository that the doctor sees.
    assert run.code == (1 if command == "doctor" else 0), run.out + run.err
    assert [path for path in made if not (here / path).exists()] == []
    assert set(Path("/").iterdir()) <= at_the_root


def test_a_review_finds_what_a_build_has_left(here: Path, prjury: Prjury) -> None:
    (here / "there").mkdir()
    built = ("--config", "own.yml", "--output", "there/built.json")
    assert prjury("build", *SIDES, *built, cwd=here).code == 0
    evidence = ("--config", "evidence.yml", "--evidence", "there/built.json")
    judged = prjury("review", *SIDES, *evidence, "--output", "json=there/report.json", cwd=here)
    assert judged.code == 0, judged.err
    assert json.loads((here / "there/report.json").read_text())["verdict"]["status"] == "pass"
