"""What can be seen of a running program from outside: its last line, its memory, its processes."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from prjury.ports import Progress
from prjury.sandbox.launcher import descendants

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x1f\x7f-\x9f]")
_LINE_BREAKS = re.compile(r"[\r\n]+")
_LONGEST_LINE = 200


@dataclass(frozen=True, slots=True)
class Limits:
    """What one program may take, with all its descendants.

    Attributes:
        grace: seconds between being asked to end and being killed.
        memory: bytes of resident memory, all processes added up.
        processes: how many there may be at once.
    """

    grace: float = 10.0
    memory: int = 6 * 1024**3
    processes: int = 512


@dataclass
class LastLine:
    """Passes the newest line of a growing log on, at most once per call."""

    log: IO[bytes]
    progress: Progress
    size: int = 0

    def tell(self) -> None:
        """Says the last line if there is a new one."""
        size = os.fstat(self.log.fileno()).st_size
        if size == self.size:
            return
        self.size = size
        end = os.pread(self.log.fileno(), 4096, max(0, size - 4096)).decode("utf-8", "replace")
        lines = [line for part in _LINE_BREAKS.split(end) if (line := _plain(part))]
        if lines:
            self.progress.say(lines[-1])


def _plain(line: str) -> str:
    return _CONTROL.sub("", line).strip()[:_LONGEST_LINE]


@dataclass
class ProcessTree:
    """The processes below the launcher; measured now and then, because measuring costs."""

    root: int
    limits: Limits
    every: float = 0.5
    measured: float = field(default_factory=time.monotonic)

    def over(self) -> str | None:
        """The limit that the tree exceeds, if it is time to look and one is exceeded."""
        now = time.monotonic()
        if now - self.measured < self.every:
            return None
        self.measured = now
        pids = descendants(self.root)
        if len(pids) > self.limits.processes:
            return "process_limit"
        return "memory_limit" if sum(map(_resident, pids)) > self.limits.memory else None


def _resident(pid: int) -> int:
    """Bytes of memory; nothing for a process that has ended meanwhile."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_bytes().split()[1])
    except (OSError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def kill_by_home(home: str, seconds: float = 5.0) -> None:
    """Kills the processes that were started with this HOME, until none is left.

    The last resort when a program has killed the launcher that would have cleaned up after it. The
    HOME must be one that was made for the program alone. A process that was sent its end still
    lives for a moment, and may have started another one before; so they are looked for again, for
    at most so many seconds.
    """
    wanted = b"HOME=" + os.fsencode(home)
    until = time.monotonic() + seconds
    while (found := _started_with(wanted)) and time.monotonic() < until:
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.002)


def _started_with(variable: bytes) -> list[int]:
    """The processes whose environment has it; none where there is no ``/proc``."""
    found = []
    with contextlib.suppress(FileNotFoundError):
        for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208 - plain names do
            with contextlib.suppress(OSError):
                if variable in Path("/proc", name, "environ").read_bytes().split(b"\0"):
                    found.append(int(name))
    return found
