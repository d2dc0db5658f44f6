"""The event that started a workflow run, read once and turned into a value."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from prjury.errors import SourceError, UsageError
from prjury.github.client import GitHub
from prjury.github.payload import (
    CommentFacts,
    PullFacts,
    Tip,
    at,
    object_name,
    read_comment,
    read_number,
    read_pull,
    read_repo_name,
    text,
)
from prjury.github.pulls import list_all_or_found_pulls, make_unsure_pull_error, refuse_shared_head
from prjury.github.workflow_runs import WorkflowRun, read_workflow_run

#: How a run ends that has run its jobs. One that waits for an approval is told of as completed,
#: with `action_required`, before anybody has approved it.
ENDED = frozenset({"success", "failure", "timed_out", "cancelled"})


@dataclass(frozen=True, slots=True)
class Superseded:
    """There is no pull request at that commit any more, and one line why."""

    reason: str


def find_only_pull(client: GitHub, repo: str, run: WorkflowRun) -> PullFacts | Superseded:
    """The one open pull request of the run's head."""
    if run.event not in {"pull_request", "pull_request_target"}:
        raise make_unsure_pull_error(
            f"run {run.id} was started by {run.event or 'nothing known'}",
            "Start the build on `pull_request`, as `prjury init --forks` writes it",
        )
    if run.head_repo is None:
        raise make_unsure_pull_error(
            "the repository that the head lies in was deleted",
            "Nothing can be pushed there any more: close this pull request, and open one from a "
            "repository that is there",
        )
    every = list_all_or_found_pulls(client, repo, run.head_sha, run.head_repo, run.head_branch)
    refuse_shared_head(every, run.head_sha)
    own = [pull for pull in every if _is_of(pull, repo, run)]
    if pulls := [pull for pull in own if pull.head.sha == run.head_sha]:
        return pulls[0]
    if own:
        newer = ", ".join(f"#{p.number} is at {str(p.head.sha)[:12]}" for p in own)
        return Superseded(f"Superseded: {newer} by now, and this run is about {run.head_sha[:12]}.")
    return Superseded(f"Superseded: no open pull request has the head {run.head_sha[:12]}.")


def _is_of(pull: PullFacts, repo: str, run: WorkflowRun) -> bool:
    heads = (pull.head_repo or "").casefold() == (run.head_repo or "").casefold()
    bases = pull.repo.casefold() == repo.casefold()
    return heads and bases and pull.head.ref == run.head_branch and not pull.closed


#: GitHub sends no larger webhook.
_PAYLOAD_LIMIT = 25 * 1024 * 1024
_SHA = re.compile(r"[0-9a-f]{40}")
_TARGET_NOTE = (
    "pull_request_target runs with the base repository's token: the head is fetched as objects, "
    "it is never checked out"
)


class EventKind(StrEnum):
    """The events that name something to review."""

    PULL_REQUEST = "pull_request"
    PULL_REQUEST_TARGET = "pull_request_target"
    WORKFLOW_DISPATCH = "workflow_dispatch"
    MERGE_GROUP = "merge_group"
    WORKFLOW_RUN = "workflow_run"
    PUSH = "push"
    ISSUE_COMMENT = "issue_comment"


class RunId(NamedTuple):
    """A workflow run; later runs and later attempts compare as greater."""

    id: int
    attempt: int

    def __str__(self) -> str:
        return f"{self.id}.{self.attempt}"


@dataclass(frozen=True, slots=True)
class Event:
    """What happened, and which pull request or comparison it is about."""

    kind: EventKind
    pull: PullFacts
    action: str | None = None
    api_url: str = "https://api.github.com"
    server_url: str = "https://github.com"
    run: RunId | None = None
    #: The run whose end this event tells of; the pull request is not known yet then.
    trigger: WorkflowRun | None = None
    sender: str | None = None
    default_branch: str | None = None
    #: Whether the pull request got another base.
    moved: bool = False
    #: What somebody has said, where it is about that; None below an issue that is no pull request.
    #: The pull request's sides are not known then.
    comment: CommentFacts | None = None
    notes: tuple[str, ...] = ()

    @property
    def repo(self) -> str:
        """``owner/name`` of the repository under review."""
        return self.pull.repo

    @property
    def of_pull_request(self) -> bool:
        """Whether it tells of a pull request whose head it names; its checks hang on that head."""
        return self.kind in {EventKind.PULL_REQUEST, EventKind.PULL_REQUEST_TARGET}

    @property
    def is_first_run(self) -> bool:
        """True where the head is new, and this is the first run for it."""
        first = self.run is not None and self.run.attempt == 1
        return first and self.action in {"opened", "synchronize"}

    @property
    def number(self) -> int | None:
        """The pull request's number, None for a mere comparison."""
        return self.pull.number


