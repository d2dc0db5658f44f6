"""What passes from stage to stage, as values; each field's type says how a file holds it."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from msgspec import to_builtins
from pydantic import BaseModel, Field, GetPydanticSchema
from pydantic_core import core_schema

from prjury.app.registry import SeatPosition, Unwanted
from prjury.deadline import Deadline
from prjury.errors import SourceError
from prjury.judges.context import CallSite
from prjury.jury.codec import judgment_from_json, judgment_to_json
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment
from prjury.policy.load import Policy
from prjury.policy.schema import Config
from prjury.ports import Repository
from prjury.ports.types import TreeEntry
from prjury.report.codec import read_form
from prjury.report.model import Backport, ChangedNames, Cost
from prjury.snapshot.merge_style import RebaseTrial, StyleCommit
from prjury.snapshot.model import PullRequest

#: Bytes of files that are taken along for models; what is beyond is context that they do without.
_MOST_BYTES = 8 * 1024 * 1024

Json: TypeAlias = dict[str, Any]
_Count: TypeAlias = Annotated[int, Field(ge=0)]
_Seconds: TypeAlias = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
_Bytes: TypeAlias = str | dict[Literal["base64"], str]


def _hold_as(form: Any, write: Callable[..., Any], read: Callable[..., Any]) -> GetPydanticSchema:  # noqa: ANN401 - a type expression
    """Hold a value in a file in another form, which is checked before it is read."""
    writing = core_schema.plain_serializer_function_ser_schema(write)
    return GetPydanticSchema(
        lambda _, handler: core_schema.no_info_after_validator_function(
            read, handler(form), serialization=writing
        )
    )


def _write_bytes(content: bytes) -> str | Json:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode()}


def _read_bytes(content: _Bytes) -> bytes:
    if isinstance(content, str):
        return content.encode("utf-8", "surrogatepass")
    return base64.b64decode(content["base64"], validate=True)


class _PolicyJson(BaseModel):
    source: str
    hash: str
    resolved: Json


def _write_policy(policy: Policy) -> Json:
    return {"source": policy.source, "hash": policy.hash, "resolved": policy.resolved}


def _read_policy(form: _PolicyJson) -> Policy:
    # Files that a policy of the base names are files of the base, never of this machine.
    origin, _, place = form.source.partition(":")
    commit = place.partition(":")[0] if origin == "base" else None
    config = Config.model_validate(form.resolved, context={"commit": commit})
    policy = Policy(config, form.source)
    if policy.hash != form.hash:
        raise ValueError("the policy does not have its stated hash")
    return policy


_Judgment = Annotated[Judgment, _hold_as(Json, judgment_to_json, judgment_from_json)]
_Policy = Annotated[Policy, _hold_as(_PolicyJson, _write_policy, _read_policy)]
_Content = Annotated[bytes, _hold_as(_Bytes, _write_bytes, _read_bytes)]


def _struct(form: Any) -> GetPydanticSchema:  # noqa: ANN401 - a type expression
    return _hold_as(Any, to_builtins, lambda value: read_form(value, form))


_Pull = Annotated[PullRequest, _struct(PullRequest)]
_Entries = Annotated[tuple[TreeEntry, ...], _struct(tuple[TreeEntry, ...])]
_Cost = Annotated[Cost, _struct(Cost)]
_Backports = Annotated[tuple[Backport, ...], _struct(tuple[Backport, ...])]
_Names = Annotated[ChangedNames, _struct(ChangedNames)]


@dataclass(frozen=True)
class SeatRecord:
    """The judgment of one seat, and what has to be known about its judge.

    Attributes:
        title: the name on its ballots.
        judgment: None if it was not asked.
        waits: whether it is asked in another stage.
    """

    title: str
    type: JudgeType
    lowers_only: bool = False
    judgment: _Judgment | None = None
    elapsed_ms: _Count = 0
    waits: bool = False


@dataclass(frozen=True, kw_only=True)
class _SeatJson(SeatRecord):
    tier: str
    number: _Count
    judge: str


def _write_records(records: Mapping[SeatPosition, SeatRecord]) -> list[Json]:
    return [
        {
            "tier": place.tier,
            "number": place.number,
            "judge": place.name,
            **vars(record),
            "judgment": judgment_to_json(record.judgment) if record.judgment else None,
        }
        for place, record in sorted(records.items())
    ]


def _read_records(forms: Sequence[_SeatJson]) -> dict[SeatPosition, SeatRecord]:
    names = SeatRecord.__dataclass_fields__
    return {
        SeatPosition(one.tier, one.number, one.judge): SeatRecord(
            **{name: getattr(one, name) for name in names}
        )
        for one in forms
    }


#: What was said in which place.
Records: TypeAlias = Annotated[
    Mapping[SeatPosition, SeatRecord], _hold_as(list[_SeatJson], _write_records, _read_records)
]


@dataclass(frozen=True)
class Files:
    """Files of a commit that were read: where they stand, and their bytes by object name."""

    commit: str
    entries: _Entries = ()
    blobs: Mapping[str, _Content | None] = field(default_factory=dict)


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
        names: what the change does to public names.
        call_sites: what models are told of lines beyond the change.
        calibration: the record by which models may block; None if the base has none.
    """

    pull: _Pull
    policy: _Policy
    records: Records
    files: Files
    version: str
    unwanted: Unwanted = field(default_factory=lambda: Unwanted({}))
    backports: _Backports = ()
    notes: tuple[str, ...] = ()
    spares: tuple[str, str] | None = None
    trusted: bool = False
    level: str = "L0"
    seconds: _Seconds = 2700.0
    elapsed_ms: _Count = 0
    names: _Names | None = None
    calibration: str | None = None
    call_sites: tuple[CallSite, ...] = ()


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

    evidence: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    records: Records
    cost: _Cost = field(default_factory=Cost)
    opinion: _Judgment | None = None
    elapsed_ms: _Count = 0


