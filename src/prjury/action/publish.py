"""The mode ``publish``: the last job, which holds the token that may write and nothing else.

It always ends with a visible result: if an earlier job has failed, the status of the head
becomes an error, so that no gate stays green and none hangs.
"""

from __future__ import annotations

from dataclasses import replace

from prjury.action.job import Job, JobResult
from prjury.action.job_artifacts import (
    EVIDENCE,
    EVIDENCE_DIGEST,
    VERDICT,
    VERDICT_DIGEST,
    digests,
    download_artifacts,
    refuse_other,
)
from prjury.action.override import apply_override
from prjury.action.publishing import Publication
from prjury.action.stages import triggered
from prjury.app.artifact_file import sha256
from prjury.app.stages.codec import evidence_from_text, opinions_from_text
from prjury.app.stages.evidence import NoEvidence
from prjury.app.stages.publish import publish_stage
from prjury.errors import ExitCode
from prjury.github.event import Event, EventKind, Superseded, bound, read_event
from prjury.report.model import Report
from prjury.snapshot.model import visible


def publish(job: Job) -> JobResult:
    """Find the pull request again, make the report, and publish it everywhere."""
    event = read_event(job.environ)
    if event.kind is EventKind.PULL_REQUEST_TARGET:
        return apply_override(job, event)
    event, run = triggered(job)
    with Publication(job, event) as publication:
        pull = bound(publication.hub, event.repo, run)
        if isinstance(pull, Superseded):
            publication.mark_superseded()
            return job.nothing(pull.reason)
        publication.event = event = replace(event, pull=pull)
        content = download_artifacts(job, EVIDENCE, EVIDENCE_DIGEST)
        evidence = evidence_from_text(content)
        refuse_other(evidence, event)
        if isinstance(evidence, NoEvidence):
            return _opened(job, evidence.reason, publication)
        publication.begin(evidence.policy)
        verdict = download_artifacts(job, VERDICT, VERDICT_DIGEST)
        publication.files = digests(content, verdict)
        report = publish_stage(evidence, sha256(content), opinions_from_text(verdict))
        return publication.finish(_dated(report, event))


def _dated(report: Report, event: Event) -> Report:
    """The report, which says so where the base has moved on since it was judged."""
    tip, judged = event.pull.base.sha, report.pull.base
    if tip in {None, judged.sha}:
        return report
    note = f"{visible(judged.ref)} has moved on: this is the verdict on {judged.sha[:12]}"
    return replace(report, notes=(*report.notes, note))


def _opened(job: Job, reason: str, publication: Publication) -> JobResult:
    complaints = publication.open(reason)
    ended = job.nothing(reason, is_open=True)
    code = ExitCode.NOT_PUBLISHED if complaints else ended.code
    return JobResult(code, " ".join(complaints) or None)
