"""From the answer of a rule to a judgment; anything unclear is an error. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from prjury.errors import CannotJudgeError
from prjury.jury.judgment import Check, Judgment, Location, Severity, Status
from prjury.jury.score import BooleanScore
from prjury.snapshot.model import visible

_MOST_LISTED = 200
_LONGEST_SHOWN = 80
_Text: TypeAlias = Annotated[str, Field(min_length=1, max_length=4_000, pattern=r"\S")]


class _AnswerPart(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _CheckAnswer(_AnswerPart):
    message: _Text
    name: _Text | None = None
    passed: bool = False
    path: _Text | None = None
    line: Annotated[int, Field(ge=1, lt=10**9)] | None = None
    severity: Severity = "error"
    fix: _Text | None = None


class _JudgmentAnswer(_AnswerPart):
    status: Literal["pass", "fail", "abstain", "error"]
    reasoning: _Text
    label: Annotated[str, Field(pattern=r"^[a-z_]{1,40}$")] | None = None
    checks: list[_CheckAnswer] = []


class _Called(_AnswerPart):
    answer: (
        Annotated[bool, Field(strict=True)] | _Text | list[_Text | _CheckAnswer] | _JudgmentAnswer
    )
    about: str


_FORM = TypeAdapter(_Called)


def judgment_of(content: bytes, function: str) -> Judgment:
    """The judgment that a rule's answer comes to.

    Raises:
        CannotJudgeError: ``answer_invalid`` for an answer that means nothing, such as none.
    """
    try:
        called = _FORM.validate_json(content)
    except ValidationError as error:
        raise CannotJudgeError(
            f"{function} answered {_shown(content)}",
            why="An answer is true or false, a text that says what is wrong, a list of such texts, "
            "or a judgment",
            remedy="Return one of these on every path through the function",
            reason="answer_invalid",
        ) from error
    answer, about = called.answer, called.about or function
    if isinstance(answer, _JudgmentAnswer):
        return _as_judgment(answer, function)
    if isinstance(answer, str):
        return _voted(answer, [Check.bad(function, answer)])
    if isinstance(answer, list):
        complaints = [_CheckAnswer(message=o) if isinstance(o, str) else o for o in answer]
        return _listed(complaints, about, function)
    return _voted(about if answer else f"not so: {about}", [Check(function, answer, about)])


def _as_judgment(answer: _JudgmentAnswer, function: str) -> Judgment:
    status = Status(answer.status)
    voted = status in {Status.PASS, Status.FAIL}
    return Judgment(
        status,
        answer.reasoning,
        BooleanScore(status is Status.PASS) if voted else None,
        label=None if status is Status.ERROR else answer.label,
        checks=tuple(_checks(answer.checks, function)),
        metadata={"reason": "rule"} if status is Status.ERROR else {},
    )


def _listed(complaints: Sequence[_CheckAnswer], about: str, function: str) -> Judgment:
    wrong = [one for one in complaints if not one.passed]
    checks = _checks(complaints, function)
    if not wrong:
        return _voted(about, checks or [Check.ok(function, about)])
    more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
    return _voted(f"{wrong[0].message}{more}", checks)


def _checks(answers: Sequence[_CheckAnswer], function: str) -> list[Check]:
    checks = [
        Check(
            one.name or function,
            one.passed,
            one.message,
            Location(one.path, one.line) if one.path else None,
            one.severity,
            fix=one.fix,
        )
        for one in sorted(answers, key=lambda one: one.passed)[:_MOST_LISTED]
    ]
    if left := len(answers) - len(checks):
        failed = any(not one.passed for one in answers)
        checks.append(Check(function, not failed, f"and {left} more"))
    return checks


def _voted(words: str, checks: Sequence[Check]) -> Judgment:
    """PASS where no check has failed."""
    good = all(check.passed for check in checks)
    make = Judgment.passed if good else Judgment.failed
    return make(words, score=BooleanScore(good), checks=checks)


def _shown(content: bytes) -> str:
    try:
        found: Any = json.loads(content)["answer"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return "no JSON"
    text = "nothing" if found is None else visible(json.dumps(found))
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
