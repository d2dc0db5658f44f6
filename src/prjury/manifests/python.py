"""Reads ``pyproject.toml``, in the words of PEP 621, PEP 735, Poetry, PDM, Hatch and uv."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from prjury.manifests.manifest import Coordinate, Manifest, Role
from prjury.manifests.requirements import merged, normalised, overridden, requirement
from prjury.manifests.setuptools import package, python_itself
from prjury.manifests.syntax import lines_in, table, text_of, toml_mentions, toml_of, word, words

_VERSION = re.compile(r"(\d+(?:\.\d+)*)(?:\s|$)")
_WHOLE = 3


def read_pyproject(content: bytes) -> Manifest:
    """What a ``pyproject.toml`` declares.

    What the project needs to run counts more than what extras and groups say of the same package.

    Raises:
        ManifestError: for a file that is not TOML.
    """
    text = text_of(content)
    document = toml_of(text)
    seen = toml_mentions(text)
    project = table(document, "project")
    poetry = table(document, "tool", "poetry")
    name = word(project.get("name")) or word(poetry.get("name"))
    version = word(project.get("version")) or word(poetry.get("version"))
    main, optional = _main(document, seen), _optional(document, seen)
    return Manifest(
        name=name or "",
        version=version,
        own_version=version,
        further=overridden(main, optional),
        coordinates=(
            *([package(name, version)] if name else []),
            *_python(project, poetry, seen),
            *merged(main, optional),
            *_pinned(document, seen),
            *_building(document, seen),
        ),
    )


def dependency_names(document: Mapping[str, Any]) -> frozenset[str]:
    """The names of all packages that a ``pyproject.toml`` asks for, for whatever purpose."""
    lists = (*_main(document, {}), *_optional(document, {}), _building(document, {}))
    return frozenset(each.artifact for group in lists for each in group)


def _main(document: Mapping[str, Any], seen: Mapping[str, Sequence[int]]) -> list[list[Coordinate]]:
    return [
        _listed(table(document, "project").get("dependencies"), Role.DEPENDENCY, seen),
        _poetry(table(document, "tool", "poetry", "dependencies"), seen),
    ]


def _optional(
    document: Mapping[str, Any], seen: Mapping[str, Sequence[int]]
) -> list[list[Coordinate]]:
    groups = _poetry_groups(table(document, "tool", "poetry"))
    return [
        *(_poetry(group, seen, scope) for scope, group in groups),
        *(_listed(group, Role.DEPENDENCY, seen, scope) for scope, group in _groups(document)),
    ]


def _building(document: Mapping[str, Any], seen: Mapping[str, Sequence[int]]) -> list[Coordinate]:
    requires = table(document, "build-system").get("requires")
    return _listed(requires, Role.PLUGIN, seen, "build")


def _groups(document: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """The lists of requirements of extras, groups and environments, each with its scope."""
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


def _listed(
    value: object, role: Role, seen: Mapping[str, Sequence[int]], scope: str = ""
) -> list[Coordinate]:
    found = (requirement(text, role, lines_in(seen, text)) for text in words(value))
    return [replace(coordinate, scope=scope) for coordinate in found if coordinate]


def _pinned(document: Mapping[str, Any], seen: Mapping[str, Sequence[int]]) -> Iterator[Coordinate]:
    """What uv is told to take whatever others ask for, and what it would take."""
    uv = table(document, "tool", "uv")
    yield from _listed(uv.get("override-dependencies"), Role.MANAGED, seen)
    yield from _listed(uv.get("constraint-dependencies"), Role.LOCKED, seen)


def _python(
    project: Mapping[str, Any], poetry: Mapping[str, Any], seen: Mapping[str, Sequence[int]]
) -> Iterator[Coordinate]:
    if told := word(project.get("requires-python")):
        yield python_itself(told, lines_in(seen, "requires-python"))
    elif told := _poetry_version(table(poetry, "dependencies").get("python")):
        yield python_itself(told, lines_in(seen, "python"))


def _poetry_groups(poetry: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield "dev-dependencies", table(poetry, "dev-dependencies")
    for name, group in table(poetry, "group").items():
        yield f"group {name}", table(group, "dependencies")


def _poetry(
    group: Mapping[str, Any], seen: Mapping[str, Sequence[int]], scope: str = ""
) -> list[Coordinate]:
    return [
        Coordinate(
            "",
            normalised(name),
            _poetry_version(each),
            Role.DEPENDENCY,
            lines_in(seen, name),
            "pypi",
            scope=scope,
        )
        for name, value in group.items()
        if name != "python"
        for each in (value if isinstance(value, list) else [value])
    ]


def _poetry_version(value: object) -> str | None:
    """A constraint, or a table with one; None where any version will do."""
    told = word(value.get("version") if isinstance(value, dict) else value)
    return None if told is None or told.strip() == "*" else told


def read_pipfile(content: bytes) -> Manifest:
    """What a ``Pipfile`` asks for.

    Raises:
        ManifestError: for a file that is not TOML.
    """
    text = text_of(content)
    document = toml_of(text)
    seen = toml_mentions(text)
    requires = table(document, "requires")
    python = word(requires.get("python_full_version")) or word(requires.get("python_version"))
    groups = [
        _poetry(value, seen, name)
        for name, value in document.items()
        if isinstance(value, dict) and name not in {"packages", "requires", "scripts", "pipenv"}
    ]
    main = [_poetry(table(document, "packages"), seen)]
    own = [python_itself(_pinned_python(python), lines_in(seen, "requires"))] if python else []
    found = (*own, *merged(main, groups))
    return Manifest(coordinates=found, further=overridden(main, groups))


def read_python_version(content: bytes) -> Manifest:
    """The Python that developers of the project use, in a ``.python-version``.

    Raises:
        ManifestError: for a file that is no text.
    """
    lines = [line.strip() for line in text_of(content).split("\n")]
    match = _VERSION.match(next((line for line in lines if line and line[0] != "#"), ""))
    if not match:
        return Manifest()
    return Manifest(
        coordinates=(replace(python_itself(_pinned_python(match[1])), role=Role.LOCKED),)
    )


def _pinned_python(version: str) -> str:
    """``3.12`` stands for every 3.12."""
    whole = version.count(".") + 1 >= _WHOLE or not version[-1].isdigit()
    return f"=={version}" if whole else f"=={version}.*"
