"""A repository's settings on GitHub, as `prjury doctor` reads them.

Nothing is written here. What a token may not read raises a SourceError with the reason
``permission``, so that nobody takes silence for a good answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self
from urllib.parse import quote

from msgspec import Struct

from prjury.errors import SourceError
from prjury.github.checks import find_api_and_repo_name
from prjury.github.client import GITHUB_API, Connection, GitHub, RetryBudget
from prjury.github.payload import at, text

#: The app behind GitHub Actions on github.com; servers of one's own have another number.
ACTIONS_APP = 15_368

#: The permission that reading settings takes.
_SETTINGS = "administration: read"


class RepositoryFacts(Struct, frozen=True):
    """A repository as the token sees it."""

    private: bool
    forks: int
    default_branch: str


class RequiredCheck(Struct, frozen=True):
    """A check that a branch asks for."""

    context: str
    #: The number of the app that it has to come from; None takes it from anybody.
    app: int | None
    source: str


class BranchRules(Struct, frozen=True):
    """What the rulesets ask of a branch."""

    checks: tuple[RequiredCheck, ...] = ()
    has_queue: bool = False


class RepoSettings:
    """The settings of one repository; close it, or use it as a context manager."""

    def __init__(
        self, connection: Connection, repo: str, patience: RetryBudget | None = None
    ) -> None:
        self._hub = GitHub(connection, patience or RetryBudget(attempts=3, budget=20))
        self._room = self._hub.repo(repo)
        self.repo = repo
        self.actions_app = ACTIONS_APP if connection.api_url == GITHUB_API else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._hub.close()

    def facts(self) -> RepositoryFacts:
        """Return what everybody who sees the repository may know of it."""
        path = f"/repos/{self.repo}"
        return self._hub.ask(
            f"see {self.repo}",
            lambda: _read_facts(*self._hub.api.requester.requestJsonAndCheck("GET", path)),
        )

    def read_branch_rules(self, branch: str) -> BranchRules:
        """Return what the rulesets ask of a branch; every reader of the repository may read it."""
        path = f"/rules/branches/{quote(branch, safe='')}"
        task = f"read the rules of {branch}"
        entries = list(self._room.entries(task, path, needs="metadata: read"))
        return BranchRules(
            tuple(check for entry in entries for check in _read_rule_checks(entry)),
            any(at(entry, "type") == "merge_queue" for entry in entries),
        )

    def read_protection_checks(self, branch: str) -> tuple[RequiredCheck, ...]:
        """The checks that the classic protection of a branch asks for; none without one.

        Without the right to read it, checks may still be in the description of the branch;
        where there are none, that is no answer.
        """
        path, task = f"/branches/{quote(branch, safe='')}", f"read the protection of {branch}"
        try:
            return self._room.get(
                task, f"{path}/protection", _read_protection_checks, needs=_SETTINGS
            )
        except SourceError as error:
            # An account without the right to know may get 404 as well, with other words.
            if error.reason == "not_found" and "not protected" in error.why.lower():
                return ()
            if error.reason not in {"permission", "not_found"}:
                raise
            shown = self._room.get(
                task,
                path,
                lambda it: _read_protection_checks(at(it, "protection")),
                needs="contents: read",
            )
            if not shown:
                raise
            return shown


def make_settings_or_reason(
    url: str | None, environ: Mapping[str, str], *, offline: bool = False
) -> RepoSettings | str:
    """The settings of the repository that is cloned from a URL, or why they cannot be asked for."""
    if offline:
        return "--offline forbids to ask GitHub"
    place = find_api_and_repo_name(url, environ)
    if place is None:
        return "the repository has no remote on GitHub"
    token = environ.get("GITHUB_TOKEN") or environ.get("GH_TOKEN")
    if not token:
        return "there is no token; set GITHUB_TOKEN to one that may read the repository"
    api, name = place
    return RepoSettings(Connection(api, token), name)


def _read_facts(_headers: Mapping[str, Any], content: object) -> RepositoryFacts:
    forks = at(content, "forks_count")
    branch = text(at(content, "default_branch"))
    if not branch:
        raise ValueError("default_branch is missing")
    return RepositoryFacts(
        at(content, "private") is True, forks if isinstance(forks, int) else 0, branch
    )


def _read_rule_checks(entry: object) -> Iterator[RequiredCheck]:
    if at(entry, "type") != "required_status_checks":
        return
    checks = at(entry, "parameters", "required_status_checks")
    number = at(entry, "ruleset_id")
    source = f"ruleset {number}" if isinstance(number, int) else "a ruleset"
    for check in checks if isinstance(checks, list) else []:
        yield RequiredCheck(
            text(at(check, "context")), _read_app(at(check, "integration_id")), source
        )


def _read_protection_checks(content: object) -> tuple[RequiredCheck, ...]:
    required = at(content, "required_status_checks")
    checks, contexts = at(required, "checks"), at(required, "contexts")
    if isinstance(checks, list):
        read = [(text(at(check, "context")), _read_app(at(check, "app_id"))) for check in checks]
    else:  # an older server
        read = [(text(name), None) for name in contexts] if isinstance(contexts, list) else []
    return tuple(RequiredCheck(name, app, "the branch protection") for name, app in read)


def _read_app(value: object) -> int | None:
    """GitHub says -1, null or nothing where every source will do."""
    return value if isinstance(value, int) and value > 0 else None
