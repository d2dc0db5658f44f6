"""A GitHub that remembers: comments, pulls, checks, tokens, rate headers, and faults by script.

It listens on loopback and writes its own address into every URL of a payload, as PyGithub refuses
to follow others. Payloads have the shape of GitHub's REST API 2022-11-28.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, cast
from urllib.parse import parse_qs, urlsplit

Payload = dict[str, Any]
Headers = dict[str, str]
Moment = Literal["before", "after"]

BODY_LIMIT = 65_536
NO_FAULT = 0


@dataclass(frozen=True)
class Account:
    """Whom a token acts as. An installation's token may not ask `/user`."""

    login: str
    type: Literal["User", "Bot"] = "User"
    writes: bool = True
    id: int = 1

    @property
    def installation(self) -> bool:
        return self.type == "Bot"


ACTIONS = Account("github-actions[bot]", "Bot", id=41_898_282)
READ_ONLY_ACTIONS = Account("github-actions[bot]", "Bot", writes=False, id=41_898_282)
OCTOCAT = Account("octocat", id=583_231)


@dataclass
class Fault:
    """What goes wrong with matching requests, so many times.

    Attributes:
        moment: ``"before"`` spares the state; ``"after"`` fails although the work was done.
        status: the answer's status; None cuts the connection without an answer, `NO_FAULT` goes on.
        action: what happens at that moment, such as another run's write.
    """

    method: str
    path: str
    times: int = 1
    moment: Moment = "before"
    status: int | None = 502
    body: str = "<html><body>Bad gateway</body></html>"
    headers: Headers = field(default_factory=dict)
    action: Callable[[], None] = lambda: None

    def hits(self, request: Request, moment: Moment) -> bool:
        matches = self.method == request.method and re.search(self.path, request.path) is not None
        if not (self.times and matches and self.moment == moment):
            return False
        self.times -= 1
        self.action()
        return True


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    token: str | None
    body: str
    etag: str | None = None

    @property
    def is_write(self) -> bool:
        return self.method != "GET" and not self.path.endswith("/graphql")


@dataclass
class Answer:
    status: int
    payload: Any = None
    headers: Headers = field(default_factory=dict)


