"""One repository on GitHub: all pages of a list, a write, the account of the token.

Requests go through PyGithub's requester, because its objects leave out what the lists of checks,
reviews and statuses hold, and stumble over a null that GitHub may send.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from prjury.errors import PublishError, SourceError
from prjury.github.client import GitHub
from prjury.github.payload import at, repo_name

Result = TypeVar("Result")

_PAGE = 100
_MOST_PAGES = 100


@dataclass(frozen=True)
class RepoClient:
    """One repository on GitHub, for publishers.

    Every method raises PublishError.

    Attributes:
        repo: ``owner/name``.

    Raises:
        ValueError: for another name than that.
    """

    hub: GitHub
    repo: str

    def __post_init__(self) -> None:
        repo_name(self.repo, "the repository")

    def account(self) -> str:
        """The account that the token acts as."""
        try:
            return self.hub.login()
        except SourceError as error:
            raise error.told_as(PublishError) from error

    def page(
        self,
        doing: str,
        path: str,
        number: int = 1,
        *,
        key: str | None = None,
        needs: str,
        parameters: Mapping[str, str] | None = None,
    ) -> tuple[list[object], bool]:
        """The entries of one page of a list, and whether there are more pages.

        Args:
            path: below the repository's own, such as ``/issues/7/labels``.
            key: where the entries stand in the answer; None where they are all of it.
        """
        query = {**(parameters or {}), "per_page": str(_PAGE), "page": str(number)}

        def call() -> tuple[list[object], bool]:
            headers, content = self.hub.api.requester.requestJsonAndCheck(
                "GET", f"/repos/{self.repo}{path}", query
            )
            entries = at(content, key) if key else content
            if not isinstance(entries, list):
                raise ValueError(f"{key or 'the answer'} is not a list")  # noqa: TRY004 - as every answer of a wrong form
            return entries, 'rel="next"' in str(headers.get("link", ""))

        return self.hub.ask(doing, call, error=PublishError, needs=needs)

    def every(
        self,
        doing: str,
        path: str,
        read: Callable[[object], Result],
        *,
        key: str | None = None,
        needs: str,
        parameters: Mapping[str, str] | None = None,
    ) -> list[Result]:
        """Every entry of a list, from all of its pages."""
        found: list[object] = []
        more, number = True, 0
        while more:
            number += 1
            if number > _MOST_PAGES:
                why = "The pages of the list do not end"
                raise PublishError(f"Could not {doing}", why=why, reason="bad_response")
            entries, more = self.page(
                doing, path, number, key=key, needs=needs, parameters=parameters
            )
            found += entries
        return self.hub.ask(doing, lambda: list(map(read, found)), error=PublishError)

    def send(
        self,
        doing: str,
        method: str,
        path: str,
        content: Mapping[str, Any] | None,
        read: Callable[[object], Result],
        *,
        needs: str,
        repeatable: bool = True,
    ) -> Result:
        """What GitHub answers to a write."""

        def call() -> Result:
            _, answer = self.hub.api.requester.requestJsonAndCheck(
                method, f"/repos/{self.repo}{path}", input=content
            )
            return read(answer)

        return self.hub.ask(doing, call, error=PublishError, needs=needs, repeatable=repeatable)
