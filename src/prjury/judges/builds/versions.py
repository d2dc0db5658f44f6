"""Which versions of tools a project wants, and which of those on this machine serves it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from prjury.judges.builds.ci import CiJob
from prjury.judges.builds.systems.gradle import SETTINGS
from prjury.judges.builds.systems.source_tree import SourceTree, parents_of, path_in
from prjury.judges.builds.toolchains import Toolchain, Toolchains, fits
from prjury.manifests.manifest import Role
from prjury.manifests.spans import VersionSpan, declared_span, release, trimmed
from prjury.manifests.tool_versions import VERSION_FILES, runtimes_in
from prjury.snapshot.model import visible

#: The tools of each family of build systems, by the name in the policy; the first one runs it.
TOOLS_OF: Mapping[str, tuple[str, ...]] = {
    "maven": ("java",),
    "gradle": ("java", "gradle"),
    "node": ("node", "npm", "pnpm", "yarn", "bun"),
    "python": ("python",),
    "cargo": ("rust",),
    "go": ("go",),
}
#: What is chosen here. The others choose for themselves: rustup, go, uv, Corepack.
_CHOSEN = ("java", "node")
_SHOWN = {"java": "JDK", "node": "Node", "python": "Python", "go": "Go", "rust": "Rust",
          "ruby": "Ruby", "php": "PHP", "dotnet": ".NET"}  # fmt: skip
_SETUP = {
    "java": ("actions/setup-java", "java-version"),
    "node": ("actions/setup-node", "node-version"),
    "python": ("actions/setup-python", "python-version"),
}


@dataclass(frozen=True, slots=True)
class WantedVersion:
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
        span = declared_span(self.version, "runtime", self.tool)
        return VersionSpan(span.low) if span and self.tool in _CHOSEN else span

    @property
    def text(self) -> str:
        """It in a sentence."""
        return f"{shown_tool(self.tool)} {visible(self.version)}"


def shown_tool(tool: str) -> str:
    """The name of a tool in a sentence."""
    return _SHOWN.get(tool, tool)


#: Scripts of one Gradle build that are read for the version of Java.
_MOST_SCRIPTS = 200


def wanted_versions(
    root: SourceTree, directory: str, ci: CiJob | None, system: str = ""
) -> tuple[WantedVersion, ...]:
    """What a project asks for: each tool's nearest pin, the base's CI, its manifests."""
    pins, ranges = dict[str, WantedVersion](), dict[str, WantedVersion]()
    for place in (directory, *parents_of(path_in(directory, "x"))):
        for name in VERSION_FILES:
            path = path_in(place, name)
            if path not in root.files:
                continue
            content = root.text(path).encode(errors="surrogateescape")
            for one in runtimes_in(path, content):
                kind = "pin" if one.role is Role.LOCKED else "range"
                found = WantedVersion(one.artifact, one.version or "", path, kind)
                (pins if kind == "pin" else ranges).setdefault(one.artifact, found)
    if system == "gradle" and "java" not in ranges:
        ranges.update(_of_projects(root, directory))
    return (*pins.values(), *(_of_ci(root, ci) if ci else ()), *ranges.values())


def _of_projects(root: SourceTree, directory: str) -> Mapping[str, WantedVersion]:
    """The newest Java that the projects and plugins of a Gradle build name: one JDK compiles all.

    A directory with settings of its own is another build.
    """
    build = root.below(directory)
    others = tuple(f"{one}/" for one in build.directories_with(*SETTINGS) if one)
    scripts = sorted(one for one in build.files if one.endswith((".gradle", ".gradle.kts")))
    found = [
        WantedVersion("java", one.version, path_in(directory, path), "range")
        for path in [one for one in scripts if not one.startswith(others)][:_MOST_SCRIPTS]
        for one in runtimes_in("build.gradle", build.text(path).encode(errors="surrogateescape"))
        if one.artifact == "java" and one.version
    ]
    return {"java": max(found, key=lambda one: release(one.version) or ())} if found else {}


def _of_ci(root: SourceTree, ci: CiJob) -> Iterator[WantedVersion]:
    """What the base's CI sets up, by its own words or by those of a file that it names."""
    for tool, version in ci.versions.items():
        yield WantedVersion(tool, version, ci.name, "ci")
    for tool, path in ci.version_files.items():
        content = root.text(path).encode(errors="surrogateescape")
        for one in runtimes_in(path, content):
            if one.artifact == tool:
                yield WantedVersion(tool, one.version or "", path, "ci")


@dataclass(frozen=True)
class ToolChoice:
    """The version of one tool for a build.

    Attributes:
        wanted: what asks for it, the strongest word first.
        toolchain: what is used; None where its version is not known.
        missing: why it cannot be built with what is here, and the remedy; empty if it can.
        older: why what is here may be too old, and the remedy; it is tried all the same.
        note: what a reader should know besides.
    """

    tool: str
    wanted: tuple[WantedVersion, ...]
    toolchain: Toolchain | None = None
    missing: str = ""
    older: str = ""
    note: str = ""

    @property
    def text(self) -> str:
        """What is used and why, in one line."""
        used = self.toolchain
        here = f"{shown_tool(self.tool)} {_dotted(used)} ({used.found})" if used else ""
        asked = "; ".join(
            dict.fromkeys(f"{one.origin}: {visible(one.version)}" for one in self.wanted)
        )
        return f"{here or shown_tool(self.tool)}: {asked}" if asked else here


