"""Parses texts in a process that can be killed: an in-process parse of hostile text cannot be.

A worker ends itself at a job that takes too long or too much memory: a hundred kilobytes of
``a<a<a<`` take tree-sitter 19 GB. One that dies otherwise gets one more chance with the same job.
"""

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
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from msgspec import Struct, field

from prjury.code import worker
from prjury.code.worker import MEMORY_LIMIT
from prjury.deadline import Deadline

if TYPE_CHECKING:
    from prjury.code.languages import Language

Range: TypeAlias = tuple[int, int]
Job: TypeAlias = dict[str, Any]

#: How long one text may take, and all texts of a run together.
SECONDS = 10.0
ALL_SECONDS = 60.0

#: How often a worker may die at one text, and in one run, of something else than its own alarm.
_CHANCES = 2
_MAX_DEATHS = 6

#: Why a job has no reply.
TIMEOUT = "parser_timeout"
MEMORY = "parser_memory"
DIED = "parser_died"
REFUSED = "parser_error"


class Parsed(Struct, frozen=True):
    """A worker's reply in characters; a tree's nodes have a kind, a range, their children."""

    matches: tuple[tuple[int, Range], ...] = ()
    comments: tuple[Range, ...] = ()
    strings: tuple[Range, ...] = ()
    tree: tuple[tuple[str, int, int, int], ...] = ()


class NotParsed(Struct, frozen=True):
    """Why a text could not be parsed: one of the words above, and more if there is more."""

    reason: str
    detail: str = ""

    @property
    def crashed(self) -> bool:
        """Return true if the parser broke, rather than refusing to spend more time or memory."""
        return self.reason not in {TIMEOUT, MEMORY}

    def __str__(self) -> str:
        return f"{self.reason}: {self.detail}" if self.detail else self.reason


def make_job(
    text: str, language: Language, rules: Sequence[Mapping[str, Any]] = (), *, as_tree: bool = False
) -> Job:
    return {
        "language": language.parser,
        "text": text,
        "rules": list(rules),
        "comments": () if as_tree else language.comments,
        "strings": () if as_tree else language.strings,
        "tree": as_tree,
    }


#: Has one worker do encoded jobs, with seconds for all: its output, and its exit code or None if it
#: was stopped.
RunWorker: TypeAlias = Callable[[bytes, float], tuple[bytes, int | None]]


def run_worker_with_exit_code(job_lines: bytes, timeout: float) -> tuple[bytes, int | None]:
    standby = ensure_standby()
    near, far = socket.socketpair()
    with near, tempfile.TemporaryFile() as jobs, tempfile.TemporaryFile() as output:
        jobs.write(job_lines)
        jobs.seek(0)
        with far:
            files = [jobs.fileno(), output.fileno(), far.fileno()]
            with suppress(OSError), standby.lock:  # it was killed: there is no answer
                socket.send_fds(standby.channel, [b"."], files)
        ending = _await_exit_or_kill(near, timeout)
        if ending == _LOST:
            with suppress(subprocess.TimeoutExpired):  # if the process ends, it soon has ended
                standby.process.wait(1)
        output.seek(0)
        return output.read(), ending


