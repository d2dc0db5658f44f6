"""The mode ``comment``: commands in comments, each answered once.

A command counts as it was written by a person who may write, about the verdict that this person
can have seen: whatever was edited, pushed or judged since is refused. The pull request's author may
ask for a review. Our own answer or reaction shows that a comment is answered, so that a second run
of the job changes nothing. A thread shows one answer, the last; what dismisses a finding stays.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from prjury.action.command_replies import CommandReply, DeclinedError, Replies
from prjury.action.commands import CommentCommand, is_command, parse_command
from prjury.action.history import PullHistory
from prjury.action.job import Job, JobResult
from prjury.errors import ExitCode, PrJuryError, UsageError
from prjury.github.client import GitHub
from prjury.github.event import Event, EventKind, read_event
from prjury.github.payload import CommentFacts
from prjury.github.posts import delete_comment, has_reaction, post_comment, react
from prjury.report.sanitise import inline_code, plain

#: Characters of a command that its answer repeats.
_REPEATED = 120
#: Commands before it that an answer names as answered, for their own answers are deleted.
_REMEMBERED = 200


def comment(job: Job) -> JobResult:
    """Answer the comment that the event tells of, if it is a command."""
    event = read_event(job.environ)
    if event.kind is not EventKind.ISSUE_COMMENT or not job.inputs.github_token:
        raise UsageError(
            f"The mode {job.inputs.mode} takes a token and runs on issue_comment alone",
            remedy="Use the workflow that `prjury init` writes",
        )
    written = event.comment
    if event.action != "created" or written is None or not is_command(written.body):
        return job.end_idle("Nothing to do: this is no new comment that begins with /prjury.")
    if written.by_program:
        return job.end_idle("Nothing to do: a program has written it, and only people are heard.")
    with job.dependencies.connect(event, job.inputs) as client:
        return _Conversation(job, event, client, written).answer()


@dataclass
class _Conversation:
    """One command and its answer."""

    job: Job
    event: Event
    client: GitHub
    written: CommentFacts
    failed: PrJuryError | None = field(default=None, init=False)

    def answer(self) -> JobResult:
        """Do what the command asks for, unless it does not count or was answered before."""
        history = PullHistory(self.client, self.event.repo, self.event.number or 0)
        room, now = history.room, history.comments.get(self.written.id)
        if now is None or now.edited or now.body != self.written.body:
            return self.job.end_idle("Nothing to do: the comment was deleted or edited meanwhile.")
        replies = Replies(self.job, self.event, self.client, now, history)
        command = parse_command(now.body)
        if not self._may_ask(command, replies):
            react(room, now.id, "-1")
            return self.job.end_idle("Refused: who has written it may not write to the repository.")
        answered = history.answered
        if str(now.id) in answered or (now.reactions != 0 and has_reaction(room, now.id)):
            return self.job.end_idle(
                "Nothing to do: this command was answered already, and its answer may be deleted "
                "by now. To have it carried out once more, write it again."
            )
        reply = self._reply(command, replies)
        if reply.words:
            first = now.body.partition("\n")[0].removesuffix("\r")
            repeated = inline_code(first, _REPEATED, self.job.log.redact)
            after = f"after={'.'.join(answered[-_REMEMBERED:])}" if answered else ""
            values = " ".join(filter(None, [f"id=answer.{now.id}", after, reply.values]))
            body = f"<!-- prjury:v1 {values} -->\n{repeated}\n\n{reply.words}\n"
            post_comment(room, history.number, body)
            for earlier in history.passing_answers:
                delete_comment(room, earlier.id)
        else:
            react(room, now.id, "rocket")
        self.job.log.say("Answered.")
        return JobResult(
            self.failed.exit_code if self.failed else ExitCode.OPEN,
            str(self.failed) if self.failed else None,
        )

    def _may_ask(self, command: CommentCommand | str, replies: Replies) -> bool:
        if replies.history.is_from_writer(replies.comment):
            return True
        asks_review = isinstance(command, CommentCommand) and command.name == "review"
        author = (replies.pull.author or "").casefold() if asks_review else ""
        return bool(author) and replies.comment.author.casefold() == author

    def _reply(self, command: CommentCommand | str, replies: Replies) -> CommandReply:
        if command == "":
            return replies.list_commands("This is not a command")
        if isinstance(command, str):
            return CommandReply(command)
        try:
            return replies.carry_out(command)
        except DeclinedError as declined:
            return CommandReply(declined.words)
        except PrJuryError as error:
            self.failed = error
            return CommandReply(plain(str(error), 600, self.job.log.redact))