@dataclass
class ReadingAlong:
    """A repository that records which files of the base were read."""

    repository: Repository
    commit: str
    _blobs: dict[str, bytes | None] = field(default_factory=dict)

    @property
    def seen(self) -> Files:
        """The files that were read, as many as are taken along."""
        entries = tuple(e for e in self.repository.files(self.commit) if e.blob in self._blobs)
        return Files(self.commit, entries, dict(self._blobs))

    def files(self, commit: str) -> Sequence[TreeEntry]:
        """Every file of a commit or tree."""
        return self.repository.files(commit)

    def read(self, blobs: Sequence[str]) -> Mapping[str, bytes | None]:
        """The blobs' bytes by object name."""
        contents = self.repository.read(blobs)
        room = _MOST_BYTES - sum(len(content or b"") for content in self._blobs.values())
        for blob, content in sorted(contents.items(), key=lambda pair: len(pair[1] or b"")):
            if blob not in self._blobs and len(content or b"") <= room:
                room -= len(content or b"")
                self._blobs[blob] = content
        return contents

    def export(self, tree: str, directory: Path) -> Sequence[str]:
        """Writes a tree into an empty directory."""
        return self.repository.export(tree, directory)

    def nearest_tag(self, commit: str) -> str:
        """The name of the nearest tag in a commit's history."""
        return self.repository.nearest_tag(commit)

    def recent(self, tip: str, count: int) -> Sequence[StyleCommit]:
        """The newest commits of a branch."""
        return self.repository.recent(tip, count)

    def rebase(self, base: str, head: str, deadline: Deadline) -> RebaseTrial:
        """Tries the head's commits one after the other."""
        return self.repository.rebase(base, head, deadline)


@dataclass(frozen=True)
class TakenAlong:
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

    def export(self, tree: str, directory: Path) -> Sequence[str]:  # noqa: ARG002 - there is none
        """Refuse."""
        raise self._absent()

    def nearest_tag(self, commit: str) -> str:  # noqa: ARG002 - there is none
        """None: tags are not taken along."""
        return ""

    def recent(self, tip: str, count: int) -> Sequence[StyleCommit]:  # noqa: ARG002 - as above
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
