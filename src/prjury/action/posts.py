"""What is posted to GitHub about one event, and by whom; which of it, the policy says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from prjury.action.wiring import Wiring
from prjury.errors import PublishError, SourceError
from prjury.ports import Publisher
from prjury.publishers.check_run import CheckRunReport
from prjury.publishers.comment import StickyComment
from prjury.publishers.labels import Labels
from prjury.publishers.review import LineReview
from prjury.publishers.status import CommitStatus
from prjury.report.annotations import Annotations, annotate
from prjury.report.model import Report
from prjury.report.redact import Redact
from prjury.sources.github.check_runs import CheckRuns
from prjury.sources.github.conversation import Conversation
from prjury.sources.github.event import Event, EventKind
from prjury.sources.github.hub import GitHub
from prjury.sources.github.labels import IssueLabels
from prjury.sources.github.reviews import Reviews
from prjury.sources.github.statuses import Statuses


@dataclass(frozen=True)
class Posts:
    """Makes the publishers of one event.

    Attributes:
        hub: a connection with the token that may write.
    """

    event: Event
    hub: GitHub
    wiring: Wiring
    redact: Redact

    @property
    def gates_by_status(self) -> bool:
        """Whether a commit status is the gate: where the job itself belongs to another branch."""
        return self.event.kind is EventKind.WORKFLOW_RUN

    @property
    def has_head(self) -> bool:
        """Whether the event is about the head of a pull request, on which checks hang."""
        return self.event.of_pull_request or self.gates_by_status

    @property
    def page(self) -> str:
        """The page of this workflow run."""
        run = self.event.run
        if run is None:
            return ""
        place = f"{self.event.server_url}/{self.event.repo}/actions/runs/{run.id}"
        return f"{place}/attempts/{run.attempt}"

    def check(self, wanted: Mapping[str, Any]) -> CheckRunReport | None:
        """The check run, where there is a head to hang it on and the policy wants it."""
        if not (self.has_head and wanted.get("check", True)):
            return None
        return CheckRunReport(
            CheckRuns(self.hub, self.event.repo),
            self.event.number,
            self.wiring.check,
            self._annotated if wanted.get("annotations", True) else _no_annotations,
            self.page,
            redact=self.redact,
        )

    def _annotated(self, report: Report) -> Annotations:
        return annotate(report, self.redact)

    def status(self) -> CommitStatus | None:
        """The commit status, where that is the gate."""
        if not self.gates_by_status:
            return None
        statuses = Statuses(self.hub, self.event.repo)
        return CommitStatus(statuses, self.page, redact=self.redact)

    def of_pull_request(self, wanted: Mapping[str, Any]) -> Iterator[tuple[str, Publisher]]:
        """What is posted to the pull request itself, each with the output that it fills, if any."""
        event = self.event
        if not event.number:
            return
        run = str(event.run) if event.run else None
        if wanted.get("comment", True):
            conversation = Conversation(self.hub, event.repo, event.number)

            def render(report: Report) -> str:
                return self.wiring.comment(report, run)

            yield "comment-url", StickyComment(conversation, render)
        if wanted.get("review"):
            reviews = Reviews(self.hub, event.repo, event.number)
            yield "", LineReview(reviews, run, redact=self.redact)
        if labels := wanted.get("labels"):
            door = IssueLabels(self.hub, event.repo, event.number)
            yield "", Labels(door, labels)

    def refuse_old_head(self) -> None:
        """Raises PublishError where the pull request has moved on: what is posted is about now."""
        if not self.has_head:
            return
        pull = self.event.pull
        try:
            told = self.hub.pull(pull.repo, pull.number or 0)
        except SourceError as error:
            raise PublishError(
                error.what, why=error.why, remedy=error.remedy, reason=error.reason
            ) from error
        if told.closed or pull.head.sha not in {None, told.head.sha}:
            now = "is closed" if told.closed else "has a newer head"
            raise PublishError(
                f"Superseded: the pull request {now}, so nothing was posted to it",
                reason="superseded",
            )


def _no_annotations(_report: Report) -> Annotations:
    return Annotations(())
