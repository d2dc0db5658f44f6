"""The workflow run whose end started this one, and the pull request that it belongs to.

For a fork the event names no pull request, and what the run left behind could name any. So the
pull request is looked up: the one that is open and has the run's head, repository and branch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from prjury.errors import SourceError
from prjury.sources.github.hub import GitHub
from prjury.sources.github.payload import (
    PullFacts,
    at,
    object_name,
    read_pull,
    repo_name,
    text,
    whole_number,
)

#: Pull requests of one branch; nobody opens so many by accident.
_MOST = 500


@dataclass(frozen=True, slots=True)
class TriggeringRun:
    """A workflow run that has ended.

    Attributes:
        event: what had started it, such as ``pull_request``.
        head_repo: ``owner/name`` of the repository that the head lies in, None when it is gone.
        path: the workflow's file, such as ``.github/workflows/prjury-build.yml``.
        actor: whose act it was.
    """

    id: int
    attempt: int
    event: str
    head_sha: str
    head_branch: str
    head_repo: str | None
    path: str
    actor: str | None = None


@dataclass(frozen=True, slots=True)
class Superseded:
    """There is no pull request at that commit any more, and one line why."""

    reason: str


def read_trigger(payload: object) -> TriggeringRun:
    """The run in a ``workflow_run`` object.

    Raises:
        ValueError: when the object lacks something or holds something of the wrong form.
    """
    name = at(payload, "head_repository", "full_name")
    return TriggeringRun(
        id=whole_number(at(payload, "id"), "workflow_run.id"),
        attempt=whole_number(at(payload, "run_attempt") or 1, "workflow_run.run_attempt"),
        event=text(at(payload, "event")),
        head_sha=object_name(at(payload, "head_sha"), "workflow_run.head_sha"),
        head_branch=text(at(payload, "head_branch")),
        head_repo=None if name is None else repo_name(name, "workflow_run.head_repository"),
        path=text(at(payload, "path")).partition("@")[0],
        actor=text(at(payload, "triggering_actor", "login") or at(payload, "actor", "login"))
        or None,
    )


def bound(hub: GitHub, repo: str, run: TriggeringRun) -> PullFacts | Superseded:
    """The one open pull request of the run's head.

    Args:
        repo: ``owner/name`` of the repository that it is to be merged into.

    Raises:
        SourceError: when GitHub cannot be asked, or when the pull request cannot be told for sure:
            ``not_bound``.
    """
    if run.event not in {"pull_request", "pull_request_target"}:
        raise _not_bound(f"run {run.id} was started by {run.event or 'nothing known'}")
    if run.head_repo is None:
        raise _not_bound("the repository that the head lies in is gone")
    owner = run.head_repo.partition("/")[0]
    of_branch = hub.ask(
        f"list the pull requests of {owner}:{run.head_branch} in {repo}",
        lambda: list(_open(hub, repo, f"{owner}:{run.head_branch}")),
        needs="pull-requests: read",
    )
    own = [pull for pull in of_branch if _is_of(pull, repo, run)]
    found = [pull for pull in own if pull.head.sha == run.head_sha]
    if len(found) > 1:
        numbers = ", ".join(f"#{pull.number}" for pull in found)
        raise _not_bound(f"{numbers} have the same head {run.head_sha[:12]}")
    if found:
        return found[0]
    if own:
        newer = ", ".join(f"#{p.number} is at {str(p.head.sha)[:12]}" for p in own)
        return Superseded(f"Superseded: {newer} by now, and this run is about {run.head_sha[:12]}.")
    return Superseded(f"Superseded: no open pull request has the head {run.head_sha[:12]}.")


def _open(hub: GitHub, repo: str, head: str) -> Iterator[PullFacts]:
    pulls = hub.api.get_repo(repo).get_pulls(state="open", head=head)
    return (read_pull(pull.raw_data) for pull in islice(pulls, _MOST))


def _is_of(pull: PullFacts, repo: str, run: TriggeringRun) -> bool:
    """Whether it has the run's repositories and branch; the filter of the list is a hint."""
    heads = (pull.head_repo or "").casefold() == (run.head_repo or "").casefold()
    bases = pull.repo.casefold() == repo.casefold()
    return heads and bases and pull.head.ref == run.head_branch and not pull.closed


def _not_bound(why: str) -> SourceError:
    return SourceError(
        "It is not sure which pull request this run belongs to",
        why=why,
        remedy="Close the other pull request, or push a commit of its own to this one",
        reason="not_bound",
    )
