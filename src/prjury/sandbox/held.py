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
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from prjury.errors import CannotJudgeError
from prjury.sandbox import launcher

_PACKAGES = str(Path(launcher.__file__).parents[2])
_START = (
    "import sys; sys.path.append(sys.argv[1]); from prjury.sandbox.launcher import main; main()"
)
_SECONDS_TO_START = 30.0


@dataclass(frozen=True)
class LauncherServer:
    """The process, and the socket on which it takes requests."""

    process: subprocess.Popen[bytes]
    channel: socket.socket
    lock: threading.Lock = field(default_factory=threading.Lock)

    def launch(self, request: launcher.Request, log: int) -> RunningLauncher:
        """Have a program started, or raise: another process could be a different program."""
        if _interrupted.is_set():
            raise CannotJudgeError("the run was interrupted", reason="interrupted")
        sys.audit("prjury.launch", request["argv"])
        near, far = socket.socketpair()
        with far, tempfile.TemporaryFile() as file:
            file.write(json.dumps(request).encode())
            file.seek(0)
            try:
                with self.lock:
                    socket.send_fds(self.channel, [b"R"], [file.fileno(), far.fileno(), log])
            except OSError as error:
                near.close()
                raise _make_error() from error
        running = RunningLauncher(near)
        _running.add(running)
        word, running.pid = running.receive(_SECONDS_TO_START) or ("", 0)
        if word != "pid":
            near.close()
            raise _make_error()
        return running

    def close(self) -> None:
        """End the process; what it has started ends by itself."""
        self.channel.close()
        self.process.kill()
        self.process.wait()


@dataclass(eq=False)
class RunningLauncher:
    """A launcher at work, and the socket to it."""

    channel: socket.socket
    pid: int = 0
    gone: bool = False
    _received: bytes = b""

    def receive(self, seconds: float) -> tuple[str, int] | None:
        """Wait for the next word and its number; None if none has come, or `gone`."""
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
        return (word, int(number)) if number else None

    def order(self, order: bytes) -> None:
        """Send an order; the launcher may be gone already."""
        with suppress(OSError):
            self.channel.sendall(order)

    def kill(self) -> None:
        """End a launcher that does not end by itself."""
        if self.pid and not self.gone:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


_starting = threading.Lock()
_running: weakref.WeakSet[RunningLauncher] = weakref.WeakSet()
_interrupted = threading.Event()


def interrupt() -> None:
    """End all programs that are running, and start none until `resume`."""
    _interrupted.set()
    for running in tuple(_running):
        running.order(b"K")


def resume() -> None:
    """Start programs again."""
    _interrupted.clear()


def launcher_server() -> LauncherServer:
    """The process, which is started once."""
    with _starting:
        return _start_server()


@cache
def _start_server() -> LauncherServer:
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
    server = LauncherServer(process, near)
    atexit.register(server.close)
    return server


def _make_error() -> CannotJudgeError:
    return CannotJudgeError(
        "the process that starts programs is gone",
        why="a program of the change has ended it, or the machine had no memory left",
        remedy="Run it again; with `sandbox: {level: L2}` no program can end it",
        reason="interrupted",
    )
