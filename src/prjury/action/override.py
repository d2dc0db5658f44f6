"""The gate where it is a status: closed for new heads, and overridden by a maintainer's label.

Nothing is judged and nothing of the change is fetched. A label publishes the last verdict again,
from the files of that run; removing the label restores the verdict. A new title or text starts that
run again where a judge reads them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from prjury.action.commanded import commanded_override
from prjury.action.events import override_of
from prjury.action.job import Job, JobResult
from prjury.action.job_artifacts import EVIDENCE, VERDICT, digests, refuse_other
from prjury.action.publishing import Publication
from prjury.app.artifact_file import sha256
from prjury.app.stages.codec import evidence_from_text, opinions_from_text
from prjury.app.stages.evidence import NoEvidence, StageEvidence
from prjury.app.stages.publish import publish_stage
from prjury.app.steps import accepted_override
from prjury.errors import SourceError
from prjury.github.artifacts import handed_file
from prjury.github.check_runs import Statuses
from prjury.github.client import GitHub
from prjury.github.comments import Comments
from prjury.github.event import Event, RunId
from prjury.github.open_pulls import open_pulls, refuse_twins
from prjury.github.payload import at
from prjury.github.workflow_runs import WorkflowRuns
from prjury.publishers.comment import Marker
from prjury.publishers.idempotent import run_of
from prjury.publishers.status import CONTEXT
from prjury.report.model import Override
from prjury.snapshot.model import visible

#: After these a status that is there already is about another base, or another pull request.
_NEW = frozenset({"opened", "reopened", "synchronize"})


def apply_override(job: Job, event: Event) -> JobResult:
    """Publish the last verdict of the head again, with the label's override or without it."""
    if event.moved or event.action in _NEW:
        return _closed(job, event)
    if event.action == "edited":
        return _ask_readers(job, event)
    if event.action not in {"labeled", "unlabeled"} or not event.label:
        return job.nothing("Nothing to do: no label was added or removed.")
    with job.dependencies.connect(event, job.inputs) as client:
        last = last_verdict(client, event)
    if last is None:
        return job.nothing("Nothing to override: this head has no verdict yet.")
    evidence = last.evidence
    if isinstance(evidence, NoEvidence) or not _overrules(event.label, evidence):
        return job.nothing("Nothing to do: this is not the label that overrides the gate.")
    override = override_of(event, job)
    if event.action == "labeled" and override is None:
        return job.nothing(f"The label does not count: {event.sender} may not write here.")
    if override is None:  # without the label, a comment's word on this head still holds
        head = event.pull.head.sha or ""
        with job.dependencies.connect(event, job.inputs) as client:
            commanded = commanded_override(client, event.repo, event.number or 0, head)
        override = accepted_override(commanded, evidence.policy.config)
    return publish_again(job, event, last, override)


@dataclass(frozen=True)
class LastVerdict:
    """The files from which the run that has set a head's status has made its report."""

    run: RunId
    content: bytes
    verdict: bytes

    @cached_property
    def evidence(self) -> StageEvidence | NoEvidence:
        """What was collected then."""
        return evidence_from_text(self.content)


def last_verdict(client: GitHub, event: Event) -> LastVerdict | None:
    """The last verdict on the event's head, where the gate is a status; None where it has none.

    Raises:
        SourceError: where it is not certain that these are the files of that verdict.
    """
    pull, head = event.pull, event.pull.head.sha or ""
    refuse_twins(open_pulls(client, event.repo, head, pull.head_repo, pull.head.ref), head)
    run = _judged_by(client, event)
    if run is None:
        return None
    content = handed_file(client, event.repo, run.id, EVIDENCE)
    verdict = handed_file(client, event.repo, run.id, VERDICT)
    _refuse_unknown(client, event, digests(content, verdict))
    last = LastVerdict(run, content, verdict)
    refuse_other(last.evidence, event)
    return last


