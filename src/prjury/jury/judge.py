"""The judge: one function from a context to a judgment, with a name."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from prjury.jury.judgment import Judgment

ContextT = TypeVar("ContextT")
ContextT_contra = TypeVar("ContextT_contra", contravariant=True)


class JudgeType(StrEnum):
    """Where a judge's answers come from; model-backed ones advise until they are calibrated."""

    DETERMINISTIC = "deterministic"
    LLM_POWERED = "llm_powered"
    HYBRID = "hybrid"
    AGENT = "agent"


@runtime_checkable
class Judge(Protocol[ContextT_contra]):
    """Anything with a name that turns a context into a judgment.

    A ``type`` (`JudgeType`) and a ``description`` are welcome; without them a judge counts as
    deterministic.
    """

    @property
    def name(self) -> str:
        """The name by which ballots, configuration and reports know the judge."""
        ...

    def judge(self, context: ContextT_contra, /) -> Judgment | Awaitable[Judgment]:
        """The judgment, or an awaitable of it."""
        ...


@dataclass(frozen=True)
class FunctionJudge(Generic[ContextT]):
    """A judge made of a plain or async function; calling it calls the function."""

    function: Callable[[ContextT], Judgment | Awaitable[Judgment]]
    name: str
    description: str = ""
    type: JudgeType = JudgeType.DETERMINISTIC

    def judge(self, context: ContextT, /) -> Judgment | Awaitable[Judgment]:
        """What the function says."""
        return self.function(context)

    __call__ = judge


def judge(
    *,
    name: str | None = None,
    description: str = "",
    type: JudgeType = JudgeType.DETERMINISTIC,  # noqa: A002 - the public keyword of the contract
) -> Callable[[Callable[[Any], Judgment | Awaitable[Judgment]]], FunctionJudge[Any]]:
    """Makes a judge of a function: ``@judge(name="tests")``.

    The name defaults to the function's, the description to the first line of its docstring.
    """

    def decorate(
        function: Callable[[Any], Judgment | Awaitable[Judgment]],
    ) -> FunctionJudge[Any]:
        first_line = (inspect.getdoc(function) or "").partition("\n")[0]
        label = name or str(getattr(function, "__name__", "judge"))
        return FunctionJudge(function, label, description or first_line, type)

    return decorate


def type_of(judge: object) -> JudgeType:
    """The judge's own type, or deterministic where it names none."""
    named = getattr(judge, "type", None)
    return next((kind for kind in JudgeType if kind == named), JudgeType.DETERMINISTIC)


def ask(judge: Judge[ContextT], context: ContextT) -> Judgment:
    """The judge's answer, waited for if it comes as an awaitable.

    Raises:
        TypeError: when the answer is not a judgment.
    """
    answer = judge.judge(context)
    if inspect.isawaitable(answer):
        answer = asyncio.run(_wait_for(answer))
    if not isinstance(answer, Judgment):
        raise TypeError(f"{judge.name} returned a {type(answer).__name__} instead of a Judgment")
    return answer


async def _wait_for(answer: Awaitable[Judgment]) -> Judgment:
    return await answer
