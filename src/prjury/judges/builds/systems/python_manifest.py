"""Python's manifests: names, what depends on what, and the members of uv's workspaces. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from prjury.judges.builds.systems.globs import matching
from prjury.judges.builds.systems.manifest import read_toml, strings, table
from prjury.judges.builds.systems.source_tree import SourceTree, joined
from prjury.judges.builds.systems.workspace_graph import Member, WorkspaceGraph
from prjury.snapshot.model import visible

MANIFEST = "pyproject.toml"
#: What belongs to the project in the root of a workspace by convention.
_OWN = ("src", "tests", "test", "setup.py")
_NAME = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")


def read_members(root: SourceTree) -> WorkspaceGraph | None:
    """The members of uv's workspace in the root, the root itself among them; None for no such."""
    manifest = read_toml(root.text(MANIFEST)) or {}
    workspace = table(manifest, "tool", "uv").get("workspace")
    if not isinstance(workspace, dict):
        return None
    patterns, excluded = strings(workspace.get("members")), strings(workspace.get("exclude"))
    if patterns is None or excluded is None:
        return WorkspaceGraph((), unreadable=f"the workspace in {MANIFEST} cannot be read")
    places = root.directories_with(MANIFEST)
    chosen = matching([*patterns, *(f"!{pattern}" for pattern in excluded)], places)
    if chosen is None:
        return WorkspaceGraph((), unreadable=f"the patterns in {MANIFEST} are not understood")
    own = {""} if "project" in manifest else set()
    members = _members(root, sorted(chosen | own))
    return WorkspaceGraph((), unreadable=members) if isinstance(members, str) else members


def _members(root: SourceTree, places: list[str]) -> WorkspaceGraph | str:
    manifests = {place: read_toml(root.text(_inside(place))) for place in places}
    names: dict[str, str] = {}
    for place, manifest in manifests.items():
        project = table(manifest, "project")
        if manifest is None or not (name := normalised(project.get("name"))):
            return f"{visible(_inside(place))} cannot be read"
        if "dependencies" in (strings(project.get("dynamic")) or ()):
            return f"{visible(_inside(place))} leaves its dependencies to a program"
        names[place] = name
    known = frozenset(names.values())
    return WorkspaceGraph(
        tuple(
            Member(names[place], place, _inside(place), needed(manifests[place] or {}) & known)
            for place in places
        ),
        (*_OWN, names.get("", "").replace("-", "_")),
    )


def _inside(place: str) -> str:
    return f"{place}/{MANIFEST}" if place else MANIFEST


def normalised(name: object) -> str:
    """The name of a distribution as indexes compare it, empty for none."""
    match = _NAME.match(name) if isinstance(name, str) else None
    return re.sub(r"[-_.]+", "-", match[1]).lower() if match else ""


def needed(manifest: Mapping[str, Any]) -> frozenset[str]:
    """The names of all distributions that a project may need, for whatever purpose."""
    return frozenset(filter(None, map(normalised, _requirements(manifest))))


def _requirements(manifest: Mapping[str, Any]) -> Iterator[object]:
    project, poetry = table(manifest, "project"), table(manifest, "tool", "poetry")
    groups = table(manifest, "dependency-groups").values()
    lists = (
        project.get("dependencies"),
        table(manifest, "build-system").get("requires"),
        table(manifest, "tool", "uv").get("dev-dependencies"),
        *table(project, "optional-dependencies").values(),
        *groups,
    )
    for one in lists:
        yield from one if isinstance(one, list) else ()
    yield from poetry_dependencies(poetry)


def poetry_dependencies(poetry: Mapping[str, Any]) -> dict[str, Any]:
    """What a project that Poetry manages depends on, for whatever purpose."""
    groups = [table(group, "dependencies") for group in table(poetry, "group").values()]
    own = (table(poetry, "dependencies"), table(poetry, "dev-dependencies"), *groups)
    return {name: wanted for one in own for name, wanted in one.items()}


def local_sources(root: SourceTree, directory: str = "") -> frozenset[str]:
    """The directories that a project takes dependencies from, from the root of the tree."""
    manifest = read_toml(root.text(_inside(directory))) or {}
    sources = table(manifest, "tool", "uv", "sources")
    wanted = [*sources.values(), *poetry_dependencies(table(manifest, "tool", "poetry")).values()]
    home = joined(root.place, directory) or ""
    paths = (one.get("path") for one in wanted if isinstance(one, dict))
    places = (joined(home, path) for path in paths if isinstance(path, str))
    return frozenset(place for place in places if place is not None)


def where_needed(manifest: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """The option that makes uv install the extra or the group that brings a distribution along.

    Empty where the project has it anyway, or nowhere.
    """
    project = table(manifest, "project")
    always = _listed(project.get("dependencies"))
    default = table(manifest, "tool", "uv").get("default-groups", ["dev"])
    groups = table(manifest, "dependency-groups")
    for group, wanted in groups.items():
        if default == "all" or (isinstance(default, list) and group in default):
            always |= _listed(wanted)
    always |= _listed(table(manifest, "tool", "uv").get("dev-dependencies"))
    if name in always:
        return ()
    extras = table(project, "optional-dependencies")
    for option, named in (("--group", groups), ("--extra", extras)):
        for key, wanted in named.items():
            if name in _listed(wanted) and _NAME.fullmatch(key):
                return (option, key)
    return ()


def _listed(wanted: object) -> set[str]:
    return {normalised(one) for one in wanted} if isinstance(wanted, list) else set()
