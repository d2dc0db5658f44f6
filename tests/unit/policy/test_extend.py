"""Keys that add to the default policy, or take from it, without repeating it."""

from __future__ import annotations

import pytest

from prjury.errors import ConfigError
from prjury.policy.load import Policy, make_config, parse_policy


def read(text: str) -> Policy:
    return parse_policy(f"version: 1\n{text}\n", "f.yml")


def seats(text: str) -> dict[str, list[str]]:
    """The judges by tier."""
    tiers = read(text).config.tiers
    return {tier.name: [entry.title for entry in tier.judges] for tier in tiers}


DEFAULT = {"build": ["merge", "build"], "version-patterns": ["patterns"], "quality": ["quality"]}
RULE = "{python: {file: .prjury/rules.py, function: changelog}}"
AGENT = "{agent: {name: reviewer, command: claude -p, file: .prjury/ask.md}}"


def test_programs_sit_after_the_build_and_models_in_the_last_tier() -> None:
    found = seats(f"extend: [{RULE}, {AGENT}, {{findings: {{sarif: out.sarif}}}}]")
    assert list(found) == ["build", "rules", "version-patterns", "quality"]
    assert found["rules"] == ["changelog", "findings"]
    assert found["quality"] == ["quality", "reviewer"]
    (rules,) = [one for one in read(f"extend: [{RULE}]").config.tiers if one.name == "rules"]
    assert rules.continue_on_reject  # versions are looked at all the same
    assert seats("extend: []") == seats("") == DEFAULT


def test_tiers_of_ones_own_are_extended_as_well() -> None:
    tiers = "tiers: [{name: a, judges: [build]}, {name: rules, judges: [merge]}, "
    tiers += "{name: z, policy: final_tier, judges: [patterns]}]\n"
    found = seats(f"{tiers}extend: [{RULE}, {AGENT}]")
    assert found == {"a": ["build"], "rules": ["merge", "changelog"], "z": ["patterns", "reviewer"]}


def test_what_is_resolved_is_read_again_as_the_same() -> None:
    policy = read(f"extend: [{RULE}]\nignore: [docker]\nper_file_ignores: {{'docs/**': [numpy-2]}}")
    again = Policy(make_config(policy.resolved), policy.source)
    assert again.hash == policy.hash
    assert again.config.tiers == policy.config.tiers


@pytest.mark.parametrize(
    ("rule", "path", "ignored"),
    [
        ("docker/latest", "Dockerfile", True),
        ("numpy-2/float-underscore", "a.py", True),
        ("numpy-2/other", "a.py", False),
        ("python-stdlib/imp", "docs/a/b.py", True),
        ("python-stdlib/imp", "src/b.py", False),
    ],
)
def test_rules_and_packs_are_ignored_everywhere_or_in_files(
    rule: str, path: str, ignored: bool
) -> None:
    policy = read(
        "ignore: [numpy-2/float-underscore, docker]\nper_file_ignores: {'docs/**': [python-stdlib]}"
    )
    (patterns,) = policy.config.tiers[1].judges
    assert patterns.patterns is not None
    assert patterns.patterns.rules.is_ignored(rule, path) is ignored


@pytest.mark.parametrize(
    "text",
    [
        "ignore: ['a b']",
        "ignore: docker",
        "per_file_ignores: {'/etc/**': [docker]}",
        "extend: [{semantic: {expected: x}}]",
        "extend: [{agent: {command: x}}]",
        "extend: [{agent: {command: x, goal: a, file: b}}]",
        "extend: [{coverage: {report: c.xml}}]",
    ],
)
def test_anything_else_is_an_error_with_its_line(text: str) -> None:
    with pytest.raises(ConfigError, match=r"f\.yml line 2"):
        read(text)
