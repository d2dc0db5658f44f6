"""Finds packs and rules by name, among those that ship, are installed, or lie at given paths."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from prjury.errors import UsageError
from prjury.resources import rule_packs
from prjury.rulepacks.installed import provided
from prjury.rulepacks.load import LoadedPack, load_packs, published, read
from prjury.rulepacks.rule import Pack, PatternRule

_MOST = 5


def packs_at(paths: Sequence[Path]) -> list[LoadedPack]:
    """The packs at the paths with their tests, fit to be published; without paths, our own.

    Raises:
        ConfigError: for a path that does not exist and for everything that is wrong in a pack.
    """
    return load_packs(paths or [rule_packs()], published)


def known_packs(paths: Sequence[Path]) -> list[Pack]:
    """The packs at the paths; without paths, those that ship and those that are installed.

    Raises:
        ConfigError: for what is wrong in the structure of one of them.
    """
    read_ones = load_packs(paths or [rule_packs()], read)
    found = {loaded.pack.id: loaded.pack for loaded in read_ones}
    if not paths:
        found |= {loaded.pack.id: loaded.pack for loaded in provided()}
    return [found[name] for name in sorted(found)]


def named(name: str, packs: Sequence[Pack]) -> tuple[Pack, PatternRule | None]:
    """The pack of this name, or the rule ``pack/rule`` and its pack.

    Raises:
        UsageError: for an unknown name, with those that are near it.
    """
    by_name: dict[str, tuple[Pack, PatternRule | None]] = {pack.id: (pack, None) for pack in packs}
    for pack in packs:
        by_name |= {f"{pack.id}/{rule.id}": (pack, rule) for rule in pack.rules}
    if name in by_name:
        return by_name[name]
    near = _near(name, list(by_name))
    remedy = f"Did you mean {' or '.join(near)}?" if near else "`prjury rules list` names the packs"
    raise UsageError(f"there is no pack or rule {name!r}", remedy=remedy)


def _near(name: str, known: Sequence[str]) -> list[str]:
    """Names that are spelt alike, or whose last part is; those that are the same there first."""
    word = name.rpartition("/")[2]
    ends = {full: full.rpartition("/")[2] for full in known}
    same = [full for full, end in ends.items() if end == word]
    alike = get_close_matches(name, known, _MOST, 0.8)
    close = get_close_matches(word, list(ends.values()), _MOST, 0.75)
    return list(dict.fromkeys([*same, *alike, *(f for f in known if ends[f] in close)]))[:_MOST]
