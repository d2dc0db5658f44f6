"""A request and its answer, as the handlers see them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

from fakes.github.accounts import Account

if TYPE_CHECKING:
    from fakes.github.server import FakeGitHub

Payload = dict[str, Any]
Headers = dict[str, str]

MOST_PER_PAGE = 100


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    token: str | None
    body: str
    etag: str | None = None
    accept: str = ""

    @property
    def is_write(self) -> bool:
        return self.method != "GET" and not self.path.endswith("/graphql")

    @property
    def route(self) -> str:
        return urlsplit(self.path).path

    @property
    def query(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}

    @property
    def payload(self) -> Any:
        """The body as JSON; None where there is none."""
        return json.loads(self.body) if self.body else None


@dataclass
class Answer:
    """What is sent back: a payload as JSON, or bytes of another kind."""

    status: int
    payload: Any = None
    headers: Headers = field(default_factory=dict)
    kind: str = "application/json; charset=utf-8"

    @property
    def content(self) -> bytes:
        if isinstance(self.payload, bytes):
            return self.payload
        return b"" if self.payload is None else json.dumps(self.payload).encode()


class Refusal(Exception):  # noqa: N818 - what GitHub says, not what went wrong here
    """GitHub says no; carries the answer."""

    def __init__(
        self,
        status: int,
        message: str,
        errors: Sequence[str | Payload] = (),
        headers: Headers | None = None,
    ) -> None:
        super().__init__(message)
        self.answer = refusal(status, message, headers, errors)


def refusal(
    status: int, message: str, headers: Headers | None = None, errors: Sequence[object] = ()
) -> Answer:
    payload = {
        "message": message,
        "documentation_url": "https://docs.github.com/rest",
        "status": str(status),
    }
    return Answer(status, payload | ({"errors": list(errors)} if errors else {}), headers or {})


def invalid(resource: str, field_name: str, message: str) -> Refusal:
    """A value that GitHub does not take."""
    error = {"resource": resource, "field": field_name, "code": "custom", "message": message}
    return Refusal(422, "Validation Failed", [error])


@dataclass(frozen=True)
class Call:
    """A request that has found its route.

    Attributes:
        names: the values of the names in the route's template.
    """

    fake: FakeGitHub
    request: Request
    account: Account | None
    names: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        return self.names[name]

    @property
    def repo(self) -> str:
        return f"{self['owner']}/{self['repo']}"

    @property
    def query(self) -> dict[str, str]:
        return self.request.query

    @property
    def author(self) -> Account:
        """Who asks; only for routes that let no stranger in."""
        if self.account is None:
            raise Refusal(401, "Requires authentication")
        return self.account

    @property
    def body(self) -> Payload:
        """The request's JSON object."""
        try:
            payload = self.request.payload
        except ValueError:
            raise Refusal(400, "Problems parsing JSON") from None
        if payload is not None and not isinstance(payload, dict):
            raise Refusal(400, "Body should be a JSON object")
        return payload or {}

    def needed(self, name: str) -> Any:
        """A value of the body without which it is no request."""
        value = self.body.get(name)
        if value is None:
            raise Refusal(422, f'Invalid request.\n\n"{name}" wasn\'t supplied.')
        return value

    def paged(self, found: Sequence[Payload], key: str | None = None, **more: Any) -> Answer:
        """One page, with GitHub's links to the others."""
        size = min(self._whole("per_page", 30), MOST_PER_PAGE)
        page = self._whole("page", 1)
        part = list(found[(page - 1) * size : page * size])
        payload = {"total_count": len(found), key: part} | more if key else part
        return Answer(200, payload, self._links(page, size, len(found)))

    def _whole(self, name: str, default: int) -> int:
        """A positive number of the query; what is none counts as not given."""
        text = self.query.get(name, "")
        return max(int(text), 1) if text.isdecimal() else default

    def _links(self, page: int, size: int, total: int) -> Headers:
        fake = self.fake
        rest = {k: v for k, v in self.query.items() if k not in {"page", "per_page"}}
        here = fake.url.removesuffix(fake.prefix) + self.request.route

        def to(number: int) -> str:
            return f"{here}?{urlencode({**rest, 'per_page': size, 'page': number})}"

        last = max(1, -(-total // size))
        links: dict[str, str] = {}
        if page > 1:
            links |= {"prev": to(page - 1), "first": to(1)}
        if page < last or fake.next_link:
            links |= {"next": fake.next_link or to(page + 1), "last": to(last)}
        text = ", ".join(f'<{url}>; rel="{name}"' for name, url in links.items())
        return {"Link": text} if links else {}


Handler = Callable[[Call], Answer]

#: Names whose values may hold slashes.
_LONG = {"path", "basehead", "branch", "ref"}


@dataclass(frozen=True)
class Route:
    """A path of GitHub's API, written as in GitHub's description of it.

    Attributes:
        needs: the permissions as GitHub's header names them; empty: none.
        described: whether GitHub's description has it.
    """

    method: str
    template: str
    handler: Handler
    needs: str = "metadata=read"
    described: bool = True

    def match(self, method: str, path: str) -> dict[str, str] | None:
        """The values of the template's names; None where another route is meant."""
        if method != self.method:
            return None
        found = re.fullmatch(re.sub(r"\\{(\w+)\\}", _group, re.escape(self.template)), path)
        return (
            {name: unquote(value) for name, value in found.groupdict().items()} if found else None
        )


def _group(name: re.Match[str]) -> str:
    word = name[1]
    if word in _LONG:
        return f"(?P<{word}>.+)"
    return rf"(?P<{word}>\d+)" if word.endswith(("_id", "_number")) else f"(?P<{word}>[^/]+)"


class Routes(list[Route]):
    """The routes of one room, filled by decorating their handlers."""

    def __call__(
        self, method: str, template: str, needs: str = "metadata=read", *, described: bool = True
    ) -> Callable[[Handler], Handler]:
        def note(handler: Handler) -> Handler:
            self.append(Route(method, template, handler, needs, described))
            return handler

        return note


#: What most templates begin with.
REPO = "/repos/{owner}/{repo}"
