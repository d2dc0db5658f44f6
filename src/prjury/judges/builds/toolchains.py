"""Versions of tools that a project wants, and those that this machine has; nothing is run."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from string import ascii_letters

from msgspec import Struct

from prjury.judges.builds.calls import TABLE
from prjury.judges.builds.source_tree import SourceTree, nearest, parents_of, path_in
from prjury.manifests.formats import VERSION_FILES, read_tool_versions
from prjury.manifests.manifest import Role
from prjury.manifests.spans import Numbers, VersionSpan, read_span, release, trim
from prjury.snapshot.model import visible

#: The directories of a tool in the caches of setup actions, its program, its name in a sentence.
TOOLS: Mapping[str, tuple[str, ...]] = {tool: tuple(row) for tool, row in TABLE["tools"].items()}
#: The tools of each family of build systems, by the name in the policy; the first one runs it.
TOOLS_OF = {family: tuple(names.split()) for family, names in TABLE["tools_of"].items()}
#: Scripts of one Gradle build that are read for the version of Java.
_MOST_SCRIPTS = 200
#: What is chosen here, and how many numbers tell its releases apart. The others choose for
#: themselves: rustup, go, Corepack.
_CHOSEN = {"java": 1, "node": 1, "python": 2}


def name_tool(tool: str) -> str:
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

    def is_in(self, span: VersionSpan) -> bool:
        version = trim(self.version)
        return span.low <= version and (span.high is None or version < span.high)


class Toolchains(Struct, frozen=True, dict=True):
    """The tools that steps with this environment find below a root of the file system."""

    environ: Mapping[str, str]
    root: Path = Path("/")

    @property
    def path(self) -> str:
        return self.environ.get("PATH", os.defpath)

    def has(self, program: str) -> bool:
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
        major, minor = (*numbers, 0)[:2]
        others = ((*toolchain.version, 0)[:2] for toolchain in toolchains)
        return 1 + min(abs(other[0] - major) * 100 + abs(other[1] - minor) for other in others)

    @cached_property
    def _by_tool(self) -> Mapping[str, tuple[Toolchain, ...]]:
        return {tool: tuple(self._list_toolchains(tool)) for tool in TOOLS}

    def _list_toolchains(self, tool: str) -> Iterator[Toolchain]:
        current, others = self._find_current_toolchain(tool), []
        for source, home in self._list_sources_and_homes(tool):
            version = _read_version(tool, home)
            if version and home.is_dir():
                others.append(Toolchain(tool, version, home, source))
        others.sort(key=lambda one: one.version, reverse=True)
        homes = set[Path]()
        for one in [current, *others] if current else others:
            if one.home.resolve() not in homes:
                homes.add(one.home.resolve())
                yield one

    def _find_current_toolchain(self, tool: str) -> Toolchain | None:
        home = Path(self.environ.get("JAVA_HOME", "")) if tool == "java" else Path()
        if home.is_absolute() and (version := _read_version(tool, home)):
            return Toolchain(tool, version, home, "JAVA_HOME", current=True)
        program = next(filter(Path.is_file, self._list_programs_on_path(tool)), None)
        if program is None:
            return None
        real = program.resolve()
        version = _version_in(real.name) or _read_version(tool, real.parent.parent)
        home = (real if tool == "java" else program).parent.parent
        return Toolchain(tool, version, home, "PATH", current=True) if version else None

    def _list_programs_on_path(self, tool: str) -> Iterator[Path]:
        """The programs of that name on PATH; for pyenv's stand-in the one that it starts."""
        for place in self.path.split(os.pathsep):
            program = Path(place, TOOLS[tool][1])
            if program.parent.name == "shims" and tool == "python" and program.is_file():
                root = Path(self.environ.get("PYENV_ROOT", ""))
                chosen = self.environ.get("PYENV_VERSION") or _read_start(root / "version")
                for name in chosen.replace(":", " ").split():
                    yield root / "versions" / name / "bin/python3"
            yield program

    def _list_sources_and_homes(self, tool: str) -> Iterator[tuple[str, Path]]:
        environ = self.environ
        if tool == "java":
            names = sorted(name for name in environ if name.startswith("JAVA_HOME_"))
            yield from ((name, Path(environ[name])) for name in names)
        cache = (f"setup-{tool}", "RUNNER_TOOL_CACHE", "", f"{TOOLS[tool][0]}/*/*")
        # who brings versions besides: the variable, the tool if it is one, and where they lie
        for source, variable, only, pattern in (cache, *TABLE["bringers"]):
            place = Path(environ.get(variable, ""))
            if only in {"", tool} and place.is_absolute():
                yield from ((source, home) for home in sorted(place.glob(pattern.format(tool))))
        if tool == "java":
            homes = sorted((self.root / "usr/lib/jvm").glob("*"))
            yield from (("/usr/lib/jvm", home) for home in homes)


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
    with suppress(OSError), file.open(encoding="utf-8", errors="replace") as opened:
        return opened.read(8_000)
    return ""