def read_event(environ: Mapping[str, str]) -> Event:
    """The event of this workflow run."""
    kind = _read_kind(environ.get("GITHUB_EVENT_NAME", ""))
    payload = _read_payload(environ.get("GITHUB_EVENT_PATH", ""))
    _refuse_event_before_rename(payload, environ)
    try:
        return Event(
            kind=kind,
            pull=_READERS[kind](payload, environ.get("GITHUB_REPOSITORY") or _repo(payload)),
            action=text(at(payload, "action")) or None,
            api_url=_strip_root(environ.get("GITHUB_API_URL"), "https://api.github.com"),
            server_url=_strip_root(environ.get("GITHUB_SERVER_URL"), "https://github.com"),
            run=_read_run_id(environ),
            trigger=_find_trigger(kind, payload),
            sender=text(at(payload, "sender", "login")) or None,
            default_branch=text(at(payload, "repository", "default_branch")) or None,
            moved=at(payload, "changes", "base") is not None,
            comment=_find_comment(kind, payload),
            notes=(_TARGET_NOTE,) if kind is EventKind.PULL_REQUEST_TARGET else (),
        )
    except ValueError as error:
        raise _unreadable(f"The payload of the {kind} event is not usable: {error}") from error


def _refuse_event_before_rename(payload: object, environ: Mapping[str, str]) -> None:
    """A run that is repeated has its old payload, which may call the repository something else."""
    then, now = _repo(payload), environ.get("GITHUB_REPOSITORY", "")
    number = at(payload, "repository", "id")
    same = number is not None and str(number) == environ.get("GITHUB_REPOSITORY_ID")
    if same and now and then.casefold() != now.casefold():
        raise SourceError(
            f"The event is from when {now} was called {then[:140]}",
            why="The repository was renamed or moved since, and a repeated run has its old event",
            remedy="Push a commit, or close and reopen the pull request: that makes a new event",
            reason="renamed",
        )


def _read_kind(name: str) -> EventKind:
    if not name:
        raise UsageError(
            "GITHUB_EVENT_NAME is not set",
            why="This face of the program runs inside a GitHub Actions job",
            remedy="On a terminal use `prjury review`",
        )
    try:
        return EventKind(name)
    except ValueError:
        raise UsageError(
            f"The event {name[:60]!r} names no pull request",
            remedy=f"Run the workflow on one of: {', '.join(EventKind)}",
        ) from None


def _read_payload(path: str) -> object:
    if not path:
        raise _unreadable("GITHUB_EVENT_PATH is not set")
    try:
        with Path(path).open("rb") as file:
            content = file.read(_PAYLOAD_LIMIT + 1)
    except OSError as error:
        raise _unreadable(f"The event's payload cannot be read: {error.strerror}") from error
    if len(content) > _PAYLOAD_LIMIT:
        raise _unreadable(f"The event's payload has more than {_PAYLOAD_LIMIT} bytes")
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise _unreadable("The event's payload is not JSON") from error


def _unreadable(what: str) -> SourceError:
    return SourceError(
        what,
        why="The runner writes the payload, so somebody or something replaced it",
        remedy="Run the job again",
        reason="bad_event",
    )


def _repo(payload: object) -> str:
    return text(at(payload, "repository", "full_name"))


def _of_pull_request(payload: object, repo: str) -> PullFacts:
    pull = read_pull(at(payload, "pull_request"))
    if repo and pull.repo.casefold() != repo.casefold():
        raise ValueError("base.repo.full_name is not the repository of this run")
    return pull


