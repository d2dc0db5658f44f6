"""What collect hands over, with the files that models will read, and what decide makes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from prjury.app.registry import SeatPosition, Unwanted
from prjury.app.stages.replay import SeatRecord
from prjury.deadline import Deadline
from prjury.errors import SourceError
from prjury.jury.judgment import Judgment
from prjury.policy.load import Policy
from prjury.ports import Repository
from prjury.ports.types import TreeEntry
from prjury.report.model import Backport, Cost
from prjury.snapshot.merge_style import RebaseTrial, StyleCommit
from prjury.snapshot.model import PullRequest

#: Bytes of files that are taken along for models; what is beyond is context that they do without.
_MOST_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True)
class Files:
    """Files of a commit that were read: where they stand, and their bytes by object name."""

    commit: str
    entries: tuple[TreeEntry, ...] = ()
    blobs: Mapping[str, bytes | None] = field(default_factory=dict)


@dataclass(frozen=True)
class StageEvidence:
    """Everything that can be known of a pull request without a model.

    Attributes:
        policy: the policy in force; later stages do not read it again.
        unwanted: the judges that the operator has switched off.
        records: the judgment of every program, and which judges wait.
        files: the files that waiting judges will read beside the change.
        backports: the branches' trials.
        spares: why no model is to be asked, and the label for that; None where one may be.
        trusted: whether the policy may say where models are reached, and with which key.
        level: the sandbox level of this side; nothing of the change was run here.
        seconds: how long the judges of the next stage may take together.
    """

    pull: PullRequest
    policy: Policy
    records: Mapping[SeatPosition, SeatRecord]
    files: Files
    version: str
    unwanted: Unwanted = field(default_factory=lambda: Unwanted({}))
    backports: tuple[Backport, ...] = ()
    notes: tuple[str, ...] = ()
    spares: tuple[str, str] | None = None
    trusted: bool = False
    level: str = "L0"
    seconds: float = 2700.0
    elapsed_ms: int = 0


@dataclass(frozen=True)
class NoEvidence:
    """There was no change to judge."""

    reason: str
    repo: str
    number: int | None
    head_sha: str
    base_ref: str


@dataclass(frozen=True)
class Opinions:
    """The answers of the judges that had to wait, for one file of evidence.

    Attributes:
        evidence: sha256 of the file that they were asked about, 64 hex digits.
        opinion: the opinion on the backports that the trials leave open.
    """

    evidence: str
    records: Mapping[SeatPosition, SeatRecord]
    cost: Cost = field(default_factory=Cost)
    opinion: Judgment | None = None
    elapsed_ms: int = 0


@dataclass
class ReadingAlong:
    """A repository that records which files of the base were read."""

    repository: Repository
    commit: str
    _blobs: dict[str, bytes | None] = field(default_factory=dict)

    @property
    def seen(self) -> Files:
        """What was read, as much as is taken along."""
        entries = tuple(e for e in self.repository.files(self.commit) if e.blob in self._blobs)
        return Files(self.commit, entries, dict(self._blobs))

    def files(self, commit: str) -> Sequence[TreeEntry]:
        """Every file of a commit or tree."""
        return self.repository.files(commit)

    def read(self, blobs: Sequence[str]) -> Mapping[str, bytes | None]:
        """The blobs' bytes by object name."""
        found = self.repository.read(blobs)
        room = _MOST_BYTES - sum(len(content or b"") for content in self._blobs.values())
        for blob, content in sorted(found.items(), key=lambda pair: len(pair[1] or b"")):
            if blob not in self._blobs and len(content or b"") <= room:
                room -= len(content or b"")
                self._blobs[blob] = content
        return found

    def export(self, tree: str, directory: Path) -> Sequence[str]:
        """Writes a tree into an empty directory."""
        return self.repository.export(tree, directory)

    def recent(self, tip: str, count: int) -> Sequence[StyleCommit]:
        """The newest commits of a branch."""
        return self.repository.recent(tip, count)

    def rebase(self, base: str, head: str, deadline: Deadline) -> RebaseTrial:
        """Tries the head's commits one after the other."""
        return self.repository.rebase(base, head, deadline)


@dataclass(frozen=True)
class TakenAlong:
    """A repository that holds only the files that another stage has read."""

    taken: Files

    def files(self, commit: str) -> Sequence[TreeEntry]:
        """The files of that commit that were read.

        Raises:
            SourceError: for another commit, which must not look like an empty one.
        """
        if commit != self.taken.commit:
            raise self._absent()
        return self.taken.entries

    def read(self, blobs: Sequence[str]) -> Mapping[str, bytes | None]:
        """The blobs' bytes; None for those that were missing there as well.

        Raises:
            SourceError: for a blob that was not taken along.
        """
        if not self.taken.blobs.keys() >= set(blobs):
            raise self._absent()
        return {blob: self.taken.blobs[blob] for blob in blobs}

    def export(self, tree: str, directory: Path) -> Sequence[str]:  # noqa: ARG002 - there is none
        """Raises SourceError, as everything does that takes a repository."""
        raise self._absent()

    def recent(self, tip: str, count: int) -> Sequence[StyleCommit]:  # noqa: ARG002 - as above
        """Raises SourceError."""
        raise self._absent()

    def rebase(self, base: str, head: str, deadline: Deadline) -> RebaseTrial:  # noqa: ARG002 - as above
        """Raises SourceError."""
        raise self._absent()

    def _absent(self) -> SourceError:
        return SourceError(
            "the repository is not here",
            why="Models are asked in a job that holds their key and nothing else",
            reason="no_repository",
        )
