"""The merge queue: what models said of a pull request counts again for its group.

A group is merged, built and scanned anew, for it stands on another base. What was said of the
change itself is taken from the report that the pull request's own run has left behind. Nothing here
can fail the job: without such a report, models are asked anew, if there are any.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from prjury.action.job import Job
from prjury.errors import CannotJudgeError, PrJuryError
from prjury.publishers.converge import run_of
from prjury.publishers.status import CONTEXT
from prjury.report.codec import said_in_report
from prjury.report.model import Said
from prjury.sources.github.artifacts import left_behind, one_file
from prjury.sources.github.event import Event, EventKind
from prjury.sources.github.hub import GitHub
from prjury.sources.github.payload import at, whole_number
from prjury.sources.github.statuses import Statuses

_GROUP = re.compile(r"gh-readonly-queue/.+/pr-(?P<number>[1-9]\d{0,8})-[0-9a-f]{40}", re.ASCII)
_ARTIFACT, _FILE = "prjury-report", "report.json"
_MOST_RUNS = 10


def said_before(job: Job, event: Event) -> Said | None:
    """What models said of the pull request that this group is made of; None for other events."""
    match = _GROUP.fullmatch(event.pull.head.ref or "")
    if event.kind is not EventKind.MERGE_GROUP or match is None or not job.inputs.github_token:
        return None
    number = int(match["number"])
    try:
        with job.wiring.connect(event, job.inputs) as hub:
            head = hub.pull(event.repo, number).head.sha or ""
            every = (_said(hub, event.repo, run) for run in _runs(hub, event, head))
            found = next(filter(None, every), None)
    except PrJuryError as error:
        job.log.say(f"What models said of #{number} cannot be had: {error}")
        return None
    told = "is taken over if the change is the same" if found else "was not kept"
    job.log.say(f"What models said of #{number} {told}.")
    return found


def _runs(hub: GitHub, event: Event, head: str) -> Iterator[int]:
    """The runs that have judged a head: of the workflow that is the gate, the newest first.

    A fork's run takes its workflow from the fork, so what it leaves behind is not looked at; the
    run that sets the status takes it from the default branch.
    """
    latest = Statuses(hub, event.repo).latest(head, CONTEXT)
    judged = run_of(latest.target_url) if latest and latest.creator == hub.login() else None
    if judged:
        yield judged[0]
    query = {"head_sha": head, "event": "pull_request", "per_page": str(_MOST_RUNS)}
    told = hub.ask(
        f"list the runs of {head[:12]}",
        lambda: hub.api.requester.requestJsonAndCheck(
            "GET", f"/repos/{event.repo}/actions/runs", query
        )[1],
        needs="actions: read",
    )
    runs = at(told, "workflow_runs")
    for run in runs if isinstance(runs, list) else ():
        if at(run, "head_repository", "full_name") == at(run, "repository", "full_name"):
            yield whole_number(at(run, "id"), "the run's id")


def _said(hub: GitHub, repo: str, run: int) -> Said | None:
    try:
        content = one_file(left_behind(hub, repo, run, _ARTIFACT), _FILE)
        return said_in_report(json.loads(content))
    except (CannotJudgeError, ValueError, RecursionError):
        return None  # no report, or one of another version
