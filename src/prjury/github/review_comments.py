"""The reviews of one pull request: the door through which a publisher writes its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from prjury.github.client import GitHub
from prjury.github.payload import at, object_name, text
from prjury.github.repo_client import RepoClient
from prjury.report.inline import Remark

_READS = "pull-requests: read"


@dataclass(frozen=True, slots=True)
class PostedText:
    """A review's body, or a remark at a line, as GitHub holds it.

    Attributes:
        author: the login of the account that wrote it, empty for a deleted one.
    """

    body: str
    author: str
    url: str


class Reviews:
    """The reviews of one pull request.

    Every method raises PublishError: whoever comes here wants to publish.
    """

    def __init__(self, hub: GitHub, repo: str, number: int) -> None:
        self._room = RepoClient(hub, repo)
        self._pull = f"/pulls/{number}"
        self._told_as = f"{repo}#{number}"

    def author(self) -> str:
        """The account under which reviews are written here."""
        return self._room.account()

    def bodies(self) -> list[PostedText]:
        """What every review says as a whole, oldest first."""
        return self._room.every(
            f"list the reviews of {self._told_as}", f"{self._pull}/reviews", _said, needs=_READS
        )

    def remarks(self) -> list[PostedText]:
        """Every remark at a line."""
        return self._room.every(
            f"list the review comments of {self._told_as}",
            f"{self._pull}/comments",
            _said,
            needs=_READS,
        )

    def create(self, head_sha: str, body: str, remarks: Sequence[Remark]) -> PostedText:
        """Posts a review that neither approves nor blocks.

        After an unclear failure nobody knows whether it is there.
        """
        content = {
            "commit_id": object_name(head_sha, "the head"),
            "event": "COMMENT",
            "body": body,
            "comments": [_sent(remark) for remark in remarks],
        }
        return self._room.send(
            f"review {self._told_as}",
            "POST",
            f"{self._pull}/reviews",
            content,
            _said,
            needs="pull-requests: write",
            repeatable=False,
        )


def _said(payload: object) -> PostedText:
    return PostedText(
        body=text(at(payload, "body")),
        author=text(at(payload, "user", "login")),
        url=text(at(payload, "html_url")),
    )


def _sent(remark: Remark) -> dict[str, Any]:
    content = {"path": remark.path, "line": remark.line, "side": "RIGHT", "body": remark.body}
    if remark.start_line is None:
        return content
    return content | {"start_line": remark.start_line, "start_side": "RIGHT"}
