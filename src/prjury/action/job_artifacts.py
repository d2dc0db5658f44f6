"""Files that pass from job to job, and what is believed of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from prjury.action.job import Job
from prjury.app.artifact_file import read_artifact_file
from prjury.app.evidence import LARGEST, NoEvidence, StageEvidence
from prjury.errors import SourceError, UsageError
from prjury.github.event import Event
from prjury.snapshot.model import visible

EVIDENCE, VERDICT = "evidence.json", "verdict.json"
#: Where the jobs before say which file they have made; empty where they have made none.
EVIDENCE_DIGEST, VERDICT_DIGEST = "PRJURY_EVIDENCE_SHA256", "PRJURY_VERDICT_SHA256"
#: Whether a job before has asked models; "false" where there is no key for them.
MODELS_ASKED = "PRJURY_MODELS_ASKED"


def download_artifacts(job: Job, name: str, variable: str) -> bytes:
    """A file that a job before has made."""
    digest = _read_digest(job.environ, variable)
    what = Path(name).stem
    path = job.places.report_file(name)
    return read_artifact_file(path, what, digest, LARGEST)


def refuse_other(evidence: StageEvidence | NoEvidence, event: Event) -> None:
    """Refuse files that are not about this pull request."""
    pull = event.pull
    if isinstance(evidence, NoEvidence):
        identity = (evidence.repo, evidence.number, evidence.head_sha)
        base = evidence.base_ref
    else:
        identity = (evidence.pull.repo, evidence.pull.number, evidence.pull.head.sha)
        base = evidence.pull.base.ref
    if identity == (pull.repo, pull.number, pull.head.sha) and base != pull.base.ref:
        raise SourceError(
            f"#{pull.number} was judged against {visible(base)}, and its base is another one now",
            why="It was moved to another base meanwhile",
            remedy="The move has started a run of its own; otherwise push again",
            reason="evidence_mismatch",
        )
    if identity != (pull.repo, pull.number, pull.head.sha):
        raise SourceError(
            f"The evidence is about #{identity[1]} at {identity[2][:12]}, and this run about "
            f"#{pull.number} at {str(pull.head.sha)[:12]}",
            why="The files come from another run, or were forged",
            remedy="Run all jobs of the workflow again",
            reason="evidence_mismatch",
        )


def _read_digest(environ: Mapping[str, str], variable: str) -> str:
    digest = environ.get(variable)
    if digest is None:
        raise UsageError(
            f"{variable} is not set",
            why="The job that made the file tells its sha256, so that no other is taken for it",
            remedy="Use the workflows that `prjury init --forks` writes",
        )
    return digest
