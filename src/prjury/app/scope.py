"""Which tiers a change concerns, by the policy's `paths`. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from prjury.policy.schema import Config
from prjury.snapshot.exempt import matches
from prjury.snapshot.model import PullRequest


def tiers_aside(config: Config, pull: PullRequest) -> tuple[str, ...]:
    """The names of the tiers that judge none of the changed paths.

    The first entry that matches a path counts; what no entry matches is judged by all tiers. A
    renamed file has both of its paths.
    """
    every = [tier.name for tier in config.tiers]
    if not (config.paths and pull.files):
        return ()
    paths = {path for file in pull.files for path in (file.path, file.old_path) if path}
    asked = {name for path in paths for name in _asked(path, config, every)}
    return tuple(name for name in every if name not in asked)


def _asked(path: str, config: Config, every: Iterable[str]) -> Iterable[str]:
    entries = (e for e in config.paths if any(matches(path, glob) for glob in e.match))
    found = next(entries, None)
    return found.tiers if found else every