def publish_again(
    job: Job, event: Event, last: LastVerdict, override: Override | None
) -> JobResult:
    """Publish a verdict again, with a maintainer's word or without it."""
    evidence = last.evidence
    if isinstance(evidence, NoEvidence):
        return job.nothing("Nothing to do: there was no change to judge.")
    opinions = opinions_from_text(last.verdict)
    report = publish_stage(evidence, sha256(last.content), opinions, override)
    # In that run's name, so that one that judges anew is newer than this.
    files = digests(last.content, last.verdict)
    with Publication(job, replace(event, run=last.run), files) as publication:
        publication.begin(evidence.policy)
        return publication.finish(report)


def _closed(job: Job, event: Event) -> JobResult:
    """Close the gate until there is a verdict: an earlier one was for another base.

    A run that has judged this meanwhile is a later one, and its word stays.
    """
    with Publication(job, event) as publication:
        reported = publication.client.pull(event.repo, event.number or 0)
        onto = visible(event.pull.base.ref or "its base")
        conflicts = f"It conflicts with {onto}; the verdict follows when that is resolved"
        publication.close(conflicts if reported.mergeable is False else "The verdict follows")
    return job.nothing(f"The gate of #{event.number} is closed until its verdict is there.")


def _ask_readers(job: Job, event: Event) -> JobResult:
    """Start the run that has judged the head again, where a judge reads the title or the text.

    It takes the same build's evidence, and the other judges' answers are remembered.
    """
    with job.dependencies.connect(event, job.inputs) as client:
        latest = Statuses(client, event.repo).latest(event.pull.head.sha or "", CONTEXT)
        run = _judged_by(client, event) if latest and latest.state != "pending" else None
        if run is None:
            return job.nothing("Nothing to do: the verdict on this head is yet to come.")
        evidence = evidence_from_text(handed_file(client, event.repo, run.id, EVIDENCE))
        if isinstance(evidence, NoEvidence) or not evidence.policy.config.reads_descriptions:
            return job.nothing("Nothing to do: no judge of the policy reads titles or texts.")
        said = (event.pull.title, event.pull.body)
        if said == (evidence.pull.title, evidence.pull.body):
            return job.nothing("Nothing to do: this title and this text have been judged.")
        WorkflowRuns(client, event.repo).again(run.id, only_failed=False)
    return job.nothing(f"Run {run.id} judges the new title and text.")


def _overrules(label: str, evidence: StageEvidence) -> bool:
    ours = evidence.policy.config.gate.override.label
    return ours is not None and label.casefold() == ours.casefold()


def _refuse_unknown(client: GitHub, event: Event, files: str) -> None:
    """The run's artifacts count if they are those of which the report was made.

    Any job of a run may upload files of that name; which they must be, our own comment says, and
    no job that judges can write it.

    Raises:
        SourceError: where the comment says otherwise, or nothing.
    """
    account = client.login()
    comments = Comments(client, event.repo, event.number or 0).comments()
    ours = (Marker.of(comment.body) for comment in comments if comment.author == account)
    if not any(marker and marker.files == files for marker in ours):
        raise SourceError(
            "The last verdict cannot be published again",
            why="There is no comment of ours, or it names other files than that run's",
            remedy="Push again, so that the pull request is judged; the label needs the comment",
            reason="evidence_mismatch",
        )


def _judged_by(client: GitHub, event: Event) -> RunId | None:
    """The run that has set the head's status; None where there is none.

    Raises:
        SourceError: for a status that no run of ours has set.
    """
    statuses = Statuses(client, event.repo)
    latest = statuses.latest(event.pull.head.sha or "", CONTEXT)
    found = run_of(latest.target_url) if latest else None
    if latest is None or found is None:
        return None
    run = RunId(*found)
    path, needs = f"/actions/runs/{run.id}", "actions: read"
    reported = client.repo(event.repo).get(f"read run {run.id}", path, lambda it: it, needs=needs)
    # Runs of this event take their workflow from the default branch, whatever a fork brings.
    if at(reported, "event") != "workflow_run" or latest.creator != client.login():
        raise SourceError(
            f"The status {CONTEXT} was not set by the workflow that judges",
            why="Another workflow or person has set it",
            remedy="Push again, so that the pull request is judged",
            reason="not_bound",
        )
    return run
