"""What the library offers for a directory, ready to use: commands run in a contained shell."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.judges.workspace.coverage import CoverageCounts, ReportJudge
from prjury.judges.workspace.files import Workspace, answered
from prjury.judges.workspace.reports import MavenTests, parse_jacoco, run_tests
from prjury.jury.context import JudgmentContext
from prjury.jury.guard import patience
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment, Status
from prjury.jury.score import BooleanScore, finite
from prjury.ports import Progress, Shell, SilentProgress
from prjury.ports.types import Completed, ShellCommand
from prjury.report.judge_facts import RunFacts
from prjury.sandbox import ContainedShell
from prjury.snapshot.model import printable, visible

#: Seconds that a command may take by default.
TIMEOUT = 600.0

_LOWEST_EXIT_CODE, _HIGHEST_EXIT_CODE = -64, 255
_LONGEST_COMMAND = 200
_NOT_FOUND = 127
#: How a shell says, as the last thing it does, that there is no such program.
_ABSENT = re.compile(r"(not found|No such file or directory)\s*\Z")
_LIMITS = {
    "output_limit": "printed more than {mebibytes} MiB",
    "memory_limit": "used more memory than it may have",
    "process_limit": "started more processes than it may have",
}


@dataclass(frozen=True)
class ShellJudge:
    """PASS where a command in the workspace ends with the expected exit code, else FAIL.

    FAIL as well where it takes longer than its ``timeout``, or exceeds a limit of the shell; the
    reason is in ``metadata["reason"]``. ERROR ``no_workspace``; ``tool_missing`` where there is no
    such program, ``not_started`` where the system refuses it; ``timeout`` where the vote that it is
    part of ends before its own time does.

    Args:
        command: one line for ``/bin/sh``, or the program and its arguments.
        exit_code: the expected one; minus a signal's number for an end by that signal.
        timeout: seconds.
        shell: where it runs.
        progress: hears of its output.

    Raises:
        ValueError: for an empty command, one with a NUL character, an exit code that no program can
            have, or a timeout that is not above zero.
        TypeError: for anything but text in the command, a number as the timeout, or an integer as
            the exit code.
    """

    command: str | Sequence[str]
    exit_code: int = 0
    timeout: float = TIMEOUT
    _: KW_ONLY
    shell: Shell = field(repr=False, compare=False)
    progress: Progress = field(repr=False, compare=False)
    name: str = "command"
    description: str = "a command in the workspace ends as expected"
    type: JudgeType = JudgeType.DETERMINISTIC

    def __post_init__(self) -> None:
        object.__setattr__(self, "command", _checked_command(self.command))
        if isinstance(self.exit_code, bool) or not isinstance(self.exit_code, int):
            raise TypeError(f"an exit code is an integer, not {self.exit_code!r}")
        if not _LOWEST_EXIT_CODE <= self.exit_code <= _HIGHEST_EXIT_CODE:
            raise ValueError(f"an exit code is 0..255, or minus a signal, not {self.exit_code}")
        if finite(self.timeout, "the timeout") <= 0:
            raise ValueError(f"the timeout is above 0 seconds, not {self.timeout}")

    def judge(self, context: JudgmentContext, /) -> Judgment:
        """Runs the command and waits for its end."""
        return answered(lambda: self._judged(Workspace.of(context)))

    def _judged(self, workspace: Workspace) -> Judgment:
        command = ShellCommand(self.command, workspace.root, self.shell.environment())
        own, vote = Deadline.after(self.timeout), patience(None)
        deadline = min(own, vote or own, key=lambda deadline: deadline.at)
        self.progress.say(f"$ {_shown(command)}")
        try:
            completed = self.shell.run(command, deadline, self.progress)
        except CannotJudgeError as error:
            raise _explained(error, command) from error
        except OSError as error:  # too long a command line, or a workspace that is closed to us
            raise _not_started(error, command) from error
        run = CommandRun(
            command, completed, completed.tail(), self.timeout, cut_short=deadline is not own
        )
        judgment = decide(run, self.exit_code)
        if judgment.status is not Status.FAIL:
            _forget(completed.log)
        return judgment


@dataclass(frozen=True)
class CommandRun:
    """A command that has run.

    Attributes:
        tail: the last lines that it printed.
        timeout: the seconds that it might have taken.
        cut_short: whether the vote that it was part of left it less time than that.
    """

    command: ShellCommand
    completed: Completed
    tail: str
    timeout: float
    cut_short: bool = False


def decide(run: CommandRun, expected: int) -> Judgment:
    """PASS, FAIL or ERROR. Pure.

    Args:
        expected: the exit code that passes.
    """
    shown, completed = f"`{_shown(run.command)}`", run.completed
    if completed.stopped == "timeout" and run.cut_short:
        message = f"{shown} was stopped after {completed.seconds:.1f} s, because the vote was over"
        return Judgment.errored(message, metadata={"reason": "timeout"})
    if completed.stopped:
        return _said(run, expected, f"{shown} {_limit(run)} and was stopped", completed.stopped)
    if completed.exit_code == expected:
        how = f"exit code {expected}, as expected" if expected else "exit code 0"
        return _said(run, expected, f"{shown} ended with {how}")
    if completed.exit_code == _NOT_FOUND and _is_absent(run):
        return Judgment.errored(str(_missing(run.command)), metadata={"reason": "tool_missing"})
    ended = f"{shown} {_end(completed.exit_code)}; exit code {expected} is expected"
    return _said(run, expected, ended, "exit_code")


def _said(run: CommandRun, expected: int, words: str, reason: str | None = None) -> Judgment:
    """A PASS, or a FAIL where there is a reason for one."""
    check = Check("exit-code", reason is None, words, evidence=run.tail or None)
    done = run.completed
    logs = (str(done.log),) if reason else ()
    metadata = {
        **RunFacts(printable(run.command.text), done.exit_code, logs).to_metadata(),
        "expected_exit_code": expected,
        "seconds": round(done.seconds, 3),
    }
    if reason is None:
        return Judgment.passed(words, score=BooleanScore.PASS, checks=[check], metadata=metadata)
    metadata["reason"] = reason
    return Judgment.failed(words, score=BooleanScore.FAIL, checks=[check], metadata=metadata)


def _limit(run: CommandRun) -> str:
    """Which limit the command exceeded."""
    if run.completed.stopped == "timeout":
        return f"took longer than {run.timeout:g} s"
    mebibytes = run.command.output_limit // 1024**2
    return _LIMITS[str(run.completed.stopped)].format(mebibytes=mebibytes)


def _end(exit_code: int) -> str:
    if exit_code >= 0:
        return f"ended with exit code {exit_code}"
    with contextlib.suppress(ValueError):  # a number that this system has no name for
        return f"was ended by {signal.Signals(-exit_code).name}"
    return f"was ended by signal {-exit_code}"


def _is_absent(run: CommandRun) -> bool:
    """Whether the last line that was printed says that there is no such program."""
    return _ABSENT.search(run.tail) is not None


def _explained(error: CannotJudgeError, command: ShellCommand) -> CannotJudgeError:
    """The shell's error, but for a missing program: there the shell gives advice about builds."""
    return _missing(command, error.what) if error.reason == "tool_missing" else error


