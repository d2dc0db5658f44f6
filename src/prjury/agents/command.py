"""An agent that is a program: ``claude -p``, ``codex exec -``, or any other command; its answers.

It prints text, a JSON object, or JSON lines of events. Known are the forms of ``claude -p``
(``--output-format json`` and ``stream-json``) and of ``codex exec --json``; another JSON object
counts by its ``output``, ``content``, ``text``, ``result`` or last message.
"""

from __future__ import annotations

import json
import shlex
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.journal.write import record_round, record_tools
from prjury.judges.workspace.program_judges import LIMITS, delete_log, make_shell, read_environment
from prjury.jury.context import ExecutionStatus, JudgmentContext
from prjury.jury.guard import Listener, limit_by_vote
from prjury.jury.jury import Jury
from prjury.jury.library.agent import AgentResult
from prjury.jury.library.execution import output_of
from prjury.jury.verdicts import JuryVerdict
from prjury.policy.options import is_kept_from_agents
from prjury.ports import Progress, Recorder, Shell, SilentProgress
from prjury.ports.types import Completed, ShellCommand
from prjury.report.judge_facts import AgentFacts

#: Bytes that it may print, and of them those that are read: the last ones.
_MOST_PRINTED, _MOST_READ = 64 << 20, 4 << 20
_LONGEST_ERROR = 2000


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
    timeout: float = 600.0
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
            empty, goal_file = around / "empty", around / "goal.txt"
            empty.mkdir()
            goal_file.write_text(f"{goal}\n", "utf-8", "replace")
            directory = workspace or empty
            env = {
                **self.shell.environment(),
                **{name: self.environ[name] for name in self.env if name in self.environ},
                **({"HOME": str(self.home)} if self.home else {}),
                "TMPDIR": str(around),
                "PRJURY_GOAL_FILE": str(goal_file),
            }
            text = f'exec <"$PRJURY_GOAL_FILE"\n{self.command}'
            writable, readable = [directory, *filter(None, [self.home])], self._find_files()
            command = ShellCommand(text, directory, env, _MOST_PRINTED, writable, readable)
            deadline = limit_by_vote(self.timeout) or Deadline.after(self.timeout)
            try:
                done = self.shell.run(command, deadline, self.progress)
            except CannotJudgeError as error:
                return AgentResult("", ExecutionStatus.FAILED, str(error), {"reason": error.reason})
            try:
                return self._read_result(done)
            finally:
                delete_log(done)

    def _find_files(self) -> Sequence[Path]:
        """Return the files that the command names, such as the agent's own program."""
        with suppress(ValueError):
            paths = map(Path, shlex.split(self.command))
            return [path for path in paths if path.is_absolute() and path.is_file()]
        return []

    def _read_result(self, done: Completed) -> AgentResult:
        with done.log.open("rb") as file:
            file.seek(max(0, done.log.stat().st_size - _MOST_READ))
            answer = read_answer(file.read().decode("utf-8", "replace"))
        error, late = answer.error, done.stopped == "timeout"
        facts = {**answer.metadata, "seconds": round(done.seconds, 1)}
        if done.stopped:
            limits = {"seconds": self.timeout, "mebibytes": _MOST_PRINTED >> 20}
            error, facts["reason"] = f"it {LIMITS[done.stopped].format(**limits)}", done.stopped
        elif (code := done.exit_code) and not error:
            how = f"exit code {code}" if code > 0 else f"ended by signal {-code}"
            error = f"{how}: {done.tail(5)[-_LONGEST_ERROR:]}".rstrip(": \n")
        failed = ExecutionStatus.FAILED if error else ExecutionStatus.SUCCESS
        status = ExecutionStatus.TIMEOUT if late else failed
        return AgentResult(answer.output, status, error, facts)


@dataclass(frozen=True)
class AgentStarter:
    """Starts the agents of a policy (`prjury.ports.Agents`), contained, with variables it names."""

    shell: Shell
    progress: Progress
    environ: Mapping[str, str] = field(repr=False)
    trusted: bool

    def make_client(self, command: str, env: Sequence[str], timeout: float) -> CommandAgent:
        """Return a way to the agent; raise ``policy_not_trusted`` or ``not_configured``."""
        if env and not self.trusted:
            raise CannotJudgeError(
                "the policy hands a key to an agent",
                why="it is the repository's own, and nobody has said that it is trusted",
                remedy="review with --config, or say that the policy is trusted",
                reason="policy_not_trusted",
            )
        if missing := [name for name in env if not self.environ.get(name)]:
            problem = f"{', '.join(missing)} is not set, which the agent needs"
            raise CannotJudgeError(problem, reason="not_configured")
        environ, shell, progress = self.environ, self.shell, self.progress
        return CommandAgent(
            command, timeout, env=env, environ=environ, shell=shell, progress=progress
        )


class RecordedRounds(Struct, frozen=True):
    """A jury on an agent's attempts, each of which is kept as a round; the listener hears of it."""

    jury: Jury[JudgmentContext]
    listener: Listener
    recorder: Recorder

    def vote(self, context: JudgmentContext, /) -> JuryVerdict:
        details = context.metadata
        agent = AgentFacts.of_result(details)
        seconds = (context.execution_time or timedelta()).total_seconds()
        started = time.monotonic() - seconds
        record_tools(self.recorder, agent)
        verdict = self.jury.vote(context, listener=self.listener)
        facts = {"agent": context.execution_status, "agent_ms": round(seconds * 1000)}
        number, status = details["round"], verdict.status
        record_round(self.recorder, started, agent, number=number, status=status, **facts)
        return verdict


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
    "file_change": ("path",),
}

