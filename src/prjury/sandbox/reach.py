"""What a program of a change may read and write where the kernel can hold it to that (level L2)."""

from __future__ import annotations

import contextlib
import os
import pwd
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from prjury.errors import CannotJudgeError
from prjury.sandbox.held import launch
from prjury.sandbox.launcher import Request
from prjury.sandbox.walls import LEAST_VERSION, VERSION_WITH_SCOPES, Layer, Walls
from prjury.scratch import scratch

#: Nothing in them is for a build, unless a variable that builds get says otherwise.
_PRIVATE_PLACES = (
    "/root /home /tmp /var/tmp /dev /run/user /run/secrets /etc/shadow /etc/shadow- /etc/gshadow "
    "/etc/gshadow- /etc/sudoers /etc/sudoers.d /etc/ssl/private /var/run/secrets"
).split()
_PRIVATE_VARIABLES = (
    "HOME TMPDIR XDG_CONFIG_HOME XDG_RUNTIME_DIR RUNNER_TEMP RUNNER_WORKSPACE GITHUB_WORKSPACE"
).split()
#: Credentials and files of ours, below HOME, that lie in directories which are lent.
_SECRETS = (
    ".m2/settings.xml .m2/settings-security.xml .cargo/credentials .cargo/credentials.toml "
    ".gradle/gradle.properties .gradle/init.gradle .gradle/init.d .local/state "
    ".local/share/keyrings .local/share/containers .cache/prjury .config .ssh .docker .aws "
    ".azure .kube .gnupg .netrc .npmrc .pypirc .yarnrc.yml .git-credentials .bundle "
    ".composer/auth.json"
).split()
#: Directories of programs, which need what lies beside them.
_PROGRAMS = frozenset({"bin", ".bin", "sbin", "shims", "scripts", "cmd"})
#: Private to each run where this user may mount.
_TEMPORARY = {"/tmp": "tmp", "/var/tmp": "tmp", "/dev/shm": "shm", "/run/user": "run"}  # noqa: S108 - the places, not files in them


@dataclass(frozen=True)
class Powers:
    """What this kernel grants: a version of Landlock (0: no walls), and private mounts."""

    version: int = 0
    mounts: bool = False

    @property
    def level(self) -> str:
        """The highest level that can be kept."""
        if sys.platform != "linux":
            return "L0"
        return "L2" if self.version >= LEAST_VERSION else "L1"

    @property
    def gaps(self) -> tuple[str, ...]:
        """Ways out that stay open at level L2."""
        signals = () if self.version >= VERSION_WITH_SCOPES else ("signals to your processes",)
        return signals if self.mounts else (*signals, "sockets of services, shared memory")


