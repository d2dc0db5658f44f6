"""The evidence of a build, ``prjury/build-evidence/v1``, as models; reading it believes nothing.

The file comes from where the code of a pull request ran. What has not exactly this form is refused.
"""

from __future__ import annotations

import json
import math
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from prjury.errors import CannotJudgeError
from prjury.judges.builds.failure import Kind, State
from prjury.snapshot.model import visible

SCHEMA_NAME = "prjury/build-evidence/v1"

#: Brackets in the whole file; a small file of nothing else would take gigabytes of memory.
_MOST_PARTS = 4_000_000
_LONGEST_PROBLEM = 200

Sha: TypeAlias = Annotated[str, Field(pattern=r"^(?:[0-9a-f]{40}|[0-9a-f]{64})$")]
Word: TypeAlias = Annotated[str, Field(pattern=r"^[a-z_]{1,40}$")]
LONGEST_LINE, LONGEST_TEXT = 10_000, 200_000
#: A path, a name, a message, a test's identity.
Line: TypeAlias = Annotated[str, Field(max_length=LONGEST_LINE)]
#: Commands and what they printed.
Text: TypeAlias = Annotated[str, Field(max_length=LONGEST_TEXT)]
Count: TypeAlias = Annotated[int, Field(ge=0, le=2**31)]
Seconds: TypeAlias = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]


class EvidencePart(BaseModel):
    """A part of the evidence: unknown keys, other types and values that are left out are errors."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class FailureJson(EvidencePart):
    """One cause of a failed build."""

    kind: Kind
    message: Line
    path: Line | None
    line: Annotated[int, Field(ge=1, lt=10**9)] | None
    name: Line | None
    suite: Line | None
    state: State
    details: Text = ""


class ReportsJson(EvidencePart):
    """What the test reports of one run say."""

    files: Count
    tests: Count
    counted: Count
    skipped: Count = 0
    by_runner: dict[Line, Count]
    ran: list[Line]
    failures: list[FailureJson]
    problems: list[Line]


class StepJson(EvidencePart):
    """A command that was run, and how it ended."""

    name: Word
    command: Text
    exit_code: Annotated[int, Field(ge=-1_000, le=2**32)]
    stopped: Word | None
    seconds: Seconds
    tail: Text
    log: Line


class OutcomeJson(EvidencePart):
    """What became of the steps on one tree."""

    allowed: Seconds
    steps: list[StepJson] = Field(min_length=1)
    failures: list[FailureJson]
    reports: ReportsJson


class CaseJson(EvidencePart):
    """What became of one build on the merged tree and, where that was tried, on the base."""

    thorough: bool
    merged: OutcomeJson
    base: OutcomeJson | None
    base_unknown: Line
    first: OutcomeJson | None
    ran_again: Count


class ErrorJson(EvidencePart):
    """Why a build could not be tried."""

    reason: Word
    message: Annotated[Line, Field(min_length=1)]


class BuildJson(EvidencePart):
    """One build: which one it is, and what became of it, or why nothing did."""

    system: Line
    directory: Line
    command: Text
    case: CaseJson | None
    error: ErrorJson | None

    @model_validator(mode="after")
    def _either(self) -> BuildJson:
        if (self.case is None) is (self.error is None):
            raise ValueError("a build has either a case or an error")
        return self


class BuildSandboxJson(EvidencePart):
    """How the build was kept in."""

    level: Literal["L0", "L1", "L2", "L3"]


class BuildEvidenceJson(EvidencePart):
    """The whole file. It holds no verdict: that is decided anew from what happened."""

    schema_: Literal["prjury/build-evidence/v1"] = Field(alias="schema")
    version: Line
    base: Sha
    head: Sha
    merged_tree: Sha | None
    sandbox: BuildSandboxJson
    builds: list[BuildJson]

    @model_validator(mode="after")
    def _each_once(self) -> BuildEvidenceJson:
        keys = [(build.system, build.directory, build.command) for build in self.builds]
        if len(set(keys)) != len(keys):
            raise ValueError("the same build is told twice")
        return self


def read_evidence(content: bytes) -> BuildEvidenceJson:
    """The evidence in a file.

    Raises:
        CannotJudgeError: ``evidence_invalid`` for anything that has not exactly the known form.
    """
    try:
        return BuildEvidenceJson.model_validate(_json(content))
    except ValidationError as error:
        raise invalid(_first(error)) from error
    except (ValueError, RecursionError) as error:
        told = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise invalid(f"it is not JSON: {told}") from error


def invalid(why: str) -> CannotJudgeError:
    """The error for evidence that cannot be what a build has left behind."""
    return CannotJudgeError(
        f"the evidence of the build is refused: {visible(why[:_LONGEST_PROBLEM])}",
        why="it was damaged or made up, or another version of prjury wrote it",
        remedy="build again with `prjury build`, in the same version",
        reason="evidence_invalid",
    )


def _json(content: bytes) -> Any:  # noqa: ANN401 - JSON
    if content.count(b"[") + content.count(b"{") > _MOST_PARTS:
        raise ValueError(f"it has more than {_MOST_PARTS} parts")
    return json.loads(
        content.decode("utf-8"),
        object_pairs_hook=_object,
        parse_constant=_refused,
        parse_float=_finite,
    )


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is repeated")
    return found


def _refused(word: str) -> float:
    raise ValueError(f"{word} is no number")


def _finite(text: str) -> float:
    if math.isfinite(number := float(text)):
        return number
    raise ValueError("a number is too large")


def _first(error: ValidationError) -> str:
    """The first thing that is wrong, with its place."""
    problem = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(str(part) for part in problem["loc"]) or "the whole"
    return f"{place}: {problem['msg']}"
