"""One run of a program under the launcher: started, watched, ended, and told about."""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.ports import Progress
from prjury.ports.types import Completed
from prjury.sandbox import launcher
from prjury.sandbox.watch import LastLine, Limits, ProcessTree, kill_by_home

_LAUNCHER = Path(launcher.__file__)
_TICK_SECONDS = 0.2
#: How long the launcher may need to kill everything before it is killed itself.
_PATIENCE_SECONDS = 8.0
_KILLED = -int(signal.SIGKILL)


@dataclass(frozen=True)
class ProcessRun:
    """A program to be run once.

    Attributes:
        argv: the program, found on the PATH of ``env``, and its arguments.
        env: its whole environment.
        log: where its output goes; an empty file.
        output_limit: bytes of output beyond which it is stopped.
        network: whether it may use the network.
        own_home: whether HOME was made for it alone.
    """

    argv: Sequence[str]
    directory: Path
    env: Mapping[str, str]
    log: Path
    output_limit: int
    limits: Limits = field(default_factory=Limits)
    network: bool = True
    own_home: bool = True

    def complete(self, deadline: Deadline, progress: Progress) -> Completed:
        """Runs to the end or to a limit.

        Raises:
            CannotJudgeError: when the program cannot be started.
        """
        started = time.monotonic()
        ours, theirs = socket.socketpair()
        with ours, self.log.open("ab") as log, self.log.open("rb") as tail:
            with theirs:
                process = self._launch(theirs, log)
            attendance = _Attendance(
                ours, ProcessTree(process.pid, self.limits), LastLine(tail, progress)
            )
            finish = functools.partial(self._finish, ours, process)
            ending = functools.partial(_at_the_end, attendance, finish, self.log)
            atexit.register(ending)  # a daemon thread is not unwound when the interpreter ends
            try:
                attendance.wait(deadline)
            finally:
                atexit.unregister(ending)
                finish()
            _refuse_interrupted(attendance)
            log_path = _kept(self.log, tail)
        self._refuse_unstarted(attendance)
        seconds = time.monotonic() - started
        return Completed(attendance.exit_code, log_path, seconds, attendance.stopped)

    def _launch(self, channel: socket.socket, log: IO[bytes]) -> subprocess.Popen[bytes]:
        own = (str(channel.fileno()), str(self.output_limit), "on" if self.network else "off")
        return subprocess.Popen(  # noqa: S603 - running what is not trusted is what this is for
            [sys.executable, "-I", "-S", str(_LAUNCHER), *own, *self.argv],
            cwd=self.directory,
            env=dict(self.env),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=(channel.fileno(),),
            start_new_session=True,
        )

    def _finish(self, channel: socket.socket, process: subprocess.Popen[bytes]) -> None:
        """Sees to it that nothing is left, however the run ended."""
        _order(channel, b"K")
        try:
            process.wait(_PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.returncode != 0 and self.own_home:
            kill_by_home(self.env["HOME"])

    def _refuse_unstarted(self, attendance: _Attendance) -> None:
        if attendance.word == "exec":
            raise CannotJudgeError(
                f"`{self.argv[0]}` cannot be started: {os.strerror(attendance.number)}",
                why="its file is damaged, made for another machine, or not executable",
                remedy="try it by hand",
                reason="tool_missing",
            )
        if attendance.word in {"cut", "bare"}:
            what = "network" if attendance.word == "cut" else "processes"
            raise CannotJudgeError(
                f"the build's {what} cannot be contained: {os.strerror(attendance.number)}",
                why="the kernel, or the container that this runs in, does not allow it",
                remedy="see `sandbox` in .github/prjury.yml, or run where it is allowed",
                reason="sandbox_unavailable",
            )


@dataclass
class _Attendance:
    """Waiting for the launcher's word, giving it the orders that the limits ask for."""

    channel: socket.socket
    tree: ProcessTree
    last_line: LastLine
    stopped: str | None = None
    word: str = "exit"
    number: int = _KILLED
    kill_at: float | None = None
    interrupted: bool = False

    @property
    def exit_code(self) -> int:
        return self.number if self.word == "exit" else _KILLED

    def wait(self, deadline: Deadline) -> None:
        """Until the launcher has spoken, died, or had to be given up."""
        while not self._heard(deadline):
            self.last_line.tell()
            now = time.monotonic()
            if self.kill_at is None:
                self._keep_limits(deadline, now)
            elif now >= self.kill_at + _PATIENCE_SECONDS:
                return
            elif now >= self.kill_at:
                _order(self.channel, b"K")
        self.last_line.tell()
        if self.word == "limit":
            self.stopped = self.stopped or "output_limit"

    def _keep_limits(self, deadline: Deadline, now: float) -> None:
        self.stopped = self.tree.over()
        if self.stopped:
            self.kill_at = now
        elif not deadline.remaining:
            self.stopped, self.kill_at = "timeout", now + self.tree.limits.grace
            _order(self.channel, b"T")

    def _heard(self, deadline: Deadline) -> bool:
        """Listens for a moment; whether the launcher has told the outcome or is gone."""
        wait = _TICK_SECONDS if self.kill_at else min(_TICK_SECONDS, deadline.remaining)
        self.channel.settimeout(max(0.01, wait))
        try:
            said = self.channel.recv(64).split()
        except TimeoutError:
            return False
        except ConnectionError:
            said = []
        if len(said) >= 2:  # noqa: PLR2004 - a word and a number
            self.word, self.number = said[0].decode(), int(said[1])
        return True


def _at_the_end(attendance: _Attendance, finish: Callable[[], None], log: Path) -> None:
    """Ends the run with the interpreter; the thread that waits for it must not start another.

    No report will name the log.
    """
    attendance.interrupted = True
    finish()
    with contextlib.suppress(OSError):
        log.unlink()
        log.parent.rmdir()


def _refuse_interrupted(attendance: _Attendance) -> None:
    if attendance.interrupted:
        raise CannotJudgeError("the run was interrupted", reason="interrupted")


def _order(channel: socket.socket, order: bytes) -> None:
    with contextlib.suppress(OSError):  # the launcher may be gone already
        channel.sendall(order)


def _kept(log: Path, opened: IO[bytes]) -> Path:
    """The log's path; another one with the same content if the program put something else there."""
    with contextlib.suppress(OSError):
        found, ours = log.lstat(), os.fstat(opened.fileno())
        if (found.st_dev, found.st_ino) == (ours.st_dev, ours.st_ino):
            return log
    copy = log.with_name(f"{log.name}.kept")
    opened.seek(0)
    with copy.open("xb") as file:
        shutil.copyfileobj(opened, file)
    with contextlib.suppress(OSError):
        log.unlink()
    return copy
