"""Starts one untrusted program and does not end before every process of it has.

Run as ``python -I -S launcher.py CHANNEL LIMIT NETWORK PROGRAM ARGUMENT...``; it imports nothing of
this package. Its standard output is the log; CHANNEL is the number of a socket to
the waiting process.
``--probe`` only finds out whether the kernel grants what is asked of it.

    T          received: ask the program to end (TERM to its process group)
    K, or EOF  received: end at once; so nothing survives the death of the waiting process
    exit N     sent: the program's exit code, minus the signal's number if a signal ended it
    limit 0    sent: the program was stopped because it printed more than LIMIT bytes
    exec N     sent: it could not be started, with the error's number
    cut N      sent: the network could not be taken away, with the error's number
    bare N     sent: the kernel refuses what containment needs, with the error's number

The launcher is the session's leader and the program leads a session of its own, so that a program
that signals "everybody in my group" does not reach it. On Linux it is a subreaper: daemons that
fork twice become its children and die with the rest.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Iterable

_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 1

#: No file of a build may be larger; beyond it the kernel ends the program with SIGXFSZ.
_LARGEST_FILE = 5 * 1024**3

#: How long processes are hunted that do not die, or that fork faster than they are killed.
_HUNT_SECONDS = 5.0


def main() -> int:
    """Reads the command line, runs the program, reports how it ended."""
    if sys.argv[1:] == ["--probe"]:
        harden()
        return 0
    channel, limit, network, *argv = sys.argv[1:]
    report = int(channel)
    os.set_inheritable(report, False)  # noqa: FBT003 - the standard library's signature
    if sys.platform == "linux":
        for word, prepare in (("cut", cut_network), ("bare", harden)):
            try:
                if word == "bare" or network == "off":
                    prepare()
            except OSError as error:
                _tell(report, word, error.errno or 0)
                return 0
    _tell(report, *Launch(report, int(limit)).run(argv))
    return 0


def harden() -> None:
    """Makes this process the subreaper, closes the ways to more rights, and hides its memory.

    Raises:
        OSError: when the kernel refuses.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    for option, value in (
        (_PR_SET_CHILD_SUBREAPER, 1),
        (_PR_SET_NO_NEW_PRIVS, 1),
        (_PR_SET_DUMPABLE, 0),
    ):
        _checked(libc.prctl(option, value, 0, 0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    if hard == resource.RLIM_INFINITY or hard > _LARGEST_FILE:
        resource.setrlimit(resource.RLIMIT_FSIZE, (_LARGEST_FILE, _LARGEST_FILE))


def cut_network() -> None:
    """Moves this process into a network namespace that holds nothing but a loopback of its own.

    Raises:
        OSError: when the kernel does not let this user do that.
    """
    import fcntl  # noqa: PLC0415 - each step of a build waits for the start of this program
    import socket  # noqa: PLC0415 - as above
    import struct  # noqa: PLC0415 - as above

    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()
    if libc.unshare(_CLONE_NEWNET) != 0:
        _checked(libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET))
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{user} {user} 1")
        _write("/proc/self/gid_map", f"{group} {group} 1")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sH22x", b"lo", _IFF_UP)
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, request)


def _checked(result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), "the kernel refused")


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def _tell(channel: int, word: str, number: int) -> None:
    with contextlib.suppress(OSError):  # the other side may be gone
        os.write(channel, f"{word} {number}\n".encode())


