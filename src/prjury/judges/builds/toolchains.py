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

#: What a tool's directories are called in the caches of setup actions, and its program.
_TOOLS = {
    "java": ("Java_*", "java"),
    "node": ("node", "node"),
    "python": ("Python", "python3"),
    "go": ("go", "go"),
    "ruby": ("Ruby", "ruby"),
    "php": ("php", "php"),
}


_SHOWN = {"java": "JDK", "node": "Node", "python": "Python", "go": "Go", "rust": "Rust",
          "ruby": "Ruby", "php": "PHP", "dotnet": ".NET"}  # fmt: skip


def name_tool(tool: str) -> str:
    """The name of a tool in a sentence."""
    return _SHOWN.get(tool, tool)


class WantedVersion(Struct, frozen=True):
    """A version that a file asks for.

    Attributes:
        version: as written.
        origin: the file, or the job of the base's CI.
        kind: a pin for version managers, what the CI sets up, or the range that a manifest needs.
    """

    tool: str
    version: str
    origin: str
    kind: str

    @property
    def span(self) -> VersionSpan | None:
        """The versions that a manifest allows, without an upper end where a newer one may do.

        A JDK compiles for older releases as well, and npm only warns.
        """
        span = read_span(self.version, "runtime", self.tool)
        return VersionSpan(span.low) if span and self.tool in {"java", "node"} else span

    @property
    def text(self) -> str:
        """It in a sentence."""
        return f"{name_tool(self.tool)} {visible(self.version)}"


class Toolchain(Struct, frozen=True):
    """One version of a tool.

    Attributes:
        home: its directory, with ``bin`` below it.
        source: who brought it; a few words.
        current: whether it is the one that PATH finds anyway.
    """

    tool: str
    version: Numbers
    home: Path
    source: str
    current: bool = False

    def environment(self, home: str, path: str) -> Mapping[str, str]:
        """The variables by which steps find it.

        Args:
            home: its directory, as it is written in them.
            path: where programs are looked for besides.
        """
        env = {"PATH": f"{home}/bin{os.pathsep}{path}"}
        return {**env, "JAVA_HOME": home} if self.tool == "java" else env