@dataclass(frozen=True)
class Reach:
    """The bounds of programs: ``environ`` is the operator's, ``variables`` are what they get.

    They expect to write into ``lent_places`` of the operator; the secrets in ``lent`` may be read.
    """

    environ: Mapping[str, str]
    variables: Mapping[str, str]
    lent_places: Sequence[str]
    hidden: Sequence[str] = ()
    lent: frozenset[str] = frozenset()

    def prepare_walls(
        self,
        roots: Iterable[Path],
        readable: Iterable[Path] = (),
        sides: Path | None = None,
        *,
        layered: bool = False,
    ) -> Walls:
        """Make the walls of a program; ``sides`` is for its private directories and layers."""
        hidden = sorted(self._hidden_paths)
        walls: Walls = {
            "writable": sorted({str(root) for root in roots}),
            "hidden": hidden,
            "readable": [*self._readable_paths, *map(str, readable)],
            "mounts": sides is not None,
            "private": {},
            "layers": [],
        }
        if sides is None:
            return walls
        for place, name in (_TEMPORARY | dict.fromkeys(_find_homes(), "home")).items():
            if Path(place).is_dir() and os.path.realpath(place) == place:
                (sides / name).mkdir(exist_ok=True)
                walls["private"][place] = str(sides / name)
        if layered:
            walls["readable"] = [path for path in walls["readable"] if path not in self.lent_places]
            walls["layers"] = [
                _prepare_overlay(place, sides / "layers" / str(number), hidden)
                for number, place in enumerate(self.lent_places)
            ]
        return walls

    @cached_property
    def _readable_paths(self) -> list[str]:
        paths = {*self._find_tool_paths(), *self.lent_places}
        below = [path for path in paths if _is_below(path, self._hidden_paths)]
        return sorted(path for path in below if not _is_below(path, paths))

    @cached_property
    def _secrets(self) -> frozenset[str]:
        homes = {*_find_homes(), self.environ.get("HOME", "/")}
        paths = {f"{home}/{secret}" for home in homes for secret in _SECRETS}
        return frozenset(map(os.path.realpath, paths - self.lent))

    @cached_property
    def _hidden_paths(self) -> frozenset[str]:
        places = [*_PRIVATE_PLACES, *_find_homes(), *self.hidden, tempfile.gettempdir()]
        places += [self.environ.get(name, "") for name in _PRIVATE_VARIABLES]
        for variable in ("XDG_STATE_HOME", "XDG_CACHE_HOME"):
            if self.environ.get(variable):
                places.append(f"{self.environ[variable]}/prjury")
        paths = {os.path.realpath(place) for place in places if place.startswith("/")}
        return self._secrets | (paths - {"/"})

    def _find_tool_paths(self) -> Iterator[str]:
        """Yield what the variables name, and what lies beside programs, but nothing with a home."""
        closed = self._hidden_paths - self._secrets
        for value in (*self.variables.values(), sys.prefix, sys.base_prefix, _OWN_PACKAGE):
            for part in filter(os.path.isabs, value.split(os.pathsep)):
                for path in {part, os.path.realpath(part)}:
                    around, _, name = path.rpartition("/")
                    if name.lower() in _PROGRAMS and not _contains(around, closed):
                        yield around
                    if os.path.lexists(path) and not _contains(path, closed):
                        yield path


_OWN_PACKAGE = str(Path(__file__).resolve().parents[1])


def _find_homes() -> list[str]:
    with contextlib.suppress(KeyError):
        return [pwd.getpwuid(os.getuid()).pw_dir]
    return []


def _is_below(path: str, hidden: Iterable[str]) -> bool:
    return any(path.startswith(f"{each}/") for each in hidden)


def _contains(path: str, hidden: Iterable[str]) -> bool:
    return any(each == path or each.startswith(f"{path.rstrip('/')}/") for each in hidden)


def _prepare_overlay(place: str, around: Path, hidden: Iterable[str]) -> Layer:
    """Make the directories of a layer, in which secrets of the lower one are gone."""
    upper = around / "upper"
    if not upper.exists():
        upper.mkdir(parents=True)
        for secret in hidden:
            if secret.startswith(f"{place}/") and os.path.lexists(secret):
                mask = upper / secret.removeprefix(f"{place}/")
                mask.parent.mkdir(parents=True, exist_ok=True)
                with contextlib.suppress(OSError):
                    os.mknod(mask, stat.S_IFCHR)  # what an overlay takes for a deleted file
    return {"place": place, "upper": str(upper), "work": tempfile.mkdtemp(dir=around)}


@cache
def probe_kernel() -> Powers:
    """Try once, in a process of its own and in an empty directory, what the kernel grants."""
    if sys.platform != "linux":
        return Powers()
    with scratch() as around:
        sides, own, lower, outside = (around / name for name in ("sides", "own", "lower", "out"))
        for directory in (sides, own, lower):
            directory.mkdir()
        outside.touch()
        reach = Reach({}, {}, [str(lower)])
        for place in (sides, None):
            walls = reach.prepare_walls([own], (), place, layered=True)
            if version := _probe_walls_for_version(walls, outside):
                return Powers(version, place is not None)
    return Powers()


def _probe_walls_for_version(walls: Walls, outside: Path) -> int:
    probe = Request(argv=[], directory=str(outside), env={}, limit=0, network=True, walls=walls)
    with tempfile.TemporaryFile() as log, contextlib.suppress(CannotJudgeError):
        running = launch(probe, log.fileno())
        with running.channel:
            word, version = running.receive_message(10.0) or ("", 0)
        return version if word == "walls" else 0
    return 0
