"""Cargo: packages and workspaces. Pure."""

from __future__ import annotations

from prjury.judges.builds.plan import NATIVE, BuildPlan, BuildStep, BuildSystem
from prjury.judges.builds.source_tree import (
    SourceTree,
    is_below,
    is_within,
    join_path,
    match_workspace_members,
    nearest,
    path_in,
)
from prjury.manifests.cargo import CargoToml, read_cargo_toml

_MANIFEST = "Cargo.toml"
#: Cargo's exit code if tests failed. Compiling is a step of its own, so it means nothing else here,
#: and with ``--no-fail-fast`` every test program runs.
_TESTS_FAILED = 101


def _plan_crates(root: SourceTree) -> tuple[BuildPlan, ...]:
    manifests: dict[str, CargoToml] = {}
    for directory in sorted(root.directories_with(_MANIFEST)):
        above = [place for place in manifests if is_below(directory, place)]
        owned = any(_owns(manifests[place], place, directory) for place in above)
        if not owned and root.may_hold_project(directory):
            manifest = root.readable(path_in(directory, _MANIFEST), read_cargo_toml)
            manifests[directory] = manifest or CargoToml()
    plans = []
    for place, cargo in manifests.items():
        which = ("--workspace",) if cargo.is_workspace and not cargo.default else ()
        steps = [BuildStep("build", ("cargo", "test", "--no-run", *which))]
        names = _list_changed_crates_outside_default(root.below(place), cargo)
        besides = tuple(word for name in names for word in ("-p", name))
        for packages in (which, besides) if besides else (which,):
            command = ("cargo", "test", "--no-fail-fast", *packages)
            steps.append(BuildStep("test", command, all_ran=_TESTS_FAILED))
        reasons = (f"{_MANIFEST} is there",)
        plans.append(BuildPlan("cargo", tuple(steps), reasons, directory=place))
    return tuple(plans)


def _owns(manifest: CargoToml, place: str, directory: str) -> bool:
    """Tell whether a package below is the workspace's: Cargo refuses one that is not excluded."""
    excluded = (join_path(place, path) for path in manifest.excluded)
    return manifest.is_workspace and not any(
        path is not None and is_within(directory, path) for path in excluded
    )


def _list_changed_crates_outside_default(part: SourceTree, manifest: CargoToml) -> list[str]:
    if not manifest.default or part.changed is None:
        return []
    places = part.directories_with(_MANIFEST)
    default = match_workspace_members(manifest.default, places)
    homes = {nearest(path, places) for path in part.changed_sources} - default
    packages = (part.readable(path_in(home, _MANIFEST), read_cargo_toml) for home in homes if home)
    return sorted(package.name for package in packages if package and package.name)


CARGO = BuildSystem((_MANIFEST,), {"cargo": NATIVE | {".rs"}}, _plan_crates)
