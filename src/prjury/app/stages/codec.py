"""Evidence and opinions as JSON, and back.

Reading takes nothing for granted: form, types and version are checked, a key may occur once, there
is no NaN, and the policy must have its stated hash. Paths that are not UTF-8
survive, as lone surrogates.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from prjury.app.artifact_file import MAKERS
from prjury.app.registry import SeatPosition
from prjury.app.stages.evidence import NoEvidence, Opinions, Records, SeatRecord, StageEvidence
from prjury.errors import CannotJudgeError, SourceError
from prjury.jury.codec import judgment_from_json, judgment_to_json
from prjury.policy.load import Policy, make_config
from prjury.report.codec import SCHEMA_NAME, Json, read_form, report_to_json
from prjury.report.model import Report
from prjury.report.redact import Redact
from prjury.report.sanitise import BY_SHAPE

EVIDENCE_SCHEMA: Final = "prjury/evidence/v1"
OPINIONS_SCHEMA: Final = "prjury/opinions/v1"

#: Bytes of a file that passes from job to job.
LARGEST = 32 * 1024 * 1024
#: Bytes; what models say of a change is far smaller.
_LARGEST_VERDICT = 8 * 1024 * 1024

Passed = TypeVar("Passed", StageEvidence, NoEvidence, Opinions)


def evidence_to_text(evidence: StageEvidence | NoEvidence) -> str:
    """The evidence as JSON. If it is too large, models do without the files beside the change."""
    value = {"schema": EVIDENCE_SCHEMA, **_to_value(evidence)}
    text = _dump_json(value)
    if len(text) > LARGEST and "files" in value:
        text = _dump_json({**value, "files": {**value["files"], "entries": [], "blobs": {}}})
    if len(text) > LARGEST:
        raise CannotJudgeError(
            f"the change takes more than {LARGEST // 1024**2} MiB to hand over",
            why="It is very large",
            remedy="Split it, or judge it in one job with the mode review",
            reason="too_large",
        )
    return text


def evidence_from_text(content: bytes) -> StageEvidence | NoEvidence:
    """The evidence that `evidence_to_text` wrote."""
    value = _value_of(content, "evidence", EVIDENCE_SCHEMA, LARGEST)
    if "reason" in value:
        return _convert(NoEvidence, value, "evidence")
    return _convert(StageEvidence, value, "evidence")


def verdict_to_text(report: Report, opinions: Opinions, redact: Redact = BY_SHAPE) -> str:
    """The file ``verdict.json``: the report for readers, and the opinions for the next stage."""
    opinions_json = {"schema": OPINIONS_SCHEMA, **_to_value(opinions)}
    return _dump_json({**report_to_json(report, redact), "opinions": opinions_json})


def opinions_from_text(content: bytes) -> Opinions:
    """The opinions in what `verdict_to_text` wrote. The report beside them is ignored."""
    value = _value_of(content, "verdict", SCHEMA_NAME, _LARGEST_VERDICT)
    if "opinions" not in value:
        raise _invalid("verdict", "it holds no opinions; a report alone cannot be published")
    opinions = _of_version(value["opinions"], "verdict", OPINIONS_SCHEMA)
    return _convert(Opinions, opinions, "verdict")


def _dump_json(value: Json) -> str:
    """ASCII alone, so that lone surrogates are escapes and lengths are bytes."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")) + "\n"


def _value_of(content: bytes, what: str, schema: str, largest: int) -> Json:
    if len(content) > largest:
        raise _invalid(what, f"it is larger than {largest // 1024**2} MiB")
    try:
        value = json.loads(
            content,
            object_pairs_hook=_refuse_repeated_keys,
            parse_constant=_refuse,
            parse_float=_finite,
        )
    except (ValueError, RecursionError) as error:
        raise _invalid(what, "it is not JSON, or a key stands twice") from error
    return _of_version(value, what, schema)


def _of_version(value: object, what: str, schema: str) -> Json:
    version = value.get("schema") if isinstance(value, dict) else None
    if not isinstance(value, dict) or version != schema:
        family = schema.rpartition("/")[0]
        other = isinstance(version, str) and version.startswith(f"{family}/")
        raise _invalid(what, "it is of another version" if other else f"it is no {schema}")
    return value


def _refuse_repeated_keys(pairs: Sequence[tuple[str, Any]]) -> Json:
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


def _to_value(passed: StageEvidence | NoEvidence | Opinions) -> Json:
    """Return what passes as JSON; judgments and the policy have forms of their own."""
    value: Json = {name: getattr(passed, name) for name in passed.__struct_fields__}
    if isinstance(passed, StageEvidence | Opinions):
        value["records"] = [
            (place, {**to_builtins(replace(record, judgment=None)), **_keep(record)})
            for place, record in sorted(passed.records.items())
        ]
    if isinstance(passed, StageEvidence):
        policy = passed.policy
        value["policy"] = _PolicyForm(policy.source, policy.hash, policy.resolved)
    if isinstance(passed, Opinions) and passed.opinion:
        value["opinion"] = judgment_to_json(passed.opinion)
    plain: Json = to_builtins(value)
    return plain


def _keep(record: SeatRecord) -> Json:
    return {"judgment": judgment_to_json(record.judgment)} if record.judgment else {}


def _convert(kind: type[Passed], value: Json, what: str) -> Passed:
    absent = [name for name in kind.__struct_fields__ if name not in value]
    if absent:
        raise _invalid(what, f"{absent[0]} is missing")
    try:
        own = dict(value)
        if "records" in own:
            own["records"] = _read_records(own["records"])
        if "policy" in own:
            own["policy"] = _read_policy(own["policy"])
        if own.get("opinion") is not None:
            own["opinion"] = judgment_from_json(own["opinion"])
        return read_form(own, kind)
    except RecursionError as error:
        raise _invalid(what, "it is nested too deeply") from error
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise _invalid(what, str(error) or type(error).__name__) from error


def _read_records(value: object) -> Records:
    pairs = read_form({"records": value}, _RecordsForm).records
    return {
        place: replace(record, judgment=judgment_from_json(record.judgment))  # type: ignore[arg-type] # as it is in the file
        if record.judgment is not None
        else record
        for place, record in pairs
    }


class _RecordsForm(Struct, frozen=True):
    records: tuple[tuple[SeatPosition, SeatRecord], ...]


class _PolicyForm(Struct, frozen=True):
    source: str
    hash: str
    resolved: Mapping[str, Any]


def _read_policy(value: object) -> Policy:
    # Files that a policy of the base names are files of the base, never of this machine.
    form = read_form(value, _PolicyForm)
    origin, _, place = form.source.partition(":")
    commit = place.partition(":")[0] if origin == "base" else None
    policy = Policy(make_config(form.resolved, commit), form.source)
    if policy.hash != form.hash:
        raise ValueError("the policy does not have its stated hash")
    return policy


def _invalid(what: str, why: str) -> SourceError:
    return SourceError(
        f"The {what} is refused: {why.splitlines()[0][:200]}",
        why="It is another file, was damaged or forged, or another release of prjury wrote it",
        remedy=f"Name the file that `{MAKERS[what]}` of this release has written",
        reason=f"{what}_invalid",
    )
