"""The shell that runs what a pull request brings along."""

from __future__ import annotations

import contextlib
import functools
import itertools
import re
import shutil
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.ports import Progress
from prjury.ports.types import Completed, ShellCommand
from prjury.sandbox.caches import copy_caches, map_credential_files
from prjury.sandbox.environment import (
    limit_java,
    list_writable_places,
    make_allowed_environment,
    make_caches,
    make_home_variables,
    withheld,
)
from prjury.sandbox.launcher import Request
from prjury.sandbox.reach import Powers, Reach, probe_kernel
from prjury.sandbox.run import Limits, ProcessRun
from prjury.sandbox.walls import Walls
from prjury.scratch import scratch
from prjury.state_directory import make_private_directory

#: How the directories of logs begin; no judgment names any other file to be kept.
LOGS = "prjury-logs-"
_OWN_PREFIX = Path(sys.prefix) if sys.prefix != sys.base_prefix else None


@dataclass(eq=False)
class _ScratchPlace:
    """A scratch directory of programs, and beside it what they reach through mounts alone."""

    place: Path
    sides: Path
    layers: threading.Lock = field(default_factory=threading.Lock)
    filled: set[tuple[str, str]] = field(default_factory=set)


class ContainedShell:
    """Runs programs that are not trusted (`prjury.ports.Shell`).

    Level L1: an environment by an allow-list, a fresh HOME and TMPDIR, no input, no terminal and no
    further rights; all descendants end with it, at a limit, or when this process dies. L2, by
    Landlock: it writes into its scratch directory alone, reads no credentials and reaches no
    process outside; caches are lent under a layer, or copied. L0, without Linux: only the process
    group is ended. ``own_prefix`` is our own virtual environment, kept off the PATH.
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
        hidden: Sequence[Path] = (),
        lend: Sequence[str] = (),
        powers: Powers | None = None,
        before: Callable[[], None] | None = None,
    ) -> None:
        self._environ = dict(environ)
        self._extra = tuple(extra_env)
        self._wanted = level
        self._network = network
        self._limits = limits or Limits()
        self._own_prefix = own_prefix or _OWN_PREFIX
        self._hidden = tuple(map(str, hidden))
        self._given_powers = powers
        self.lent = tuple(lend)
        self._before = before
        self._numbers = itertools.count(1)
        self._scratches: dict[Path, _ScratchPlace] = {}

    def run(self, command: ShellCommand, deadline: Deadline, progress: Progress) -> Completed:
        """Run to the end or to a limit, or raise CannotJudgeError; no process of it is left."""
        self._require_level()
        command = replace(command, directory=command.directory.absolute())
        argv = ["/bin/sh", "-c", command.argv] if isinstance(command.argv, str) else command.argv
        if self._before:
            self._before()
        with contextlib.ExitStack() as stack:
            env = dict(command.env)
            for name in {"HOME", "TMPDIR"} - env.keys():
                env[name] = str(stack.enter_context(self._register_scratch(scratch())))
            own_home = self._find_scratch(env["HOME"]) is not None
            self._copy_credentials_once(env["HOME"])
            request: Request = {
                "argv": list(argv),
                "directory": str(command.directory),
                "env": {**env, **(make_home_variables(env) if self._copies and own_home else {})},
                "limit": command.output_limit,
                "network": self._network,
                "walls": stack.enter_context(self._make_walls(command, env)),
            }
            run = ProcessRun(
                request,
                functools.partial(self._new_log, argv),
                self._limits,
                own_home,
                scratches=sorted({place.parent for place in self._list_scratches(command, env)}),
            )
            return run.execute(deadline, progress)

    @contextlib.contextmanager
    def _make_walls(self, command: ShellCommand, env: Mapping[str, str]) -> Iterator[Walls | None]:
        # A scratch directory's layers are for one program at a time.
        if self.level != "L2":
            yield None
            return
        home = self._find_scratch(env["HOME"])
        roots = set(self._list_scratches(command, env))
        outside = command.writable or [command.directory]  # a name inside may have become a link
        roots |= {place for place in outside if self._find_scratch(str(place)) is None}
        sides = home.sides if home and self._powers.mounts else None
        layered = bool(sides and home and home.layers.acquire(blocking=False))
        try:
            yield self._reach.prepare_walls(roots, command.readable, sides, layered=layered)
        finally:
            if home and layered:
                home.layers.release()

    def _copy_credentials_once(self, home: str) -> None:
        place = self._find_scratch(home)
        if place and (home, "lent") not in place.filled:
            place.filled.add((home, "lent"))
            for source, below in map_credential_files(self._environ, self.lent).items():
                target = Path(home, below)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)
                target.chmod(stat.S_IRUSR)

    @functools.cached_property
    def _reach(self) -> Reach:
        environment = self.environment()
        lent = frozenset(map(str, map_credential_files(self._environ, self.lent)))
        make_caches(environment)
        places = list_writable_places(environment)
        return Reach(self._environ, environment, places, self._hidden, lent)

    @functools.cached_property
    def _powers(self) -> Powers:
        return self._given_powers or probe_kernel()

    @property
    def _copies(self) -> bool:
        return self.level == "L2" and not self._powers.mounts

    def _list_scratches(self, command: ShellCommand, env: Mapping[str, str]) -> list[Path]:
        paths = (str(command.directory), env["HOME"], env["TMPDIR"])
        return [each.place for each in map(self._find_scratch, paths) if each]

    def _find_scratch(self, path: str) -> _ScratchPlace | None:
        for place, scratch_place in tuple(self._scratches.items()):
            if f"{path}/".startswith(f"{place}/"):
                return scratch_place
        return None

    def environment(self, extra: Sequence[str] = ()) -> Mapping[str, str]:
        """Return the environment of programs, without HOME and TMPDIR, which `run` makes."""
        return {  # a quarter of twice the limit is half of it: the rest is for the tests
            **limit_java(2 * self._limits.memory),
            **make_allowed_environment(
                self._environ,
                (*self._extra, *extra),
                self._own_prefix,
                caches=not self._copies,
            ),
        }

    def copy_caches(self, programs: Collection[str], home: Path) -> None:
        """Copy what these programs have downloaded for the operator into a HOME, once."""
        place = self._find_scratch(str(home))
        if place and (str(home), "caches") not in place.filled:  # later, links could be there
            place.filled.add((str(home), "caches"))
            copy_caches(self._environ, programs, home, with_lendable=self._copies)

    @property
    def withheld(self) -> Sequence[str]:
        """The names that are not handed on, because credentials may be in their addresses."""
        return withheld(self._environ, self._extra)

    def which(self, program: str) -> str | None:
        """The path of a program on that environment's PATH; None if it is not there."""
        return shutil.which(program, path=self.environment()["PATH"])

    def scratch(self) -> contextlib.AbstractContextManager[Path]:
        """Make a directory for programs to work in, which another program removes."""
        return self._register_scratch(scratch(later=True))

    @contextlib.contextmanager
    def _register_scratch(self, made: contextlib.AbstractContextManager[Path]) -> Iterator[Path]:
        with made as around:
            place, beside = around / "run", around / "beside"
            place.mkdir()
            beside.mkdir()
            self._scratches[place] = _ScratchPlace(place, beside)
            try:
                yield place
            finally:
                del self._scratches[place]

    @functools.cached_property
    def level(self) -> str:
        """The level that is kept: the one that is wanted, or the highest that works here."""
        most = "L2" if self._wanted == "auto" else max(self._wanted, "L1")
        return min(self._powers.level, most)

    @property
    def gaps(self) -> Sequence[str]:
        """Ways out that are open at this level here; noun phrases."""
        return self._powers.gaps if self.level == "L2" else ()

    def _require_level(self) -> None:
        if self._wanted != "auto" and self._wanted > self.level:
            raise CannotJudgeError(
                f"the sandbox level {self._wanted} is required and only {self.level} can be kept",
                why="L2 needs Landlock, which Linux has since 6.2 and some containers forbid",
                remedy="set `sandbox: {level: auto}`, or run where the level can be had",
                reason="sandbox_unavailable",
            )

    def _new_log(self, argv: Sequence[str]) -> Path:
        name = re.sub(r"[^A-Za-z0-9]+", "-", Path(argv[0]).name).strip("-") or "program"
        self._swept_logs.mkdir(mode=0o700, parents=True, exist_ok=True)  # a program removed it
        place = Path(tempfile.mkdtemp(prefix=LOGS, dir=self._swept_logs))
        return place / f"{next(self._numbers):02d}-{name}.log"

    @functools.cached_property
    def _swept_logs(self) -> Path:
        """The place of directories of logs, without those that are older than a day."""
        own = make_private_directory(self._environ, "XDG_STATE_HOME", ".local/state")
        place = own / "logs" if own else Path(tempfile.gettempdir())
        place.mkdir(mode=0o700, exist_ok=True)
        for directory in place.glob(f"{LOGS}*"):
            with contextlib.suppress(OSError):
                if directory.lstat().st_mtime < time.time() - 86_400:
                    shutil.rmtree(directory)
        return place
