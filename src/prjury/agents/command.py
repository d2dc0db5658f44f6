"""An agent that is a program: ``claude -p``, ``codex exec -``, or any other command; its answers.

It prints text, a JSON object, or JSON lines of events. Known are the forms of ``claude -p``
(``--output-format json`` and ``stream-json``) and of ``codex exec --json``; another JSON object
counts by its ``output``, ``content``, ``text``, ``result`` or last message.
"""

from __future__ import annotations

import contextlib
import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import asdict

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.judges.workspace.program_judges import LIMITS, make_shell, read_environment
from prjury.jury.context import ExecutionStatus
from prjury.jury.guard import compute_deadline
from prjury.jury.library.agent import AgentResult
from prjury.jury.library.execution import output_of
from prjury.policy.options import is_kept_from_agents
from prjury.ports import Progress, Shell, SilentProgress
from prjury.ports.types import Completed, ShellCommand

#: Seconds that an agent may take by default.
AGENT_TIMEOUT = 600.0
#: Bytes that it may print, and of them those that are read: the last ones.
_MOST_PRINTED, _MOST_READ = 64 << 20, 4 << 20
_LONGEST_ERROR = 2000
_GOAL = "PRJURY_GOAL_FILE"


@dataclass(frozen=True)
class CommandAgent:
    """Starts a program anew for each goal, contained, and reads its answer (`AgentClient`).

    ``CommandAgent("claude -p --output-format json", env=["ANTHROPIC_API_KEY"])``.

    The goal is its standard input; the file that holds it is named by ``PRJURY_GOAL_FILE`` as well.
    Its directory is the workspace, or an empty one. It gets a fresh HOME and TMPDIR, and is ended,
    with all it started, at its timeout, when it takes too much, and when this process ends.

    The result's output is its last message (`read_answer`); ``metadata`` has ``seconds`` and,
    where it says so, ``input_tokens``, ``output_tokens``, ``usd``, ``turns`` and ``tool_calls``
    (``name``, ``target``, ``outcome``).

    Args:
        command: one line for ``/bin/sh``.
        timeout: seconds; an enclosing vote's time may be shorter.
        env: names of variables to hand on, such as the agent's key.
        home: a HOME to use, where its login is; it can read and write what is there.

    Raises:
        ValueError: for a blank command, a timeout that is not above zero, or a variable that is a
            credential of the job.
    """

    command: str
    timeout: float = AGENT_TIMEOUT
    _: KW_ONLY
    env: Sequence[str] = ()
    home: Path | None = None
    environ: Mapping[str, str] = field(default_factory=read_environment, repr=False, compare=False)
    shell: Shell = field(default_factory=make_shell, repr=False, compare=False)
    progress: Progress = field(default_factory=SilentProgress, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.command.strip() or "\0" in self.command:
            raise ValueError("an agent's command is one line for /bin/sh")
        if not self.timeout > 0:
            raise ValueError(f"a timeout is above 0 seconds, not {self.timeout}")
        for name in filter(is_kept_from_agents, self.env):
            raise ValueError(f"{name} is not handed to an agent")

    def run(self, goal: str, workspace: Path | None, /) -> AgentResult:
        """Start the program and wait for its end."""
        with self.shell.scratch() as around:
            for name in ("home", "tmp", "empty"):
                (around / name).mkdir()
            goal_file = around / "goal.txt"
            goal_file.write_text(f"{goal}\n", "utf-8", "replace")
            directory = workspace or around / "empty"
            command = ShellCommand(
                f'exec <"${_GOAL}"\n{self.command}',
                directory,
                self._make_environment(around, goal_file),
                _MOST_PRINTED,
                writable=[directory, *filter(None, [self.home])],
                readable=self._find_files(),
            )
            return self._run_program(command)

    def _find_files(self) -> Sequence[Path]:
        """Return the files that the command names, such as the agent's own program."""
        try:
            words = shlex.split(self.command)
        except ValueError:
            return []
        return [path for path in map(Path, words) if path.is_absolute() and path.is_file()]

    def _make_environment(self, around: Path, goal: Path) -> Mapping[str, str]:
        variables = {name: self.environ[name] for name in self.env if name in self.environ}
        return {
            **self.shell.environment(),
            **variables,
            "HOME": str(self.home or around / "home"),
            "TMPDIR": str(around / "tmp"),
            _GOAL: str(goal),
        }

    def _run_program(self, command: ShellCommand) -> AgentResult:
        own, vote = Deadline.after(self.timeout), compute_deadline(None)
        deadline = min(own, vote or own, key=lambda deadline: deadline.at)
        try:
            done = self.shell.run(command, deadline, self.progress)
        except CannotJudgeError as error:
            return AgentResult("", ExecutionStatus.FAILED, str(error), {"reason": error.reason})
        try:
            return self._read_result(done)
        finally:
            done.log.unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                done.log.parent.rmdir()

    def _read_result(self, done: Completed) -> AgentResult:
        with done.log.open("rb") as file:
            file.seek(max(0, done.log.stat().st_size - _MOST_READ))
            answer = read_answer(file.read().decode("utf-8", "replace"))
        metadata = {**answer.metadata, "seconds": round(done.seconds, 1)}
        if done.stopped:
            limits = {"seconds": self.timeout, "mebibytes": _MOST_PRINTED >> 20}
            error = f"it {LIMITS[done.stopped].format(**limits)}"
            late = done.stopped == "timeout"
            status = ExecutionStatus.TIMEOUT if late else ExecutionStatus.FAILED
            return AgentResult(answer.text, status, error, {**metadata, "reason": done.stopped})
        problem = _describe_failure(done, answer)
        status = ExecutionStatus.FAILED if problem else ExecutionStatus.SUCCESS
        return AgentResult(answer.text, status, problem, metadata)


def _describe_failure(done: Completed, answer: AgentAnswer) -> str | None:
    if answer.error:
        return answer.error[-_LONGEST_ERROR:]
    if done.exit_code == 0:
        return None
    code = done.exit_code
    how = f"exit code {code}" if code > 0 else f"ended by signal {-code}"
    return f"{how}: {done.tail(5)[-_LONGEST_ERROR:]}".rstrip(": \n")


#: Calls of tools that are kept, the first ones, and characters of a name or a target.
MOST_CALLS, LONGEST_TEXT = 100, 160

_TOKENS = {
    "input_tokens": ("input_tokens", "prompt_tokens", "inputTokens"),
    "output_tokens": ("output_tokens", "completion_tokens", "outputTokens"),
}
_COSTS = ("total_cost_usd", "cost_usd", "usd")
#: What a call of `claude` is about, in the order in which it is looked for.
_TARGETS = ("file_path", "notebook_path", "path", "command", "pattern", "query", "url")
#: The same of an item of `codex exec`, by its type.
_ITEMS = {
    "command_execution": ("command",),
    "mcp_tool_call": ("server", "tool"),
    "web_search": ("query",),
    "file_change": (),
}

Event: TypeAlias = Mapping[str, Any]


class AgentAnswer(Struct, frozen=True):
    """What an agent said at the end, and what it says that it took.

    The text is its last message, or all that was printed where that is no JSON; a tool call has
    ``name``, ``target`` and ``outcome``, as far as known.
    """

    text: str
    error: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    turns: int = 0
    tool_calls: tuple[Mapping[str, str], ...] = ()

    @property
    def metadata(self) -> dict[str, Any]:
        facts = {**asdict(self), "text": "", "error": None, "tool_calls": list(self.tool_calls)}
        return {name: value for name, value in facts.items() if value}


def read_answer(printed: str) -> AgentAnswer:
    """Read what the program printed: lines of JSON alone where there are some, else the text."""
    events = list(_find_events(printed))
    if not events:
        return AgentAnswer(printed.strip())
    text, error = "", None
    usd, turns = None, 0
    tokens = dict.fromkeys(_TOKENS, 0)
    for event in events:
        text = _find_message(event) or text
        error = _find_error(event) or error
        cost = _find_cost(event)
        usd = usd if cost is None else cost
        turns += event.get("type") == "turn.completed"
        turns = _to_count(event.get("num_turns")) or turns
        usage = event.get("usage")
        if event.get("type") in {None, "result", "turn.completed"} and isinstance(usage, dict):
            for name, keys in _TOKENS.items():
                tokens[name] += next(filter(None, (_to_count(usage.get(key)) for key in keys)), 0)
    if not text and error is None:
        text = printed.strip()  # JSON of another kind: the classifier may know it
    return AgentAnswer(text, error, **tokens, usd=usd, turns=turns, tool_calls=list_calls(events))


def _find_events(printed: str) -> Iterator[Event]:
    whole = _parse_json(printed)
    if whole is None:
        whole = [_parse_json(line) for line in printed.splitlines() if line.lstrip()[:1] == "{"]
    for event in whole if isinstance(whole, list) else [whole]:
        if isinstance(event, dict):
            yield event


def _parse_json(text: str) -> Any:  # noqa: ANN401 - JSON of a stranger
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _find_message(event: Event) -> str | None:
    item = event.get("item")
    if isinstance(item, dict):
        return output_of(item) if item.get("type") == "agent_message" else None
    kind = event.get("type")
    if kind == "assistant":
        return output_of(event.get("message"))
    if kind not in {None, "result"}:
        return None
    response = event.get("response")
    return response if isinstance(response, str) else output_of(event)


def _find_error(event: Event) -> str | None:
    if event.get("is_error") is True:
        return output_of(event) or str(event.get("subtype") or "it failed")
    if event.get("type") not in {None, "error", "turn.failed"}:
        return None
    error = event.get("error") or (event.get("message") if event.get("type") == "error" else None)
    if isinstance(error, dict):
        error = error.get("message")
    return error if isinstance(error, str) and error else None


def _find_cost(event: Event) -> float | None:
    for name in _COSTS:
        cost = event.get(name)
        if isinstance(cost, bool) or not isinstance(cost, int | float):
            continue
        if 0 <= cost < 1e6:  # noqa: PLR2004 - finite
            return float(cost)
    return None


def _to_count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def list_calls(events: Sequence[Event]) -> tuple[Mapping[str, str], ...]:
    """Return the calls of `claude` and of `codex exec`, in their order."""
    calls: dict[object, dict[str, str]] = {}
    for event in events:
        item = event.get("item")
        if isinstance(item, dict) and event.get("type") == "item.completed":
            for call in _read_codex_item(item):
                calls[len(calls)] = call
        message = event.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        for block in content if isinstance(content, list) else ():
            if not isinstance(block, dict):
                continue
            if block.get("type") == "tool_use":
                arguments = block.get("input")
                targets = [_get_text(arguments, key) for key in _TARGETS]
                target = next(filter(None, targets), "")
                calls[_get_text(block, "id")] = _describe_call(_get_text(block, "name"), target)
            elif _get_text(block, "tool_use_id") in calls:
                failed = block.get("is_error") is True
                calls[_get_text(block, "tool_use_id")]["outcome"] = "failed" if failed else "ok"
    return tuple(call for call in calls.values() if "name" in call)[:MOST_CALLS]


def _read_codex_item(item: Event) -> Iterator[dict[str, str]]:
    kind = item.get("type")
    if not isinstance(kind, str) or kind not in _ITEMS:
        return
    status = item.get("status")
    failed = status in ("failed", "declined") or bool(item.get("exit_code"))
    outcome = "failed" if failed else "ok" if status == "completed" else ""
    if kind != "file_change":
        target = " ".join(_get_text(item, key) for key in _ITEMS[kind])
        yield _describe_call(kind, target, outcome)
        return
    changes = item.get("changes")
    for change in changes if isinstance(changes, list) else ():
        if isinstance(change, dict):
            yield _describe_call(kind, _get_text(change, "path"), outcome)


def _describe_call(name: str, target: str, outcome: str = "") -> dict[str, str]:
    """Return the known facts of a call, each on one line: what follows in a command is a script."""
    facts = {"name": name, "target": target, "outcome": outcome}
    for key, text in facts.items():
        line = text.strip().partition("\n")[0]
        facts[key] = line if len(line) <= LONGEST_TEXT else f"{line[:LONGEST_TEXT]}…"
    return {key: text for key, text in facts.items() if text}


def _get_text(of: object, key: str) -> str:
    value = of.get(key) if isinstance(of, dict) else None
    return value if isinstance(value, str) else ""
