"""What was said on a pull request: commands of people, our own comments, and what runs have kept.

What people said counts only while it stands: whenever somebody judges, their comment is read again
and their right to write asked for anew. A comment of our account may repeat a stranger's words, so
a dismissal counts only by the command that it answers. A command takes a number, a branch or words
for people; no word of one ever becomes part of a script, a workflow or an address.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct

from prjury.errors import CannotJudgeError, PrJuryError
from prjury.github.artifacts import extract_file, fetch_artifact
from prjury.github.client import GitHub
from prjury.github.event import Event, EventKind
from prjury.github.payload import CommentFacts, PullFacts
from prjury.github.posts import list_statuses, read_comments
from prjury.github.repo_client import RepoClient, login_of
from prjury.github.workflow_runs import list_runs
from prjury.publishers.comment import Marker
from prjury.publishers.races import find_run
from prjury.publishers.status import CONTEXT
from prjury.report.annotations import read_markers
from prjury.report.codec import ReportJson, read_form, read_model_votes
from prjury.report.continuity import PastVerdict, compare_findings, read_dismissals
from prjury.report.findings import findings
from prjury.report.model import Dismissal, EarlierVotes, Override, Report
from prjury.report.sanitise import bare

if TYPE_CHECKING:
    from prjury.github.posts import PostedStatus

CommandName: TypeAlias = Literal["help", "review", "fix", "override", "dismiss", "backport"]

#: What there is to write, and what it does, for people.
COMMANDS: Mapping[CommandName, tuple[str, str]] = {
    "help": ("/prjury help", "shows this list"),
    "review": ("/prjury review", "builds and judges this head again; the author may, too"),
    "fix": ("/prjury fix", "judges again and tries the repair of the policy"),
    "override": (
        "/prjury override REASON",
        "opens the gate for this head, whatever the verdict says",
    ),
    "dismiss": (
        "/prjury dismiss N REASON",
        "finding N of patterns or models no longer closes the gate, until its content changes",
    ),
    "backport": (
        "/prjury backport BRANCH",
        "opens a pull request onto a release branch, after the merge",
    ),
}
#: Words of earlier releases, and what to use.
_GONE = {
    "rerun": "`/prjury rerun` is gone; use `/prjury review`.",
    "explain": "`/prjury explain` is gone; the finding itself says it, with a link to its rule.",
}

#: Characters of a reason.
LONGEST_REASON = 300
_BRANCH = re.compile(r"(?!-)[A-Za-z0-9._/+-]{1,200}", re.ASCII)
_NUMBER = re.compile(r"[1-9]\d{0,3}", re.ASCII)


class CommentCommand(Struct, frozen=True):
    """A command that somebody has written."""

    name: CommandName
    number: int = 0
    #: The reason, or the branch; as somebody typed it.
    words: str = ""


def is_command(body: str) -> bool:
    """Tell whether a comment speaks to us, whatever it says then."""
    return first_line(body).partition(" ")[0] == "/prjury"


def read_command(body: str) -> CommentCommand | None:
    """The command in the first line; None if it is not exactly one."""
    command = parse_command_or_why(body)
    return None if isinstance(command, str) else command


def parse_command_or_why(body: str) -> CommentCommand | str:
    """The command in the first line, or what is wrong with it; empty for a word that is none."""
    _, _, rest = first_line(body).partition(" ")
    word, _, words = rest.partition(" ")
    if word in _GONE:
        return _GONE[word]
    name = next((name for name in COMMANDS if name == word), None)
    if name is None:
        return ""
    if name in {"help", "review", "fix"}:
        return f"`/prjury {name}` takes no words after it." if words else CommentCommand(name)
    if name == "backport":
        fits = _BRANCH.fullmatch(words)
        return CommentCommand(name, words=words) if fits else _word_missing("branch", name)
    number = ""
    if name == "dismiss":
        number, _, words = words.partition(" ")
        if not _NUMBER.fullmatch(number):
            return _word_missing("number of the finding", name)
    return _with_reason(name, int(number or 0), words)


def _with_reason(name: CommandName, number: int, reason: str) -> CommentCommand | str:
    if not bare(reason)[0].strip():
        return _word_missing("reason", name)
    if len(reason) > LONGEST_REASON:
        return f"The reason has more than {LONGEST_REASON} characters."
    return CommentCommand(name, number, reason)


def _word_missing(what: str, name: CommandName) -> str:
    return f"The {what} is missing: `{COMMANDS[name][0]}`."


def first_line(body: str) -> str:
    return body.partition("\n")[0].removesuffix("\r")


#: The statuses that commands leave on a commit, beside that of the gate.
OVERRIDE, FIX = "prjury/override", "prjury/fix"
_BY_STATUS: Mapping[str, CommandName] = {OVERRIDE: "override", FIX: "fix"}
_COMMENT = re.compile(r"#issuecomment-(\d{1,18})$", re.ASCII)
_ANSWER = re.compile(r"answer\.(\d{1,18})", re.ASCII)
#: The ref that GitHub makes for a pull request in the merge queue.
_GROUP = re.compile(r"gh-readonly-queue/.+/pr-(?P<number>[1-9]\d{0,8})-[0-9a-f]{40}", re.ASCII)
#: Dismissals that are looked up.
_MOST = 30


def find_queued_number(event: Event) -> int | None:
    """The number of the pull request that a merge group is made of; None for other events."""
    match = _GROUP.fullmatch(event.pull.head.ref or "")
    return int(match["number"]) if match and event.kind is EventKind.MERGE_GROUP else None


class StandingCommands(Struct, frozen=True):
    """What maintainers have said of one commit."""

    override: Override | None = None
    fix: bool = False


class EarlierComments(Struct, frozen=True):
    """What our earlier comments on a pull request say."""

    verdict: PastVerdict | None = None
    dismissals: tuple[Dismissal, ...] = ()
    problem: str = ""

    def add_history(self, report: Report) -> Report:
        if self.problem:
            return report
        prints = {one.check.fingerprint for one in findings(report.verdict)}
        own = tuple(one for one in self.dismissals if one.finding in prints)
        became = compare_findings(report.verdict, report.pull.head.sha, self.verdict)
        return replace(report, since=became, dismissals=own)


@dataclass
class PullHistory:
    """What was said and done on one pull request before this run; each is read once.

    All of it raises PublishError or SourceError where GitHub cannot be asked; `read_earlier` tells
    the reason instead.
    """

    client: GitHub
    repo: str
    number: int
    _writers: dict[str, bool] = field(default_factory=dict)
    _statuses: dict[str, Mapping[str, PostedStatus]] = field(default_factory=dict)

    @cached_property
    def room(self) -> RepoClient:
        return RepoClient(self.client, self.repo)

    @cached_property
    def comments(self) -> Mapping[int, CommentFacts]:
        """Every comment by its number, the oldest first."""
        return {comment.id: comment for comment in read_comments(self.room, self.number)}

    @property
    def seen_comments(self) -> Iterable[CommentFacts] | None:
        return self.comments.values() if "comments" in vars(self) else None

    @cached_property
    def own(self) -> list[tuple[Marker, CommentFacts]]:
        """Our own comments with their markers; a stranger's with such a marker is none."""
        pairs = [(Marker.of(comment.body), comment) for comment in self.comments.values()]
        marked = [(marker, comment) for marker, comment in pairs if marker]
        account = self.room.account() if marked else ""
        return [(marker, comment) for marker, comment in marked if comment.author == account]

    @property
    def passing_answers(self) -> list[CommentFacts]:
        """Our answers to commands that nothing is read from later: they dismiss no finding."""
        answers = [comment for marker, comment in self.own if _ANSWER.fullmatch(marker.id)]
        return [answer for answer in answers if not read_dismissals(answer.body)]

    @property
    def answered_comment_ids(self) -> list[str]:
        """Numbers of the comments that were answered, with those whose answers are deleted."""
        numbers: dict[str, None] = {}
        for marker, comment in self.own:
            if match := _ANSWER.fullmatch(marker.id):
                earlier = (read_markers(comment.body) or {}).get("after", "")
                numbers |= dict.fromkeys([*filter(None, earlier.split(".")), match[1]])
        return list(numbers)

    @cached_property
    def verdicts(self) -> list[tuple[CommentFacts, PastVerdict]]:
        pairs = [(comment, PastVerdict.of(comment.body)) for _, comment in self.own]
        return [(comment, verdict) for comment, verdict in pairs if verdict]

    def statuses(self, head: str) -> Mapping[str, PostedStatus]:
        if head not in self._statuses:
            oldest_first = reversed(list(list_statuses(self.room, head)))
            self._statuses[head] = {status.context: status for status in oldest_first}
        return self._statuses[head]

    def find_gate(self, head: str) -> PostedStatus | None:
        """Our own status that is the gate of a commit; None if a job is."""
        status = self.statuses(head).get(CONTEXT)
        return status if status and self._is_ours(status) else None

    def is_from_writer(self, comment: CommentFacts) -> bool:
        """Tell whether a person who may write has written a comment, as it stands."""
        author = comment.author
        if comment.by_program or comment.edited or not author:
            return False
        if author not in self._writers:
            self._writers[author] = self.client.fetch_may_write(self.repo, author)
        return self._writers[author]

    def read_earlier(self) -> EarlierComments:
        """Read our own comments; where GitHub cannot be asked, there is nothing but the reason."""
        try:
            verdicts, valid = self.verdicts, tuple(self._find_standing_dismissals().values())
        except PrJuryError as error:
            return EarlierComments(problem=f"What was said before is not known: {error}")
        return EarlierComments(verdicts[-1][1] if verdicts else None, valid)

    def _find_standing_dismissals(self) -> dict[str, Dismissal]:
        answers = [(marker, read_dismissals(comment.body)) for marker, comment in self.own]
        answers = [(marker, words) for marker, words in answers if words]
        by_finding: dict[str, Dismissal] = {}
        for marker, words in answers[-_MOST:]:
            match = _ANSWER.fullmatch(marker.id)
            comment = self.comments.get(int(match[1])) if match else None
            if comment is None or not self._stands(comment, "dismiss"):
                continue
            by_finding |= {one.finding: one for one in words if one.by == comment.author}
        return by_finding

    def _stands(self, comment: CommentFacts, name: CommandName) -> bool:
        command = read_command(comment.body)
        return bool(command and command.name == name) and self.is_from_writer(comment)

    def read_standing_commands(self, head: str) -> StandingCommands:
        """Read what maintainers have said; where no command stands, statuses are not asked for."""
        commands = [read_command(comment.body) for comment in self.comments.values()]
        if not any(one and one.name in _BY_STATUS.values() for one in commands):
            return StandingCommands()
        latest = self.statuses(head)
        override = self._find_live_command(latest.get(OVERRIDE))
        fix = self._find_live_command(latest.get(FIX))
        word = Override(override[0], override[1].words) if override else None
        return StandingCommands(word, fix is not None)

    def _find_live_command(self, status: PostedStatus | None) -> tuple[str, CommentCommand] | None:
        """The author and the command that a status leads to; None if it does not hold any more."""
        match = _COMMENT.search(status.target_url or "") if status else None
        if status is None or match is None or status.state != "success":
            return None
        comment = self.comments.get(int(match[1]))
        command = read_command(comment.body) if comment else None
        if comment is None or command is None or not self._is_ours(status):
            return None
        holds = self._stands(comment, _BY_STATUS[status.context])
        return (comment.author, command) if holds else None

    def _is_ours(self, status: PostedStatus) -> bool:
        return login_of(status.creator) == self.room.account()

    def read_report(self, run: int) -> ReportJson | None:
        """Read the report that a run has kept; None for none, and for one of another version."""
        try:
            archive = fetch_artifact(self.client, self.repo, run, "prjury-report")
            content = extract_file(archive, "report.json", must_be_alone=False)
            return read_form(json.loads(content), ReportJson)
        except (CannotJudgeError, ValueError, RecursionError):
            return None

    def read_votes(self, pull: PullFacts) -> EarlierVotes | None:
        """The models' votes in the newest readable report of the pull request's head."""
        for run in self._list_judging_run_ids(pull.head.sha or ""):
            if report := self.read_report(run):
                return read_model_votes(report)
        return None

    def _list_judging_run_ids(self, head: str) -> Iterator[int]:
        """The runs that have judged the head: of the workflow that is the gate, the newest first.

        A fork's run takes its workflow from the fork, so what it leaves behind is not looked at;
        the run that sets the status takes it from the default branch.
        """
        if (status := self.find_gate(head)) and (judged := find_run(status.target_url)):
            yield judged[0]
        for run in list_runs(self.room, head):
            if run.is_own:
                yield run.id
