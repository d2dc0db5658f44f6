"""What is posted to GitHub about one head, and by whom; which of it, the policy says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from prjury.errors import PublishError, SourceError
from prjury.github.client import GitHub
from prjury.github.payload import CommentFacts
from prjury.github.repo_client import RepoClient
from prjury.ports import Publisher
from prjury.publishers.check_run import CheckRunReport
from prjury.publishers.comment import StickyComment
from prjury.publishers.labels import Labels
from prjury.publishers.review import LineReview
from prjury.publishers.status import CommitStatus
from prjury.report.model import Report
from prjury.report.render import Renderer
from prjury.report.sanitise import Redact


class Target(Struct, frozen=True):
    """Where a report goes."""

    repo: str
    number: int | None = None
    head_sha: str | None = None
    #: Whether a commit status is the gate: where no job of the head itself is.
    by_status: bool = False
    #: The workflow run and its attempt (``5.1``), None outside of one.
    run: str | None = None
    page: str = ""
    #: What the comment's marker says of the files that the report was made of, if anything.
    files: str = ""


class PublisherFactory(Struct, frozen=True):
    """Makes the publishers of one target."""

    target: Target
    client: GitHub
    renderer: Renderer
    redact: Redact
    #: The comments of the pull request, where this job has just read them.
    comments: Iterable[CommentFacts] | None = None

    def make_check(self, options: Mapping[str, Any]) -> CheckRunReport | None:
        target = self.target
        if not (target.head_sha and options.get("check", True)):
            return None
        return CheckRunReport(
            self._room,
            target.number,
            self.renderer.check,
            options.get("annotations", True),
            target.page,
            redact=self.redact,
        )

    @property
    def _room(self) -> RepoClient:
        return RepoClient(self.client, self.target.repo)

    def status(self) -> CommitStatus | None:
        if not (self.target.by_status and self.target.head_sha):
            return None
        return CommitStatus(self._room, self.target.page, redact=self.redact)

    def make_pull_publishers(self, options: Mapping[str, Any]) -> Iterator[Publisher]:
        target = self.target
        if not target.number:
            return
        room, number = self._room, target.number
        if options.get("comment", True):

            def render(report: Report) -> str:
                comment = self.renderer.comment(report, run=target.run)
                more = f" files={target.files} -->" if target.files else " -->"
                return comment.replace(" -->", more, 1)

            yield StickyComment(room, number, render, self.comments)
        if options.get("review"):
            yield LineReview(room, number, target.run, redact=self.redact)
        if labels := options.get("labels"):
            yield Labels(room, number, labels)

    def refuse_moved_or_closed_pull(self) -> None:
        """Raises PublishError where the pull request has moved on: what is posted is about now."""
        target = self.target
        if not (target.head_sha and target.number):
            return
        try:
            pull = self.client.pull(target.repo, target.number)
        except SourceError as error:
            raise error.phrase_error(PublishError) from error
        if pull.closed or target.head_sha != pull.head.sha:
            now = "is closed" if pull.closed else "has a newer head"
            words = f"Superseded: the pull request {now}, so nothing was posted to it"
            raise PublishError(words, reason="superseded")
