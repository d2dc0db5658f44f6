"""Which builds a tree has, by its files, and which of them a change can affect. Pure.

Each build system is a module of its own with one function from the tree and the change to plans.
Here they are put side by side: different systems in one place are all run, alternatives for the
same code are one choice, and what is left out becomes a note.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.systems import (
    bazel,
    cargo,
    cargo_manifest,
    go,
    go_module,
    gradle,
    gradle_settings,
    make,
    makefile,
    maven,
    maven_modules,
    node,
    node_packages,
    python,
)
from prjury.judges.builds.systems.excluded_projects import excluded_notes, excluded_projects
from prjury.judges.builds.systems.projects import is_below
from prjury.judges.builds.systems.pytest import PYTEST_ENV
from prjury.judges.builds.systems.source_tree import Changes, SourceTree, joined, nearest
from prjury.snapshot.model import visible

__all__ = ["PYTEST_ENV", "SYSTEMS", "Changes", "DetectedBuilds", "SourceTree", "detect_builds"]

System: TypeAlias = Callable[[SourceTree, Changes | None], tuple[BuildPlan, ...]]

#: In the order in which builds in one directory are run.
SYSTEMS: Mapping[str, System] = {
    "maven": maven.plans,
    "gradle": gradle.plans,
    "node": node.plans,
    "python": python.plans,
    "cargo": cargo.plans,
    "go": go.plans,
    "make": make.plans,
    "bazel": bazel.plans,
}
#: The files that make a directory a project.
_MANIFESTS: Mapping[str, tuple[str, ...]] = {
    "maven": (maven_modules.POM,),
    "gradle": (*gradle_settings.SETTINGS, *gradle_settings.BUILD_SCRIPTS),
    "node": (node_packages.MANIFEST,),
    "python": python.PROJECTS,
    "cargo": (cargo_manifest.MANIFEST,),
    "go": (go_module.WORK, go_module.MANIFEST),
    "make": makefile.NAMES,
}
_AUTOMATIC = tuple(name for name in SYSTEMS if name != "bazel")
_MOST_NAMED = 5


@dataclass(frozen=True)
class DetectedBuilds:
    """What is to be built.

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
    """A build, with the name of the system as the policy knows it."""

    system: str
    plan: BuildPlan

    @property
    def place(self) -> tuple[str, str]:
        return self.system, self.plan.directory

    @property
    def label(self) -> str:
        where = f" in {visible(self.plan.directory)}" if self.plan.directory else ""
        return f"{self.plan.system}{where}"


def detect_builds(
    root: SourceTree, changes: Changes | None, systems: Sequence[str] | None = None
) -> DetectedBuilds:
    """Every build of the tree that the change can affect.

    Args:
        changes: what changes; None for every build there is, each of them whole.
        systems: the build systems that are looked for, by their names in `SYSTEMS`; None for all
            but those that have to be asked for.
    """
    asked = tuple(name for name in SYSTEMS if name in (systems or _AUTOMATIC))
    root = replace(root, changed=changes) if changes else root
    every, chosen = _builds(root, asked, systems)
    left = _skipped(root, asked, systems, chosen)
    notes = [*_not_run(every, chosen), *_not_asked(root, asked), *_not_found(every, systems)]
    notes += [*excluded_notes(root, _manifests(asked), left), *_unsuited(root, asked, chosen)]
    if changes is None or not changes.paths:
        return DetectedBuilds(_ordered(chosen), tuple(notes), left)
    if outside := _outside(changes, chosen):
        because = f"{visible(outside)} belongs to no project"
        plans = _ordered(chosen)
        whole = (replace(plan, scope=replace(plan.scope, because=because)) for plan in plans)
        return DetectedBuilds(tuple(whole), tuple(notes), left)
    places = {one.place for one in chosen}
    affected = [one for one in _found(root, changes, asked) if one.place in places]
    return DetectedBuilds(_ordered(affected), (*notes, *_untouched(chosen, affected)), left)


def _builds(
    root: SourceTree, asked: Sequence[str], systems: Sequence[str] | None
) -> tuple[list[_Found], list[_Found]]:
    """Every build that there is, and those that are worth running."""
    every = _found(root, None, asked)
    chosen = every if systems else [one for one in every if not _outranked(one, every)]
    return every, [one for one in chosen if not _has_better_alternative(root, one, chosen)]


