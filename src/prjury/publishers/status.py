"""The commit status on the head: one word and one line, where a check run cannot be the gate."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from prjury.jury.gate import Gate
from prjury.publishers.idempotent import is_newer, write_converging, written_once
from prjury.report.model import Report
from prjury.report.redact import Redact
from prjury.report.sanitise import BY_SHAPE, one_line

if TYPE_CHECKING:
    from prjury.github.check_runs import PostedStatus

CONTEXT = "prjury"

#: GitHub takes 140 characters; some of them tell how many were cut off.
_LONGEST = 120
#: GitHub takes no characters of four bytes in a description, such as most emoji.
_FOUR_BYTES = re.compile("[\U00010000-\U0010ffff]")
_STATES = {
    Gate.SUCCESS: "success",
    Gate.FAILURE: "failure",
    Gate.ACTION_REQUIRED: "error",
}


class StatusesPort(Protocol):
    """The statuses of a repository's commits; every method raises PublishError."""

    def account(self) -> str:
        """The account under which statuses are set here."""

    def latest(self, sha: str, context: str) -> PostedStatus | None:
        """The last status of that context."""

    def recent(self, sha: str, context: str) -> Iterable[PostedStatus]:
        """The statuses of that context, the newest first."""

    def create(
        self, sha: str, context: str, *, state: str, description: str, target_url: str
    ) -> PostedStatus:
        """Sets a status."""


@dataclass
class CommitStatus:
    """Publishes a report as the status of its head.

    Attributes:
        page: the page of the workflow run, with its attempt; empty outside of a workflow. A status
            of a later run stays.
        context: the name of the status, which branch rules ask for.
        redact: takes the secrets of this run out of texts.
        sleep: waits so many seconds between attempts.
    """

    statuses: StatusesPort
    page: str = ""
    context: str = CONTEXT
    redact: Redact = BY_SHAPE
    sleep: Callable[[float], None] = time.sleep
    name: str = "commit status"
    _account: str | None = field(default=None, init=False)

    def publish(self, report: Report) -> str | None:
        """Sets the status to the gate's state."""
        self._set(report.pull.head.sha, _STATES[report.gate], report.headline)
        return None

    def pending(self, head_sha: str, words: str = "Judging") -> None:
        """Says that the verdict is still to come, which keeps a required status closed."""
        self._set(head_sha, "pending", words)

    def open(self, reason: str, head_sha: str) -> None:
        """Opens the gate where there is nothing to judge, and says why."""
        self._set(head_sha, "success", reason)

    def fail(self, reason: str, head_sha: str) -> None:
        """Says that there is no verdict, and why; the status is ``error``."""
        self._set(head_sha, "error", reason)

    def _set(self, sha: str, state: str, words: str) -> None:
        line = one_line(words, _LONGEST, self.redact)
        description = _FOUR_BYTES.sub("\N{REPLACEMENT CHARACTER}", line)
        write_converging(lambda: self._attempt(sha, state, description), self.sleep)

    def _attempt(self, sha: str, state: str, description: str) -> None:
        latest = self.statuses.latest(sha, self.context)
        if latest and self._stays(latest, state, description) and self._is_ours(latest):
            return
        self._create(sha, state, description, self.page)
        if state == "success":
            self._restore_later(sha)

    def _restore_later(self, sha: str) -> None:
        """Set again what a later run said between our look and our green word, which hides it."""
        for status in self.statuses.recent(sha, self.context):
            if is_newer(status.target_url, self.page) and self._is_ours(status):
                self._create(sha, *_said(status))
                return

    def _create(self, sha: str, state: str, description: str, page: str) -> None:
        with written_once():
            self.statuses.create(
                sha, self.context, state=state, description=description, target_url=page
            )

    def _stays(self, latest: PostedStatus, state: str, description: str) -> bool:
        """Whether there is nothing to write: it is there already, or a later run has spoken."""
        ours = (state, description, self.page)
        return is_newer(latest.target_url, self.page) or _said(latest) == ours

    def _is_ours(self, latest: PostedStatus) -> bool:
        if self._account is None:
            self._account = self.statuses.account()
        return latest.creator == self._account


def _said(status: PostedStatus) -> tuple[str, str, str]:
    return status.state, status.description, status.target_url
