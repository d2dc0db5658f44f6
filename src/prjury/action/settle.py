"""The mode ``publish``: the last job, which holds the token that may write and nothing else.

It always comes to an end that can be seen: where a job before it has failed, the status of the head
becomes an error, so that no gate stays green and none hangs.
"""

from __future__ import annotations

from dataclasses import replace

from prjury.action.handed import (
    EVIDENCE,
    EVIDENCE_DIGEST,
    VERDICT,
    VERDICT_DIGEST,
    handed,
    refuse_other,
)
from prjury.action.job import Ended, Job
from prjury.action.overrule import overrule
from prjury.action.publishing import Publication
from prjury.action.zones import triggered
from prjury.app.zones.codec import evidence_from_text, opinions_from_text
from prjury.app.zones.evidence import NoEvidence
from prjury.app.zones.settle import settle as settled
from prjury.errors import ExitCode
from prjury.sources.github.event import EventKind, read_event
from prjury.sources.github.trigger import Superseded, bound
from prjury.sources.handed import sha256


def settle(job: Job) -> Ended:
    """Finds the pull request again, makes the report, and hangs it up everywhere."""
    event = read_event(job.environ)
    if event.kind is EventKind.PULL_REQUEST_TARGET:
        return overrule(job, event)
    event, run = triggered(job)
    with Publication(job, event) as publication:
        pull = bound(publication.hub, event.repo, run)
        if isinstance(pull, Superseded):
            publication.leave()
            return job.nothing(pull.reason, "action_required")
        publication.event = event = replace(event, pull=pull)
        content = handed(job, EVIDENCE, EVIDENCE_DIGEST)
        evidence = evidence_from_text(content)
        refuse_other(evidence, event)
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
