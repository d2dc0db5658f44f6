"""The last verdict where the gate is a status, found again to be published with an override.

Nothing is judged and nothing of the change is fetched: the report is made again from the files of
the run that has set the status.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from prjury.action.job import Job, JobResult
from prjury.action.job_artifacts import EVIDENCE, VERDICT, digests, refuse_other
from prjury.action.publishing import Publication
from prjury.app.artifact_file import sha256
from prjury.app.stages.codec import evidence_from_text, opinions_from_text
from prjury.app.stages.evidence import NoEvidence, Opinions, StageEvidence
from prjury.app.stages.publish import opinions_without_models, publish_stage
from prjury.errors import CannotJudgeError, SourceError
from prjury.github.artifacts import handed_file
from prjury.github.client import GitHub
from prjury.github.comments import list_comments
from prjury.github.event import Event, RunId
from prjury.github.open_pulls import open_pulls, refuse_twins
from prjury.github.payload import at
from prjury.github.repo_client import RepoClient, login_of
from prjury.github.statuses import find_status
from prjury.publishers.comment import Marker
from prjury.publishers.races import find_run
from prjury.publishers.status import CONTEXT
from prjury.report.model import Override


@dataclass(frozen=True)
class LastVerdict:
    """The files from which the run that has set a head's status has made its report.

    Attributes:
        verdict: None where no model was asked.
    """

    run: RunId
    content: bytes
    verdict: bytes | None

    @cached_property
    def evidence(self) -> StageEvidence | NoEvidence:
        """The evidence of that run."""
        return evidence_from_text(self.content)

    @property
    def files(self) -> str:
        """The words in a comment's marker that name these files."""
        return digests(self.content, self.verdict)

    def opinions(self, evidence: StageEvidence) -> Opinions:
        """The models' answers in that run."""
        if self.verdict is None:
            return opinions_without_models(evidence, sha256(self.content))
        return opinions_from_text(self.verdict)


def last_verdict(client: GitHub, event: Event) -> LastVerdict | None:
    """Find the last verdict on the event's head; None if it has none, or the gate is a job.

    Raises:
        SourceError: if it is not certain that these are the files of that verdict.
    """
    pull, head = event.pull, event.pull.head.sha or ""
    refuse_twins(open_pulls(client, event.repo, head, pull.head_repo, pull.head.ref), head)
    run = _judging_run(client, event)
    if run is None:
        return None
    content = handed_file(client, event.repo, run.id, EVIDENCE)
    last = LastVerdict(run, content, _verdict_file(client, event.repo, run))
    _refuse_unknown(client, event, last.files)
    refuse_other(last.evidence, event)
    return last


def publish_again(
    job: Job, event: Event, last: LastVerdict, override: Override | None
) -> JobResult:
    """Publish a verdict again with a maintainer's override."""
    evidence = last.evidence
    if isinstance(evidence, NoEvidence):
        return job.nothing("Nothing to do: there was no change to judge.")
    opinions = last.opinions(evidence)
    # In that run's name, so that one that judges anew is newer than this.
    with Publication(job, replace(event, run=last.run), last.files) as publication:
        publication.begin(evidence.policy)
        dismissals = publication.earlier.dismissals
        report = publish_stage(evidence, sha256(last.content), opinions, override, dismissals)
        return publication.finish(report)


def _verdict_file(client: GitHub, repo: str, run: RunId) -> bytes | None:
    try:
        return handed_file(client, repo, run.id, VERDICT)
    except CannotJudgeError as error:
        if error.reason != "evidence_missing":
            raise
        return None


def _refuse_unknown(client: GitHub, event: Event, files: str) -> None:
    """Refuse artifacts that are not those of which the report was made.

    Any job of a run may upload files of that name; which they must be, our own comment says, and
    no job that judges can write it.

    Raises:
        SourceError: if the comment says otherwise, or nothing.
    """
    account = client.login()
    comments = list_comments(RepoClient(client, event.repo), event.number or 0)
    own = (comment for comment in comments if login_of(comment.user) == account)
    ours = (Marker.of(comment.body or "") for comment in own)
    if not any(marker and marker.files == files for marker in ours):
        raise SourceError(
            "The last verdict cannot be published again",
            why="There is no comment of ours, or it names other files than that run's",
            remedy="Push again, so that the pull request is judged; an override needs the comment",
            reason="evidence_mismatch",
        )


def _judging_run(client: GitHub, event: Event) -> RunId | None:
    """The run that has set the head's status; None if there is none.

    Raises:
        SourceError: for a status that no run of ours has set.
    """
    latest = find_status(RepoClient(client, event.repo), event.pull.head.sha or "", CONTEXT)
    found = find_run(latest.target_url) if latest else None
    if latest is None or found is None:
        return None
    run = RunId(*found)
    path, needs = f"/actions/runs/{run.id}", "actions: read"
    reported = client.repo(event.repo).get(f"read run {run.id}", path, lambda it: it, needs=needs)
    if at(reported, "event") == "pull_request_target" and latest.state == "pending":
        return None  # the gate of a new head, which waits for its verdict
    # Runs of this event take their workflow from the default branch, whatever a fork brings.
    if at(reported, "event") != "workflow_run" or login_of(latest.creator) != client.login():
        raise SourceError(
            f"The status {CONTEXT} was not set by the workflow that judges",
            why="Another workflow or person has set it",
            remedy="Push again, so that the pull request is judged",
            reason="not_bound",
        )
    return run
