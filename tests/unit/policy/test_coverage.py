from __future__ import annotations

import re
from typing import Any

import pytest

from prjury.policy.load import Policy, make_config
from prjury.policy.schema import Config


def policy(*tiers: list[Any], **more: Any) -> Config:
    named = [{"name": f"tier-{number}", "judges": judges} for number, judges in enumerate(tiers)]
    named[-1]["policy"] = "final_tier"
    return make_config({"tiers": named, **more})


def seat(report: str = "jacoco.xml", **asked: Any) -> dict[str, Any]:
    return {"coverage": {"report": report, **(asked or {"minimum": 85})}}


def test_the_build_knows_the_reports_and_measures_the_whole() -> None:
    config = policy(["build"], [seat(), seat("c.out", baseline="base")])
    build = config.tiers[0].judges[0].build
    assert build is not None
    assert build.keep == ["c.out", "jacoco.xml"]
    assert build.keep_of_base == ["c.out"]
    assert not build.affected
    resolved = Policy(config, "file:x").resolved
    assert Policy(make_config(resolved), "file:x").resolved == resolved


def test_the_policy_may_have_only_what_is_affected_measured() -> None:
    for tiers in (
        [[{"build": {"affected": True}}], [seat()]],
        [["build"], [seat(mode="added_lines", minimum=80)]],
    ):
        build = policy(*tiers).tiers[0].judges[0].build
        assert build is not None
        assert build.affected


def test_reports_that_are_named_for_the_build() -> None:
    build = policy(["build"], build={"coverage": ["c.out"]}).tiers[0].judges[0].build
    assert build is not None
    assert (build.keep, build.affected) == (["c.out"], True)


@pytest.mark.parametrize(
    ("tiers", "told"),
    [
        ([["build", seat()]], "coverage in the tier tier-0 reads a report"),
        ([[seat()], ["build"]], "coverage in the tier tier-0 reads a report"),
        ([["merge"], [seat()]], "coverage in the tier tier-1 reads a report"),
        ([["build"], [seat("/x", minimum=1)]], "a glob is relative to the root"),
        ([["build"], [seat(metric="line")]], "name the `minimum`"),
        ([["build"], [seat(minimum=101)]], "a number of at most 100"),
        ([["build"], [seat(mode="floor")]], "name the `minimum`"),
        ([["build"], [seat(mode="improved")]], "name the `minimum`, in percent, or a `baseline`"),
        ([["build"], [seat(mode="improved", minimum=85)]], "name the `baseline`"),
        ([["build"], [seat(mode="added_lines", minimum=1, baseline=1)]], "no baseline"),
    ],
)
def test_what_makes_no_sense(tiers: list[list[Any]], told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(told)):
        policy(*tiers)
