"""The mode ``comment``: commands in comments, each answered once, by a reaction and a comment.

A command counts as it was written by a person who may write, about the verdict that this person
can have seen: whatever was edited, pushed or judged since is refused. The answer is found again by
the number of the command's comment, so that a second run of the job changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from prjury.action.command_replies import CommandReply, DeclinedError, Replies
from prjury.action.commanded import is_word_of_a_writer
from prjury.action.commands import is_command, read_command
from prjury.action.job import Job, JobResult
from prjury.errors import ExitCode, PrJuryError, UsageError
from prjury.github.client import GitHub
from prjury.github.comments import Comments, PostedComment, Reaction
from prjury.github.event import Event, EventKind, read_event
from prjury.github.payload import CommentFacts
from prjury.publishers.comment import Marker, StickyComment
from prjury.report.sanitise import inline_code, plain

#: Characters of a command that its answer repeats.
_REPEATED = 120


def comment(job: Job) -> JobResult:
    """Answer the comment that the event tells of, if it is a command.

    Raises:
        UsageError: for an event of another kind, or without a token.
        SourceError: when GitHub cannot be asked.
        PublishError: when the answer cannot be written.
    """
    event = read_event(job.environ)
    if event.kind is not EventKind.ISSUE_COMMENT or not job.inputs.github_token:
        raise UsageError(
            f"The mode {job.inputs.mode} takes a token and runs on issue_comment alone",
            remedy="Use the workflow that `prjury init --commands` writes",
        )
    said = event.comment
    if event.action != "created" or said is None or not is_command(said.body):
        return job.nothing("Nothing to do: this is no new comment that begins with /prjury.")
    if said.by_program:
        return job.nothing("Nothing to do: a program has written it, and only people are heard.")
    with job.dependencies.connect(event, job.inputs) as client:
        return _Conversation(job, event, client, said).answer()


@dataclass
class _Conversation:
    """One command and its answer."""

    job: Job
    event: Event
    client: GitHub
    said: CommentFacts
    failed: PrJuryError | None = field(default=None, init=False)

    def answer(self) -> JobResult:
        """Do what the command asks for, unless it does not count or was answered before."""
        room = Comments(self.client, self.event.repo, self.event.number or 0)
        now = room.one(self.said.id)
        if now is None or now.edited or now.body != self.said.body:
            return self.job.nothing("Nothing to do: the comment was deleted or edited meanwhile.")
        if not is_word_of_a_writer(self.client, self.event.repo, now):
            room.react(now.id, "-1")
            return self.job.nothing("Refused: who has written it may not write to the repository.")
        mark, account = f"answer.{now.id}", room.author()
        own = [one for one in room.comments() if one.author == account]
        if any(_id(one) == mark for one in own):
            return self.job.nothing("Nothing to do: this comment is answered already.")
        reply, reaction = self._reply(now, own)
        room.react(now.id, reaction)
        first = now.body.partition("\n")[0].removesuffix("\r")
        repeated = inline_code(first, _REPEATED, self.job.log.redact)
        marker = f"<!-- prjury:v1 id={mark}{' ' if reply.values else ''}{reply.values} -->"
        body = f"{marker}\n{repeated}\n\n{reply.words}\n"
        StickyComment(room, id=mark, sleep=self.client.sleep).write(body)
        self.job.log.say(f"Answered: {reaction}")
        return JobResult(
            self.failed.exit_code if self.failed else ExitCode.OPEN,
            str(self.failed) if self.failed else None,
        )

    def _reply(self, now: CommentFacts, own: list[PostedComment]) -> tuple[CommandReply, Reaction]:
        command = read_command(now.body)
        replies = Replies(self.job, self.event, self.client, now, tuple(own))
        if command is None:
            return replies.usage("This is not a command"), "confused"
        try:
            return replies.to(command), "+1"
        except DeclinedError as declined:
            return CommandReply(declined.words), "-1"
        except PrJuryError as error:
            self.failed = error
            why = plain(str(error), 600, self.job.log.redact)
            return CommandReply(f"It did not work. {why}"), "-1"


def _id(posted: PostedComment) -> str:
    marker = Marker.of(posted.body)
    return marker.id if marker else ""
