"""The workflow run whose end started this one, and the pull request that it belongs to.

For a fork the event names no pull request, and what the run left behind could name any. So the
pull request is looked up: the one that is open and has the run's head, repository and branch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from prjury.errors import SourceError
from prjury.github.client import GitHub
from prjury.github.payload import (
    PullFacts,
    at,
    object_name,
    read_pull,
    repo_name,
    text,
    whole_number,
)

#: Open pull requests; a hundred of them are one request.
_MOST = 10_000


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
    every = open_pulls(hub, repo)
    refuse_twins(every, run.head_sha)
    own = [pull for pull in every if _is_of(pull, repo, run)]
    if found := [pull for pull in own if pull.head.sha == run.head_sha]:
        return found[0]
    if own:
        newer = ", ".join(f"#{p.number} is at {str(p.head.sha)[:12]}" for p in own)
        return Superseded(f"Superseded: {newer} by now, and this run is about {run.head_sha[:12]}.")
    return Superseded(f"Superseded: no open pull request has the head {run.head_sha[:12]}.")


def open_pulls(hub: GitHub, repo: str) -> list[PullFacts]:
    """Every open pull request of a repository.

    Raises:
        SourceError: when GitHub cannot be asked, or there are too many to know them all.
    """
    found = hub.ask(
        f"list the open pull requests of {repo}",
        lambda: list(_open(hub, repo)),
        needs="pull-requests: read",
    )
    if len(found) >= _MOST:
        raise _not_bound(f"there are {_MOST:,} open pull requests, which is too many to know")
    return found


def refuse_twins(pulls: Iterable[PullFacts], head_sha: str) -> None:
    """Refuses a commit that is the head of several pull requests.

    A check or status hangs on the commit, whoever it was made for: judged against one base, it
    would open the gate of the other.

    Raises:
        SourceError: ``not_bound``, where there are several.
    """
    twins = twins_of(pulls, head_sha)
    if len(twins) > 1:
        numbers = ", ".join(f"#{pull.number}" for pull in twins)
        raise _not_bound(f"{numbers} have the same head {head_sha[:12]}")


def twins_of(pulls: Iterable[PullFacts], head_sha: str) -> list[PullFacts]:
    """The pull requests that have this commit as their head."""
    return [pull for pull in pulls if pull.head.sha == head_sha]


def _open(hub: GitHub, repo: str) -> Iterator[PullFacts]:
    pulls = hub.api.get_repo(repo).get_pulls(state="open")
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
