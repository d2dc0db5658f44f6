"""What the report needs of a judgment: small values that judges write and that the report reads.

A judge merges `to_metadata()` of its facts into the judgment's metadata, where they are JSON;
readers call `of()`. Metadata may come from another version or from a judge of somebody else, so
`of` leaves out whatever has not the expected form. Builds and merges are known by their key
``facts``, never by the judge's name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from prjury.jury.judgment import Check, Judgment, Location

Metadata = Mapping[str, Any]
#: The judgment is not about this change's code alone: the base fails in the same way.
BASE_BROKEN = "base_broken"
#: Everything that ran passed, but tests of the base did not run.
TESTS_VANISHED = "tests_vanished"

_KIND = "facts"
_MOST_REFERENCES = 2


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
    repeated: str = ""
    aggregation: Metadata | None = None

    @classmethod
    def of(cls, judgment: Judgment) -> Self:
        """The facts of a judgment."""
        data = judgment.metadata
        repeated = _mapping(data, "repeated")
        runs = f"{repeated.get('strategy', 'one')} of {repeated.get('total_judges', '?')} runs"
        return cls(
            str(data.get("subject") or ""),
            frozenset(_texts(data, "summaries")),
            runs if repeated else "",
            data.get("aggregation"),
        )


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file, and why a judge or a build has nothing to say of it.

    Attributes:
        counts: whether its lines count as not judged.
    """

    path: str
    reason: str
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
        if not isinstance(scope, Mapping):
            return None
        outside = tuple(_left_out(scope, "outside")) if "outside" in scope else None
        return cls(tuple(_texts(scope, "read")), tuple(_left_out(scope, "unread")), outside)

    def to_metadata(self) -> dict[str, Any]:
        """The facts as JSON."""
        scope = {"read": list(self.read), "unread": [one.to_metadata() for one in self.unread]}
        if self.outside is not None:
            scope["outside"] = [one.to_metadata() for one in self.outside]
        return {"scope": scope}


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
        data = judgment.metadata
        origin = data.get("from")
        parts = (data, *(one for one in _entries(data, "builds") if isinstance(one, Mapping)))
        # Logs of a recorded build are on the machine that built it.
        logs = () if origin == "evidence" else (one.get("log") for one in parts)
        command = data.get("command")
        return cls(
            command if isinstance(command, str) else None,
            _number(data.get("exit_code")),
            tuple(dict.fromkeys(log for log in logs if isinstance(log, str) and log)),
            origin in {"checks", "evidence"},
        )

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

    run: int
    failed: int = 0
    skipped: int = 0
    vanished: int | None = None
    base: TestFacts | None = None

    @classmethod
    def from_metadata(cls, tests: object) -> TestFacts | None:
        """The counts in a mapping."""
        if not isinstance(tests, Mapping) or (run := _number(tests.get("run"))) is None:
            return None
        failed, skipped = (_number(tests.get(key)) or 0 for key in ("failed", "skipped"))
        lost, base = _number(tests.get("vanished")), cls.from_metadata(tests.get("base"))
        return cls(run, failed, skipped, lost, base)

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
    """

    KIND: ClassVar = "build"

    origin: str = "run"
    note: str = ""
    ran: BuildRunFacts | None = None
    unbuilt: tuple[LeftOut, ...] | None = None

    @classmethod
    def of(cls, judgment: Judgment) -> Self | None:
        """The facts of a judgment; None where it is not about a build."""
        data = judgment.metadata
        if data.get(_KIND) != cls.KIND:
            return None
        return cls(
            str(data.get("from") or "run"),
            str(data.get("note") or ""),
            BuildRunFacts.from_metadata(data) if "failure_counts" in data else None,
            tuple(_left_out(data, "unbuilt")) if "unbuilt" in data else None,
        )

    def to_metadata(self) -> dict[str, Any]:
        """The facts as JSON; what is not known has no key."""
        data: dict[str, Any] = {_KIND: self.KIND, **(self.ran.to_metadata() if self.ran else {})}
        if self.origin != "run":
            data["from"] = self.origin
        if self.note:
            data["note"] = self.note
        if self.unbuilt is not None:
            data["unbuilt"] = [one.to_metadata() | {"counts": one.counts} for one in self.unbuilt]
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
    test_files: int = 0
    failures: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @classmethod
    def from_metadata(cls, data: Metadata) -> Self:
        """The facts in a judgment's metadata."""
        tests = TestFacts.from_metadata(data.get("tests"))
        files = _number(data.get("test_files")) or 0
        return cls(data.get("compared") is True, tests, files, _failures(data))

    def to_metadata(self) -> dict[str, Any]:
        """The facts as JSON."""
        return {
            "compared": self.compared,
            "tests": self.tests.to_metadata() if self.tests else None,
            "test_files": self.test_files,
            "failure_counts": {state: dict(kinds) for state, kinds in self.failures.items()},
        }


