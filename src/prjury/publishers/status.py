"""The commit status on the head: one word and one line, where a check run cannot be the gate."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prjury.github.posts import find_status, list_statuses, set_status
from prjury.github.repo_client import RepoClient, login_of
from prjury.jury.gate import Gate
from prjury.publishers.races import (
    Run,
    find_newest_after,
    find_run,
    raise_if_unclear,
    retry_unclear,
)
from prjury.report.model import Report
from prjury.report.sanitise import BY_SHAPE, Redact, join_lines

if TYPE_CHECKING:
    from github.CommitStatus import CommitStatus as PostedStatus

CONTEXT = "prjury"

#: GitHub takes 140 characters; some of them tell how many were cut off.
_LONGEST = 120
#: GitHub takes no characters of four bytes in a description, such as most emoji.
_FOUR_BYTES = re.compile("[\U00010000-\U0010ffff]")
_STATES = {Gate.SUCCESS: "success", Gate.FAILURE: "failure", Gate.ACTION_REQUIRED: "error"}


@dataclass
class CommitStatus:
    """Publishes a report as the status of its head."""

    room: RepoClient
    #: The page of the workflow run, with its attempt; empty outside of a workflow. A status of a
    #: later run stays.
    page: str = ""
    redact: Redact = BY_SHAPE
    name: str = "commit status"

    def publish(self, report: Report) -> str | None:
        self.set(report.pull.head.sha, _STATES[report.gate], report.headline)
        return None

    def set(self, sha: str, state: str, words: str = "Judging") -> None:
        """Say in a line what is known of a head; `pending` keeps a required status closed."""
        line = join_lines(words, _LONGEST, self.redact)
        description = _FOUR_BYTES.sub("\N{REPLACEMENT CHARACTER}", line)
        retry_unclear(
            lambda: self._set_unless_same_or_newer(sha, state, description), self.room.client.sleep
        )

    def _set_unless_same_or_newer(self, sha: str, state: str, description: str) -> None:
        latest = find_status(self.room, sha, CONTEXT)
        if latest and self._is_own_status(latest):
            is_same = _words_of(latest) == (state, description, self.page)
            if is_same or self._find_newer([latest]):
                return
        self._create(sha, state, description, self.page)
        if state == "success":
            # A second look: a green word of ours hides what a later run has said since the first.
            statuses = filter(self._is_own_status, list_statuses(self.room, sha, CONTEXT))
            if newer := self._find_newer(statuses):
                self._create(sha, *_words_of(newer))

    def _create(self, sha: str, state: str, description: str, page: str) -> None:
        with raise_if_unclear():
            words = {"state": state, "description": description, "target_url": page}
            set_status(self.room, sha, CONTEXT, **words)

    def _find_newer(self, statuses: Iterable[PostedStatus]) -> PostedStatus | None:
        return find_newest_after(statuses, find_run(self.page), self._find_writer)

    def _find_writer(self, status: PostedStatus) -> Run | None:
        page = status.target_url or ""
        return find_run(page) if _server_of(page) == _server_of(self.page) else None

    def _is_own_status(self, status: PostedStatus) -> bool:
        return login_of(status.creator) == self.room.account()


def _server_of(page: str) -> str:
    return page.partition("/actions/runs/")[0]


def _words_of(status: PostedStatus) -> tuple[str, str, str]:
    return status.state, status.description or "", status.target_url or ""
