"""One run of a program under the launcher: start it, keep its limits, end it."""

from __future__ import annotations

import atexit
import contextlib
import errno
import functools
import os
import re
import shutil
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.ports import Progress
from prjury.ports.types import Completed
from prjury.processes import kill_processes
from prjury.sandbox import launcher
from prjury.sandbox.caches import walk
from prjury.sandbox.held import RunningLauncher, launcher_server
from prjury.sandbox.launcher import descendants

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x1f\x7f-\x9f]")
_LINE_BREAKS = re.compile(r"[\r\n]+")
_LONGEST_LINE = 200


@dataclass(frozen=True, slots=True)
class Limits:
    """What one program may take, with all its descendants, in seconds and bytes.

    Attributes:
        grace: between being asked to end and being killed.
        disk: what its scratch directories may take.
    """

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

    def report(self) -> None:
        """Report the last line if there is a new one."""
        size = os.fstat(self.log.fileno()).st_size
        if size == self.size:
            return
        self.size = size
        end = os.pread(self.log.fileno(), 4096, max(0, size - 4096)).decode("utf-8", "replace")
        lines = [line for part in _LINE_BREAKS.split(end) if (line := _strip_controls(part))]
        if lines:
            self.progress.say(lines[-1])


def _strip_controls(line: str) -> str:
    return _CONTROL.sub("", line).strip()[:_LONGEST_LINE]


@dataclass
class DiskUse:
    """What is in scratch directories; counted so often that it takes little of the time."""

    places: Sequence[Path]
    limits: Limits
    due: float = 0.0

    def find_excess(self) -> str | None:
        """The limit that is exceeded."""
        if (started := time.monotonic()) < self.due:
            return None
        size = files = 0
        for place in self.places:
            for entry in walk(place):
                with contextlib.suppress(OSError):
                    size += entry.stat(follow_symlinks=False).st_blocks * 512
                files += 1
        ended = time.monotonic()
        self.due = ended + min(20.0, max(1.0, 50 * (ended - started)))
        if size > self.limits.disk:
            return "disk_limit"
        return "file_limit" if files > self.limits.files else None


@dataclass
class ProcessTree:
    """The processes below the launcher; measured now and then, because measuring costs."""

    root: int
    limits: Limits
    disk: DiskUse
    every: float = 0.5
    measured: float = field(default_factory=time.monotonic)

    def find_excess(self) -> str | None:
        """The limit that the tree exceeds, if it is time to look and one is exceeded."""
        now = time.monotonic()
        if now - self.measured < self.every:
            return None
        self.measured = now
        pids = descendants(self.root)
        if len(pids) > self.limits.processes:
            return "process_limit"
        if sum(map(_resident, pids)) > self.limits.memory:
            return "memory_limit"
        return self.disk.find_excess()


