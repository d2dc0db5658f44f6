"""Node: npm, pnpm, yarn and bun, single packages and workspaces. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from prjury.judges.builds.plan import BuildPlan, BuildScope
from prjury.judges.builds.systems.manifest import read_json
from prjury.judges.builds.systems.node_packages import MANIFEST, linked_places, read_packages
from prjury.judges.builds.systems.node_plan import NodeProject
from prjury.judges.builds.systems.node_tool import tool_of
from prjury.judges.builds.systems.outside_references import node_references
from prjury.judges.builds.systems.projects import plans_of
from prjury.judges.builds.systems.source_tree import Changes, SourceTree, joined


def plans(root: SourceTree, changes: Changes | None) -> tuple[BuildPlan, ...]:
    """The packages and workspaces with something to run, as far as the change affects them."""
    return plans_of(root, changes, root.directories_with(MANIFEST), _opened, node_references)


def _opened(root: SourceTree) -> _Node | None:
    package = read_json(root.text(MANIFEST))
    return None if package is None else _Node(root, package)


@dataclass(frozen=True)
class _Node:
    root: SourceTree
    package: Mapping[str, Any]

    @cached_property
    def project(self) -> NodeProject:
        tool = tool_of(self.root, self.package)
        workspace = read_packages(self.root, self.package, tool.name)
        return NodeProject(self.root, self.package, tool, workspace)

    @property
    def outside(self) -> frozenset[str]:
        workspace = self.project.workspace
        manifests = {
            member.directory: workspace.manifests[member.name]
            for member in self.project.members.values()
            if workspace
        } | {"": self.package}
        own = {place: joined(self.root.place, place) or "" for place in manifests}
        linked = {path for place in own for path in linked_places(own[place], manifests[place])}
        return frozenset(linked - set(own.values()))

    @property
    def declares(self) -> bool:
        return False  # scripts go where they like

    def owns(self, directory: str) -> bool:
        return any(member.directory == directory for member in self.project.members.values())

    def plans(self, changes: Changes | None) -> tuple[BuildPlan, ...]:
        workspace = self.project.workspace
        plan = self.project.plan(workspace.members.scope(changes) if workspace else BuildScope())
        return (plan,) if plan else ()
