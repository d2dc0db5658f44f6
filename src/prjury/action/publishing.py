"""Publish a report everywhere in a job; one target that fails does not stop the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import TracebackType
from typing import Any, Self

from msgspec import structs

from prjury.action.history import EarlierComments, PullHistory, StandingCommands, find_queued_number
from prjury.action.job import OUTPUTS, Job, JobResult, copy_logs
from prjury.errors import ExitCode, PrJuryError, PublishError
from prjury.github.client import GitHub
from prjury.github.event import Event
from prjury.github.payload import PullFacts
from prjury.policy.load import Policy
from prjury.publishers.check_run import CheckRunReport
from prjury.publishers.comment import StickyComment
from prjury.publishers.factory import PublisherFactory, Target
from prjury.publishers.files import add_markdown, append_outputs, list_outputs, write_atomically
from prjury.report.findings import seat_outcomes
from prjury.report.model import EarlierVotes, Report
from prjury.report.sanitise import plain


@dataclass
class Publication:
    """Everything that one job writes, in a fixed order, so that a second run comes to the same end.

    First the check is in progress. Then, when there is a report: files, summary, comment, review,
    labels, the check, the status where it is the gate, and the outputs. Left by an error, it ends
    what was begun as one that needs a human.
    """

    job: Job
    event: Event
    #: What the comment's marker says of the files that the report was made of.
    files: str = ""
    #: Whether a status is the gate though the mode is not ``publish``.
    by_status: bool = False
    past: PullHistory | None = None
    #: Whether the gate waits for this run; false once it is set, or has a newer head.
    gates: bool = True
    complaints: list[str] = field(default_factory=list)
    #: What must not be written: by this token (GitHub gives forks no better one), or because there
    #: is a newer head.
    notes: list[str] = field(default_factory=list)
    _hub: GitHub | None = None
    _check: CheckRunReport | None = None
    _withheld: dict[str, PublishError] = field(default_factory=dict)

    def __enter__(self) -> Self:
        if self.job.inputs.github_token:
            self._hub = self.job.dependencies.connect(self.event, self.job.inputs)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if error is not None and self.gates:
            stopped = "The job was stopped before there was a verdict. Run it again."
            self._abandon(str(error) if isinstance(error, PrJuryError) else stopped)
        if self._hub:
            self._hub.close()

    @property
    def client(self) -> GitHub:
        if self._hub is None:
            raise self.job.no_token
        return self._hub

    @cached_property
    def history(self) -> PullHistory | None:
        number = self.event.number or find_queued_number(self.event)
        if self.past or not (self._hub and number):
            return self.past
        return PullHistory(self._hub, self.event.repo, number)

    @cached_property
    def earlier(self) -> EarlierComments:
        earlier = self.history.read_earlier() if self.history else EarlierComments()
        if earlier.problem:
            self.job.log.say(earlier.problem)
        return earlier

    @cached_property
    def _queued(self) -> PullFacts | None:
        number = find_queued_number(self.event)
        return self.client.pull(self.event.repo, number) if self._hub and number else None

    def read_standing_commands(self) -> StandingCommands:
        """Read what maintainers have said of the head, or of the head that is in the queue."""
        of_head = self.event.of_pull_request or self.job.inputs.mode == "publish"
        commands = StandingCommands()
        try:
            head = (self._queued or self.event.pull).head.sha
            if self.history and head and (of_head or find_queued_number(self.event)):
                commands = self.history.read_standing_commands(head)
        except PrJuryError as error:
            self.job.log.say(f"Whether a comment overrides the verdict is not known: {error}")
        return structs.replace(commands, fix=commands.fix and of_head)

    def read_queued_votes(self) -> EarlierVotes | None:
        """Read the models' votes on the queued pull request; without them models are asked anew."""
        number = find_queued_number(self.event)
        if number is None or self.history is None:
            return None
        try:
            votes = self.history.read_votes(self._queued) if self._queued else None
        except PrJuryError as error:
            self.job.log.say(f"What was said of #{number} cannot be had: {error}")
            return None
        outcome = "is taken over if the change is the same" if votes else "was not kept"
        self.job.log.say(f"What was said of #{number} {outcome}.")
        return votes

    def begin(self, policy: Policy) -> None:
        posts = self._make_publisher_factory()
        self._check = posts.make_check(policy.resolved.get("publish", {})) if posts else None
        if self._check and (head := self.event.pull.head.sha):
            with suppress(PublishError):  # it is tried again with the verdict
                self._check.start(head, is_new=self.event.is_first_run)

    def set_gate(self, state: str, reason: str) -> None:
        """Set the status of the head, where it is the gate."""
        posts, head = self._make_publisher_factory(), self.event.pull.head.sha
        if posts and (status := posts.status()) and head:
            status.set(head, state, reason)

    def publish_and_end(self, report: Report) -> JobResult:
        # Where the status is the gate, a job that is green whatever comes changes nothing of it.
        if self.job.inputs.fail_on == "never" and self.job.inputs.mode == "review":
            headline = f"{report.headline} (not gating: fail-on is `never`)"
            report = replace(report, headline=headline)
        self.job.log.say(report.headline)
        self._publish_everywhere(self.earlier.add_history(report))
        for note in self.notes:
            self.job.log.say(note)
        code = report.gate.exit_code
        if self.complaints and code is ExitCode.OPEN:
            code = ExitCode.NOT_PUBLISHED
        return JobResult(code, " ".join(self.complaints) or None)

    def _publish_everywhere(self, report: Report) -> None:
        options = report.policy.resolved.get("publish", {})
        outputs = dict.fromkeys(OUTPUTS, "")
        self._write_files_logs_and_summary(report, options, outputs)
        if posts := self._make_publisher_factory():
            self._post_and_fill_outputs(posts, report, options, outputs)
        self._note_missing_permissions()
        with self.collect_errors():
            notes, summary = self.complaints + self.notes, self.job.places.summary
            if notes and summary:
                lines = "\n".join(f"* {plain(line, None, self.job.log.redact)}" for line in notes)
                add_markdown(summary, f"\n**Not published everywhere:**\n\n{lines}\n")
        with self.collect_errors():
            if file := self.job.places.outputs:
                own = {name: it for name, it in outputs.items() if it or name == "comment-url"}
                append_outputs(file, {**list_outputs(report), **own})

    def _write_files_logs_and_summary(
        self, report: Report, options: Mapping[str, Any], outputs: dict[str, str]
    ) -> None:
        renderer, places = self.job.dependencies.renderer, self.job.places
        files: list[tuple[str, str, Callable[[Report], str]]] = [
            ("report-json", "report.json", renderer.json),
            ("report-html", "report.html", renderer.html),
        ]
        if options.get("sarif"):
            files.append(("", "report.sarif", renderer.sarif))
        for output, file, render in files:
            with self.collect_errors():
                path = places.make_directory_and_path(file)
                write_atomically(path, render(report))
                outputs |= {output: str(path)} if output else {}
        with self.collect_errors():
            ballots = (voice.judgment for voice in seat_outcomes(report.verdict))
            logs = copy_logs(ballots, places, self.job.log.redact)
            outputs["build-log"] = str(logs[0]) if logs else ""
        with self.collect_errors():
            if places.summary and options.get("summary", True):
                add_markdown(places.summary, renderer.summary(report))

    def _post_and_fill_outputs(
        self,
        posts: PublisherFactory,
        report: Report,
        options: Mapping[str, Any],
        outputs: dict[str, str],
    ) -> None:
        with self._catch_and_note_publish_errors("comment"):
            if self.job.inputs.mode == "review":  # the others have just asked for the head
                posts.refuse_moved_or_closed_pull()
            for publisher in posts.make_pull_publishers(options):
                with self._catch_and_note_publish_errors(publisher.name):
                    address = publisher.publish(report) or ""
                    outputs |= {"comment-url": address} if publisher.name == "comment" else {}
                    self.notes += getattr(publisher, "notes", ())
                if isinstance(publisher, StickyComment) and publisher.outdated:
                    break
        if check := self._check or posts.make_check(options):
            with self._catch_and_note_publish_errors(check.name):
                check.publish(report)
            self.notes += check.notes
        if status := posts.status():
            with self.collect_errors():
                status.publish(report)
        self.gates = False

    def _abandon(self, reason: str) -> None:
        with suppress(PublishError):
            self.set_gate("error", reason)
        if self._check and (head := self.event.pull.head.sha):
            with suppress(PublishError):
                self._check.abandon(reason, head)

    def _make_publisher_factory(self) -> PublisherFactory | None:
        if self._hub is None:
            return None
        event, run, page = self.event, self.event.run, ""
        if run:
            page = f"{event.server_url}/{event.repo}/actions/runs/{run.id}/attempts/{run.attempt}"
        # A job that only publishes runs on the default branch, so its own success is no gate.
        by_status = self.by_status or self.job.inputs.mode == "publish"
        head = event.pull.head.sha if event.of_pull_request or by_status else None
        target = Target(
            event.repo, event.number, head, by_status, str(run) if run else None, page, self.files
        )
        # A review has read them before it built, and the mode conflicts before it merged.
        history = self.history if self.job.inputs.mode == "publish" else None
        seen = history.seen_comments if history else None
        renderer, redact = self.job.dependencies.renderer, self.job.log.redact
        return PublisherFactory(target, self._hub, renderer, redact, seen)

    @contextmanager
    def collect_errors(self) -> Iterator[None]:
        try:
            yield
        except PublishError as error:
            self.complaints.append(str(error))

    @contextmanager
    def _catch_and_note_publish_errors(self, name: str) -> Iterator[None]:
        try:
            yield
        except PublishError as error:
            if error.reason in {"permission", "forbidden"}:
                self._withheld[name] = error
            elif error.reason == "superseded":
                self.notes.append(str(error))
            else:
                self.complaints.append(str(error))

    def _note_missing_permissions(self) -> None:
        if not self._withheld:
            return
        errors = self._withheld.items()
        lacks = [f"the {what} ({e.remedy[:1].lower()}{e.remedy[1:]})" for what, e in errors]
        whys = dict.fromkeys(error.why for error in self._withheld.values())
        self.notes.append(
            f"Not written: {', '.join(lacks)}. {'. '.join(whys)}. The report is in "
            "the job summary and in the report files."
        )
