"""The page about rules of one's own: its rules run, and it names every key that they see."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from fakes.repository import BASE, FakeRepository, pull_between
from prjury.app.registry import JUDGES
from prjury.deadline import Deadline
from prjury.judges.context import PullRequestContext
from prjury.judges.functions.judge import make, make_pull_view
from prjury.jury.judgment import Status
from prjury.policy.load import json_schema, read_options
from prjury.policy.options import FunctionOptions
from prjury.policy.tiers import OPTIONS
from prjury.ports import Ports, SilentProgress
from prjury.sandbox.contained import ContainedShell

PAGE = Path(__file__).resolve().parents[2] / ".github" / "docs" / "judges" / "python.md"
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
RULES = "".join(text for language, text in BLOCKS if language == "python")
BEFORE = {"CHANGELOG.md": "old\n", "src/a.py": "x = 1\n"}


def test_every_judge_has_options_in_the_policy_and_a_factory() -> None:
    assert OPTIONS.keys() == JUDGES.keys()


def test_every_judge_is_in_the_schema() -> None:
    entry = json_schema()["$defs"]["JudgeEntry"]["anyOf"][1]
    assert entry["properties"].keys() == {*JUDGES, "weight"}


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ({"CHANGELOG.md": "new\n", "src/a.py": "x = 2\n"}, (Status.PASS, Status.PASS)),
        ({"src/a.py": "x = 2\nbreakpoint()\n"}, (Status.FAIL, Status.FAIL)),
        ({"src/a.py": "x = 2\n"}, (Status.FAIL, Status.PASS)),
    ],
)
def test_the_rules_that_are_shown(after: dict[str, str], said: tuple[Status, Status]) -> None:
    pull = pull_between(BEFORE, {**BEFORE, **after})
    repository = FakeRepository({BASE: {"rules.py": RULES}})
    ports = Ports(repository, ContainedShell(os.environ), SilentProgress())
    for function, status in zip(("changelog", "no_breakpoints"), said, strict=True):
        options = read_options({"file": "rules.py", "function": function}, FunctionOptions).at(BASE)
        context = PullRequestContext("merge", pull=pull, deadline=Deadline.after(60))
        judgment = make(options, ports).judge(context)
        assert judgment.status is status, judgment.reasoning


def keys_in(name: str) -> set[str]:
    """The keys in the first column of the table of an object."""
    rows = PAGE.read_text().partition(f"| `{name}.` |")[2].partition("\n\n")[0].splitlines()
    return {word for row in rows[2:] for word in re.findall(r"`(\w+)`", row.split("|")[1])}


def test_the_view_that_is_described() -> None:
    """The table names every key of the view, and no other."""
    view = make_pull_view(pull_between(BEFORE, {**BEFORE, "src/a.py": "x = 2\n"}))
    assert keys_in("pull") == view.keys()
    assert keys_in("file") == view["files"][0].keys()
