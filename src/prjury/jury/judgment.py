"""What a judge says: a status, the reasoning, the checks. Impossible ones cannot be built."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Literal, TypeAlias, get_args

from prjury.jury.frozen import FrozenDict, freeze
from prjury.jury.score import BooleanScore, CategoricalScore, NumericalScore, Score, finite

Severity: TypeAlias = Literal["error", "warning", "hint"]


class Status(StrEnum):
    """How a judge, a jury or a cascade ends. ERROR is not FAIL, and ABSTAIN is not PASS."""

    PASS = "pass"  # noqa: S105 - a status, not a password
    FAIL = "fail"
    ABSTAIN = "abstain"
    ERROR = "error"


def _require_text(value: object, what: str) -> None:
    if not isinstance(value, str):
        raise TypeError(f"{what} is text, not a {type(value).__name__}")


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a file; lines count from 1, ``end_line`` is inclusive."""

    path: str
    line: int | None = None
    end_line: int | None = None

    def __post_init__(self) -> None:
        _require_text(self.path, "a location's path")
        if not self.path:
            raise ValueError("a location needs a path")
        for number in (self.line, self.end_line):
            if number is not None and (isinstance(number, bool) or not isinstance(number, int)):
                raise TypeError(f"a line is a whole number, not {number!r}")
        if self.line is not None and self.line < 1:
            raise ValueError(f"lines count from 1, not {self.line}")
        if self.end_line is not None and (self.line is None or self.end_line < self.line):
            raise ValueError(f"end line {self.end_line} without a line at or before it")

    def __str__(self) -> str:
        return self.path if self.line is None else f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that a judge looked at, and whether it is in order; only an ``error`` is to block.

    ``evidence`` is the verbatim text that the message rests on, ``fix`` the replacement or the
    command that would put it right.
    """

    name: str
    passed: bool
    message: str = ""
    location: Location | None = None
    severity: Severity = "error"
    evidence: str | None = None
    fix: str | None = None

    def __post_init__(self) -> None:
        _require_text(self.name, "a check's name")
        if not self.name.strip():
            raise ValueError("a check needs a name")
        _require_text(self.message, f"check {self.name}: message")
        for what in ("evidence", "fix"):
            if (text := getattr(self, what)) is not None:
                _require_text(text, f"check {self.name}: {what}")
        if not isinstance(self.location, Location | None):
            raise TypeError(f"check {self.name}: a location is a Location, not {self.location!r}")
        if not isinstance(self.passed, bool):
            raise TypeError(f"check {self.name}: passed is True or False, not {self.passed!r}")
        if self.severity not in get_args(Severity):
            raise ValueError(f"check {self.name}: severity {self.severity!r} is not known")

    @classmethod
    def ok(cls, name: str, message: str = "", location: Location | None = None) -> Check:
        """A check that is in order."""
        return cls(name, passed=True, message=message, location=location)

    @classmethod
    def bad(
        cls,
        name: str,
        message: str = "",
        location: Location | None = None,
        *,
        severity: Severity = "error",
        evidence: str | None = None,
        fix: str | None = None,
    ) -> Check:
        """A check that is not in order."""
        return cls(name, False, message, location, severity, evidence, fix)  # noqa: FBT003

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits that stay the same when only line numbers move."""
        path = self.location.path if self.location else ""
        content = " ".join((self.evidence or self.message).split())
        text = f"{self.name}\0{path}\0{content}"
        return hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Judgment:
    """One judge's answer.

    Raises:
        ValueError: ABSTAIN or ERROR with a score or without a reason, ERROR with a label, a blank
            label, a confidence outside 0..1, metadata that is not JSON (the path is named).
        TypeError: a value of another type.
    """

    status: Status
    reasoning: str
    score: Score | None = None
    label: str | None = None
    confidence: float | None = None
    checks: tuple[Check, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=FrozenDict)

    def __post_init__(self) -> None:
        if not isinstance(self.status, Status):
            raise TypeError(f"a status is a Status, not {self.status!r}")
        if not isinstance(self.score, BooleanScore | NumericalScore | CategoricalScore | None):
            raise TypeError(f"a score is a Score or None, not {self.score!r}")
        _require_text(self.reasoning, "a reasoning")
        if self.label is not None:
            _require_text(self.label, "a label")
        self._refuse_invalid_fields()
        if not isinstance(self.metadata, Mapping):
            raise TypeError(f"metadata is a mapping, not a {type(self.metadata).__name__}")
        object.__setattr__(self, "checks", tuple(self.checks))
        if not all(isinstance(check, Check) for check in self.checks):
            raise TypeError(f"a check is a Check, not {self.checks!r}")
        object.__setattr__(self, "metadata", freeze(self.metadata))

    def _refuse_invalid_fields(self) -> None:
        if self.status in {Status.ABSTAIN, Status.ERROR}:
            if self.score is not None:
                raise ValueError(f"{self.status} carries no score")
            if not self.reasoning.strip():
                raise ValueError(f"{self.status} needs a reason")
        if self.status is Status.ERROR and self.label is not None:
            raise ValueError("error carries no label")
        if self.label is not None and not self.label.strip():
            raise ValueError("a label is not blank")
        if self.confidence is not None and not 0.0 <= finite(self.confidence, "confidence") <= 1.0:
            raise ValueError(f"confidence must be in 0..1, not {self.confidence}")

    def __str__(self) -> str:
        """The status and the first line of the reasoning."""
        first_line = self.reasoning.strip().partition("\n")[0]
        return f"{self.status.name}: {first_line}" if first_line else self.status.name

    @property
    def effective_score(self) -> float | None:
        """The score's normalised value, else 1.0 for PASS and 0.0 for FAIL, else None."""
        if self.score is not None and self.score.normalized is not None:
            return self.score.normalized
        return {Status.PASS: 1.0, Status.FAIL: 0.0}.get(self.status)

    @property
    def failed_checks(self) -> tuple[Check, ...]:
        """The checks that are not in order, in the judge's own order."""
        return tuple(check for check in self.checks if not check.passed)

    @property
    def reason(self) -> str:
        """The machine-readable word for how it came about; empty where none is given."""
        return str(self.metadata.get("reason") or "")

    def with_metadata(self, /, **more: Any) -> Judgment:  # noqa: ANN401 - JSON
        """The same judgment with more metadata; ValueError where that is not JSON."""
        return replace(self, metadata={**self.metadata, **more})

    @classmethod
    def passed(
        cls,
        reasoning: str,
        score: Score | None = None,
        *,
        checks: Iterable[Check] = (),
        metadata: Mapping[str, Any] | None = None,
        confidence: float | None = None,
        label: str | None = None,
    ) -> Judgment:
        """A PASS."""
        return cls(Status.PASS, reasoning, score, label, confidence, tuple(checks), metadata or {})

    @classmethod
    def failed(
        cls,
        reasoning: str,
        score: Score | None = None,
        *,
        checks: Iterable[Check] = (),
        metadata: Mapping[str, Any] | None = None,
        confidence: float | None = None,
        label: str | None = None,
    ) -> Judgment:
        """A FAIL."""
        return cls(Status.FAIL, reasoning, score, label, confidence, tuple(checks), metadata or {})

    @classmethod
    def abstained(
        cls,
        reason: str,
        label: str | None = None,
        *,
        checks: Iterable[Check] = (),
        metadata: Mapping[str, Any] | None = None,
    ) -> Judgment:
        """An ABSTAIN; the label is the machine-readable reason unless the metadata names one."""
        words = {"reason": label} if label else {}
        return cls(
            Status.ABSTAIN,
            reason,
            label=label,
            checks=tuple(checks),
            metadata={**words, **(metadata or {})},
        )

    @classmethod
    def errored(
        cls,
        reason: str,
        *,
        checks: Iterable[Check] = (),
        metadata: Mapping[str, Any] | None = None,
    ) -> Judgment:
        """An ERROR: the judge, or a tool that it needs, did not work."""
        return cls(Status.ERROR, reason, checks=tuple(checks), metadata=metadata or {})
