"""One repository on GitHub: what is at a path, all pages of a list, a write.

Requests go through PyGithub's requester, which is asked for pages of this host alone; what GitHub
answers becomes PyGithub's objects here, without its nulls, over which they stumble, and complete,
so that no attribute asks GitHub for more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

from prjury.errors import PrJuryError, PublishError, SourceError
from prjury.github.payload import at, read_number, read_repo_name, text

if TYPE_CHECKING:
    from github.GithubObject import GithubObject
    from github.NamedUser import NamedUser
    from github.Organization import Organization

    from prjury.github.client import GitHub

Result = TypeVar("Result")
Posted = TypeVar("Posted", bound="GithubObject")

#: Entries of a page, and pages of a list.
_PAGE, _MOST_PAGES = 100, 100

#: Pages of lists as they were read, by path and number: with these GitHub counts no request for
#: what has not changed.
KeptPages = dict[tuple[str, int], "Page"]


class Page(Struct, frozen=True):
    """A page of a list, and what GitHub calls this state of it."""

    entries: Sequence[object]
    is_last: bool
    etag: str


@dataclass(frozen=True)
class RepoClient:
    """One repository on GitHub; paths are below its own, such as ``/issues/7/labels``."""

    client: GitHub
    repo: str
    error: type[PrJuryError] = PublishError

    def __post_init__(self) -> None:
        read_repo_name(self.repo, "the repository")

    def account(self) -> str:
        """The account that the token acts as."""
        try:
            return self.client.fetch_own_login()
        except SourceError as error:
            raise error.phrase_error(self.error) from error

    def get(
        self,
        task: str,
        path: str,
        read: Callable[[object], Result],
        *,
        needs: str = "metadata: read",
        query: Mapping[str, object] | None = None,
    ) -> Result:
        """Return what is at a path."""
        return self.client.ask(
            task, lambda: read(self._request("GET", path, query)[1]), error=self.error, needs=needs
        )

    def entries(
        self,
        task: str,
        path: str,
        *,
        needs: str,
        key: str | None = None,
        query: Mapping[str, object] | None = None,
        cache: KeptPages | None = None,
    ) -> Iterator[object]:
        """The entries of a list, from one page after the other."""
        pages = {} if cache is None else cache
        for number in range(1, _MOST_PAGES + 1):
            before = pages.get((path, number))
            parameters = {**(query or {}), "per_page": _PAGE, "page": number}
            call = partial(self._read_page, path, parameters, key, before)
            page = self.client.ask(task, call, error=self.error, needs=needs)
            pages[path, number] = page
            yield from page.entries
            if page.is_last:
                return
        why = f"The list has more than {_MOST_PAGES * _PAGE:,} entries"
        raise self.error(f"Could not {task}", why=why, reason="too_large")

    def list_all(
        self,
        task: str,
        path: str,
        read: Callable[[object], Result],
        *,
        needs: str,
        key: str | None = None,
        query: Mapping[str, object] | None = None,
        cache: KeptPages | None = None,
    ) -> list[Result]:
        """Every entry of a list, read; see `entries`."""
        entries = list(self.entries(task, path, needs=needs, key=key, query=query, cache=cache))
        return self.client.ask(task, lambda: list(map(read, entries)), error=self.error)

    def list_objects(
        self,
        kind: type[Posted],
        task: str,
        path: str,
        *,
        needs: str,
        key: str | None = None,
        query: Mapping[str, object] | None = None,
    ) -> list[Posted]:
        """Return every entry of a list as PyGithub's objects; see `entries`."""
        read = partial(self.read_object, kind)
        return self.list_all(task, path, read, needs=needs, key=key, query=query)

    def read_object(self, kind: type[Posted], payload: object) -> Posted:
        """Return one of PyGithub's objects with all that GitHub tells of it."""
        from github.GithubObject import CompletableGithubObject  # noqa: PLC0415 - heavy, hence late

        read_number(at(payload, "id"), f"the id of the {kind.__name__}")
        entries = payload.items() if isinstance(payload, Mapping) else ()
        attributes = {name: value for name, value in entries if value is not None}
        build: Callable[..., Posted] = kind
        if issubclass(kind, CompletableGithubObject):
            build = partial(build, completed=True)
        return build(self.client.api.requester, {}, attributes)

    def write(
        self,
        kind: type[Posted],
        task: str,
        method: str,
        path: str,
        content: Mapping[str, Any],
        *,
        needs: str,
        repeatable: bool = True,
    ) -> Posted:
        """Create or change something, and return it as one of PyGithub's objects."""
        read = partial(self.read_object, kind)
        return self.send(task, method, path, content, read, needs=needs, repeatable=repeatable)

    def send(
        self,
        task: str,
        method: str,
        path: str,
        content: Mapping[str, Any] | None,
        read: Callable[[object], Result],
        *,
        needs: str,
        repeatable: bool = True,
    ) -> Result:
        """Return what GitHub answers to a write."""
        return self.client.ask(
            task,
            lambda: read(self._request(method, path, content=content)[1]),
            error=self.error,
            needs=needs,
            repeatable=repeatable,
        )

    def _read_page(
        self, path: str, query: Mapping[str, object], key: str | None, before: Page | None
    ) -> Page:
        headers, answer = self._request("GET", path, query, etag=before.etag if before else "")
        etag = str(headers.get("etag", ""))
        if answer is None and before and etag == before.etag:
            return before
        entries = at(answer, key) if key else answer
        if not isinstance(entries, list):
            raise ValueError(f"{key or 'the answer'} is not a list")  # noqa: TRY004 - as every answer of a wrong form
        more = 'rel="next"' in str(headers.get("link", "")) or len(entries) >= _PAGE
        return Page(entries, not more, etag)

    def _request(
        self,
        method: str,
        path: str,
        query: Mapping[str, object] | None = None,
        *,
        content: Mapping[str, Any] | None = None,
        etag: str = "",
    ) -> tuple[Mapping[str, Any], object]:
        return self.client.api.requester.requestJsonAndCheck(
            method,
            f"/repos/{self.repo}{path}",
            {name: str(value) for name, value in query.items()} if query else None,
            {"If-None-Match": etag} if etag else None,
            content,
        )


def login_of(user: NamedUser | Organization | None) -> str:
    """Return the login of an account; empty for a deleted one."""
    return text(user.login) if user else ""


def ignore(_answer: object) -> None:
    """Read nothing of an answer."""
