"""Gradle: whole builds; their scripts are programs, which are not run here to ask them. Pure."""

from __future__ import annotations

from prjury.judges.builds.plan import BuildPlan, BuildScope, BuildStep
from prjury.judges.builds.systems.build_system import JVM, DocsRows, When
from prjury.judges.builds.systems.jvm import find_wrapper
from prjury.judges.builds.systems.projects import FoundProject, is_below, select_affected
from prjury.judges.builds.systems.source_tree import Changes, SourceTree, outermost_first

SETTINGS = ("settings.gradle", "settings.gradle.kts")
MANIFESTS = (*SETTINGS, "build.gradle", "build.gradle.kts")
COVERS = {"gradle": JVM}
WHEN: When = "always"
DOCS: DocsRows = (
    (
        "`build.gradle`, `settings.gradle` (also `.kts`)",
        "`./gradlew` or `gradle`, `--no-daemon -q --continue build`",
    ),
)

_NEEDED = ("gradle/wrapper/gradle-wrapper.properties", "gradle/wrapper/gradle-wrapper.jar")
_WHOLE = "a Gradle build is always run as a whole"


def plans(root: SourceTree, changes: Changes | None) -> tuple[BuildPlan, ...]:
    """The builds that the change affects, each of them whole."""
    projects: dict[str, FoundProject] = {}
    for directory in outermost_first(root.directories_with(*MANIFESTS)):
        above = [place for place in projects if is_below(directory, place)]
        owned = any(
            _owns(root.below(place), directory.removeprefix(f"{place}/" if place else ""))
            for place in above
        )
        if owned or not root.may_hold_project(directory):
            continue
        part = root.below(directory)
        includes = "includeBuild" in part.text(part.has(*SETTINGS) or "")
        plan = _plan(root, directory, several=changes is not None)
        projects[directory] = FoundProject((plan,), includes)
    return select_affected(projects, changes)


def _owns(build: SourceTree, directory: str) -> bool:
    if directory.split("/", maxsplit=1)[0] == "buildSrc":
        return True
    settings = build.directories_with(*SETTINGS)
    return "" in settings and directory not in settings


def _plan(root: SourceTree, directory: str, *, several: bool) -> BuildPlan:
    """The one build.

    With ``--continue`` it goes on after failures by itself, as far as anything goes on. What
    is up to date leaves no new report, so a second run in the same tree does without that.
    """
    part = root.below(directory)
    wrapper = find_wrapper(root, directory, "gradlew", "gradle", _NEEDED)
    gradle = (*wrapper.argv, "--no-daemon", "-q", "--continue")
    rerun = BuildStep("test", (*gradle, "--rerun-tasks", "build"))
    return BuildPlan(
        "gradle",
        (BuildStep("test", (*gradle, "build"), rerun=rerun),),
        (f"{part.has(*MANIFESTS)} is there", wrapper.reason),
        scope=BuildScope(because=_WHOLE if several and part.has(*SETTINGS) else ""),
    )
