"""The fake GitHub itself: it serves what GitHub describes, and refuses what GitHub refuses."""

from __future__ import annotations

import hashlib
import http.client
import io
import json
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from fakes.github import (
    ACTIONS,
    HEAD_SHA,
    Account,
    FakeGitHub,
    Fault,
    rate_limited,
    refused,
    running,
    secondary_limit,
)
from fakes.github.exchange import Handler
from fakes.github.objects import EMPTY_TREE
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


def new_run(fake: FakeGitHub, token: str = TOKEN, **more: Any) -> Any:
    reply = ask(fake, "POST", RUNS, {"name": "prjury", "head_sha": HEAD_SHA, **more}, token)
    assert reply.status == 201, reply.content
    return reply.json


NEW_RUN = {"name": "x", "head_sha": HEAD_SHA}
NEW_REVIEW = {
    "event": "COMMENT",
    "body": "b",
    "comments": [{"path": "src/cart.py", "line": 4, "body": "x"}],
}
TOO_MANY = {**NEW_RUN, **output(annotations=remarks(51))}
BACKWARDS = {**NEW_RUN, **output(annotations=remarks(2, end_line=1))}

GONE = {"path": "a", "mode": "100644", "type": "blob", "sha": None}
BOTH = {**GONE, "content": "a"}
OUTSIDE = {"path": "a/../b", "mode": "100644", "content": "a"}
WORKFLOW = {**OUTSIDE, "path": ".github/workflows/a.yml"}
SAME = {"head": "1.x", "base": "1.x", "title": "t"}
SOMEBODY = {"name": "A", "email": "a@example.com", "date": "2026-01-02T03:04:05+02:00"}

#: One good request for each route, in the order of a life: what is asked for first is there still.
GOOD: tuple[tuple[str, str, Any], ...] = (
    ("GET", "/user", None),
    ("GET", REPO, None),
    ("GET", f"{REPO}/pulls?state=all", None),
    ("GET", f"/search/issues?q=repo:octo/shop+is:pr+is:open+{HEAD_SHA}", None),
    ("GET", f"{REPO}/pulls/7", None),
    ("POST", REVIEWS, NEW_REVIEW),
    ("GET", REVIEWS, None),
    ("GET", f"{REVIEWS}/{{review}}", None),
    ("PUT", f"{REVIEWS}/{{review}}", {"body": "c"}),
    ("GET", f"{REPO}/pulls/7/comments", None),
    ("GET", f"{REPO}/issues/7/comments", None),
    ("POST", f"{REPO}/issues/7/comments", {"body": "b"}),
    ("GET", f"{REPO}/issues/comments/{{comment}}", None),
    ("PATCH", f"{REPO}/issues/comments/{{comment}}", {"body": "b"}),
    ("POST", f"{REPO}/issues/comments/{{comment}}/reactions", {"content": "+1"}),
    ("GET", f"{REPO}/issues/comments/{{comment}}/reactions", None),
    ("DELETE", f"{REPO}/issues/comments/{{comment}}", None),
    ("POST", RUNS, {**NEW_RUN, **output(annotations=remarks(2))}),
    ("GET", f"{RUNS}/{{run}}", None),
    ("PATCH", f"{RUNS}/{{run}}", {"conclusion": "success", **output(annotations=remarks(1))}),
    ("GET", f"{RUNS}/{{run}}/annotations", None),
    ("GET", f"{REPO}/commits/{HEAD_SHA}/check-runs", None),
    ("POST", STATUSES, {"state": "pending", "context": "prjury", "description": "d"}),
    ("GET", f"{REPO}/commits/{HEAD_SHA}/statuses", None),
    ("POST", LABELS, {"labels": ["backport:1.1.x"]}),
    ("GET", LABELS, None),
    ("DELETE", f"{LABELS}/backport%3A1.1.x", None),
    ("GET", f"{REPO}/collaborators/octocat/permission", None),
    ("GET", f"{REPO}/actions/runs?head_sha={HEAD_SHA}", None),
    ("GET", f"{REPO}/actions/runs/100", None),
    ("GET", f"{REPO}/actions/runs/100/artifacts?name=evidence", None),
    ("POST", f"{REPO}/actions/runs/{{again}}/rerun", {}),
    ("GET", f"{REPO}/actions/artifacts/{{artifact}}/zip", None),
    ("POST", f"{REPO}/git/blobs", {"content": "YQ==", "encoding": "base64"}),
    ("POST", f"{REPO}/git/trees", {"tree": [{"path": "a", "mode": "100644", "content": "a"}]}),
    ("POST", f"{REPO}/git/commits", {"message": "m", "tree": EMPTY_TREE, "author": SOMEBODY}),
    ("GET", f"{REPO}/git/commits/{{commit}}", None),
    ("POST", f"{REPO}/git/refs", {"ref": "refs/heads/new", "sha": "{commit}"}),
    ("GET", f"{REPO}/git/ref/heads/backport/7-to-1.x", None),
    ("POST", f"{REPO}/pulls", {"head": "backport/7-to-1.x", "base": "1.x", "title": "t"}),
    ("GET", f"{REPO}/branches/main", None),
    ("GET", f"{REPO}/branches/main/protection", None),
    ("GET", f"{REPO}/rules/branches/main", None),
)  # fmt: skip


