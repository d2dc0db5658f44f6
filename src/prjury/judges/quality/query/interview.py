"""One question to one model: the reply, or the one repair of it, if neither leaks or misleads."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.judges.quality.query.question import Question
from prjury.judges.quality.query.reply import Answer, InvalidReplyError, read
from prjury.judges.quality.query.usage_log import UsageLog
from prjury.ports import ChatModel

_SEPARATORS = re.compile(r"[^0-9a-z]+")
_ESCAPE = re.compile(r"\\u00([0-7][0-9a-f])")


def random_word() -> str:
    """128 random bits as 32 hex digits."""
    return secrets.token_hex(16)


class TaintedError(CannotJudgeError):
    """The reply holds the canary: it repeats the instructions, so something else steered it."""

    default_reason = "tainted"


class UnusableError(CannotJudgeError):
    """Neither the reply nor its repair is what was asked for."""

    default_reason = "invalid_reply"


def interview(
    model: ChatModel,
    question: Question,
    criteria: Mapping[str, str],
    usage_log: UsageLog,
    deadline: Deadline,
) -> tuple[Mapping[str, Answer], bool]:
    """The answers by criterion, and whether they may be kept for another time.

    Raises:
        TaintedError: when the canary comes back.
        UnusableError: when neither of two replies is what was asked for.
        CannotJudgeError: when the model does not reply.
    """
    first = usage_log.ask(model, question.prompt, deadline)
    _refuse_leak(first.text, question.canary)
    try:
        return read(first.text, criteria), not first.stand_in
    except InvalidReplyError as error:
        problem = str(error)
    second = usage_log.ask(model, question.again(problem), deadline)
    _refuse_leak(second.text, question.canary)
    try:
        return read(second.text, criteria), not second.stand_in
    except InvalidReplyError as error:
        raise UnusableError(f"The model's reply could not be used, twice: {error}") from None


def _refuse_leak(reply: str, canary: str) -> None:
    """Raises where the canary came back, also escaped or with characters strewn between its own."""
    plain = _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), reply.lower())
    if canary in _SEPARATORS.sub("", plain.lower()):
        raise TaintedError("The reply repeats the instructions, so it is not trusted")
