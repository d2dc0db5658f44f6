"""The merge queue: a pull request's votes of models and its override are reused for its group.

A group is merged, built and scanned anew, for it stands on another base. What was said of the
change itself is taken from the report that the pull request's own run has left behind. Nothing here
can fail the job: without such a report, models are asked anew, if there are any.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from prjury.action.commanded import commanded_override
from prjury.action.job import Job
from prjury.action.job_artifacts import kept_report
from prjury.errors import PrJuryError
from prjury.github.check_runs import PostedStatus, Statuses
from prjury.github.client import GitHub
from prjury.github.event import Event, EventKind
from prjury.github.payload import PullFacts, at, whole_number
from prjury.jury.gate import Gate
from prjury.publishers.idempotent import run_of
from prjury.publishers.status import CONTEXT
from prjury.report.codec import said_in_report
from prjury.report.model import EarlierVotes, Override

_GROUP = re.compile(r"gh-readonly-queue/.+/pr-(?P<number>[1-9]\d{0,8})-[0-9a-f]{40}", re.ASCII)
_MOST_RUNS = 10
#: Who opened the gate, in the words of our own status.
_BY = re.compile(r"\S+ Overridden by @([A-Za-z0-9-]{1,39}(?:\[bot\])?)", re.ASCII)


def earlier_votes(job: Job, event: Event) -> EarlierVotes | None:
    """The votes on the pull request that this group is made of; None for other events."""
    match = _GROUP.fullmatch(event.pull.head.ref or "")
    if event.kind is not EventKind.MERGE_GROUP or match is None or not job.inputs.github_token:
        return None
    number = int(match["number"])
    try:
        with job.dependencies.connect(event, job.inputs) as client:
            found = _found(client, client.pull(event.repo, number))
    except PrJuryError as error:
        job.log.say(f"What was said of #{number} cannot be had: {error}")
        return None
    reported = "is taken over if the change is the same" if found else "was not kept"
    job.log.say(f"What was said of #{number} {reported}.")
    return found


def _found(client: GitHub, pull: PullFacts) -> EarlierVotes | None:
    """The newest readable report of the head, with a maintainer's override if it still holds.

    A comment's override is a status of the head, whatever the report says.
    Where the gate is a status, the run that judged knows nothing of a label that came later: then
    its verdict closed the gate, and the status is a success all the same.
    """
    latest = Statuses(client, pull.repo).latest(pull.head.sha or "", CONTEXT)
    ours = latest if latest and latest.creator == client.login() else None
    for run in _runs(client, pull, ours):
        report = kept_report(client, pull.repo, run)
        if report is None:
            continue
        said = said_in_report(report)
        given = said.override or _overruled(report, ours)
        if given is None or not _stands(client, pull, given):
            given = commanded_override(client, pull.repo, pull.number or 0, pull.head.sha or "")
        return replace(said, override=given)
    return None


def _stands(client: GitHub, pull: PullFacts, given: Override) -> bool:
    if given.label.casefold() not in {name.casefold() for name in pull.labels}:
        return False
    by = client.labelled_by(pull.repo, pull.number or 0, given.label)
    return by == given.by and client.may_write(pull.repo, by)


def _overruled(report: Mapping[str, Any], status: PostedStatus | None) -> Override | None:
    label = report["policy"]["resolved"].get("gate", {}).get("override", {}).get("label")
    by = _BY.match(status.description) if status and status.state == "success" else None
    closed = report["verdict"]["gate"] != Gate.SUCCESS
    return Override(label, by[1]) if closed and by and isinstance(label, str) else None


def _runs(client: GitHub, pull: PullFacts, status: PostedStatus | None) -> Iterator[int]:
    """The runs that have judged the head: of the workflow that is the gate, the newest first.

    A fork's run takes its workflow from the fork, so what it leaves behind is not looked at; the
    run that sets the status takes it from the default branch.
    """
    judged = run_of(status.target_url) if status else None
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
