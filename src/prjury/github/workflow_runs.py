"""Runs of workflows: which there are for a commit, and one more attempt of one."""

from __future__ import annotations

from dataclasses import dataclass

from prjury.errors import PublishError
from prjury.github.client import GitHub
from prjury.github.payload import at, object_name, read_number, text
from prjury.github.repo_client import RepoClient

_READS, _WRITES = "actions: read", "actions: write"
#: Runs of one commit that are looked at, the newest first.
_MOST = 30


@dataclass(frozen=True, slots=True)
class PostedRun:
    """A workflow run as GitHub holds it."""

    id: int
    path: str
    #: Empty as long as it has not ended.
    conclusion: str
    #: Whether its workflow comes from this repository, and not from a fork.
    is_own: bool


class WorkflowRuns:
    """The workflow runs of one repository; every method raises PublishError."""

    def __init__(self, client: GitHub, repo: str) -> None:
        self._room = RepoClient(client, repo, PublishError)

    def of_head(self, sha: str) -> list[PostedRun]:
        """The newest runs that pull requests have started for a commit, the newest first."""
        head = object_name(sha, "the head")
        return self._room.get(
            f"list the runs of {head[:12]}",
            "/actions/runs",
            _read_runs,
            needs=_READS,
            query={"head_sha": head, "event": "pull_request", "per_page": str(_MOST)},
        )

    def one(self, run: int) -> PostedRun | None:
        """A run; None where there is none any more."""
        try:
            return self._room.get(
                f"read run {run}", f"/actions/runs/{run}", _read_run, needs=_READS
            )
        except PublishError as error:
            if error.reason != "not_found":
                raise
            return None

    def again(self, run: int) -> None:
        """Start another attempt of a run, for the same commit as before, unless it runs.

        GitHub refuses that after thirty days, and after fifty attempts.
        """
        try:
            self._room.send(
                f"run {run} again",
                "POST",
                f"/actions/runs/{run}/rerun",
                {},
                lambda _answer: None,
                needs=_WRITES,
                repeatable=False,
            )
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


def _read_runs(payload: object) -> list[PostedRun]:
    runs = at(payload, "workflow_runs")
    if not isinstance(runs, list):
        raise ValueError("workflow_runs is not a list")  # noqa: TRY004 - as every answer of a wrong form
    return [_read_run(run) for run in runs]


def _read_run(payload: object) -> PostedRun:
    ended = at(payload, "status") == "completed"
    return PostedRun(
        id=read_number(at(payload, "id"), "the run's id"),
        path=text(at(payload, "path")).partition("@")[0],
        conclusion=(text(at(payload, "conclusion")) or "unknown") if ended else "",
        is_own=at(payload, "head_repository", "full_name")
        == at(payload, "repository", "full_name"),
    )
