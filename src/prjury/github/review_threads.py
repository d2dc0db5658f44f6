"""The threads of a pull request's reviews: only GraphQL tells whether one is resolved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from prjury.errors import PublishError
from prjury.github.client import GitHub
from prjury.github.payload import at, text

#: A thread is resolved by who may write contents, whatever else the token may do.
NEEDS = "contents: write"
_MOST_PAGES = 10
_LIST = """\
query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) {
    reviewThreads(first: 100, after: $after) {
      nodes { id isResolved comments(first: 1) { nodes { body author { __typename login } } } }
      pageInfo { hasNextPage endCursor }
    }
  } }
}
"""
_RESOLVE = """\
mutation($thread: ID!) { resolveReviewThread(input: {threadId: $thread}) { thread { id } } }
"""


@dataclass(frozen=True, slots=True)
class PostedThread:
    """An open thread, by the text and the author of its first remark."""

    id: str
    body: str
    author: str


class ReviewThreads:
    """The threads of one pull request; every method raises PublishError."""

    def __init__(self, client: GitHub, repo: str, number: int) -> None:
        self._hub = client
        owner, _, name = repo.partition("/")
        self._pull: dict[str, Any] = {"owner": owner, "name": name, "number": number}

    def unresolved(self) -> list[PostedThread]:
        """The threads that nobody has resolved, the first thousand."""
        found: list[PostedThread] = []
        after = None
        for _ in range(_MOST_PAGES):
            data = self._ask("list the review threads", _LIST, {**self._pull, "after": after})
            threads = at(data, "repository", "pullRequest", "reviewThreads")
            nodes = at(threads, "nodes")
            every = nodes if isinstance(nodes, list) else ()
            found += [_thread(node) for node in every if at(node, "isResolved") is False]
            if at(threads, "pageInfo", "hasNextPage") is not True:
                break
            after = text(at(threads, "pageInfo", "endCursor"))
        return found

    def resolve(self, thread: str) -> None:
        """Resolve a thread; once more is the same as once."""
        self._ask("resolve a review thread", _RESOLVE, {"thread": thread})

    def _ask(self, doing: str, query: str, values: Mapping[str, Any]) -> object:
        return self._hub.ask(
            doing,
            lambda: self._hub.api.requester.graphql_query(query, dict(values))[1]["data"],
            error=PublishError,
            needs=NEEDS,
        )


def _thread(node: object) -> PostedThread:
    comments = at(node, "comments", "nodes")
    first = comments[0] if isinstance(comments, list) and comments else None
    login, kind = text(at(first, "author", "login")), at(first, "author", "__typename")
    # GraphQL names bots without the suffix that the REST API gives them.
    bot = "[bot]" if kind == "Bot" and login and not login.endswith("[bot]") else ""
    return PostedThread(text(at(node, "id")), text(at(first, "body")), login + bot)
