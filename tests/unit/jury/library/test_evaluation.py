from __future__ import annotations

import asyncio
import functools
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prjury.jury.compose import all_of, always_pass
from prjury.jury.context import ExecutionStatus, JudgmentContext
from prjury.jury.frozen import freeze
from prjury.jury.judge import JudgeType, judge
from prjury.jury.judgment import Judgment, Status
from prjury.jury.jury import Jury, Seat
from prjury.jury.library.agent import AgentResult
from prjury.jury.library.evaluation import evaluate, evaluate_async
from prjury.jury.verdicts import JuryVerdict
from prjury.jury.voting import MajorityVoting

SUCCESS = {"status": "success", "error": None}


def seen(
    call: Callable[..., Any], workspace: Path | None = None, goal: str = "g"
) -> tuple[Any, JudgmentContext]:
    """What the call returned, and what the judges got to see."""
    shown: list[JudgmentContext] = []

    def look(context: JudgmentContext) -> Judgment:
        shown.append(context)
        return Judgment.passed("seen")

    result, verdict = evaluate(goal, call, look, workspace)
    (context,) = shown
    execution = {"status": context.execution_status.value, "error": context.error}
    assert verdict.aggregated == Judgment.passed("seen", metadata={"execution": execution})
    return result, context


class Bound:
    def method(self, goal: str, workspace: Path | None) -> tuple[object, ...]:
        return goal, workspace

    def __call__(self, goal: str) -> tuple[object, ...]:
        return (goal,)


def first(goal: str, *rest: object, **options: object) -> tuple[object, ...]:
    return (goal, *rest)


@pytest.mark.parametrize(
    ("call", "given"),
    [
        (lambda: (), ()),
        (lambda goal: (goal,), ("g",)),
        (lambda goal, /, workspace: (goal, workspace), ("g", Path("/w"))),
        (lambda goal, workspace=None: (goal, workspace), ("g", Path("/w"))),
        (lambda workspace: (workspace,), (Path("/w"),)),
        (lambda *, goal, workspace: (goal, workspace), ("g", Path("/w"))),
        (lambda task, place=None, *, loud=True: (task, place), ("g", None)),
        (lambda *given, **options: given, ()),
        (first, ("g",)),
        (Bound().method, ("g", Path("/w"))),
        (Bound(), ("g",)),
        (functools.partial(Bound().method, "mine"), ("mine", Path("/w"))),
        (tuple, ("g",)),
    ],
)
def test_a_call_gets_what_it_requires(call: Any, given: tuple[object, ...]) -> None:
    assert evaluate("g", call, always_pass(), "/w")[0] == given


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda a, b, c: None, "a, b, c"),
        (lambda *, client: None, "client"),
        (lambda goal, *, client: None, "goal, client"),
        (lambda workspace=None, *, client: None, "client"),
    ],
)
def test_a_call_that_requires_more_is_refused(call: Any, names: str) -> None:
    with pytest.raises(TypeError) as refusal:
        evaluate("g", call, always_pass())
    told = f"the call requires {names}; it can be given a goal and a workspace"
    assert str(refusal.value) == told


def test_what_cannot_be_called_is_refused() -> None:
    with pytest.raises(TypeError, match=r"^3 is neither a function nor an agent's client with run"):
        evaluate("g", 3, always_pass())  # type: ignore[call-overload]


def test_nothing_is_called_when_nobody_can_judge() -> None:
    called: list[int] = []
    with pytest.raises(TypeError, match="3 is neither a judge nor a function"):
        evaluate("g", lambda: called.append(1), 3)  # type: ignore[call-overload]
    assert called == []


@pytest.mark.parametrize("timeout", ["3", float("nan")])
def test_nothing_is_called_with_a_wrong_timeout(timeout: Any) -> None:
    called: list[int] = []
    with pytest.raises((TypeError, ValueError), match="timeout"):
        evaluate("g", lambda: called.append(1), always_pass(), timeout=timeout)
    assert called == []


@pytest.mark.parametrize(
    ("result", "metadata"),
    [
        (None, {}),
        (7, {"result": 7}),
        ({"files": ["a"]}, {"result": {"files": ("a",)}}),
        (False, {"result": False}),
        (b"bytes", {}),
        ({"a": {1, 2}}, {}),
        (float("nan"), {}),
        (object, {}),
    ],
)
def test_a_result_that_is_not_text(result: Any, metadata: dict[str, Any]) -> None:
    returned, context = seen(lambda: result)
    assert returned is result
    assert context.agent_output is None
    assert context.execution_status is ExecutionStatus.SUCCESS
    assert context.metadata == metadata


