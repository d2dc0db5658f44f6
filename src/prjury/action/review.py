"""The mode ``review``: everything in one job, for a repository that trusts its authors."""

from __future__ import annotations

from prjury.action.dependencies import Beforehand
from prjury.action.events import confirm_newer_head, event_of, override_of, refuse_twin
from prjury.action.job import Job, JobResult
from prjury.action.publishing import Publication
from prjury.action.queue import earlier_votes
from prjury.errors import ExitCode
from prjury.report.model import Report


def review(job: Job) -> JobResult:
    """Judge the event's pull request and publish the report everywhere."""
    event = event_of(job)
    if event.of_pull_request and event.action == "closed":
        return job.nothing(f"Nothing to review: #{event.number} is closed.", is_open=True)
    job.dependencies.connect(event, job.inputs).close()  # fails early for a wrong token
    refuse_twin(event, job)
    override = override_of(event, job)
    with Publication(job, event) as publication:
        known = Beforehand(override, earlier_votes(job, event), publication.begin)
        judged = job.dependencies.judge(event, job.inputs, known)
        if isinstance(judged, Report):
            return publication.finish(judged)
    if judged.superseded:
        confirm_newer_head(event, job)
        return job.nothing(judged.reason)
    if event.of_pull_request and (job.inputs.base or job.inputs.head):
        # Nothing is known of the pull request's own head where the workflow names other sides.
        return job.nothing(judged.reason)._replace(code=ExitCode.NOT_JUDGED)
    return job.nothing(judged.reason, is_open=True)
