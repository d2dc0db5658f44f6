"""The mode ``review``: everything in one job, for a repository that trusts its authors."""

from __future__ import annotations

from prjury.action.events import confirm_newer_head, event_of, override_of
from prjury.action.inputs import Inputs
from prjury.action.job import Ended, Job
from prjury.action.publishing import Publication
from prjury.action.queue import said_before
from prjury.action.wiring import Beforehand, Nothing
from prjury.report.model import Report
from prjury.sources.github.event import Event


def review(job: Job) -> Ended:
    """Judges the event's pull request and hangs the report up everywhere."""
    event = event_of(job)
    if event.of_pull_request and event.action == "closed":
        return job.nothing(f"Nothing to review: #{event.number} is closed.")
    job.wiring.connect(event, job.inputs).close()  # tells a wrong address or token before any work
    override = override_of(event, job)
    with Publication(job, event) as publication:
        known = Beforehand(override, said_before(job, event), publication.begin)
        judged = job.wiring.judge(event, job.inputs, known)
        if isinstance(judged, Report):
            return publication.hang_up(judged)
    if judged.superseded:
        confirm_newer_head(event, job)
    return job.nothing(judged.reason, _gate_without_report(judged, event, job.inputs))


def _gate_without_report(nothing: Nothing, event: Event, inputs: Inputs) -> str:
    """What the gate is where nothing was judged: open only for what the base holds already.

    Where the workflow names other sides, nothing is known of the pull request's own head.
    """
    elsewhere = event.of_pull_request and (inputs.base or inputs.head)
    return "action_required" if nothing.superseded or elsewhere else "success"
