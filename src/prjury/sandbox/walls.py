"""Walls around one program, raised in its own process before it begins, by Linux alone.

Landlock says what is written, read and signalled. Where the kernel lets this user mount, the
program sees private directories, and writes into upper layers of what is lent.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import socket
import stat
import struct
from collections.abc import Collection, Iterator, Mapping
from typing import TypedDict

_CLONE_NEWNS, _CLONE_NEWUSER, _CLONE_NEWNET = 0x20000, 0x10000000, 0x40000000
_MS_BIND, _MS_REC, _MS_PRIVATE = 0x1000, 0x4000, 1 << 18
_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE, _MOUNT_ATTR_RDONLY = 442, -100, 0x8000, 1
_MOVE_MOUNT, _FSOPEN, _FSCONFIG, _FSMOUNT = 429, 430, 431, 432
_SET_FLAG, _SET_STRING, _CREATE, _FROM_DESCRIPTOR = 0, 1, 6, 4
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PR_CAPBSET_DROP, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 24, 47, 4
_CAPABILITY_VERSION, _LAST_CAPABILITY = 0x20080522, 63
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1

#: Landlock's rights: to list, to read and execute; those of files; all of its third version.
_LIST = 1 << 3
_READ = 1 << 0 | 1 << 2 | _LIST
_OF_FILES = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14
_ALL = (1 << 15) - 1
_SCOPES = 1 | 2  # no signals and no abstract sockets to processes outside
LEAST_VERSION, VERSION_WITH_SCOPES, _VERSION_WITH_NETWORK = 3, 6, 4

_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm")
#: Ways to services that would do for a program what it may not do itself.
_SERVICES = (
    "docker.sock containerd/containerd.sock podman/podman.sock crio/crio.sock snapd.socket "
    "dbus/system_bus_socket systemd/private"
).split()

_libc = ctypes.CDLL(None, use_errno=True)


class Layer(TypedDict):
    """A directory that is lent: changes to it go to the upper directory."""

    place: str
    upper: str
    work: str


class Walls(TypedDict):
    """What one program may do; ``readable`` are exceptions below what is hidden."""

    writable: list[str]
    hidden: list[str]
    readable: list[str]
    mounts: bool
    private: dict[str, str]
    layers: list[Layer]


def landlock_version() -> int:
    """Return the version of Landlock that this kernel has; 0 without it."""
    return max(0, int(_libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)))


def confine_process(walls: Walls) -> None:
    """Confine this process and all that it starts, or raise OSError."""
    if walls["mounts"]:
        _unshare(_CLONE_NEWNS)
    ruleset = _create_ruleset()
    _allow(ruleset, "/", _LIST)
    for path in _list_visible("/", walls["hidden"]):
        _allow(ruleset, path, _READ)
    lent = [part for path in walls["readable"] for part in _list_visible(path, walls["hidden"])]
    for path in lent:
        _allow(ruleset, path, _READ)
    for path in walls["writable"]:
        _allow(ruleset, path, _ALL)
    if walls["mounts"]:
        for directory in list(_mount_and_open_writable(walls, lent)):
            _add_rule(ruleset, directory, _ALL)
            os.close(directory)
    for name in _DEVICES:
        _allow(ruleset, f"/dev/{name}", _ALL)
    drop_capabilities()
    _require(_libc.syscall(_RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def set_option(option: int, value: int) -> None:
    """Call ``prctl``, or raise OSError."""
    _require(_libc.prctl(option, value, 0, 0, 0))


def cut_network() -> None:
    """Move this process into a network of its own loopback alone, or raise OSError."""
    _unshare(_CLONE_NEWNET)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", _IFF_UP))


def drop_capabilities() -> None:
    """Give away every right of a superuser, for ever, or raise OSError."""
    for number in range(_LAST_CAPABILITY + 1):
        _libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0)  # refused to who has no right to give away
    _libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    _require(_libc.capset(struct.pack("Ii", _CAPABILITY_VERSION, 0), bytes(24)))


def _unshare(namespace: int) -> None:
    """Enter a new namespace, if need be as a user who has rights in it alone."""
    if _libc.unshare(namespace) == 0:
        return
    user, group = os.getuid(), os.getgid()
    _require(_libc.unshare(_CLONE_NEWUSER | namespace))
    maps = {"uid_map": f"{user} {user} 1", "gid_map": f"{group} {group} 1"}
    for name, text in {"setgroups": "deny", **maps}.items():
        descriptor = os.open(f"/proc/self/{name}", os.O_WRONLY)
        os.write(descriptor, text.encode())
        os.close(descriptor)


def _mount_and_open_writable(walls: Walls, lent: Collection[str]) -> Iterator[int]:
    """Put private directories and layers in their places; yield what is writable.

    All is opened first: a private directory may cover it. No link in one of those is followed.
    """
    _require(_libc.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None))
    private = {
        place: os.open(source, os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY)
        for place, source in walls["private"].items()
    }
    shown = [(path, os.open(path, os.O_PATH), False) for path in walls["writable"]]
    for path in lent:
        with contextlib.suppress(OSError):  # it is gone
            shown.append((path, os.open(path, os.O_PATH), True))
    layers = [(layer["place"], _open_lower_and_overlay(layer)) for layer in walls["layers"]]
    _cover_services()
    for place, source in private.items():
        _bind(source, place)
        yield source
    for path, source, read_only in shown:
        if _make_mountable(path, source, private):
            _bind(source, path, read_only=read_only)
        os.close(source)
    for path, (lower, overlay) in layers:
        if overlay >= 0 and (not _find_top(path, private) or _make_mountable(path, lower, private)):
            target = os.fsencode(path)
            _require(_libc.syscall(_MOVE_MOUNT, overlay, b"", _AT_FDCWD, target, _FROM_DESCRIPTOR))
            yield overlay
        os.close(lower)


def _cover_services() -> None:
    """Cover the sockets of services, and the terminals of others with those of its own."""
    for name in _SERVICES:
        _libc.mount(b"/dev/null", f"/run/{name}".encode(), None, _MS_BIND, None)
    if _libc.mount(b"devpts", b"/dev/pts", b"devpts", 0, b"newinstance,ptmxmode=0666") == 0:
        _libc.mount(b"/dev/pts/ptmx", b"/dev/ptmx", None, _MS_BIND, None)


def _open_lower_and_overlay(layer: Layer) -> tuple[int, int]:
    """Open the lower directory, and make a mount of the layer; -1 where its file system cannot."""
    names = {"lowerdir": layer["place"], "upperdir": layer["upper"], "workdir": layer["work"]}
    opened = {name: os.open(path, os.O_PATH) for name, path in names.items()}
    overlay = _libc.syscall(_FSOPEN, b"overlay", 0)
    for name, descriptor in opened.items():
        path = f"/proc/self/fd/{descriptor}".encode()
        _libc.syscall(_FSCONFIG, overlay, _SET_STRING, name.encode(), path, 0)
    for option in (b"userxattr", b"volatile"):  # nothing waits for a disk
        _libc.syscall(_FSCONFIG, overlay, _SET_FLAG, option, None, 0)
    created = _libc.syscall(_FSCONFIG, overlay, _CREATE, None, None, 0)
    mount = int(_libc.syscall(_FSMOUNT, overlay, 0, 0)) if created == 0 else -1
    for descriptor in (overlay, opened["upperdir"], opened["workdir"]):
        os.close(descriptor)
    return opened["lowerdir"], mount


def _find_top(path: str, private: Mapping[str, int]) -> str:
    """Return the private place that covers a path; empty for none."""
    return next((place for place in private if path.startswith(f"{place}/")), "")


def _bind(source: int, place: str, *, read_only: bool = False) -> None:
    path, source_path = os.fsencode(place), f"/proc/self/fd/{source}".encode()
    _require(_libc.mount(source_path, path, None, _MS_BIND | _MS_REC, None))
    if read_only:
        attributes = struct.pack("QQQQ", _MOUNT_ATTR_RDONLY, 0, 0, 0)
        size = ctypes.c_size_t(len(attributes))
        _require(_libc.syscall(_MOUNT_SETATTR, _AT_FDCWD, path, _AT_RECURSIVE, attributes, size))


def _make_mountable(path: str, like_fd: int, private: Mapping[str, int]) -> bool:
    """Make what something can be mounted on; False if a program left something else there."""
    top = _find_top(path, private)
    if not top:
        return False
    is_directory = stat.S_ISDIR(os.fstat(like_fd).st_mode)
    *parents, name = path.removeprefix(f"{top}/").split("/")
    at = os.dup(private[top])
    try:
        for parent in parents:
            with contextlib.suppress(FileExistsError):
                os.mkdir(parent, 0o755, dir_fd=at)
            below = os.open(parent, os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY, dir_fd=at)
            os.close(at)
            at = below
        with contextlib.suppress(FileExistsError):
            if is_directory:
                os.mkdir(name, 0o755, dir_fd=at)
            else:
                os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644, dir_fd=at))
        kind = os.stat(name, dir_fd=at, follow_symlinks=False).st_mode
        return stat.S_ISDIR(kind) if is_directory else stat.S_ISREG(kind)
    except OSError:
        return False
    finally:
        os.close(at)


def _list_visible(path: str, hidden: Collection[str]) -> Iterator[str]:
    """Yield the largest parts of a path below which nothing is hidden."""
    inside = f"{path.rstrip('/')}/"
    if not any(each.startswith(inside) for each in hidden):
        yield path
        return
    with contextlib.suppress(OSError), os.scandir(path) as entries:
        for entry in entries:
            if entry.path not in hidden and not entry.is_symlink():
                yield from _list_visible(entry.path, hidden)


def _create_ruleset() -> int:
    version = landlock_version()
    size = 24 if version >= VERSION_WITH_SCOPES else 16 if version >= _VERSION_WITH_NETWORK else 8
    attributes = struct.pack("QQQ", _ALL, 0, _SCOPES)
    ruleset = int(_libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(size), 0))
    _require(min(0, ruleset))
    return ruleset


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH)
    except OSError:  # it is gone, or not for this user
        return
    _add_rule(ruleset, descriptor, rights)
    os.close(descriptor)


def _add_rule(ruleset: int, descriptor: int, rights: int) -> None:
    if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
        rights &= _OF_FILES
    rule = struct.pack("=Qi", rights, descriptor)
    _require(_libc.syscall(_ADD_RULE, ruleset, 1, rule, 0))


def _require(result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), "the kernel refused")
