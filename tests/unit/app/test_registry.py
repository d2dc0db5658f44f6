"""What ``check-config`` finds beyond the schema, and the registry's voting strategies."""

from __future__ import annotations

from pathlib import Path

import pytest

import prjury
from prjury.app.composition import model_ports
from prjury.app.registry import VOTING, try_models
from prjury.errors import ConfigError
from prjury.policy.load import parse_policy
from prjury.policy.options import VotingEntry
from prjury.policy.schema import Config

FINAL = "tiers: [{name: q, policy: final_tier, judges: [%s]}]"
ACCEPTING = """\
tiers:
  - {name: q, policy: accept_on_all_pass, judges: [%s]}
  - {name: z, policy: final_tier, judges: [quality]}
"""


def config(text: str) -> Config:
    return parse_policy(f"version: 1\n{text}\n", "file:x", shown_name="x").config


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("models: {default: {provider: openai, name: m, base_url: 'http://10.0.0.1/v1'}}", "plain"),
        ("models: {default: {provider: scripted}}", "not known"),
        (FINAL % "{quality: {criteria: [nope]}}", "no question of its own"),
        (FINAL % "{quality: {model: 'nobody:x'}}", "not known"),
        (ACCEPTING % "description-matches-change", "can only lower"),
    ],
)
def test_what_a_review_would_refuse_is_found_without_one(text: str, told: str) -> None:
    policy = config(text)
    with pytest.raises(ConfigError, match=told):
        try_models(policy, model_ports(policy))


@pytest.mark.parametrize(
    "text",
    [
        "",
        FINAL % "quality, description-matches-change, tests-exercise-behaviour",
        ACCEPTING % "description-matches-change, quality",
        FINAL % "merge, build, {prompt: {name: units, text: T, criteria: {metric: 'Is it?'}}}",
        "models: {panel: [{provider: openai, name: a}, {provider: anthropic, name: b}]}",
    ],
)
def test_what_a_review_takes_is_in_order(text: str) -> None:
    policy = config(text)
    try_models(policy, model_ports(policy))


PAGE = Path(__file__).parents[3] / ".github" / "docs" / "voting.md"


def test_a_policy_can_name_exactly_the_strategies_of_the_registry() -> None:
    assert VotingEntry.FORMS.keys() == VOTING.keys()


@pytest.mark.parametrize("name", VOTING)
def test_a_strategy_is_named_after_its_row_public_and_explained(name: str) -> None:
    strategy = VOTING[name]()
    assert strategy.name == name
    assert type(strategy).__name__ in prjury.__all__
    assert type(strategy).__name__ in PAGE.read_text()