class Toolchains(Struct, frozen=True, dict=True):
    """What is installed.

    Attributes:
        environ: the environment of steps.
        root: of the file system.
    """

    environ: Mapping[str, str]
    root: Path = Path("/")

    @property
    def path(self) -> str:
        """Tell where steps look for programs."""
        return self.environ.get("PATH", os.defpath)

    def has(self, program: str) -> bool:
        """Tell whether a program is on PATH."""
        return shutil.which(program, path=self.path) is not None

    def of(self, tool: str) -> tuple[Toolchain, ...]:
        """All versions of a tool, each home once: the current one first, then the newest."""
        return self._by_tool.get(tool, ())

    def distance(self, tool: str, wanted: str) -> float:
        """Tell how far a wanted version is: 0 for the current one, little for another that is here.

        Else the releases between it and the nearest one that is here.
        """
        numbers, toolchains = release(wanted), self.of(tool)
        if numbers is None or not toolchains:
            return 1.0 if wanted.startswith("old") else 0.0
        fitting = [one for one in toolchains if fits(one, numbers)]
        if fitting:
            return 0.0 if fitting[0].current else 0.1
        return 1 + min(_releases_between(numbers, one.version) for one in toolchains)

    @cached_property
    def _by_tool(self) -> Mapping[str, tuple[Toolchain, ...]]:
        return {tool: tuple(self._list(tool)) for tool in _TOOLS}

    def _list(self, tool: str) -> Iterator[Toolchain]:
        seen = set[Path]()
        current = self._find_current(tool)
        homes = ((source, home, _version_of(tool, home)) for source, home in self._homes(tool))
        others = [Toolchain(tool, version, home, source) for source, home, version in homes
                  if version and home.is_dir()]  # fmt: skip
        others.sort(key=lambda one: one.version, reverse=True)
        for one in [current, *others] if current else others:
            if one.home.resolve() not in seen:
                seen.add(one.home.resolve())
                yield one

    def _find_current(self, tool: str) -> Toolchain | None:
        home = Path(self.environ.get("JAVA_HOME", "")) if tool == "java" else Path()
        if home.is_absolute() and (version := _version_of(tool, home)):
            return Toolchain(tool, version, home, "JAVA_HOME", current=True)
        program = next(filter(Path.is_file, self._list_programs(tool)), None)
        if program is None:
            return None
        real = program.resolve()
        version = _version_in(real.name) or _version_of(tool, real.parent.parent)
        home = (real if tool == "java" else program).parent.parent
        return Toolchain(tool, version, home, "PATH", current=True) if version else None

    def _list_programs(self, tool: str) -> Iterator[Path]:
        """The programs of that name on PATH; for pyenv's stand-in the one that it starts."""
        for place in self.path.split(os.pathsep):
            program = Path(place, _TOOLS[tool][1])
            if program.parent.name == "shims" and tool == "python" and program.is_file():
                root = Path(self.environ.get("PYENV_ROOT", ""))
                chosen = self.environ.get("PYENV_VERSION") or _text(root / "version")
                for name in chosen.replace(":", " ").split():
                    yield root / "versions" / name / "bin/python3"
            yield program

    def _homes(self, tool: str) -> Iterator[tuple[str, Path]]:
        environ = self.environ
        if tool == "java":
            names = sorted(name for name in environ if name.startswith("JAVA_HOME_"))
            yield from ((name, Path(environ[name])) for name in names)
        for source, place, pattern in (
            (f"setup-{tool}", environ.get("RUNNER_TOOL_CACHE", ""), f"{_TOOLS[tool][0]}/*/*"),
            ("mise", environ.get("MISE_DATA_DIR", ""), f"installs/{tool}/*"),
            ("pyenv", environ.get("PYENV_ROOT", "") * (tool == "python"), "versions/*"),
            ("uv", environ.get("UV_PYTHON_INSTALL_DIR", "") * (tool == "python"), "cpython-*"),
            ("nvm", environ.get("NVM_DIR", "") * (tool == "node"), "versions/node/*"),
            ("SDKMAN", environ.get("SDKMAN_DIR", "") * (tool == "java"), "candidates/java/*"),
            ("/usr/lib/jvm", str(self.root / "usr/lib/jvm") * (tool == "java"), "*"),
        ):
            if place and Path(place).is_absolute():
                yield from ((source, home) for home in sorted(Path(place).glob(pattern)))


def _releases_between(one: Numbers, other: Numbers) -> float:
    first, second = ((*numbers, 0, 0)[:2] for numbers in (one, other))
    return abs(first[0] - second[0]) * 100 + abs(first[1] - second[1])


def fits(toolchain: Toolchain, wanted: Numbers) -> bool:
    """Tell whether it is the wanted release; patch levels differ, of Java and Node minors too."""
    deep = 1 if toolchain.tool in {"java", "node"} else 2
    if toolchain.tool == "java" and wanted[:1] == (1,):
        wanted = wanted[1:]
    return toolchain.version[: min(deep, len(wanted))] == wanted[:deep]


def _version_of(tool: str, home: Path) -> Numbers | None:
    if tool == "java":
        for line in _text(home / "release").splitlines():
            if line.startswith("JAVA_VERSION="):
                return release(line.partition("=")[2].strip('"').removeprefix("1."))
    if tool == "node":
        header = _text(home / "include/node/node_version.h").splitlines()
        marks = tuple(f"#define NODE_{part}_VERSION " for part in ("MAJOR", "MINOR", "PATCH"))
        parts = [line.split()[-1] for line in header if line.startswith(marks)]
        if parts and all(map(str.isdigit, parts)):
            return tuple(map(int, parts))
    if tool == "go" and (text := _text(home / "VERSION")).startswith("go"):
        return release(text.removeprefix("go"))
    return _version_in(home.name) or _version_in(home.parent.name)


def _version_in(name: str) -> Numbers | None:
    """The version in a name such as ``temurin-23.0.1``, ``v22.4.0`` or ``python3.12``."""
    for part in name.split("-"):
        numbers = release(part.lstrip(ascii_letters))
        if numbers and len(numbers) > 1:
            return numbers
    return None


def _text(file: Path) -> str:
    try:
        with file.open(encoding="utf-8", errors="replace") as opened:
            return opened.read(8_000)
    except OSError:
        return ""
