"""The versions of tools that this machine has, found in files; nothing is run."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from string import ascii_letters

from msgspec import Struct

from prjury.manifests.spans import Numbers, VersionSpan, read_span, release
from prjury.snapshot.model import visible

#: The directories of a tool in the caches of setup actions, its program, its name in a sentence.
TOOLS = {
    "java": ("Java_*", "java", "JDK"),
    "node": ("node", "node", "Node"),
    "python": ("Python", "python3", "Python"),
    "go": ("go", "go", "Go"),
    "ruby": ("Ruby", "ruby", "Ruby"),
    "php": ("php", "php", "PHP"),
}
#: Who brings versions besides: his variable, the tool if it is one, and where they lie.
_BRINGERS = (
    ("mise", "MISE_DATA_DIR", "", "installs/{}/*"),
    ("pyenv", "PYENV_ROOT", "python", "versions/*"),
    ("uv", "UV_PYTHON_INSTALL_DIR", "python", "cpython-*"),
    ("nvm", "NVM_DIR", "node", "versions/node/*"),
    ("SDKMAN", "SDKMAN_DIR", "java", "candidates/java/*"),
)


def name_tool(tool: str) -> str:
    """The name of a tool in a sentence."""
    return TOOLS[tool][2] if tool in TOOLS else {"rust": "Rust", "dotnet": ".NET"}.get(tool, tool)


class WantedVersion(Struct, frozen=True):
    """A version that a file pins, the CI sets up, or a manifest allows (its kind: range)."""

    tool: str
    version: str
    origin: str
    kind: str

    @property
    def span(self) -> VersionSpan | None:
        """The versions that a manifest allows; newer JDKs compile for older, and npm only warns."""
        span = read_span(self.version, "runtime", self.tool)
        return VersionSpan(span.low) if span and self.tool in {"java", "node"} else span

    @property
    def text(self) -> str:
        """It in a sentence."""
        return f"{name_tool(self.tool)} {visible(self.version)}"


class Toolchain(Struct, frozen=True):
    """One version of a tool, its directory, and who brought it; the current one is on PATH."""

    tool: str
    version: Numbers
    home: Path
    source: str
    current: bool = False

    def environment(self, home: str, path: str) -> Mapping[str, str]:
        """The variables by which steps find it; both places as they are written in them."""
        env = {"PATH": f"{home}/bin{os.pathsep}{path}"}
        return {**env, "JAVA_HOME": home} if self.tool == "java" else env

    def fits(self, version: Numbers) -> bool:
        """Tell whether it is that release; patch levels differ, of Java and Node minors too."""
        deep = 1 if self.tool in {"java", "node"} else 2
        if self.tool == "java" and version[:1] == (1,):
            version = version[1:]
        return self.version[: min(deep, len(version))] == version[:deep]


class Toolchains(Struct, frozen=True, dict=True):
    """The tools that steps with this environment find below a root of the file system."""

    environ: Mapping[str, str]
    root: Path = Path("/")

    @property
    def path(self) -> str:
        """The places where steps look for programs."""
        return self.environ.get("PATH", os.defpath)

    def has(self, program: str) -> bool:
        """Tell whether a program is on PATH."""
        return shutil.which(program, path=self.path) is not None

    def of(self, tool: str) -> tuple[Toolchain, ...]:
        """All versions of a tool, each home once: the current one first, then the newest."""
        return self._by_tool.get(tool, ())

    def distance(self, tool: str, wanted: str) -> float:
        """The releases between a version and the nearest here; 0 for the current one."""
        numbers, toolchains = release(wanted), self.of(tool)
        if numbers is None or not toolchains:
            return 1.0 if wanted.startswith("old") else 0.0
        for toolchain in toolchains:
            if toolchain.fits(numbers):
                return 0.0 if toolchain.current else 0.1
        return 1 + min(_count_releases(numbers, one.version) for one in toolchains)

    @cached_property
    def _by_tool(self) -> Mapping[str, tuple[Toolchain, ...]]:
        return {tool: tuple(self._list_toolchains(tool)) for tool in TOOLS}

    def _list_toolchains(self, tool: str) -> Iterator[Toolchain]:
        current, others = self._find_current(tool), []
        for source, home in self._list_homes(tool):
            version = _read_version(tool, home)
            if version and home.is_dir():
                others.append(Toolchain(tool, version, home, source))
        others.sort(key=lambda one: one.version, reverse=True)
        homes = set[Path]()
        for one in [current, *others] if current else others:
            if one.home.resolve() not in homes:
                homes.add(one.home.resolve())
                yield one

    def _find_current(self, tool: str) -> Toolchain | None:
        home = Path(self.environ.get("JAVA_HOME", "")) if tool == "java" else Path()
        if home.is_absolute() and (version := _read_version(tool, home)):
            return Toolchain(tool, version, home, "JAVA_HOME", current=True)
        program = next(filter(Path.is_file, self._list_programs(tool)), None)
        if program is None:
            return None
        real = program.resolve()
        version = _version_in(real.name) or _read_version(tool, real.parent.parent)
        home = (real if tool == "java" else program).parent.parent
        return Toolchain(tool, version, home, "PATH", current=True) if version else None

    def _list_programs(self, tool: str) -> Iterator[Path]:
        """The programs of that name on PATH; for pyenv's stand-in the one that it starts."""
        for place in self.path.split(os.pathsep):
            program = Path(place, TOOLS[tool][1])
            if program.parent.name == "shims" and tool == "python" and program.is_file():
                root = Path(self.environ.get("PYENV_ROOT", ""))
                chosen = self.environ.get("PYENV_VERSION") or _read_start(root / "version")
                for name in chosen.replace(":", " ").split():
                    yield root / "versions" / name / "bin/python3"
            yield program

    def _list_homes(self, tool: str) -> Iterator[tuple[str, Path]]:
        environ = self.environ
        if tool == "java":
            names = sorted(name for name in environ if name.startswith("JAVA_HOME_"))
            yield from ((name, Path(environ[name])) for name in names)
        cache = (f"setup-{tool}", "RUNNER_TOOL_CACHE", "", f"{TOOLS[tool][0]}/*/*")
        for source, variable, only, pattern in (cache, *_BRINGERS):
            place = Path(environ.get(variable, ""))
            if only in {"", tool} and place.is_absolute():
                yield from ((source, home) for home in sorted(place.glob(pattern.format(tool))))
        if tool == "java":
            homes = sorted((self.root / "usr/lib/jvm").glob("*"))
            yield from (("/usr/lib/jvm", home) for home in homes)


