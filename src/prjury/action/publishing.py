"""Hangs a report up everywhere in a job, and goes on where one place fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

from prjury.action.inputs import OUTPUTS, Inputs
from prjury.action.places import Places
from prjury.action.wiring import Wiring
from prjury.errors import PublishError, SourceError
from prjury.publishers.comment import StickyComment
from prjury.publishers.files import ReportFile
from prjury.publishers.outputs import ActionOutputs, write_outputs
from prjury.publishers.summary import JobSummary, add_markdown
from prjury.report.model import Report
from prjury.report.redact import Redact, Redactor
from prjury.report.sanitise import plain
from prjury.sources.github.conversation import Conversation
from prjury.sources.github.event import Event
from prjury.sources.github.hub import GitHub
from prjury.sources.github.payload import PullFacts


class Published(NamedTuple):
    """What did not go everywhere, one line each.

    Attributes:
        complaints: what failed.
        notes: what must not be written: by this token (GitHub gives forks no better one), or
            because there is a newer head.
    """

    complaints: list[str]
    notes: list[str]


def publish(
    report: Report, event: Event, inputs: Inputs, wiring: Wiring, places: Places
) -> Published:
    """Writes files, summary, comment and outputs, in this order.

    The files come first, so that the verdict is on disk whatever becomes of the rest.
    """
    complaints: list[str] = []
    notes: list[str] = []
    seen: dict[str, str] = dict.fromkeys(OUTPUTS, "")
    collect = partial(_collected, complaints)
    for output, file, render in (
        ("report-json", "report.json", wiring.json),
        ("report-html", "report.html", wiring.html),
    ):
        with collect():
            path = places.report_file(file)
            seen[output] = ReportFile(path, render, output).publish(report) or ""
    with collect():
        _summarise(report, wiring.summary, places)
    with collect(), _noted(notes):
        seen["comment-url"] = _comment(report, event, inputs, wiring)
    with collect():
        _tell_complaints(complaints + notes, places, Redactor(inputs.secrets))
    with collect():
        if places.outputs:
            own = {name: value for name, value in seen.items() if value or name == "comment-url"}
            ActionOutputs(places.outputs, own).publish(report)
    return Published(complaints, notes)


def tell_outcome(places: Places, verdict: str, gate: str, line: str, redact: Redact) -> None:
    """Outputs and summary of a run without a report.

    Raises:
        PublishError: when the runner's files cannot be written.
    """
    if places.outputs:
        values = {
            "verdict": verdict,
            "gate": gate,
            "headline": " ".join(redact(line).split()),
            "backports": "{}",
        }
        write_outputs(places.outputs, {**dict.fromkeys(OUTPUTS, ""), **values})
    if places.summary:
        add_markdown(places.summary, f"**PR Jury:** {plain(line, None, redact)}\n")


@contextmanager
def _collected(complaints: list[str]) -> Iterator[None]:
    try:
        yield
    except PublishError as error:
        complaints.append(str(error))


@contextmanager
def _noted(notes: list[str]) -> Iterator[None]:
    """A comment that must not be written is no failure: the report is elsewhere as well."""
    try:
        yield
    except PublishError as error:
        if error.reason == "superseded":
            notes.append(str(error))
            return
        if error.reason != "permission":
            raise
        notes.append(
            "The comment was not written: the token lacks `pull-requests: write` "
            f"({error.why}). The report is in the job summary and in the report files."
        )


def _summarise(report: Report, render: Callable[[Report], str], places: Places) -> None:
    if places.summary and _wanted(report, "summary"):
        JobSummary(places.summary, render).publish(report)


def _comment(report: Report, event: Event, inputs: Inputs, wiring: Wiring) -> str:
    if not (inputs.github_token and event.number and _wanted(report, "comment")):
        return ""
    run = str(event.run) if event.run else None
    with wiring.connect(event, inputs) as hub:
        if event.of_pull_request:
            _refuse_old_head(hub, event.pull)
        conversation = Conversation(hub, event.repo, event.number)
        sticky = StickyComment(conversation, lambda report: wiring.comment(report, run))
        return sticky.publish(report) or ""


def _refuse_old_head(hub: GitHub, pull: PullFacts) -> None:
    """Raises PublishError where the pull request has moved on: its comment is about what is now."""
    try:
        told = hub.pull(pull.repo, pull.number or 0)
    except SourceError as error:
        raise PublishError(
            error.what, why=error.why, remedy=error.remedy, reason=error.reason
        ) from error
    if pull.head.sha not in {None, told.head.sha}:
        raise PublishError(
            "Superseded: the pull request has a newer head, so the comment was not written",
            reason="superseded",
        )


def _tell_complaints(complaints: list[str], places: Places, redact: Redact) -> None:
    if complaints and places.summary:
        lines = "\n".join(f"* {plain(complaint, None, redact)}" for complaint in complaints)
        add_markdown(places.summary, f"\n**Not published everywhere:**\n\n{lines}\n")


def _wanted(report: Report, place: str) -> bool:
    """Whether the policy in force wants the report there."""
    section = report.policy.resolved.get("publish", {})
    return bool(section.get(place, True))