class Parser(Struct, frozen=True):
    """Has workers do jobs, with so many seconds for one text, and collects their replies."""

    seconds: float = SECONDS
    run_worker_with_exit_code: RunWorker = run_worker_with_exit_code

    def parse(self, jobs: Sequence[Job], deadline: Deadline) -> list[Parsed | NotParsed]:
        replies = self.run(jobs, deadline)
        return [
            each if isinstance(each, NotParsed) else msgspec.convert(each, Parsed)
            for each in replies
        ]

    def run(self, jobs: Sequence[Job], deadline: Deadline) -> list[Mapping[str, Any] | NotParsed]:
        """The same, as the worker says it."""
        done: list[Mapping[str, Any] | NotParsed] = []
        deaths, at = 0, (-1, 0)
        limits = {
            -signal.SIGALRM: NotParsed(TIMEOUT, f"more than {self.seconds:g} s"),
            -signal.SIGABRT: NotParsed(MEMORY, f"more than {MEMORY_LIMIT >> 20} MiB"),
        }
        until = deadline.within(ALL_SECONDS)
        while len(done) < len(jobs) and until.remaining > 0 and deaths < _MAX_DEATHS:
            lines = _encode_jobs(self.seconds, jobs[len(done) :])
            output, ending = self.run_worker_with_exit_code(lines, until.remaining)
            done += _read_replies(output)
            if len(done) == len(jobs) or ending is None:
                break
            if ending in limits:
                done.append(limits[ending])
                continue
            deaths += 1
            at = (len(done), at[1] + 1 if at[0] == len(done) else 1)
            if at[1] == _CHANCES:
                name = signal.Signals(-ending).name if ending < 0 else ""
                done.append(NotParsed(DIED, f"signal {name}" if name else f"exit code {ending}"))
        reason = DIED if deaths == _MAX_DEATHS else TIMEOUT
        done += [NotParsed(reason, "given up")] * (len(jobs) - len(done))
        return done


def _encode_jobs(seconds: float, jobs: Sequence[Job]) -> bytes:
    """The worker's input: the seconds for a job, each rule once, and then the jobs."""
    table: dict[str, int] = {}
    lines: list[str] = []
    for each in jobs:
        rules = [table.setdefault(json.dumps(rule), len(table)) for rule in each["rules"]]
        lines.append(json.dumps({**each, "rules": rules}) + "\n")
    return "".join([f"[{seconds:f}, [", ",".join(table), "]]\n", *lines]).encode()


def _read_replies(output: bytes) -> list[Mapping[str, Any] | NotParsed]:
    """The complete lines; a worker that dies in the middle of one has not answered."""
    replies = [json.loads(line) for line in output.split(b"\n")[:-1]]
    return [NotParsed(REFUSED, str(each["error"])) if "error" in each else each for each in replies]


class Standby(Struct, frozen=True):
    """A process that forks workers, and the socket on which it is given files to work on.

    Whatever has been written into the files of this program since it began is never run by them.
    """

    process: subprocess.Popen[bytes]
    channel: socket.socket
    lock: threading.Lock = field(default_factory=threading.Lock)
    launched_by: int = field(default_factory=os.getpid)

    def serves(self) -> bool:
        """Tell whether it still lives, and is of this process, not of the one that forked this."""
        return self.launched_by == os.getpid() and self.process.poll() is None

    def close(self) -> None:
        self.channel.close()
        self.process.kill()
        self.process.wait()


_starting = threading.Lock()
_launched: list[Standby] = []
#: Set before a program runs that is not trusted: it may write into the files that a launch reads.
_is_last = threading.Event()


def ensure_standby() -> Standby:
    """Start the process if none serves; it loads what it needs while this one goes on."""
    with _starting:
        if _launched and (_is_last.is_set() or _launched[0].serves()):
            return _launched[0]
        for former in _launched:
            former.channel.close()
        _launched[:] = [_launch_standby()]
        return _launched[0]


def await_standby() -> None:
    """Wait until the process has loaded everything, or died; no other one is started from now on.

    Before it has, it forks no worker.
    """
    ensure_standby()
    _is_last.set()
    while run_worker_with_exit_code(_encode_jobs(SECONDS, []), ALL_SECONDS)[1] is None:
        pass


def _launch_standby() -> Standby:
    near, far = socket.socketpair()
    with far:
        process = subprocess.Popen(  # noqa: S603 - our own worker, by absolute path
            [sys.executable, "-I", worker.__file__],
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


_LOST = -int(signal.SIGKILL)


def _await_exit_or_kill(channel: socket.socket, timeout: float) -> int | None:
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
