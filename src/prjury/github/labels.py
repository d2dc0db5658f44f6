"""The labels of one pull request: the door through which a publisher sets its own."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from prjury.errors import PublishError
from prjury.github.client import GitHub
from prjury.github.payload import at, text
from prjury.github.repo_client import RepoClient

_NEEDS = "pull-requests: write"


class IssueLabels:
    """The labels of one pull request, which GitHub keeps as those of an issue.

    Every method raises PublishError: whoever comes here wants to publish.
    """

    def __init__(self, hub: GitHub, repo: str, number: int) -> None:
        self._room = RepoClient(hub, repo)
        self._path = f"/issues/{number}/labels"
        self._told_as = f"{repo}#{number}"

    def names(self) -> list[str]:
        """The labels that are there."""
        return self._room.every(
            f"list the labels of {self._told_as}",
            self._path,
            lambda label: text(at(label, "name")),
            needs="pull-requests: read",
        )

    def add(self, names: Sequence[str]) -> None:
        """Adds labels; GitHub makes those that the repository does not have."""
        self._room.send(
            f"label {self._told_as}",
            "POST",
            self._path,
            {"labels": list(names)},
            lambda _answer: None,
            needs=_NEEDS,
        )

    def remove(self, name: str) -> None:
        """Takes a label off; one that is not there is no failure."""
        try:
            self._room.send(
                f"take a label off {self._told_as}",
                "DELETE",
                f"{self._path}/{quote(name, safe='')}",
                None,
                lambda _answer: None,
                needs=_NEEDS,
            )
        except PublishError as error:
            if error.reason != "not_found":
                raise
