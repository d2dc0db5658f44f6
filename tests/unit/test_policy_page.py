"""The page about judges in the policy: every example is a valid policy."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from prjury.app.registry import JUDGES
from prjury.policy.load import json_schema, read_policy
from prjury.policy.schema import JudgeEntry

PAGE = Path(__file__).resolve().parents[2] / ".github" / "docs" / "policy.md"
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_is_a_policy(example: str) -> None:
    assert read_policy(example, "policy.md").config.tiers


def test_every_judge_has_options_in_the_policy_and_a_factory() -> None:
    assert JudgeEntry.known().keys() == JUDGES.keys()


def test_every_judge_is_in_the_schema() -> None:
    entry = json_schema()["$defs"]["JudgeEntry"]["anyOf"][1]
    assert entry["properties"].keys() == {*JUDGES, "weight"}
