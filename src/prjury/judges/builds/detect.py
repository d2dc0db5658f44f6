"""Builds of a tree by its files, and those of them that a change can affect. Pure.

Each build system finds its own builds (``systems/``). Here they are combined: different systems in
one directory are all run, of alternatives for the same code one is chosen, and what is not run
becomes a note.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace as changed
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.systems import SYSTEMS, node
from prjury.judges.builds.systems.build_system import BuildSystem
from prjury.judges.builds.systems.projects import is_below
from prjury.judges.builds.systems.recipes import RecipeSystem
from prjury.judges.builds.systems.source_tree import (
    Changes,
    SourceTree,
    find_excluded,
    is_aside,
    is_within,
    nearest,
    parents_of,
    path_in,
)
from prjury.judges.builds.wording import join_names
from prjury.snapshot.model import visible

_AUTOMATIC = tuple(name for name, system in SYSTEMS.items() if system.WHEN != "on_request")
_MOST_NAMED = 5
ALSO_FOUND = "also found and not run"
#: The programs by which builds of the JVM are called, the wrapper script last.
WRAPPED = {"maven": ("mvn", "mvnw"), "gradle": ("gradle", "gradlew")}
#: Code of others, which is not built here.
_VENDORED = frozenset("node_modules vendor third_party third-party thirdparty deps".split())
#: Tests and their data.
_OF_TESTS = frozenset(
    "test tests __tests__ testdata test-data fixture fixtures __fixtures__".split()
)
#: The systems that are looked for, by name.
Asked: TypeAlias = Mapping[str, BuildSystem]


class DetectedBuilds(Struct, frozen=True):
    """The builds of a tree.

    Attributes:
        plans: every build to run: the root's first, then by directory.
        notes: what was found and is not run, and why; one clause each.
        skipped: the directories of projects around changed files that are not built, because their
            names say that they are examples, documentation or the like.
    """

    plans: tuple[BuildPlan, ...]
    notes: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()


class _Build(Struct, frozen=True):
    """A build, with the name of its system in the policy."""

    system: str
    plan: BuildPlan
    by: BuildSystem

    @property
    def place(self) -> tuple[str, str]:
        return self.system, self.plan.directory

    @property
    def recipe(self) -> RecipeSystem | None:
        return self.by if isinstance(self.by, RecipeSystem) else None

    @property
    def family(self) -> str | None:
        """The name that builds of the same code have in common."""
        if self.system in WRAPPED:
            return f"jvm in {self.plan.directory}"
        return self.recipe.recipe.family if self.recipe else None

    @property
    def tools(self) -> tuple[str, ...]:
        """The programs that a CI calls for such a build."""
        return tuple(self.recipe.recipe.tools) if self.recipe else WRAPPED.get(self.system, ())

    @property
    def only_compiles(self) -> bool:
        return self.by.WHEN == "last_resort_if_untested" and not self.plan.tests

    @property
    def is_weak(self) -> bool:
        """It is run only where nothing better is found."""
        return self.by.WHEN == "last_resort" or self.only_compiles


def detect_builds(
    root: SourceTree,
    changes: Changes | None,
    systems: Sequence[str] | None = None,
    own: Sequence[RecipeSystem] = (),
    called: frozenset[str] = frozenset(),
) -> DetectedBuilds:
    """The builds of the tree that the change can affect.

    Args:
        changes: what changes; None for every build there is, each of them whole.
        systems: the build systems that are looked for, by their names in `SYSTEMS`; None for all
            but those that have to be asked for.
        own: those of the policy, which are always looked for. Where one is found, nothing else is
            run.
        called: the programs that the CI calls, which decide between builds of the same code.
    """
    by_name = {name: SYSTEMS[name] for name in SYSTEMS if name in (systems or _AUTOMATIC)}
    by_name |= {one.recipe.name: one for one in own}
    root = changed(root, changed=changes) if changes else root
    every = _find_all(root, None, by_name)
    chosen = _choose(root, every, called, explicit=bool(systems))
    skipped = _find_skipped(root, by_name, chosen, explicit=bool(systems))
    notes = [*_list_notes(root, every, chosen, systems)]
    places = frozenset(one.plan.directory for one in chosen)
    if changes is None or not changes.paths:
        affected = chosen
    elif outside := [path for path in changes.paths if nearest(path, places) is None]:
        because = f"{visible(min(outside))} belongs to no project"
        affected = [
            replace(one, plan=replace(one.plan, scope=replace(one.plan.scope, because=because)))
            for one in chosen
        ]
    else:
        chosen_places = {one.place for one in chosen}
        builds = (one for one in _find_all(root, changes, by_name) if one.place in chosen_places)
        affected = [one for one in builds if not _is_aside(one, chosen, changes)]
        built = {one.place for one in affected}
        notes += _note("not touched by the change and not built", chosen, built)
    plans = (replace(one.plan, source="convention") if one.is_weak else one.plan
             for one in sorted(affected, key=lambda one: one.plan.directory))  # fmt: skip
    return DetectedBuilds(tuple(plans), tuple(notes), skipped)


def _find_all(root: SourceTree, changes: Changes | None, by_name: Asked) -> list[_Build]:
    return [
        _Build(name, plan, system)
        for name, system in by_name.items()
        for plan in system.plans(root, changes)
    ]


def _choose(
    root: SourceTree, every: Sequence[_Build], called: frozenset[str], *, explicit: bool
) -> list[_Build]:
    """The builds that are run.

    Args:
        explicit: the policy names the systems, so that no weak one is left out.
    """
    chosen = [one for one in every if not _is_replaced(root, one, every, called)]
    if explicit:
        return chosen
    return [one for one in chosen if not _is_outranked(one, chosen, called)]


def _is_replaced(
    root: SourceTree, build: _Build, every: Sequence[_Build], called: frozenset[str]
) -> bool:
    """Tell whether the policy's own recipe, or a better build of the same family, is run instead.

    In a family the outermost is better, then the one that runs tests, then the only one that the CI
    calls, then the only one with a wrapper script, then the first.
    """
    here = build.plan.directory
    own = [one for one in every if one.recipe and one.recipe.own]
    if build not in own and any(is_within(here, one.plan.directory) for one in own):
        return True
    if not build.family:
        return False
    kin = [
        one for one in every if one.family == build.family and is_within(here, one.plan.directory)
    ]
    uncalled = [called.isdisjoint(one.tools) for one in kin]

    def rank(one: _Build) -> tuple[int, bool, bool, bool]:
        by_ci = uncalled.count(False) == 1 and called.isdisjoint(one.tools)
        script = path_in(one.plan.directory, WRAPPED.get(one.system, ("",))[-1])
        return len(one.plan.directory), not one.plan.tests, by_ci, script not in root.files

    return build is not min(kin, key=rank)


def _is_outranked(build: _Build, every: Sequence[_Build], called: frozenset[str]) -> bool:
    """Tell whether there are better builds of the same code.

    make, just and Task often call the others, and in a directory with sources of another kind a
    few Python files are rarely a project. Of two such builds the one that runs tests is better,
    then the first.
    """
    if not build.is_weak:
        return False
    here = build.plan.directory
    strong = [one for one in every if not one.is_weak]
    beside = [one.plan for one in strong if one.plan.directory == here]
    only_tests = build.plan.tests and not any(plan.tests for plan in beside)
    above = any(is_below(here, one.plan.directory) for one in strong)
    if above or (beside and not only_tests):
        return True
    calls = build.system in {"just", "task"} and called.isdisjoint(build.tools)
    below = any(is_below(one.plan.directory, here) for one in strong)
    if (calls or build.only_compiles) and below:
        return True
    rivals = [one for one in every if one.is_weak and one.plan.directory == here]
    return build is not min(rivals, key=lambda one: not one.plan.tests)


def _is_aside(build: _Build, chosen: Sequence[_Build], changes: Changes) -> bool:
    """A recipe's build, a site or benchmarks lie below another build, and nothing changes there.

    It is another form of what the outer one builds, or uses it: bindings, packages, CI's files.
    """
    here = build.plan.directory
    return (
        (build.recipe is not None or is_aside(here))
        and any(is_below(here, one.plan.directory) and one.plan.tests for one in chosen)
        and not changes.below(here)
    )


def _find_skipped(
    root: SourceTree, by_name: Asked, chosen: Sequence[_Build], *, explicit: bool
) -> tuple[str, ...]:
    """The nearest project around each changed file that is not built because of its name.

    A directory whose manifest belongs to a workspace is built with it, and is none of them.
    """
    manifests = root.directories_with(*(name for one in by_name.values() for name in one.MANIFESTS))
    built = frozenset(one.plan.directory for one in chosen)
    chains: list[list[str]] = []
    for path in root.changed.paths if root.changed else ():
        chain = []
        for place in filter(manifests.__contains__, parents_of(path)):
            if find_excluded(place) is None or _is_material(place, built):
                break  # what lies in it is its own
            chain.append(place)
        chains.append(chain)
    candidates = frozenset(place for chain in chains for place in chain)
    if not candidates:
        return ()
    allowed = changed(root, allowed=candidates)
    builds = _choose(allowed, _find_all(allowed, None, by_name), frozenset(), explicit=explicit)
    projects = candidates & {one.plan.directory for one in builds}
    first = (next((place for place in chain if place in projects), None) for chain in chains)
    return tuple(sorted({place for place in first if place is not None}))


def _is_material(place: str, built: frozenset[str]) -> bool:
    parts = place.lower().split("/")
    of_tests = next((index for index, part in enumerate(parts) if part in _OF_TESTS), None)
    if of_tests is None:
        return not _VENDORED.isdisjoint(parts)
    above = "/".join([*place.split("/")[:of_tests], "x"])
    return not _VENDORED.isdisjoint(parts) or nearest(above, built) is not None


def _list_notes(
    root: SourceTree,
    every: Sequence[_Build],
    chosen: Sequence[_Build],
    systems: Sequence[str] | None,
) -> list[str]:
    """The builds that are not run, systems that are not there, packages that are unreadable."""
    notes = _note(ALSO_FOUND, every, {one.place for one in chosen})
    for name in SYSTEMS.keys() - _AUTOMATIC if systems is None else ():
        if marker := root.has(*SYSTEMS[name].MANIFESTS):
            only = f"but {name.capitalize()} runs only if `systems` names it"
            notes.append(f"{marker} is there, {only}")
    missing = dict.fromkeys(systems or ()).keys() - {one.system for one in every}
    notes += [f"`systems` names {visible(name)}, which was not found" for name in sorted(missing)]
    if systems is None or "node" in systems:
        built = frozenset(one.plan.directory for one in chosen if one.system == "node")
        unreadable = node.list_unreadable(root).items()
        reasons = [why for place, why in unreadable if nearest(path_in(place, "x"), built) is None]
        notes += reasons[:_MOST_NAMED]
    return notes


def _note(label: str, builds: Sequence[_Build], built: set[tuple[str, str]]) -> list[str]:
    labels = [one.plan.label for one in builds if one.place not in built]
    return [f"{label}: {join_names(labels, _MOST_NAMED)}"] if labels else []
