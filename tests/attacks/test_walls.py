"""What a build tries to write, read, reach or leave behind, at each level, with one set of oracles.

A row that the level is not meant to hold shows that the attack is one: it must succeed there.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

from fakes.shell import SilentProgress
from prjury.deadline import Deadline
from prjury.ports.types import ShellCommand
from prjury.sandbox.contained import ContainedShell
from prjury.sandbox.reach import Powers

CANARY = "canary-4f1c"
#: Files of the operator; those of the first kind hold a secret.
SECRETS = (
    ".ssh/id_ed25519 .netrc .npmrc .pypirc .git-credentials .aws/credentials .docker/config.json "
    ".config/gh/hosts.yml .kube/config .gnupg/key .m2/settings.xml .cargo/credentials.toml "
    ".gradle/gradle.properties notes/private.txt"
).split()
CACHES = (
    ".m2/repository/a .cargo/registry/a .npm/a .cache/uv/a go/pkg/mod/a .cache/go-build/a".split()
)
STATE = ".local/state/prjury/bases/0a"
#: Level L2 where the user may not mount.
BARE = "L2 without mounts"
HIGHEST = ContainedShell({"PATH": os.environ["PATH"]}).level


@dataclass(frozen=True)
class World:
    """The operator's machine: a home, a run beside this one, a process, an abstract socket."""

    place: Path
    victim: int
    socket: str

    @property
    def home(self) -> Path:
        return self.place / "operator"

    @property
    def beside(self) -> Path:
        return self.place / "prjury-12345678/run/tree/test.py"

    @property
    def names(self) -> Mapping[str, str]:
        names = {"home": self.home, "beside": self.beside, "python": sys.executable}
        return {name: str(path) for name, path in names.items()} | {
            "victim": str(self.victim),
            "socket": self.socket,
            "state": str(self.home / STATE),
        }

    def content(self) -> Mapping[str, object]:
        """Every file with its bytes, kind and mode."""
        return {
            str(path): (path.lstat().st_mode, path.read_bytes() if path.is_file() else b"")
            for path in sorted(self.place.rglob("*"))
            if "prjury-logs-" not in str(path) and path.name != "logs"
        }


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    for name in (*SECRETS, *CACHES, STATE):
        file = tmp_path / "operator" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(CANARY if name in SECRETS else "cached")
    (tmp_path / "operator" / STATE).parents[1].chmod(0o700)
    name = f"prjury-test-{uuid4().hex}"
    with (
        subprocess.Popen(["sleep", "600"], env={"SECRET": CANARY}) as victim,
        socket.socket(socket.AF_UNIX) as listener,
    ):
        listener.bind(f"\0{name}")
        listener.listen()
        world = World(tmp_path, victim.pid, name)
        world.beside.parent.mkdir(parents=True)
        world.beside.write_text("assert False\n")
        yield world
        victim.kill()


def run(world: World, level: str, *scripts: str) -> tuple[list[int], str]:
    """Run scripts one after the other in one scratch directory; exit codes and what they print."""
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(world.home),
        "XDG_STATE_HOME": str(world.home / ".local/state"),
    }
    powers = Powers(version=3) if level == BARE else None
    shell = ContainedShell(environ, level=level[:2], powers=powers)
    marker = str(uuid4().int % 10**9 + 10**9)
    codes, printed = [], ""
    with shell.scratch() as scratch:
        for name in ("tree", "home", "tmp"):
            (scratch / name).mkdir()
        env = {
            **shell.environment(),
            "HOME": str(scratch / "home"),
            "TMPDIR": str(scratch / "tmp"),
        }
        for script in scripts:
            text = script.format(marker=marker, **world.names)
            command = ShellCommand(text, scratch / "tree", env)
            done = shell.run(command, Deadline.after(30), SilentProgress())
            codes.append(done.exit_code)
            printed += done.log.read_text()
    census = subprocess.run(["pgrep", "-f", marker], capture_output=True, check=False).stdout
    assert census == b""
    return codes, printed


def attacks(
    kind: Mapping[str, tuple[str, ...]], *, held: str, levels: Sequence[str] = ("L1", "L2", BARE)
) -> list[object]:
    return [
        pytest.param(level, level >= held, scripts, id=f"{name}-{level}")
        for name, scripts in kind.items()
        for level in levels
    ]