class FakeGitHub:
    """The server and its state; see `running`."""

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self.accounts: dict[str, Account] = {"ghs_actions": ACTIONS, "ghp_octocat": OCTOCAT}
        self.pulls: dict[tuple[str, int], Payload] = {}
        self.comments: dict[int, Payload] = {}
        self.check_runs: list[Payload] = []
        self.statuses: list[Payload] = []
        self.workflow_runs: list[Payload] = []
        self.faults: list[Fault] = []
        self.requests: list[Request] = []
        self.locked = False
        self.rate: Headers = {
            "X-RateLimit-Limit": "5000",
            "X-RateLimit-Remaining": "4999",
            "X-RateLimit-Reset": "4102444800",
        }
        self.next_link: str | None = None
        self._next_id = 1_000
        self._lock = threading.RLock()
        self._server = _Server(self)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}{self.prefix}"

    @property
    def bodies(self) -> list[str]:
        return [comment["body"] for _, comment in sorted(self.comments.items())]

    @property
    def writes(self) -> list[tuple[str, str]]:
        return [(one.method, one.path) for one in self.requests if one.is_write]

    def add_pull(self, repo: str, number: int, **more: Any) -> Payload:
        pull = pull_payload(self.url, repo, number) | more
        self.pulls[repo, number] = pull
        return pull

    def add_comment(self, body: str, author: Account = ACTIONS, number: int = 7) -> Payload:
        with self._lock:
            self._next_id += 1
            comment = self._comment(self._next_id, body, author, number)
            self.comments[self._next_id] = comment
            return comment

    def add_check_run(
        self, name: str, conclusion: str | None = None, *, suite: int = 1, **more: Any
    ) -> Payload:
        """A check run of GitHub Actions; it runs as long as it has no conclusion."""
        with self._lock:
            self._next_id += 1
            self.check_runs.append(
                check_run_payload(self.url, self._next_id, name, conclusion, suite) | more
            )
            return self.check_runs[-1]

    def add_status(self, context: str, state: str, login: str = "ci", **more: Any) -> Payload:
        """A commit status."""
        with self._lock:
            self._next_id += 1
            author = user_payload(self.url, Account(login, id=5))
            self.statuses.append(status_payload(self._next_id, context, state, author) | more)
            return self.statuses[-1]

    def add_workflow_run(
        self, name: str, conclusion: str | None = None, *, suite: int = 1, **more: Any
    ) -> Payload:
        """A run of a workflow, to which the check runs of the same suite belong."""
        with self._lock:
            self._next_id += 1
            number = len(self.workflow_runs) + 1
            run = workflow_run_payload(self._next_id, name, conclusion, suite, number) | more
            self.workflow_runs.append(run)
            return run

    def answer(self, request: Request) -> Answer:
        with self._lock:
            account = self.accounts.get(request.token or "")
            if request.token and account is None:
                return _refusal(401, "Bad credentials")
            return self._route(request, account)

    def _route(self, request: Request, account: Account | None) -> Answer:
        path = urlsplit(request.path).path
        for method, pattern, handler in self._routes():
            match = re.fullmatch(pattern, path)
            if match and method == request.method:
                return handler(request, account, *match.groups())
        return _refusal(404, "Not Found")

    def _routes(self) -> list[tuple[str, str, Callable[..., Answer]]]:
        prefix, repo = re.escape(self.prefix), r"/repos/([\w.-]+/[\w.-]+)"
        graphql = re.escape(self.prefix.removesuffix("/v3")) + "/graphql"
        return [
            ("GET", f"{prefix}/user", self._user),
            ("POST", graphql, self._viewer),
            ("GET", rf"{prefix}{repo}/pulls/(\d+)", self._pull),
            ("GET", rf"{prefix}{repo}/issues/(\d+)/comments", self._list),
            ("POST", rf"{prefix}{repo}/issues/(\d+)/comments", self._create),
            ("PATCH", rf"{prefix}{repo}/issues/comments/(\d+)", self._edit),
            ("DELETE", rf"{prefix}{repo}/issues/comments/(\d+)", self._delete),
            ("GET", rf"{prefix}{repo}/commits/([0-9a-f]+)/check-runs", self._list_check_runs),
            ("GET", rf"{prefix}{repo}/commits/([0-9a-f]+)/statuses", self._list_statuses),
            ("GET", rf"{prefix}{repo}/actions/runs", self._list_workflow_runs),
        ]

    def _user(self, _request: Request, account: Account | None) -> Answer:
        if account is None:
            return _refusal(401, "Requires authentication")
        if account.installation:
            return _refusal(403, "Resource not accessible by integration")
        return Answer(200, user_payload(self.url, account))

    def _viewer(self, _request: Request, account: Account | None) -> Answer:
        if account is None:
            return _refusal(401, "Requires authentication")
        return Answer(200, {"data": {"viewer": {"login": account.login}}})

    def _pull(self, _request: Request, _account: Account | None, repo: str, number: str) -> Answer:
        pull = self.pulls.get((repo, int(number)))
        return Answer(200, pull) if pull else _refusal(404, "Not Found")

    def _list(self, request: Request, _account: Account | None, repo: str, number: str) -> Answer:
        found = [
            comment
            for _, comment in sorted(self.comments.items())
            if comment["issue_url"].endswith(f"/issues/{number}")
        ]
        return self._paged(request, found)

    def _list_check_runs(
        self, request: Request, _account: Account | None, _repo: str, sha: str
    ) -> Answer:
        """The newest first; ``filter=latest`` leaves one of a name in each suite."""
        runs = [run for run in reversed(self.check_runs) if run["head_sha"] == sha]
        if _query(request).get("filter", "latest") == "latest":
            runs = list(
                {
                    (run["check_suite"] and run["check_suite"]["id"], run["name"]): run
                    for run in reversed(runs)
                }.values()
            )
        return self._paged(request, runs, "check_runs")

    def _list_statuses(
        self, request: Request, _account: Account | None, _repo: str, sha: str
    ) -> Answer:
        found = [one for one in reversed(self.statuses) if one["url"].endswith(f"/{sha}")]
        return self._paged(request, found)

    def _list_workflow_runs(self, request: Request, _account: Account | None, _repo: str) -> Answer:
        sha = _query(request)["head_sha"]
        found = [run for run in reversed(self.workflow_runs) if run["head_sha"] == sha]
        return self._paged(request, found, "workflow_runs")

    def _paged(self, request: Request, found: list[Payload], key: str | None = None) -> Answer:
        query = _query(request)
        size, page = int(query.get("per_page", "30")), int(query.get("page", "1"))
        root = self.url.removesuffix(self.prefix)
        headers = self._links(root + urlsplit(request.path).path, page, size, len(found))
        part = found[(page - 1) * size : page * size]
        return Answer(200, {"total_count": len(found), key: part} if key else part, headers)

    def _links(self, here: str, page: int, size: int, total: int) -> Headers:
        last = max(1, -(-total // size))
        links = []
        if page > 1:
            links.append(f'<{here}?per_page={size}&page={page - 1}>; rel="prev"')
        if page < last or self.next_link:
            following = self.next_link or f"{here}?per_page={size}&page={page + 1}"
            links.append(f'<{following}>; rel="next"')
            links.append(f'<{here}?per_page={size}&page={last}>; rel="last"')
        return {"Link": ", ".join(links)} if links else {}

    def _create(self, request: Request, account: Account | None, _repo: str, number: str) -> Answer:
        refusal = self._refused(account, request)
        if refusal:
            return refusal
        assert account is not None
        created = self.add_comment(json.loads(request.body)["body"], account, int(number))
        return Answer(201, created, {"Location": created["url"]})

    def _edit(self, request: Request, account: Account | None, _repo: str, comment: str) -> Answer:
        refusal = self._refused(account, request)
        if refusal:
            return refusal
        if int(comment) not in self.comments:
            return _refusal(404, "Not Found")
        self.comments[int(comment)]["body"] = json.loads(request.body)["body"]
        return Answer(200, self.comments[int(comment)])

    def _delete(
        self, request: Request, account: Account | None, _repo: str, comment: str
    ) -> Answer:
        refusal = self._refused(account, request)
        if refusal:
            return refusal
        gone = self.comments.pop(int(comment), None)
        return Answer(204) if gone else _refusal(404, "Not Found")

    def _refused(self, account: Account | None, request: Request) -> Answer | None:
        if account is None:
            return _refusal(401, "Requires authentication")
        if not account.writes:
            headers = {"X-Accepted-GitHub-Permissions": "issues=write; pull_requests=write"}
            return _refusal(403, "Resource not accessible by integration", headers)
        if self.locked and request.method == "POST":
            return _refusal(403, "Unable to create comment because issue is locked.")
        body = json.loads(request.body)["body"] if request.body else ""
        if len(body) > BODY_LIMIT:
            return _refusal(422, "Validation Failed")
        return None

    def _comment(self, number: int, body: str, author: Account, issue: int) -> Payload:
        root = f"{self.url}/repos/octo/shop/issues"
        return {
            "id": number,
            "node_id": f"IC_{number}",
            "url": f"{root}/comments/{number}",
            "html_url": f"https://github.com/octo/shop/pull/{issue}#issuecomment-{number}",
            "issue_url": f"{root}/{issue}",
            "body": body,
            "user": user_payload(self.url, author),
            "created_at": "2026-01-02T03:04:05Z",
            "updated_at": "2026-01-02T03:04:05Z",
            "author_association": "CONTRIBUTOR",
            "performed_via_github_app": None,
        }


@contextmanager
def running(prefix: str = "") -> Iterator[FakeGitHub]:
    """A server that is gone when the block ends."""
    fake = FakeGitHub(prefix)
    thread = threading.Thread(target=fake._server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        fake._server.shutdown()
        fake._server.server_close()
        thread.join(5)


def user_payload(root: str, account: Account) -> Payload:
    url = f"{root}/users/{account.login}"
    return {
        "login": account.login,
        "id": account.id,
        "node_id": f"U_{account.id}",
        "avatar_url": f"https://avatars.githubusercontent.com/u/{account.id}",
        "gravatar_id": "",
        "url": url,
        "html_url": f"https://github.com/{account.login}",
        "followers_url": f"{url}/followers",
        "following_url": f"{url}/following{{/other_user}}",
        "gists_url": f"{url}/gists{{/gist_id}}",
        "starred_url": f"{url}/starred{{/owner}}{{/repo}}",
        "subscriptions_url": f"{url}/subscriptions",
        "organizations_url": f"{url}/orgs",
        "repos_url": f"{url}/repos",
        "events_url": f"{url}/events{{/privacy}}",
        "received_events_url": f"{url}/received_events",
        "type": account.type,
        "site_admin": False,
    }


def pull_payload(root: str, repo: str, number: int) -> Payload:
    """The parts of GitHub's pull request that anybody here reads."""
    url = f"{root}/repos/{repo}/pulls/{number}"
    return {
        "id": 10_000 + number,
        "node_id": f"PR_{number}",
        "url": url,
        "html_url": f"https://github.com/{repo}/pull/{number}",
        "issue_url": f"{root}/repos/{repo}/issues/{number}",
        "number": number,
        "state": "open",
        "locked": False,
        "title": "Move the cart",
        "body": "It was in the way.",
        "user": user_payload(root, OCTOCAT),
        "labels": [{"id": 1, "name": "bug", "color": "f29513", "default": True}],
        "draft": False,
        "merged": False,
        "mergeable": None,
        "base": side_payload(root, repo, "main", "a" * 40),
        "head": side_payload(root, repo, "cart", "b" * 40),
    }


def side_payload(root: str, repo: str, ref: str, sha: str) -> Payload:
    owner, name = repo.split("/")
    return {
        "label": f"{owner}:{ref}",
        "ref": ref,
        "sha": sha,
        "user": user_payload(root, Account(owner, id=9)),
        "repo": {
            "id": 77,
            "name": name,
            "full_name": repo,
            "url": f"{root}/repos/{repo}",
            "fork": False,
            "default_branch": "main",
        },
    }


#: The head of every pull request here.
HEAD_SHA = "b" * 40


def check_run_payload(
    root: str, number: int, name: str, conclusion: str | None, suite: int
) -> Payload:
    """The parts of a check run that anybody here reads."""
    page = f"https://github.com/octo/shop/actions/runs/{suite}00/job/{number}"
    return {
        "id": number,
        "node_id": f"CR_{number}",
        "name": name,
        "head_sha": HEAD_SHA,
        "external_id": "",
        "url": f"{root}/repos/octo/shop/check-runs/{number}",
        "html_url": page,
        "details_url": page,
        "status": "completed" if conclusion else "in_progress",
        "conclusion": conclusion,
        "started_at": "2026-01-02T03:04:05Z",
        "completed_at": "2026-01-02T03:05:05Z" if conclusion else None,
        "check_suite": {"id": suite},
        "app": {"id": 15_368, "slug": "github-actions", "name": "GitHub Actions"},
        "pull_requests": [],
    }


def status_payload(number: int, context: str, state: str, author: Payload) -> Payload:
    return {
        "id": number,
        "node_id": f"SC_{number}",
        "url": f"https://api.github.com/repos/octo/shop/statuses/{HEAD_SHA}",
        "context": context,
        "state": state,
        "description": None,
        "target_url": f"https://ci.example.org/{number}",
        "creator": author,
        "created_at": "2026-01-02T03:04:05Z",
        "updated_at": "2026-01-02T03:04:05Z",
    }


def workflow_run_payload(
    number: int, name: str, conclusion: str | None, suite: int, counter: int
) -> Payload:
    return {
        "id": suite * 100,
        "node_id": f"WFR_{number}",
        "name": name,
        "path": ".github/workflows/ci.yml",
        "head_sha": HEAD_SHA,
        "run_number": counter,
        "run_attempt": 1,
        "event": "pull_request",
        "status": "completed" if conclusion else "in_progress",
        "conclusion": conclusion,
        "workflow_id": 70,
        "check_suite_id": suite,
        "html_url": f"https://github.com/octo/shop/actions/runs/{suite}00",
    }


def _query(request: Request) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(request.path).query).items()}


def _refusal(status: int, message: str, headers: Headers | None = None) -> Answer:
    payload = {
        "message": message,
        "documentation_url": "https://docs.github.com/rest",
        "status": str(status),
    }
    return Answer(status, payload, headers or {})


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, fake: FakeGitHub) -> None:
        self.fake = fake
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def fake(self) -> FakeGitHub:
        return cast(_Server, self.server).fake

    def handle_any(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length).decode()
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        assert scheme in {"", "token", "Bearer"}, scheme
        etag = self.headers.get("If-None-Match")
        request = Request(self.command, self.path, token or None, body, etag)
        self.fake.requests.append(request)
        if self.fails(request, "before"):
            return
        answer = self.fake.answer(request)
        if self.fails(request, "after"):
            return
        content = b"" if answer.payload is None else json.dumps(answer.payload).encode()
        headers = answer.headers
        if request.method == "GET" and answer.status == 200:
            state = hashlib.sha1(content, usedforsecurity=False).hexdigest()
            headers = {**headers, "ETag": f'W/"{state}"'}
            if etag == headers["ETag"]:
                self.reply(304, "application/json; charset=utf-8", b"", headers)
                return
        self.reply(answer.status, "application/json; charset=utf-8", content, headers)

    def fails(self, request: Request, moment: Moment) -> bool:
        faults = self.fake.faults
        fault = next((one for one in faults if one.hits(request, moment)), None)
        if fault is None or fault.status == NO_FAULT:
            return False
        if fault.status is None:
            self.close_connection = True
        else:
            kind = "text/html" if fault.body.startswith("<") else "application/json"
            self.reply(fault.status, kind, fault.body.encode(), fault.headers)
        return True

    def reply(self, status: int, kind: str, content: bytes, headers: Headers) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, **self.fake.rate, **headers}.items():
            self.send_header(name, value)
        if status not in {204, 304}:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's name
        """Quiet: the tests read `requests`."""

    do_GET = do_POST = do_PATCH = do_DELETE = handle_any  # noqa: N815 - names that the base calls
