"""Versions of tools that a project wants, and those of this machine that serve it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from prjury.judges.builds.ci import CiJob
from prjury.judges.builds.systems.source_tree import SourceTree, nearest, parents_of, path_in
from prjury.judges.builds.toolchains import Toolchain, Toolchains, WantedVersion, name_tool
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
#: What is chosen here, and how many numbers tell its releases apart. The others choose for
#: themselves: rustup, go, Corepack.
_CHOSEN = {"java": 1, "node": 1, "python": 2}


def list_wanted_versions(
    root: SourceTree, directory: str, ci: CiJob | None
) -> tuple[WantedVersion, ...]:
    """The versions that a project asks for: by each tool's nearest pin, the CI, its manifests."""
    pins, ranges = dict[str, WantedVersion](), dict[str, WantedVersion]()
    for place in (directory, *parents_of(path_in(directory, "x"))):
        for name in VERSION_FILES:
            for wish in _read_wishes(root, path_in(place, name)):
                (pins if wish.kind == "pin" else ranges).setdefault(wish.tool, wish)
    builds = root.directories_with("settings.gradle", "settings.gradle.kts")
    if directory in builds and "java" not in ranges:
        # one JDK compiles all projects of a build: the newest that their scripts name
        scripts = (path for path in root.files if path.endswith((".gradle", ".gradle.kts")))
        own = [path for path in scripts if nearest(path, builds) == directory][:_MOST_SCRIPTS]
        wishes = (wish for path in own for wish in _read_wishes(root, path, "build.gradle"))
        java = [wish for wish in wishes if wish.tool == "java"]
        if java:
            ranges["java"] = max(java, key=lambda wish: release(wish.version) or ())
    by_ci = list[WantedVersion]()
    if ci:
        by_ci += [WantedVersion(tool, text, ci.name, "ci") for tool, text in ci.versions.items()]
        for tool, path in ci.version_files.items():
            wishes = (wish for wish in _read_wishes(root, path) if wish.tool == tool)
            by_ci += [WantedVersion(tool, wish.version, path, "ci") for wish in wishes]
    return (*pins.values(), *by_ci, *ranges.values())


def _read_wishes(root: SourceTree, path: str, kind_of: str = "") -> Iterator[WantedVersion]:
    if path in root.files:
        content = root.text(path).encode(errors="surrogateescape")
        for one in runtimes_in(kind_of or path, content):
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
        """What is used and why, in one line."""
        version = f" {self.version} ({self.toolchain.source})" if self.toolchain else ""
        wishes = dict.fromkeys(f"{wish.origin}: {visible(wish.version)}" for wish in self.wishes)
        line = f"{name_tool(self.tool)}{version}"
        return f"{line}: {'; '.join(wishes)}" if wishes else line if version else ""

    @property
    def version(self) -> str:
        """The version that is used; empty where it is not known."""
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
    spans = [(wish, wish.span) for wish in wishes if wish.kind == "range"]
    exact = [wish for wish in wishes if wish.kind != "range" and release(wish.version)]
    allowed = []
    for one in toolchains:
        version = trim(one.version)
        if all(
            not span or (span.low <= version and (span.high is None or version < span.high))
            for _, span in spans
        ):
            allowed.append(one)
    for wish in exact if tool != "python" else ():
        for toolchain in allowed:
            if toolchain.fits(release(wish.version) or ()):
                return ToolChoice(tool, wishes, toolchain)
    current = toolchains[0] if toolchains[0].current else None
    used = allowed[0] if allowed and wishes else current
    unmet = [] if allowed else [wish for wish, span in spans if span]
    if used and allowed and tool != "python" and not any(span for _, span in spans):
        pins = [wish for wish in exact if wish.kind == "pin" and wish.span]
        unmet = [wish for wish in pins if (release(wish.version) or (0,)) > used.version]
    if not unmet:
        return ToolChoice(tool, wishes, used)
    remedy = _word_remedy(unmet[0], exact, spans, toolchains)
    if tool != "node":
        return ToolChoice(tool, wishes, current, remedy)
    newest = max(toolchains, key=lambda one: one.version)  # much runs with an older one
    return ToolChoice(tool, wishes, newest, older=remedy)


def _word_remedy(
    strict: WantedVersion,
    exact: Sequence[WantedVersion],
    spans: Sequence[tuple[WantedVersion, object]],
    toolchains: Sequence[Toolchain],
) -> str:
    tool = strict.tool
    numbers = strict.span.low[:2] if strict.span else ()
    ranges = [wish.span for wish, _ in spans if wish.span]
    for wish in exact:
        version = (release(wish.version) or ())[: _CHOSEN[tool]]
        if all(version >= span.low[: len(version)] for span in ranges):
            numbers = version
            break
    versions = ", ".join(dict.fromkeys(_format_version(one.version) for one in toolchains))
    return (
        f"this project wants {strict.text} ({visible(strict.origin)}); here is {versions}: add "
        f"actions/setup-{tool} with {tool}-version: {_format_version(numbers)} before the build"
    )


def _format_version(numbers: Numbers) -> str:
    return ".".join(map(str, numbers))
