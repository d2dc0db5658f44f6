"""The merge queue: a pull request's votes of models and its override are reused for its group.

A group is merged, built and scanned anew, for it stands on another base. What was said of the
change itself is taken from the report that the pull request's own run has left behind. Nothing here
can fail the job: without such a report, models are asked anew, if there are any.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from prjury.action.commanded import read_commit_words
from prjury.action.job import Job
from prjury.action.job_artifacts import kept_report
from prjury.errors import PrJuryError
from prjury.github.client import GitHub
from prjury.github.event import Event, EventKind
from prjury.github.payload import PullFacts, at, whole_number
from prjury.github.repo_client import RepoClient, login_of
from prjury.github.statuses import find_status
from prjury.publishers.races import find_run
from prjury.publishers.status import CONTEXT
from prjury.report.codec import said_in_report
from prjury.report.model import EarlierVotes

_GROUP = re.compile(r"gh-readonly-queue/.+/pr-(?P<number>[1-9]\d{0,8})-[0-9a-f]{40}", re.ASCII)
_MOST_RUNS = 10


def queued_number(event: Event) -> int | None:
    """The number of the pull request that a merge group is made of; None for other events."""
    match = _GROUP.fullmatch(event.pull.head.ref or "")
    return int(match["number"]) if match and event.kind is EventKind.MERGE_GROUP else None


def earlier_votes(job: Job, event: Event) -> EarlierVotes | None:
    """The votes on the pull request that this group is made of; None for other events."""
    number = queued_number(event)
    if number is None or not job.inputs.github_token:
        return None
    try:
        with job.dependencies.connect(event, job.inputs) as client:
            votes = _read_votes(client, client.pull(event.repo, number))
    except PrJuryError as error:
        job.log.say(f"What was said of #{number} cannot be had: {error}")
        return None
    outcome = "is taken over if the change is the same" if votes else "was not kept"
    job.log.say(f"What was said of #{number} {outcome}.")
    return votes


def _read_votes(client: GitHub, pull: PullFacts) -> EarlierVotes | None:
    number, head = pull.number or 0, pull.head.sha or ""
    latest = find_status(RepoClient(client, pull.repo), head, CONTEXT)
    is_ours = latest is not None and login_of(latest.creator) == client.login()
    page = latest.target_url if latest and is_ours else None
    for run in _runs(client, pull, page):
        if report := kept_report(client, pull.repo, run):
            words = read_commit_words(client, pull.repo, number, head)
            return replace(said_in_report(report), override=words.override)
    return None


def _runs(client: GitHub, pull: PullFacts, page: str | None) -> Iterator[int]:
    """The runs that have judged the head: of the workflow that is the gate, the newest first.

    A fork's run takes its workflow from the fork, so what it leaves behind is not looked at; the
    run that sets the status takes it from the default branch.
    """
    judged = find_run(page)
    if judged:
        yield judged[0]
    query = {"head_sha": pull.head.sha, "event": "pull_request", "per_page": str(_MOST_RUNS)}
    reported = client.repo(pull.repo).get(
        f"list the runs of {str(pull.head.sha)[:12]}",
        "/actions/runs",
        lambda it: it,
        needs="actions: read",
        query=query,
    )
    runs = at(reported, "workflow_runs")
    for run in runs if isinstance(runs, list) else ():
        if at(run, "head_repository", "full_name") == at(run, "repository", "full_name"):
            yield whole_number(at(run, "id"), "the run's id")
