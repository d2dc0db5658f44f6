"""Asking the same judge twice, to see whether it says the same again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, cast

from prjury.jury.guard import guarded, itself
from prjury.jury.judge import ContextT, Judge, JudgeType, ask, type_of
from prjury.jury.judgment import Judgment, Status


@dataclass(frozen=True)
class Twice(Generic[ContextT]):
    """Asks a judge twice, the second time with the question turned round if it can be.

    Attributes:
        inner: who is asked.
        runs: how often, for whoever counts questions.
    """

    inner: Judge[ContextT]
    runs: int = 2

    @property
    def name(self) -> str:
        """The judge's own name."""
        return self.inner.name

    @property
    def description(self) -> str:
        """The judge's own description."""
        return str(getattr(self.inner, "description", ""))

    @property
    def type(self) -> JudgeType:
        """The judge's own type."""
        return type_of(self.inner)

    @property
    def members(self) -> tuple[Judge[ContextT]]:
        """The judge itself."""
        return (self.inner,)

    def judge(self, context: ContextT, /) -> Judgment:
        """The first answer, which is asked for again if it is a vote.

        Then ``metadata["flipped"]`` says whether the second one differs; where that is an error
        it is None, and ``flip_error`` says why.
        """
        first = ask(self.inner, context)
        if first.status not in {Status.PASS, Status.FAIL}:
            return first
        second = guarded(lambda: ask(self.inner, _turned(context)), itself)
        if second.status is Status.ERROR:
            return first.told(flipped=None, flip_error=second.reasoning)
        return first.told(flipped=first.status is not second.status)


def _turned(context: ContextT) -> ContextT:
    """The question turned round where it knows how, else as it is."""
    turn: object = getattr(context, "flipped", None)
    return cast("ContextT", turn()) if callable(turn) else context
