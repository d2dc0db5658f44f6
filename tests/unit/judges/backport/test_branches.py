"""Which branches are release lines, which of them auto takes, and what a short name means."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prjury.judges.backport.requests.branches import (
    ChosenBranches,
    ReleaseLine,
    choose_target_branches,
    match_branches,
    read_release_line,
)
from prjury.policy.load import read_options
from prjury.policy.schema import BackportConfig
from prjury.ports.types import BranchTip

DAY = 86_400
NOW = 1_780_000_000


def tips(*names: str, age: int = 0) -> list[BranchTip]:
    """Branches whose tips are as old as that, in days."""
    return [BranchTip(name, "a" * 40, NOW - age * DAY) for name in names]


def chosen(found: list[BranchTip], default: str = "main", **policy: object) -> ChosenBranches:
    return choose_target_branches(found, default, read_options(policy, BackportConfig))


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("1.0.x", (1, 0)),
        ("4.3.X", (4, 3)),
        ("7.x", (7,)),
        ("3.12", (3, 12)),
        ("v1.2", (1, 2)),
        ("v2", (2,)),
        ("v7.2.x", (7, 2)),
        ("release/1.2", (1, 2)),
        ("release-1.2", (1, 2)),
        ("releases/v3", (3,)),
        ("release-branch-1.2", (1, 2)),
        ("rel/v1", (1,)),
        ("r2.16", (2, 16)),
        ("stable-2.14", (2, 14)),
        ("stable/2024.1", (2024, 1)),
        ("stable29", (29,)),
        ("16-11-stable-ee", (16, 11)),
        ("7-1-stable", (7, 1)),
        ("v3.6-branch", (3, 6)),
        ("maintenance/2.3.x", (2, 3)),
        ("maintenance/1.0.3.x", (1, 0, 3)),
        ("branch-3.5", (3, 5)),
        ("branch_9_10", (9, 10)),
        ("REL_16_STABLE", (16,)),
        ("REL9_6_STABLE", (9, 6)),
        ("support/1.x", (1,)),
        ("linux-5.4.y", (5, 4)),
        ("version-14", (14,)),
        ("origin/1.0.x", (1, 0)),
        ("refs/heads/release/2.0", (2, 0)),
    ],
)
def test_the_line_that_a_branch_is_named_for(name: str, version: tuple[int, ...]) -> None:
    line = read_release_line(name)
    assert line is not None
    assert line.version == version
    assert not line.is_release or len(version) == 3


@pytest.mark.parametrize(
    "name",
    [
        *("main", "devel", "gh-pages", "milestone", "docs-build", "12", "1234", "2024-01-15"),
        *("hotfix/1.2.3", "feature/1.2", "fix-1.2", "backport-1.2", "backport/2.9/12", "patch-1"),
        *("dependabot/npm_and_yarn/ajv-8.18.0", "update-credits-1785136357", "temp-2.10-devel"),
        *("stable-2.0-network", "release-20240115", "release/8.0-staging", "older-docs-archive"),
        *("", "x", "release", "stable/", "v", "1.2.3.4.5.6.7", "1.0.x/feature"),
    ],
)
def test_branches_of_other_kinds_are_no_lines(name: str) -> None:
    assert read_release_line(name) is None


#: Branches as public projects have them.
ASTROPY = ("v0.4.x", "v1.0.x", "v3.2.x", "v7.0.x", "v7.1.x", "v7.2.x", "v8.0.x")
ANSIBLE = (
    "release1.8.4",
    "stable-1.9",
    "stable-2.0.0.1",
    "stable-2.9",
    "stable-2.10",
    "stable-2.18",
)


@pytest.mark.parametrize(
    ("names", "default", "taken"),
    [
        (("older-docs-archive", *ASTROPY), "main", ("v8.0.x", "v7.2.x", "v7.1.x")),
        (("milestone", *ANSIBLE), "devel", ("stable-2.18", "stable-2.10", "stable-2.9")),
        (
            ("maintenance/1.9.x", "maintenance/1.10.x", "maintenance/1.0.3.x"),
            "main",
            ("maintenance/1.10.x", "maintenance/1.9.x", "maintenance/1.0.3.x"),
        ),
        (("v1.2.3", "4.6.x", "4.5.x", "gh-pages"), "main", ("4.6.x", "4.5.x")),
        (("1.0.x", "1.1.x", "docs-build"), "main", ("1.1.x", "1.0.x")),
        (("10.x", "11.x", "10.3.x"), "11.x", ("10.x", "10.3.x")),
        (("release/1.2.3", "release/1.3.0"), "main", ("release/1.3.0", "release/1.2.3")),
        (("feature", "gh-pages"), "main", ()),
        (("camel-4.8.x", "camel-4.10.x", "topic-1.2"), "main", ("camel-4.10.x", "camel-4.8.x")),
        (("PHP-8.2", "PHP-8.3", "PHP-5.2.1"), "master", ("PHP-8.3", "PHP-8.2")),
        (
            ("maven-3.9.x", "maven-4.0.x", "issue-12", "issue-13"),
            "main",
            ("maven-4.0.x", "maven-3.9.x"),
        ),
        (
            ("branch_9x", "branch_9_8", "branch_10x"),
            "main",
            ("branch_10x", "branch_9x", "branch_9_8"),
        ),
        (("widget-4.10.x", "upgrade-2.0", "upgrade-3.0"), "main", ()),
    ],
)
def test_auto_takes_the_newest_lines(
    names: tuple[str, ...], default: str, taken: tuple[str, ...]
) -> None:
    assert chosen(tips(*names, default), default) == ChosenBranches(taken)


def test_a_lock_and_age_leave_branches_out() -> None:
    found = [*tips("3.x", "2.x", "1.9.x", "main"), *tips("1.8.x", age=900)]
    assert chosen(found).names == ("3.x", "2.x", "1.9.x")
    assert chosen(found, locked=["2.*"]).names == ("3.x", "1.9.x")
    assert chosen(found, branches=["1.8.x"]).names == ("1.8.x",)


def test_globs_become_the_branches_that_they_match_and_names_stay() -> None:
    found = tips("release/1.9", "release/1.10", "release/old", "main")
    named = ["gone", "release/*", "main", "gone"]
    assert chosen(found, branches=named).names == (
        *("gone", "release/1.10", "release/1.9", "release/old", "main"),
    )
    assert chosen(found, branches=["v*"]) == ChosenBranches(
        (), ("backport.branches: v* matches no branch",)
    )


MANY = (
    *("3.1", "3.12", "release/3.12", "v3.12.x", "stable-3.12", "maintenance/3.12.x", "main"),
    *("release-1.2", "release/1.2.3", "beta", "REL_16_STABLE", "linux-5.4.y", "linux-5.10.y"),
    *("16-11-stable", "18.x", "Stable/Rocky"),
)


@pytest.mark.parametrize(
    ("target", "branches"),
    [
        ("3.1", ("3.1",)),
        ("3.12", ("3.12",)),  # the name itself comes first
        ("v3.12", ("3.12", "release/3.12", "v3.12.x", "stable-3.12", "maintenance/3.12.x")),
        ("3.12.x", ("3.12", "release/3.12", "v3.12.x", "stable-3.12", "maintenance/3.12.x")),
        ("release-3.12", ("release/3.12",)),
        ("releases/3.12", ("release/3.12",)),
        ("1.2", ("release-1.2",)),
        ("1.2.3", ("release/1.2.3",)),
        ("v1.2.4", ("release-1.2",)),
        ("stable-1.2", ()),
        ("3", ()),
        ("18", ("18.x",)),
        ("v18.x", ("18.x",)),
        ("16", ("REL_16_STABLE",)),
        ("16.11", ("16-11-stable",)),
        ("stable/rocky", ("Stable/Rocky",)),
        ("origin/beta", ("beta",)),
        ("5.4+", ("linux-5.4.y", "linux-5.10.y", "REL_16_STABLE", "16-11-stable", "18.x")),
        ("", ()),
        ("pending", ()),
    ],
)
def test_what_a_short_name_means(target: str, branches: tuple[str, ...]) -> None:
    assert sorted(match_branches(target, MANY)) == sorted(branches)


versions = st.lists(st.integers(1, 2025), min_size=2, max_size=4)
names = st.sampled_from(["{}", "v{}", "{}.x", "release/{}", "stable-{}", "maintenance/{}.x"])


@given(versions, st.integers(0, 99), names, names)
def test_a_shorter_version_never_means_a_longer_one(
    version: list[int], more: int, short: str, long: str
) -> None:
    shorter = short.format(".".join(map(str, version)))
    longer = long.format(".".join(map(str, [*version, more])))
    assert match_branches(shorter, [longer]) == ()


@given(versions, names, st.integers(0, 9))
def test_more_digits_are_another_version(version: list[int], name: str, digit: int) -> None:
    text = ".".join(map(str, version))
    assert match_branches(text, [name.format(f"{text}{digit}")]) == ()


@given(st.text(), st.lists(st.text() | names))
def test_no_text_breaks_it(target: str, branches: list[str]) -> None:
    assert set(match_branches(target, branches)) <= set(branches)
    assert isinstance(read_release_line(target), ReleaseLine | None)
    found = [BranchTip(name, "a" * 40, number) for number, name in enumerate(branches)]
    assert set(chosen(found).names) <= set(branches)
