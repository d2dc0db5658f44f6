"""Reads requirements as Python's packages write them: PEP 508, and pip's files of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
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


def normalised(name: str) -> str:
    """A package's name as the index compares it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def requirement(text: str, role: Role, lines: tuple[int, ...] = ()) -> Coordinate | None:
    """One requirement; None for text that names no package.

    Where more than the name cannot be read, its version is not known.
    """
    from packaging.requirements import (  # noqa: PLC0415 - only Python projects need it
        InvalidRequirement,
        Requirement,
    )

    try:
        read = Requirement(text[:_MAX_LENGTH])
    except (InvalidRequirement, RecursionError):
        match = _NAME.match(text)
        return Coordinate("", normalised(match[1]), None, role, lines, "pypi") if match else None
    version = None if read.url else str(read.specifier) or None
    return Coordinate("", normalised(read.name), version, role, lines, "pypi")


def merged(
    main: Sequence[Sequence[Coordinate]], optional: Sequence[Sequence[Coordinate]]
) -> tuple[tuple[Coordinate, ...], tuple[Coordinate, ...]]:
    """Each dependency once, with all of its lines; and the entries that say another version.

    The first list with a version counts. What extras and groups say counts only where the project
    itself names no version. They may contradict each other, so each version of theirs is kept, as
    an optional one.
    """
    found: dict[str, list[Coordinate]] = {}
    for group in main:
        for name, entries in _by_name(group).items():
            known = found.get(name, [])
            first = known if any(c.version for c in known) else entries
            found[name] = _with_lines(first, [*known, *entries])
    extras = [replace(each, optional=True) for group in optional for each in group]
    for name, entries in _by_name(extras).items():
        known = found.get(name, [])
        if any(c.version for c in known):
            found[name] = _with_lines(known, [*known, *entries])
            continue
        for version in dict.fromkeys(c.version for c in entries):
            same = [c for c in entries if c.version == version]
            known = [*known, *_with_lines(same[:1], same)]
        found[name] = known
    kept = tuple(coordinate for entries in found.values() for coordinate in entries)
    known_as = {(each.artifact, each.version) for each in kept}
    every = (*(each for group in main for each in group), *extras)
    return kept, tuple(one for one in every if (one.artifact, one.version) not in known_as)


def _by_name(coordinates: Iterable[Coordinate]) -> dict[str, list[Coordinate]]:
    found: dict[str, list[Coordinate]] = {}
    for coordinate in coordinates:
        found.setdefault(coordinate.artifact, []).append(coordinate)
    return found


def _with_lines(kept: list[Coordinate], named: list[Coordinate]) -> list[Coordinate]:
    """The first of those that are kept gets the lines of all that are not."""
    own = {line for c in kept for line in c.lines}
    more = sorted({line for c in named for line in c.lines} - own)
    return [replace(kept[0], lines=(*kept[0].lines, *more)), *kept[1:]]


def read_requirements(content: bytes) -> Manifest:
    """What a ``requirements.txt`` asks for, and the files that it includes."""
    return _read(content, Role.DEPENDENCY)


def read_constraints(content: bytes) -> Manifest:
    """A file of constraints: they ask for nothing, and say which version it would be."""
    return _read(content, Role.LOCKED)


def _read(content: bytes, role: Role) -> Manifest:
    found: list[Coordinate] = []
    includes: list[str] = []
    for count, (number, line) in enumerate(_logical_lines(text_of(content))):
        if count >= _MAX_NUMBER:
            raise ManifestError(f"more than {_MAX_NUMBER} requirements")
        if include := _INCLUDE.match(line):
            includes.append(include[1])
        elif coordinate := _requirement(line, role, number):
            found.append(coordinate)
    return Manifest(coordinates=tuple(found), includes=tuple(includes))


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their continuations, without comments, by the number of the first."""
    number = 1
    for line in re.split(r"(?<!\\)\n", re.sub(r"\\[ \t]+\n", r"\\\n", text)):
        code = _COMMENT.sub("", _CONTINUED.sub(" ", line)).strip()
        if code:
            yield number, code
        number += line.count("\n") + 1


def _requirement(line: str, role: Role, number: int) -> Coordinate | None:
    editable = _EDITABLE.match(line)
    if editable or "://" in line.partition("@")[0]:
        egg = _EGG.search(line)
        return requirement(egg[1], role, (number,)) if egg else None
    if line.startswith(("-", ".", "/")):
        return None
    return requirement(_OPTION.sub("", line), role, (number,))
