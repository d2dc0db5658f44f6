"""What each command does, and what is said to it.

Every word of a command, of a report and of a branch goes through the sanitiser before it is posted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from prjury.action.backporting import open_backports
from prjury.action.commanded import keep_override
from prjury.action.commands import COMMANDS, LONGEST_REASON, CommandName, CommentCommand
from prjury.action.job import Job
from prjury.action.job_artifacts import kept_report
from prjury.action.override import last_verdict, publish_again
from prjury.app.stages.evidence import NoEvidence
from prjury.app.steps import accepted_override
from prjury.github.client import GitHub
from prjury.github.comments import PostedComment
from prjury.github.event import Event, EventKind
from prjury.github.payload import CommentFacts, PullFacts
from prjury.github.workflow_runs import PostedRun, WorkflowRuns
from prjury.report.codec import verdict_from_report
from prjury.report.continuity import ToldVerdict, dismissed_words
from prjury.report.findings import Finding, findings, how_to, rules_of
from prjury.report.model import NO_REPAIR, OVERRIDE_COMMAND, Override
from prjury.report.redact import Redact
from prjury.report.sanitise import block, clean, inline_code, plain, prose
from prjury.report.wording import counted

#: Places of one finding that are listed.
_MOST_PLACES = 20


def explain_findings(report: Mapping[str, Any], prints: Collection[str], redact: Redact) -> str:
    """The findings with these fingerprints; an empty text where the report has none of them.

    Args:
        report: a JSON report.
    """
    found = findings(verdict_from_report(report))
    meant = [one for one in found if one.check.fingerprint in prints]
    return "\n\n".join(_paragraphs(meant, redact)) if meant else ""


def _paragraphs(meant: list[Finding], redact: Redact) -> Iterator[str]:
    first, check = meant[0], meant[0].check
    name = plain(check.name, 200, redact)
    judge = f"{first.voice.attempt.name} / {first.voice.ballot.judge}"
    message = f": {prose(check.message, 1_500, redact)}" if check.message.strip() else ""
    yield f"**{name}** ({plain(judge, 200, redact)}){message}"
    places = [one.check.location for one in meant if one.check.location]
    if places:
        listed = [f"* {inline_code(str(at), 300, redact)}" for at in places[:_MOST_PLACES]]
        more = len(places) - len(listed)
        yield "\n".join([*listed, *([f"* … and {counted(more, 'more place')}"] if more else [])])
    if check.evidence:
        yield block(check.evidence, 3_000, redact)
    if check.fix:
        yield "What would make it pass:"
        yield block(check.fix, 3_000, redact)
    rules = rules_of(meant)
    for rule in rules:
        yield prose(rule.words, 2_000, redact)
    if rules:
        yield prose(how_to(rules), 600, redact)


#: The files of the workflows that judge pull requests, where they bear the names of ours.
_OURS = ("prjury.yml", "prjury-build.yml")
_NOBODY = "The policy lets nobody overrule: `gate.override.label` is null."


class DeclinedError(Exception):
    """A command that is not carried out; carries what is said instead, in Markdown."""

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self.words = words


@dataclass(frozen=True, slots=True)
class CommandReply:
    """What is said to a command, in Markdown, and what the answer's hidden line holds."""

    words: str
    values: str = ""


