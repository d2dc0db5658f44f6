"""Evidence and opinions as JSON, and back.

Reading takes nothing for granted: form, types and version are checked, a key may occur once, there
is no NaN, and the policy must have its stated hash. Paths that are not UTF-8
survive, as lone surrogates.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from prjury.app.registry import SeatPosition, Unwanted
from prjury.app.stages.evidence import Files, NoEvidence, Opinions, StageEvidence
from prjury.app.stages.replay import SeatRecord
from prjury.errors import CannotJudgeError, SourceError
from prjury.jury.codec import judgment_from_json, judgment_to_json
from prjury.jury.judge import JudgeType
from prjury.policy.load import Policy
from prjury.policy.schema import Config
from prjury.ports.types import TreeEntry
from prjury.report.codec import report_to_json
from prjury.report.model import Backport, Cost, Report
from prjury.report.redact import Redact
from prjury.report.sanitise import BY_SHAPE
from prjury.report.wire_model import SCHEMA_NAME, CostJson
from prjury.snapshot.model import PullRequest

EVIDENCE_SCHEMA: Final = "prjury/evidence/v1"
OPINIONS_SCHEMA: Final = "prjury/opinions/v1"

#: Bytes of a file that passes from job to job.
LARGEST = 32 * 1024 * 1024

Json = dict[str, Any]
Wire = TypeVar("Wire", bound=BaseModel)
Made = TypeVar("Made")
Count = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class StagePart(BaseModel):
    """A part of a file; keys that are not known are of a later version, and are passed over."""

    model_config = ConfigDict(frozen=True)


class SeatJson(StagePart):
    """The judgment of one place."""

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
        """The place and its judgment."""
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


#: Bytes; what models say of a change is far smaller.
_LARGEST_VERDICT = 8 * 1024 * 1024


def evidence_to_text(evidence: StageEvidence | NoEvidence) -> str:
    """The evidence as JSON. If it is too large, models do without the files beside the change.

    Raises:
        CannotJudgeError: ``too_large``.
    """
    if isinstance(evidence, NoEvidence):
        fields = {
            name: getattr(evidence, name) for name in ("repo", "number", "head_sha", "base_ref")
        }
        return _text({"schema": EVIDENCE_SCHEMA, "nothing": evidence.reason, **fields})
    value = _evidence(evidence)
    text = _text(value)
    if len(text) > LARGEST:
        text = _text({**value, "files": {**value["files"], "entries": [], "blobs": {}}})
    if len(text) > LARGEST:
        raise CannotJudgeError(
            f"the change takes more than {LARGEST // 1024**2} MiB to hand over",
            why="It is very large",
            remedy="Split it, or judge it in one job with the mode review",
            reason="too_large",
        )
    return text


def evidence_from_text(content: bytes) -> StageEvidence | NoEvidence:
    """The evidence that `evidence_to_text` wrote.

    Raises:
        SourceError: ``evidence_invalid``, for anything else.
    """
    value = _value_of(content, "evidence", EVIDENCE_SCHEMA)
    if "nothing" in value:
        told = _checked(NothingJson, value, "evidence")
        return NoEvidence(told.nothing, told.repo, told.number, told.head_sha, told.base_ref)
    wire = _checked(EvidenceJson, value, "evidence")
    return _made(lambda: _from_wire(wire), "evidence")


def verdict_to_text(report: Report, opinions: Opinions, redact: Redact = BY_SHAPE) -> str:
    """The file ``verdict.json``: the report for readers, and the opinions for the next stage."""
    told = report_to_json(report, redact)
    return _text({**told, "opinions": _opinions(opinions)})


def opinions_from_text(content: bytes) -> Opinions:
    """The opinions in what `verdict_to_text` wrote. The report beside them is ignored.

    Raises:
        SourceError: ``verdict_invalid``, for anything else.
    """
    value = _value_of(content, "verdict", SCHEMA_NAME, _LARGEST_VERDICT)
    if "opinions" not in value:
        raise _invalid("verdict", "it holds no opinions; a report alone cannot be published")
    wire = _checked(OpinionsJson, value["opinions"], "verdict")
    return _made(lambda: _opinions_of(wire), "verdict")


def _opinions(opinions: Opinions) -> Json:
    return {
        "schema": OPINIONS_SCHEMA,
        "evidence": opinions.evidence,
        "records": _seats(opinions.records),
        "cost": {name: getattr(opinions.cost, name) for name in Cost.__dataclass_fields__},
        "opinion": judgment_to_json(opinions.opinion) if opinions.opinion else None,
        "elapsed_ms": opinions.elapsed_ms,
    }


def _opinions_of(wire: OpinionsJson) -> Opinions:
    opinion = judgment_from_json(wire.opinion) if wire.opinion is not None else None
    records = dict(seat.record() for seat in wire.records)
    cost = Cost(**wire.cost.model_dump())
    return Opinions(wire.evidence, records, cost, opinion, wire.elapsed_ms)


def _evidence(evidence: StageEvidence) -> Json:
    policy, files = evidence.policy, evidence.files
    return {
        "schema": EVIDENCE_SCHEMA,
        "version": evidence.version,
        "pull": _PULL.dump_python(evidence.pull),
        "policy": {
            "source": policy.source,
            "hash": policy.hash,
            "resolved": policy.resolved,
        },
        "records": _seats(evidence.records),
        "files": {
            "commit": files.commit,
            "entries": [_ENTRY.dump_python(entry) for entry in files.entries],
            "blobs": {blob: _content(content) for blob, content in files.blobs.items()},
        },
        "not_wanted": dict(evidence.unwanted.judges),
        "models_not_wanted": evidence.unwanted.model_backed,
        "backports": [_BACKPORT.dump_python(backport) for backport in evidence.backports],
        "notes": list(evidence.notes),
        "spares": evidence.spares,
        "trusted": evidence.trusted,
        "level": evidence.level,
        "seconds": evidence.seconds,
        "elapsed_ms": evidence.elapsed_ms,
    }


def _from_wire(wire: EvidenceJson) -> StageEvidence:
    # Files that a policy of the base names are files of the base, never of this machine.
    commit = wire.pull.base.sha if wire.policy.source.startswith("base:") else None
    config = Config.model_validate(wire.policy.resolved, context={"commit": commit})
    policy = Policy(config, wire.policy.source)
    if policy.hash != wire.policy.hash:
        raise ValueError("the policy does not have its stated hash")
    files = wire.files
    blobs = {blob: _bytes(content) for blob, content in files.blobs.items()}
    return StageEvidence(
        pull=wire.pull,
        policy=policy,
        records=dict(seat.record() for seat in wire.records),
        files=Files(files.commit, tuple(files.entries), blobs),
        version=wire.version,
        unwanted=Unwanted(wire.not_wanted, wire.models_not_wanted),
        backports=tuple(wire.backports),
        notes=tuple(wire.notes),
        spares=wire.spares,
        trusted=wire.trusted,
        level=wire.level,
        seconds=wire.seconds,
        elapsed_ms=wire.elapsed_ms,
    )


_PULL = TypeAdapter(PullRequest)
_ENTRY = TypeAdapter(TreeEntry)
_BACKPORT = TypeAdapter(Backport)


def _seats(records: Mapping[SeatPosition, SeatRecord]) -> list[Json]:
    ordered = sorted(records.items())
    return [SeatJson.of(place, record).model_dump(mode="json") for place, record in ordered]


def _content(content: bytes | None) -> str | Json | None:
    if content is None:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode()}


def _bytes(content: str | Mapping[Literal["base64"], str] | None) -> bytes | None:
    if content is None or isinstance(content, str):
        return None if content is None else content.encode("utf-8", "surrogatepass")
    return base64.b64decode(content["base64"], validate=True)


def _text(value: Json) -> str:
    """ASCII alone, so that lone surrogates are escapes and lengths are bytes."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")) + "\n"