def _count_releases(one: Numbers, other: Numbers) -> float:
    first, second = ((*numbers, 0, 0)[:2] for numbers in (one, other))
    return abs(first[0] - second[0]) * 100 + abs(first[1] - second[1])


def _read_version(tool: str, home: Path) -> Numbers | None:
    if tool == "java":
        for line in _read_start(home / "release").splitlines():
            if line.startswith("JAVA_VERSION="):
                return release(line.partition("=")[2].strip('"').removeprefix("1."))
    if tool == "node":
        header = _read_start(home / "include/node/node_version.h").splitlines()
        marks = tuple(f"#define NODE_{part}_VERSION " for part in ("MAJOR", "MINOR", "PATCH"))
        parts = [line.split()[-1] for line in header if line.startswith(marks)]
        if parts and all(map(str.isdigit, parts)):
            return tuple(map(int, parts))
    if tool == "go" and (text := _read_start(home / "VERSION")).startswith("go"):
        return release(text.removeprefix("go"))
    return _version_in(home.name) or _version_in(home.parent.name)


def _version_in(name: str) -> Numbers | None:
    for part in name.split("-"):
        numbers = release(part.lstrip(ascii_letters))
        if numbers and len(numbers) > 1:
            return numbers
    return None


def _read_start(file: Path) -> str:
    try:
        with file.open(encoding="utf-8", errors="replace") as opened:
            return opened.read(8_000)
    except OSError:
        return ""