def _resident(pid: int) -> int:
    """Bytes of memory; nothing for a process that has ended meanwhile."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_bytes().split()[1])
    except (OSError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


_TICK_SECONDS = 0.2
#: How long the launcher may need to kill everything before it is killed itself.
_KILL_SECONDS = 8.0
_KILLED = -int(signal.SIGKILL)


@dataclass(frozen=True)
class ProcessRun:
    """A program to be run once.

    Attributes:
        log: where its output goes; an empty file.
        own_home: HOME was made for it alone.
        scratches: the directories whose size is limited.
    """

    request: launcher.Request
    log: Path
    limits: Limits
    own_home: bool
    scratches: Sequence[Path]

    def complete(
        self, deadline: Deadline, progress: Progress, meanwhile: Callable[[], None]
    ) -> Completed:
        """Run to the end or to a limit; call ``meanwhile`` when the program has begun."""
        started = time.monotonic()
        with self.log.open("ab") as log, self.log.open("rb") as tail:
            running = launcher_server().launch(self.request, log.fileno())
            disk = DiskUse(self.scratches, self.limits)
            tree = ProcessTree(running.pid, self.limits, disk)
            supervision = _Supervision(running, tree, LastLine(tail, progress))
            finish = functools.partial(self._finish, supervision)
            ending = functools.partial(_at_the_end, supervision, finish, self.log)
            atexit.register(ending)  # a daemon thread is not unwound when the interpreter ends
            try:
                meanwhile()
                supervision.wait(deadline)
            finally:
                atexit.unregister(ending)
                finish()
            _refuse_interrupted(supervision)
            log_path = _keep_log(self.log, tail)
        self._refuse_unstarted(supervision)
        seconds = time.monotonic() - started
        return Completed(supervision.exit_code, log_path, seconds, supervision.stopped)

    def _finish(self, supervision: _Supervision) -> None:
        """Leave no process behind, however the run ended."""
        running = supervision.running
        running.order(b"K")
        until = time.monotonic() + _KILL_SECONDS
        while not running.gone and time.monotonic() < until:
            outcome = running.receive(until - time.monotonic())
            supervision.ended = supervision.ended or outcome is not None
        running.kill()
        running.channel.close()
        if not supervision.ended and self.own_home:
            # The last resort when the program has killed the launcher.
            kill_processes([f"HOME={self.request['env']['HOME']}"])

    def _refuse_unstarted(self, supervision: _Supervision) -> None:
        error = os.strerror(supervision.number) if supervision.number > 0 else ""
        program = self.request["argv"][0]
        if supervision.word == "exec" and supervision.number == errno.ENOENT:
            raise CannotJudgeError(
                f"`{program}` is not installed",
                why="the build needs it and it is not on the PATH",
                remedy=advice(program),
                reason="tool_missing",
            )
        if supervision.word == "exec":
            long = supervision.number == errno.E2BIG
            raise CannotJudgeError(
                f"`{program}` cannot be started: {error}",
                why="its command line is longer than the system takes"
                if long
                else "its file is damaged, made for another machine, or not executable",
                remedy="put it into a script" if long else "try it by hand",
                reason="not_started" if long else "tool_missing",
            )
        if supervision.word in {"cut", "bare"}:
            what = "network" if supervision.word == "cut" else "processes"
            raise CannotJudgeError(
                f"the build's {what} cannot be contained: {error}",
                why="the kernel, or the container that this runs in, does not allow it",
                remedy="see `sandbox` in .github/prjury.yml, or run where it is allowed",
                reason="sandbox_unavailable",
            )


def advice(program: str) -> str:
    """Say what to do about a missing program."""
    return f"install `{program}`, or name another `command` for the build in .github/prjury.yml"


@dataclass
class _Supervision:
    """Waits for the launcher's message and sends it the orders that the limits ask for."""

    running: RunningLauncher
    tree: ProcessTree
    last_line: LastLine
    stopped: str | None = None
    word: str = "exit"
    number: int = _KILLED
    ended: bool = False
    kill_at: float | None = None
    interrupted: bool = False

    @property
    def exit_code(self) -> int:
        return self.number if self.word == "exit" else _KILLED

    def wait(self, deadline: Deadline) -> None:
        """Wait until the launcher has sent its message, died, or has to be given up."""
        while not self._is_over(deadline):
            self.last_line.report()
            now = time.monotonic()
            if self.kill_at is None:
                self._keep_limits(deadline, now)
            elif now >= self.kill_at + _KILL_SECONDS:
                return
            elif now >= self.kill_at:
                self.running.order(b"K")
        self.last_line.report()
        if self.word == "limit":
            self.stopped = self.stopped or "output_limit"

    def _keep_limits(self, deadline: Deadline, now: float) -> None:
        self.stopped = self.tree.find_excess()
        if self.stopped:
            self.kill_at = now
        elif not deadline.remaining:
            self.stopped, self.kill_at = "timeout", now + self.tree.limits.grace
            self.running.order(b"T")

    def _is_over(self, deadline: Deadline) -> bool:
        """Wait for a moment; return whether the launcher has sent the outcome or is gone."""
        wait = _TICK_SECONDS if self.kill_at else min(_TICK_SECONDS, deadline.remaining)
        outcome = self.running.receive(wait)
        if outcome:
            self.word, self.number = outcome
            self.ended = True
        return self.ended or self.running.gone


def _at_the_end(supervision: _Supervision, finish: Callable[[], None], log: Path) -> None:
    """End the run with the interpreter, so that the thread that waits starts no other."""
    supervision.interrupted = True
    finish()
    with contextlib.suppress(OSError):
        log.unlink()
        log.parent.rmdir()


def _refuse_interrupted(supervision: _Supervision) -> None:
    if supervision.interrupted:
        raise CannotJudgeError("the run was interrupted", reason="interrupted")


def _keep_log(log: Path, opened: IO[bytes]) -> Path:
    """Return the log's path, or that of a copy if the program put something else there."""
    with contextlib.suppress(OSError):
        by_path, opened_status = log.lstat(), os.fstat(opened.fileno())
        if (by_path.st_dev, by_path.st_ino) == (opened_status.st_dev, opened_status.st_ino):
            return log
    copy = log.with_name(f"{log.name}.kept")
    opened.seek(0)
    with copy.open("xb") as file:
        shutil.copyfileobj(opened, file)
    with contextlib.suppress(OSError):
        log.unlink()
    return copy