@pytest.mark.parametrize(
    ("result", "metadata"),
    [
        ({"usage": 1, "input_tokens": 7}, {"usage": {"input_tokens": 7}}),
        ({"documents": ["a", {"text": "b"}]}, {"documents": ("a", "b")}),
    ],
)
def test_the_tokens_and_the_documents_that_a_result_names(
    result: dict[str, Any], metadata: dict[str, Any]
) -> None:
    assert seen(lambda: result)[1].metadata == {"result": freeze(result), **metadata}
    no_json = result | {"it": object()}
    assert seen(lambda: no_json)[1].metadata == metadata


class Client:
    def run(self, goal: str, workspace: Path | None) -> AgentResult:
        return AgentResult(f"{goal} in {workspace}", metadata={"steps": 2})


def test_an_agents_client() -> None:
    result, verdict = evaluate("g", Client(), _on_output("g in /w"), "/w")
    assert result == AgentResult("g in /w", metadata={"steps": 2})
    assert verdict.status is Status.PASS


class Framework:
    async def run(self, prompt: str, *, deps: object = None) -> str:
        return prompt


def _work(workspace: Path) -> str:
    (workspace / "kept.txt").write_text("a\nB\n")
    (workspace / "new").mkdir()
    (workspace / "new" / "made.txt").write_bytes(b"x\r\ny")
    (workspace / "old.txt").unlink()
    (workspace / ".git" / "index").write_text("2")
    return "done"


def test_what_a_call_changes_in_its_workspace_is_the_diff_which_git_can_apply(
    tmp_path: Path,
) -> None:
    for name, content in (("kept.txt", b"a\nb\n"), ("old.txt", b"o\n"), ("raw", b"\xff")):
        (tmp_path / name).write_bytes(content)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / "loop").symlink_to(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.glob("*.txt")}

    diff = seen(_work, tmp_path)[1].diff
    assert diff is not None
    assert "-b\n+B\n" in diff
    (tmp_path / "new" / "made.txt").unlink()
    for path, content in before.items():
        path.write_bytes(content)
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=diff.encode(), check=True)
    assert (tmp_path / "new" / "made.txt").read_bytes() == b"x\r\ny"
    assert not (tmp_path / "old.txt").exists()

    contexts: list[JudgmentContext] = []

    def keep(context: JudgmentContext) -> Judgment:
        contexts.append(context)
        return Judgment.passed("kept")

    asyncio.run(evaluate_async("g", lambda: None, keep, tmp_path))
    assert (contexts[0].diff, seen(lambda: "done")[1].diff) == ("", None)


def test_a_name_that_is_no_text_is_written_as_escapes_in_the_diff(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/\xff.txt"
    diff = seen(lambda: Path(os.fsdecode(name)).write_text("x\n"), tmp_path)[1].diff
    assert (diff or "").encode().startswith(b"--- /dev/null\n+++ b/\\udcff.txt\n")


def test_the_diff_of_a_long_text_is_made_in_time(tmp_path: Path) -> None:
    def write(mark: str) -> None:
        lines = (f"{number}{mark if number % 2 else ''}\n" for number in range(40_000))
        (tmp_path / "data.csv").write_text("".join(lines))

    write("")
    started = time.monotonic()
    diff = seen(lambda: write("x"), tmp_path)[1].diff
    assert time.monotonic() - started < 20
    assert (diff or "").startswith("--- a/data.csv\n+++ b/data.csv\n@@ -2,39999 +2,39999 @@\n-1\n")
    write("")
    subprocess.run(
        ["git", "apply", "--unidiff-zero", "-"],
        cwd=tmp_path,
        input=(diff or "").encode(),
        check=True,
    )
    assert (tmp_path / "data.csv").read_text().startswith("0\n1x\n2\n3x\n")


def _on_output(expected: str) -> Callable[[JudgmentContext], Judgment]:
    def compare(context: JudgmentContext) -> Judgment:
        found = str(context.agent_output)
        return Judgment.passed(found) if found == expected else Judgment.failed(found)

    return compare


@pytest.mark.parametrize(
    ("crash", "status", "error"),
    [
        (ValueError("no"), "failed", "ValueError: no"),
        (TimeoutError(), "timeout", "TimeoutError"),
        (
            subprocess.TimeoutExpired("agent", 3),
            "timeout",
            "subprocess.TimeoutExpired: Command 'agent' timed out after 3 seconds",
        ),
        (asyncio.CancelledError(), "cancelled", "asyncio.exceptions.CancelledError"),
    ],
)
def test_a_call_that_raises(crash: BaseException, status: str, error: str) -> None:
    def work() -> str:
        raise crash

    async def later() -> str:
        await asyncio.sleep(0)
        return work()

    for call in (work, later):
        result, context = seen(call)
        assert result is None
        assert context.execution_status.value == status
        assert context.error == error
        assert context.agent_output is None
        assert context.execution_time is not None


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit])
def test_the_users_own_end_goes_on(end: type[BaseException]) -> None:
    def work() -> None:
        raise end

    with pytest.raises(end):
        evaluate("g", work, always_pass())


