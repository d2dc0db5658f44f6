"""Which checks count, by the names of the policy."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prjury.judges.builds.external_checks import CheckSummary
from prjury.judges.builds.external_checks import matches as has_name
from prjury.ports.types import CheckResult

CI = "github-actions"


@pytest.mark.parametrize(
    ("pattern", "app", "name", "matches"),
    [
        ("ci / test", CI, "ci / test", True),
        ("ci / test", CI, "ci / test 2", False),
        ("ci / test", CI, "CI / test", False),
        ("ci / *", CI, "ci / test", True),
        ("*", CI, "anything: at all", True),
        ("test (3.11, [linux])", CI, "test (3.11, [linux])", True),
        ("test [a]", CI, "test a", False),
        ("te?t", CI, "test", False),
        ("github-actions:ci / test", CI, "ci / test", True),
        ("github-actions:ci / test", "evil", "ci / test", False),
        ("github-actions:ci / test", "evil", "github-actions:ci / test", False),
        ("github-actions:*", CI, "ci / test", True),
        ("*:build:linux", CI, "build:linux", True),
        ("build:linux", CI, "build:linux", False),
        ("ci: test", CI, "ci: test", True),
        ("ci/circleci: build", "@circleci", "ci/circleci: build", True),
        ("@jenkins:ci", "@jenkins", "ci", True),
        ("@jenkins:ci", "jenkins", "ci", False),
        ("jenkins:ci", "@jenkins", "ci", False),
        ("@ci[bot]:ci", "@ci[bot]", "ci", True),
        ("a*b*c", CI, "axxbxxc", True),
        ("a*b*c", CI, "ac", False),
        ("ab*bc", CI, "abc", False),
    ],
)
def test_names(pattern: str, app: str, name: str, *, matches: bool) -> None:
    assert has_name(pattern, CheckResult(name, app)) is matches


@given(st.text("ab*", max_size=6), st.text("ab", max_size=6))
def test_stars_stand_for_any_text(pattern: str, text: str) -> None:
    expected = re.fullmatch(pattern.replace("*", ".*"), text) is not None
    assert has_name(pattern, CheckResult(text, CI)) is expected


def test_a_long_pattern_takes_no_time() -> None:
    assert not has_name("a*" * 100 + "b", CheckResult("a" * 255, CI))


def run(name: str, conclusion: str | None) -> CheckResult:
    return CheckResult(name, CI, conclusion)


def test_only_what_is_named_counts() -> None:
    runs = [run("test", "success"), run("lint", "failure")]
    tally = CheckSummary.of(runs, ["test", "docs"])
    assert tally.runs == (runs[0],)
    assert tally.missing == ("docs",)
    assert tally.unproved == ("docs",)
    assert not tally.complete


def test_nothing_is_never_complete() -> None:
    assert not CheckSummary.of([]).complete
    assert CheckSummary.of([run("a", "failure")]).complete


@pytest.mark.parametrize(
    ("app", "name"),
    [
        ("codecov", "anything"),
        ("@codecov-io", "codecov/patch"),
        ("@coveralls", "coverage/coveralls"),
        ("sonarqubecloud", "SonarCloud Code Analysis"),
        ("@CLAassistant", "license/cla"),
        ("dco", "DCO"),
        ("@netlify", "deploy/netlify/site"),
    ],
)
def test_what_builds_nothing_is_left_out_unless_all_are_wanted(app: str, name: str) -> None:
    one = CheckResult(name, app, "failure")
    assert not CheckSummary.of([one], "auto").runs
    assert CheckSummary.of([one], "all").runs
    assert CheckSummary.of([one], [name]).runs


@pytest.mark.parametrize("name", ["test", "coverage", "build (codecov)", "docs", "lint / DCOs"])
def test_what_may_build_counts(name: str) -> None:
    assert CheckSummary.of([CheckResult(name, CI, "failure")], "auto").runs