def choose_tools(
    tools: Sequence[str], wanted: Sequence[WantedVersion], here: Toolchains, system: str = ""
) -> tuple[ToolChoice, ...]:
    """The versions of the tools that a build uses.

    Args:
        system: the build's; uv chooses the Python itself, and downloads it where none fits.
    """
    by_uv = system == "uv"
    found = (
        _Choosing(tool, tuple(w for w in wanted if w.tool == tool), here, by_uv) for tool in tools
    )
    return tuple(one.choice() for one in found if one.wanted or one.tool in tools[:1])


@dataclass(frozen=True)
class _Choosing:
    tool: str
    wanted: tuple[WantedVersion, ...]
    here: Toolchains
    by_uv: bool = False

    @cached_property
    def known(self) -> tuple[Toolchain, ...]:
        return self.here.of(self.tool)

    def choice(self) -> ToolChoice:
        """The pinned version, else that of the CI, else the first one that the manifests allow."""
        current = self.known[0] if self.known and self.known[0].current else None
        if self.tool == "python" and self.known:
            return self._by_uv() if self.by_uv else self._python(current)
        if self.tool not in _CHOSEN or not self.known:
            return ToolChoice(self.tool, self.wanted, current)
        allowed = [one for one in self.known if self._is_allowed(one)]
        for one in self._named():
            numbers = release(one.version)
            if exact := next((t for t in allowed if numbers and fits(t, numbers)), None):
                return ToolChoice(self.tool, self.wanted, exact, note=self._overruled(exact))
        used = allowed[0] if allowed else current
        if missing := self._missing(used, bool(allowed)):
            if self.tool == "node":  # much runs with an older one, which only some tools refuse
                newest = max(self.known, key=lambda one: one.version)
                note = self._overruled(newest)
                return ToolChoice(self.tool, self.wanted, newest, older=missing, note=note)
            return ToolChoice(self.tool, self.wanted, current, missing)
        return ToolChoice(self.tool, self.wanted, used, note=self._overruled(used))

    def _by_uv(self) -> ToolChoice:
        """The pinned Python, else one that the manifest allows; uv's own come first."""
        known = sorted(self.known, key=lambda one: one.found != "uv")
        asked = [one for one in self.wanted if one.kind != "ci" and one.span]
        used = next((one for one in known if _within(one, asked)), None)
        note = "" if used else "no Python here fits, so uv has to download one"
        return ToolChoice(self.tool, self.wanted, used, note=note)

    def _python(self, current: Toolchain | None) -> ToolChoice:
        """The current Python, in which the project may be installed, unless a manifest refuses."""
        allowed = [one for one in self.known if self._is_allowed(one)]
        if current is None or current in allowed:
            return ToolChoice(self.tool, self.wanted, current)
        missing = "" if allowed else self._remedy(next(self._ranges()))
        return ToolChoice(self.tool, self.wanted, next(iter(allowed), current), missing)

    def _named(self) -> Iterator[WantedVersion]:
        return (one for one in self.wanted if one.kind != "range")

    def _ranges(self) -> Iterator[WantedVersion]:
        return (one for one in self.wanted if one.kind == "range" and one.span)

    def _is_allowed(self, toolchain: Toolchain) -> bool:
        return _within(toolchain, self._ranges())

    def _missing(self, used: Toolchain | None, allowed: bool) -> str:  # noqa: FBT001
        """Why what is here does not do: a manifest refuses it, or it is older than the pin."""
        refused = None if allowed else next(self._ranges(), None)
        pins = (one for one in self.wanted if one.kind == "pin")
        too_old = (one for one in pins if used and (release(one.version) or (0,)) > used.version)
        strict = refused or (None if any(self._ranges()) else next(too_old, None))
        return self._remedy(strict) if strict else ""

    def _remedy(self, strict: WantedVersion) -> str:
        named = next((one for one in self._named() if release(one.version)), strict)
        action, key = _SETUP[self.tool]
        numbers = release(named.version) or (strict.span.low if strict.span else None) or ()
        deep = 2 if self.tool == "python" else 1
        major = ".".join(map(str, numbers[:deep])) if numbers else visible(named.version)
        here = ", ".join(dict.fromkeys(map(_dotted, self.known)))
        return (
            f"this project wants {strict.text} ({visible(strict.origin)}); here is {here}: add "
            f"{action} with {key}: {major} before the build"
        )

    def _overruled(self, used: Toolchain | None) -> str:
        """The strongest word, if what is used does not follow it; a manifest allows that."""
        first = next((one for one in self._named() if release(one.version)), None)
        numbers = release(first.version) if first else None
        if first and used and numbers and not fits(used, numbers):
            return f"{visible(first.origin)} names {first.text}; {_dotted(used)} is used"
        return ""


def _within(toolchain: Toolchain, wanted: Iterable[WantedVersion]) -> bool:
    """Whether a version is among all that are asked for."""
    version = trimmed(toolchain.version)
    spans = (one.span for one in wanted)
    return all(
        span.low <= version and (span.high is None or version < span.high) for span in spans if span
    )


def _dotted(toolchain: Toolchain | None) -> str:
    return ".".join(map(str, toolchain.version)) if toolchain else ""
