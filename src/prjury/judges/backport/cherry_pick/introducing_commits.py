"""Which earlier changes brought the names and files that a branch lacks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prjury.judges.backport.content.missing_symbols import MissingSymbols
from prjury.judges.backport.past.history import MOST_UNITS
from prjury.ports import Releases
from prjury.snapshot.merge_style import StyleCommit
from prjury.snapshot.model import PullRequest

#: So many names that the branch lacks are traced to what brought them.
_MOST_TRACED = 6
_MOST_OF_A_FILE = 200


def introducing_commits(
    lacking: Sequence[MissingSymbols], pull: PullRequest, parted: str, releases: Releases
) -> Iterator[StyleCommit]:
    """The changes on the base since then that brought what the branch lacks.

    Raises:
        SourceError: when history cannot be read.
    """
    for one in lacking[:_MOST_TRACED]:
        if unit := _brought(one, pull.merge_base, parted, releases):
            yield unit


def _brought(
    lacks: MissingSymbols, base: str, parted: str, releases: Releases
) -> StyleCommit | None:
    """The change that brought a name, or a whole file."""
    path = lacks.defined.path
    if lacks.defined.line is not None:
        return releases.bringing(lacks.name, path, parted, base)
    units = releases.units(parted, base, [path], _MOST_OF_A_FILE)
    return units[-1] if units else None


def in_order(
    units: Sequence[StyleCommit], pull: PullRequest, parted: str, releases: Releases
) -> list[StyleCommit]:
    """The units as they came to the base, oldest first, each once.

    Raises:
        SourceError: when history cannot be read.
    """
    found = {unit.sha: unit for unit in units if unit.parents}
    brought = releases.brought(parted, pull.merge_base, MOST_UNITS) if len(found) > 1 else ()
    places = {message.sha: -place for place, message in enumerate(brought)}
    return sorted(found.values(), key=lambda unit: places.get(unit.sha, -MOST_UNITS))