def _failures(data: Metadata) -> dict[str, dict[str, int]]:
    states = _mapping(data, "failure_counts")
    counted = {str(state): _mapping(states, state) for state in states}
    return {
        state: {str(kind): count for kind in kinds if (count := _number(kinds[kind]))}
        for state, kinds in counted.items()
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
        if data.get(_KIND) != cls.KIND:
            return None
        stopped = _mapping(data, "stopped_at")
        return cls(
            {key: str(stopped[key]) for key in ("sha", "subject", "place") if key in stopped}
        )

    def to_metadata(self) -> dict[str, Any]:
        """The facts as JSON."""
        stopped = {"stopped_at": dict(self.stopped_at)} if self.stopped_at else {}
        return {_KIND: self.KIND, **stopped}


@dataclass(frozen=True, slots=True)
class RuleFacts:
    """What a judge says of a finding of one of its rules.

    Attributes:
        suppression: the comment that suppresses the rule in a line; empty where none counts.
        replaces_line: whether the finding's fix is the whole line as it should be.
    """

    rule: str
    path: str = ""
    line: int | None = None
    why: str = ""
    references: tuple[str, ...] = ()
    suppression: str = ""
    replaces_line: bool = False

    @property
    def words(self) -> str:
        """Why it is a rule, and where to read on."""
        see = " and ".join(f"`{one}`" for one in self.references)
        return " ".join(filter(None, [self.why, f"See {see}" if see else ""]))

    def is_at(self, name: str, place: Location) -> bool:
        """Whether it is about a finding with this name at this place."""
        return (self.rule, self.path, self.line) == (name, place.path, place.line)


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
        data = judgment.metadata
        entries = (one for one in _entries(data, "findings") if isinstance(one, Mapping))
        found = tuple(_rule(one, allowed=data.get("silencing") is not False) for one in entries)
        return cls(found, tuple(_texts(data, "suppressions")))

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


def _rule(entry: Metadata, *, allowed: bool) -> RuleFacts:
    why, comment = entry.get("why"), entry.get("silence")
    return RuleFacts(
        str(entry.get("rule") or ""),
        str(entry.get("path") or ""),
        _number(entry.get("line")),
        " ".join(why.split()) if isinstance(why, str) else "",
        tuple(_texts(entry, "references"))[:_MOST_REFERENCES],
        comment if allowed and isinstance(comment, str) else "",
        bool(entry.get("applicability")),
    )


@dataclass(frozen=True, slots=True)
class SeatFacts:
    """One seat of a panel: its name, status and score, and its verdict on each criterion."""

    seat: str
    status: str
    score: float | None = None
    criteria: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    flipped: bool = False


@dataclass(frozen=True, slots=True)
class UsageFacts:
    """What the models took; ``usd`` is None where a price is not known."""

    calls: int = 0
    cached: int = 0
    tokens: int = 0
    usd: float | None = None


@dataclass(frozen=True, slots=True)
class PanelFacts:
    """What a judge that asks models says of them.

    Attributes:
        models: each model that was asked, once.
        seats: the seats of a panel; none where one seat alone was asked.
        agree: how many of ``of`` seats agree.
        rounds: how often all were asked.
        flipped: seats that gave another answer when the files came in another order.
        dropped: quotes that are not in the material.
        stand_ins: models that answered in place of another.
        must_failed: criteria that have to pass, and failed.
    """

    models: tuple[str, ...] = ()
    seats: tuple[SeatFacts, ...] = ()
    agree: int = 0
    of_seats: int = 0
    rounds: int = 1
    flipped: int = 0
    dropped: int = 0
    stand_ins: tuple[str, ...] = ()
    must_failed: frozenset[str] = frozenset()
    usage: UsageFacts = UsageFacts()

    @classmethod
    def of(cls, judgment: Judgment) -> Self:
        """The facts of a judgment."""
        data = judgment.metadata
        seats = tuple(_seat(one) for one in _entries(data, "panel") if isinstance(one, Mapping))
        alone = [str(data["model"])] if data.get("model") else []
        agreement = _mapping(data, "agreement")
        return cls(
            models=tuple(dict.fromkeys([one.seat.partition("#")[0] for one in seats] or alone)),
            seats=seats,
            agree=_number(agreement.get("agree")) or 0,
            of_seats=_number(agreement.get("seats")) or 0,
            rounds=_number(data.get("iterations")) or 1,
            flipped=sum(one.flipped for one in seats) + (data.get("flipped") is True),
            dropped=_number(_mapping(data, "evidence").get("dropped")) or 0,
            stand_ins=tuple(map(str, _entries(data, "stand_ins"))),
            must_failed=frozenset(_texts(data, "must_failed")),
            usage=_usage(_mapping(data, "usage")),
        )


def _seat(seat: Metadata) -> SeatFacts:
    score, criteria = seat.get("score"), _mapping(seat, "criteria")
    return SeatFacts(
        str(seat.get("seat", "?")),
        str(seat.get("status", "?")),
        float(score) if isinstance(score, int | float) else None,
        {str(name): str(criteria[name]) for name in criteria},
        str(seat.get("reason") or "").replace("_", " "),
        seat.get("flipped") is True,
    )


def _usage(usage: Metadata) -> UsageFacts:
    keys = ("llm_calls", "cached_calls", "input_tokens", "output_tokens")
    calls, cached, read, written = (_number(usage.get(key)) or 0 for key in keys)
    usd = usage.get("usd")
    return UsageFacts(calls, cached, read + written, usd if isinstance(usd, int | float) else None)


def _left_out(data: Metadata, key: str) -> Iterator[LeftOut]:
    for entry in _entries(data, key):
        if isinstance(entry, Mapping) and "path" in entry:
            reason = str(entry.get("reason") or "no judge read it")
            yield LeftOut(str(entry["path"]), reason, bool(entry.get("counts", True)))


def _mapping(data: Metadata, key: str) -> Metadata:
    inner = data.get(key)
    return inner if isinstance(inner, Mapping) else {}


def _entries(data: Metadata, key: str) -> Sequence[Any]:
    entries = data.get(key)
    return entries if isinstance(entries, list | tuple) else ()


def _texts(data: Metadata, key: str) -> Iterator[str]:
    yield from (entry for entry in _entries(data, key) if isinstance(entry, str))


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
