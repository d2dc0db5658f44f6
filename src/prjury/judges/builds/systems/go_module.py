"""Go's modules and workspaces, as their manifests describe them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from prjury.judges.builds.systems.source_tree import SourceTree, joined

MANIFEST, WORK = "go.mod", "go.work"
_MODULE = re.compile(r'^module[ \t]+"?([A-Za-z0-9][^\s"()]*)"?[ \t]*$', re.MULTILINE)
_LOCAL = re.compile(r'=>[ \t]*"?(\.{1,2}(?:/[^\s"]*)?)(?:["\s]|$)')
_USE = re.compile(r'^use[ \t]+"?([^\s"()]+)', re.MULTILINE)
_USES = re.compile(r"^use[ \t]*\(([^()]*)\)", re.MULTILINE)
_COMMENT = re.compile(r"//[^\n]*|\r")


@dataclass(frozen=True)
class GoModule:
    """A module: its path, its directory, and the directories that stand in for other modules."""

    path: str
    directory: str
    replaced: tuple[str, ...] = ()


def read_module(root: SourceTree, directory: str) -> GoModule | None:
    """The module in a directory, None where its manifest says no path."""
    text = _COMMENT.sub("", root.text(f"{directory}/{MANIFEST}" if directory else MANIFEST))
    match = _MODULE.search(text)
    return GoModule(match[1], directory, tuple(_LOCAL.findall(text))) if match else None


def used_directories(root: SourceTree) -> list[str]:
    """The modules of the tree that ``go.work`` names."""
    text = _COMMENT.sub("", root.text(WORK))
    named = [*_USE.findall(text), *(one for block in _USES.findall(text) for one in block.split())]
    places = (joined("", name.strip('"')) for name in named)
    return sorted({place for place in places if place is not None})


def replacements(root: SourceTree, modules: Iterable[GoModule]) -> frozenset[str]:
    """Where the modules lie that stand in for others, from the root of the tree."""
    own = {module.directory: joined(root.place, module.directory) or "" for module in modules}
    found = {
        joined(own[module.directory], place) for module in modules for place in module.replaced
    }
    return frozenset(place for place in found if place is not None) - frozenset(own.values())
