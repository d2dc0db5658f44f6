"""What passes from stage to stage, as values, and their JSON.

Reading takes nothing for granted: form, types and version are checked, a key may occur once, there
is no NaN, and the policy must have its stated hash. Paths that are not UTF-8
survive, as lone surrogates.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Never, TypeAlias, TypeVar

from msgspec import Meta, Struct, field, to_builtins
from msgspec.structs import replace

from prjury.app.registry import SeatPosition, Unwanted
from prjury.app.request import read_regular_file
from prjury.errors import CannotJudgeError, SourceError
from prjury.judges.context import CallSite
from prjury.jury.codec import judgment_from_json, judgment_to_json
from prjury.jury.judge import JudgeType
from prjury.policy.load import Policy, make_config
from prjury.ports import Repository
from prjury.ports.types import LinkedIssue, TreeEntry
from prjury.report.codec import SCHEMA_NAME, Json, read_form, report_to_json
from prjury.report.model import Backport, Cost, Count, Report
from prjury.report.sanitise import BY_SHAPE, Redact
from prjury.snapshot.model import PullRequest, visible

if TYPE_CHECKING:
    from prjury.jury.judgment import Judgment as KeptJudgment
else:
    KeptJudgment = Any  # `_convert_or_refuse` reads it by `prjury.jury.codec`

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

    def nearest_tag(self, commit: str) -> str:  # noqa: ARG002 - there is none
        return ""

    def refuse(self, *_: object, **__: object) -> Never:
        raise SourceError(
            "the repository is not here",
            why="Models are asked in a job that holds their key and nothing else",
            reason="no_repository",
        )

    export_and_list_missing = recent = rebase = refuse


class RecordingFiles(_FilesAlone, frozen=True):
    """A repository that records which files of the base were read."""

    repository: Repository
    commit: str
    blobs: dict[str, bytes | None] = field(default_factory=dict)

    @property
    def seen(self) -> Files:
        files = self.repository.files(self.commit)
        entries = tuple(entry for entry in files if entry.blob in self.blobs)
        return Files(self.commit, entries, dict(self.blobs))

    def files(self, commit: str) -> Sequence[TreeEntry]:
        return self.repository.files(commit)

    def read(self, blobs: Sequence[str]) -> Mapping[str, bytes | None]:
        contents = self.repository.read(blobs)
        room = _MOST_BYTES - sum(len(content or b"") for content in self.blobs.values())
        for blob, content in sorted(contents.items(), key=lambda pair: len(pair[1] or b"")):
            if blob not in self.blobs and len(content or b"") <= room:
                room -= len(content or b"")
                self.blobs[blob] = content
        return contents


class RecordedFiles(_FilesAlone, frozen=True):
    """A repository that holds only the files that another stage has read.

    Everything else raises SourceError: what was not taken along must not look like an empty file.
    """

    taken: Files

    def files(self, commit: str) -> Sequence[TreeEntry]:
        if commit != self.taken.commit:
            self.refuse()
        return self.taken.entries

    def read(self, blobs: Sequence[str]) -> Mapping[str, bytes | None]:
        """The blobs' bytes; None for those that were missing there as well."""
        if not self.taken.blobs.keys() >= set(blobs):
            self.refuse()
        return {blob: self.taken.blobs[blob] for blob in blobs}


#: The modes of the action that make the files.
MAKERS = {"evidence": "mode: collect", "verdict": "mode: decide"}

EVIDENCE_SCHEMA: Final = "prjury/evidence/v1"
OPINIONS_SCHEMA: Final = "prjury/opinions/v1"

#: Bytes of a file that passes from job to job.
LARGEST = 32 * 1024 * 1024
#: Bytes; what models say of a change is far smaller.
_LARGEST_VERDICT = 8 * 1024 * 1024

Passed = TypeVar("Passed", StageEvidence, NoEvidence, Opinions)


def dump_evidence_or_part(evidence: StageEvidence | NoEvidence) -> str:
    """The evidence as JSON. If it is too large, models do without the files beside the change."""
    value = {"schema": EVIDENCE_SCHEMA, **_encode_value(evidence)}
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
    value = _decode_value(content, "evidence", EVIDENCE_SCHEMA, LARGEST)
    if "reason" in value:
        return _convert_or_refuse(NoEvidence, value, "evidence")
    return _convert_or_refuse(StageEvidence, value, "evidence")


def verdict_to_text(report: Report, opinions: Opinions, redact: Redact = BY_SHAPE) -> str:
    """The file ``verdict.json``: the report for readers, and the opinions for the next stage."""
    opinions_json = {"schema": OPINIONS_SCHEMA, **_encode_value(opinions)}
    return _dump_json({**report_to_json(report, redact), "opinions": opinions_json})


def opinions_from_text(content: bytes) -> Opinions:
    """The opinions in what `verdict_to_text` wrote. The report beside them is ignored."""
    value = _decode_value(content, "verdict", SCHEMA_NAME, _LARGEST_VERDICT)
    if "opinions" not in value:
        raise _make_refusal("verdict", "it holds no opinions; a report alone cannot be published")
    opinions = _require_version(value["opinions"], "verdict", OPINIONS_SCHEMA)
    return _convert_or_refuse(Opinions, opinions, "verdict")


