"""What a tier has for some branches: votes, weights and thresholds, never other judges."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from fakes.repository import BASE, FakeRepository, pull_between
from prjury.app.policy_in_force import policy_in_force
from prjury.errors import ConfigError
from prjury.policy import POLICY_PATH
from prjury.policy.load import Policy, make_config, parse_policy
from prjury.snapshot.model import Side

POLICY = """\
tiers:
  - name: security
    policy: final_tier
    judges:
      - {quality: {criteria: [correctness]}, weight: 2}
      - python: {file: a.py, function: safe}
    voting: {weighted_average: {threshold: 0.5}}
    when:
      - branch: release/*
        voting: {weighted_average: {threshold: 0.9}}
        weights: {safe: 7}
      - {branch: "*", weights: {quality: 1}}
"""


def resolved(branch: str) -> dict[str, Any]:
    pull = pull_between({}, {"a.py": "x\n"})
    pull = replace(pull, base=Side(branch, BASE))
    repository = FakeRepository({BASE: {POLICY_PATH: POLICY}})
    policy = policy_in_force(pull, repository, None)
    tier: dict[str, Any] = policy.resolved["tiers"][0]
    return tier


@pytest.mark.parametrize(
    ("branch", "threshold", "weights"),
    [
        ("release/1.x", 0.9, [2.0, 7.0]),
        ("origin/release/1.x", 0.9, [2.0, 7.0]),
        ("refs/heads/release/1.x", 0.9, [2.0, 7.0]),
        ("main", 0.5, [1.0, 1.0]),
    ],
)
def test_the_first_case_that_names_the_branch(
    branch: str, threshold: float, weights: list[float]
) -> None:
    tier = resolved(branch)
    assert tier["voting"]["weighted_average"]["threshold"] == threshold
    assert [judge["weight"] for judge in tier["judges"]] == weights
    assert "when" not in tier, "what is in force is said once"


def test_cases_survive_being_written_and_read() -> None:
    policy = parse_policy(POLICY, "x")
    again = Policy(make_config(dict(policy.resolved)), "")
    assert again.adapt_to_branch("release/1").config == policy.adapt_to_branch("release/1").config


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("{branch: main}", "name what differs: `voting`, `weights` or `min_confidence`"),
        ("{branch: main, weights: {other: 1}}", "when: other is no judge of this tier"),
        ("{branch: main, weights: {merge: -1}}", "a number of at least 0"),
        ("{branch: main, min_confidence: 0.5}", "min_confidence is for the policy"),
        ("{branch: main, judges: []}", "judges is not a known key"),
        ("{branch: 'a b', weights: {merge: 1}}", "a branch is a name such as 1.0.x"),
    ],
)
def test_what_is_refused(case: str, words: str) -> None:
    text = f"tiers: [{{name: t, policy: final_tier, judges: [merge], when: [{case}]}}]"
    with pytest.raises(ConfigError) as refused:
        parse_policy(text, "x")
    assert words in str(refused.value)
