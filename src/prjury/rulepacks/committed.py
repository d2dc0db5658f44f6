"""The user's packs as the base's commit has them; a working directory has no say in it."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from prjury.errors import ConfigError, SourceError
from prjury.policy.fields import is_inside
from prjury.policy.yaml_reader import read_yaml
from prjury.ports import Repository
from prjury.ports.types import TreeEntry
from prjury.rulepacks.files import decode_pack
from prjury.rulepacks.load import (
    CASES,
    LARGEST,
    LoadedPack,
    cases_of,
    ensure_sound,
    read_pack,
    require_distinct,
)
from prjury.rulepacks.rule import Pack
from prjury.snapshot.kinds import REGULAR_MODES
from prjury.snapshot.model import MISSING, PullRequest, visible

_TOP = "."
_REMEDY = "Correct the pack, or where the policy says that it is"


class CommittedPacks(Struct, frozen=True):
    """The user's packs, and the files and directories of the base that they come from, if any."""

    packs: Sequence[Pack] = ()
    places: Sequence[str] = ()

    def note_if_touched(self, pull: PullRequest) -> str | None:
        """Return a note if a pull request changes them."""
        for file in pull.files:
            for name in filter(None, (file.old_path, file.path)):
                if any(_holds_file(place, name) for place in self.places):
                    in_force = "the base's packs are in force until it is merged"
                    return f"this change touches {visible(name)}; {in_force}"
        return None


def load_committed(repository: Repository, commit: str, paths: Iterable[str]) -> CommittedPacks:
    """Load the packs at these paths of a commit; ConfigError, or SourceError in a partial clone."""
    try:
        places = [_require_inside_repository(path) for path in paths]
        tree = {entry.path: entry for entry in repository.files(commit)}
        names = dict.fromkeys(name for place in places for name in _require_pack_files(place, tree))
        loaded = require_distinct([_load(name, tree, repository) for name in names])
    except ConfigError as error:
        problem = f"{error.what} (in the base commit {commit[:12]})"
        raise ConfigError(problem, remedy=_REMEDY, reason=error.reason) from error
    beside = [_cases_of(place) for place in places if place in tree]
    return CommittedPacks([each.pack for each in loaded], [*places, *beside])


def _require_pack_files(place: str, tree: Mapping[str, TreeEntry]) -> list[str]:
    if place in tree:
        return [place]
    if place != _TOP and not any(name.startswith(f"{place}/") for name in tree):
        raise ConfigError(f"there is no pack {visible(place)}")
    names = [n for n in sorted(tree) if _holds_file(place, n) and not n.endswith(CASES)]
    if not names:
        raise ConfigError(f"there is no pack (*.yml) in {visible(place)}")
    return names


def _load(name: str, tree: Mapping[str, TreeEntry], repository: Repository) -> LoadedPack:
    beside = _cases_of(name)
    cases = (
        read_yaml(_read_text(beside, tree, repository), beside, LARGEST) if beside in tree else None
    )
    return ensure_sound(read_pack(_read_text(name, tree, repository), name, cases))


def _cases_of(name: str) -> str:
    return str(cases_of(Path(name)))


def _read_text(name: str, tree: Mapping[str, TreeEntry], repository: Repository) -> str:
    if tree[name].mode not in REGULAR_MODES:
        raise ConfigError(f"the pack {visible(name)} is not a regular file")
    blob = tree[name].blob
    content = repository.read([blob])[blob]
    if content is None:
        raise SourceError(f"the pack {visible(name)} is {MISSING}", reason="object_missing")
    return decode_pack(content, visible(name), LARGEST)


def _require_inside_repository(path: str) -> str:
    inside = posixpath.normpath(path)
    if inside != _TOP and not is_inside(inside):
        raise ConfigError(
            f"the path of packs {visible(path)} leaves the repository; only a policy that is "
            "handed over with --config may name such a one",
        )
    return inside


def _holds_file(place: str, name: str) -> bool:
    directory = posixpath.dirname(name) or _TOP
    return name == place or (directory == place and name.endswith(".yml"))
