from __future__ import annotations

import pytest

from fakes.github import ACTIONS_APP, FakeGitHub, running
from fakes.github.repository import rule_payload
from prjury.errors import SourceError
from prjury.github.client import Connection, RetryBudget
from prjury.github.settings import RepoSettings, RequiredCheck, make_settings_or_reason

SHOP = "https://github.com/octo/shop.git"


PERSON, JOB = "ghp_octocat", "ghs_actions"


def rights(fake: FakeGitHub, token: str | None = PERSON) -> RepoSettings:
    connection = Connection(fake.url, token, seconds_between_requests=0)
    return RepoSettings(connection, "octo/shop", RetryBudget(attempts=1))


def test_the_facts_tell_forks() -> None:
    with running() as fake, rights(fake) as port:
        fake.repositories["octo/shop"] = {
            "forks_count": 3,
            "private": False,
            "visibility": "public",
        }
        facts = port.facts()
    assert (facts.forks, facts.private, facts.default_branch) == (3, False, "main")


@pytest.mark.parametrize(("token", "reason"), [("ghp_wrong", "bad_credentials")])
def test_a_token_that_is_not_valid_is_told(token: str, reason: str) -> None:
    with running() as fake, rights(fake, token) as port, pytest.raises(SourceError) as caught:
        port.facts()
    assert caught.value.reason == reason


def test_a_repository_that_cannot_be_seen_is_told() -> None:
    with running() as fake, rights(fake) as port:
        fake.repositories.clear()
        with pytest.raises(SourceError, match="Could not see octo/shop") as caught:
            port.facts()
    assert caught.value.reason == "not_found"


def test_rules_are_read_from_all_pages() -> None:
    many = [rule_payload("octo/shop", f"check-{n}", None, n) for n in range(1, 150)]
    with running() as fake, rights(fake) as port:
        fake.rules["main"] = [
            *many,
            rule_payload("octo/shop", "prjury", ACTIONS_APP, 200),
        ]
        found = port.read_branch_rules("main")
    assert len(found.checks) == 150
    assert found.checks[0] == RequiredCheck("check-1", None, "ruleset 1")
    assert found.checks[-1] == RequiredCheck("prjury", ACTIONS_APP, "ruleset 200")
    assert not found.has_queue


def test_the_protection_names_its_checks() -> None:
    with running() as fake, rights(fake) as port:
        assert port.read_protection_checks("main") == ()
        fake.protections["main"] = {"prjury": ACTIONS_APP, "lint": None}
        assert port.read_protection_checks("main") == (
            RequiredCheck("prjury", ACTIONS_APP, "the branch protection"),
            RequiredCheck("lint", None, "the branch protection"),
        )


def test_who_may_not_read_the_protection_sees_the_checks_of_the_branch() -> None:
    with running() as fake, rights(fake, JOB) as port:
        fake.protections["main"] = {"prjury": ACTIONS_APP}
        assert port.read_protection_checks("main") == (
            RequiredCheck("prjury", ACTIONS_APP, "the branch protection"),
        )


def test_who_sees_no_checks_and_may_not_read_the_protection_knows_nothing() -> None:
    with running() as fake, rights(fake, JOB) as port, pytest.raises(SourceError) as caught:
        port.read_protection_checks("main")
    assert caught.value.reason == "permission"
    assert "administration: read" in caught.value.remedy


def test_without_a_way_to_ask_there_is_a_reason() -> None:
    token = {"GITHUB_TOKEN": "ghp_octocat"}
    assert make_settings_or_reason(SHOP, token, offline=True) == "--offline forbids to ask GitHub"
    assert (
        make_settings_or_reason("/srv/git/shop.git", token)
        == "the repository has no remote on GitHub"
    )
    assert make_settings_or_reason(None, token) == "the repository has no remote on GitHub"
    assert str(make_settings_or_reason(SHOP, {})).startswith("there is no token")
    found = make_settings_or_reason(SHOP, {"GH_TOKEN": "ghp_octocat"})
    assert isinstance(found, RepoSettings)
    assert found.repo == "octo/shop"
