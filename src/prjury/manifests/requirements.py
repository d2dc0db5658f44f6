"""Reads requirements as Python's packages write them: PEP 508, and pip's files of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from prjury.manifests.manifest import Coordinate, Manifest, ManifestError, Role
from prjury.manifests.syntax import text_of

_CONTINUED = re.compile(r"\\[ \t]*\n")
_COMMENT = re.compile(r"(?:^|\s)#.*")
_OPTION = re.compile(r"\s--?[a-zA-Z][\w-]*(?:[ =].*)?$")
_INCLUDE = re.compile(r"(?:-r|--requirement|-c|--constraint)(?:\s*=\s*|\s+|(?=[^\s-]))(\S+)")
_EDITABLE = re.compile(r"(?:-e|--editable)\s+(\S+)")
_EGG = re.compile(r"[#&]egg=([A-Za-z0-9][\w.-]*)")
_NAME = re.compile(r"\s*([A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)\s*(?=$|[\[<>=!~;(@])")
_MAX_LENGTH = 2_000
_MAX_NUMBER = 5_000


def normalise_name(name: str) -> str:
    """A package's name as the index compares it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def requirement(text: str, role: Role, lines: tuple[int, ...] = ()) -> Coordinate | None:
    """Read a requirement, or its name where no more can be read; None for no package."""
    from packaging.requirements import (  # noqa: PLC0415 - only Python projects need it
        InvalidRequirement,
        Requirement,
    )

    try:
        read = Requirement(text[:_MAX_LENGTH])
    except (InvalidRequirement, RecursionError):
        match = _NAME.match(text)
        return (
            Coordinate("", normalise_name(match[1]), None, role, lines, "pypi") if match else None
        )
    version = None if read.url else str(read.specifier) or None
    return Coordinate("", normalise_name(read.name), version, role, lines, "pypi")


def list_entries(
    main: Iterable[Coordinate], optional: Iterable[Coordinate]
) -> tuple[Coordinate, ...]:
    """List what a project asks for, and then, as optional, what its extras and groups ask for."""
    return (*main, *(replace(each, optional=True) for each in optional))


def read_requirements(content: bytes) -> Manifest:
    """Read what a ``requirements.txt`` asks for, and the files that it includes."""
    return _read_lines(content, Role.DEPENDENCY)


def read_constraints(content: bytes) -> Manifest:
    """A file of constraints: they ask for nothing, and say which version it would be."""
    return _read_lines(content, Role.LOCKED)


def _read_lines(content: bytes, role: Role) -> Manifest:
    coordinates: list[Coordinate] = []
    includes: list[str] = []
    for count, (number, line) in enumerate(_logical_lines(text_of(content))):
        if count >= _MAX_NUMBER:
            raise ManifestError(f"more than {_MAX_NUMBER} requirements")
        if include := _INCLUDE.match(line):
            includes.append(include[1])
        elif coordinate := _parse_line(line, role, number):
            coordinates.append(coordinate)
    return Manifest(coordinates=tuple(coordinates), includes=tuple(includes))


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    number = 1
    for line in re.split(r"(?<!\\)\n", re.sub(r"\\[ \t]+\n", r"\\\n", text)):
        code = _COMMENT.sub("", _CONTINUED.sub(" ", line)).strip()
        if code:
            yield number, code
        number += line.count("\n") + 1


def _parse_line(line: str, role: Role, number: int) -> Coordinate | None:
    editable = _EDITABLE.match(line)
    if editable or "://" in line.partition("@")[0]:
        egg = _EGG.search(line)
        return requirement(egg[1], role, (number,)) if egg else None
    if line.startswith(("-", ".", "/")):
        return None
    return requirement(_OPTION.sub("", line), role, (number,))
