"""The programs behind models while they run: contained in time, output and number of processes."""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from prjury.deadline import Deadline
from prjury.ports.messages import ModelError

#: Bytes that a program may print. An agent's own JSON takes more room than the answer in it.
OUTPUT_LIMIT = 1024 * 1024

#: Seconds between two looks whether a program has ended whose output stays open.
_TICK = 0.1
#: Processes are hunted so often at most, in case they fork while they are.
_ROUNDS = 10


class Programs:
    """Starts programs, each in an empty directory and a session of its own, and ends them.

    A program is killed at its deadline, when it prints too much, and by `close`; what it leaves
    behind is killed when it ends. Processes that have left its session are known by their TMPDIR,
    where there is a ``/proc``.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[Path, subprocess.Popen[bytes]] = {}
        self._closed = False

    def run(
        self, argv: Sequence[str], asked: bytes, environ: Mapping[str, str], deadline: Deadline
    ) -> tuple[int, bytes]:
        """The exit code, minus the signal's number if a signal ended it, and all that is printed.

        Args:
            argv: the program's path and its arguments.
            asked: what it reads from its standard input.
            environ: its environment but for TMPDIR and PWD.

        Raises:
            ModelError: ``timeout`` or ``reply_too_large``.
            OSError, ValueError: when it cannot be started.
        """
        with self._started(argv, asked, environ) as (process, output):
            printed = _read(process, output, deadline)
            if len(printed) > OUTPUT_LIMIT:
                raise too_large()
            try:
                return process.wait(deadline.remaining), printed
            except subprocess.TimeoutExpired:
                raise late() from None

    def close(self) -> None:
        """Ends all programs; none is started any more."""
        with self._lock:
            self._closed = True
            places = list(self._running)
        for place in places:
            self._end(place)

    @contextlib.contextmanager
    def _started(
        self, argv: Sequence[str], asked: bytes, environ: Mapping[str, str]
    ) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]:
        place = Path(tempfile.mkdtemp(prefix="prjury-model-"))
        try:
            # Not a pipe: nobody has to wait for a program that reads slowly or not at all.
            with tempfile.TemporaryFile() as stdin:
                stdin.write(asked)
                stdin.seek(0)
                process = self._start(argv, stdin, place, environ)
            assert process.stdout is not None  # noqa: S101 - for the type checker
            with process.stdout as output:
                yield process, output
        finally:
            self._end(place)

    def _start(
        self, argv: Sequence[str], stdin: IO[bytes], place: Path, environ: Mapping[str, str]
    ) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._closed:
                raise ModelError("The run was interrupted", "provider_error")
            process = subprocess.Popen(  # noqa: S603 - the operator's own command
                argv,
                cwd=place,
                env={**environ, "TMPDIR": str(place), "PWD": str(place)},
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            self._running[place] = process
            return process

    def _end(self, place: Path) -> None:
        with self._lock:
            process = self._running.pop(place, None)
        if process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        for _ in range(_ROUNDS):
            if not _kill_strays(place):
                break
        shutil.rmtree(place, ignore_errors=True)


def late() -> ModelError:
    """The error for a program that takes too long."""
    return ModelError("The model did not answer in time", "timeout")


def too_large() -> ModelError:
    """The error for a reply that is longer than anybody needs."""
    return ModelError("The model's reply is too large", "reply_too_large")


def _read(process: subprocess.Popen[bytes], output: IO[bytes], deadline: Deadline) -> bytes:
    """What is printed until the output is closed, the program ends, or it is too much."""
    printed = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ)
        while len(printed) <= OUTPUT_LIMIT:
            if not deadline.remaining:
                raise late()
            # Before the look at its output: what it said last is there by then.
            ended = process.poll() is not None
            if selector.select(0 if ended else min(_TICK, deadline.remaining)):
                chunk = os.read(output.fileno(), 1 << 16)
                if not chunk:
                    break
                printed += chunk
            elif ended:
                break  # a process that it left behind keeps the output open
    return bytes(printed)


def _kill_strays(place: Path) -> bool:
    """Kills what has left the program's session, known by its TMPDIR; whether there was any.

    Nothing is found where there is no ``/proc``.
    """
    mark = b"TMPDIR=" + os.fsencode(place)
    killed = False
    with contextlib.suppress(FileNotFoundError):
        for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208 - plain names do
            with contextlib.suppress(OSError):
                if mark in Path("/proc", name, "environ").read_bytes().split(b"\0"):
                    os.kill(int(name), signal.SIGKILL)
                    killed = True
    return killed
