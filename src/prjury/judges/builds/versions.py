"""Which versions of tools a project wants, and which of those on this machine serves it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from prjury.judges.builds.ci import CiJob
from prjury.judges.builds.systems.source_tree import SourceTree, parents_of, path_in
from prjury.judges.builds.toolchains import Toolchain, Toolchains, WantedVersion, fits, shown_tool
from prjury.manifests.manifest import Role
from prjury.manifests.spans import Numbers, release, trimmed
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
#: What is chosen here, its setup action, and how many numbers tell its releases apart. The others
#: choose for themselves: rustup, go, Corepack.
_SETUP = {
    "java": ("actions/setup-java", "java-version", 1),
    "node": ("actions/setup-node", "node-version", 1),
    "python": ("actions/setup-python", "python-version", 2),
}
#: Scripts of one Gradle build that are read for the version of Java.
_MOST_SCRIPTS = 200


def wanted_versions(
    root: SourceTree, directory: str, ci: CiJob | None, system: str = ""
) -> tuple[WantedVersion, ...]:
    """What a project asks for: each tool's nearest pin, the base's CI, its manifests."""
    pins, ranges = dict[str, WantedVersion](), dict[str, WantedVersion]()
    for place in (directory, *parents_of(path_in(directory, "x"))):
        for name in VERSION_FILES:
            for one in _read(root, path_in(place, name), path_in(place, name)):
                (pins if one.kind == "pin" else ranges).setdefault(one.tool, one)
    if system == "gradle" and "java" not in ranges:
        ranges.update(_read_scripts(root.below(directory), directory))
    return (*pins.values(), *(_read_ci(root, ci) if ci else ()), *ranges.values())


def _read(root: SourceTree, path: str, name: str) -> Iterator[WantedVersion]:
    """The versions in a file, which is of the kind that the name stands for."""
    if path in root.files:
        content = root.text(path).encode(errors="surrogateescape")
        for one in runtimes_in(name, content):
            kind = "pin" if one.role is Role.LOCKED else "range"
            yield WantedVersion(one.artifact, one.version or "", path, kind)


def _read_scripts(build: SourceTree, directory: str) -> Mapping[str, WantedVersion]:
    """The newest Java that the scripts of a Gradle build name: one JDK compiles all.

    A directory with settings of its own is another build.
    """
    settings = build.directories_with("settings.gradle", "settings.gradle.kts")
    others = tuple(f"{place}/" for place in settings if place)
    scripts = sorted(path for path in build.files if path.endswith((".gradle", ".gradle.kts")))
    own = [path for path in scripts if not path.startswith(others)][:_MOST_SCRIPTS]
    every = [one for path in own for one in _read(build, path, "build.gradle")]
    java = [one for one in every if one.tool == "java" and one.version]
    if not java:
        return {}
    newest = max(java, key=lambda one: release(one.version) or ())
    origin = path_in(directory, newest.origin)
    return {"java": WantedVersion("java", newest.version, origin, "range")}


def _read_ci(root: SourceTree, ci: CiJob) -> Iterator[WantedVersion]:
    """What the base's CI sets up, by its own words or by those of a file that it names."""
    for tool, version in ci.versions.items():
        yield WantedVersion(tool, version, ci.name, "ci")
    for tool, path in ci.version_files.items():
        for one in _read(root, path, path):
            if one.tool == tool:
                yield WantedVersion(tool, one.version, path, "ci")


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
        here = f"{shown_tool(self.tool)} {_dotted(used.version)} ({used.found})" if used else ""
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
    choices: list[ToolChoice] = []
    for tool in tools:
        own = tuple(one for one in wanted if one.tool == tool)
        if not own and tool != tools[0]:
            continue
        known = here.of(tool)
        if tool not in _SETUP or not known:
            current = known[0] if known and known[0].current else None
            choices.append(ToolChoice(tool, own, current))
        elif tool == "python" and system == "uv":
            choices.append(_choose_for_uv(own, known))
        else:
            choices.append(_choose(tool, own, known))
    return tuple(choices)


def _choose_for_uv(wanted: tuple[WantedVersion, ...], known: Sequence[Toolchain]) -> ToolChoice:
    """The pinned Python, else one that the manifest allows; uv's own come first."""
    asked = [one for one in wanted if one.kind != "ci"]
    for toolchain in sorted(known, key=lambda one: one.found != "uv"):
        if _is_allowed(toolchain.version, asked):
            return ToolChoice("python", wanted, toolchain)
    return ToolChoice("python", wanted, note="no Python here fits, so uv has to download one")


def _choose(tool: str, wanted: tuple[WantedVersion, ...], known: Sequence[Toolchain]) -> ToolChoice:
    """The pinned version, else that of the CI, else the first one that the manifests allow.

    The current Python stays, as the project may be installed in it, unless a manifest refuses it.
    """
    ranges = [one for one in wanted if one.kind == "range"]
    named = [one for one in wanted if one.kind != "range" and release(one.version)]
    current = known[0] if known[0].current else None
    allowed = [one for one in known if _is_allowed(one.version, ranges)]
    for one in named if tool != "python" else ():
        for toolchain in allowed:
            if fits(toolchain, release(one.version) or ()):
                return ToolChoice(tool, wanted, toolchain, note=_overruled(named, toolchain))
    used = allowed[0] if allowed and wanted else current
    pins = [one for one in named if one.kind == "pin" and not any(each.span for each in ranges)]
    unmet = (
        ranges
        if not allowed
        else [p for p in pins if used and (release(p.version) or (0,)) > used.version]
    )
    if not unmet or (tool == "python" and allowed):
        note = _overruled(named, used) if used and tool != "python" else ""
        return ToolChoice(tool, wanted, used, note=note)
    remedy = _remedy(next(one for one in unmet if one.span), named, ranges, known)
    if tool != "node":
        return ToolChoice(tool, wanted, current, remedy)
    newest = max(known, key=lambda one: one.version)  # much runs with an older one
    return ToolChoice(tool, wanted, newest, older=remedy, note=_overruled(named, newest))


def _remedy(
    strict: WantedVersion,
    named: Sequence[WantedVersion],
    ranges: Sequence[WantedVersion],
    known: Sequence[Toolchain],
) -> str:
    """What to set up: a version that is named and that the manifests allow, else their lowest."""
    action, key, deep = _SETUP[strict.tool]
    numbers = strict.span.low[:2] if strict.span else ()
    for one in named:
        version = (release(one.version) or ())[:deep]
        if all(version >= each.span.low[: len(version)] for each in ranges if each.span):
            numbers = version
            break
    here = ", ".join(dict.fromkeys(_dotted(one.version) for one in known))
    return (
        f"this project wants {strict.text} ({visible(strict.origin)}); here is {here}: add "
        f"{action} with {key}: {_dotted(numbers)} before the build"
    )


def _overruled(named: Sequence[WantedVersion], used: Toolchain) -> str:
    """The strongest word, if what is used does not follow it; a manifest allows that."""
    if named and not fits(used, release(named[0].version) or ()):
        first = named[0]
        return f"{visible(first.origin)} names {first.text}; {_dotted(used.version)} is used"
    return ""


def _is_allowed(numbers: Numbers, wanted: Iterable[WantedVersion]) -> bool:
    """Whether a version is among all that are asked for."""
    version = trimmed(numbers)
    return all(
        span.low <= version and (span.high is None or version < span.high)
        for span in (one.span for one in wanted)
        if span
    )


def _dotted(numbers: Numbers) -> str:
    return ".".join(map(str, numbers))
