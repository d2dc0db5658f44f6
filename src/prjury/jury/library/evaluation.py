"""One call to an agent or any other program, and the verdict on what came of it."""

from __future__ import annotations

import inspect
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar, cast, overload

from prjury.jury.context import ExecutionStatus, JudgmentContext
from prjury.jury.frozen import freeze
from prjury.jury.guard import ask_seats, limit_by_vote, printable
from prjury.jury.jury import Member, VerdictT, make_seats
from prjury.jury.library.agent import AgentClient, AgentResult, result_of
from prjury.jury.library.execution import (
    Execution,
    ResultT,
    list_document_texts,
    output_of,
    perform,
    usage_of,
)
from prjury.jury.library.workspace_diff import diff_texts, read_texts_unless_many
from prjury.jury.verdicts import JuryVerdict, Verdict

VerdictT_co = TypeVar("VerdictT_co", bound=JuryVerdict | Verdict, covariant=True)

#: What can be evaluated: a plain or async function of nothing, of the goal, or of the goal and the
#: workspace (a `pathlib.Path`, or None where no workspace is given).
Call: TypeAlias = Callable[..., Any]

_Place: TypeAlias = str | os.PathLike[str] | None


class Votes(Protocol[VerdictT_co]):
    """Whatever votes on a context: a jury, a cascade, or something of one's own."""

    def vote(self, context: JudgmentContext, /) -> VerdictT_co:
        """The verdict."""
        ...


@overload
def evaluate(
    goal: str,
    call: Call | AgentClient,
    judge_or_jury: Votes[VerdictT],
    workspace: _Place = None,
    *,
    metadata: Mapping[str, Any] | None = None,
    timeout: float | None = None,
) -> tuple[Any, VerdictT]: ...
@overload
def evaluate(
    goal: str,
    call: Call | AgentClient,
    judge_or_jury: Member[JudgmentContext],
    workspace: _Place = None,
    *,
    metadata: Mapping[str, Any] | None = None,
    timeout: float | None = None,
) -> tuple[Any, JuryVerdict]: ...
def evaluate(
    goal: str,
    call: Call | AgentClient,
    judge_or_jury: Votes[JuryVerdict | Verdict] | Member[JudgmentContext],
    workspace: _Place = None,
    *,
    metadata: Mapping[str, Any] | None = None,
    timeout: float | None = None,
) -> tuple[Any, JuryVerdict | Verdict]:
    """Make the call, then let a judge or a jury judge what came of it: its result and the verdict.

    The judges get a `JudgmentContext` with the answer as ``agent_output``, JSON as
    ``metadata["result"]``, the ``usage`` and ``documents`` that the result names, and the changed
    texts of the workspace as ``diff`` (None if it holds more than 5,000 or 16 MiB). An exception of
    the call is not raised: the result is None, and the verdict's
    ``aggregated.metadata["execution"]`` has ``status`` and ``error`` (it always does).

    Args:
        call: an `AgentClient`, or a plain or async function. Its first positional parameter gets
            the goal, a second one without a default the workspace; parameters that are called
            ``goal`` or ``workspace`` get these wherever they stand.
        judge_or_jury: a judge, a seat or a function from context to judgment (its verdict is a
            `JuryVerdict` with one ballot), or whatever has ``vote(context)``.
        metadata: what else the judges should know, such as baselines; JSON.
        timeout: seconds for the call, and as many again for judging. A call that takes longer is
            abandoned in its thread; its status is TIMEOUT.

    Raises:
        TypeError: before the call is made, when it requires other parameters or cannot be called,
            or when nobody can judge; after it, when a vote returns something that is no verdict.
    """
    limit_by_vote(timeout)  # refuses a wrong one before anything is done
    vote = _make_voter(judge_or_jury, timeout)
    place = None if workspace is None else Path(workspace)
    before = read_texts_unless_many(place) if place else None
    done = _perform_or_abandon(timeout, bind_call(call, goal, place))
    return done.result, _judge_context(vote, _gather_context(goal, place, done, metadata, before))