@pytest.mark.parametrize("prefix", ["", "/api/v3"])
def test_every_route_is_served_as_github_describes_it(prefix: str) -> None:
    with running(prefix) as fake:
        assert serves(filled(fake)) == {route.handler for route in ROUTES if route.described}


def serves(fake: FakeGitHub) -> set[Handler]:
    """Who answered what is asked in `GOOD`."""
    served = set()
    for method, path, body in GOOD:
        names = {
            "review": first(fake.review_list or [{"id": 0}]),
            "run": next((run["id"] for run in fake.checks() if run["name"] == "x"), 0),
            "comment": max(fake.comments, default=0),
            "artifact": first(fake.artifacts.values()),
            "commit": fake.branches["1.x"],
            "again": fake.add_workflow_run("again", "success", suite=31)["id"],
        }
        where = path
        for name, value in names.items():
            where = where.replace(f"{{{name}}}", str(value))
        at_commit = body and body.get("sha") == "{commit}"
        sent = {**body, "sha": names["commit"]} if at_commit else body
        token = TOKEN if where.startswith(RUNS) else "ghp_octocat"
        reply = ask(fake, method, fake.prefix + where, sent, token)
        assert reply.status in {200, 201, 204, 302}, (method, where, reply.content)
        found = fake.route(fake.requests[-1])
        assert found is not None
        served.add(found[0].handler)
    return served


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

    @pytest.mark.parametrize(
        ("comment", "said"),
        [
            ({"path": "src/cart.py", "line": 6}, "Line could not be resolved"),
            ({"path": "src/other.py", "line": 3}, "Path could not be resolved"),
            ({"path": "src/cart.py", "line": 3, "side": "LEFT"}, "Line could not be resolved"),
            ({"path": "src/cart.py", "line": 3, "start_line": 3}, "must precede"),
            ({"path": "src/cart.py", "line": 3, "start_line": 2}, "Start line could not"),
        ],
    )
    def test_one_wrong_line_and_nothing_of_a_review_is_kept(
        self, fake: FakeGitHub, comment: dict[str, Any], said: str
    ) -> None:
        good = {"path": "src/cart.py", "line": 5, "start_line": 3, "body": "b"}
        review = {"event": "COMMENT", "body": "b", "comments": [good, comment | {"body": "b"}]}
        reply = ask(fake, "POST", REVIEWS, review)
        assert (reply.status, said in reply.message) == (422, True), reply.content
        assert fake.reviews(7) == []
        assert ask(fake, "POST", REVIEWS, review | {"comments": [good]}).status == 200
        (kept,) = fake.reviews(7)
        assert [(one["start_line"], one["line"]) for one in kept["comments"]] == [(3, 5)]


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

    @pytest.mark.parametrize("path", ["/user", REPO, f"{REPO}/pulls/7"])
    def test_a_wrong_token_opens_nothing(self, fake: FakeGitHub, path: str) -> None:
        reply = ask(fake, "GET", path, token="ghp_stolen")
        assert (reply.status, reply.message) == (401, "Bad credentials")


