"""Packs that installed distributions bring along: entry points of the group ``prjury.packs``.

The object of an entry point is the absolute path of a file or directory, or a function of no
arguments that returns one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Literal

from prjury.errors import ConfigError
from prjury.rulepacks.load import LoadedPack, load_packs
from prjury.rulepacks.rule import Pack

GROUP = "prjury.packs"


def provided_packs(
    wanted: Literal["auto"] | Sequence[str], points: Iterable[EntryPoint] | None = None
) -> list[Pack]:
    """The packs of installed distributions that are asked for.

    Args:
        wanted: the ids of packs; ``auto`` means every pack.
        points: entry points, in place of those that are installed.

    Raises:
        ConfigError: for an entry point that is broken and for a pack of one that is wrong, also
            where it is not asked for; the message names the distribution.
    """
    found = [loaded.pack for loaded in provided(points)]
    return [pack for pack in found if wanted == "auto" or pack.id in wanted]


def provided(points: Iterable[EntryPoint] | None = None) -> list[LoadedPack]:
    """The packs of all distributions, each checked as any pack is.

    Raises:
        ConfigError: as `provided_packs` does.
    """
    return list(_installed() if points is None else _of(points))


@cache
def _installed() -> tuple[LoadedPack, ...]:
    return _of(entry_points(group=GROUP))


def _of(points: Iterable[EntryPoint]) -> tuple[LoadedPack, ...]:
    by_id: dict[str, tuple[str, LoadedPack]] = {}
    for point in sorted(points, key=lambda point: (point.name, point.value)):
        for loaded in _loaded(point):
            other, _ = by_id.setdefault(loaded.pack.id, (_name(point), loaded))
            if by_id[loaded.pack.id][1] is not loaded:
                raise ConfigError(
                    f"{other} and {_name(point)} both bring a pack {loaded.pack.id}",
                    remedy="Uninstall one of them",
                )
    return tuple(loaded for _, loaded in by_id.values())


def _loaded(point: EntryPoint) -> list[LoadedPack]:
    path = _path(point)
    try:
        return load_packs([path])
    except ConfigError as error:
        told = f"a pack of {_name(point)} is wrong: {error.what}"
        raise ConfigError(told, why=error.why, remedy=error.remedy) from error


def _path(point: EntryPoint) -> Path:
    try:
        found = point.load()
        path = Path(os.fspath(found() if callable(found) else found))
    except Exception as error:
        raise ConfigError(
            f"the packs of {_name(point)} cannot be had: {type(error).__name__}: {error}",
            why="An entry point of `prjury.packs` names a path, or a function that returns one",
            remedy="Repair or uninstall that distribution",
        ) from error
    if not path.is_absolute():
        raise ConfigError(
            f"the packs of {_name(point)} are at {str(path)!r}, which is not absolute",
            remedy="Build the path from the place of the package: Path(__file__).parent",
        )
    return path


def _name(point: EntryPoint) -> str:
    distribution = point.dist.name if point.dist else "an unknown distribution"
    return f"{distribution} (entry point {point.name} = {point.value})"
