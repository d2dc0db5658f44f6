"""Finds packs and rules by name, among those that ship, are installed, or lie at given paths."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Literal

from prjury.errors import ConfigError, UsageError
from prjury.resources import rule_packs
from prjury.rulepacks.load import LoadedPack, find_publishing_problems, load_packs
from prjury.rulepacks.rule import Pack, PatternRule

GROUP = "prjury.packs"


def list_provided_packs(
    wanted: Literal["auto"] | Sequence[str], points: Iterable[EntryPoint] | None = None
) -> list[Pack]:
    """Return the packs with these ids of installed distributions, or of these entry points."""
    packs = [
        loaded.pack
        for loaded in (load_provided() if points is None else _load_packs_of_entry_points(points))
    ]
    return [pack for pack in packs if wanted == "auto" or pack.id in wanted]


@cache
def load_provided() -> tuple[LoadedPack, ...]:
    """Load the packs of all installed distributions, each checked."""
    return _load_packs_of_entry_points(entry_points(group=GROUP))


def _load_packs_of_entry_points(points: Iterable[EntryPoint]) -> tuple[LoadedPack, ...]:
    by_id: dict[str, tuple[str, LoadedPack]] = {}
    for point in sorted(points, key=lambda point: (point.name, point.value)):
        name, path = _name_point(point), _load_path_of_packs(point)
        try:
            packs = load_packs([path])
        except ConfigError as error:
            problem = f"a pack of {name} is wrong: {error.what}"
            raise ConfigError(problem, why=error.why, remedy=error.remedy) from error
        for loaded in packs:
            other, first = by_id.setdefault(loaded.pack.id, (name, loaded))
            if first is not loaded:
                problem = f"{other} and {name} both bring a pack {loaded.pack.id}"
                raise ConfigError(problem, remedy="Uninstall one of them")
    return tuple(loaded for _, loaded in by_id.values())


def _load_path_of_packs(point: EntryPoint) -> Path:
    try:
        value = point.load()
        path = Path(os.fspath(value() if callable(value) else value))
    except Exception as error:
        raise ConfigError(
            f"the packs of {_name_point(point)} cannot be had: {type(error).__name__}: {error}",
            why="An entry point of `prjury.packs` names a path, or a function that returns one",
            remedy="Repair or uninstall that distribution",
        ) from error
    if not path.is_absolute():
        raise ConfigError(
            f"the packs of {_name_point(point)} are at {str(path)!r}, which is not absolute",
            remedy="Build the path from the place of the package: Path(__file__).parent",
        )
    return path


def _name_point(point: EntryPoint) -> str:
    distribution = point.dist.name if point.dist else "an unknown distribution"
    return f"{distribution} (entry point {point.name} = {point.value})"


_MOST = 5


def packs_at(paths: Sequence[Path]) -> list[LoadedPack]:
    """Return the packs at the paths with their tests, fit to be published; else our own."""
    return load_packs(paths or [rule_packs()], find_publishing_problems)


def list_known(paths: Sequence[Path]) -> list[Pack]:
    """Return the packs at the paths, unchecked; else those that ship and those installed."""
    loaded = load_packs(paths or [rule_packs()], lambda _: ())
    by_id = {each.pack.id: each.pack for each in [*loaded, *(() if paths else load_provided())]}
    return [by_id[name] for name in sorted(by_id)]


def require_pack_or_rule(name: str, packs: Sequence[Pack]) -> tuple[Pack, PatternRule | None]:
    """The pack of this name, or the rule ``pack/rule`` and its pack; UsageError for others."""
    by_name: dict[str, tuple[Pack, PatternRule | None]] = {pack.id: (pack, None) for pack in packs}
    for pack in packs:
        by_name |= {f"{pack.id}/{rule.id}": (pack, rule) for rule in pack.rules}
    if name in by_name:
        return by_name[name]
    near = _suggest(name, list(by_name))
    remedy = f"Did you mean {' or '.join(near)}?" if near else "`prjury rules list` names the packs"
    raise UsageError(f"there is no pack or rule {name!r}", remedy=remedy)


def _suggest(name: str, known: Sequence[str]) -> list[str]:
    word = name.rpartition("/")[2]
    ends = {full: full.rpartition("/")[2] for full in known}
    same = [full for full, end in ends.items() if end == word]
    alike = get_close_matches(name, known, _MOST, 0.8)
    close = get_close_matches(word, list(ends.values()), _MOST, 0.75)
    return list(dict.fromkeys([*same, *alike, *(f for f in known if ends[f] in close)]))[:_MOST]
