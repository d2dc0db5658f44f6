"""What is posted to GitHub about one head, and by whom; which of it, the policy says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from prjury.errors import PublishError, SourceError
from prjury.github.check_runs import CheckRuns
from prjury.github.client import GitHub
from prjury.github.comments import Comments
from prjury.github.labels import IssueLabels
from prjury.github.review_comments import Reviews
from prjury.github.statuses import Statuses
from prjury.jury.judgment import Status
from prjury.ports import Publisher
from prjury.publishers.check_run import CheckRunReport
from prjury.publishers.comment import StickyComment
from prjury.publishers.review import LineReview
from prjury.publishers.status import CommitStatus
from prjury.report.annotations import Annotations, annotate
from prjury.report.model import Report
from prjury.report.redact import Redact
from prjury.report.wording import counted

BACKPORT = "backport"

_SUITABLE = frozenset({"suitable", "suitable_with_changes"})
_BRANCH = "{branch}"
#: Characters that GitHub takes.
_LONGEST = 50


class LabelsPort(Protocol):
    """The labels of one pull request; every method raises PublishError."""

    def names(self) -> Sequence[str]:
        """The labels that are there."""
        ...

    def add(self, names: Sequence[str]) -> None:
        """Adds labels."""
        ...

    def remove(self, name: str) -> None:
        """Takes a label off; one that is not there is no failure."""
        ...


@dataclass
class Labels:
    """Gives a pull request the labels of its verdict and takes off those of another one.

    Labels that the mapping cannot produce are never touched.

    Attributes:
        mapping: labels by status; under ``backport`` a pattern with ``{branch}``. None for what
            the policy of the report says.
        notes: after `publish`, which labels could not be given.
    """

    labels: LabelsPort
    mapping: Mapping[str, str] | None = None
    name: str = "labels"
    notes: tuple[str, ...] = field(default=(), init=False)

    def publish(self, report: Report) -> str | None:
        """Adds and removes what differs, and asks for nothing where there is no mapping.

        Raises:
            PublishError: when it could not; reason ``"permission"`` for a read-only token.
        """
        mapping = labels_of(report) if self.mapping is None else self.mapping
        wanted, ours = _wanted(report, mapping), _producible(report, mapping)
        if not ours:
            return None
        there = list(self.labels.names())
        known = {name.casefold() for name in there}
        missing = [name for name in wanted if name.casefold() not in known]
        usable = [name for name in missing if _is_label(name)]
        if usable:
            self.labels.add(usable)
        keep = {name.casefold() for name in wanted}
        for name in there:
            if name.casefold() in ours and name.casefold() not in keep:
                self.labels.remove(name)
        left_out = len(missing) - len(usable)
        self.notes = (
            (f"Not given: {counted(left_out, 'label')} that GitHub does not take.",)
            if left_out
            else ()
        )
        return None


def labels_of(report: Report) -> Mapping[str, str]:
    """The mapping in the policy that the report was made with."""
    section = report.policy.resolved.get("publish")
    labels = section.get("labels") if isinstance(section, Mapping) else None
    return labels if isinstance(labels, Mapping) else {}


def _wanted(report: Report, mapping: Mapping[str, str]) -> list[str]:
    """The labels that this report asks for, each once; GitHub ignores upper and lower case."""
    status = mapping.get(report.verdict.status.value)
    names = [status] if status else []
    if pattern := mapping.get(BACKPORT):
        suits = [one.branch for one in report.backports if one.verdict in _SUITABLE]
        names += [pattern.replace(_BRANCH, branch) for branch in suits]
    return list({name.casefold(): name for name in reversed(names)}.values())[::-1]


def _producible(report: Report, mapping: Mapping[str, str]) -> frozenset[str]:
    """Every label that the mapping could ask for, with the branches of this report."""
    names = [mapping[status] for status in Status if status in mapping]
    if pattern := mapping.get(BACKPORT):
        names += [pattern.replace(_BRANCH, backport.branch) for backport in report.backports]
    return frozenset(name.casefold() for name in names)


def _is_label(name: str) -> bool:
    return len(name) <= _LONGEST and name.isprintable() and "," not in name


@dataclass(frozen=True)
class Target:
    """Where a report goes.

    Attributes:
        repo: ``owner/name``.
        number: the pull request; None for a comparison, which nobody can comment on.
        head_sha: the head on which checks hang; None where they would hang on something else.
        by_status: whether a commit status is the gate: where no job of the head itself is.
        run: the workflow run and its attempt (``5.1``), None outside of one.
        page: that run's page, or an empty text.
        files: what the comment's marker says of the files that the report was made of, if anything.
    """

    repo: str
    number: int | None = None
    head_sha: str | None = None
    by_status: bool = False
    run: str | None = None
    page: str = ""
    files: str = ""


@dataclass(frozen=True)
class Texts:
    """What posts say: the comment for a report and a run, and the check run's text."""

    comment: Callable[[Report, str | None], str]
    check: Callable[[Report], str]


@dataclass(frozen=True)
class PublisherFactory:
    """Makes the publishers of one target.

    Attributes:
        hub: a connection with the token that may write.
    """

    target: Target
    hub: GitHub
    words: Texts
    redact: Redact

    def check(self, wanted: Mapping[str, Any]) -> CheckRunReport | None:
        """The check run, where there is a head to hang it on and the policy wants it."""
        target = self.target
        if not (target.head_sha and wanted.get("check", True)):
            return None
        return CheckRunReport(
            CheckRuns(self.hub, target.repo),
            target.number,
            self.words.check,
            self._annotated if wanted.get("annotations", True) else _no_annotations,
            target.page,
            redact=self.redact,
            sleep=self.hub.sleep,
        )

    def _annotated(self, report: Report) -> Annotations:
        return annotate(report, self.redact)

    def status(self) -> CommitStatus | None:
        """The commit status, where that is the gate."""
        if not (self.target.by_status and self.target.head_sha):
            return None
        statuses = Statuses(self.hub, self.target.repo)
        return CommitStatus(statuses, self.target.page, redact=self.redact, sleep=self.hub.sleep)

    def of_pull_request(self, wanted: Mapping[str, Any]) -> Iterator[tuple[str, Publisher]]:
        """What is posted to the pull request itself, each with the output that it fills, if any."""
        target = self.target
        if not target.number:
            return
        if wanted.get("comment", True):
            conversation = Comments(self.hub, target.repo, target.number)

            def render(report: Report) -> str:
                said = self.words.comment(report, target.run)
                more = f" files={target.files} -->" if target.files else " -->"
                return said.replace(" -->", more, 1)

            yield "comment-url", StickyComment(conversation, render, sleep=self.hub.sleep)
        if wanted.get("review"):
            reviews = Reviews(self.hub, target.repo, target.number)
            yield "", LineReview(reviews, target.run, redact=self.redact, sleep=self.hub.sleep)
        if labels := wanted.get("labels"):
            port = IssueLabels(self.hub, target.repo, target.number)
            yield "", Labels(port, labels)

    def refuse_old_head(self) -> None:
        """Raises PublishError where the pull request has moved on: what is posted is about now."""
        target = self.target
        if not (target.head_sha and target.number):
            return
        try:
            told = self.hub.pull(target.repo, target.number)
        except SourceError as error:
            raise error.told_as(PublishError) from error
        if told.closed or target.head_sha != told.head.sha:
            now = "is closed" if told.closed else "has a newer head"
            raise PublishError(
                f"Superseded: the pull request {now}, so nothing was posted to it",
                reason="superseded",
            )


def _no_annotations(_report: Report) -> Annotations:
    return Annotations(())
