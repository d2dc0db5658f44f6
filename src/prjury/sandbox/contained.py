"""The shell that runs what a pull request brings along."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.ports import Progress, SilentProgress
from prjury.ports.types import Completed, ShellCommand
from prjury.sandbox import launcher
from prjury.sandbox.environment import (
    allowed,
    is_refused,
    machine_memory,
    smaller_machine,
    withheld,
)
from prjury.sandbox.run import Limits, ProcessRun
from prjury.scratch import scratch
from prjury.state_directory import private_directory

#: How the directories of logs begin; no judgment names any other file to be kept.
LOGS = "prjury-logs-"
_CACHES = {
    "pnpm": (".local/share/pnpm/store", ".cache/pnpm"),
    "yarn": (".cache/yarn", ".yarn/berry/cache"),
    "bun": (".bun/install/cache",),
    "deno": (".cache/deno",),
    "poetry": (".cache/pypoetry/cache", ".cache/pypoetry/artifacts"),
    "pdm": (".cache/pdm",),
    "pipenv": (".cache/pipenv",),
    "composer": (".cache/composer", ".composer/cache"),
    "mix": (".hex/packages", ".mix/archives", ".mix/elixir"),
}
_MOVED = {".cache/": "XDG_CACHE_HOME", ".local/share/": "XDG_DATA_HOME"}
_MOST_FILES, _MOST_BYTES = 60_000, 1 << 30
_SECONDS = 60


def copy_caches(
    environ: Mapping[str, str],
    programs: Collection[str],
    home: Path,
    most_files: int = _MOST_FILES,
) -> None:
    """Copies what these programs have downloaded for the operator into a fresh HOME.

    What is already there stays; what is too large, or cannot be read, is left out.

    Args:
        most_files: files and directories that a cache may have.
    """
    for program in sorted(_CACHES.keys() & programs):
        for below in _CACHES[program]:
            source, target = _place(environ, below), home / below
            if source and source.is_dir() and not target.exists() and _is_small(source, most_files):
                _copy(source, target)


def _place(environ: Mapping[str, str], below: str) -> Path | None:
    for start, variable in _MOVED.items():
        if below.startswith(start) and environ.get(variable):
            return Path(environ[variable], below.removeprefix(start))
    return Path(environ["HOME"], below) if environ.get("HOME") else None


def _is_small(directory: Path, most_files: int) -> bool:
    size = 0
    for files, entry in enumerate(_entries(directory), 1):
        size += entry.stat(follow_symlinks=False).st_blocks * 512
        if files > most_files or size > _MOST_BYTES:
            return False
    return True


def _entries(directory: Path) -> Iterator[os.DirEntry[str]]:
    waiting = [str(directory)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as listing:
                entries = list(listing)
        except OSError:
            continue
        waiting.extend(entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
        yield from entries


def _copy(source: Path, target: Path) -> None:
    """Copies with ``cp``, which shares blocks where the file system can; links stay links."""
    if not (program := shutil.which("cp", path=os.defpath)):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    arguments = [program, "-RPp", "--reflink=auto", "--", str(source), str(target)]
    silent = subprocess.DEVNULL
    try:
        subprocess.run(  # noqa: S603 - a program of the system's
            arguments, check=False, timeout=_SECONDS, stdin=silent, stdout=silent, stderr=silent
        )
    except (OSError, subprocess.TimeoutExpired):
        shutil.rmtree(target, ignore_errors=True)


_ADVICE = {
    "mvn": "install Apache Maven, or commit the Maven wrapper (`mvn wrapper:wrapper`)",
    "gradle": "install Gradle, or commit the Gradle wrapper (`gradle wrapper`)",
    "java": "install a JDK and set JAVA_HOME",
    "npm": "install Node.js, which brings npm",
    "node": "install Node.js",
    "pnpm": "install pnpm (`corepack enable pnpm`)",
    "yarn": "install Yarn (`corepack enable yarn`)",
    "bun": "install Bun",
    "python3": "install Python 3",
    "uv": "install uv (`pip install uv`)",
    "tox": "install tox (`pip install tox`)",
    "pytest": "install pytest (`pip install pytest`)",
    "cargo": "install Rust (rustup)",
    "go": "install Go",
    "make": "install make",
}


def advice(program: str) -> str:
    """What to do about a missing program, as the end of a sentence."""
    other = "or name another `command` for the build judge in .github/prjury.yml"
    return f"{_ADVICE.get(program, f'install `{program}`')}, {other}"


class ContainedShell:
    """Runs programs that are not trusted (`prjury.ports.Shell`).

    A program gets an environment made from an allow-list, a fresh HOME and TMPDIR, no standard
    input and no terminal; it leads a session of its own, may not gain rights, leaves no core dumps
    and is ended with all its descendants, whatever they did to get away, when it ends itself, when
    its time is over, when it prints, forks or allocates too much, or when this process dies.

    That is level L1. It is not another user: a program can read and write what the operator can.
    On systems other than Linux only the program's process group is ended, and the level is L0.
    Build caches of the operator are shared, or copied (`copy_caches`), so that builds work offline
    and fast; a hostile build can poison them for later builds of the same user.

    Args:
        environ: the operator's environment.
        extra_env: names of further variables to hand on; those that look like secrets are refused.
        level: the least level that will do, or ``"auto"``.
        network: whether programs may use the network; without, a network namespace is required.
        limits: time to end, memory, number of processes.
        own_prefix: our own virtual environment, kept off the PATH.
        logs: where each run's log gets a directory; by default the system's temporary one.
        before: called before each program runs, while none could have changed anything.
        meanwhile: called when a program has begun, for what may be done while it runs.
    """

    def __init__(  # noqa: PLR0913 - one name for each thing that differs between programs
        self,
        environ: Mapping[str, str],
        *,
        extra_env: Sequence[str] = (),
        level: str = "auto",
        network: bool = True,
        limits: Limits | None = None,
        own_prefix: Path | None = None,
        logs: Path | None = None,
        before: Callable[[], None] | None = None,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> None:
        self._environ = dict(environ)
        self._extra = tuple(extra_env)
        self._wanted = level
        self._network = network
        self._limits = limits or Limits()
        self._own_prefix = own_prefix or _running_environment()
        self._place_for_logs = logs
        self._before = before
        self._meanwhile = meanwhile
        self._numbers = itertools.count(1)
        self._scratches: set[Path] = set()

    def run(self, command: ShellCommand, deadline: Deadline, progress: Progress) -> Completed:
        """Runs to the end or to a limit, with a fresh HOME; no process of it is left afterwards.

        Raises:
            CannotJudgeError: when the program does not exist or cannot be started, or when the
                required level is not to be had.
        """
        self._require_level()
        argv = self._argv(command)
        if self._before:
            _ = self.level  # found out by a program of ours, which could be another one afterwards
            self._before()
        with contextlib.ExitStack() as stack:
            env = dict(command.env)
            for name in {"HOME", "TMPDIR"} - env.keys():
                env[name] = str(stack.enter_context(self._own(scratch())))
            run = ProcessRun(
                argv=argv,
                directory=command.directory,
                env=env,
                log=self._new_log(argv),
                output_limit=command.output_limit,
                limits=self._limits,
                network=self._network,
                own_home=any(
                    Path(env["HOME"]).is_relative_to(made) for made in tuple(self._scratches)
                ),
            )
            return run.complete(deadline, progress, self._meanwhile)

    def ask(self, command: ShellCommand, deadline: Deadline) -> str:
        """The last lines that a short program prints; empty where it cannot be run."""
        try:
            done = self.run(command, deadline, SilentProgress())
        except CannotJudgeError:
            return ""
        try:
            return done.tail()
        finally:
            done.log.unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                done.log.parent.rmdir()

    def environment(self, extra: Sequence[str] = ()) -> Mapping[str, str]:
        """The environment that untrusted programs get: an allow-list and the named extras.

        HOME and TMPDIR are not part of it: `run` makes them, unless the caller has set them.
        """
        return {  # a quarter of twice the limit is half of it: the rest is for the tests
            **smaller_machine(machine_memory(), 2 * self._limits.memory),
            **allowed(self._environ, (*self._extra, *extra), self._own_prefix),
        }

    def copy_caches(self, programs: Collection[str], home: Path) -> None:
        """Copies what these programs have downloaded for the operator into a HOME."""
        copy_caches(self._environ, programs, home)

    @property
    def refused(self) -> tuple[str, ...]:
        """The listed names that are not handed on, because they look like secrets."""
        return tuple(name for name in self._extra if is_refused(name))

    @property
    def withheld(self) -> Sequence[str]:
        """The names that are not handed on, because credentials may be in their addresses."""
        return withheld(self._environ, self._extra)

    def which(self, program: str) -> str | None:
        """Where a program is on that environment's PATH."""
        return shutil.which(program, path=self.environment()["PATH"])

    def scratch(self) -> contextlib.AbstractContextManager[Path]:
        """A fresh directory for programs to work in, removed whatever they left in it.

        Nothing waits for that, not even the end of this process.
        """
        return self._own(scratch(later=True))

    @contextlib.contextmanager
    def _own(self, made: contextlib.AbstractContextManager[Path]) -> Iterator[Path]:
        with made as place:
            self._scratches.add(place)
            try:
                yield place
            finally:
                self._scratches.discard(place)

    @functools.cached_property
    def level(self) -> str:
        """``"L1"`` where the kernel was found to grant all of it, else ``"L0"``."""
        if sys.platform != "linux":
            return "L0"
        return "L1" if _hardening_works(self.environment()) else "L0"

    def _require_level(self) -> None:
        if self._wanted == "auto" or self._wanted <= self.level:
            return
        raise CannotJudgeError(
            f"the sandbox level {self._wanted} is required and only {self.level} can be kept",
            why="levels above L1 need an isolation that is not available",
            remedy="set `sandbox: {level: auto}`, or run where the level can be had",
            reason="sandbox_unavailable",
        )

    def _argv(self, command: ShellCommand) -> Sequence[str]:
        """The program with its arguments.

        Raises:
            CannotJudgeError: when there is no such program.
        """
        if isinstance(command.argv, str):
            return ["/bin/sh", "-c", command.argv]
        program = command.argv[0]
        local = command.directory / program
        path = command.env.get("PATH", os.defpath)
        found = local.is_file() if "/" in program else shutil.which(program, path=path)
        if found:
            return command.argv
        raise CannotJudgeError(
            f"`{program}` is not installed",
            why="the build needs it and it is not on the PATH",
            remedy=advice(program),
            reason="tool_missing",
        )

    def _new_log(self, argv: Sequence[str]) -> Path:
        """Make an empty file in a directory of its own; the caller removes both."""
        name = re.sub(r"[^A-Za-z0-9]+", "-", Path(argv[0]).name).strip("-") or "program"
        place = new_log_directory(self._environ, self._place_for_logs)
        log = place / f"{next(self._numbers):02d}-{name}.log"
        log.touch(mode=0o600, exist_ok=False)
        return log


def new_log_directory(environ: Mapping[str, str], place: Path | None = None) -> Path:
    """Make a directory for one log, and remove those that are older than a day."""
    own = None if place else private_directory(environ, "XDG_STATE_HOME", ".local/state")
    place = place or (own / "logs" if own else Path(tempfile.gettempdir()))
    place.mkdir(mode=0o700, exist_ok=True)
    for directory in place.glob(f"{LOGS}*"):
        with contextlib.suppress(OSError):
            if directory.lstat().st_mtime < time.time() - 86_400:
                shutil.rmtree(directory)
    return Path(tempfile.mkdtemp(prefix=LOGS, dir=place))


def _hardening_works(env: Mapping[str, str]) -> bool:
    probe = [sys.executable, "-I", "-S", launcher.__file__, "--probe"]
    try:
        done = subprocess.run(probe, env=env, timeout=30, check=False, capture_output=True)  # noqa: S603 - our own program
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _running_environment() -> Path | None:
    return Path(sys.prefix) if sys.prefix != sys.base_prefix else None
