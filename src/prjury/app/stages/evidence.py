"""What passes from stage to stage, as values, which are their own JSON (`codec`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from msgspec import Meta, Struct, field

from prjury.app.registry import SeatPosition, Unwanted
from prjury.deadline import Deadline
from prjury.errors import SourceError
from prjury.judges.context import CallSite
from prjury.jury.judge import JudgeType
from prjury.policy.load import Policy
from prjury.ports import Repository
from prjury.ports.types import LinkedIssue, TreeEntry
from prjury.report.model import Backport, Cost, Count
from prjury.snapshot.merge_style import HistoryCommit, RebaseTrial
from prjury.snapshot.model import PullRequest

if TYPE_CHECKING:
    from prjury.jury.judgment import Judgment as KeptJudgment
else:
    KeptJudgment = Any  # `codec` reads it by `prjury.jury.codec`

#: Bytes of files that are taken along for models; what is beyond is context that they do without.
_MOST_BYTES = 8 * 1024 * 1024


class SeatRecord(Struct, frozen=True):
    """The judgment of one seat, and what has to be known about its judge."""

    title: str
    type: JudgeType
    lowers_only: bool = False
    #: None if it was not asked.
    judgment: KeptJudgment | None = None
    elapsed_ms: Count = 0
    #: Whether it is asked in another stage.
    waits: bool = False


#: What was said in which place.
Records: TypeAlias = Mapping[SeatPosition, SeatRecord]


class Files(Struct, frozen=True):
    """Files of a commit that were read: where they stand, and their bytes by object name."""

    commit: str
    entries: tuple[TreeEntry, ...] = ()
    blobs: Mapping[str, bytes | None] = {}


class StageEvidence(Struct, frozen=True):
    """Everything that can be known of a pull request without a model."""

    pull: PullRequest
    #: The policy in force; later stages do not read it again.
    policy: Policy
    records: Records
    files: Files
    version: str
    unwanted: Unwanted = Unwanted({})
    backports: tuple[Backport, ...] = ()
    notes: tuple[str, ...] = ()
    #: Why no model is to be asked, and the label for that; None where one may be.
    spares: tuple[str, str] | None = None
    #: Whether the policy may say where models are reached, and with which key.
    trusted: bool = False
    #: The sandbox level of this side; nothing of the change was run here.
    level: str = "L0"
    #: How long the judges of the next stage may take together.
    seconds: Annotated[float, Meta(ge=0.0)] = 2700.0
    elapsed_ms: Count = 0
    #: The record by which models may block; None if the base has none.
    calibration: str | None = None
    call_sites: tuple[CallSite, ...] = ()
    issues: tuple[LinkedIssue, ...] = ()
    answers_commands: bool = True


class NoEvidence(Struct, frozen=True):
    """There was no change to judge."""

    reason: str
    repo: str
    number: int | None
    head_sha: str
    base_ref: str


class Opinions(Struct, frozen=True):
    """The answers of the judges that had to wait, for one file of evidence."""

    #: Sha256 of the file that they were asked about, 64 hex digits.
    evidence: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
    records: Records
    cost: Cost = Cost()
    opinion: KeptJudgment | None = None
    elapsed_ms: Count = 0


class _FilesAlone(Struct, frozen=True):
    """A repository for judges that ask models: they read files, and nothing else is here."""

    def export(self, tree: str, directory: Path) -> Sequence[str]:  # noqa: ARG002 - it refuses
        """Refuse."""
        raise self._absent()

    def nearest_tag(self, commit: str) -> str:  # noqa: ARG002 - there is none
        """None: tags are not taken along."""
        return ""

    def recent(self, tip: str, count: int) -> Sequence[HistoryCommit]:  # noqa: ARG002 - as above
        """Refuse."""
        raise self._absent()

    def rebase(self, base: str, head: str, deadline: Deadline) -> RebaseTrial:  # noqa: ARG002 - as above
        """Refuse."""
        raise self._absent()

    def _absent(self) -> SourceError:
        return SourceError(
            "the repository is not here",
            why="Models are asked in a job that holds their key and nothing else",
            reason="no_repository",
        )


class ReadingAlong(_FilesAlone, frozen=True):
    """A repository that records which files of the base were read."""

    repository: Repository
    commit: str
    blobs: dict[str, bytes | None] = field(default_factory=dict)

    @property
    def seen(self) -> Files:
        """The files that were read, as many as are taken along."""
        entries = tuple(e for e in self.repository.files(self.commit) if e.blob in self.blobs)
        return Files(self.commit, entries, dict(self.blobs))

    def files(self, commit: str) -> Sequence[TreeEntry]:
        """Every file of a commit or tree."""
        return self.repository.files(commit)

    def read(self, blobs: Sequence[str]) -> Mapping[str, bytes | None]:
        """The blobs' bytes by object name."""
        contents = self.repository.read(blobs)
        room = _MOST_BYTES - sum(len(content or b"") for content in self.blobs.values())
        for blob, content in sorted(contents.items(), key=lambda pair: len(pair[1] or b"")):
            if blob not in self.blobs and len(content or b"") <= room:
                room -= len(content or b"")
                self.blobs[blob] = content
        return contents


class TakenAlong(_FilesAlone, frozen=True):
    """A repository that holds only the files that another stage has read.

    Everything else raises SourceError: what was not taken along must not look like an empty file.
    """

    taken: Files

    def files(self, commit: str) -> Sequence[TreeEntry]:
        """The files of that commit that were read."""
        if commit != self.taken.commit:
            raise self._absent()
        return self.taken.entries

    def read(self, blobs: Sequence[str]) -> Mapping[str, bytes | None]:
        """The blobs' bytes; None for those that were missing there as well."""
        if not self.taken.blobs.keys() >= set(blobs):
            raise self._absent()
        return {blob: self.taken.blobs[blob] for blob in blobs}
