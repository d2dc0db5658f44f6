"""Issues that the text of a pull request closes, by GitHub's own keywords."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from prjury.errors import SourceError, UsageError
from prjury.github.checks import find_api_and_repo_name
from prjury.github.client import GITHUB_API, Connection, GitHub, RetryBudget
from prjury.github.payload import at, read_number, text
from prjury.ports.types import LinkedIssue
from prjury.snapshot.model import PullRequest

#: Issues that are read.
_MOST_ISSUES = 3
#: Seconds for one answer, and of waiting for all.
_TIMEOUT, _LONGEST_WAIT = 10, 20.0

_CLOSES = re.compile(
    r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+"
    r"(?:(?P<repo>[\w.-]+/[\w.-]+)?#|https?://[\w.:-]+/(?P<address>[\w.-]+/[\w.-]+)/issues/)"
    r"(?P<number>[1-9]\d{0,8})\b",
    re.IGNORECASE | re.ASCII,
)
#: What GitHub does not show, or shows as it stands.
_ASIDE = re.compile(
    r"<!--.*?(?:-->|\Z)|^(```|~~~).*?(?:^\1|\Z)|`[^`\n]*`", re.DOTALL | re.MULTILINE
)


def list_issues_to_close(body: str, repo: str) -> list[int]:
    """Return the numbers of this repository's issues that a pull request's text closes."""
    numbers: dict[int, None] = {}
    for match in _CLOSES.finditer(_ASIDE.sub(" ", body)):
        name = match["repo"] or match["address"] or repo
        if name.casefold() == repo.casefold():
            numbers[int(match["number"])] = None
    return list(numbers)


def fetch_issues_or_problems(
    pull: PullRequest, url: str | None, environ: Mapping[str, str], *, offline: bool = False
) -> tuple[LinkedIssue, ...]:
    """Read the issues that a pull request closes; where one cannot be read, why."""
    place = find_api_and_repo_name(url, environ)
    if place is None and environ.get("GITHUB_REPOSITORY") == pull.repo:
        place = environ.get("GITHUB_API_URL", GITHUB_API), pull.repo
    api, repo = place or ("", pull.repo)
    numbers = list_issues_to_close(pull.body, repo)
    why = "a local review does not ask GitHub"
    token = environ.get("GITHUB_TOKEN") or environ.get("GH_TOKEN")
    if numbers and api and pull.number is not None and not offline:
        try:
            patience = RetryBudget(budget=_LONGEST_WAIT)
            with GitHub(Connection(api, token, _TIMEOUT), patience) as client:
                return tuple(_fetch_or_explain(client, repo, numbers))
        except UsageError as error:
            why = str(error)
    return tuple(LinkedIssue(number, problem=why) for number in numbers)


def _fetch_or_explain(client: GitHub, repo: str, numbers: Sequence[int]) -> Iterator[LinkedIssue]:
    for number in numbers[:_MOST_ISSUES]:
        try:
            issue = _fetch_issue(client, repo, number)
        except SourceError as error:
            issue = LinkedIssue(number, problem=str(error))
        if issue.text or issue.problem:
            yield issue
    for number in numbers[_MOST_ISSUES:]:
        yield LinkedIssue(number, problem=f"only {_MOST_ISSUES} are read")


def _fetch_issue(client: GitHub, repo: str, number: int) -> LinkedIssue:
    """Read one issue; the text of a pull request, which nothing can close, is empty."""

    def read_issue(payload: object) -> LinkedIssue:
        place = text(at(payload, "repository_url")).casefold()
        is_moved = not place.endswith(f"/repos/{repo.casefold()}")
        if is_moved or read_number(at(payload, "number"), "number") != number:
            return LinkedIssue(number, problem="it was moved to another repository")
        if at(payload, "pull_request") is not None:
            return LinkedIssue(number)
        words = text(at(payload, "title")), text(at(payload, "body"))
        return LinkedIssue(number, "\n\n".join(words).strip())

    task = f"read issue {repo}#{number}"
    return client.repo(repo).get(task, f"/issues/{number}", read_issue, needs="issues: read")