Event: TypeAlias = Mapping[str, Any]
EntryT = TypeVar("EntryT")


def read_answer(printed: str) -> AgentResult:
    """Read what the program printed: lines of JSON alone where there are some, else the text."""
    events = _list_events(printed)
    text, error, turns, tokens = "", None, 0, Counter[str]()
    usd: float | None = None
    for event in events:
        kind, cost = event.get("type"), _find_number(event, _COSTS, 1e6)
        text = _find_message(event) or text
        error = _find_error(event) or error
        usd = usd if cost is None else cost
        turns = int(_find_number(event, ("num_turns",)) or turns + (kind == "turn.completed"))
        if kind in {None, "result", "turn.completed"}:
            usage = _get_entry(event, "usage", dict)
            for name, keys in _TOKENS.items():
                tokens[name] += int(_find_number(usage, keys) or 0)
    if not text and error is None:
        text = printed.strip()  # JSON of another kind: the classifier may know it
    facts = {"usd": usd, "turns": turns, **tokens, "tool_calls": list_tool_calls(events)}
    status = ExecutionStatus.FAILED if error else ExecutionStatus.SUCCESS
    metadata = {name: value for name, value in facts.items() if value}
    return AgentResult(text, status, error and error[-_LONGEST_ERROR:], metadata)


def _list_events(printed: str) -> list[Event]:
    whole = _parse_json(printed)
    if whole is None:
        whole = [_parse_json(line) for line in printed.split("\n") if line.lstrip()[:1] == "{"]
    events = whole if isinstance(whole, list) else [whole]
    plain = [event for event in events if isinstance(event, dict)]
    return [event for event in plain if isinstance(event.get("type"), str | None)]


def _parse_json(text: str) -> Any:  # noqa: ANN401 - JSON of a stranger
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    return None


def _find_message(event: Event) -> str | None:
    kind, item = event.get("type"), _get_entry(event, "item", dict)
    if item.get("type") == "agent_message":
        return output_of(item)
    if kind == "assistant":
        return output_of(event.get("message"))
    return output_of(event) if kind in {None, "result"} else None


def _find_error(event: Event) -> str | None:
    if event.get("is_error") is True:
        return output_of(event) or str(event.get("subtype") or "it failed")
    kind, error = event.get("type"), event.get("error")
    if kind not in {None, "error", "turn.failed"} or (kind is None and not error):
        return None
    error = error or (event.get("message") if kind == "error" else None)
    return (error if isinstance(error, str) else _get_entry(error, "message", str)) or "it failed"


def _find_number(of: Event, keys: Iterable[str], most: float = 1e12) -> float | None:
    """Return the first of these entries that is a number above zero, or zero if one is that."""
    real = [x for x in map(of.get, keys) if isinstance(x, int | float) and not isinstance(x, bool)]
    numbers = [float(number) for number in real if 0 <= number < most]
    return next(filter(None, numbers), numbers[0] if numbers else None)


def list_tool_calls(events: Sequence[Event]) -> Sequence[Mapping[str, str]]:
    """Return the calls of `claude` and of `codex exec`, in their order."""
    calls: dict[object, dict[str, str]] = {}
    for event in events:
        if event.get("type") == "item.completed":
            for call in _list_item_calls(_get_entry(event, "item", dict)):
                calls[len(calls)] = call
        for block in _get_entry(_get_entry(event, "message", dict), "content", list):
            if _get_entry(block, "type", str) == "tool_use":
                arguments = _get_entry(block, "input", dict)
                targets = [_get_entry(arguments, key, str) for key in _TARGETS]
                target = next(filter(None, targets), "")
                call = _make_call(_get_entry(block, "name", str), target)
                calls[_get_entry(block, "id", str)] = call
            elif earlier := calls.get(_get_entry(block, "tool_use_id", str)):
                earlier["outcome"] = "failed" if _get_entry(block, "is_error", bool) else "ok"
    return [call for call in calls.values() if "name" in call][:MOST_CALLS]


def _list_item_calls(item: Event) -> Iterator[dict[str, str]]:
    kind, status = _get_entry(item, "type", str), _get_entry(item, "status", str)
    failed = status in {"failed", "declined"} or bool(item.get("exit_code"))
    outcome = "failed" if failed else "ok" if status == "completed" else ""
    parts = _get_entry(item, "changes", list) if kind == "file_change" else [item]
    for part in parts if kind in _ITEMS else ():
        target = " ".join(_get_entry(part, key, str) for key in _ITEMS[kind])
        yield _make_call(kind, target, outcome)


def _make_call(name: str, target: str, outcome: str = "") -> dict[str, str]:
    """Return the known facts of a call, each on one line: what follows in a command is a script."""
    facts = {"name": name, "target": target, "outcome": outcome}
    for key, text in facts.items():
        line = text.strip().partition("\n")[0]
        facts[key] = line if len(line) <= LONGEST_TEXT else f"{line[:LONGEST_TEXT]}…"
    return {key: text for key, text in facts.items() if text}


def _get_entry(of: object, key: str, kind: type[EntryT]) -> EntryT:
    """Return an entry of this type; an empty value for another one, or where there is none."""
    value = of.get(key) if isinstance(of, dict) else None
    return value if isinstance(value, kind) else kind()
