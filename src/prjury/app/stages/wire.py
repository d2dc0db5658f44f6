"""The models of the files that pass from zone to zone: ``evidence.json``, and the opinions."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from prjury.app.registry import SeatPosition
from prjury.app.stages.replay import SeatRecord
from prjury.jury.codec import judgment_from_json, judgment_to_json
from prjury.jury.judge import JudgeType
from prjury.ports.types import TreeEntry
from prjury.report.model import Backport
from prjury.report.wire_model import CostJson
from prjury.snapshot.model import PullRequest

EVIDENCE_SCHEMA: Final = "prjury/evidence/v1"
OPINIONS_SCHEMA: Final = "prjury/opinions/v1"

Json = dict[str, Any]
Count = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class StagePart(BaseModel):
    """A part of a file; keys that are not known are of a later version, and are passed over."""

    model_config = ConfigDict(frozen=True)


class SeatJson(StagePart):
    """What was said in one place."""

    tier: str
    number: Count
    judge: str
    title: str
    type: JudgeType
    lowers_only: bool
    judgment: Json | None
    elapsed_ms: Count
    waits: bool = False

    @classmethod
    def of(cls, place: SeatPosition, record: SeatRecord) -> SeatJson:
        """The record as a value."""
        return cls(
            tier=place.tier,
            number=place.number,
            judge=place.name,
            title=record.title,
            type=record.type,
            lowers_only=record.lowers_only,
            judgment=judgment_to_json(record.judgment) if record.judgment else None,
            elapsed_ms=record.elapsed_ms,
            waits=record.waits,
        )

    def record(self) -> tuple[SeatPosition, SeatRecord]:
        """The place and what was said there."""
        said = judgment_from_json(self.judgment) if self.judgment is not None else None
        record = SeatRecord(
            self.title, self.type, self.lowers_only, said, self.elapsed_ms, self.waits
        )
        return SeatPosition(self.tier, self.number, self.judge), record


class StagePolicyJson(StagePart):
    """The policy in force."""

    source: str
    hash: Sha256
    resolved: Json


class FilesJson(StagePart):
    """Files that were read; content is text, or base64 where it is none, or missing."""

    commit: str
    entries: list[TreeEntry]
    blobs: dict[str, str | dict[Literal["base64"], str] | None]


class EvidenceJson(StagePart):
    """The file ``evidence.json``."""

    schema_: Literal["prjury/evidence/v1"] = Field(EVIDENCE_SCHEMA, alias="schema")
    version: str
    pull: PullRequest
    policy: StagePolicyJson
    records: list[SeatJson]
    files: FilesJson
    not_wanted: dict[str, str]
    models_not_wanted: str | None
    backports: list[Backport]
    notes: list[str]
    spares: tuple[str, str] | None
    trusted: bool
    level: str
    seconds: Seconds
    elapsed_ms: Count


class NothingJson(StagePart):
    """The file ``evidence.json`` where there is nothing to judge."""

    schema_: Literal["prjury/evidence/v1"] = Field(EVIDENCE_SCHEMA, alias="schema")
    nothing: str
    repo: str
    number: int | None
    head_sha: str
    base_ref: str


class OpinionsJson(StagePart):
    """The part of ``verdict.json`` that is read again."""

    schema_: Literal["prjury/opinions/v1"] = Field(OPINIONS_SCHEMA, alias="schema")
    evidence: Sha256
    records: list[SeatJson]
    cost: CostJson
    opinion: Json | None
    elapsed_ms: Count
