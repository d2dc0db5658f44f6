"""Starts untrusted programs, and does not let one of them end before every process of it has.

`main` serves a socket, begun before the first program, so that nothing of ours is read from disk
afterwards: it forks a launcher for each request, one byte with three descriptors (a file with the
`Request` as JSON, a socket to the waiting process, the log). That socket takes T (ask the program
to end) and K or its end (kill all), and tells a word and a number:

    pid N      the launcher's process
    exit N     the program's exit code, minus the signal's number if a signal ended it
    limit 0    it printed more than it may
    exec N     it could not be started; cut N: the network could not be taken away; bare N: the
               kernel refuses what containment needs; each with the error's number
    walls N    for a `Request` without a program: its walls stand, by Landlock's version

The program leads a session of its own, so that its signals to "my group" do not reach the launcher,
a subreaper on Linux: daemons that fork twice become its children and die with the rest.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import socket
import sys
import time
from typing import NamedTuple, TypedDict

from prjury.sandbox.walls import (
    VERSION_WITH_SCOPES,
    Walls,
    confine_process,
    cut_network,
    drop_capabilities,
    landlock_version,
    set_option,
)

_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38

_LARGEST_FILE = 5 * 1024**3  # beyond it the kernel ends the program with SIGXFSZ
_SIGNALS = [getattr(signal, f"SIG{name}") for name in "PIPE XFSZ INT HUP TERM CHLD".split()]

_HUNT_SECONDS = 5.0


class Message(NamedTuple):
    """What is told of a program: a word of those above, and its number."""

    word: str
    number: int


class Request(TypedDict):
    """A program to start, found on the PATH of ``env``; ``limit`` are bytes of output."""

    argv: list[str]
    directory: str
    env: dict[str, str]
    limit: int
    network: bool
    walls: Walls | None


def main() -> None:
    """Serve the socket whose number is the last argument."""
    serve_until_closed(socket.socket(fileno=int(sys.argv[-1])))


def serve_until_closed(channel: socket.socket) -> None:
    """Fork a launcher for each request until the other end is closed."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # launchers are not waited for
    while True:
        order, files, _, _ = socket.recv_fds(channel, 1, 3)
        if not order:
            return
        for file in files:
            os.set_inheritable(file, False)  # noqa: FBT003 - a program could answer for us
        if os.fork() == 0:
            try:
                channel.close()
                _run_request(*files)
            finally:
                os._exit(0)
        for file in files:
            os.close(file)


def _run_request(request_fd: int, channel_fd: int, log_fd: int) -> None:
    os.setsid()
    os.dup2(log_fd, 1)
    os.dup2(log_fd, 2)
    with open(request_fd, "rb") as file:
        request: Request = json.load(file)
    _tell(channel_fd, "pid", os.getpid())
    try:
        _harden_process()
    except OSError as error:
        _tell(channel_fd, "bare", error.errno or 0)
    else:
        _tell(channel_fd, *Launch(channel_fd, request).run_to_end())


