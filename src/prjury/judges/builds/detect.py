"""Which builds a tree has, by its files, and which of them a change can affect. Pure.

Each build system finds its own builds (``systems/``). Here they are combined: different systems in
one directory are all run, of alternatives for the same code one is chosen, and what is not run
becomes a note.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as changed
from typing import TypeAlias

from msgspec.structs import replace

from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.systems import SYSTEMS, node
from prjury.judges.builds.systems.build_system import BuildSystem
from prjury.judges.builds.systems.projects import is_below
from prjury.judges.builds.systems.pytest import PYTEST_ENV
from prjury.judges.builds.systems.recipes import RecipeSystem
from prjury.judges.builds.systems.source_tree import (
    Changes,
    SourceTree,
    is_aside,
    is_within,
    joined,
    nearest,
    path_in,
)
from prjury.judges.builds.unbuilt import find_excluded_projects
from prjury.snapshot.model import visible

__all__ = ["PYTEST_ENV", "Changes", "DetectedBuilds", "SourceTree", "detect_builds"]

_AUTOMATIC = tuple(name for name, system in SYSTEMS.items() if system.WHEN != "on_request")
_MOST_NAMED = 5
#: The systems that are looked for, by name.
Asked: TypeAlias = Mapping[str, BuildSystem]


@dataclass(frozen=True)
class DetectedBuilds:
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


@dataclass(frozen=True)
class _Found:
    """A build, with the name of its system in the policy."""

    system: str
    plan: BuildPlan
    by: BuildSystem

    @property
    def place(self) -> tuple[str, str]:
        return self.system, self.plan.directory


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
    asked = {name: SYSTEMS[name] for name in SYSTEMS if name in (systems or _AUTOMATIC)}
    asked |= {one.recipe.name: one for one in own}
    root = changed(root, changed=changes) if changes else root
    every, chosen = _builds(root, asked, systems, called)
    left = _find_skipped(root, asked, systems, chosen)
    notes = [*_not_run(every, chosen), *_not_asked(root, asked), *_not_found(every, systems)]
    notes += _note_unsuited(root, asked, chosen)
    if changes is None or not changes.paths:
        return DetectedBuilds(_order_plans(chosen), tuple(notes), left)
    if outside := _outside(changes, chosen):
        because = f"{visible(outside)} belongs to no project"
        plans = _order_plans(chosen)
        whole = (replace(plan, scope=replace(plan.scope, because=because)) for plan in plans)
        return DetectedBuilds(tuple(whole), tuple(notes), left)
    places = {one.place for one in chosen}
    affected = [
        one
        for one in _find_all(root, changes, asked)
        if one.place in places and not _is_aside(one, chosen, changes)
    ]
    return DetectedBuilds(
        _order_plans(affected), (*notes, *_note_untouched(chosen, affected)), left
    )


def _builds(
    root: SourceTree,
    asked: Asked,
    systems: Sequence[str] | None,
    called: frozenset[str] = frozenset(),
) -> tuple[list[_Found], list[_Found]]:
    """All builds, and those of them that are run."""
    every = _find_all(root, None, asked)
    chosen = [one for one in every if not _is_replaced(one, every, called)]
    if not systems:
        chosen = [one for one in chosen if not _is_outranked(one, chosen, called)]
    return every, [one for one in chosen if not _has_better_alternative(root, one, chosen, called)]


def _find_skipped(
    root: SourceTree, asked: Asked, systems: Sequence[str] | None, chosen: Sequence[_Found]
) -> tuple[str, ...]:
    """The directories of projects around changed files that are excluded by name."""

    def tried(places: frozenset[str]) -> frozenset[str]:
        _, builds = _builds(changed(root, allowed=places), asked, systems)
        return places & {one.plan.directory for one in builds}

    built = frozenset(one.plan.directory for one in chosen)
    return find_excluded_projects(root, _manifests(asked), built, tried)


def _manifests(asked: Asked) -> tuple[str, ...]:
    return tuple(name for system in asked.values() for name in system.MANIFESTS)


def _find_all(root: SourceTree, changes: Changes | None, asked: Asked) -> list[_Found]:
    return [
        _Found(name, plan, system)
        for name, system in asked.items()
        for plan in system.plans(root, changes)
    ]


def _order_plans(found: Iterable[_Found]) -> tuple[BuildPlan, ...]:
    """The root first, then by directory; within one directory in the order of the systems."""
    ordered = sorted(found, key=lambda one: one.plan.directory)
    return tuple(
        replace(one.plan, source="convention") if _is_weak(one) else one.plan for one in ordered
    )


def _is_weak(found: _Found) -> bool:
    """Whether it is run only where nothing better is found."""
    return found.by.WHEN == "last_resort" or _compiles_only(found)


def _compiles_only(found: _Found) -> bool:
    return found.by.WHEN == "last_resort_if_untested" and not found.plan.tests


def _is_replaced(found: _Found, every: Sequence[_Found], called: frozenset[str]) -> bool:
    """Whether the policy's own recipe, or a better build of the same family, is run instead.

    In a family the outermost is better, then the one that runs tests, then the one that the CI
    calls, then the first.
    """
    here, mine = found.plan.directory, isinstance(found.by, RecipeSystem) and found.by.own
    own = [one for one in every if isinstance(one.by, RecipeSystem) and one.by.own]
    if not mine and any(is_within(here, one.plan.directory) for one in own):
        return True
    if not (family := _family(found)):
        return False
    kin = [one for one in every if _family(one) == family and is_within(here, one.plan.directory)]
    order = {id(one): (len(one.plan.directory), not one.plan.tests) for one in kin}
    return found is not min(kin, key=lambda one: (order[id(one)], called.isdisjoint(_tools(one))))


def _tools(found: _Found) -> tuple[str, ...]:
    """The programs that a CI calls for such a build."""
    if isinstance(found.by, RecipeSystem):
        return tuple(found.by.recipe.tools)
    return WRAPPED.get(found.system, ())


#: The programs by which builds of the JVM are called, with their wrapper scripts.
WRAPPED = {"maven": ("mvn", "mvnw"), "gradle": ("gradle", "gradlew")}


def _family(found: _Found) -> str | None:
    return found.by.recipe.family if isinstance(found.by, RecipeSystem) else None


def _is_outranked(found: _Found, every: Sequence[_Found], called: frozenset[str]) -> bool:
    """Whether there are better builds of the same code.

    make, just and Task often call the others, and in a directory with sources of another kind a
    few Python files are rarely a project. Of two such builds the one that runs tests is better,
    then the first.
    """
    if not _is_weak(found):
        return False
    here = found.plan.directory
    strong = [one.plan.directory for one in every if not _is_weak(one)]
    beside = [one.plan for one in every if not _is_weak(one) and one.plan.directory == here]
    only_tests = found.plan.tests and not any(plan.tests for plan in beside)
    if any(is_below(here, place) for place in strong) or (beside and not only_tests):
        return True
    calls = found.system in {"just", "task"} and called.isdisjoint(_tools(found))
    if (calls or _compiles_only(found)) and any(is_below(place, here) for place in strong):
        return True
    rivals = [one for one in every if _is_weak(one) and one.plan.directory == here]
    return found is not min(rivals, key=lambda one: not one.plan.tests)


def _has_better_alternative(
    root: SourceTree, found: _Found, chosen: Sequence[_Found], called: frozenset[str]
) -> bool:
    """Whether Maven and Gradle build the same code here, and the other one is chosen.

    The only one that the CI calls comes first, then the only one with a wrapper script, else Maven.
    """
    here = found.plan.directory
    if {("maven", here), ("gradle", here)} - {one.place for one in chosen}:
        return False
    by_ci = [name for name, tools in WRAPPED.items() if not called.isdisjoint(tools)]
    if len(by_ci) == 1:
        return found.system in WRAPPED and found.system != by_ci[0]
    wrappers = {"maven": joined(here, "mvnw"), "gradle": joined(here, "gradlew")}
    there = {system: (path or "") in root.files for system, path in wrappers.items()}
    better = "gradle" if there["gradle"] and not there["maven"] else "maven"
    return found.system in wrappers and found.system != better


def _is_aside(found: _Found, chosen: Sequence[_Found], changes: Changes) -> bool:
    """Whether a recipe's build, a site or benchmarks lie below another, and nothing there changes.

    It is another form of what the outer one builds, or uses it: bindings, packages, CI's files.
    """
    here = found.plan.directory
    return (
        (isinstance(found.by, RecipeSystem) or is_aside(here))
        and any(is_below(here, one.plan.directory) and one.plan.tests for one in chosen)
        and not any(is_within(path, here) for path in changes.paths)
    )


def _outside(changes: Changes, chosen: Sequence[_Found]) -> str | None:
    """A changed file that lies in no project."""
    places = frozenset(one.plan.directory for one in chosen)
    return next((path for path in sorted(changes.paths) if nearest(path, places) is None), None)


def _not_run(every: Sequence[_Found], chosen: Sequence[_Found]) -> list[str]:
    left = [one.plan.label for one in every if one not in chosen]
    return [f"also found and not run: {_join_labels(left)}"] if left else []


def _note_untouched(chosen: Sequence[_Found], affected: Sequence[_Found]) -> list[str]:
    built = {one.place for one in affected}
    left = [one.plan.label for one in chosen if one.place not in built]
    return [f"not touched by the change and not built: {_join_labels(left)}"] if left else []


def _not_asked(root: SourceTree, asked: Asked) -> list[str]:
    if not set(_AUTOMATIC) <= set(asked):
        return []
    systems = {name: system for name, system in SYSTEMS.items() if name not in _AUTOMATIC}
    found = {name: root.has(*system.MANIFESTS) for name, system in systems.items()}
    return [
        f"{marker} is there, but {name.capitalize()} runs only if `systems` names it"
        for name, marker in found.items()
        if marker
    ]


def _note_unsuited(root: SourceTree, asked: Asked, chosen: Sequence[_Found]) -> list[str]:
    """Why packages of Node are not run, unless another one has that part."""
    built = frozenset(one.plan.directory for one in chosen if one.system == "node")
    reasons = node.list_unreadable(root) if "node" in asked else {}
    alone = (place for place in reasons if nearest(path_in(place, "x"), built) is None)
    return [reasons[place] for place in alone][:_MOST_NAMED]


def _not_found(every: Sequence[_Found], systems: Sequence[str] | None) -> list[str]:
    there = {one.system for one in every}
    missing = [name for name in dict.fromkeys(systems or ()) if name not in there]
    return [f"`systems` names {visible(name)}, which was not found" for name in missing]


def _join_labels(labels: Sequence[str]) -> str:
    more = f" and {len(labels) - _MOST_NAMED} more" if len(labels) > _MOST_NAMED else ""
    return ", ".join(labels[:_MOST_NAMED]) + more
