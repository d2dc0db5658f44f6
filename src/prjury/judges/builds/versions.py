"""Versions of tools that a project wants, and those of this machine that serve it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from prjury.judges.builds.ci import CiJob
from prjury.judges.builds.systems.source_tree import SourceTree, nearest, parents_of, path_in
from prjury.judges.builds.toolchains import Toolchain, Toolchains, WantedVersion, fits, name_tool
from prjury.manifests.manifest import Role
from prjury.manifests.spans import Numbers, release, trim
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
#: Scripts of one Gradle build that are read for the version of Java.
_MOST_SCRIPTS = 200
#: What is chosen here, its setup action, and how many numbers tell its releases apart. The others
#: choose for themselves: rustup, go, Corepack.
_SETUP = {
    "java": ("actions/setup-java", "java-version", 1),
    "node": ("actions/setup-node", "node-version", 1),
    "python": ("actions/setup-python", "python-version", 2),
}


def list_wanted_versions(
    root: SourceTree, directory: str, ci: CiJob | None
) -> tuple[WantedVersion, ...]:
    """Tell what a project asks for: each tool's nearest pin, the base's CI, its manifests."""
    pins, ranges = dict[str, WantedVersion](), dict[str, WantedVersion]()
    for place in (directory, *parents_of(path_in(directory, "x"))):
        for name in VERSION_FILES:
            for one in _read(root, path_in(place, name)):
                (pins if one.kind == "pin" else ranges).setdefault(one.tool, one)
    builds = root.directories_with("settings.gradle", "settings.gradle.kts")
    if directory in builds and "java" not in ranges:
        # one JDK compiles all projects of a build: the newest that their scripts name
        scripts = (path for path in root.files if path.endswith((".gradle", ".gradle.kts")))
        own = [path for path in scripts if nearest(path, builds) == directory][:_MOST_SCRIPTS]
        java = [one for path in own for one in _read(root, path, "build.gradle")]
        java = [one for one in java if one.tool == "java"]
        ranges |= {"java": max(java, key=lambda one: release(one.version) or ())} if java else {}
    by_ci = list[WantedVersion]()
    if ci:
        by_ci += [WantedVersion(tool, text, ci.name, "ci") for tool, text in ci.versions.items()]
        for tool, path in ci.version_files.items():
            of_tool = (one for one in _read(root, path) if one.tool == tool)
            by_ci += [WantedVersion(tool, one.version, path, "ci") for one in of_tool]
    return (*pins.values(), *by_ci, *ranges.values())


def _read(root: SourceTree, path: str, kind_of: str = "") -> Iterator[WantedVersion]:
    if path in root.files:
        content = root.text(path).encode(errors="surrogateescape")
        for one in runtimes_in(kind_of or path, content):
            kind = "pin" if one.role is Role.LOCKED else "range"
            yield WantedVersion(one.artifact, one.version or "", path, kind)


class ToolChoice(Struct, frozen=True):
    """The version of one tool for a build.

    Attributes:
        wanted: what asks for it, the strongest word first.
        toolchain: what is used; None where its version is not known.
        missing: why it cannot be built with what is here, and the remedy; empty if it can.
        older: why what is here may be too old, and the remedy; it is tried all the same.
    """

    tool: str
    wanted: tuple[WantedVersion, ...]
    toolchain: Toolchain | None = None
    missing: str = ""
    older: str = ""

    @property
    def text(self) -> str:
        """Tell what is used and why, in one line."""
        used = self.toolchain
        here = f" {_format_version(used.version)} ({used.source})" if used else ""
        asked = dict.fromkeys(f"{one.origin}: {visible(one.version)}" for one in self.wanted)
        line = f"{name_tool(self.tool)}{here}"
        return f"{line}: {'; '.join(asked)}" if asked else line * bool(used)

    @property
    def note(self) -> str:
        """The strongest word, if what is used does not follow it; a manifest allows that."""
        exact = [one for one in self.wanted if one.kind != "range" and release(one.version)]
        used = self.toolchain if self.tool in _SETUP and self.tool != "python" else None
        if self.missing or not used or not exact or fits(used, release(exact[0].version) or ()):
            return ""
        dotted = _format_version(used.version)
        return f"{visible(exact[0].origin)} names {exact[0].text}; {dotted} is used"


def choose_tools(
    tools: Sequence[str], wanted: Sequence[WantedVersion], here: Toolchains, system: str = ""
) -> tuple[ToolChoice, ...]:
    """The versions of the tools that a build uses.

    Args:
        system: the build's; uv chooses the Python itself, and downloads it where none fits.
    """
    choices: list[ToolChoice] = []
    for tool in tools:
        own, toolchains = tuple(one for one in wanted if one.tool == tool), here.of(tool)
        if tool in _SETUP and toolchains and system != "uv":
            choices.append(_choose(tool, own, toolchains))
        elif own or tool == tools[0]:
            current = (
                toolchains[0] if toolchains and toolchains[0].current and system != "uv" else None
            )
            choices.append(ToolChoice(tool, own, current))
    return tuple(choice for choice in choices if choice.wanted or choice.tool == tools[0])


def _choose(
    tool: str, wanted: tuple[WantedVersion, ...], toolchains: Sequence[Toolchain]
) -> ToolChoice:
    """The pinned version, else that of the CI, else the first one that the manifests allow.

    The current Python stays, as the project may be installed in it, unless a manifest refuses it.
    """
    ranges = [one for one in wanted if one.kind == "range"]
    exact = [one for one in wanted if one.kind != "range" and release(one.version)]
    current = toolchains[0] if toolchains[0].current else None
    allowed = [one for one in toolchains if _is_allowed(one.version, ranges)]
    for one in exact if tool != "python" else ():
        for toolchain in allowed:
            if fits(toolchain, release(one.version) or ()):
                return ToolChoice(tool, wanted, toolchain)
    used = allowed[0] if allowed and wanted else current
    unmet = [] if allowed else ranges
    if used and allowed and tool != "python" and not any(one.span for one in ranges):
        pins = (one for one in exact if one.kind == "pin")
        unmet = [one for one in pins if (release(one.version) or (0,)) > used.version]
    if not unmet:
        return ToolChoice(tool, wanted, used)
    remedy = _remedy(next(one for one in unmet if one.span), exact, ranges, toolchains)
    if tool != "node":
        return ToolChoice(tool, wanted, current, remedy)
    newest = max(toolchains, key=lambda one: one.version)  # much runs with an older one
    return ToolChoice(tool, wanted, newest, older=remedy)


def _remedy(
    strict: WantedVersion,
    exact: Sequence[WantedVersion],
    ranges: Sequence[WantedVersion],
    toolchains: Sequence[Toolchain],
) -> str:
    action, key, deep = _SETUP[strict.tool]
    numbers = strict.span.low[:2] if strict.span else ()
    for one in exact:
        version = (release(one.version) or ())[:deep]
        if all(version >= each.span.low[: len(version)] for each in ranges if each.span):
            numbers = version
            break
    versions = ", ".join(dict.fromkeys(_format_version(one.version) for one in toolchains))
    return (
        f"this project wants {strict.text} ({visible(strict.origin)}); here is {versions}: add "
        f"{action} with {key}: {_format_version(numbers)} before the build"
    )


def _is_allowed(numbers: Numbers, wanted: Iterable[WantedVersion]) -> bool:
    version = trim(numbers)
    spans = [one.span for one in wanted if one.span]
    return all(span.low <= version and (span.high is None or version < span.high) for span in spans)


def _format_version(numbers: Numbers) -> str:
    return ".".join(map(str, numbers))
