"""The fake GitHub itself: it serves what GitHub describes, and refuses what GitHub refuses."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from fakes.github import ACTIONS, HEAD_SHA, Account, FakeGitHub, running
from fakes.github.server import ROUTES

TOKEN = "ghs_actions"
REPO = "/repos/octo/shop"
RUNS, STATUSES, REVIEWS = (
    f"{REPO}/check-runs",
    f"{REPO}/statuses/{HEAD_SHA}",
    f"{REPO}/pulls/7/reviews",
)
LABELS = f"{REPO}/issues/7/labels"
TESTS = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Reply:
    status: int
    content: bytes
    headers: dict[str, str]

    @property
    def json(self) -> Any:
        return json.loads(self.content)

    @property
    def message(self) -> str:
        """What GitHub says, with the reasons that it gives."""
        errors = self.json.get("errors", [])
        reasons = [one if isinstance(one, str) else str(one) for one in errors]
        return " ".join([self.json["message"], *reasons])


def ask(
    fake: FakeGitHub,
    method: str,
    path: str,
    body: Any = None,
    token: str | None = TOKEN,
    **headers: str,
) -> Reply:
    """One request, redirects not followed."""
    where = urlsplit(fake.url)
    connection = http.client.HTTPConnection("127.0.0.1", where.port, timeout=10)
    if token:
        headers["Authorization"] = f"Bearer {token}"
    content = None if body is None else json.dumps(body)
    try:
        connection.request(method, path, content, headers)
        answer = connection.getresponse()
        return Reply(answer.status, answer.read(), {k.lower(): v for k, v in answer.getheaders()})
    finally:
        connection.close()


def filled(fake: FakeGitHub) -> FakeGitHub:
    """One of everything."""
    fake.add_pull("octo/shop", 7)
    fake.set_diff(7, {"src/cart.py": [3, 4, 5]})
    fake.add_comment("hello")
    fake.add_check_run("test", "success")
    fake.add_status("ci", "success")
    fake.add_workflow_run("CI", "success")
    fake.add_artifact("evidence", {"evidence.json": b"{}"})
    fake.add_branch("1.x", {"a.py": b"x = 1\n"})
    fake.add_branch("backport/7-to-1.x", {"a.py": b"x = 2\n"}, onto="1.x")
    fake.protect("main", {"prjury": None})
    fake.require("main", "prjury", 15_368)
    fake.accounts["ghs_app"] = Account("our-app[bot]", "Bot", id=55)
    return fake


@pytest.fixture
def fake() -> Iterator[FakeGitHub]:
    with running() as server:
        yield filled(server)


@pytest.fixture
def lax() -> Iterator[FakeGitHub]:
    """One that is sent what GitHub's description forbids."""
    with running(strict=False) as server:
        yield filled(server)


def first(found: Any) -> int:
    """The id of the first of some payloads."""
    return int(next(iter(found))["id"])


def remarks(count: int, **more: Any) -> list[dict[str, Any]]:
    one = {"path": "a.py", "annotation_level": "warning", "message": "m"}
    return [{**one, "start_line": line, "end_line": line, **more} for line in range(1, count + 1)]


def output(**more: Any) -> dict[str, Any]:
    return {"output": {"title": "t", "summary": "s", **more}}


NEW_RUN = {"name": "x", "head_sha": HEAD_SHA}
TOO_MANY = {**NEW_RUN, **output(annotations=remarks(51))}
BACKWARDS = {**NEW_RUN, **output(annotations=remarks(2, end_line=1))}

GONE = {"path": "a", "mode": "100644", "type": "blob", "sha": None}
BOTH = {**GONE, "content": "a"}
OUTSIDE = {"path": "a/../b", "mode": "100644", "content": "a"}
WORKFLOW = {**OUTSIDE, "path": ".github/workflows/a.yml"}
SAME = {"head": "1.x", "base": "1.x", "title": "t"}


class TestContract:
    @pytest.mark.parametrize(
        ("method", "path", "body", "said"),
        [
            ("POST", STATUSES, {"state": "green"}, "state: 'green' is not one of"),
            ("POST", STATUSES, {"context": "x"}, "'state' is a required property"),
            ("POST", STATUSES, {"state": "success", "text": "x"}, "text"),
            ("POST", RUNS, TOO_MANY, "annotations"),
            ("GET", f"{REPO}/pulls?stat=all", None, "there is no parameter stat"),
            ("GET", f"{REPO}/pulls?state=merged", None, "merged"),
            ("GET", f"{REPO}/pulls?per_page=many", None, "many"),
            ("GET", f"{REPO}/issues/7/timeline", None, "no such route"),
            ("PUT", f"{REPO}/pulls/7/merge", {}, "no such route"),
        ],
    )  # fmt: skip
    def test_a_wrong_request_is_noticed(
        self, lax: FakeGitHub, method: str, path: str, body: Any, said: str
    ) -> None:
        ask(lax, method, path, body)
        assert len(lax.violations) == 1
        assert said in lax.violations[0]

    @pytest.mark.parametrize(
        ("wrong", "said"),
        [
            ({"conclusion": "green"}, "check_runs/1/conclusion"),
            ({"check_suite": {}}, "check_runs/1/check_suite"),
            ({"started_at": "yesterday"}, "check_runs/1/started_at"),
            ({"id": "7"}, "check_runs/1/id"),
        ],
    )
    def test_a_wrong_answer_is_noticed(
        self, lax: FakeGitHub, wrong: dict[str, Any], said: str
    ) -> None:
        lax.add_check_run("wrong", **wrong)
        ask(lax, "GET", f"{REPO}/commits/{HEAD_SHA}/check-runs?filter=all")
        (found,) = lax.violations
        assert said.replace("/1/", "/0/") in found

    def test_at_the_end_it_makes_the_test_fail(self) -> None:
        with pytest.raises(AssertionError, match=r"forks: .* no such route"), running() as fake:
            ask(fake, "GET", f"{REPO}/forks")

    def test_the_description_tells_its_version_and_licence(self) -> None:
        description = json.loads((TESTS / "openapi" / "github.json").read_text())
        pinned = json.loads((TESTS / "openapi" / "package.json").read_text())["devDependencies"]
        assert description["info"]["version"] == pinned["@octokit/openapi"]
        assert description["info"]["license"]["name"] == "MIT"
        assert {(route.template, route.method.lower()) for route in ROUTES if route.described} == {
            (path, method) for path, methods in description["paths"].items() for method in methods
        }