@overload
async def evaluate_async(
    goal: str,
    call: Call | AgentClient,
    judge_or_jury: Votes[VerdictT],
    workspace: _Place = None,
    *,
    metadata: Mapping[str, Any] | None = None,
    timeout: float | None = None,
) -> tuple[Any, VerdictT]: ...
@overload
async def evaluate_async(
    goal: str,
    call: Call | AgentClient,
    judge_or_jury: Member[JudgmentContext],
    workspace: _Place = None,
    *,
    metadata: Mapping[str, Any] | None = None,
    timeout: float | None = None,
) -> tuple[Any, JuryVerdict]: ...
async def evaluate_async(
    goal: str,
    call: Call | AgentClient,
    judge_or_jury: Votes[JuryVerdict | Verdict] | Member[JudgmentContext],
    workspace: _Place = None,
    *,
    metadata: Mapping[str, Any] | None = None,
    timeout: float | None = None,
) -> tuple[Any, JuryVerdict | Verdict]:
    """Evaluate in an event loop.

    An async call runs in this loop and is cancelled when its time is up. A plain one, and the
    judges, work in threads while the loop goes on.
    """
    import asyncio  # noqa: PLC0415 - only for event loops

    from prjury.jury.threads import run_async  # noqa: PLC0415 - as above

    limit_by_vote(timeout)
    vote = _make_voter(judge_or_jury, timeout)
    place = None if workspace is None else Path(workspace)
    work = bind_call(call, goal, place)
    loop = asyncio.get_running_loop()

    def run() -> Any:  # noqa: ANN401 - whatever the call returns
        answer = work()
        if not inspect.isawaitable(answer):
            return answer
        waited = asyncio.run_coroutine_threadsafe(_await_reply(answer, timeout), loop)
        return waited.result()

    before = await run_async(lambda: read_texts_unless_many(place) if place else None)
    done = await run_async(lambda: _perform_or_abandon(timeout, run))

    def judge() -> JuryVerdict | Verdict:
        return _judge_context(vote, _gather_context(goal, place, done, metadata, before))

    return done.result, await run_async(judge)


async def _await_reply(answer: Awaitable[ResultT], timeout: float | None) -> ResultT:
    import asyncio  # noqa: PLC0415 - as above

    return await asyncio.wait_for(answer, timeout)


def _judge_context(
    vote: Callable[[JudgmentContext], JuryVerdict | Verdict], context: JudgmentContext
) -> JuryVerdict | Verdict:
    verdict = vote(context)
    execution = {"status": context.execution_status.value, "error": context.error}
    return replace(verdict, aggregated=verdict.aggregated.with_metadata(execution=execution))


def _perform_or_abandon(timeout: float | None, work: Callable[[], Any]) -> Execution[Any]:
    """Return how the work ended; TIMEOUT where it took longer, and then it goes on unheard."""
    if timeout is None:
        return perform(work)
    from prjury.jury.threads import run_in_thread  # noqa: PLC0415 - only for these

    started_at = datetime.now(UTC)
    try:
        return run_in_thread(lambda: perform(work)).result(timeout)
    except TimeoutError:
        elapsed, words = timedelta(seconds=timeout), f"the call did not end within {timeout:g} s"
        return Execution(None, ExecutionStatus.TIMEOUT, started_at, elapsed, words)


def _make_voter(
    judge_or_jury: Votes[JuryVerdict | Verdict] | Member[JudgmentContext], timeout: float | None
) -> Callable[[JudgmentContext], JuryVerdict | Verdict]:
    vote = getattr(judge_or_jury, "vote", None)
    if not callable(vote):
        (seat,) = make_seats([cast("Member[JudgmentContext]", judge_or_jury)], "the evaluation")

        def vote_alone(context: JudgmentContext) -> JuryVerdict:
            until = limit_by_vote(timeout)
            ballots = ask_seats([seat], context, jury="evaluation", until=until, parallel=False)
            return JuryVerdict(ballots[0].judgment, ballots)

        return vote_alone
    limits = {} if timeout is None else {"timeout": timeout}
    return lambda context: _check_verdict(vote(context, **limits))


