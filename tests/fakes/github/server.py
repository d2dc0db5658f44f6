"""The server: requests in, routes, faults, answers out."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

from fakes.github import (
    actions,
    checks,
    conversation,
    git,
    identity,
    labels,
    pulls,
    repository,
    reviews,
    statuses,
)
from fakes.github.accounts import Account
from fakes.github.contract import contract
from fakes.github.exchange import Answer, Call, Refusal, Request, Route, refusal
from fakes.github.faults import NO_FAULT, Fault, Moment
from fakes.github.filling import Filling
from fakes.github.outcome import Outcome

_ROOMS = (
    identity,
    pulls,
    reviews,
    conversation,
    checks,
    statuses,
    labels,
    actions,
    git,
    repository,
)
ROUTES = tuple(route for room in _ROOMS for route in room.routes)
_VIEWER = Route("POST", "/graphql", identity.graphql, needs="", described=False)


class FakeGitHub(Filling, Outcome):
    """The server and its state; see `running`."""

    def __init__(self, prefix: str = "", port: int = 0) -> None:
        super().__init__()
        self.prefix = prefix
        self._server = _Server(self, port)
        self.url = f"http://127.0.0.1:{self._server.server_port}{prefix}"

    def answer(self, request: Request) -> Answer:
        """What GitHub says to it, in bytes: the state may change at once."""
        with self._lock:
            account = self.accounts.get(request.token or "")
            try:
                self.spend(account)
                answer = self._answer(request, account)
            except Refusal as refused:
                answer = refused.answer
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                # Something that no handler foresaw: the test has to hear of it.
                self.violations.append(f"{request.method} {request.path}: {error!r}")
                answer = refusal(500, "Server Error")
            if account and account.scopes is not None:
                answer.headers = {**answer.headers, "X-OAuth-Scopes": ", ".join(account.scopes)}
            return Answer(answer.status, answer.content, answer.headers, answer.kind)

    def examine(self, request: Request, answer: Answer | None = None) -> None:
        """Notes where a request, or the answer to it, is not such as GitHub's description says."""
        found = self.route(request)
        route, names = found or (None, {})
        if answer is None:
            wrong = contract().wrong_requests(route, request, names)
        else:
            wrong = contract().wrong_answers(route, request, answer)
        with self._lock:
            self.violations += [one for one in wrong if one not in self.violations]

    def _answer(self, request: Request, account: Account | None) -> Answer:
        found = self.route(request)
        if found is None:
            known = not request.token or account
            raise Refusal(404, "Not Found") if known else Refusal(401, "Bad credentials")
        route, names = found
        call = Call(self, request, account, names)
        if route.described or route is _VIEWER:
            self._admit(route, call)
        return route.handler(call)

    def route(self, request: Request) -> tuple[Route, dict[str, str]] | None:
        """Whose handler answers, and the values of the names in its template."""
        for route in (_VIEWER, *ROUTES):
            prefix = self.prefix
            if route is _VIEWER:
                prefix = prefix.removesuffix("/v3")
            elif not route.described:
                prefix = ""
            if request.route.startswith(prefix):
                names = route.match(request.method, request.route.removeprefix(prefix))
                if names is not None:
                    return route, names
        return None

    def _admit(self, route: Route, call: Call) -> None:
        """Lets nobody in who may not; anonymous people read."""
        account = call.account
        if call.request.token and account is None:
            raise Refusal(401, "Bad credentials")
        if account is None and (route.method != "GET" or "administration" in route.needs):
            raise Refusal(401, "Requires authentication")
        if "owner" in call.names and call.repo not in self.repositories:
            raise Refusal(404, "Not Found")
        if account and route.needs and not account.may(route.needs):
            kind = "integration" if account.installation else "personal access token"
            headers = {"X-Accepted-GitHub-Permissions": route.needs}
            raise Refusal(403, f"Resource not accessible by {kind}", headers=headers)


@contextmanager
def running(prefix: str = "", port: int = 0, *, strict: bool = True) -> Iterator[FakeGitHub]:
    """A server that is gone when the block ends.

    Raises:
        AssertionError: at the end, when it is `strict` and a request or an answer was not such as
            GitHub's own description of its API says.
    """
    fake = FakeGitHub(prefix, port)
    thread = threading.Thread(target=fake._server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        fake._server.shutdown()
        fake._server.server_close()
        thread.join(5)
    if strict and fake.violations:
        raise AssertionError("not as GitHub describes it:\n" + "\n".join(fake.violations))


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, fake: FakeGitHub, port: int) -> None:
        self.fake = fake
        super().__init__(("127.0.0.1", port), _Handler)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    #: Head and body are two writes; with the client's delayed answer each would take 40 ms.
    disable_nagle_algorithm = True
    token = ""

    @property
    def fake(self) -> FakeGitHub:
        return cast(_Server, self.server).fake

    def handle_any(self) -> None:
        request = self.request_of()
        self.fake.requests.append(request)
        self.fake.examine(request)
        time.sleep(self.fake.delay)
        if self.fails(request, "before"):
            return
        answer = self.fake.answer(request)
        self.fake.examine(request, answer)
        if self.fails(request, "after"):
            return
        if self.fault(request, "during"):
            self.cut(answer)
            return
        headers = answer.headers
        if request.method == "GET" and answer.status == 200:
            state = hashlib.sha1(answer.content, usedforsecurity=False).hexdigest()
            headers = {**headers, "ETag": f'W/"{state}"'}
            if request.etag == headers["ETag"]:
                self.fake.spent = max(0, self.fake.spent - 1)  # what has not changed costs nothing
                self.reply(Answer(304, None, headers))
                return
        self.reply(Answer(answer.status, answer.payload, headers, answer.kind))

    def request_of(self) -> Request:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length).decode()
        scheme, _, self.token = self.headers.get("Authorization", "").partition(" ")
        assert scheme in {"", "token", "Bearer"}, scheme
        return Request(
            self.command,
            self.path,
            self.token or None,
            body,
            self.headers.get("If-None-Match"),
            self.headers.get("Accept", ""),
        )

    def fault(self, request: Request, moment: Moment) -> Fault | None:
        """What happens now; its action may send requests of its own."""
        with self.fake._lock:
            hit = next((one for one in self.fake.faults if one.hits(request, moment)), None)
        if hit is not None:
            hit.action()
        return hit

    def fails(self, request: Request, moment: Moment) -> bool:
        fault = self.fault(request, moment)
        if fault is None or fault.status == NO_FAULT:
            return False
        if fault.status is None:
            self.close_connection = True
        else:
            kind = "text/html" if fault.body.startswith("<") else "application/json"
            self.reply(Answer(fault.status, fault.body.encode(), fault.headers, kind))
        return True

    def cut(self, answer: Answer) -> None:
        """Promises all of the answer, and sends half of it."""
        self.head(answer, max(len(answer.content), 2))
        self.wfile.write(answer.content[: len(answer.content) // 2])
        self.close_connection = True

    def reply(self, answer: Answer) -> None:
        content = answer.content
        self.head(answer, None if answer.status in {204, 304} else len(content))
        self.wfile.write(content)

    def head(self, answer: Answer, length: int | None) -> None:
        self.send_response_only(answer.status)
        date = self.date_time_string(time.time() + self.fake.skew)
        own = {"Server": "github.com", "Date": date, "Content-Type": answer.kind}
        rate = self.fake.rate_of(self.fake.accounts.get(self.token))
        for name, value in {**own, **rate, **answer.headers}.items():
            self.send_header(name, value)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's name
        """Quiet: the tests read `requests`."""

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = handle_any  # noqa: N815 - names that the base calls
