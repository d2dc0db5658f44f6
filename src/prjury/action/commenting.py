"""The mode ``comment``: commands in comments, each carried out and answered once.

A command counts as it was written by a person who may write, about the verdict that this person
can have seen: whatever was edited, pushed or judged since is refused. The pull request's author may
ask for a review. Our own answer or reaction shows that a comment is answered, so that a second run
of the job changes nothing. A thread shows one answer, the last; what dismisses a finding stays.
Every word of a command, of a report and of a branch goes through the sanitiser before it is posted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePosixPath

from msgspec import Struct

from prjury.action.backporting import judge_and_open_backports
from prjury.action.history import (
    COMMANDS,
    FIX,
    LONGEST_REASON,
    OVERRIDE,
    CommandName,
    CommentCommand,
    PullHistory,
    first_line,
    is_command,
    parse_command_or_why,
)
from prjury.action.job import Job, JobResult
from prjury.app.replay import is_dismissible
from prjury.errors import ExitCode, PrJuryError, PublishError
from prjury.github.client import GitHub
from prjury.github.event import Event, EventKind
from prjury.github.payload import CommentFacts, PullFacts
from prjury.github.posts import delete_comment, has_own_reaction, post_comment, react, set_status
from prjury.github.workflow_runs import WorkflowRun, fetch_workflow_run, list_runs, rerun_if_ended
from prjury.report.codec import ReportJson, verdict_from_report
from prjury.report.continuity import PastVerdict, write_dismissal
from prjury.report.findings import findings
from prjury.report.model import NO_REPAIR
from prjury.report.sanitise import clean, inline_code, plain

#: Characters of a command that its answer repeats.
_REPEATED = 120
#: Commands before it that an answer names as answered, for their own answers are deleted.
_REMEMBERED = 200


def answer_comment(job: Job) -> JobResult:
    remedy = "Use the workflow that `prjury init` writes"
    event = job.require_event_and_token(EventKind.ISSUE_COMMENT, remedy=remedy)
    written = event.comment
    if event.action != "created" or written is None or not is_command(written.body):
        return job.end_idle("Nothing to do: this is no new comment that begins with /prjury.")
    if written.by_program:
        return job.end_idle("Nothing to do: a program has written it, and only people are heard.")
    with job.dependencies.connect(event, job.inputs) as client:
        history = PullHistory(client, event.repo, event.number or 0)
        now = history.comments.get(written.id)
        if now is None or now.edited or now.body != written.body:
            return job.end_idle("Nothing to do: the comment was deleted or edited meanwhile.")
        return _answer_command(Replies(job, event, client, now, history))


def _answer_command(replies: Replies) -> JobResult:
    """Do what the command asks for, unless it does not count or was answered before."""
    job, now, history = replies.job, replies.comment, replies.history
    command = parse_command_or_why(now.body)
    if not replies.may_ask(command):
        react(history.room, now.id, "-1")
        return job.end_idle("Refused: who has written it may not write to the repository.")
    answered = history.answered_comment_ids
    if str(now.id) in answered or (now.reactions != 0 and has_own_reaction(history.room, now.id)):
        return job.end_idle(
            "Nothing to do: this command was answered already, and its answer may be deleted by "
            "now. To have it carried out once more, write it again."
        )
    failure = None
    try:
        reply = replies.carry_out(command)
    except DeclinedError as declined:
        reply = CommandReply(str(declined))
    except PrJuryError as error:
        failure, reply = error, CommandReply(plain(str(error), 600, job.log.redact))
    if reply.words:
        repeated = inline_code(first_line(now.body), _REPEATED, job.log.redact)
        after = f"after={'.'.join(answered[-_REMEMBERED:])}" if answered else ""
        values = " ".join(filter(None, [f"id=answer.{now.id}", after, reply.values]))
        body = f"<!-- prjury:v1 {values} -->\n{repeated}\n\n{reply.words}\n"
        post_comment(history.room, history.number, body)
        for earlier in history.passing_answers:
            delete_comment(history.room, earlier.id)
    else:
        react(history.room, now.id, "rocket")
    job.log.say("Answered.")
    return JobResult(failure.exit_code, str(failure)) if failure else JobResult(ExitCode.OPEN)


#: The files of the workflows that judge pull requests, as `prjury init` writes them.
_ALONE, _BUILD = "prjury.yml", "prjury-build.yml"


class DeclinedError(Exception):
    """A command that is not carried out; its text is what is said instead, in Markdown."""


class CommandReply(Struct, frozen=True):
    """An answer in Markdown, and what its hidden line holds; empty where a run was started."""

    words: str = ""
    values: str = ""


@dataclass(frozen=True)
class Replies:
    """The replies to one comment."""

    job: Job
    event: Event
    client: GitHub
    comment: CommentFacts
    history: PullHistory

    def may_ask(self, command: CommentCommand | str) -> bool:
        """Tell whether the author may write, or may ask for this review of an own change."""
        if self.history.is_from_writer(self.comment):
            return True
        asks_review = isinstance(command, CommentCommand) and command.name == "review"
        author = (self.pull.author or "").casefold() if asks_review else ""
        return bool(author) and self.comment.author.casefold() == author

    def carry_out(self, command: CommentCommand | str) -> CommandReply:
        if isinstance(command, str):
            words = CommandReply(command)
            return words if command else self._reply_with_commands("This is not a command")
        handlers: Mapping[CommandName, Callable[[CommentCommand], CommandReply]] = {
            "help": lambda _command: self._reply_with_commands("Commands"),
            "review": lambda _command: self._review(),
            "fix": lambda _command: self._record_fix_request_and_review(),
            "override": lambda _command: self._record_override_and_rerun(),
            "dismiss": self._dismiss_finding_and_rerun,
            "backport": self._open_backport_pull,
        }
        if command.name not in {"help", "backport"} and self.pull.closed:
            raise DeclinedError("The pull request is closed.")
        return handlers[command.name](command)

    def _reply_with_commands(self, title: str) -> CommandReply:
        lines = "\n".join(f"* `{words}`: {does}" for words, does in COMMANDS.values())
        about = (
            "The first line of a new comment is the command, exactly as it stands here; a reason "
            f"has at most {LONGEST_REASON} characters. Commands count from "
            "everybody who may write to the repository."
        )
        return CommandReply(f"**{title}**\n\n{lines}\n\n{about}")

    @cached_property
    def pull(self) -> PullFacts:
        return self.client.pull(self.event.repo, self.event.number or 0)

    @property
    def _head(self) -> str:
        return self.pull.head.sha or ""

    @cached_property
    def _verdict_on_head(self) -> PastVerdict:
        """The verdict that the command is about: on this head, and there when it was written."""
        if not self.history.verdicts:
            raise DeclinedError(
                "There is no comment with a verdict here to which this could refer "
                "(`publish: {comment: true}`)."
            )
        posted, verdict = self.history.verdicts[-1]
        if verdict.head != self._head:
            raise DeclinedError(
                f"The last verdict is about `{verdict.head[:12]}`, and the head is "
                f"`{self._head[:12]}` now. Wait for its verdict, read it, and write this again."
            )
        if posted.updated >= self.comment.created:
            raise DeclinedError(
                "The verdict was written or changed after this command. Read it, and write the "
                "command again if it still holds."
            )
        return verdict

    @cached_property
    def _report(self) -> ReportJson | None:
        run = self._verdict_on_head.run
        return self.history.read_report(run) if run else None

    def _review(self) -> CommandReply:
        self._require_run_and_rerun_if_ended(self._find_judging_run())
        return CommandReply()

    def _record_fix_request_and_review(self) -> CommandReply:
        """Ask for the repair, which is part of a review in one job, by its rights and secrets."""
        report = self._report
        resolved = report.policy.resolved if report else {}
        if not resolved.get("fix", {}).get("enabled"):
            raise DeclinedError("It is not enabled: the policy says `fix: {enabled: false}`.")
        if report and NO_REPAIR in report.notes:
            raise DeclinedError(
                "This pull request is judged in four jobs, none of which has both its tree and an "
                "agent's key. Run `prjury review` on a machine of yours."
            )
        if report and report.recovery and report.recovery.outcome == "recovered":
            raise DeclinedError("The report of the last verdict brings a patch already.")
        self._record_command_as_status(FIX)
        return self._review()

    def _record_override_and_rerun(self) -> CommandReply:
        run = self._run_of(self._verdict_on_head.run)
        self._record_command_as_status(OVERRIDE)
        try:
            self._require_run_and_rerun_if_ended(run)
        except PublishError as error:
            why = plain(error.why or error.what, 300, self.job.log.redact)
            remedy = plain(error.remedy, 300, self.job.log.redact)
            raise DeclinedError(
                f"The override of `{self._head[:12]}` is kept and counts when this head is judged "
                f"next, but the gate is as it was: the run could not be started again ({why}). "
                f"{remedy.rstrip('.')}."
            ) from error
        return CommandReply()

    def _dismiss_finding_and_rerun(self, command: CommentCommand) -> CommandReply:
        group, redact = self._find_group(command.number), self.job.log.redact
        self._refuse_undismissible(command.number, group)
        reason = " ".join(clean(command.words, LONGEST_REASON, redact).split())
        count = f" ({len(group)} places)" if len(group) > 1 else ""
        try:
            self._require_run_and_rerun_if_ended(self._find_judging_run())
            after = "The change is judged again without it"
        except PublishError as error:
            why = plain(error.why or error.what, 300, redact)
            after = f"It counts at the next run; this one could not be started again ({why})"
        words = (
            f"Finding {command.number}{count} is dismissed until its content changes: "
            f"{plain(reason, None)}\n\n{after}. Who deletes the command takes the dismissal back."
        )
        return CommandReply(words, write_dismissal(group, self._head, self.comment.author, reason))

    def _find_group(self, number: int) -> tuple[str, ...]:
        groups = self._verdict_on_head.groups
        if number > len(groups):
            range_text = f"the last is {len(groups)}" if groups else "there are none"
            raise DeclinedError(f"There is no finding with the number {number}; {range_text}.")
        return groups[number - 1]

    def _refuse_undismissible(self, number: int, fingerprints: tuple[str, ...]) -> None:
        if self._report is None:
            raise DeclinedError(
                "The report of that run is not there any more. `/prjury review` makes a new one."
            )
        for finding in findings(verdict_from_report(self._report)):
            ballot = finding.voice.ballot
            is_meant = finding.check.fingerprint in fingerprints
            if is_meant and not is_dismissible(ballot.judge, ballot.type):
                raise DeclinedError(
                    f"Finding {number} is of {inline_code(ballot.judge)}, which has proved it; it "
                    "cannot be dismissed. `/prjury override REASON` opens the gate all the same."
                )

    def _open_backport_pull(self, command: CommentCommand) -> CommandReply:
        if not self.pull.merged:
            raise DeclinedError("Backports are opened once the pull request is merged.")
        event = replace(self.event, kind=EventKind.PULL_REQUEST_TARGET, pull=self.pull)
        opened = judge_and_open_backports(self.job, event, self.client, (command.words,))
        if isinstance(opened, str):
            raise DeclinedError(plain(opened, 600, self.job.log.redact))
        if not opened.lines:
            branch = inline_code(command.words)
            raise DeclinedError(f"Nothing was opened: {branch} does not suit, by its verdict.")
        words = "\n".join(opened.lines)
        if opened.complaints:
            raise DeclinedError(words)
        return CommandReply(words)

    def _record_command_as_status(self, context: str) -> None:
        """Leave what the comment asks for on the head; once more is the same as once."""
        pull = f"{self.event.server_url}/{self.event.repo}/pull/{self.event.number}"
        does = "overrides the verdict on" if context == OVERRIDE else "asks for a repair of"
        set_status(
            self.history.room,
            self._head,
            context,
            state="success",
            description=f"@{self.comment.author} {does} this commit",
            target_url=f"{pull}#issuecomment-{self.comment.id}",
        )

    def _run_of(self, number: int | None) -> WorkflowRun | None:
        return fetch_workflow_run(self.history.room, number) if number else None

    def _find_judging_run(self) -> WorkflowRun | None:
        runs = list_runs(self.history.room, self._head)
        own_runs = [run for run in runs if PurePosixPath(run.path).name in {_ALONE, _BUILD}]
        own_runs = [run for run in own_runs if run.conclusion != "skipped"]
        last = self.history.verdicts[-1][1] if self.history.verdicts else None
        number = last.run if last and last.head == self._head else None
        if not own_runs:
            return self._run_of(number)
        for run in own_runs:
            if run.id == number:
                return run
        # Of `prjury.yml` the newest may be that of an edited title; the first has judged the head.
        return own_runs[-1] if PurePosixPath(own_runs[0].path).name == _ALONE else own_runs[0]

    def _require_run_and_rerun_if_ended(self, run: WorkflowRun | None) -> None:
        if run is None:
            raise DeclinedError(
                f"There is no run for `{self._head[:12]}` that could be started again. Push, or "
                "close and reopen the pull request."
            )
        if run.conclusion:
            rerun_if_ended(self.history.room, run.id)