def _check_verdict(verdict: object) -> JuryVerdict | Verdict:
    if isinstance(verdict, JuryVerdict | Verdict):
        return verdict
    kind = type(verdict).__name__
    raise TypeError(f"the vote returned a {kind} instead of a JuryVerdict or a Verdict")


def bind_call(call: Call | AgentClient, goal: str, workspace: Path | None) -> Callable[[], Any]:
    """The call as a function of nothing, which may return an awaitable."""
    if callable(call):
        function: Callable[..., Any] = call
        return _bind_parameters(function, goal, workspace)
    if isinstance(call, AgentClient):
        client: AgentClient = call
        try:
            inspect.signature(client.run).bind(goal, workspace)
        except TypeError as error:
            kind = type(call).__name__
            raise TypeError(f"{kind}.run takes no goal and workspace: {error}") from error
        return lambda: _convert_to_agent_result(client.run(goal, workspace))
    raise TypeError(f"{call!r} is neither a function nor an agent's client with run()")


def _convert_to_agent_result(reply: object) -> AgentResult | Awaitable[AgentResult]:
    if not inspect.isawaitable(reply):
        return result_of(reply)
    awaitable: Awaitable[object] = reply

    async def finish() -> AgentResult:
        return result_of(await awaitable)

    return finish()


def _bind_parameters(
    call: Callable[..., Any], goal: str, workspace: Path | None
) -> Callable[[], Any]:
    try:
        parameters = inspect.signature(call).parameters.values()
    except ValueError:  # some built-in functions do not tell
        return call
    offered: dict[str, object] = {"goal": goal, "workspace": workspace}
    keywords: dict[str, object] = {}
    for parameter in parameters:
        if parameter.name in offered and parameter.kind is not parameter.POSITIONAL_ONLY:
            keywords[parameter.name] = offered.pop(parameter.name)
    taking = [p for p in parameters if p.kind not in _COLLECTING]
    needed = [p for p in taking if p.default is p.empty or p is _first_for_goal(taking, keywords)]
    names = ", ".join(p.name for p in needed)
    needed = [p for p in needed if p.name not in keywords]
    if len(needed) > len(offered) or any(p.kind is p.KEYWORD_ONLY for p in needed):
        raise TypeError(f"the call requires {names}; it can be given a goal and a workspace")
    rest = dict(zip((p.name for p in needed), offered.values(), strict=False))
    first = [rest.pop(p.name) for p in needed if p.kind is p.POSITIONAL_ONLY]
    return partial(call, *first, **rest, **keywords)


def _first_for_goal(
    taking: Sequence[inspect.Parameter], given: Mapping[str, object]
) -> inspect.Parameter | None:
    if "goal" in given or not taking or taking[0].kind is inspect.Parameter.KEYWORD_ONLY:
        return None
    return taking[0] if taking[0].name not in given else None


_COLLECTING = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}


def _gather_context(
    goal: str,
    workspace: Path | None,
    execution: Execution[Any],
    extra_metadata: Mapping[str, Any] | None,
    before: Mapping[str, str] | None,
) -> JudgmentContext:
    result = execution.result
    after = None if before is None or workspace is None else read_texts_unless_many(workspace)
    message = result if isinstance(result, AgentResult) else None
    error = message.error if message else execution.error
    metadata = message.metadata if message else _make_result_metadata(result)
    return JudgmentContext(
        goal,
        workspace,
        message.output if message else output_of(result),
        message.status if message else execution.status,
        execution.started_at,
        execution.elapsed,
        None if error is None else printable(error),
        {**metadata, **(extra_metadata or {})},
        trajectory=metadata.get("tool_calls") or metadata.get("tools") if message else None,
        diff=None if before is None or after is None else printable(diff_texts(before, after)),
    )


def _make_result_metadata(result: object) -> dict[str, Any]:
    if result is None or isinstance(result, str):
        return {}
    usage = usage_of(result)
    documents = list_document_texts(result)
    details = {"usage": usage, "documents": documents}
    present = {name: value for name, value in details.items() if value}
    try:
        return {"result": freeze(result), **present}
    except ValueError:
        return present