def _value_of(content: bytes, what: str, schema: str, largest: int = LARGEST) -> Json:
    """The file's value, of the version that is read here.

    Args:
        what: what the file holds, for messages.
        largest: bytes.

    Raises:
        SourceError: ``…_invalid``, for anything else.
    """
    if len(content) > largest:
        raise _invalid(what, f"it is larger than {largest // 1024**2} MiB")
    try:
        value = json.loads(
            content, object_pairs_hook=_once, parse_constant=_refuse, parse_float=_finite
        )
    except (ValueError, RecursionError) as error:
        raise _invalid(what, "it is not JSON, or a key stands twice") from error
    found = value.get("schema") if isinstance(value, dict) else None
    if found != schema:
        family = schema.rpartition("/")[0]
        other = isinstance(found, str) and found.startswith(f"{family}/")
        raise _invalid(what, "it is of another version" if other else f"it is no {schema}")
    return dict(value)


def _once(pairs: Sequence[tuple[str, Any]]) -> Json:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key stands twice")
    return value


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits[:20]} is too large a number")
    return number


def _refuse(word: str) -> float:
    raise ValueError(f"{word} is no number")


def _checked(model: type[Wire], value: object, what: str) -> Wire:
    """The value in its form.

    Raises:
        SourceError: ``…_invalid``, naming the key.
    """
    try:
        return model.model_validate(value)
    except (ValidationError, RecursionError) as error:
        detail = error.errors()[0] if isinstance(error, ValidationError) else None
        place = ".".join(map(str, detail["loc"])) if detail else "it"
        told = f"{place}: {detail['msg']}" if detail else "it is nested too deeply"
        raise _invalid(what, told[:200]) from error


def _made(make: Callable[[], Made], what: str) -> Made:
    """What the function makes of a checked value.

    Raises:
        SourceError: ``…_invalid``, where it cannot.
    """
    try:
        return make()
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise _invalid(what, str(error).splitlines()[0][:200] or type(error).__name__) from error


def _invalid(what: str, why: str) -> SourceError:
    """The refusal of a file."""
    return SourceError(
        f"The {what} from the job before is refused: {why}",
        why="It was damaged or forged, or the jobs use different releases",
        remedy="Use one release in all jobs of the workflow, and run it again",
        reason=f"{what}_invalid",
    )