def _skipped(
    root: SourceTree, asked: Sequence[str], systems: Sequence[str] | None, chosen: Sequence[_Found]
) -> tuple[str, ...]:
    """The directories of projects around changed files that are left out for their names."""

    def tried(places: frozenset[str]) -> frozenset[str]:
        _, builds = _builds(replace(root, allowed=places), asked, systems)
        return places & {one.plan.directory for one in builds}

    built = frozenset(one.plan.directory for one in chosen)
    return excluded_projects(root, _manifests(asked), built, tried)


def _manifests(asked: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for system in asked for name in _MANIFESTS.get(system, ()))


def _found(root: SourceTree, changes: Changes | None, asked: Iterable[str]) -> list[_Found]:
    return [_Found(name, plan) for name in asked for plan in SYSTEMS[name](root, changes)]


def _ordered(found: Iterable[_Found]) -> tuple[BuildPlan, ...]:
    """The root first, then by directory; within one directory in the order of the systems."""
    return tuple(one.plan for one in sorted(found, key=lambda one: one.plan.directory))


def _is_weak(found: _Found) -> bool:
    """Whether it is run only for want of something better."""
    return found.system == "make" or _only_compiles(found)


def _only_compiles(found: _Found) -> bool:
    return found.system == "python" and not found.plan.tests


def _outranked(found: _Found, every: Sequence[_Found]) -> bool:
    """Whether there are better builds of the same code.

    make often calls the others, and in a directory with sources of another kind a few Python files
    are rarely a project. Of two such builds the one that runs tests is better, then the first.
    """
    if not _is_weak(found):
        return False
    strong = [one.plan.directory for one in every if not _is_weak(one)]
    here = found.plan.directory
    if any(here == place or is_below(here, place) for place in strong):
        return True
    if _only_compiles(found) and any(is_below(place, here) for place in strong):
        return True
    rivals = [one for one in every if _is_weak(one) and one.plan.directory == here]
    return found is not min(rivals, key=lambda one: not one.plan.tests)


def _has_better_alternative(root: SourceTree, found: _Found, chosen: Sequence[_Found]) -> bool:
    """Whether Maven and Gradle build the same code here, and it is the other one's turn.

    The one with a wrapper script comes first, else Maven.
    """
    here = found.plan.directory
    if {("maven", here), ("gradle", here)} - {one.place for one in chosen}:
        return False
    wrappers = {"maven": joined(here, "mvnw"), "gradle": joined(here, "gradlew")}
    there = {system: (path or "") in root.files for system, path in wrappers.items()}
    better = "gradle" if there["gradle"] and not there["maven"] else "maven"
    return found.system in wrappers and found.system != better


def _outside(changes: Changes, chosen: Sequence[_Found]) -> str | None:
    """A changed file that lies in no project, where the root is none itself."""
    places = frozenset(one.plan.directory for one in chosen)
    return next((path for path in sorted(changes.paths) if nearest(path, places) is None), None)


def _not_run(every: Sequence[_Found], chosen: Sequence[_Found]) -> list[str]:
    left = [one.label for one in every if one not in chosen]
    return [f"also found and not run: {_listed(left)}"] if left else []


def _untouched(chosen: Sequence[_Found], affected: Sequence[_Found]) -> list[str]:
    built = {one.place for one in affected}
    left = [one.label for one in chosen if one.place not in built]
    return [f"not touched by the change and not built: {_listed(left)}"] if left else []


def _not_asked(root: SourceTree, asked: Sequence[str]) -> list[str]:
    marker = root.has(*bazel.MARKERS)
    if marker is None or asked != _AUTOMATIC:
        return []
    return [f"{marker} is there, but Bazel runs only if `systems` names it"]


def _unsuited(root: SourceTree, asked: Sequence[str], chosen: Sequence[_Found]) -> list[str]:
    """Why Makefiles do not count, where nothing else is built there or above."""
    if "make" not in asked:
        return []
    built = frozenset(one.plan.directory for one in chosen)
    reasons = make.unsuited(root)
    return [
        why for place, why in reasons.items() if nearest(f"{place}/x".lstrip("/"), built) is None
    ][:_MOST_NAMED]


def _not_found(every: Sequence[_Found], systems: Sequence[str] | None) -> list[str]:
    there = {one.system for one in every}
    missing = [name for name in dict.fromkeys(systems or ()) if name not in there]
    return [f"`systems` names {visible(name)}, which was not found" for name in missing]


def _listed(labels: Sequence[str]) -> str:
    more = f" and {len(labels) - _MOST_NAMED} more" if len(labels) > _MOST_NAMED else ""
    return ", ".join(labels[:_MOST_NAMED]) + more
