"""Where the checks of a repository are asked for."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from prjury.errors import UsageError
from prjury.github.check_results import OwnRun
from prjury.github.checks import CommitChecks, make_checks_or_reason

TOKEN = {"GITHUB_TOKEN": "t"}
URL = "https://github.com/octo/shop.git"


def found(url: str | None, environ: Mapping[str, str] = TOKEN) -> CommitChecks:
    checks = make_checks_or_reason(url, environ)
    assert isinstance(checks, CommitChecks), checks
    return checks


@pytest.mark.parametrize(
    "url",
    [
        URL,
        "https://github.com/octo/shop",
        "https://github.com/octo/shop/",
        "https://x-access-token:abc@github.com/octo/shop.git",
        "git@github.com:octo/shop.git",
        "ssh://git@github.com/octo/shop.git",
        "ssh://git@ssh.github.com:443/octo/shop.git",
        "https://GitHub.com/octo/shop",
        "https://www.github.com/octo/shop",
    ],
)
def test_a_repository_on_github(url: str) -> None:
    checks = found(url)
    assert checks.repo == "octo/shop"
    assert checks.connection.api_url == "https://api.github.com"
    assert checks.connection.token == "t"
    assert checks.own == OwnRun(None, "")


@pytest.mark.parametrize(
    "url",
    [
        None,
        "",
        "/srv/git/octo/shop.git",
        "../shop",
        "file:///srv/octo/shop.git",
        "https://gitlab.com/octo/shop.git",
        "https://github.com.evil.example/octo/shop.git",
        "https://github.com/shop",
        "https://evil.example/github.com/octo/shop",
    ],
)
def test_one_elsewhere_never_gets_the_token(url: str | None) -> None:
    assert make_checks_or_reason(url, TOKEN) == (
        "the repository is not known to be on github.com. Name the pull request by its URL, or "
        "build here: `build: {from: run}`"
    )


def test_an_enterprise_server() -> None:
    environ = {**TOKEN, "GITHUB_SERVER_URL": "https://ghe.example.com"}
    assert found("git@ghe.example.com:octo/shop.git", environ).connection.api_url == (
        "https://ghe.example.com/api/v3"
    )
    assert isinstance(make_checks_or_reason(URL, environ), str)
    api = {**environ, "GITHUB_API_URL": "https://api.ghe.example.com/"}
    checks = found("https://ghe.example.com/octo/shop", api)
    assert checks.connection.api_url == "https://api.ghe.example.com"


def test_the_other_name_of_the_token() -> None:
    assert found(URL, {"GH_TOKEN": "g"}).connection.token == "g"
    assert found(URL, {"GH_TOKEN": "g", **TOKEN}).connection.token == "t"


@pytest.mark.parametrize("environ", [{}, {"GITHUB_TOKEN": ""}])
def test_without_a_token(environ: dict[str, str]) -> None:
    assert make_checks_or_reason(URL, environ) == (
        "there is no token. Set GITHUB_TOKEN to one with `checks: read`, `statuses: read` and "
        "`actions: read`"
    )


def test_offline() -> None:
    told = make_checks_or_reason(URL, TOKEN, offline=True)
    assert isinstance(told, str)
    assert told.startswith("--offline forbids to ask GitHub")


@pytest.mark.parametrize(
    ("number", "own"),
    [("12", 12), ("", None), ("x", None), ("²", None), ("-1", None), ("1_0", None)],
)
def test_the_run_that_waits(number: str, own: int | None) -> None:
    environ = {**TOKEN, "GITHUB_RUN_ID": number, "GITHUB_JOB": "jury"}
    assert found(URL, environ).own == OwnRun(own, "jury")


def test_an_address_to_which_no_token_is_sent() -> None:
    with pytest.raises(UsageError, match="cannot be GitHub's API"):
        make_checks_or_reason(URL, {**TOKEN, "GITHUB_API_URL": "http://example.com"})