class Launch:
    """One program from its start to the end of its last process."""

    def __init__(self, channel: int, limit: int) -> None:
        self.channel = channel
        self.left = limit
        self.program = 0
        self.status: int | None = None
        self.flooded = False
        self.output = -1

    def run(self, argv: list[str]) -> tuple[str, int]:
        """Runs to the end, or to the first order or limit that ends it early."""
        wakeup = _wake_on_children()
        try:
            self.program, self.output = _start(argv)
        except OSError as error:
            return "exec", error.errno or 0
        poller = select.poll()
        for descriptor in (self.channel, wakeup, self.output):
            poller.register(descriptor, select.POLLIN)
        while self.status is None and not self.flooded:
            events = [descriptor for descriptor, _ in poller.poll()]
            if self.channel in events and not self._obey():
                break
            if self.output in events and not self._copy():
                poller.unregister(self.output)
            if wakeup in events:
                os.read(wakeup, 4096)
                self._reap()
        return self._end()

    def _end(self) -> tuple[str, int]:
        self._hunt()
        os.set_blocking(self.output, False)
        while self._copy():
            pass
        if self.flooded:
            return "limit", 0
        return "exit", -signal.SIGKILL if self.status is None else self.status

    def _obey(self) -> bool:
        """Takes an order; False means that it is over."""
        try:
            order = os.read(self.channel, 1)
        except OSError:
            order = b""
        if order == b"T":
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.program, signal.SIGTERM)
        return order == b"T"

    def _copy(self) -> bool:
        """Brings some output to the log; False when there is none at the moment or ever."""
        try:
            chunk = os.read(self.output, 1 << 16)
        except BlockingIOError:
            return False
        self.flooded = self.flooded or len(chunk) > self.left
        self._log(chunk[: self.left])
        return bool(chunk) and not self.flooded

    def _log(self, chunk: bytes) -> None:
        self.left -= len(chunk)
        try:
            while chunk:
                chunk = chunk[os.write(1, chunk) :]
        except OSError:  # no space for the log is a limit too
            self.flooded = True

    def _reap(self) -> bool:
        """Takes the dead children's statuses; False when no child is left, dead or alive."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.program:
                self.status = os.waitstatus_to_exitcode(status)

    def _hunt(self) -> None:
        """Kills until no descendant is left."""
        until = time.monotonic() + _HUNT_SECONDS
        ended = self.status
        if sys.platform != "linux":  # nothing lists descendants here: the group is what there is
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.program, signal.SIGKILL)
        while self._reap() and time.monotonic() < until:
            _kill(descendants(os.getpid()))
            time.sleep(0.002)
        if ended is not None:
            self.status = ended


def _kill(pids: Iterable[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def descendants(root: int) -> list[int]:
    """The processes below ``root``, nearest first; empty where there is no ``/proc``."""
    children: dict[int, list[int]] = {}
    with contextlib.suppress(FileNotFoundError):
        for name in os.listdir("/proc"):  # noqa: PTH208 - starts faster without pathlib
            if name.isdigit() and (parent := _parent(name)):
                children.setdefault(parent, []).append(int(name))
    found = list(children.get(root, ()))
    for pid in found:
        found.extend(children.get(pid, ()))
    return found


def _parent(pid: str) -> int | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - the same reason
            return int(file.read().rpartition(b")")[2].split()[1])
    except OSError:
        return None


def _wake_on_children() -> int:
    """A descriptor that becomes readable whenever a child ends."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    return reading


def _start(argv: list[str]) -> tuple[int, int]:
    """Forks and executes; the process and the reading end of its output.

    Raises:
        OSError: the error of the execution.
    """
    output, printing = os.pipe()
    failure, failing = os.pipe()
    pid = os.fork()
    if pid == 0:
        _become(argv, printing, failing)
    os.close(printing)
    os.close(failing)
    number = os.read(failure, 16)
    os.close(failure)
    if number:
        os.waitpid(pid, 0)
        raise OSError(int(number), "could not be started")
    return pid, output


def _become(argv: list[str], printing: int, failing: int) -> None:
    """In the child: a session without a terminal, fresh signals, the program."""
    try:
        os.setsid()
        for name in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
            signal.signal(name, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.dup2(printing, 1)
        os.dup2(printing, 2)
        os.execvp(argv[0], argv)  # noqa: S606 - this is what it is for
    except OSError as error:
        os.write(failing, str(error.errno or 1).encode())
    finally:
        os._exit(127)


if __name__ == "__main__":
    sys.exit(main())