def test_asyncio_is_not_loaded_for_calls_that_do_not_wait() -> None:
    code = (
        "import sys\n"
        "from prjury.jury.library.evaluation import evaluate\n"
        "from prjury.jury.compose import always_pass\n"
        "evaluate('g', lambda: 'x', always_pass())\n"
        "sys.exit('asyncio' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@judge(name="slow", type=JudgeType.LLM_POWERED)
def slow(context: JudgmentContext) -> Judgment:
    time.sleep(0.03)
    return Judgment.passed("at last")


def test_a_lone_judge_is_asked_in_this_thread() -> None:
    def where(context: JudgmentContext) -> Judgment:
        return Judgment.passed(str(threading.get_ident()))

    _, verdict = evaluate("g", lambda: "x", where)
    assert verdict.aggregated.reasoning == str(threading.get_ident())


def test_a_lone_judge_may_be_anything_that_a_jury_seats() -> None:
    def check(context: JudgmentContext) -> Judgment:
        return Judgment.failed(context.goal)

    _, verdict = evaluate("g", lambda: "x", check)
    assert dict(verdict.by_name) == {"check": Judgment.failed("g")}
    _, verdict = evaluate("g", lambda: "x", Seat(judge(name="own")(check), 3.0, "strict"))
    assert dict(verdict.weights) == {"strict": 3.0}
    _, verdict = evaluate("g", lambda: "x", lambda _: Judgment.failed("no"))
    assert dict(verdict.by_name) == {"Judge#1": Judgment.failed("no")}
    _, verdict = evaluate("g", lambda: "x", all_of(always_pass(), check, name="both"))
    assert list(verdict.by_name) == ["both"]
    jury: Jury[JudgmentContext] = Jury([check], MajorityVoting(), "inner")
    _, verdict = evaluate("g", lambda: "x", jury.as_judge())
    assert verdict.aggregated.metadata["jury"]["check"]["reasoning"] == "g"


def test_judging_may_be_limited() -> None:
    over = threading.Event()

    def stuck(context: JudgmentContext) -> Judgment:
        over.wait(20)
        return Judgment.passed("never heard")

    jury: Jury[JudgmentContext] = Jury([stuck], MajorityVoting())
    for bench in (stuck, jury):
        started = time.monotonic()
        _, verdict = evaluate("g", lambda: "x", bench, timeout=0.1)
        assert time.monotonic() - started < 10
        assert verdict.individual[0].metadata["reason"] == "timeout"
        name = "jury" if bench is jury else "evaluation"
        assert f"thread prjury-{name}-stuck " in verdict.individual[0].reasoning
    over.set()


class Own:
    """Somebody's own way to vote, without any options."""

    def __init__(self, verdict: Any) -> None:
        self.verdict = verdict

    def vote(self, context: JudgmentContext) -> JuryVerdict:
        if isinstance(self.verdict, BaseException):
            raise self.verdict
        verdict: JuryVerdict = self.verdict
        return verdict


def test_whatever_votes() -> None:
    _, verdict = evaluate("g", lambda: "x", Own(JuryVerdict(Judgment.failed("no"))))
    assert verdict == JuryVerdict(Judgment.failed("no", metadata={"execution": SUCCESS}))
    with pytest.raises(TypeError, match=r"^the vote returned a bool instead of a JuryVerdict or a"):
        evaluate("g", lambda: "x", Own(True))
    with pytest.raises(OSError, match="gone"):
        evaluate("g", lambda: "x", Own(OSError("gone")))


@pytest.mark.parametrize(
    ("call", "result"),
    [
        (lambda text="x", *, goal: f"{text} {goal}", "x g"),
        (lambda *, model="m": model, "m"),
        (lambda workspace, text="x": f"{text} {workspace}", "x /w"),
    ],
)
def test_no_parameter_is_taken_for_the_goal(call: Callable[..., str], result: str) -> None:
    assert evaluate("g", call, always_pass(), Path("/w"))[0] == result


def test_evaluate_in_an_event_loop_does_not_block_it() -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0.01)

    def slow(context: JudgmentContext) -> Judgment:
        time.sleep(0.1)
        return Judgment.passed(context.agent_output or "")

    async def agent(goal: str) -> str:
        await asyncio.sleep(0.05)
        return f"{goal} done"

    async def main() -> None:
        ticking = asyncio.create_task(tick())
        result, verdict = await evaluate_async("g", agent, slow)
        assert (result, verdict.aggregated.reasoning) == ("g done", "g done")
        said = await Jury([slow], MajorityVoting()).vote_async(JudgmentContext("g"))
        assert said.status is Status.PASS
        late, timed = await evaluate_async("g", lambda: asyncio.sleep(9), slow, timeout=0.05)
        assert late is None
        assert timed.aggregated.metadata["execution"]["status"] == "timeout"
        ticking.cancel()

    asyncio.run(main())
    assert ticks >= 10
