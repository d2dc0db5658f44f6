"""One review with remarks at added lines; what was said once is never said again.

What there is to say follows from what our own account has said before: on the same head nothing,
on a later one the findings that have no remark yet.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from prjury.errors import PublishError
from prjury.publishers.idempotent import write_converging, written_once
from prjury.report.continuity import judged_seats
from prjury.report.findings import findings
from prjury.report.inline import AddedLines, Remark, Remarks, Reviewer, added_lines, markers
from prjury.report.model import Report
from prjury.report.redact import Redact
from prjury.report.render import marker
from prjury.report.sanitise import BY_SHAPE
from prjury.snapshot.model import PullRequest

if TYPE_CHECKING:
    from prjury.github.comments import PostedText
    from prjury.github.review_threads import PostedThread


class ReviewsPort(Protocol):
    """The reviews of one pull request; every method raises PublishError."""

    def author(self) -> str:
        """The account under which reviews are written here."""

    def bodies(self) -> Sequence[PostedText]:
        """What every review says as a whole."""

    def remarks(self) -> Sequence[PostedText]:
        """Every remark at a line."""

    def create(self, head_sha: str, body: str, remarks: Sequence[Remark]) -> PostedText:
        """Posts a review that neither approves nor blocks."""


class ThreadsPort(Protocol):
    """The threads of one pull request's reviews; every method raises PublishError."""

    def unresolved(self) -> Sequence[PostedThread]:
        """The threads that nobody has resolved."""

    def resolve(self, thread: str) -> None:
        """Resolves a thread."""


@dataclass
class LineReview:
    """Publishes a report as a review of its head.

    Attributes:
        run: the workflow run and its attempt (``5.1``), None outside of a workflow.
        added: where remarks may stand; by default the added lines of the snapshot.
        redact: takes the secrets of this run out of texts.
        id: which of several reviewers of the pull request this is.
        sleep: waits so many seconds between attempts.
        threads: where remarks on findings that are gone are resolved; None leaves them as they are.
        notes: what could not be done by this token.
    """

    reviews: ReviewsPort
    run: str | None = None
    added: Callable[[PullRequest], AddedLines] = added_lines
    redact: Redact = BY_SHAPE
    id: str = "default"
    sleep: Callable[[float], None] = time.sleep
    name: str = "review"
    threads: ThreadsPort | None = None
    notes: list[str] = field(default_factory=list, init=False)

    def publish(self, report: Report) -> str | None:
        """Posts what is new; the result is the review's address, None if nothing was to be said."""
        line = marker(report, self.id, self.run)
        lines = self.added(report.pull)
        reviewer = Reviewer(report, line, lines, self.redact, self.id)
        self._resolve(report)
        if reviewer.remarks() is None:
            return None
        return write_converging(lambda: self._attempt(reviewer), self.sleep)

    def _resolve(self, report: Report) -> None:
        """Resolve our threads on findings that are dismissed, or fixed for their judge."""
        if self.threads is None:
            return
        there = {one.check.fingerprint for one in findings(report.verdict)}
        dismissed = {one.finding for one in report.dismissals}
        judged, account = judged_seats(report.verdict), ""
        try:
            for thread in self.threads.unresolved():
                values = markers(thread.body) or {}
                finding = values.get("finding")
                fixed = finding not in there and judged.get(values.get("seat", ""))
                if not (finding and (fixed or finding in dismissed)) or values.get("id") != self.id:
                    continue
                account = account or self.reviews.author()
                if thread.author == account:
                    self.threads.resolve(thread.id)
        except PublishError as error:
            self.notes.append(
                f"Threads of findings that are gone stay open (`contents: write`): {error}"
            )

    def _attempt(self, reviewer: Reviewer, *, inline: bool = True) -> str | None:
        head = reviewer.report.pull.head.sha
        found: set[str] = set()
        bodies, remarks = self.reviews.bodies(), self.reviews.remarks()
        for said, values in self._ours([*bodies, *remarks]):
            if values.get("head") == head:
                return said.url
            found |= {values["finding"]} if "finding" in values else set()
            found |= set(values.get("told", "").split(","))
        new = reviewer.remarks(found) if inline else reviewer.remarks(found, most=0)
        return self._post(head, new, reviewer) if new else None

    def _ours(self, every: Sequence[PostedText]) -> list[tuple[PostedText, dict[str, str]]]:
        marked = [(said, values) for said in every if (values := markers(said.body))]
        named = [(said, values) for said, values in marked if values.get("id") == self.id]
        author = self.reviews.author() if named else ""
        return [(said, values) for said, values in named if said.author == author]

    def _post(self, head: str, new: Remarks, reviewer: Reviewer) -> str | None:
        try:
            with written_once():
                return self.reviews.create(head, new.body, new.inline).url
        except PublishError as error:
            if error.reason != "refused" or not new.inline:
                raise
        # GitHub refuses a review as a whole where it does not know one of its lines.
        return self._attempt(reviewer, inline=False)