class TestChecks:
    def test_a_run_of_another_app_is_not_ours(self, fake: FakeGitHub) -> None:
        run = new_run(fake, "ghs_app")
        reply = ask(fake, "PATCH", f"{RUNS}/{run['id']}", {"conclusion": "success"})
        assert (reply.status, "Invalid app_id `15368`" in reply.message) == (403, True)


class TestArtifacts:
    def test_the_store_wants_no_token(self, fake: FakeGitHub) -> None:
        (artifact,) = ask(fake, "GET", f"{REPO}/actions/runs/100/artifacts").json["artifacts"]
        sent = ask(fake, "GET", urlsplit(artifact["archive_download_url"]).path)
        assert sent.status == 302
        where = sent.headers["location"].removeprefix(fake.url)
        assert ask(fake, "GET", where).status == 400
        archive = ask(fake, "GET", where, token=None).content
        assert artifact["digest"] == f"sha256:{hashlib.sha256(archive).hexdigest()}"
        assert zipfile.ZipFile(io.BytesIO(archive)).namelist() == ["evidence.json"]


class TestRepository:
    def test_pulls_are_found_by_their_head(self, fake: FakeGitHub) -> None:
        fake.add_pull("octo/shop", 8, state="closed")

        def numbers(query: str) -> list[int]:
            return [one["number"] for one in ask(fake, "GET", f"{REPO}/pulls?{query}").json]

        assert numbers("") == [7]
        assert numbers("state=all&per_page=1&page=2") == [7]
        assert numbers("state=all&head=octo:cart") == [8, 7]
        assert numbers("head=stranger:cart") == []
        assert numbers("head=elsewhere") == [7]  # without an owner GitHub filters nothing
        assert numbers("base=1.0.x") == []


class TestRateLimit:
    @pytest.mark.parametrize("status", [403, 429])
    def test_the_tokens_of_jobs_share_a_thousand_requests_an_hour(
        self, fake: FakeGitHub, status: int
    ) -> None:
        fake.hourly, fake.over = 2, status
        first = ask(fake, "GET", REPO)
        told = {name: first.headers[f"x-ratelimit-{name}"] for name in ("limit", "remaining")}
        assert told == {"limit": "2", "remaining": "1"}
        assert ask(fake, "GET", REPO).status == 200
        reply = ask(fake, "GET", REPO)
        assert (reply.status, reply.headers["x-ratelimit-remaining"]) == (status, "0")
        assert int(reply.headers["x-ratelimit-reset"]) > time.time()
        assert reply.message == "API rate limit exceeded for installation ID 1."
        assert ask(fake, "GET", REPO, token="ghp_octocat").status == 200
        fake.next_hour()
        assert ask(fake, "GET", REPO).status == 200


class TestFaults:
    @pytest.mark.parametrize(
        ("fault", "status", "header"),
        [
            (rate_limited("GET", "/pulls/7", 3_000), 403, ("x-ratelimit-remaining", "0")),
            (secondary_limit("GET", "/pulls/7", 7, status=429), 429, ("retry-after", "7")),
            (refused("*", "/pulls/7", 409, "Conflict"), 409, ("content-type", "application/json")),
            (refused("*", "/pulls/7", 422, "No"), 422, ("content-type", "application/json")),
        ],
    )
    def test_a_refusal_by_script(
        self, fake: FakeGitHub, fault: Fault, status: int, header: tuple[str, str]
    ) -> None:
        fake.faults = [replace(fault)]
        reply = ask(fake, "GET", f"{REPO}/pulls/7")
        assert (reply.status, reply.headers[header[0]]) == (status, header[1])
        assert ask(fake, "GET", f"{REPO}/pulls/7").status == 200

    @pytest.mark.parametrize(
        ("moment", "done"), [("before", False), ("during", True), ("after", True)]
    )
    def test_a_cut_connection(self, fake: FakeGitHub, moment: Any, done: bool) -> None:
        fake.faults = [Fault("POST", "/comments", moment=moment, status=None)]
        expected = http.client.IncompleteRead if moment == "during" else http.client.HTTPException
        with pytest.raises(expected):
            ask(fake, "POST", f"{REPO}/issues/7/comments", {"body": "cut"})
        assert ("cut" in fake.bodies) is done