_CONNECT = 'import socket; socket.socket(socket.AF_UNIX).connect(chr(0) + "{socket}")'
WRITES = {
    "base-outcomes": ("echo forged > {state}",),
    "run-beside": ("echo 'assert True' > {beside}",),
    "truncate": (": > {beside}",),
    "rename": ("mv {beside} {beside}.old",),
    "delete": ("rm -rf {home}/notes",),
    "hard-link": ("ln {beside} $TMPDIR/link && echo x >> $TMPDIR/link",),
    "symbolic-link": ("ln -s {beside} link && echo x >> link",),
    "root-of-a-process": ("echo x >> /proc/self/root{beside}",),
    "maven-cache": ("echo poison > {home}/.m2/repository/a",),
    "cargo-cache": ("echo poison > {home}/.cargo/registry/a",),
    "npm-cache": ("echo poison > {home}/.npm/a",),
    "uv-cache": ("echo poison > {home}/.cache/uv/a; mkdir {home}/.cache/uv/b",),
    "home-becomes-a-link": ("rm -r $HOME && ln -s {home} $HOME", "echo x > $HOME/new"),
    "tree-becomes-a-link": (
        "cd / && mv $HOME/../tree $HOME && ln -s {home} $HOME/../tree",
        "echo x > new",
    ),
    "temporary-becomes-a-link": ("rm -r $TMPDIR && ln -s {home} $TMPDIR", "echo x > $TMPDIR/new"),
    "cache-becomes-a-link": (
        "rm -rf {home}/.npm; ln -s {home}/notes {home}/.npm",
        "echo x > {home}/.npm/private.txt; echo x > {home}/notes/private.txt",
    ),
}
READS = {
    **{f"secret-{name}": (f"cat {{home}}/{name}",) for name in SECRETS},
    "through-a-link": ("ln -s {home}/.ssh link && cat link/id_ed25519",),
    "through-a-process": ("cat /proc/self/root{home}/.netrc",),
    "copied": ("cp -r {home} $TMPDIR/copy; cat $TMPDIR/copy/.ssh/*",),
    "home-of-the-user": ("cat ~/.ssh/* {home}/.ssh/*",),
}
REACHES = {
    "signal": ("kill -CONT {victim}",),
    "abstract-socket": ("{python} -c '" + _CONNECT + "'",),
}
#: As little as possible is asked of the machine: not every user could do these without walls.
CLOSED = {
    "environment-of-a-process": ("tr '\\0' '\\n' </proc/{victim}/environ",),
    "memory": ('{python} -c \'open("/proc/{victim}/mem", "r+b")\'',),
    "disk": ("head -c 64 /dev/vda /dev/sda /dev/nvme0n1 /dev/mem | grep -c .",),
    "shadow": ("cat /etc/shadow",),
    "mount": ("unshare -rm mount -t tmpfs none /mnt",),
}
_ANSWER = """python3 -c 'import os, socket
for file in range(3, 64):
    try:
        answer = socket.socket(fileno=file)
        answer.send(b"exit 0" + bytes([10]))
        answer.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
raise SystemExit(1)'"""
NEVER = {
    "answers-for-the-launcher": (_ANSWER,),
    "open-descriptors": ("test $(ls /proc/self/fd | wc -l) -gt 4",),
    "environment-of-the-launcher": ("tr '\\0' '\\n' </proc/$PPID/environ",),
    "capabilities": ("grep -q 'CapBnd:.0000000000000000' /proc/self/status && exit 1",),
    "new-rights": ("grep -q 'NoNewPrivs:.1' /proc/self/status && exit 1",),
    "terminal": ("echo x >/dev/tty",),
}
LEAVES = {
    "session": ("setsid sleep {marker} & exit 0",),
    "daemon": ("(setsid sh -c 'sleep {marker} & sleep {marker}' &) ; exit 0",),
    "ignores-the-end": ("trap '' TERM HUP INT; nohup sleep {marker} & exit 0",),
    "namespace": ("unshare -r setsid sleep {marker} & sleep 0.2; exit 0",),
}


def test_modes_are_out_of_reach_where_homes_are_private(world: World) -> None:
    if HIGHEST < "L2" or ContainedShell({"PATH": os.environ["PATH"]}).gaps:
        pytest.skip("this user may not mount")
    before = world.content()
    run(world, "L2", "chmod 777 {home}/.ssh; touch -d 2001-01-01 {home}/.ssh")
    assert world.content() == before


def require(level: str) -> None:
    if level[:2] > HIGHEST:
        pytest.skip(f"this kernel keeps {HIGHEST}")


@pytest.mark.parametrize(("level", "held", "scripts"), attacks(WRITES, held="L2"))
def test_nothing_outside_is_written(
    world: World, level: str, *, held: bool, scripts: tuple[str, ...]
) -> None:
    require(level)
    before = world.content()
    run(world, level, *scripts)
    assert (world.content() == before) is held


@pytest.mark.parametrize(("level", "held", "scripts"), attacks(READS, held="L2"))
def test_no_secret_is_read(
    world: World, level: str, *, held: bool, scripts: tuple[str, ...]
) -> None:
    require(level)
    _, printed = run(world, level, *scripts)
    assert (CANARY not in printed) is held


@pytest.mark.parametrize(("level", "held", "scripts"), attacks(REACHES, held="L2"))
def test_no_process_outside_is_reached(
    world: World, level: str, *, held: bool, scripts: tuple[str, ...]
) -> None:
    require(level)
    codes, _ = run(world, level, *scripts)
    assert (codes != [0]) is held


@pytest.mark.parametrize(
    ("level", "held", "scripts"),
    [*attacks(NEVER, held="L1"), *attacks(CLOSED, held="L2", levels=["L2"])],
)
def test_what_is_not_there_is_not_reached(
    world: World, level: str, *, held: bool, scripts: tuple[str, ...]
) -> None:
    require(level)
    codes, printed = run(world, level, *scripts)
    assert CANARY not in printed
    assert (codes != [0]) is held


@pytest.mark.parametrize(("level", "held", "scripts"), attacks(LEAVES, held="L1"))
def test_no_process_is_left(
    world: World, level: str, *, held: bool, scripts: tuple[str, ...]
) -> None:
    require(level)
    assert run(world, level, *scripts)[0] == [0 if held else -signal.SIGKILL]
