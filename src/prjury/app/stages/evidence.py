"""What COLLECT hands over, and what JUDGE makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from prjury.app.registry import SeatPosition, Unwanted
from prjury.app.stages.files import Files
from prjury.app.stages.replay import SeatRecord
from prjury.jury.judgment import Judgment
from prjury.policy.load import Policy
from prjury.report.model import Backport, Cost
from prjury.snapshot.model import PullRequest


@dataclass(frozen=True)
class StageEvidence:
    """Everything that can be known of a pull request without a model.

    Attributes:
        policy: the policy in force; it is read from the base again by nobody.
        unwanted: the judges that the operator did not want asked.
        records: what every program said, and who waits to be asked.
        files: what those who wait will read beside the change.
        backports: the branches' trials.
        spares: why no model is to be asked, and the label for that; None where one may be.
        trusted: whether the policy may say where models are reached, and with which key.
        level: the sandbox level of this side; nothing of the change was run here.
        seconds: how long the judges of the next zone may take together.
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
    """There was no change to judge, and nothing stands against it."""

    reason: str
    repo: str
    number: int | None
    head_sha: str
    base_ref: str


@dataclass(frozen=True)
class Opinions:
    """What those said who had to wait, for one file of evidence.

    Attributes:
        evidence: sha256 of the file that they were asked about, 64 hex digits.
        opinion: what was said of the backports that the trials leave open.
    """

    evidence: str
    records: Mapping[SeatPosition, SeatRecord]
    cost: Cost = field(default_factory=Cost)
    opinion: Judgment | None = None
    elapsed_ms: int = 0
