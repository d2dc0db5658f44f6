"""Evidence and opinions as JSON, and back.

Reading takes nothing for granted: form, types and version are checked, a key may occur once, there
is no NaN, and the policy must have its stated hash. Paths that are not UTF-8
survive, as lone surrogates.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Final, TypeVar

from pydantic import TypeAdapter, ValidationError

from prjury.app.artifact_file import MAKERS
from prjury.app.stages.evidence import Json, NoEvidence, Opinions, StageEvidence
from prjury.errors import CannotJudgeError, SourceError, first_problem
from prjury.report.codec import SCHEMA_NAME, report_to_json
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

_FORMS: dict[type[Any], TypeAdapter[Any]] = {
    kind: TypeAdapter(kind) for kind in (StageEvidence, NoEvidence, Opinions)
}


def evidence_to_text(evidence: StageEvidence | NoEvidence) -> str:
    """The evidence as JSON. If it is too large, models do without the files beside the change.

    Raises:
        CannotJudgeError: ``too_large``.
    """
    value = {"schema": EVIDENCE_SCHEMA, **_FORMS[type(evidence)].dump_python(evidence)}
    text = _text(value)
    if len(text) > LARGEST and "files" in value:
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
    value = _value_of(content, "evidence", EVIDENCE_SCHEMA, LARGEST)
    if "reason" in value:
        return _convert(NoEvidence, value, "evidence")
    return _convert(StageEvidence, value, "evidence")


def verdict_to_text(report: Report, opinions: Opinions, redact: Redact = BY_SHAPE) -> str:
    """The file ``verdict.json``: the report for readers, and the opinions for the next stage."""
    opinions_json = {"schema": OPINIONS_SCHEMA, **_FORMS[Opinions].dump_python(opinions)}
    return _text({**report_to_json(report, redact), "opinions": opinions_json})


def opinions_from_text(content: bytes) -> Opinions:
    """The opinions in what `verdict_to_text` wrote. The report beside them is ignored.

    Raises:
        SourceError: ``verdict_invalid``, for anything else.
    """
    value = _value_of(content, "verdict", SCHEMA_NAME, _LARGEST_VERDICT)
    if "opinions" not in value:
        raise _invalid("verdict", "it holds no opinions; a report alone cannot be published")
    opinions = _of_version(value["opinions"], "verdict", OPINIONS_SCHEMA)
    return _convert(Opinions, opinions, "verdict")


def _text(value: Json) -> str:
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


def _convert(kind: type[Passed], value: Json, what: str) -> Passed:
    absent = [each.name for each in fields(kind) if each.name not in value]
    if absent:
        raise _invalid(what, f"{absent[0]} is missing")
    try:
        made: Passed = _FORMS[kind].validate_python(value)
    except ValidationError as error:
        raise _invalid(what, first_problem(error.errors())) from error
    except RecursionError as error:
        raise _invalid(what, "it is nested too deeply") from error
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise _invalid(what, str(error) or type(error).__name__) from error
    return made


def _invalid(what: str, why: str) -> SourceError:
    return SourceError(
        f"The {what} is refused: {why.splitlines()[0][:200]}",
        why="It is another file, was damaged or forged, or another release of prjury wrote it",
        remedy=f"Name the file that `{MAKERS[what]}` of this release has written",
        reason=f"{what}_invalid",
    )
