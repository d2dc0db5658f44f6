"""Builds of a tree by its files, and those of them that a change can affect. Pure.

Different systems in one directory are all run; of alternatives for the same code one is chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace as changed

from msgspec import Struct
from msgspec.structs import replace

from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.systems import SYSTEMS
from prjury.judges.builds.systems.build_system import BuildSystem
from prjury.judges.builds.systems.source_tree import (
    Changes,
    SourceTree,
    find_excluded,
    is_below,
    is_within,
    nearest,
    parents_of,
    path_in,
)
from prjury.judges.builds.wording import join_names
from prjury.snapshot.model import visible

_AUTOMATIC = tuple(name for name, system in SYSTEMS.items() if system.when != "on_request")
_MOST_NAMED = 5
ALSO_FOUND = "also found and not run"
_NOT_TOUCHED = "not touched by the change and not built"
#: Code of others, which is not built here.
_VENDORED = frozenset("node_modules vendor third_party third-party thirdparty deps".split())
#: Tests and their data.
_OF_TESTS = frozenset(
    "test tests __tests__ testdata test-data fixture fixtures __fixtures__".split()
)


class DetectedBuilds(Struct, frozen=True):
    """The builds of a tree, notes on what is not run, and places of projects that are not built."""

    plans: tuple[BuildPlan, ...]
    notes: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()


class _Build(Struct, frozen=True):
    name: str
    plan: BuildPlan
    system: BuildSystem

    @property
    def place(self) -> tuple[str, str]:
        return self.name, self.plan.directory

    @property
    def only_compiles(self) -> bool:
        return self.system.when == "last_resort_if_untested" and not self.plan.tests

    @property
    def is_weak(self) -> bool:
        return self.system.when == "last_resort" or self.only_compiles


def detect_builds(
    root: SourceTree,
    changes: Changes | None,
    systems: Sequence[str] | None = None,
    own: Sequence[BuildSystem] = (),
) -> DetectedBuilds:
    """The builds that the change can affect; all of them, each whole, for None."""
    by_name = {name: SYSTEMS[name] for name in SYSTEMS if name in (systems or _AUTOMATIC)}
    by_name |= {name: system for system in own for name in system.covers}
    paths = changes.paths if changes else frozenset[str]()
    touched = (changes or root.changed or Changes(paths)).paths
    excluded = {one for path in touched for one in parents_of(path) if find_excluded(one)}
    excluded -= root.allowed
    allowed = root.allowed | excluded
    root = changed(root, changed=changes or root.changed, allowed=allowed)
    listed = [
        _Build(name, plan, system)
        for name, system in by_name.items()
        for plan in system.plans(root)
    ]
    every = [build for build in listed if build.plan.directory not in excluded]
    chosen = [build for build in every if not _is_replaced(root, build, every)]
    if not systems:  # none is left out for being weak where the policy names systems
        chosen = [build for build in chosen if not _is_outranked(build, chosen)]
    notes = _list_notes(root, every, chosen, systems)
    places = frozenset(build.plan.directory for build in chosen)
    whole = not paths or any(nearest(path, places) is None for path in paths)
    builds: list[BuildPlan] = []
    built = set[tuple[str, str]]()
    for build in sorted(chosen, key=lambda build: build.plan.directory):
        where = build.plan.directory
        inside = any(is_within(path, where) for path in paths)
        above = (other.plan for other in chosen if is_below(where, other.plan.directory))
        waits = build.system.is_recipe and any(plan.tests for plan in above)
        if whole or inside or (_may_need_files_outside(root, build) and not waits):
            plan = build.plan if inside and not whole else replace(build.plan, modules=())
            built.add(build.place)
            builds.append(replace(plan, source="convention") if build.is_weak else plan)
    notes += _note(_NOT_TOUCHED, chosen, built)
    others = frozenset(build.plan.directory for build in listed) | places
    skipped = {place for path in touched if (place := nearest(path, others)) in excluded}
    skipped = {place for place in skipped if place and not _is_material(place, places)}
    return DetectedBuilds(tuple(builds), tuple(notes), tuple(sorted(skipped)))


def _is_replaced(root: SourceTree, build: _Build, every: Sequence[_Build]) -> bool:
    where = build.plan.directory
    around = [other for other in every if is_within(where, other.plan.directory)]
    if not build.system.own and any(other.system.own for other in around):
        return True
    family = build.system.family
    kin = [other for other in around if other.system.family == family]
    if family == "jvm":
        kin = [other for other in kin if other.plan.directory == where]
    if not family:
        return False

    def rank(other: _Build) -> tuple[int, bool, bool]:
        plan, scripts = other.plan, other.system.tools[-1:]
        wrapped = any(path_in(plan.directory, script) in root.files for script in scripts)
        return len(plan.directory), not plan.tests, not wrapped

    return build is not min(kin, key=rank)


def _is_outranked(build: _Build, every: Sequence[_Build]) -> bool:
    """Tell whether there are better builds of the same code than those that often call others."""
    if not build.is_weak:
        return False
    where = build.plan.directory
    strong = [other.plan for other in every if not other.is_weak]
    beside = [plan for plan in strong if plan.directory == where]
    only_tests = build.plan.tests and not any(plan.tests for plan in beside)
    if any(is_below(where, plan.directory) for plan in strong) or (beside and not only_tests):
        return True
    if build.only_compiles and any(is_below(plan.directory, where) for plan in strong):
        return True
    rivals = [other for other in every if other.is_weak and other.plan.directory == where]
    return build is not min(rivals, key=lambda other: not other.plan.tests)


def _may_need_files_outside(root: SourceTree, build: _Build) -> bool:
    """True if a manifest names a place outside of its project; recipes do not say."""
    where = build.plan.directory
    part = root.below(where)
    is_member = build.plan.system == "uv" and not part.has("uv.lock")
    if build.system.is_recipe or is_member:
        return True
    above = [*parents_of(where)]
    if build.name == "maven" and any(
        path_in(place, ".mvn") in root.directories
        or (path_in(place, "pom.xml") in root.files and "<parent>" in part.text("pom.xml"))
        for place in above
    ):
        return True
    for name in build.system.manifests:
        for path in part.named(name):
            text = part.text(path)
            if "../" * (path.count("/") + 1) in text or "includeBuild" in text:
                return True
    return False


def _is_material(place: str, built: frozenset[str]) -> bool:
    """True for code of others, and for tests and their data below a project that is built."""
    parts = place.lower().split("/")
    for index, part in enumerate(parts):
        above = "/".join([*place.split("/")[:index], "x"])
        if part in _VENDORED or (part in _OF_TESTS and nearest(above, built) is not None):
            return True
    return False


def _list_notes(
    root: SourceTree,
    every: Sequence[_Build],
    chosen: Sequence[_Build],
    systems: Sequence[str] | None,
) -> list[str]:
    notes = _note(ALSO_FOUND, every, {build.place for build in chosen})
    for name in SYSTEMS.keys() - _AUTOMATIC if systems is None else ():
        if marker := root.has(*SYSTEMS[name].manifests):
            only = f"but {name.capitalize()} runs only if `systems` names it"
            notes.append(f"{marker} is there, {only}")
    missing = {*(systems or ())} - {build.name for build in every}
    return [
        *notes,
        *(f"`systems` names {visible(name)}, which was not found" for name in sorted(missing)),
    ]


def _note(label: str, builds: Sequence[_Build], built: set[tuple[str, str]]) -> list[str]:
    labels = [build.plan.label for build in builds if build.place not in built]
    return [f"{label}: {join_names(labels, _MOST_NAMED)}"] if labels else []
