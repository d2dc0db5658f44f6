"""The checks of a commit as GitHub tells them: check runs, commit statuses and workflow runs."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import urlsplit

from msgspec import Struct

from prjury.deadline import Deadline
from prjury.errors import SourceError
from prjury.github.artifacts import fetch_junit_reports
from prjury.github.check_results import CommitRuns, OwnRun, ReportedRun, read_check_run, read_status
from prjury.github.client import GITHUB_API, Connection, GitHub, RetryBudget
from prjury.github.repo_client import KeptPages
from prjury.github.workflow_runs import WorkflowRun, read_workflow_run
from prjury.ports.types import CheckResult, FetchedReports

Entry = TypeVar("Entry", ReportedRun, WorkflowRun)

_FIRST_PAUSE, _LONGEST_PAUSE, _GROWTH = 15.0, 60.0, 1.5
#: What a look may fail for without the waiting being given up, and how often in a row.
_PASSING = frozenset({"unreachable", "server_error", "rate_limited"})
_MOST_FAILED = 5
_LONGEST_WAIT = 300.0

_CLONE_URL = re.compile(
    r"(?:^|@|//)(?P<host>[\w.-]+)(?::\d+)?[:/](?P<name>[\w.-]+/[\w.-]+?)(?:\.git)?/?$", re.ASCII
)
_GITHUB_HOSTS = frozenset({"github.com", "www.github.com", "ssh.github.com"})


class CommitChecks(Struct, frozen=True):
    """The checks of one repository's commits (`prjury.ports.Checks`)."""

    connection: Connection
    repo: str
    #: The workflow run that waits here, whose job is not waited for.
    own: OwnRun = OwnRun()
    sleep: Callable[[float], None] = time.sleep

    def poll(self, commit: str, deadline: Deadline) -> Iterator[Sequence[CheckResult]]:
        """All that is said of the commit, after 15 s again, then less and less often.

        The last look is at the deadline. A look that fails for a passing reason is left out, unless
        it is the last one or the fifth in a row.
        """
        with self._connect(deadline) as client:
            lookout = _CheckReader(client, self.repo, self.own)
            failed, pause = 0, _FIRST_PAUSE
            while True:
                over = not deadline.remaining
                try:
                    seen = lookout.read_foreign_results(commit)
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

    def reports(self, commit: str, names: Sequence[str], deadline: Deadline) -> FetchedReports:
        """The JUnit reports in the newest artifacts of the commit that have one of these names."""
        with self._connect(deadline) as client:
            workflows = _CheckReader(client, self.repo, self.own).list_workflow_runs(commit)
            runs = CommitRuns(workflows, own=self.own).list_ended_workflows()
            return fetch_junit_reports(client, self.repo, [run.id for run in runs], names)

    def _connect(self, deadline: Deadline) -> GitHub:
        budget = min(_LONGEST_WAIT, deadline.remaining)
        return GitHub(self.connection, RetryBudget(budget=budget, sleep=self.sleep))


@dataclass
class _CheckReader:
    """Asks GitHub; what has not changed since the last look costs nothing of the rate limit."""

    client: GitHub
    repo: str
    own: OwnRun
    _kept: KeptPages = field(default_factory=dict)

    def read_foreign_results(self, commit: str) -> Sequence[CheckResult]:
        """All that is said of the commit now."""
        on = f"/commits/{commit}"
        workflows = self.list_workflow_runs(commit)
        runs = self._read_entries(
            f"{on}/check-runs", read_check_run, "checks", "check_runs", filter="latest"
        )
        statuses = self._read_entries(f"{on}/statuses", read_status, "statuses")
        return CommitRuns(workflows, runs, statuses, self.own).list_newest_foreign_results()

    def list_workflow_runs(self, commit: str) -> Sequence[WorkflowRun]:
        """The runs of workflows on the commit."""
        path = "/actions/runs"
        try:
            return self._read_entries(
                path, read_workflow_run, "actions", "workflow_runs", head_sha=commit
            )
        except SourceError as error:
            if error.reason != "not_found":  # a server without workflows
                raise
            return ()

    def _read_entries(
        self,
        path: str,
        read: Callable[[object], Entry],
        area: str,
        key: str | None = None,
        **query: str,
    ) -> Sequence[Entry]:
        task, needed = f"read the checks of {self.repo}", f"{area}: read"
        try:
            listed = self.client.repo(self.repo).list_all(
                task, path, read, key=key, needs=needed, query=query, cache=self._kept
            )
        except SourceError as error:
            if error.reason == "refused":
                raise _unknown(self.repo, error) from error
            raise
        return list({entry.id: entry for entry in listed}.values())


def _unknown(repo: str, error: SourceError) -> SourceError:
    return SourceError(
        f"{repo} knows no such commit",
        why=error.why,
        remedy="Push the head first",
        reason="not_pushed",
    )


def make_checks_or_reason(
    url: str | None, environ: Mapping[str, str], *, offline: bool = False
) -> CommitChecks | str:
    """The checks of the repository that is cloned from a URL, or why they cannot be had."""
    if offline:
        return "--offline forbids to ask GitHub. Leave it out, or build here: `build: {from: run}`"
    place = find_api_and_repo_name(url, environ)
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
    return CommitChecks(Connection(api, token), name, _read_own_run(environ))


def find_api_and_repo_name(url: str | None, environ: Mapping[str, str]) -> tuple[str, str] | None:
    """GitHub's API and ``owner/name`` of the repository at a URL; None where it is elsewhere."""
    host = _server(environ)
    match = _CLONE_URL.search(url or "")
    if not match or not _same_host(match["host"].casefold(), host):
        return None
    usual = GITHUB_API if host in _GITHUB_HOSTS else f"https://{host}/api/v3"
    return environ.get("GITHUB_API_URL") or usual, match["name"]


def _server(environ: Mapping[str, str]) -> str:
    server = environ.get("GITHUB_SERVER_URL") or "https://github.com"
    return (urlsplit(server).hostname or "").casefold()


def _same_host(host: str, server: str) -> bool:
    return host == server or {host, server} <= _GITHUB_HOSTS


def _read_own_run(environ: Mapping[str, str]) -> OwnRun:
    number = environ.get("GITHUB_RUN_ID", "")
    plain = number.isascii() and number.isdecimal()
    return OwnRun(int(number) if plain else None, environ.get("GITHUB_JOB", ""))
