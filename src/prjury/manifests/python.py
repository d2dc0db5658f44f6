"""Reads ``pyproject.toml``, in the words of PEP 621, PEP 735, Poetry, PDM, Hatch and uv."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from msgspec import field

from prjury.manifests.manifest import Coordinate, Manifest, Role, runtime
from prjury.manifests.setuptools import list_entries, normalise_name, package, parse_requirement
from prjury.manifests.syntax import (
    Mentions,
    index_toml_lines,
    lines_in,
    load_toml,
    strings,
    table,
    text_of,
    word,
    words,
)

_VERSION = re.compile(r"(\d+(?:\.\d+)*)(?:\s|$)")
_WHOLE = 3
#: Tables that only a project has.
_DESCRIBING = frozenset({"project", "build-system", "dependency-groups"})


class PyProject(Manifest, frozen=True):
    """A ``pyproject.toml``; ``members`` are of uv's workspace, which takes the ``installed``."""

    is_project: bool = False
    is_described: bool = False
    is_workspace: bool = False
    installed: frozenset[str] = frozenset()
    groups: Mapping[str, frozenset[str]] = field(default_factory=dict)
    extras: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def asked(self) -> frozenset[str]:
        roles = (Role.DEPENDENCY, Role.PLUGIN)
        return frozenset(each.artifact for each in self.coordinates if each.role in roles)


def read_pyproject(content: bytes) -> PyProject:
    text = text_of(content)
    document = load_toml(text)
    seen = index_toml_lines(text)
    project = table(document, "project")
    poetry = table(document, "tool", "poetry")
    name = word(project.get("name")) or word(poetry.get("name"))
    version = word(project.get("version")) or word(poetry.get("version"))
    build = table(document, "build-system")
    uv = table(document, "tool", "uv")
    workspace = table(uv, "workspace")
    members, excluded = (strings(workspace.get(key)) for key in ("members", "exclude"))
    own = _read_list(project.get("dependencies"), Role.DEPENDENCY, seen)
    names = {each.artifact for each in own if each.version}
    dependencies = _read_poetry_group(table(poetry, "dependencies"), seen)
    others = [each for each in dependencies if each.artifact not in names]
    return PyProject(
        name=name or "",
        version=version,
        own_version=version,
        coordinates=(
            *([package(name, version)] if name else []),
            *_python(project, poetry, seen),
            *list_entries([*own, *others], _optional(document, seen)),
            *_read_list(uv.get("override-dependencies"), Role.MANAGED, seen),
            *_read_list(uv.get("constraint-dependencies"), Role.LOCKED, seen),
            *_read_list(build.get("requires"), Role.PLUGIN, seen, "build"),
        ),
        members=members or (),
        excluded=excluded or (),
        is_project="project" in document,
        is_described=bool(poetry) or not _DESCRIBING.isdisjoint(document),
        is_workspace=isinstance(uv.get("workspace"), dict),
        installed=_list_names_uv_installs(document),
        groups=_collect_names(table(document, "dependency-groups")),
        extras=_collect_names(table(project, "optional-dependencies")),
    )


def _collect_names(lists: Mapping[str, object]) -> Mapping[str, frozenset[str]]:
    return {
        name: frozenset(each.artifact for each in _read_list(listed, Role.DEPENDENCY, {}))
        for name, listed in lists.items()
    }


def _list_names_uv_installs(document: Mapping[str, Any]) -> frozenset[str]:
    uv = table(document, "tool", "uv")
    groups = table(document, "dependency-groups")
    default = uv.get("default-groups", ["dev"])
    lists = {
        "project": table(document, "project").get("dependencies"),
        "uv": uv.get("dev-dependencies"),
        **{name: groups[name] for name in groups if default == "all" or name in words(default)},
    }
    return frozenset().union(*_collect_names(lists).values())


def _optional(document: Mapping[str, Any], seen: Mentions) -> Iterator[Coordinate]:
    poetry = table(document, "tool", "poetry")
    yield from _read_poetry_group(table(poetry, "dev-dependencies"), seen, "dev-dependencies")
    for name, group in table(poetry, "group").items():
        yield from _read_poetry_group(table(group, "dependencies"), seen, f"group {name}")
    for scope, listed in _list_dependency_groups(document):
        yield from _read_list(listed, Role.DEPENDENCY, seen, scope)


def _list_dependency_groups(document: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    tools = table(document, "tool")
    yield from table(document, "project", "optional-dependencies").items()
    for name, group in table(document, "dependency-groups").items():
        yield f"dependency-groups {name}", group
    for name, group in table(tools, "pdm", "dev-dependencies").items():
        yield f"dev-dependencies {name}", group
    yield "dev-dependencies", table(tools, "uv").get("dev-dependencies")
    for name, environment in table(tools, "hatch", "envs").items():
        for key in ("dependencies", "extra-dependencies"):
            yield f"dev {name}", table(environment).get(key)


def _read_list(value: object, role: Role, seen: Mentions, scope: str = "") -> list[Coordinate]:
    coordinates = (parse_requirement(text, role, lines_in(seen, text)) for text in words(value))
    return [replace(coordinate, scope=scope) for coordinate in coordinates if coordinate]


def _python(
    project: Mapping[str, Any], poetry: Mapping[str, Any], seen: Mentions
) -> Iterator[Coordinate]:
    if version := word(project.get("requires-python")):
        yield runtime("python", version, lines_in(seen, "requires-python"))
    elif version := _poetry_version(table(poetry, "dependencies").get("python")):
        yield runtime("python", version, lines_in(seen, "python"))


def _read_poetry_group(
    group: Mapping[str, Any], seen: Mentions, scope: str = ""
) -> list[Coordinate]:
    coordinates = []
    for name, value in group.items():
        key, lines = normalise_name(name), lines_in(seen, name)
        for each in value if isinstance(value, list) else [value]:
            one = Coordinate("", key, _poetry_version(each), Role.DEPENDENCY, lines, "pypi")
            coordinates += [replace(one, scope=scope)] if name != "python" else []
    return coordinates


def _poetry_version(value: object) -> str | None:
    version = word(value.get("version") if isinstance(value, dict) else value)
    return None if version is None or version.strip() == "*" else version


def read_pipfile(content: bytes) -> Manifest:
    text = text_of(content)
    document = load_toml(text)
    seen = index_toml_lines(text)
    requires = table(document, "requires")
    python = word(requires.get("python_full_version")) or word(requires.get("python_version"))
    optional = [
        each
        for name, value in document.items()
        if isinstance(value, dict) and name not in {"packages", "requires", "scripts", "pipenv"}
        for each in _read_poetry_group(value, seen, name)
    ]
    own = [runtime("python", _pin_python(python), lines_in(seen, "requires"))] if python else []
    main = _read_poetry_group(table(document, "packages"), seen)
    return Manifest(coordinates=(*own, *list_entries(main, optional)))


def read_python_version(content: bytes) -> Manifest:
    lines = [line.strip() for line in text_of(content).split("\n")]
    match = _VERSION.match(next((line for line in lines if line and line[0] != "#"), ""))
    if not match:
        return Manifest()
    return Manifest(coordinates=(runtime("python", _pin_python(match[1]), role=Role.LOCKED),))


def _pin_python(version: str) -> str:
    whole = version.count(".") + 1 >= _WHOLE or not version[-1].isdigit()
    return f"=={version}" if whole else f"=={version}.*"
