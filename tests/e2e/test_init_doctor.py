"""From nothing to a set-up that is well: `init` and `doctor` as a person runs them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from e2e.conftest import Prjury
from fakes.github import ACTIONS_APP, FakeGitHub, running
from fakes.github.repository import rule_payload

ACTION = "octo/pr-jury@" + "0123456789" * 4
TOKEN = "ghp_" + "secret" * 6


def git(root: Path, *args: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", "-C", str(root), *who, *args], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    subprocess.run(["git", "init", "-q", "-b", "main", str(root)], check=True)
    (root / "test_shop.py").write_text("def test_nothing() -> None: ...\n")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    return root


@pytest.fixture(params=["", "/api/v3"], ids=["github", "enterprise"])
def github(request: pytest.FixtureRequest) -> Iterator[FakeGitHub]:
    with running(request.param) as fake:
        fake.accounts[TOKEN] = fake.accounts["ghp_octocat"]
        yield fake


def env(fake: FakeGitHub) -> Mapping[str, str]:
    return {"GITHUB_TOKEN": TOKEN, "GITHUB_API_URL": fake.url}


def test_what_init_writes_is_well_once_it_is_merged(prjury: Prjury, repository: Path) -> None:
    run = prjury("init", "--forks", "--queue", "--action", ACTION, cwd=repository)
    assert run.code == 0, run.err
    assert prjury("check-config", cwd=repository).code == 0
    before = prjury("doctor", cwd=repository)
    assert before.code == 0
    assert before.out.splitlines()[:2] == [
        (
            f"warning: .github/workflows/prjury-{name}.yml: GitHub starts it from `main` only, "
            "where it is not; merge it."
        )
        for name in ("comment", "judge")
    ]
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "jury")
    after = prjury("doctor", cwd=repository)
    assert after.code == 0
    assert after.out.splitlines()[:-1] == [
        (
            "not checked: GitHub: the token, the required checks and the settings: the repository "
            "has no remote on GitHub."
        )
    ]
    assert after.out.splitlines()[-1].startswith("0 problems, 0 warnings, ")


def test_the_placeholder_is_a_problem(prjury: Prjury, repository: Path) -> None:
    prjury("init", cwd=repository)
    run = prjury("doctor", "--offline", cwd=repository)
    assert run.code == 1
    assert run.out.splitlines()[0] == (
        "problem: .github/workflows/prjury-comment.yml: it still holds `OWNER/pr-jury@COMMIT`; "
        "put the action's repository and commit there."
    )


def test_init_does_not_overwrite(prjury: Prjury, repository: Path) -> None:
    (repository / ".github").mkdir()
    (repository / ".github" / "prjury.yml").write_text("version: 1\n")
    run = prjury("init", cwd=repository)
    assert run.code == 2
    assert run.complaint.startswith("prjury: .github/prjury.yml would be overwritten.")
    assert not (repository / ".github" / "workflows").exists()


def test_doctor_asks_github(prjury: Prjury, repository: Path, github: FakeGitHub) -> None:
    prjury("init", "--action", ACTION, cwd=repository)
    git(repository, "remote", "add", "origin", "git@github.com:octo/shop.git")
    run = prjury("doctor", cwd=repository, env=env(github))
    assert run.code == 1
    assert (
        "problem: the rules of `main`: `prjury` is not required, so anything can be merged; "
        "require it in a ruleset with GitHub Actions as its source.\n"
    ) in run.out
    github.rules["main"] = [rule_payload("octo/shop", "prjury", ACTIONS_APP, 7)]
    after = prjury("doctor", "-v", cwd=repository, env=env(github))
    assert after.code == 0
    assert "fine: the rules of `main`: `prjury` is required by ruleset 7.\n" in after.out
    assert TOKEN not in run.out + run.err + after.out + after.err


def test_doctor_offline_asks_nobody(prjury: Prjury, repository: Path, github: FakeGitHub) -> None:
    git(repository, "remote", "add", "origin", "https://github.com/octo/shop")
    run = prjury("doctor", "--offline", cwd=repository, env=env(github))
    assert "--offline forbids to ask GitHub" in run.out
    assert github.requests == []


def test_doctor_without_a_network_says_what_it_did_not_check(
    prjury: Prjury, repository: Path
) -> None:
    prjury("init", "--action", ACTION, cwd=repository)
    git(repository, "remote", "add", "origin", "https://github.com/octo/shop")
    nobody = {"GITHUB_TOKEN": TOKEN, "GITHUB_API_URL": "http://127.0.0.1:9"}
    run = prjury("doctor", cwd=repository, env=nobody)
    assert run.code == 0
    assert "not checked: GitHub: Could not see octo/shop; GitHub cannot be reached" in run.out


def test_findings_are_there_for_programs(prjury: Prjury, repository: Path) -> None:
    prjury("init", cwd=repository)
    run = prjury("doctor", "--format", "json", cwd=repository)
    assert run.code == 1
    found = json.loads(run.out)
    assert found["schema"] == "prjury/doctor/v1"
    assert {one["level"] for one in found["findings"]} >= {"problem", "fine", "not checked"}
    assert found["findings"][0].keys() == {"level", "about", "text"}


def test_names_from_files_control_no_terminal(prjury: Prjury, repository: Path) -> None:
    place = repository / ".github" / "workflows"
    place.mkdir(parents=True)
    job = '{name: "\\e[31m::error::x", runs-on: a, if: "x", steps: [{uses: o/pr-jury@v1}]}'
    (place / "prjury.yml").write_text(f"on: pull_request\njobs: {{a: {job}}}\n")
    run = prjury("doctor", "--offline", cwd=repository)
    assert run.code == 1
    assert "\x1b" not in run.out
    assert "has an `if`" in run.out