def _missing(command: ShellCommand, what: str = "") -> CannotJudgeError:
    return CannotJudgeError(
        what or f"`{_shown(command)}` could not be run: the command was not found",
        why="The tool is not installed here, or its name is misspelt",
        remedy="Install it, or correct the command",
        reason="tool_missing",
    )


def _not_started(error: OSError, command: ShellCommand) -> CannotJudgeError:
    return CannotJudgeError(
        f"`{_shown(command)}` could not be started: {error.strerror}",
        why="The system refuses it",
        remedy="Try it by hand in the workspace",
        reason="not_started",
    )


def _shown(command: ShellCommand) -> str:
    """The command line, as one line of bounded length."""
    text = visible(" ".join(command.text.split()))
    return text if len(text) <= _LONGEST_COMMAND else f"{text[: _LONGEST_COMMAND - 1]}…"


def _checked_command(command: str | Sequence[str]) -> str | tuple[str, ...]:
    words = (command,) if isinstance(command, str) else tuple(command)
    for word in words:
        if not isinstance(word, str):
            raise TypeError(f"the words of a command are text, not {word!r}")
        if "\0" in word:
            raise ValueError(f"a command holds no NUL character: {word!r}")
    if not words or not words[0].strip():
        raise ValueError("an empty command proves nothing: say what to run")
    return command if isinstance(command, str) else words


def _forget(log: Path) -> None:
    """Removes a log that no judgment names, with the directory that was made for it."""
    with contextlib.suppress(OSError):
        log.unlink()
        log.parent.rmdir()


#: No program is kept off the PATH, those of the virtual environment that this runs in neither: a
#: command that is named here means what it means in the terminal of its user.
_NO_PREFIX = Path(os.devnull)


def contained_shell(environ: Mapping[str, str] | None = None) -> ContainedShell:
    """A shell for commands that the operator names.

    It hands on a list of harmless variables, the PATH among them, and nothing that could be a
    secret; give a `ContainedShell` of your own where a command needs more.

    Args:
        environ: this process's environment, unless it is another one.
    """
    return ContainedShell(os.environ if environ is None else environ, own_prefix=_NO_PREFIX)


@dataclass(frozen=True)
class CommandJudge(ShellJudge):
    """`ShellJudge` with a contained shell of this process's environment and without progress.

    ``CommandJudge("make test")``, ``CommandJudge(["go", "vet", "./..."], timeout=60)``.
    """

    _: KW_ONLY
    shell: Shell = field(default_factory=contained_shell, repr=False, compare=False)
    progress: Progress = field(default_factory=SilentProgress, repr=False, compare=False)


@dataclass(frozen=True)
class CoverageJudge(ReportJudge):
    """`ReportJudge` for the XML reports of JaCoCo.

    ``CoverageJudge("target/site/jacoco/jacoco.xml", minimum=80)``; for a project of several modules
    ``CoverageJudge(".", minimum=80, metric="branch")``.
    """

    _: KW_ONLY
    read: Callable[[Path], CoverageCounts] = field(default=parse_jacoco, repr=False, compare=False)


def run_maven_tests(
    path: str | os.PathLike[str],
    timeout: float = TIMEOUT,
    *,
    goals: Sequence[str] = ("test",),
    shell: Shell | None = None,
    progress: Progress | None = None,
) -> MavenTests:
    """Runs a Maven project's tests where it lies, and counts them.

    The wrapper ``mvnw`` is used if it is there and can be executed, else ``mvn``. The goals run in
    a contained shell; what they write stays in the project.

    Args:
        path: the directory with the ``pom.xml``.
        timeout: seconds; a run that takes longer has not passed and has ``stopped == "timeout"``.
        goals: such as ``("verify",)``.
        shell: where it runs.
        progress: hears of its output.

    Raises:
        CannotJudgeError: ``no_pom``, ``tool_missing``; ``report_invalid`` or the like when Maven is
            content and a test report cannot be read.
        ValueError: for a timeout that is not above zero.
    """
    around = shell or contained_shell()
    return run_tests(Path(path), timeout, around, progress or SilentProgress(), goals)
