"""The judge: one function from a context to a judgment, with a name."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Awaitable, Callable
from contextvars import copy_context
from dataclasses import dataclass
from enum import StrEnum
from typing import (
    TYPE_CHECKING,
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

if TYPE_CHECKING:
    from concurrent.futures import Future

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
    """A judge made of a plain or async function; calling it calls the function.

    Raises:
        ValueError: for a type that does not exist.
    """

    function: Callable[[ContextT], Opinion]
    name: str
    description: str = ""
    type: JudgeType = JudgeType.DETERMINISTIC

    def __post_init__(self) -> None:
        object.__setattr__(self, "type", JudgeType(self.type))

    def judge(self, context: ContextT, /) -> Judgment:
        """What the function says; an async one is waited for."""
        return _settled(self.function(context), self.name)

    def __call__(self, context: ContextT, /) -> Opinion:
        """What the function returns."""
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
    """Makes a judge of a function: ``@judge`` or ``@judge(name="tests")``.

    The name defaults to the function's, the description to the first line of its docstring.

    Raises:
        TypeError: for a name that is not given as ``name=``.
    """
    if function is not None and not callable(function):
        raise TypeError(f"{function!r} is no function: write @judge or @judge(name=...)")

    def decorate(function: Callable[[ContextT], Opinion]) -> FunctionJudge[ContextT]:
        first_line = (inspect.getdoc(function) or "").partition("\n")[0]
        label = name or str(getattr(function, "__name__", "judge"))
        return FunctionJudge(function, label, description or first_line, type)

    return decorate if function is None else decorate(function)


def judge_of(member: Judge[ContextT] | Callable[[ContextT], Opinion]) -> Judge[ContextT]:
    """The judge itself, or a plain function as one, named like the function.

    Raises:
        TypeError: for something that is neither.
    """
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
    """Whether it has a name, readable or not, and a method that judges.

    `isinstance` would run a name's property in some versions of Python, and take a class or a seat.
    """
    method = getattr(member, "judge", None)
    if isinstance(member, type) or not callable(method) or isinstance(method, FunctionJudge):
        return False
    return inspect.getattr_static(member, "name", member) is not member or hasattr(member, "name")


def type_of(judge: object) -> JudgeType:
    """The judge's own type, deterministic where it names none, a hybrid where nobody knows it.

    A word that is not known must not count as deterministic: it could lift what programs say.
    """
    named = getattr(judge, "type", None)
    if named is None:
        return JudgeType.DETERMINISTIC
    return next((kind for kind in JudgeType if kind == named), JudgeType.HYBRID)


def ask(judge: Judge[ContextT], context: ContextT) -> Judgment:
    """The judge's answer, waited for if it comes as an awaitable.

    Raises:
        TypeError: when the answer is not a judgment.
    """
    return _settled(judge.judge(context), judge.name)


def _settled(answer: object, name: str) -> Judgment:
    """The judgment that a judge's answer is, or brings.

    Raises:
        TypeError: when it is none.
    """
    who = name or "the judge"
    if inspect.isawaitable(answer):
        answer = resolve(answer)
    if inspect.iscoroutine(answer):
        answer.close()  # or Python complains a second time, at some later moment
        raise TypeError(f"{who} returned a coroutine: is an await missing?")
    if not isinstance(answer, Judgment):
        raise TypeError(f"{who} returned a {type(answer).__name__} instead of a Judgment")
    return answer


def resolve(awaitable: Awaitable[AnswerT]) -> AnswerT:
    """What the awaitable brings, waited for in whatever thread this is.

    A thread that already runs an event loop, such as a notebook's, cannot run a second one, and in
    the main thread a loop would take Ctrl-C for a request that a judge may refuse: there the loop
    runs in a thread of its own.
    """
    import asyncio  # noqa: PLC0415 - 30 ms that only asynchronous judges should cost

    from prjury.jury.threads import Daemons  # noqa: PLC0415 - the same

    async def wait_for() -> AnswerT:
        asyncio.get_running_loop().set_default_executor(Daemons(aside))
        return await awaitable

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        if threading.current_thread() is not threading.main_thread():
            return asyncio.run(wait_for())
    return aside(lambda: asyncio.run(wait_for())).result()


def aside(work: Callable[[], AnswerT]) -> Future[AnswerT]:
    """Does the work in another thread, a daemon, so that Ctrl-C does not wait for it."""
    from concurrent.futures import Future  # noqa: PLC0415 - as above

    done: Future[AnswerT] = Future()
    done.set_running_or_notify_cancel()  # from here on nobody can cancel it

    def carry() -> None:
        try:
            done.set_result(work())
        except BaseException as crash:  # noqa: BLE001 - it is raised again where it is waited for
            done.set_exception(crash)

    label = f"{threading.current_thread().name}-aside"
    run = copy_context().run
    threading.Thread(target=run, args=(carry,), name=label, daemon=True).start()
    return done
