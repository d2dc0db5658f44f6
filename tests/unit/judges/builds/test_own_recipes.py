"""Recipes that the policy names."""

from __future__ import annotations

import pytest

from fakes.roots import root_of
from fakes.trees import TreeRepository
from prjury.errors import ConfigError
from prjury.judges.builds.planner import detect_builds
from prjury.judges.builds.systems.recipes import read_own_recipes
from prjury.policy.load import parse_policy
from prjury.policy.tiers import BuildOptions

WAF = "name: waf\ntitle: Waf\ndetect: [{file: wscript}]\ncovers: [.c]\ntest: ./waf test\n"


def options(*paths: str) -> BuildOptions:
    text = f"build: {{recipes: [{', '.join(paths)}]}}"
    config = parse_policy(text, "policy.yml", commit="base").config
    return next(entry.build for tier in config.tiers for entry in tier.judges if entry.build)


def test_the_base_commit_has_them() -> None:
    repository = TreeRepository({"base": {"waf.yml": WAF}})
    (system,) = read_own_recipes(options("waf.yml"), repository)
    assert (list(system.covers), system.own) == (["waf"], True)


def test_one_of_a_family_needs_no_tools() -> None:
    two = {name: f"{WAF.replace('waf', name)}family: waf\n" for name in ("waf", "waff")}
    repository = TreeRepository({"base": {f"{name}.yml": text for name, text in two.items()}})
    own = read_own_recipes(options("waf.yml", "waff.yml"), repository)
    builds = detect_builds(root_of({"wscript": ""}), None, own_systems=own)
    assert [plan.system for plan in builds.plans] == ["waf"]


@pytest.mark.parametrize(
    ("paths", "problem"),
    [
        (["b.yml"], "there is no recipe b.yml in the base commit"),
        (["waf.yml", "two.yml"], "another recipe of the policy is called waf"),
        (["../waf.yml"], "a path inside the repository"),
    ],
)
def test_what_is_wrong_is_refused(paths: list[str], problem: str) -> None:
    repository = TreeRepository({"base": {"waf.yml": WAF, "two.yml": WAF}})
    with pytest.raises(ConfigError) as caught:
        read_own_recipes(options(*paths), repository)
    assert problem in str(caught.value)