@dataclass(frozen=True)
class Replies:
    """The replies to one comment.

    Attributes:
        said: the comment as it stands now.
        own: our own comments on the pull request, oldest first.
    """

    job: Job
    event: Event
    client: GitHub
    said: CommentFacts
    own: tuple[PostedComment, ...]

    def to(self, command: CommentCommand) -> CommandReply:
        """Carry a command out.

        Raises:
            DeclinedError: where it cannot be carried out as things stand.
            PrJuryError: where GitHub does not let it.
        """
        handlers: Mapping[CommandName, Callable[[CommentCommand], CommandReply]] = {
            "help": lambda _command: self.usage("Commands"),
            "review": lambda _command: self._review(),
            "rerun": lambda _command: self._rerun(),
            "explain": self._explain,
            "dismiss": self._dismiss,
            "override": self._override,
            "backport": self._backport,
            "fix": lambda _command: self._fix(),
        }
        if self.pull.closed and command.name not in {"help", "explain", "backport"}:
            raise DeclinedError("The pull request is closed.")
        return handlers[command.name](command)

    def usage(self, title: str) -> CommandReply:
        """Every command with what it does."""
        lines = "\n".join(f"* `{words}`: {does}" for words, does in COMMANDS)
        about = (
            "The first line of a new comment is the command, exactly as it stands here; a reason "
            f"has at most {LONGEST_REASON} characters. Commands count from "
            "everybody who may write to the repository."
        )
        return CommandReply(f"**{title}**\n\n{lines}\n\n{about}")

    @cached_property
    def pull(self) -> PullFacts:
        """The pull request as it is now."""
        return self.client.pull(self.event.repo, self.event.number or 0)

    @property
    def _head(self) -> str:
        return self.pull.head.sha or ""

    @cached_property
    def _told(self) -> ToldVerdict:
        """The verdict that the command is about: on this head, and there when it was written."""
        found = [(one, reported) for one in self.own if (reported := ToldVerdict.of(one.body))]
        if not found:
            raise DeclinedError(
                "There is no comment with a verdict here to which this could refer "
                "(`publish: {comment: true}`)."
            )
        posted, reported = found[-1]
        if reported.head != self._head:
            raise DeclinedError(
                f"The last verdict is about `{reported.head[:12]}`, and the head is "
                f"`{self._head[:12]}` now. Wait for its verdict, read it, and write this again."
            )
        if posted.updated >= self.said.created:
            raise DeclinedError(
                "The verdict was written or changed after this command. Read it, and write the "
                "command again if it still holds."
            )
        return reported

    @cached_property
    def _report(self) -> dict[str, Any] | None:
        """The report behind the last verdict, as its run has kept it; None where it is gone."""
        run = self._told.run
        return kept_report(self.client, self.event.repo, run) if run else None

    def _group(self, number: int) -> tuple[str, ...]:
        groups = self._told.groups
        if number > len(groups):
            there = f"the last is {len(groups)}" if groups else "there are none"
            raise DeclinedError(f"There is no finding with the number {number}; {there}.")
        return groups[number - 1]

    def _explain(self, command: CommentCommand) -> CommandReply:
        group, report = self._group(command.number), self._report
        reported = explain_findings(report, group, self.job.log.redact) if report else ""
        if not reported:
            raise DeclinedError(
                "The report of that run is not there any more. `/prjury review` makes a new one."
            )
        return CommandReply(f"**{command.number}.** {reported}")

    def _dismiss(self, command: CommentCommand) -> CommandReply:
        group, redact = self._group(command.number), self.job.log.redact
        reason = " ".join(clean(command.words, LONGEST_REASON, redact).split())
        count = f" ({len(group)} places)" if len(group) > 1 else ""
        words = (
            f"Finding {command.number}{count} of the verdict on `{self._head[:12]}` is dismissed "
            f"by {plain(self.said.author)}: {plain(reason, None)}\n\n"
            "It stays dismissed until its content changes; the next report says so. Verdict and "
            "gate stay as they are: `/prjury override REASON` opens the gate. Who deletes this "
            "answer takes the dismissal back."
        )
        return CommandReply(words, dismissed_words(group, self._head, self.said.author, reason))

    def _override(self, command: CommentCommand) -> CommandReply:
        _ = self._told  # refuses what is not about the verdict that can have been seen
        label = ((self._report or {}).get("policy", {}).get("resolved", {}).get("gate", {})).get(
            "override", {"label": ""}
        )
        if label.get("label") is None:
            raise DeclinedError(_NOBODY)
        event = replace(self.event, kind=EventKind.PULL_REQUEST_TARGET, pull=self.pull)
        last = last_verdict(self.client, event)
        given: Override | None = Override(OVERRIDE_COMMAND, self.said.author, command.words)
        if last and not isinstance(last.evidence, NoEvidence):
            given = accepted_override(given, last.evidence.policy.config)
        if given is None:
            raise DeclinedError(_NOBODY)
        self._keep()
        if last is None:
            run = self._again(self._run_of(self._told.run), only_failed=False)
            after = f"{run} It opens the gate when it has ended."
        else:
            inputs = replace(self.job.inputs, mode="publish")
            ended = publish_again(replace(self.job, inputs=inputs), event, last, given)
            after = ended.complaint or "The verdict is published again, with the gate open."
        return CommandReply(
            f"Overridden for `{self._head[:12]}` only, by {plain(self.said.author)}: "
            f"{plain(command.words, LONGEST_REASON, self.job.log.redact)}\n\n{after} Who deletes "
            "or edits the command takes the word back for later runs."
        )

    def _keep(self) -> None:
        url = f"{self.event.server_url}/{self.event.repo}/pull/{self.event.number}"
        place = f"{url}#issuecomment-{self.said.id}"
        keep_override(self.client, self.event.repo, self._head, self.said, place)

    def _review(self) -> CommandReply:
        found = self._runs.of_head(self._head)
        ours = (run for run in found if PurePosixPath(run.path).name in _OURS)
        named = [run for run in ours if not run.is_idle]
        run = named[0] if named else self._run_of(self._newest)
        return CommandReply(self._again(run, only_failed=False))

    def _rerun(self) -> CommandReply:
        run = self._run_of(self._newest)
        if run is None:
            return self._review()
        if run.conclusion == "success":
            raise DeclinedError(
                f"Nothing failed in [the last run](<{run.url}>). `/prjury review` judges anew."
            )
        return CommandReply(self._again(run, only_failed=True))

    @property
    def _newest(self) -> int | None:
        """The run that has published the last verdict, if that is on this head."""
        every = [reported for one in self.own if (reported := ToldVerdict.of(one.body))]
        return every[-1].run if every and every[-1].head == self._head else None

    @property
    def _runs(self) -> WorkflowRuns:
        return WorkflowRuns(self.client, self.event.repo)

    def _run_of(self, number: int | None) -> PostedRun | None:
        return self._runs.one(number) if number else None

    def _again(self, run: PostedRun | None, *, only_failed: bool) -> str:
        """One sentence on the run, which is started again unless it runs."""
        head = f"`{self._head[:12]}`"
        if run is None:
            raise DeclinedError(
                f"There is no run for {head} that could be started again. Push, or close and "
                "reopen the pull request."
            )
        if not run.conclusion:
            return f"[The run](<{run.url}>) for {head} is not at its end yet; its verdict follows."
        self._runs.again(run.id, only_failed=only_failed)
        return f"[The run](<{run.url}>) for {head} is started again."

    def _backport(self, command: CommentCommand) -> CommandReply:
        if not self.pull.merged:
            raise DeclinedError("Backports are opened once the pull request is merged.")
        event = replace(self.event, kind=EventKind.PULL_REQUEST_TARGET, pull=self.pull)
        opened = open_backports(self.job, event, self.client, (command.words,))
        if isinstance(opened, str):
            raise DeclinedError(plain(opened, 600, self.job.log.redact))
        if not opened.lines:
            branch = inline_code(command.words)
            raise DeclinedError(f"Nothing was opened: {branch} does not suit, by its verdict.")
        words = "\n".join(opened.lines)
        if opened.complaints:
            raise DeclinedError(words)
        return CommandReply(words)

    def _fix(self) -> CommandReply:
        """A repair is part of a review in one job, by whose rights and secrets it runs again."""
        report = self._report or {}
        resolved = report.get("policy", {}).get("resolved", {})
        if not resolved.get("fix", {}).get("enabled"):
            raise DeclinedError("It is not enabled: the policy says `fix: {enabled: false}`.")
        if NO_REPAIR in report.get("notes", ()):
            raise DeclinedError(
                "This pull request is judged in four jobs, none of which has both its tree and an "
                "agent's key. Run `prjury review` on a machine of yours."
            )
        if (report.get("recovery") or {}).get("outcome") == "recovered":
            raise DeclinedError("The report of the last verdict brings a patch already.")
        return CommandReply(f"{self._review().words} It tries the repair if the build fails anew.")
