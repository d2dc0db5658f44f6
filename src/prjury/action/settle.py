"""The mode ``publish``: the last job, which holds the token that may write and nothing else.

It always comes to an end that can be seen: where a job before it has failed, the status of the head
becomes an error, so that no gate stays green and none hangs.
"""

from __future__ import annotations

from dataclasses import replace

from prjury.action.job import Ended, Job
from prjury.action.publishing import Publication
from prjury.action.zones import (
    EVIDENCE,
    EVIDENCE_DIGEST,
    VERDICT,
    VERDICT_DIGEST,
    handed,
    triggered,
)
from prjury.app.zones.codec import evidence_from_text, opinions_from_text
from prjury.app.zones.evidence import Evidence, NoEvidence
from prjury.app.zones.settle import settle as settled
from prjury.errors import ExitCode, SourceError
from prjury.sources.github.event import Event
from prjury.sources.github.trigger import Superseded, bound
from prjury.sources.handed import sha256


def settle(job: Job) -> Ended:
    """Finds the pull request again, makes the report, and hangs it up everywhere."""
    event, run = triggered(job)
    with Publication(job, event) as publication:
        with job.wiring.connect(event, job.inputs) as hub:
            pull = bound(hub, event.repo, run)
        if isinstance(pull, Superseded):
            publication.leave()
            return job.nothing(pull.reason, "action_required")
        publication.event = event = replace(event, pull=pull)
        content = handed(job, EVIDENCE, EVIDENCE_DIGEST)
        evidence = evidence_from_text(content)
        _refuse_other(evidence, event)
        if isinstance(evidence, NoEvidence):
            return _opened(job, evidence.reason, publication)
        publication.begin(evidence.pull, evidence.policy)
        opinions = opinions_from_text(handed(job, VERDICT, VERDICT_DIGEST))
        report = settled(evidence, sha256(content), opinions)
        return publication.hang_up(report)


def _opened(job: Job, reason: str, publication: Publication) -> Ended:
    complaints = publication.open(reason)
    ended = job.nothing(reason)
    code = ExitCode.NOT_PUBLISHED if complaints else ended.code
    return Ended(code, " ".join(complaints) or None)


def _refuse_other(evidence: Evidence | NoEvidence, event: Event) -> None:
    """What was handed over is believed of this pull request alone, whatever it says of itself."""
    pull = event.pull
    if isinstance(evidence, NoEvidence):
        told = (evidence.repo, evidence.number, evidence.head_sha)
    else:
        told = (evidence.pull.repo, evidence.pull.number, evidence.pull.head.sha)
    if told != (pull.repo, pull.number, pull.head.sha):
        raise SourceError(
            f"The evidence is about #{told[1]} at {told[2][:12]}, and this run about "
            f"#{pull.number} at {str(pull.head.sha)[:12]}",
            why="The files come from another run, or were forged",
            remedy="Run all jobs of the workflow again",
            reason="evidence_mismatch",
        )
