"""What is said of the settings on GitHub: a table over what GitHub said, then over a GitHub."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs

from fakes.github import ACTIONS_APP, FakeGitHub, rate_limited, running
from fakes.github.repository import rule_payload
from prjury.doctor.examination import CHECKS, ServerState, check_github_settings
from prjury.doctor.workflows import Diagnosis, Level, Setup, examine
from prjury.github.client import Connection, RetryBudget
from prjury.github.settings import BranchRules, RepoSettings, RepositoryFacts, RequiredCheck
from prjury.manifests.workflow import read_workflow

EXAMPLES = Path(__file__).resolve().parents[3] / ".github" / "workflows" / "examples"
AT = "the rules of `main`"


def set_up(*names: str) -> Setup:
    texts = {f"{name}.yml": (EXAMPLES / f"{name}.yml").read_text() for name in names}
    read = (read_workflow(t, name) for name, t in texts.items())
    return Setup(tuple(read))


def required(context: str = "prjury", app: int | None = ACTIONS_APP) -> BranchRules:
    return BranchRules((RequiredCheck(context, app, "ruleset 7"),))


FINE = ServerState(
    set_up("prjury"),
    "octo/shop",
    RepositoryFacts(private=False, forks=0, default_branch="main"),
    required(),
    actions_app=ACTIONS_APP,
)
APART = structs.replace(FINE, setup=set_up("prjury-build", "prjury-judge"))
QUEUE = BranchRules(required().checks, has_queue=True)
MAY_NOT = "Could not read the protection of main; GitHub answers 403"


def facts(**more: object) -> RepositoryFacts:
    return structs.replace(FINE.facts, **more)


CASES = {
    "all is well": (FINE, []),
    "all is well with forks": (structs.replace(APART, facts=facts(forks=9)), []),
    "forks of a private repository": (
        structs.replace(FINE, facts=facts(private=True, forks=9)),
        [],
    ),
    "forks": (
        structs.replace(FINE, facts=facts(forks=9)),
        ["warning: prjury.yml: octo/shop is public and has forks"],
    ),
    "nothing is required": (
        structs.replace(FINE, rules=BranchRules()),
        [f"problem: {AT}: `prjury` is not required"],
    ),
    "something else is required": (
        structs.replace(FINE, rules=required("Build")),
        [f"problem: {AT}: `prjury` is not required"],
    ),
    "the shown name is required": (
        structs.replace(FINE, rules=required("PR Jury / prjury")),
        [
            f"problem: {AT}: `PR Jury / prjury` is required",
            f"problem: {AT}: `prjury` is not required",
        ],
    ),
    "any source": (
        structs.replace(FINE, rules=required(app=None)),
        [f"warning: {AT}: `prjury` is required by ruleset 7 from any source"],
    ),
    "another app": (
        structs.replace(FINE, rules=required(app=99)),
        [f"problem: {AT}: `prjury` is required by ruleset 7 from the app 99"],
    ),
    "another app on a server of one's own": (
        structs.replace(FINE, rules=required(app=99), actions_app=None),
        [],
    ),
    "classic protection": (
        structs.replace(
            FINE,
            rules=BranchRules(),
            protection=(RequiredCheck("prjury", None, "the branch protection"),),
        ),
        [f"warning: {AT}: `prjury` is required by the branch protection"],
    ),
    "protection that cannot be read": (
        structs.replace(FINE, rules=BranchRules(), protection=MAY_NOT),
        [f"not checked: {AT}: whether `prjury` is required cannot be read"],
    ),
    "protection that does not matter": (structs.replace(FINE, protection=MAY_NOT), []),
    "a queue without a workflow": (
        structs.replace(FINE, rules=QUEUE),
        [f"problem: {AT}: there is a merge queue and no workflow of PR"],
    ),
    "a queue": (structs.replace(FINE, setup=set_up("prjury", "prjury-queue"), rules=QUEUE), []),
}


def told(findings: list[Diagnosis]) -> list[str]:
    return [f"{one.level}: {one.sentence}" for one in findings if one.level is not Level.FINE]


@pytest.mark.parametrize("name", CASES)
def test_each_setting_is_told_in_one_sentence(name: str) -> None:
    standing, begins = CASES[name]
    sentences = told(list(examine(standing, CHECKS)))
    assert len(sentences) == len(begins)
    assert all(map(str.startswith, sentences, begins)), sentences


def asked(fake: FakeGitHub, token: str, setup: Setup) -> list[str]:
    connection = Connection(fake.url, token, seconds_between_requests=0)
    with RepoSettings(connection, "octo/shop", RetryBudget(attempts=1)) as port:
        return told(list(check_github_settings(port, setup)))


def test_a_repository_that_is_set_up_well_has_no_complaint() -> None:
    with running() as fake:
        fake.rules["main"] = [rule_payload("octo/shop", "prjury", ACTIONS_APP, 7)]
        fake.repositories["octo/shop"] = {"private": True, "visibility": "private"}
        found = asked(fake, "ghp_octocat", FINE.setup)
    assert found == []


@pytest.mark.parametrize(
    ("prefix", "token"), [("", "ghp_wrong"), ("/api/v3", "ghp_wrong")], ids=["github", "enterprise"]
)
def test_a_wrong_token_is_one_problem(prefix: str, token: str) -> None:
    with running(prefix) as fake:
        assert asked(fake, token, FINE.setup) == [
            (
                "problem: GitHub: Could not see octo/shop; GitHub answers 401: Bad credentials; "
                "give a valid token"
            )
        ]


def test_a_repository_that_the_token_does_not_see_is_one_problem() -> None:
    with running() as fake:
        fake.repositories.clear()
        (found,) = asked(fake, "ghp_octocat", FINE.setup)
    assert found.startswith("problem: GitHub: Could not see octo/shop; ")


def test_a_limit_is_no_problem_of_the_set_up() -> None:
    with running() as fake:
        fake.faults.append(rate_limited("GET", "/repos/octo/shop"))
        (found,) = asked(fake, "ghp_octocat", FINE.setup)
    assert found.startswith("not checked: GitHub: Could not see octo/shop; ")