def _harden_process() -> None:
    """Make this process the subreaper, close the ways to more rights, and hide its memory."""
    if sys.platform == "linux":
        set_option(_PR_SET_CHILD_SUBREAPER, 1)
        set_option(_PR_SET_NO_NEW_PRIVS, 1)
        set_option(_PR_SET_DUMPABLE, 0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    if hard == resource.RLIM_INFINITY or hard > _LARGEST_FILE:
        resource.setrlimit(resource.RLIMIT_FSIZE, (_LARGEST_FILE, _LARGEST_FILE))


def _tell(channel: int, word: str, number: int) -> None:
    with contextlib.suppress(OSError):  # the other side may be gone
        os.write(channel, f"{word} {number}\n".encode())


class Launch:
    """One program from its start to the end of its last process."""

    def __init__(self, channel: int, request: Request) -> None:
        self.channel = channel
        self.request = request
        self.left = request["limit"]
        self.program = 0
        self.status: int | None = None
        self.flooded = False
        self.output = -1

    def run_to_end(self) -> Message:
        """Run to the end, or to the first order or limit that ends it early."""
        wakeup = _wake_on_children()
        self.program, self.output, failure = _fork_to_pid_output_failure(self.request)
        if failure:
            word, number = failure.split()
            return Message(word, int(number))
        poller = select.poll()
        for descriptor in (self.channel, wakeup, self.output):
            poller.register(descriptor, select.POLLIN)
        while self.status is None and not self.flooded:
            events = [descriptor for descriptor, _ in poller.poll()]
            if self.channel in events and not self._handle_order_unless_end():
                break
            if self.output in events and not self._copy_output_within_limit():
                poller.unregister(self.output)
            if wakeup in events:
                os.read(wakeup, 4096)
                self._has_children_after_reaping()
        return self._kill_drain_and_report()

    def _kill_drain_and_report(self) -> Message:
        self._kill_descendants()
        os.set_blocking(self.output, False)
        while self._copy_output_within_limit():
            pass
        if self.flooded:
            return Message("limit", 0)
        return Message("exit", -signal.SIGKILL if self.status is None else self.status)

    def _handle_order_unless_end(self) -> bool:
        """Take an order; return False if it is over."""
        order = b""
        with contextlib.suppress(OSError):
            order = os.read(self.channel, 1)
        if order == b"T":
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.program, signal.SIGTERM)
        return order == b"T"

    def _copy_output_within_limit(self) -> bool:
        """Bring some output to the log; return False if there is none at the moment or ever."""
        try:
            chunk = os.read(self.output, 1 << 16)
        except BlockingIOError:
            return False
        self.flooded = self.flooded or len(chunk) > self.left
        rest = chunk[: self.left]
        self.left -= len(rest)
        try:
            while rest:
                rest = rest[os.write(1, rest) :]
        except OSError:  # no space for the log is a limit too
            self.flooded = True
        return bool(chunk) and not self.flooded

    def _has_children_after_reaping(self) -> bool:
        """Take the dead children's statuses; return False if no child is left, dead or alive."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.program:
                self.status = os.waitstatus_to_exitcode(status)

    def _kill_descendants(self) -> None:
        until = time.monotonic() + _HUNT_SECONDS
        ended = self.status
        if sys.platform != "linux":  # nothing lists descendants here: the group is what there is
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.program, signal.SIGKILL)
        while self._has_children_after_reaping() and time.monotonic() < until:
            for pid in list_descendants(os.getpid()):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.002)
        if ended is not None:
            self.status = ended


def list_descendants(root_pid: int) -> list[int]:
    """Return the processes below one, nearest first; empty where there is no ``/proc``."""
    children: dict[int, list[int]] = {}
    with contextlib.suppress(FileNotFoundError):
        for name in os.listdir("/proc"):  # noqa: PTH208 - starts faster without pathlib
            if name.isdigit() and (parent := _parent(name)):
                children.setdefault(parent, []).append(int(name))
    processes = list(children.get(root_pid, ()))
    for pid in processes:
        processes.extend(children.get(pid, ()))
    return processes


def _parent(pid: str) -> int | None:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - as above
        return int(file.read().rpartition(b")")[2].split()[1])
    return None


def _wake_on_children() -> int:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    return reading


def _fork_to_pid_output_failure(request: Request) -> tuple[int, int, str]:
    """Fork and execute; the process, the reading end of its output, and what failed."""
    output, printing = os.pipe()
    failure, failing = os.pipe()
    pid = os.fork()
    if pid == 0:
        _execute_or_probe_then_exit(request, printing, failing)
    os.close(printing)
    os.close(failing)
    words = os.read(failure, 64).decode()
    os.close(failure)
    if words:
        os.waitpid(pid, 0)
    return pid, output, words


def _execute_or_probe_then_exit(request: Request, output_fd: int, failure_fd: int) -> None:
    step = "bare"
    try:
        os.setsid()
        for name in _SIGNALS:
            signal.signal(name, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.dup2(output_fd, 1)
        os.dup2(output_fd, 2)
        if sys.platform == "linux":
            set_option(_PR_SET_DUMPABLE, 1)  # else its own entries in /proc are not its own
            step = "cut"
            if not request["network"]:
                cut_network()
            step = "bare"
            drop_capabilities() if request["walls"] is None else confine_process(request["walls"])
        if not request["argv"]:
            os.write(failure_fd, f"walls {_find_version_if_walled(request['directory'])}".encode())
            return
        step = "exec"
        os.chdir(request["directory"])
        os.execvpe(request["argv"][0], request["argv"], request["env"])  # noqa: S606 - this is what it is for
    except OSError as error:
        os.write(failure_fd, f"{step} {error.errno or 1}".encode())
    finally:
        os._exit(127)


def _find_version_if_walled(outside: str) -> int:
    """Landlock's version; 0 if a file outside can be written, or the launcher be signalled."""
    version = landlock_version()
    with contextlib.suppress(PermissionError, FileNotFoundError):
        os.close(os.open(outside, os.O_WRONLY))
        return 0
    if version >= VERSION_WITH_SCOPES:
        with contextlib.suppress(PermissionError):
            os.kill(os.getppid(), 0)
            return 0
    return version