class TestRefusals:
    @pytest.mark.parametrize(
        ("method", "path", "body", "status", "said"),
        [
            ("GET", f"{REPO}/pulls/9", None, 404, "Not Found"),
            ("GET", "/repos/octo/other/pulls", None, 404, "Not Found"),
            ("POST", f"{REPO}/issues/7/comments", {"body": " "}, 422, "Validation Failed"),
            ("POST", f"{REPO}/issues/7/comments", {"body": "x" * 65_537}, 422, "65536"),
            ("POST", STATUSES, {"state": "success", "description": "x" * 141}, 422, "is 140"),
            ("POST", STATUSES, {"state": "success", "target_url": "ftp://x"}, 422, "http(s)"),
            ("POST", f"{REPO}/statuses/abc", {"state": "success"}, 422, "No commit found"),
            ("GET", f"{REPO}/commits/nowhere/check-runs", None, 422, "No commit found"),
            ("PATCH", f"{RUNS}/1", {"status": "queued"}, 404, "Not Found"),
            ("POST", RUNS, {**NEW_RUN, "head_sha": "abc"}, 422, "No commit found"),
            ("POST", RUNS, {**NEW_RUN, "status": "completed"}, 422, "conclusion"),
            ("POST", RUNS, BACKWARDS, 422, "end_line"),
            ("POST", LABELS, {"labels": ["x" * 51]}, 422, "too long"),
            ("DELETE", f"{LABELS}/nothing", None, 404, "Label does not exist"),
            ("GET", f"{REPO}/collaborators/nobody/permission", None, 404, "not a user"),
            ("GET", f"{REPO}/actions/runs/1", None, 404, "Not Found"),
            ("GET", f"{REPO}/branches/gone", None, 404, "Branch not found"),
            ("GET", f"{REPO}/git/ref/heads/gone", None, 404, "Not Found"),
            ("GET", f"{REPO}/git/commits/{HEAD_SHA}", None, 404, "Not Found"),
            ("POST", f"{REPO}/git/refs", {"ref": "refs/heads/a", "sha": HEAD_SHA}, 422, "Object"),
            ("POST", f"{REPO}/git/trees", {"tree": [GONE]}, 422, "BadObjectState"),
            ("POST", f"{REPO}/git/trees", {"tree": [BOTH]}, 422, "either"),
            ("POST", f"{REPO}/git/trees", {"tree": [OUTSIDE]}, 422, "malformed"),
            ("POST", f"{REPO}/git/trees", {"tree": [WORKFLOW]}, 403, "by integration"),
            ("POST", f"{REPO}/git/commits", {"message": "m", "tree": HEAD_SHA}, 422, "Tree SHA"),
            ("POST", f"{REPO}/pulls", SAME, 403, "not permitted"),
            ("GET", f"{REPO}/branches/main/protection", None, 403, "not accessible by integration"),
            ("GET", "/user", None, 403, "not accessible by integration"),
        ],
    )  # fmt: skip
    def test_what_github_refuses(
        self, fake: FakeGitHub, method: str, path: str, body: Any, status: int, said: str
    ) -> None:
        reply = ask(fake, method, path, body)
        assert (reply.status, said in reply.message) == (status, True), reply.content


class TestTokens:
    @pytest.mark.parametrize(
        ("method", "path", "body", "needs"),
        [
            ("POST", STATUSES, {"state": "success"}, "statuses=write"),
            ("POST", RUNS, NEW_RUN, "checks=write"),
            ("POST", LABELS, {"labels": ["x"]}, "issues=write; pull_requests=write"),
            ("POST", REVIEWS, {"event": "COMMENT", "body": "b"}, "pull_requests=write"),
            ("GET", f"{REPO}/actions/runs", None, "actions=read"),
        ],
    )
    def test_a_permission_opens_what_it_is_for(
        self, fake: FakeGitHub, method: str, path: str, body: Any, needs: str
    ) -> None:
        fake.accounts["ghs_few"] = replace(ACTIONS, grants={})
        reply = ask(fake, method, path, body, "ghs_few")
        assert (reply.status, reply.message) == (403, "Resource not accessible by integration")
        assert reply.headers["x-accepted-github-permissions"] == needs
        name, level = needs.partition(";")[0].split("=")
        fake.accounts["ghs_few"] = replace(ACTIONS, grants={name: level})
        assert ask(fake, method, path, body, "ghs_few").status in {200, 201}
