"""What the report needs of a judgment: small values that judges write and that the report reads.

A judge merges `to_metadata()` of its facts into the judgment's metadata, where they are JSON;
readers call `parse()`. Metadata may come from another version or from a judge of somebody else, so
`parse` leaves out whatever has not the expected form. Builds and merges are known by their key
``facts``, never by the judge's name.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import Any, ClassVar, Literal, Self, get_args, get_origin

import msgspec
from msgspec import Struct, ValidationError, field, structs

from prjury.jury.judgment import Check, Judgment
from prjury.report.model import NO_COST, Cost

Metadata = Mapping[str, Any]
#: The judgment is not about this change's code alone: the base fails in the same way.
BASE_BROKEN = "base_broken"
#: Everything that ran passed, but tests of the base did not run.
TESTS_VANISHED = "tests_vanished"
FAILURES_IGNORED, NO_COMPARISON = "failures_ignored", "no_comparison"

_MOST_REFERENCES = 2


class Facts(Struct, frozen=True):
    """Facts that are their own JSON in the metadata of a judgment."""

    @classmethod
    def from_metadata(cls, data: Metadata) -> Self:
        """Read facts from metadata, without the values, or entries of lists, of another form."""
        values = {}
        for name, key, form in _list_fields(cls):
            if key in data:
                with suppress(ValidationError):
                    values[name] = _convert_dropping_misfits(data[key], form)
        return cls(**values)

    def to_metadata(self) -> dict[str, Any]:
        values: dict[str, Any] = msgspec.to_builtins(self)
        return values


class JudgmentFacts(Facts, frozen=True):
    """Facts of any judgment."""

    @classmethod
    def parse(cls, judgment: Judgment) -> Self:
        return cls.from_metadata(judgment.metadata)


@cache
def _list_fields(kind: type[Struct]) -> tuple[tuple[str, str, Any], ...]:
    return tuple((part.name, part.encode_name, part.type) for part in structs.fields(kind))


def _convert_dropping_misfits(value: object, form: Any) -> object:  # noqa: ANN401 - a type expression
    try:
        return msgspec.convert(value, form)
    except ValidationError:
        collections = [one for one in (form, *get_args(form)) if get_origin(one) in _COLLECTIONS]
        if not isinstance(value, list | tuple) or not collections:
            raise
    kind = collections[0]
    entries = []
    for entry in value:
        with suppress(ValidationError):
            entries.append(msgspec.convert(entry, get_args(kind)[0]))
    return get_origin(kind)(entries)


_COLLECTIONS = (tuple, frozenset)


def _find_mapping(data: Metadata, key: str) -> Metadata:
    value = data.get(key)
    return value if isinstance(value, Mapping) else {}


class GeneralFacts(JudgmentFacts, frozen=True):
    """What any judge may say of its judgment."""

    subject: str = ""
    #: The names of checks that only sum up its other checks.
    summaries: frozenset[str] = frozenset()
    #: Which of several runs speaks for all, such as ``median of 3 runs``.
    repeated: str = ""
    aggregation: dict[str, Any] | None = None
    question: str = ""

    @classmethod
    def parse(cls, judgment: Judgment) -> Self:
        facts = cls.from_metadata(judgment.metadata)
        runs = _find_mapping(judgment.metadata, "repeated")
        if not runs:
            return facts
        words = f"{runs.get('strategy', 'one')} of {runs.get('total_judges', '?')} runs"
        return structs.replace(facts, repeated=words)


class SnippetFacts(Facts, frozen=True):
    """Lines that open a closed gate once they are pasted."""

    text: str
    where: str = ""
    language: Literal["", "yaml", "sh"] = ""


class RemedyFacts(JudgmentFacts, frozen=True):
    """What has to be done before a judge can judge."""

    remedy: str = ""
    snippet: SnippetFacts | None = None


class AgentFacts(JudgmentFacts, frozen=True):
    """What an agent says that it took, where an agent was asked."""

    #: 0 where it does not say, as with tokens.
    turns: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    #: The tools that it says it used, each with ``name`` and perhaps ``target`` and ``outcome``.
    tools: tuple[dict[str, str], ...] = ()

    @classmethod
    def parse(cls, judgment: Judgment) -> Self:
        return cls.of_result(_find_mapping(judgment.metadata, "agent"))

    @classmethod
    def of_result(cls, metadata: Metadata) -> Self:
        calls = metadata.get("tool_calls", metadata.get("tools", ()))
        entries = calls if isinstance(calls, list | tuple) else ()
        tools = [{"name": call} if isinstance(call, str) else call for call in entries]
        return cls.from_metadata({**metadata, "tools": tools})


class LeftOut(Facts, frozen=True, omit_defaults=True):
    """A file, and why a judge or a build has nothing to say of it."""

    path: str
    reason: str = "no judge read it"
    #: Whether its lines count as not judged.
    counts: bool = True


class ScopeFacts(Facts, frozen=True):
    """Which changed files a judge has read."""

    read: tuple[str, ...] = ()
    unread: tuple[LeftOut, ...] = ()
    #: Files that are none of its business; None for a judge that makes no difference.
    outside: tuple[LeftOut, ...] | None = None

    @classmethod
    def parse(cls, judgment: Judgment) -> Self | None:
        scope = judgment.metadata.get("scope")
        return cls.from_metadata(scope) if isinstance(scope, Mapping) else None

    def to_metadata(self) -> dict[str, Any]:
        scope = super().to_metadata()
        if self.outside is None:
            del scope["outside"]
        return {"scope": scope}


class RunFacts(JudgmentFacts, frozen=True):
    """The command that a judge ran."""

    command: str | None = None
    exit_code: int | None = None
    #: Files on this machine with everything that was printed.
    logs: tuple[str, ...] = ()
    elsewhere: bool = False

    @classmethod
    def parse(cls, judgment: Judgment) -> Self:
        data = judgment.metadata
        origin, builds = data.get("from"), data.get("builds")
        entries = [data, *(builds if isinstance(builds, list | tuple) else ())]
        logs = [entry.get("log") for entry in entries if isinstance(entry, Mapping)]
        # Logs of a recorded build are on the machine that built it.
        own = () if origin == "evidence" else [log for log in logs if log and isinstance(log, str)]
        facts = cls.from_metadata(data)
        elsewhere = origin in ("checks", "evidence")
        return structs.replace(facts, logs=tuple(dict.fromkeys(own)), elsewhere=elsewhere)

    def to_metadata(self) -> dict[str, Any]:
        log = self.logs[0] if self.logs else None
        return {"command": self.command, "exit_code": self.exit_code, "log": log}


class TestFacts(Facts, frozen=True):
    """How many tests ran."""

    __test__: ClassVar = False

    run: int
    failed: int = 0
    skipped: int = 0
    #: How many tests of the base did not run; None where that is not known.
    vanished: int | None = None
    base: TestFacts | None = None

    def to_metadata(self) -> dict[str, Any]:
        values = super().to_metadata()
        for name in ("vanished", "base") if self.base else ():
            del values["base"][name]
        return values


class KindFacts(Facts, frozen=True, omit_defaults=True):
    """Facts that are known by their key ``facts``."""

    KIND: ClassVar = ""

    @classmethod
    def parse(cls, judgment: Judgment) -> Self | None:
        data = judgment.metadata
        return cls.from_metadata(data) if data.get("facts") == cls.KIND else None

    def to_metadata(self) -> dict[str, Any]:
        return {"facts": self.KIND, **super().to_metadata()}


class BuildFacts(
    KindFacts,
    frozen=True,
    omit_defaults=True,
    rename={"origin": "from", "settings": "test_settings", "failures": "failure_counts"},
):
    """What came of a build."""

    KIND: ClassVar = "build"

    #: ``run``, ``checks`` or ``evidence``: where the outcome comes from.
    origin: str = "run"
    #: ``flaky`` or ``pre_existing`` for a pass despite failures.
    note: str = ""
    compared: bool = False
    tests: TestFacts | None = None
    test_files: int = 0
    #: How many, by state and kind; None where no command ran to its end.
    failures: Mapping[str, Mapping[str, int]] | None = None
    #: Changed files that no build looks at; None where that is not known.
    unbuilt: tuple[LeftOut, ...] | None = None
    #: Changed files that say which tests run, or how their results come about.
    settings: tuple[str, ...] = ()
    #: The base commit of the merge that another CI tested; empty if it tested the head alone, None
    #: if that is not known.
    tested_base: str | None = None

    def to_metadata(self) -> dict[str, Any]:
        values = super().to_metadata()
        if self.failures is not None:
            values |= {"compared": self.compared, "test_files": self.test_files}
            values["tests"] = self.tests.to_metadata() if self.tests else None
        return values


class MergeFacts(KindFacts, frozen=True, omit_defaults=True):
    """How the change comes onto its base."""

    KIND: ClassVar = "merge"

    #: Where a rebase stopped: ``sha``, ``subject``, ``place`` (``commit 2 of 5``).
    stopped_at: dict[str, str] = {}
    unparsed: tuple[LeftOut, ...] = ()


class RuleFacts(Facts, frozen=True, rename={"suppression": "silence"}):
    """What a judge says of a finding of one of its rules."""

    rule: str
    path: str = ""
    line: int | None = None
    why: str = ""
    references: tuple[str, ...] = ()
    #: The comment that suppresses the rule in a line; empty where none counts.
    suppression: str = ""
    #: How sure it is that the finding's fix is the whole line as it should be; None where the fix
    #: is advice.
    applicability: str | None = None

    @property
    def words(self) -> str:
        see = " and ".join(f"`{one}`" for one in self.references[:_MOST_REFERENCES])
        return " ".join([*self.why.split(), *([f"See {see}"] if see else [])])


class PatternFacts(JudgmentFacts, frozen=True):
    """What rules found."""

    findings: tuple[RuleFacts, ...] = ()
    #: Findings that are suppressed, such as ``pack/rule (a.py:3), by noqa``.
    suppressions: tuple[str, ...] = ()

    @classmethod
    def parse(cls, judgment: Judgment) -> Self:
        facts = cls.from_metadata(judgment.metadata)
        if judgment.metadata.get("silencing") is not False:
            return facts
        findings = [structs.replace(rule, suppression="") for rule in facts.findings]
        return structs.replace(facts, findings=tuple(findings))

    def find_what_suppressed(self, check: Check) -> str | None:
        if check.location is None:
            return None
        start = f"{check.name} ({check.location})"
        for entry in self.suppressions:
            if entry == start or entry.startswith(f"{start}, "):
                return entry.removeprefix(start).removeprefix(", ") or "suppressed"
        return None


class SeatFacts(Facts, frozen=True):
    """One seat of a panel: its name, status and score, and its verdict on each criterion."""

    seat: str
    status: str
    score: float | None = None
    criteria: dict[str, str] = {}
    reason: str | None = None
    #: Whether it gave another answer when the files came in another order; None where they came in
    #: one order alone.
    flipped: bool | None = None


class ModelSetup(Facts, frozen=True):
    """Models that are asked, and by judge a digest of its instructions, criteria and ways."""

    models: tuple[str, ...]
    prompts: dict[str, str]


class PanelFacts(JudgmentFacts, frozen=True, rename={"seats": "panel", "setup": "basis"}):
    """What a judge that asks models says of them."""

    models: tuple[str, ...] = ()
    #: The seats of a panel; none where one seat alone was asked.
    seats: tuple[SeatFacts, ...] = ()
    confirmed: int = 0
    setup: ModelSetup | None = None
    cost: Cost = field(name="usage", default=NO_COST)

    @classmethod
    def parse(cls, judgment: Judgment) -> Self:
        data = judgment.metadata
        confirmed = _find_mapping(data, "review").get("confirmed", 0)
        data = {**data, "confirmed": confirmed}
        if usage := _find_mapping(data, "usage"):
            data["usage"] = {"usd": None, **usage}  # a price that is not stated is not known
        facts = cls.from_metadata(data)
        model = data.get("model")
        seats = [seat.seat.partition("#")[0] for seat in facts.seats]
        models = tuple(dict.fromkeys(seats or ([str(model)] if model else [])))
        return structs.replace(facts, models=models)
