"""Workers of the parser that are forked from a process which was started beforehand.

Whatever has been written into the files of this program since then is never run by them.
"""

from __future__ import annotations

import atexit
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct, field

from prjury.code import worker

_COMMAND = (sys.executable, "-I", worker.__file__, worker.SERVE)
_LOST = -int(signal.SIGKILL)
_started: list[Standby] = []
_starting = threading.Lock()


class Standby(Struct, frozen=True):
    """The process, and the socket on which it is given files to work on."""

    process: subprocess.Popen[bytes]
    channel: socket.socket
    lock: threading.Lock = field(default_factory=threading.Lock)
    loaded: threading.Event = field(default_factory=threading.Event)

    def wait(self) -> None:
        """Wait until it has loaded everything that it needs, or has ended."""
        with self.lock:
            if not self.loaded.is_set():
                with suppress(OSError):  # it was killed
                    self.channel.recv(1)
                self.loaded.set()

    def run(self, lines: bytes, seconds: float, timeout: float) -> tuple[bytes, int | None]:
        """One worker's output and its exit code; None if it was stopped because of the timeout."""
        near, far = socket.socketpair()
        with near, tempfile.TemporaryFile() as jobs, tempfile.TemporaryFile() as output:
            jobs.write(lines)
            jobs.seek(0)
            with far:
                files = [jobs.fileno(), output.fileno(), far.fileno()]
                with suppress(OSError), self.lock:  # it was killed: there is no answer
                    socket.send_fds(self.channel, [worker.request(seconds)], files)
            ending = _read_end(near, timeout)
            output.seek(0)
            return output.read(), ending

    def close(self) -> None:
        """Ends the process, which holds nothing that it would have to put away."""
        self.channel.close()
        self.process.kill()
        self.process.wait()


def begin(command: Sequence[str] = _COMMAND) -> Standby:
    """Starts the process, once; it loads what it needs while this one goes on."""
    with _starting:
        if not _started:
            _started.append(_launch(command))
        return _started[0]


def start(command: Sequence[str] = _COMMAND) -> None:
    """Starts the process, once; it has loaded everything that it needs when this returns."""
    begin(command).wait()


def standing() -> Standby | None:
    """The process, if it was started."""
    return _started[0] if _started else None


def _launch(command: Sequence[str]) -> Standby:
    near, far = socket.socketpair()
    with far:
        process = subprocess.Popen(  # noqa: S603 - our own worker, by absolute path
            command,
            stdin=far.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={},
            cwd=Path("/"),
            start_new_session=True,
        )
    standby = Standby(process, near)
    atexit.register(standby.close)
    return standby


def _read_end(channel: socket.socket, timeout: float) -> int | None:
    """Waits for a worker's exit code; one that takes too long is killed."""
    channel.settimeout(max(timeout, 0.001))
    reply, pid = b"", 0
    try:
        while reply.count(b"\n") < 2 and (more := channel.recv(64)):  # noqa: PLR2004 - pid and end
            reply += more
            pid = int(reply.partition(b"\n")[0]) if b"\n" in reply else 0
    except TimeoutError:
        if pid:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return None
    lines = reply.split(b"\n")
    return int(lines[1]) if len(lines) > 2 else _LOST  # noqa: PLR2004 - as above
