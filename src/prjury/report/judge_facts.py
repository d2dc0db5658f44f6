"""What the report needs of a judgment: small values that judges write and that the report reads.

A judge merges `to_metadata()` of its facts into the judgment's metadata, where they are JSON;
readers call `of()`. Metadata may come from another version or from a judge of somebody else, so
`of` leaves out whatever has not the expected form. Builds and merges are known by their key
``facts``, never by the judge's name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Self, TypeVar

from pydantic import (
    AliasChoices,
    AliasPath,
    BeforeValidator,
    Field,
    Strict,
    TypeAdapter,
    ValidationError,
)

from prjury.jury.judgment import Check, Judgment, Location
from prjury.report.model import Cost

Metadata = Mapping[str, Any]
#: The judgment is not about this change's code alone: the base fails in the same way.
BASE_BROKEN = "base_broken"
#: Everything that ran passed, but tests of the base did not run.
TESTS_VANISHED = "tests_vanished"
FAILURES_IGNORED = "failures_ignored"

_KIND = "facts"
_MOST_REFERENCES = 2


_FORMS: dict[type[Any], TypeAdapter[Any]] = {}

Facts = TypeVar("Facts")
#: A whole number; neither a truth value nor a text is one.
Count = Annotated[int, Strict()]


def _form(kind: type[Facts]) -> TypeAdapter[Facts]:
    return _FORMS.get(kind) or _FORMS.setdefault(kind, TypeAdapter(kind))


def _written(facts: object) -> dict[str, Any]:
    """The facts under their keys."""
    values: dict[str, Any] = _form(type(facts)).dump_python(facts, mode="json", by_alias=True)
    return values


def _read(kind: type[Facts], data: Metadata) -> Facts:
    """The facts in metadata, without the values, or entries of lists, that have another form."""
    form = _form(kind)
    try:
        return form.validate_python(data)
    except ValidationError as error:
        odd = {each["loc"][:2] for each in error.errors(include_url=False, include_input=False)}
    whole = {key for key, *at in odd if not (at and isinstance(at[0], int))}
    return form.validate_python(
        {key: _without(odd, key, data[key]) for key in data if key not in whole}
    )


def _without(odd: Collection[tuple[int | str, ...]], key: str, value: object) -> object:
    if not isinstance(value, list | tuple):
        return value
    return [entry for at, entry in enumerate(value) if (key, at) not in odd]


def _runs(repeated: object) -> object:
    data = repeated if isinstance(repeated, Mapping) else {}
    return f"{data.get('strategy', 'one')} of {data.get('total_judges', '?')} runs" if data else ""


@dataclass(frozen=True, slots=True)
class GeneralFacts:
    """What any judge may say of its judgment.

    Attributes:
        subject: what it looked at.
        summaries: the names of checks that only sum up its other checks.
        repeated: which of several runs speaks for all, such as ``median of 3 runs``.
        aggregation: the counts that the judgment of a jury rests on.
    """

    subject: str = ""
    summaries: frozenset[str] = frozenset()
    repeated: Annotated[str, BeforeValidator(_runs)] = ""
    aggregation: dict[str, Any] | None = None

    @classmethod
    def of(cls, judgment: Judgment) -> Self:
        """The facts of a judgment."""
        return _read(cls, judgment.metadata)


def _calls(given: object) -> object:
    """Calls as texts by name; of a bridge only the names are known."""
    entries = given if isinstance(given, list | tuple) else ()
    return [{"name": each} if isinstance(each, str) else each for each in entries]


@dataclass(frozen=True, slots=True)
class AgentFacts:
    """What an agent says that it took, where an agent was asked.

    Attributes:
        turns: 0 where it does not say, as with tokens.
        usd: None where it does not say.
        tools: the tools that it says it used, each with ``name`` and perhaps ``target`` and
            ``outcome``.
    """

    turns: Annotated[Count, Field(validation_alias=AliasPath("agent", "turns"))] = 0
    input_tokens: Annotated[Count, Field(validation_alias=AliasPath("agent", "input_tokens"))] = 0
    output_tokens: Annotated[Count, Field(validation_alias=AliasPath("agent", "output_tokens"))] = 0
    usd: Annotated[float | None, Field(validation_alias=AliasPath("agent", "usd"))] = None
    tools: Annotated[
        tuple[dict[str, str], ...],
        BeforeValidator(_calls),
        Field(
            validation_alias=AliasChoices(
                AliasPath("agent", "tool_calls"), AliasPath("agent", "tools")
            )
        ),
    ] = ()

    @classmethod
    def of(cls, judgment: Judgment) -> Self:
        """The facts of a judgment."""
        return _read(cls, judgment.metadata)

    @classmethod
    def of_result(cls, metadata: Metadata) -> Self:
        """The facts in the metadata of an agent's result."""
        return _read(cls, {"agent": metadata})


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file, and why a judge or a build has nothing to say of it.

    Attributes:
        counts: whether its lines count as not judged.
    """

    path: str
    reason: str = "no judge read it"
    counts: bool = True

    def to_metadata(self) -> dict[str, Any]:
        """The entry of a list in ``scope``."""
        return {"path": self.path, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class ScopeFacts:
    """Which changed files a judge has read.

    Attributes:
        unread: files that it could not read, although it should have.
        outside: files that are none of its business; None for a judge that makes no difference.
    """

    read: tuple[str, ...] = ()
    unread: tuple[LeftOut, ...] = ()
    outside: tuple[LeftOut, ...] | None = None

    @classmethod
    def of(cls, judgment: Judgment) -> Self | None:
        """The facts of a judgment; None where it says nothing of what it has read."""
        scope = judgment.metadata.get("scope")
        return _read(cls, scope) if isinstance(scope, Mapping) else None

    def to_metadata(self) -> dict[str, Any]:
        """The facts as JSON."""
        scope = {"read": list(self.read), "unread": [one.to_metadata() for one in self.unread]}
        if self.outside is not None:
            scope["outside"] = [one.to_metadata() for one in self.outside]
        return {"scope": scope}


@dataclass(frozen=True, slots=True)
class _Run:
    """A command, or one of several, as it stands in metadata."""

    command: str | None = None
    exit_code: Count | None = None
    log: str | None = None
    origin: Annotated[str, Field(alias="from")] = "run"
    builds: tuple[_Run, ...] = ()


@dataclass(frozen=True, slots=True)
class RunFacts:
    """The command that a judge ran.

    Attributes:
        command: None where it ran none.
        exit_code: None where no command ended.
        logs: files on this machine with everything that was printed.
        elsewhere: whether it ran on another machine.
    """

    command: str | None = None
    exit_code: int | None = None
    logs: tuple[str, ...] = ()
    elsewhere: bool = False

    @classmethod
    def of(cls, judgment: Judgment) -> Self:
        """The facts of a judgment, those of all its builds included."""
        run = _read(_Run, judgment.metadata)
        # Logs of a recorded build are on the machine that built it.
        logs = () if run.origin == "evidence" else (run.log, *(one.log for one in run.builds))
        elsewhere = run.origin in {"checks", "evidence"}
        return cls(run.command, run.exit_code, tuple(dict.fromkeys(filter(None, logs))), elsewhere)

    def to_metadata(self) -> dict[str, Any]:
        """The facts of one command as JSON."""
        log = self.logs[0] if self.logs else None
        return {"command": self.command, "exit_code": self.exit_code, "log": log}


@dataclass(frozen=True, slots=True)
class TestFacts:
    """How many tests ran.

    Attributes:
        vanished: how many tests of the base did not run; None where that is not known.
        base: the same of the base; None where it has no results.
    """

    __test__: ClassVar = False

    run: Count
    failed: Count = 0
    skipped: Count = 0
    vanished: Count | None = None
    base: TestFacts | None = None

    def to_metadata(self) -> dict[str, Any]:
        """The counts as JSON."""
        base = self.base.counts if self.base else None
        return {**self.counts, "vanished": self.vanished, "base": base}

    @property
    def counts(self) -> dict[str, int]:
        """The counts of this side alone."""
        return {"run": self.run, "failed": self.failed, "skipped": self.skipped}


@dataclass(frozen=True, slots=True)
class BuildFacts:
    """What came of a build.

    Attributes:
        origin: ``run``, ``checks`` or ``evidence``: where the outcome comes from.
        note: ``flaky`` or ``pre_existing`` for a pass despite failures.
        ran: what is known of commands that ran; None where nothing is.
        unbuilt: changed files that no build looks at; None where that is not known.
        settings: changed files that say which tests run, or how their results come about.
        tested_base: the base commit of the merge that another CI tested; empty if it tested the
            head alone, None if that is not known.
    """

    KIND: ClassVar = "build"

    origin: Annotated[str, Field(alias="from")] = "run"
    note: str = ""
    ran: BuildRunFacts | None = None
    unbuilt: tuple[LeftOut, ...] | None = None
    settings: Annotated[tuple[str, ...], Field(alias="test_settings")] = ()
    tested_base: str | None = None

    @classmethod
    def of(cls, judgment: Judgment) -> Self | None:
        """The facts of a judgment; None where it is not about a build."""
        data = judgment.metadata
        if data.get(_KIND) != cls.KIND:
            return None
        ran = _read(BuildRunFacts, data) if "failure_counts" in data else None
        return replace(_read(cls, data), ran=ran)

    def to_metadata(self) -> dict[str, Any]:
        """The facts as JSON; what is not known has no key."""
        data: dict[str, Any] = {_KIND: self.KIND, **(self.ran.to_metadata() if self.ran else {})}
        if self.origin != "run":
            data["from"] = self.origin
        if self.note:
            data["note"] = self.note
        if self.unbuilt is not None:
            data["unbuilt"] = [one.to_metadata() | {"counts": one.counts} for one in self.unbuilt]
        if self.settings:
            data["test_settings"] = list(self.settings)
        if self.tested_base is not None:
            data["tested_base"] = self.tested_base
        return data


@dataclass(frozen=True, slots=True)
class BuildRunFacts:
    """What came of the commands of a build.

    Attributes:
        compared: whether the base was built as well.
        tests: None where no test results were found.
        test_files: how many test files there are, where no test results were found.
        failures: how many, by state and kind.
    """

    compared: bool = False
    tests: TestFacts | None = None
    test_files: Count = 0
    failures: Annotated[Mapping[str, Mapping[str, Count]], Field(alias="failure_counts")] = field(
        default_factory=dict
    )

    def to_metadata(self) -> dict[str, Any]:
        """The facts as JSON."""
        return {
            "compared": self.compared,
            "tests": self.tests.to_metadata() if self.tests else None,
            "test_files": self.test_files,
            "failure_counts": {state: dict(kinds) for state, kinds in self.failures.items()},
        }


@dataclass(frozen=True, slots=True)
class MergeFacts:
    """How the change comes onto its base.

    Attributes:
        stopped_at: the commit at which a rebase stopped: ``sha``, ``subject`` and ``place``, such
            as ``commit 2 of 5``.
    """

    KIND: ClassVar = "merge"

    stopped_at: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, judgment: Judgment) -> Self | None:
        """The facts of a judgment; None where it is not about a merge."""
        data = judgment.metadata
        return _read(cls, data) if data.get(_KIND) == cls.KIND else None

    def to_metadata(self) -> dict[str, Any]:
        """The facts as JSON."""
        stopped = {"stopped_at": dict(self.stopped_at)} if self.stopped_at else {}
        return {_KIND: self.KIND, **stopped}


@dataclass(frozen=True, slots=True)
class RuleFacts:
    """What a judge says of a finding of one of its rules.

    Attributes:
        suppression: the comment that suppresses the rule in a line; empty where none counts.
        applicability: how sure it is that the finding's fix is the whole line as it should be;
            None where the fix is advice.
    """

    rule: str
    path: str = ""
    line: int | None = None
    why: str = ""
    references: tuple[str, ...] = ()
    suppression: Annotated[str, Field(alias="silence")] = ""
    applicability: str | None = None

    @property
    def words(self) -> str:
        """Why it is a rule, and where to read on."""
        see = " and ".join(f"`{one}`" for one in self.references[:_MOST_REFERENCES])
        return " ".join([*self.why.split(), *([f"See {see}"] if see else [])])

    def is_at(self, name: str, place: Location) -> bool:
        """Whether it is about a finding with this name at this place."""
        return (self.rule, self.path, self.line) == (name, place.path, place.line)

    def to_metadata(self) -> dict[str, Any]:
        """The facts as JSON."""
        return _written(self)


@dataclass(frozen=True, slots=True)
class PatternFacts:
    """What rules found.

    Attributes:
        suppressions: findings that are suppressed, such as ``pack/rule (a.py:3), by noqa``.
    """

    findings: tuple[RuleFacts, ...] = ()
    suppressions: tuple[str, ...] = ()

    @classmethod
    def of(cls, judgment: Judgment) -> Self:
        """The facts of a judgment."""
        facts = _read(cls, judgment.metadata)
        if judgment.metadata.get("silencing") is not False:
            return facts
        return replace(facts, findings=tuple(replace(f, suppression="") for f in facts.findings))

    def about(self, rule: str) -> RuleFacts | None:
        """What is said of a rule, at its first finding."""
        return next((one for one in self.findings if one.rule == rule), None)

    def suppressed_by(self, check: Check) -> str | None:
        """What suppresses a finding; None where nothing does."""
        if check.location is None:
            return None
        start = f"{check.name} ({check.location})"
        for entry in self.suppressions:
            if entry == start or entry.startswith(f"{start}, "):
                return entry.removeprefix(start).removeprefix(", ") or "suppressed"
        return None


@dataclass(frozen=True, slots=True)
class SeatFacts:
    """One seat of a panel: its name, status and score, and its verdict on each criterion.

    Attributes:
        reason: the machine-readable reason of a seat that does not vote.
        flipped: whether it gave another answer when the files came in another order; None where
            they came in one order alone.
    """

    seat: str
    status: str
    score: float | None = None
    criteria: Mapping[str, str] = field(default_factory=dict)
    reason: str | None = None
    flipped: bool | None = None

    def to_metadata(self) -> dict[str, Any]:
        """The facts as JSON."""
        return _written(self)


_NO_COST = Cost()


def _priced(usage: object) -> object:
    """A price that is not stated is not known."""
    return {"usd": None, **usage} if isinstance(usage, Mapping) else usage


@dataclass(frozen=True, slots=True)
class PanelFacts:
    """What a judge that asks models says of them.

    Attributes:
        models: each model that was asked, once.
        seats: the seats of a panel; none where one seat alone was asked.
        agree: how many of ``of_seats`` agree.
        rounds: how often all were asked.
        flipped: seats that gave another answer when the files came in another order.
        dropped: quotes that are not in the material.
        stand_ins: models that answered in place of another.
        must_failed: criteria that have to pass, and failed.
        cost: what the models took.
    """

    models: tuple[str, ...] = ()
    seats: Annotated[tuple[SeatFacts, ...], Field(alias="panel")] = ()
    agree: Annotated[Count, Field(validation_alias=AliasPath("agreement", "agree"))] = 0
    of_seats: Annotated[Count, Field(validation_alias=AliasPath("agreement", "seats"))] = 0
    rounds: Annotated[Count, Field(alias="iterations")] = 1
    flipped: Count = 0
    dropped: Annotated[Count, Field(validation_alias=AliasPath("evidence", "dropped"))] = 0
    stand_ins: tuple[str, ...] = ()
    must_failed: frozenset[str] = frozenset()
    cost: Annotated[Cost, Field(alias="usage"), BeforeValidator(_priced)] = _NO_COST

    @classmethod
    def of(cls, judgment: Judgment) -> Self:
        """The facts of a judgment."""
        data = judgment.metadata
        facts = _read(cls, data)
        model = data.get("model")
        asked = [seat.seat.partition("#")[0] for seat in facts.seats]
        models = tuple(dict.fromkeys(asked or ([str(model)] if model else [])))
        turned = [seat.flipped for seat in facts.seats] + [data.get("flipped")]
        return replace(facts, models=models, flipped=sum(one is True for one in turned))
