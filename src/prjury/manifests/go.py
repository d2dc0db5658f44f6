"""Reads ``go.mod`` and ``go.work``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from prjury.manifests.manifest import Coordinate, Manifest, Role, runtime
from prjury.manifests.syntax import text_of

_WORDS = re.compile(r'"[^"]*"|`[^`]*`|[^\s()"`]+|[()]')
_DIRECTIVES = frozenset({"require", "replace", "tool", "module", "go", "use", "exclude", "retract"})


def read_go_mod_or_work(content: bytes) -> Manifest:
    """Read what a ``go.mod`` or ``go.work`` declares; indirect requirements count as locked."""
    required: list[Coordinate] = []
    replaced: dict[str, tuple[str, str | None]] = {}
    others: list[Coordinate] = []
    members: list[str] = []
    name = ""
    for number, (directive, *words), comment in _list_statements_with_comments(text_of(content)):
        match directive, words:
            case "require", [path, version, *_]:
                role = Role.LOCKED if "indirect" in comment else Role.DEPENDENCY
                required.append(_go(path, version, role, number))
            case "replace", [path, *rest] if "=>" in rest:
                target, target_version, *_ = [*rest[rest.index("=>") + 1 :], None, None]
                replaced[path] = (target or path, target_version)
            case "tool", [path, *_]:
                others.append(_go(path, None, Role.PLUGIN, number))
            case "module", [path, *_]:
                name = path
                others.append(_go(path, None, Role.SELF, number))
            case "use", [path, *_]:
                members.append(path)
            case "go", [version, *_]:
                others.append(runtime("go", version, (number,)))
    return Manifest(
        name=name,
        coordinates=(*others, *_apply_replacements(required, replaced)),
        further=tuple(each for each in required if each.artifact in replaced),
        members=tuple(members),
    )


def _apply_replacements(
    required: list[Coordinate], replaced: dict[str, tuple[str, str | None]]
) -> Iterator[Coordinate]:
    for coordinate in required:
        if coordinate.artifact not in replaced:
            yield coordinate
            continue
        path, version = replaced[coordinate.artifact]
        yield replace(coordinate, version=version)
        if version and path != coordinate.artifact:
            yield replace(coordinate, artifact=path, version=version)
    names = {coordinate.artifact for coordinate in required}
    for path, (_, version) in replaced.items():
        if path not in names and version:
            yield Coordinate("", path, version, Role.MANAGED, (), "go")


def _go(path: str, version: str | None, role: Role, line: int) -> Coordinate:
    return Coordinate("", path, version, role, (line,), "go")


def _list_statements_with_comments(text: str) -> Iterator[tuple[int, list[str], str]]:
    block = ""
    for number, line in enumerate(text.split("\n"), start=1):
        code, _, comment = line.partition("//")
        words = [word.strip('"`') for word in _WORDS.findall(code)]
        if not words:
            continue
        if words[-1] == "(" and words[0] in _DIRECTIVES:
            block = words[0]
        elif words == [")"]:
            block = ""
        elif block:
            yield number, [block, *words], comment
        else:
            yield number, words, comment
