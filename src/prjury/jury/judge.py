"""The judge: one function from a context to a judgment, with a name."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, Protocol, TypeAlias, TypeVar, runtime_checkable

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

    def judge(self, context: ContextT_contra, /) -> Opinion:
        """The judgment, or an awaitable of it."""
        ...


@dataclass(frozen=True)
class FunctionJudge(Generic[ContextT]):
    """A judge made of a plain or async function; calling it calls the function."""

    function: Callable[[ContextT], Opinion]
    name: str
    description: str = ""
    type: JudgeType = JudgeType.DETERMINISTIC

    def judge(self, context: ContextT, /) -> Opinion:
        """What the function says."""
        return self.function(context)

    __call__ = judge


def judge(
    *,
    name: str | None = None,
    description: str = "",
    type: JudgeType = JudgeType.DETERMINISTIC,  # noqa: A002 - the public keyword of the contract
) -> Callable[[Callable[[ContextT], Opinion]], FunctionJudge[ContextT]]:
    """Makes a judge of a function: ``@judge(name="tests")``.

    The name defaults to the function's, the description to the first line of its docstring.
    """

    def decorate(function: Callable[[ContextT], Opinion]) -> FunctionJudge[ContextT]:
        first_line = (inspect.getdoc(function) or "").partition("\n")[0]
        label = name or str(getattr(function, "__name__", "judge"))
        return FunctionJudge(function, label, description or first_line, type)

    return decorate


def judge_of(member: Judge[ContextT] | Callable[[ContextT], Opinion]) -> Judge[ContextT]:
    """The judge itself, or a plain function as one, named like the function.

    Raises:
        TypeError: for something that is neither.
    """
    if isinstance(member, Judge):
        return member
    if callable(member):
        name = getattr(member, "__name__", "")
        return FunctionJudge(member, name if isinstance(name, str) and name != "<lambda>" else "")
    raise TypeError(f"{member!r} is neither a judge nor a function")


def type_of(judge: object) -> JudgeType:
    """The judge's own type, or deterministic where it names none."""
    named = getattr(judge, "type", None)
    return next((kind for kind in JudgeType if kind == named), JudgeType.DETERMINISTIC)


def ask(judge: Judge[ContextT], context: ContextT) -> Judgment:
    """The judge's answer, waited for if it comes as an awaitable.

    Raises:
        TypeError: when the answer is not a judgment.
    """
    answer: object = judge.judge(context)
    if inspect.isawaitable(answer):
        answer = resolve(answer)
    if not isinstance(answer, Judgment):
        raise TypeError(f"{judge.name} returned a {type(answer).__name__} instead of a Judgment")
    return answer


def resolve(awaitable: Awaitable[AnswerT]) -> AnswerT:
    """What the awaitable brings, waited for in whatever thread this is.

    A thread that already runs an event loop, such as a notebook's, cannot run a second one: there
    the waiting is done in a thread of its own.
    """
    import asyncio  # noqa: PLC0415 - 30 ms that only asynchronous judges should cost

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(_wait_for(awaitable))
    return _aside(lambda: asyncio.run(_wait_for(awaitable)))


async def _wait_for(awaitable: Awaitable[AnswerT]) -> AnswerT:
    return await awaitable


def _aside(work: Callable[[], AnswerT]) -> AnswerT:
    """Does the work in another thread, a daemon, so that Ctrl-C does not wait for it."""
    done: Future[AnswerT] = Future()

    def carry() -> None:
        try:
            done.set_result(work())
        except BaseException as crash:  # noqa: BLE001 - it is raised again where it is waited for
            done.set_exception(crash)

    threading.Thread(target=copy_context().run, args=(carry,), daemon=True).start()
    return done.result()
