"""Cargo: packages and workspaces. Pure."""

from __future__ import annotations

from prjury.judges.builds.plan import BuildPlan, BuildStep
from prjury.judges.builds.systems.build_system import NATIVE, DocsRows, When
from prjury.judges.builds.systems.projects import (
    FoundProject,
    is_below,
    match_members,
    names_outside,
    select_affected,
)
from prjury.judges.builds.systems.source_tree import (
    Changes,
    SourceTree,
    is_within,
    join_path,
    nearest,
    outermost_first,
    path_in,
)
from prjury.manifests.cargo import CargoToml, read_cargo_toml

MANIFEST = "Cargo.toml"
MANIFESTS = (MANIFEST,)
COVERS = {"cargo": NATIVE | {".rs"}}
WHEN: When = "always"
DOCS: DocsRows = (
    (
        "`Cargo.toml`",
        "`cargo test --no-run --workspace`, `cargo test --no-fail-fast --workspace`",
    ),
)

#: Cargo's exit code if tests failed. Compiling is a step of its own, so it means nothing else here,
#: and with ``--no-fail-fast`` every test program runs.
_TESTS_FAILED = 101


def plans(root: SourceTree, changes: Changes | None) -> tuple[BuildPlan, ...]:
    """The workspaces and packages that the change affects, each of them whole."""
    projects: dict[str, FoundProject] = {}
    manifests: dict[str, CargoToml] = {}
    for directory in outermost_first(root.directories_with(MANIFEST)):
        above = [place for place in projects if is_below(directory, place)]
        owned = any(_owns(manifests[place], place, directory) for place in above)
        if owned or not root.may_hold_project(directory):
            continue
        part = root.below(directory)
        manifest = part.readable(MANIFEST, read_cargo_toml) or CargoToml()
        offered = (join_path(part.place, path) for path in manifest.offered.values())
        leads_out = any(path and not is_within(path, part.place) for path in offered)
        places = part.directories_with(MANIFEST)
        leads_out = leads_out or names_outside(part, places, MANIFEST, read_cargo_toml)
        manifests[directory] = manifest
        projects[directory] = FoundProject((_plan(part, manifest),), leads_out)
    return select_affected(projects, changes)


def _owns(manifest: CargoToml, place: str, directory: str) -> bool:
    """Tell whether Cargo takes a package below for a part of the workspace.

    It refuses to build one that the workspace neither has nor excludes.
    """
    excluded = (join_path(place, path) for path in manifest.excluded)
    return manifest.is_workspace and not any(
        path is not None and is_within(directory, path) for path in excluded
    )


def _plan(part: SourceTree, manifest: CargoToml) -> BuildPlan:
    which = ("--workspace",) if manifest.is_workspace and not manifest.default else ()
    steps = [BuildStep("build", ("cargo", "test", "--no-run", *which))]
    besides = [word for name in _list_changed(part, manifest) for word in ("-p", name)]
    for packages in (which, tuple(besides)) if besides else (which,):
        command = ("cargo", "test", "--no-fail-fast", *packages)
        steps.append(BuildStep("test", command, all_ran=_TESTS_FAILED))
    return BuildPlan("cargo", tuple(steps), (f"{MANIFEST} is there",))


def _list_changed(part: SourceTree, manifest: CargoToml) -> list[str]:
    """The packages in which something changes, of those that are not built by default."""
    if not manifest.default or part.changed is None:
        return []
    places = part.directories_with(MANIFEST)
    default = match_members(manifest.default, places)
    homes = {nearest(path, places) for path in part.changed.paths} - default
    packages = (part.readable(path_in(home, MANIFEST), read_cargo_toml) for home in homes if home)
    return sorted(package.name for package in packages if package and package.name)