def list_wanted_versions(
    root: SourceTree, directory: str, by_ci: Iterable[WantedVersion] = ()
) -> tuple[WantedVersion, ...]:
    """The versions that a project asks for: by each tool's nearest pin, the CI, its manifests."""
    pins, ranges = dict[str, WantedVersion](), dict[str, WantedVersion]()
    for place in (directory, *parents_of(path_in(directory, "x"))):
        for name in VERSION_FILES:
            for wish in read_wanted_versions(root, path_in(place, name)):
                (pins if wish.kind == "pin" else ranges).setdefault(wish.tool, wish)
    builds = root.directories_with("settings.gradle", "settings.gradle.kts")
    if directory in builds and "java" not in ranges:
        # one JDK compiles all projects of a build: the newest that their scripts name
        scripts = (path for path in root.files if path.endswith((".gradle", ".gradle.kts")))
        own = [path for path in scripts if nearest(path, builds) == directory][:_MOST_SCRIPTS]
        wishes = (wish for path in own for wish in read_wanted_versions(root, path, "build.gradle"))
        if java := [wish for wish in wishes if wish.tool == "java"]:
            ranges["java"] = max(java, key=lambda wish: release(wish.version) or ())
    return (*pins.values(), *by_ci, *ranges.values())


def read_wanted_versions(root: SourceTree, path: str, like: str = "") -> Iterator[WantedVersion]:
    """The versions in a file, by its name or as in a file of another name."""
    if path in root.files:
        content = root.text(path).encode(errors="surrogateescape")
        for one in read_tool_versions(like or path, content):
            kind = "pin" if one.role is Role.LOCKED else "range"
            yield WantedVersion(one.artifact, one.version or "", path, kind)


class ToolChoice(Struct, frozen=True):
    """The version of one tool for a build, and what asks for it, the strongest word first."""

    tool: str
    wishes: tuple[WantedVersion, ...]
    toolchain: Toolchain | None = None
    missing: str = ""
    older: str = ""

    @property
    def text(self) -> str:
        version = f" {self.version} ({self.toolchain.source})" if self.toolchain else ""
        wishes = dict.fromkeys(f"{wish.origin}: {visible(wish.version)}" for wish in self.wishes)
        line = f"{name_tool(self.tool)}{version}"
        return f"{line}: {'; '.join(wishes)}" if wishes else line if version else ""

    @property
    def version(self) -> str:
        return _format_version(self.toolchain.version) if self.toolchain else ""


def choose_tools(
    tools: Sequence[str], wishes: Sequence[WantedVersion], toolchains: Toolchains, system: str = ""
) -> tuple[ToolChoice, ...]:
    """The versions of the tools that a build uses; uv chooses the Python itself."""
    choices: list[ToolChoice] = []
    for tool in tools:
        own, versions = tuple(one for one in wishes if one.tool == tool), toolchains.of(tool)
        if tool in _CHOSEN and versions and system != "uv":
            choices.append(_choose_toolchain(tool, own, versions))
        else:
            current = versions[0] if versions and versions[0].current else None
            choices.append(ToolChoice(tool, own, None if system == "uv" else current))
    return tuple(choice for choice in choices if choice.wishes or choice.tool == tools[0])


def _choose_toolchain(
    tool: str, wishes: tuple[WantedVersion, ...], toolchains: Sequence[Toolchain]
) -> ToolChoice:
    """The pinned version, else the CI's, else the first allowed; Python stays unless refused."""
    spans, exact = dict[WantedVersion, VersionSpan](), dict[WantedVersion, Numbers]()
    for wish in wishes:
        if wish.kind == "range" and wish.span:
            spans[wish] = wish.span
        elif wish.kind != "range" and (numbers := release(wish.version)):
            exact[wish] = numbers
    allowed = [one for one in toolchains if all(map(one.is_in, spans.values()))]
    for numbers in exact.values() if tool != "python" else ():
        for toolchain in allowed:
            if toolchain.fits(numbers):
                return ToolChoice(tool, wishes, toolchain)
    current = toolchains[0] if toolchains[0].current else None
    used = allowed[0] if allowed and wishes else current
    unmet = [] if allowed else [*spans]
    if used and not spans and tool != "python":
        pins = [wish for wish in exact if wish.kind == "pin" and wish.span]
        unmet = [wish for wish in pins if exact[wish] > used.version]
    if not unmet:
        return ToolChoice(tool, wishes, used)
    remedy = _describe_remedy(unmet[0], exact.values(), spans.values(), toolchains)
    if tool != "node":
        return ToolChoice(tool, wishes, current, remedy)
    newest = max(toolchains, key=lambda one: one.version)  # much runs with an older one
    return ToolChoice(tool, wishes, newest, older=remedy)


def _describe_remedy(
    unmet: WantedVersion,
    exact: Iterable[Numbers],
    spans: Collection[VersionSpan],
    toolchains: Sequence[Toolchain],
) -> str:
    tool = unmet.tool
    releases = [numbers[: _CHOSEN[tool]] for numbers in exact]
    fitting = [one for one in releases if all(one >= span.low[: len(one)] for span in spans)]
    lowest = unmet.span.low[:2] if unmet.span else ()
    versions = ", ".join(dict.fromkeys(_format_version(one.version) for one in toolchains))
    return (
        f"this project wants {name_tool(tool)} {visible(unmet.version)} "
        f"({visible(unmet.origin)}); here is {versions}: add actions/setup-{tool} with "
        f"{tool}-version: {_format_version([*fitting, lowest][0])} before the build"
    )


def _format_version(numbers: Numbers) -> str:
    return ".".join(map(str, numbers))
