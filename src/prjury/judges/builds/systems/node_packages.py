"""The packages of an npm, pnpm, yarn or bun workspace, and who depends on whom. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from prjury.judges.builds.systems.globs import matching
from prjury.judges.builds.systems.manifest import read_json, strings, table
from prjury.judges.builds.systems.source_tree import SourceTree, joined
from prjury.judges.builds.systems.workspace_graph import Member, WorkspaceGraph
from prjury.snapshot.model import visible

MANIFEST = "package.json"
PNPM_WORKSPACE = "pnpm-workspace.yaml"
_NAME = re.compile(r"(?:@[A-Za-z0-9~][A-Za-z0-9._~-]*/)?[A-Za-z0-9~][A-Za-z0-9._~-]*")
_KINDS = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
_LINKED = re.compile(r"(?:file|link|portal):(.*)", re.DOTALL)


@dataclass(frozen=True)
class NodeWorkspace:
    """The members of a workspace, without the root, and their manifests by name."""

    members: WorkspaceGraph
    manifests: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def read_packages(root: SourceTree, package: Mapping[str, Any], tool: str) -> NodeWorkspace | None:
    """The workspace in the root of this tree, None where it is a single package.

    Args:
        tool: the package manager, for pnpm has a file of its own for its members.
    """
    patterns = _pnpm_patterns(root) if tool == "pnpm" else _patterns(package)
    if isinstance(patterns, str):
        return NodeWorkspace(WorkspaceGraph((), unreadable=patterns))
    if not patterns:
        return None
    places = root.directories_with(MANIFEST) - {""}
    chosen = matching(patterns, (place for place in places if "node_modules" not in place))
    if chosen is None:
        return NodeWorkspace(WorkspaceGraph((), unreadable="its patterns are not understood"))
    return _read(root, sorted(chosen))


def _patterns(package: Mapping[str, Any]) -> Sequence[str] | str:
    value = package.get("workspaces")
    found = strings(value.get("packages") if isinstance(value, dict) else value)
    return f"the workspaces in {MANIFEST} cannot be read" if found is None else found


def _pnpm_patterns(root: SourceTree) -> Sequence[str] | str:
    if PNPM_WORKSPACE not in root.files:
        return ()
    from prjury.errors import ConfigError  # noqa: PLC0415
    from prjury.policy.yaml_reader import read_yaml  # noqa: PLC0415 - yaml is slow to load

    try:
        value = read_yaml(root.text(PNPM_WORKSPACE), PNPM_WORKSPACE).value
    except ConfigError:
        return f"{PNPM_WORKSPACE} cannot be read"
    found = strings(table(value).get("packages"))
    return f"{PNPM_WORKSPACE} cannot be read" if found is None else found


def _read(root: SourceTree, places: Sequence[str]) -> NodeWorkspace:
    manifests: dict[str, Mapping[str, Any]] = {}
    names: dict[str, str] = {}
    for place in places:
        manifest = read_json(root.text(f"{place}/{MANIFEST}"))
        name = manifest.get("name") if manifest else None
        if manifest is None or not isinstance(name, str) or not _NAME.fullmatch(name):
            because = f"{visible(place)}/{MANIFEST} cannot be read, or gives no proper name"
            return NodeWorkspace(WorkspaceGraph((), unreadable=because))
        names[place], manifests[name] = name, manifest
    members = tuple(
        Member(name, place, f"{place}/{MANIFEST}", _needs(place, manifests[name], names))
        for place, name in names.items()
    )
    return NodeWorkspace(WorkspaceGraph(members), manifests)


def _needs(place: str, manifest: Mapping[str, Any], names: Mapping[str, str]) -> frozenset[str]:
    """The members that a package depends on: by their names, or by their places."""
    known = frozenset(names.values())
    wanted = {name for name, _ in dependencies(manifest)} & known
    linked = {names[path] for path in linked_places(place, manifest) if path in names}
    return frozenset(wanted | linked) - {names[place]}


def dependencies(manifest: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What a package depends on, for whatever purpose: name and version or place."""
    for kind in _KINDS:
        yield from table(manifest, kind).items()


def linked_places(place: str, manifest: Mapping[str, Any]) -> Iterator[str]:
    """The directories from which a package in that place takes others."""
    for _, wanted in dependencies(manifest):
        match = _LINKED.match(wanted) if isinstance(wanted, str) else None
        path = joined(place, match[1]) if match else None
        if path is not None:
            yield path
