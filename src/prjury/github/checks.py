"""The checks of a commit as GitHub tells them: check runs, commit statuses and workflow runs."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

from prjury.deadline import Deadline
from prjury.errors import SourceError
from prjury.github.check_results import (
    CommitRuns,
    OwnRun,
    ReportedRun,
    WorkflowRun,
    read_check_run,
    read_status,
    read_workflow_run,
)
from prjury.github.client import GITHUB_API, Connection, GitHub, RetryBudget
from prjury.github.payload import at
from prjury.ports.types import CheckResult

Entry = TypeVar("Entry", ReportedRun, WorkflowRun)

_PAGE = 100
_MOST_PAGES = 50
_FIRST_PAUSE, _LONGEST_PAUSE, _GROWTH = 15.0, 60.0, 1.5
#: What a look may fail for without the waiting being given up, and how often in a row.
_PASSING = frozenset({"unreachable", "server_error", "rate_limited"})
_MOST_FAILED = 5
_LONGEST_WAIT = 300.0

_CLONE_URL = re.compile(
    r"(?:^|@|//)(?P<host>[\w.-]+)(?::\d+)?[:/](?P<name>[\w.-]+/[\w.-]+?)(?:\.git)?/?$", re.ASCII
)
_GITHUB_HOSTS = frozenset({"github.com", "www.github.com", "ssh.github.com"})


@dataclass(frozen=True)
class CommitChecks:
    """The checks of one repository's commits (`prjury.ports.Checks`).

    Attributes:
        repo: ``owner/name``.
        own: the workflow run that waits here, whose job is not waited for.
    """

    connection: Connection
    repo: str
    own: OwnRun = field(default_factory=OwnRun)
    sleep: Callable[[float], None] = time.sleep

    def of(self, commit: str, deadline: Deadline) -> Iterator[Sequence[CheckResult]]:
        """All that is said of the commit, after 15 s again, then less and less often.

        The last look is at the deadline. A look that fails for a passing reason is left out, unless
        it is the last one or the fifth in a row.

        Raises:
            SourceError: when it cannot be looked up.
        """
        patience = RetryBudget(budget=min(_LONGEST_WAIT, deadline.remaining), sleep=self.sleep)
        with GitHub(self.connection, patience) as hub:
            lookout = _Lookout(hub, self.repo, self.own)
            failed, pause = 0, _FIRST_PAUSE
            while True:
                over = not deadline.remaining
                try:
                    seen = lookout.look(commit)
                except SourceError as error:
                    failed += 1
                    if over or failed >= _MOST_FAILED or error.reason not in _PASSING:
                        raise
                else:
                    failed = 0
                    yield seen
                if over:
                    return
                self.sleep(min(pause, deadline.remaining))
                pause = min(pause * _GROWTH, _LONGEST_PAUSE)


@dataclass(frozen=True, slots=True)
class _Page(Generic[Entry]):
    """A page as it was read, and what GitHub calls this state of it."""

    etag: str
    entries: Sequence[Entry]
    is_last: bool


@dataclass(frozen=True, slots=True)
class _List(Generic[Entry]):
    """A list that GitHub sends in pages.

    Attributes:
        key: where the entries stand in the answer; None where they are all of it.
        needs: the permission that reading it takes.
    """

    path: str
    parameters: Mapping[str, str]
    key: str | None
    read: Callable[[object], Entry]
    needs: str

    def page(self, hub: GitHub, number: int, kept: _Page[Entry] | None) -> _Page[Entry]:
        """One page, or the one that was kept where that is its state still."""
        headers, content = hub.api.requester.requestJsonAndCheck(
            "GET",
            self.path,
            {**self.parameters, "per_page": str(_PAGE), "page": str(number)},
            {"If-None-Match": kept.etag} if kept and kept.etag else None,
        )
        etag = str(headers.get("etag", ""))
        if content is None and kept and etag == kept.etag:
            return kept
        entries = at(content, self.key) if self.key else content
        if not isinstance(entries, list):
            raise ValueError(f"{self.key or 'the answer'} is not a list")  # noqa: TRY004 - as every answer of a wrong form
        more = 'rel="next"' in str(headers.get("link", "")) or len(entries) >= _PAGE
        return _Page(etag, [self.read(entry) for entry in entries], not more)


@dataclass
class _Lookout:
    """Asks GitHub; what has not changed since the last look costs nothing of the rate limit."""

    hub: GitHub
    repo: str
    own: OwnRun
    _kept: dict[tuple[str, int], _Page[Any]] = field(default_factory=dict)

    def look(self, commit: str) -> Sequence[CheckResult]:
        """All that is said of the commit now.

        Workflow runs come first: of those that have ended by then, the jobs are there afterwards.
        """
        where = f"/repos/{self.repo}"
        on_commit = f"{where}/commits/{commit}"
        workflows = _List(
            f"{where}/actions/runs",
            {"head_sha": commit},
            "workflow_runs",
            read_workflow_run,
            "actions: read",
        )
        runs = _List(
            f"{on_commit}/check-runs",
            {"filter": "latest"},
            "check_runs",
            read_check_run,
            "checks: read",
        )
        statuses = _List(f"{on_commit}/statuses", {}, None, read_status, "statuses: read")
        return CommitRuns(
            self._workflows(workflows), self._all(runs), self._all(statuses), self.own
        ).said()

    def _workflows(self, runs: _List[WorkflowRun]) -> Sequence[WorkflowRun]:
        try:
            return self._all(runs)
        except SourceError as error:
            if error.reason != "not_found":  # a server without workflows
                raise
            return ()

    def _all(self, listing: _List[Entry]) -> Sequence[Entry]:
        """Every entry of a list, each once, from all of its pages."""
        found: dict[int, Entry] = {}
        for number in range(1, _MOST_PAGES + 1):
            page = self._page(listing, number)
            found.update((entry.id, entry) for entry in page.entries)
            if page.is_last:
                return list(found.values())
        raise SourceError(
            f"{self.repo} has more than {_MOST_PAGES * _PAGE} checks on one commit",
            remedy="Build it here: `build: {from: run}`",
            reason="too_large",
        )

    def _page(self, listing: _List[Entry], number: int) -> _Page[Entry]:
        kept = self._kept.get((listing.path, number))
        try:
            page = self.hub.ask(
                f"read the checks of {self.repo}",
                lambda: listing.page(self.hub, number, kept),
                needs=listing.needs,
            )
        except SourceError as error:
            if error.reason == "refused":
                raise _unknown(self.repo, error) from error
            raise
        self._kept[listing.path, number] = page
        return page


def _unknown(repo: str, error: SourceError) -> SourceError:
    return SourceError(
        f"{repo} knows no such commit",
        why=error.why,
        remedy="Push the head first",
        reason="not_pushed",
    )


def checks_of(
    url: str | None, environ: Mapping[str, str], *, offline: bool = False
) -> CommitChecks | str:
    """The checks of the repository that is cloned from a URL, or why they cannot be had.

    Args:
        environ: the operator's environment: the token, where GitHub is, which run this is.

    Raises:
        UsageError: when the environment names an address to which a token must not be sent.
    """
    if offline:
        return "--offline forbids to ask GitHub. Leave it out, or build here: `build: {from: run}`"
    place = cloned_from(url, environ)
    if place is None:
        return (
            f"the repository is not known to be on {_server(environ) or 'GitHub'}. Name the pull "
            "request by its URL, or build here: `build: {from: run}`"
        )
    token = environ.get("GITHUB_TOKEN") or environ.get("GH_TOKEN")
    if not token:
        return (
            "there is no token. Set GITHUB_TOKEN to one with `checks: read`, `statuses: read` and "
            "`actions: read`"
        )
    api, name = place
    return CommitChecks(Connection(api, token), name, _own_run(environ))


def cloned_from(url: str | None, environ: Mapping[str, str]) -> tuple[str, str] | None:
    """GitHub's API and ``owner/name`` of the repository at a URL; None where it is elsewhere."""
    host = _server(environ)
    match = _CLONE_URL.search(url or "")
    if not match or not _same_host(match["host"].casefold(), host):
        return None
    return environ.get("GITHUB_API_URL") or _api_of(host), match["name"]


def _server(environ: Mapping[str, str]) -> str:
    server = environ.get("GITHUB_SERVER_URL") or "https://github.com"
    return (urlsplit(server).hostname or "").casefold()


def _same_host(host: str, server: str) -> bool:
    return host == server or {host, server} <= _GITHUB_HOSTS


def _api_of(host: str) -> str:
    return GITHUB_API if host in _GITHUB_HOSTS else f"https://{host}/api/v3"


def _own_run(environ: Mapping[str, str]) -> OwnRun:
    number = environ.get("GITHUB_RUN_ID", "")
    plain = number.isascii() and number.isdecimal()
    return OwnRun(int(number) if plain else None, environ.get("GITHUB_JOB", ""))
