"""Runs of workflows: which there are for a commit, and one more attempt of one."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from prjury.errors import PublishError
from prjury.github.payload import (
    at,
    object_name,
    read_count,
    read_number,
    read_repo_name,
    read_time,
    read_url,
    text,
)
from prjury.github.repo_client import RepoClient, ignore

_READS, _WRITES = "actions: read", "actions: write"
#: Runs of one commit that are looked at, the newest first.
_MOST = 30
_LONGEST_NAME = 255
_WORKFLOWS = ".github/workflows/prjury"
#: Events whose workflows no pull request can change.
_FROM_DEFAULT = frozenset({"pull_request_target", "workflow_run", "issue_comment"})


class WorkflowRun(Struct, frozen=True, kw_only=True):
    """A run of a workflow; numbers that are not known are 0."""

    id: int
    attempt: int
    event: str
    head_sha: str
    head_branch: str
    #: ``owner/name`` of the repository that the head lies in, None when it is gone.
    head_repo: str | None
    #: Whether its workflow comes from this repository, and not from a fork.
    is_own: bool
    #: The workflow's file, such as ``.github/workflows/prjury-build.yml``.
    path: str
    #: None as long as it has not ended.
    conclusion: str | None
    actor: str | None
    name: str
    url: str | None
    workflow: int
    number: int
    #: What its jobs' check runs have in common.
    suite: int
    #: When it was last changed, in seconds since 1970.
    ended: float
    #: The base commit of the merge that it ran on; as in `CheckResult`.
    base: str | None

    @property
    def is_ours(self) -> bool:
        """Whether it only reports: one of ours that GitHub takes from the default branch alone."""
        if self.event == "push":
            return self.path == f"{_WORKFLOWS}-conflicts.yml"
        starts = (f"{_WORKFLOWS}.", f"{_WORKFLOWS}-")
        return self.event in _FROM_DEFAULT and self.path.startswith(starts)

    @property
    def series(self) -> tuple[int, str]:
        """Runs of the same series supersede each other."""
        return self.workflow, self.event


def read_workflow_run(payload: object) -> WorkflowRun:
    """Read a run in an event or a list; raise ValueError for something else."""
    head = at(payload, "head_repository", "full_name")
    actor = at(payload, "triggering_actor", "login") or at(payload, "actor", "login")
    is_over = at(payload, "status") == "completed"
    return WorkflowRun(
        id=read_number(at(payload, "id"), "workflow_run.id"),
        attempt=read_number(at(payload, "run_attempt") or 1, "workflow_run.run_attempt"),
        event=text(at(payload, "event")),
        head_sha=object_name(at(payload, "head_sha"), "workflow_run.head_sha"),
        head_branch=text(at(payload, "head_branch")),
        head_repo=None if head is None else read_repo_name(head, "workflow_run.head_repository"),
        is_own=head is not None and head == at(payload, "repository", "full_name"),
        path=text(at(payload, "path")).partition("@")[0],
        conclusion=text(at(payload, "conclusion")) or ("unknown" if is_over else None),
        actor=text(actor) or None,
        name=text(at(payload, "name"))[:_LONGEST_NAME],
        url=read_url(at(payload, "html_url")),
        workflow=read_count(payload, "workflow_id") or 0,
        number=read_count(payload, "run_number") or 0,
        suite=read_count(payload, "check_suite_id") or 0,
        ended=read_time(at(payload, "updated_at")),
        base=_read_base(payload),
    )


def _read_base(payload: object) -> str | None:
    if at(payload, "event") == "push":
        return ""
    pulls = at(payload, "pull_requests")
    bases = {text(at(pull, "base", "sha")) for pull in pulls} if isinstance(pulls, list) else set()
    return bases.pop() or None if len(bases) == 1 else None


def list_runs(room: RepoClient, sha: str, event: str = "pull_request") -> list[WorkflowRun]:
    """List the newest runs that an event has started for a commit, the newest first."""
    head = object_name(sha, "the head")
    query: Mapping[str, object] = {"head_sha": head, "event": event, "per_page": _MOST}
    task = f"list the runs of {head[:12]}"
    return room.get(task, "/actions/runs", _read_runs, needs=_READS, query=query)


def has_newer_run(room: RepoClient, run: WorkflowRun) -> bool:
    """Return true if the workflow has a later run, or attempt, that does something."""
    return any(
        other.path == run.path
        and (other.id, other.attempt) > (run.id, run.attempt)
        and other.conclusion != "skipped"
        for other in list_runs(room, run.head_sha, run.event)
    )


def fetch_workflow_run(room: RepoClient, run: int) -> WorkflowRun | None:
    """Return a run; None if there is none any more."""
    try:
        task, path = f"read run {run}", f"/actions/runs/{run}"
        return room.get(task, path, read_workflow_run, needs=_READS)
    except PublishError as error:
        if error.reason != "not_found":
            raise
        return None


def rerun_if_ended(room: RepoClient, run: int) -> None:
    """Start another attempt of a run, for the same commit as before, unless it runs.

    GitHub refuses that after thirty days, and after fifty attempts.
    """
    task, path = f"run {run} again", f"/actions/runs/{run}/rerun"
    try:
        room.send(task, "POST", path, {}, ignore, needs=_WRITES, repeatable=False)
    except PublishError as error:
        if error.reason != "permission" or "not accessible" in error.why:
            raise
        if "already running" not in error.why:
            raise PublishError(
                f"GitHub does not start run {run} again",
                why=error.why,
                remedy="Push, or close and reopen the pull request",
                reason="refused",
            ) from error


def _read_runs(payload: object) -> list[WorkflowRun]:
    runs = at(payload, "workflow_runs")
    if not isinstance(runs, list):
        raise ValueError("workflow_runs is not a list")  # noqa: TRY004 - as every answer of a wrong form
    return [read_workflow_run(run) for run in runs]
