"""The judge: one function from a context to a judgment, with a name."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import (
    Any,
    Generic,
    Protocol,
    TypeAlias,
    TypeGuard,
    TypeVar,
    overload,
    runtime_checkable,
)

from prjury.jury.judgment import Judgment

ContextT = TypeVar("ContextT")
ContextT_contra = TypeVar("ContextT_contra", contravariant=True)
AnswerT = TypeVar("AnswerT")

#: What a judge's function returns: a judgment, or an awaitable of one.
Opinion: TypeAlias = Judgment | Awaitable[Judgment]


class JudgeType(StrEnum):
    """Where a judge's answers come from; model-backed ones advise until they are calibrated."""

    DETERMINISTIC = "deterministic"
    LLM_POWERED = "llm_powered"
    HYBRID = "hybrid"
    AGENT = "agent"


#: The types that ask a model.
MODEL_BACKED = frozenset({JudgeType.LLM_POWERED, JudgeType.AGENT})


@runtime_checkable
class Judge(Protocol[ContextT_contra]):
    """Anything with a name that turns a context into a judgment.

    A ``type`` (`JudgeType`, else deterministic) and a ``description`` are welcome.
    """

    @property
    def name(self) -> str:
        """The name on ballots, in configuration and in reports."""
        ...

    def judge(self, context: ContextT_contra, /) -> Opinion:
        """The judgment, or an awaitable of it."""
        ...


#: What is taken as a judge: one, or a plain or async function.
JudgeLike: TypeAlias = Judge[ContextT] | Callable[[ContextT], Opinion]


@dataclass(frozen=True)
class FunctionJudge(Generic[ContextT]):
    """A judge made of a plain or async function; calling it calls the function."""

    function: Callable[[ContextT], Opinion]
    name: str
    description: str = ""
    type: JudgeType = JudgeType.DETERMINISTIC

    def __post_init__(self) -> None:
        object.__setattr__(self, "type", JudgeType(self.type))

    def judge(self, context: ContextT, /) -> Judgment:
        """The function's answer; an async one is waited for."""
        return _await_and_require_judgment(self.function(context), self.name)

    def __call__(self, context: ContextT, /) -> Opinion:
        """The function's own answer."""
        return self.function(context)


@overload
def judge(function: Callable[[ContextT], Opinion], /) -> FunctionJudge[ContextT]: ...
@overload
def judge(
    *, name: str | None = ..., description: str = ..., type: JudgeType = ...
) -> Callable[[Callable[[ContextT], Opinion]], FunctionJudge[ContextT]]: ...
def judge(
    function: Callable[[ContextT], Opinion] | None = None,
    /,
    *,
    name: str | None = None,
    description: str = "",
    type: JudgeType = JudgeType.DETERMINISTIC,  # noqa: A002 - the public keyword of the contract
) -> object:
    """Make a judge of a function: ``@judge`` or ``@judge(name="tests")``.

    The name defaults to the function's, the description to the first line of its docstring.
    """
    if function is not None and not callable(function):
        raise TypeError(f"{function!r} is no function: write @judge or @judge(name=...)")

    def decorate(function: Callable[[ContextT], Opinion]) -> FunctionJudge[ContextT]:
        first_line = (inspect.getdoc(function) or "").partition("\n")[0]
        label = name or str(getattr(function, "__name__", "judge"))
        return FunctionJudge(function, label, description or first_line, type)

    return decorate if function is None else decorate(function)


def judge_of(member: JudgeLike[ContextT]) -> Judge[ContextT]:
    """The judge itself, or a plain function as one, named like it; TypeError for anything else."""
    if _is_judge(member):
        return member
    if callable(member) and not isinstance(member, type):
        name = getattr(member, "__name__", "")
        return FunctionJudge(member, name if isinstance(name, str) and name != "<lambda>" else "")
    hint = " but a class: seat an instance of it" if isinstance(member, type) else ""
    if hasattr(member, "as_judge"):
        hint = " but a jury: seat what its as_judge() returns"
    raise TypeError(f"{member!r} is neither a judge nor a function{hint}")


def _is_judge(member: object) -> TypeGuard[Judge[Any]]:
    """Return true for a name and a method that judges; `isinstance` would run a name's property."""
    method = getattr(member, "judge", None)
    if isinstance(member, type) or not callable(method) or isinstance(method, FunctionJudge):
        return False
    return inspect.getattr_static(member, "name", member) is not member or hasattr(member, "name")


def type_of(judge: object) -> JudgeType:
    """The judge's own type, deterministic where it names none; an unknown word is a hybrid."""
    stated = getattr(judge, "type", None)
    if stated is None:
        return JudgeType.DETERMINISTIC
    return next((kind for kind in JudgeType if kind == stated), JudgeType.HYBRID)


def ask(judge: Judge[ContextT], context: ContextT) -> Judgment:
    """The judge's answer, waited for if it comes as an awaitable; TypeError for no judgment."""
    return _await_and_require_judgment(judge.judge(context), judge.name)


def _await_and_require_judgment(answer: object, name: str) -> Judgment:
    who = name or "the judge"
    if inspect.isawaitable(answer):
        from prjury.jury.threads import wait_for_awaitable  # noqa: PLC0415 - only for these

        answer = wait_for_awaitable(answer)
    if inspect.iscoroutine(answer):
        answer.close()  # or Python complains a second time, at some later moment
        raise TypeError(f"{who} returned a coroutine: is an await missing?")
    if not isinstance(answer, Judgment):
        raise TypeError(f"{who} returned a {type(answer).__name__} instead of a Judgment")
    return answer
