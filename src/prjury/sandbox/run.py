"""One run of a program under the launcher: start it, keep its limits, end it."""

from __future__ import annotations

import atexit
import contextlib
import errno
import functools
import operator
import os
import re
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Literal, TypeAlias

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.ports import Progress
from prjury.ports.types import Completed
from prjury.processes import kill_by_environment
from prjury.sandbox import launcher
from prjury.sandbox.caches import walk_entries
from prjury.sandbox.held import RunningLauncher, launch
from prjury.sandbox.launcher import list_descendants

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x1f\x7f-\x9f]")
_TICK_SECONDS, _MEASURED_EVERY = 0.2, 0.5
_KILL_SECONDS = 8.0  # for the launcher to kill everything, before it is killed itself
_KILLED = -int(signal.SIGKILL)
LimitCode: TypeAlias = Literal["process_limit", "memory_limit", "disk_limit", "file_limit"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one program may take, in seconds (from being asked to end to being killed) and bytes."""

    grace: float = 10.0
    memory: int = 6 * 1024**3
    processes: int = 512
    disk: int = 5 * 1024**3
    files: int = 500_000


@dataclass
class LastLine:
    """Passes the newest line of a growing log on, at most once per call."""

    log: IO[bytes]
    progress: Progress
    size: int = 0

    def report_last_line_if_grown(self) -> None:
        size = os.fstat(self.log.fileno()).st_size
        if size == self.size:
            return
        self.size = size
        end = os.pread(self.log.fileno(), 4096, max(0, size - 4096)).decode("utf-8", "replace")
        lines = [_CONTROL.sub("", line).strip() for line in end.splitlines()]
        if words := [line for line in lines if line and line[0] != "{"]:  # no JSON of a tool
            self.progress.say(words[-1])


@dataclass
class Usage:
    """Consumption of a program and its descendants, measured so often that it costs little."""

    root: int
    places: Sequence[Path]
    limits: Limits
    _processes_due: float = field(default_factory=lambda: time.monotonic() + _MEASURED_EVERY)
    _disk_due: float = 0.0
    _least_free: tuple[int, int] = (0, 0)

    def find_excess_when_due(self) -> LimitCode | None:
        now = time.monotonic()
        if now < self._processes_due:
            return None
        self._processes_due = now + _MEASURED_EVERY
        pids = list_descendants(self.root)
        if len(pids) > self.limits.processes:
            return "process_limit"
        if sum(map(_resident, pids)) > self.limits.memory:
            return "memory_limit"
        is_quick = any(map(operator.lt, self._count_free(), self._least_free))
        is_due = is_quick or now >= self._disk_due
        return self._measure_disk_excess(now) if is_due else None

    def _measure_disk_excess(self, started: float) -> LimitCode | None:
        size = files = 0
        for place in self.places:
            for entry in walk_entries(place):
                with contextlib.suppress(OSError):
                    size += entry.stat(follow_symlinks=False).st_blocks * 512
                files += 1
        ended = time.monotonic()
        self._disk_due = ended + min(60.0, max(1.0, 200 * (ended - started)))
        free, inodes = self._count_free()
        self._least_free = free + size - self.limits.disk, inodes + files - self.limits.files
        if size > self.limits.disk:
            return "disk_limit"
        return "file_limit" if files > self.limits.files else None

    def _count_free(self) -> tuple[int, int]:
        """Count the disk's free bytes and inodes; one that fills quickly is measured sooner."""
        status = os.statvfs(self.places[0]) if self.places else None
        return (status.f_bfree * status.f_frsize, status.f_ffree) if status else (0, 0)


def _resident(pid: int) -> int:
    with contextlib.suppress(OSError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


@dataclass
class ProcessRun:
    """A program that is run once; ``own_home``: its HOME was made for it alone."""

    request: launcher.Request
    make_log: Callable[[], Path]
    limits: Limits
    own_home: bool
    scratches: Sequence[Path]
    outcome: launcher.Message | None = None
    stopped: str | None = None
    kill_at: float | None = None
    interrupted: bool = False

    def execute(self, deadline: Deadline, progress: Progress) -> Completed:
        started = time.monotonic()
        with tempfile.TemporaryFile() as output:  # without a name, so that no program replaces it
            running = launch(self.request, output.fileno())
            interrupt = functools.partial(self._interrupt, running)
            atexit.register(interrupt)  # a daemon thread is not unwound when the interpreter ends
            try:
                self._supervise(running, deadline, LastLine(output, progress))
            finally:
                atexit.unregister(interrupt)
                self._end_launcher(running)
            word, number = self.outcome or ("exit", _KILLED)
            self._raise_if_interrupted_or_unstarted(word, number)
            output.seek(0)
            with (path := self.make_log()).open("xb") as log:
                shutil.copyfileobj(output, log)
        if word == "limit":
            self.stopped = self.stopped or "output_limit"
        exit_code = number if word == "exit" else _KILLED
        return Completed(exit_code, path, time.monotonic() - started, self.stopped)

    def _supervise(self, running: RunningLauncher, deadline: Deadline, last_line: LastLine) -> None:
        """Wait until the launcher has sent its message, died, or has to be given up."""
        usage = Usage(running.pid, self.scratches, self.limits)
        while not self.outcome and not running.gone:
            wait = _TICK_SECONDS if self.kill_at else min(_TICK_SECONDS, deadline.remaining)
            self.outcome = running.receive_message(wait)
            last_line.report_last_line_if_grown()
            now = time.monotonic()
            if self.kill_at is None:
                self._enforce_limits(running, usage, deadline, now)
            elif now >= self.kill_at + _KILL_SECONDS:
                return
            elif now >= self.kill_at:
                running.order(b"K")

    def _enforce_limits(
        self, running: RunningLauncher, usage: Usage, deadline: Deadline, now: float
    ) -> None:
        if self.outcome:
            return
        self.stopped = usage.find_excess_when_due()
        if self.stopped:
            self.kill_at = now
        elif not deadline.remaining:
            self.stopped, self.kill_at = "timeout", now + self.limits.grace
            running.order(b"T")

    def _end_launcher(self, running: RunningLauncher) -> None:
        running.order(b"K")
        until = time.monotonic() + _KILL_SECONDS
        while not running.gone and time.monotonic() < until:
            self.outcome = running.receive_message(until - time.monotonic()) or self.outcome
        running.kill()
        running.channel.close()
        if not self.outcome and self.own_home:
            # The last resort when the program has killed the launcher.
            kill_by_environment([f"HOME={self.request['env']['HOME']}"])

    def _interrupt(self, running: RunningLauncher) -> None:
        """End the run with the interpreter, so that the thread that waits starts no other."""
        self.interrupted = True
        self._end_launcher(running)

    def _has_program(self, program: str) -> bool:
        """A script that names a missing interpreter is there, whatever the kernel says."""
        if "/" in program:
            return Path(self.request["directory"], program).is_file()
        return shutil.which(program, path=self.request["env"].get("PATH", os.defpath)) is not None

    def _raise_if_interrupted_or_unstarted(self, word: str, number: int) -> None:
        if self.interrupted:
            raise CannotJudgeError("the run was interrupted", reason="interrupted")
        error = os.strerror(number) if number > 0 else ""
        program = self.request["argv"][0]
        if word == "exec" and number == errno.E2BIG:
            raise CannotJudgeError(
                f"`{program}` cannot be started: {error}",
                why="its command line is longer than the system takes",
                remedy="put it into a script",
                reason="not_started",
            )
        if word == "exec":
            is_there = self._has_program(program)
            why = "its file is damaged, made for another machine, or not executable"
            raise CannotJudgeError(
                f"`{program}` cannot be started: {error}"
                if is_there
                else f"`{program}` is not installed",
                why=why if is_there else "it is needed and not on the PATH",
                remedy="try it by hand" if is_there else advice(program),
                reason="tool_missing",
            )
        if word in {"cut", "bare"}:
            what = "network" if word == "cut" else "processes"
            raise CannotJudgeError(
                f"the build's {what} cannot be contained: {error}",
                why="the kernel, or the container that this runs in, does not allow it",
                remedy="see `sandbox` in .github/prjury.yml, or run where it is allowed",
                reason="sandbox_unavailable",
            )


def advice(program: str) -> str:
    return f"install `{program}` outside of PR Jury's environment, or name another in the policy"
