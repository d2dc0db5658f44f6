"""The process that starts programs: begun before the first of them, so that none can change it."""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import weakref
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from prjury.errors import CannotJudgeError
from prjury.sandbox import launcher

_PACKAGES = str(Path(launcher.__file__).parents[2])
_START = f"import sys; sys.path.append(sys.argv[1]); from {launcher.__name__} import main; main()"
_SECONDS_TO_START = 30.0


@dataclass(eq=False)
class RunningLauncher:
    """A launcher at work, and the socket to it."""

    channel: socket.socket
    pid: int = 0
    gone: bool = False
    _received: bytes = b""

    def receive_message(self, seconds: float) -> launcher.Message | None:
        """Wait for the next message; None if none has come, or `gone`."""
        self.channel.settimeout(max(0.01, seconds))
        try:
            while b"\n" not in self._received and not self.gone:
                chunk = self.channel.recv(64)
                self._received += chunk
                self.gone = not chunk
        except TimeoutError:
            return None
        except OSError:
            self.gone = True
        line, _, self._received = self._received.partition(b"\n")
        word, _, number = line.decode().partition(" ")
        return launcher.Message(word, int(number)) if number else None

    def order(self, order: bytes) -> None:
        """Send an order; the launcher may be gone already."""
        with suppress(OSError):
            self.channel.sendall(order)

    def kill(self) -> None:
        """End a launcher that does not end by itself."""
        if self.pid and not self.gone:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


_lock = threading.Lock()
_running: weakref.WeakSet[RunningLauncher] = weakref.WeakSet()
_interrupted = threading.Event()


def interrupt() -> None:
    """End all programs that are running, and start none until `resume`."""
    _interrupted.set()
    for running in tuple(_running):
        running.order(b"K")


def resume() -> None:
    _interrupted.clear()


def launch(request: launcher.Request, log_fd: int) -> RunningLauncher:
    """Have a program started, or raise: another process could be a different program."""
    if _interrupted.is_set():
        raise CannotJudgeError("the run was interrupted", reason="interrupted")
    sys.audit("prjury.launch", request["argv"])
    near, far = socket.socketpair()
    with far, tempfile.TemporaryFile() as file:
        file.write(json.dumps(request).encode())
        file.seek(0)
        with suppress(OSError), _lock:
            socket.send_fds(_start_fork_server(), [b"R"], [file.fileno(), far.fileno(), log_fd])
    running = RunningLauncher(near)
    _running.add(running)
    word, running.pid = running.receive_message(_SECONDS_TO_START) or ("", 0)
    if word == "pid":
        return running
    near.close()
    raise CannotJudgeError(
        "the process that starts programs is gone",
        why="a program of the change has ended it, or the machine had no memory left",
        remedy="Run it again; with `sandbox: {level: L2}` no program can end it",
        reason="interrupted",
    )


@cache
def _start_fork_server() -> socket.socket:
    """Start the process once; what it has started ends with it."""
    near, far = socket.socketpair()
    with far:
        process = subprocess.Popen(  # noqa: S603 - our own program, by absolute path
            [sys.executable, "-I", "-S", "-c", _START, _PACKAGES, str(far.fileno())],
            pass_fds=[far.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={},
            cwd="/",
            start_new_session=True,
        )
    for end in (process.wait, process.kill, near.close):  # the last one first
        atexit.register(end)
    return near