def _read_dispatch(payload: object, repo: str) -> PullFacts:
    number = text(at(payload, "inputs", "number")).strip()
    if number and not number.isdecimal():
        raise ValueError("inputs.number is not a number")
    return PullFacts(
        repo=read_repo_name(repo, "GITHUB_REPOSITORY"),
        base=_named_tip(text(at(payload, "inputs", "base")).strip()),
        head=_named_tip(text(at(payload, "inputs", "head")).strip()),
        number=read_number(int(number), "inputs.number") if number else None,
        author=text(at(payload, "sender", "login")) or None,
        head_repo=repo,
    )


def _named_tip(name: str) -> Tip:
    return Tip(sha=name) if _SHA.fullmatch(name) else Tip(ref=name or None)


def _read_merge_group(payload: object, repo: str) -> PullFacts:
    group = at(payload, "merge_group")
    name = read_repo_name(repo, "GITHUB_REPOSITORY")
    title, _, body = text(at(group, "head_commit", "message")).partition("\n")
    return PullFacts(
        repo=name,
        base=_group_tip(group, "base"),
        head=_group_tip(group, "head"),
        title=title,
        body=body.strip(),
        author=text(at(payload, "sender", "login")) or None,
        head_repo=name,
    )


def _group_tip(group: object, side: str) -> Tip:
    ref = text(at(group, f"{side}_ref")).removeprefix("refs/heads/")
    sha = object_name(at(group, f"{side}_sha"), f"merge_group.{side}_sha")
    return Tip(ref or None, sha)


def _of_workflow_run(payload: object, repo: str) -> PullFacts:
    """The head alone; which pull request has it is for `prjury.github.trigger` to say."""
    run = read_workflow_run(at(payload, "workflow_run"))
    name = read_repo_name(repo, "GITHUB_REPOSITORY")
    head = Tip(run.head_branch or None, run.head_sha)
    return PullFacts(repo=name, base=Tip(), head=head, head_repo=run.head_repo)


def _read_pushed_base(payload: object, repo: str) -> PullFacts:
    """The branch that has moved as the base; what is based on it, GitHub has to be asked for."""
    branch = text(at(payload, "ref")).removeprefix("refs/heads/")
    moved = at(payload, "deleted") is not True and not branch.startswith("refs/")
    sha = object_name(at(payload, "after"), "after") if moved else None
    return PullFacts(
        repo=read_repo_name(repo, "GITHUB_REPOSITORY"),
        base=Tip(branch or None, sha) if moved else Tip(),
        head=Tip(),
    )


def _read_issue_comment(payload: object, repo: str) -> PullFacts:
    """The number alone: the event says neither which head the pull request has nor which base."""
    return PullFacts(
        repo=read_repo_name(repo, "GITHUB_REPOSITORY"),
        base=Tip(),
        head=Tip(),
        number=read_number(at(payload, "issue", "number"), "issue.number"),
    )


def _find_comment(kind: EventKind, payload: object) -> CommentFacts | None:
    below_pull = at(payload, "issue", "pull_request") is not None
    is_command = kind is EventKind.ISSUE_COMMENT and below_pull
    return read_comment(at(payload, "comment")) if is_command else None


def _find_trigger(kind: EventKind, payload: object) -> WorkflowRun | None:
    return (
        read_workflow_run(at(payload, "workflow_run")) if kind is EventKind.WORKFLOW_RUN else None
    )


_READERS = {
    EventKind.PULL_REQUEST: _of_pull_request,
    EventKind.PULL_REQUEST_TARGET: _of_pull_request,
    EventKind.WORKFLOW_DISPATCH: _read_dispatch,
    EventKind.MERGE_GROUP: _read_merge_group,
    EventKind.WORKFLOW_RUN: _of_workflow_run,
    EventKind.PUSH: _read_pushed_base,
    EventKind.ISSUE_COMMENT: _read_issue_comment,
}


def _strip_root(url: str | None, default: str) -> str:
    return (url or default).rstrip("/")


def _read_run_id(environ: Mapping[str, str]) -> RunId | None:
    number = environ.get("GITHUB_RUN_ID", "")
    attempt = environ.get("GITHUB_RUN_ATTEMPT", "") or "1"
    if not number:
        return None
    if not (number.isdecimal() and attempt.isdecimal()):
        raise ValueError("GITHUB_RUN_ID or GITHUB_RUN_ATTEMPT is not a number")
    return RunId(int(number), int(attempt))
