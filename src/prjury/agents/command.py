"""An agent that is a program: ``claude -p``, ``codex exec -``, or any other command."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path

from prjury.agents.answer import AgentAnswer, read_answer
from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.judges.workspace.program_judges import LIMITS, make_shell, read_environment
from prjury.jury.context import ExecutionStatus
from prjury.jury.guard import compute_deadline
from prjury.jury.library.agent import AgentResult
from prjury.policy.agents import is_kept_from_agents
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
                self._environment(around, goal_file),
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

    def _environment(self, around: Path, goal: Path) -> Mapping[str, str]:
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
        problem = _find_error(done, answer)
        status = ExecutionStatus.FAILED if problem else ExecutionStatus.SUCCESS
        return AgentResult(answer.text, status, problem, metadata)


def _find_error(done: Completed, answer: AgentAnswer) -> str | None:
    if answer.error:
        return answer.error[-_LONGEST_ERROR:]
    if done.exit_code == 0:
        return None
    code = done.exit_code
    how = f"exit code {code}" if code > 0 else f"ended by signal {-code}"
    return f"{how}: {done.tail(5)[-_LONGEST_ERROR:]}".rstrip(": \n")