def _dump_json(value: Json) -> str:
    """ASCII alone, so that lone surrogates are escapes and lengths are bytes."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")) + "\n"


def _decode_value(content: bytes, artifact: str, schema: str, largest: int) -> Json:
    if len(content) > largest:
        raise _make_refusal(artifact, f"it is larger than {largest // 1024**2} MiB")
    try:
        value = json.loads(
            content,
            object_pairs_hook=_refuse_repeated_keys,
            parse_constant=_refuse_infinite,
            parse_float=_refuse_infinite,
        )
    except (ValueError, RecursionError) as error:
        raise _make_refusal(artifact, "it is not JSON, or a key stands twice") from error
    return _require_version(value, artifact, schema)


def _require_version(value: object, artifact: str, schema: str) -> Json:
    version = value.get("schema") if isinstance(value, dict) else None
    if not isinstance(value, dict) or version != schema:
        family = schema.rpartition("/")[0]
        other = isinstance(version, str) and version.startswith(f"{family}/")
        raise _make_refusal(artifact, "it is of another version" if other else f"it is no {schema}")
    return value


def _refuse_repeated_keys(pairs: Sequence[tuple[str, Any]]) -> Json:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key stands twice")
    return value


def _refuse_infinite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits[:20]} is no number")
    return number


def _encode_value(artifact: StageEvidence | NoEvidence | Opinions) -> Json:
    """Return what passes as JSON; judgments and the policy have forms of their own."""
    value: Json = {name: getattr(artifact, name) for name in artifact.__struct_fields__}
    if isinstance(artifact, StageEvidence | Opinions):
        records = value["records"] = []
        for place, record in sorted(artifact.records.items()):
            form = to_builtins(replace(record, judgment=None))
            if record.judgment:
                form["judgment"] = judgment_to_json(record.judgment)
            records.append((place, form))
    if isinstance(artifact, StageEvidence):
        policy = artifact.policy
        value["policy"] = _PolicyForm(policy.source, policy.hash, policy.resolved)
    if isinstance(artifact, Opinions) and artifact.opinion:
        value["opinion"] = judgment_to_json(artifact.opinion)
    plain: Json = to_builtins(value)
    return plain


def _convert_or_refuse(kind: type[Passed], value: Json, artifact: str) -> Passed:
    absent = [name for name in kind.__struct_fields__ if name not in value]
    if absent:
        raise _make_refusal(artifact, f"{absent[0]} is missing")
    try:
        own = dict(value)
        if "records" in own:
            own["records"] = _read_records(own["records"])
        if "policy" in own:
            own["policy"] = _read_policy_and_check_hash(own["policy"])
        if own.get("opinion") is not None:
            own["opinion"] = judgment_from_json(own["opinion"])
        return read_form(own, kind)
    except RecursionError as error:
        raise _make_refusal(artifact, "it is nested too deeply") from error
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise _make_refusal(artifact, str(error) or type(error).__name__) from error


def _read_records(value: object) -> Records:
    records = {}
    for place, record in read_form({"records": value}, _RecordsForm).records:
        form: Any = record.judgment
        judgment = None if form is None else judgment_from_json(form)
        records[place] = replace(record, judgment=judgment)
    return records


class _RecordsForm(Struct, frozen=True):
    records: tuple[tuple[SeatPosition, SeatRecord], ...]


class _PolicyForm(Struct, frozen=True):
    source: str
    hash: str
    resolved: Mapping[str, Any]


def _read_policy_and_check_hash(value: object) -> Policy:
    # Files that a policy of the base names are files of the base, never of this machine.
    form = read_form(value, _PolicyForm)
    commit = form.source.split(":")[1] if form.source.startswith("base:") else None
    policy = Policy(make_config(form.resolved, commit), form.source)
    if policy.hash != form.hash:
        raise ValueError("the policy does not have its stated hash")
    return policy


def _make_refusal(artifact: str, why: str) -> SourceError:
    return SourceError(
        f"The {artifact} is refused: {why.splitlines()[0][:200]}",
        why="It is another file, was damaged or forged, or another release of prjury wrote it",
        remedy=f"Use the file that `{MAKERS[artifact]}` of this release has written, by the "
        "workflows that `prjury init --forks` writes, and run the workflow again",
        reason=f"{artifact}_invalid",
    )


def read_artifact_file(path: Path, artifact: str, digest: str) -> bytes:
    try:
        content = read_regular_file(path, LARGEST)
    except FileNotFoundError as error:
        raise SourceError(
            f"There is no {visible(path.name)}",
            why=f"`{MAKERS[artifact]}` makes it: that was not run here, or its job in the "
            "workflow has failed, was cancelled or did not upload it",
            remedy=f"Look at the job with `{MAKERS[artifact]}`, then run the workflow again",
            reason=f"{artifact}_missing",
        ) from error
    except OSError as error:
        raise _make_refusal(artifact, error.strerror or str(error)) from error
    expected = digest.strip().removeprefix("sha256:").lower()
    if not hmac.compare_digest(sha256(content), expected):
        raise _make_refusal(artifact, "it is not the file that the job before has made")
    return content


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
