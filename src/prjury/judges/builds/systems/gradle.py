"""Gradle: whole builds; their scripts are programs, which are not run here to ask them. Pure."""

from __future__ import annotations

from prjury.judges.builds.plan import BuildPlan, BuildScope, BuildStep
from prjury.judges.builds.systems.build_system import JVM, DocsRows, When
from prjury.judges.builds.systems.jvm import Script, find_wrapper
from prjury.judges.builds.systems.projects import FoundProject, is_below, select_affected
from prjury.judges.builds.systems.source_tree import Changes, SourceTree, joined, outermost_first

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

_SCRIPT = Script(
    "gradlew",
    "gradle",
    needs=("gradle/wrapper/gradle-wrapper.properties", "gradle/wrapper/gradle-wrapper.jar"),
)
#: More than this is no script that anybody wrote.
_LARGEST = 1024**2
_LONGEST_PATH = 500
_WHOLE = "a Gradle build is always run as a whole"


def plans(root: SourceTree, changes: Changes | None) -> tuple[BuildPlan, ...]:
    """The builds that the change affects, each of them whole."""
    projects: dict[str, FoundProject] = {}
    for directory in outermost_first(root.directories_with(*MANIFESTS)):
        above = (place for place in projects if is_below(directory, place))
        if not root.may_hold_project(directory) or any(
            _owns(root.below(place), directory.removeprefix(f"{place}/" if place else ""))
            for place in above
        ):
            continue
        plan = _plan(root, directory, several=changes is not None)
        projects[directory] = FoundProject((plan,), _find_included(root, directory))
    return select_affected(projects, changes)


def _owns(build: SourceTree, directory: str) -> bool:
    """Whether Gradle would look for its settings here."""
    if directory.split("/", maxsplit=1)[0] == "buildSrc":
        return True
    settings = build.directories_with(*SETTINGS)
    return "" in settings and directory not in settings


def _find_included(root: SourceTree, directory: str) -> frozenset[str]:
    """The builds that take part in this one; they are built for themselves as well."""
    part = root.below(directory)
    text = part.text(part.has(*SETTINGS) or "")[:_LARGEST]
    places = set[str | None]()
    for call in text.split("includeBuild")[1:]:
        argument = call[:_LONGEST_PATH].lstrip(" \t(")
        quote, line = argument[:1], argument.partition("\n")[0]
        if quote in {"'", '"'} and "$" not in line:
            places.add(joined(directory, line[1:].partition(quote)[0]))
    return frozenset(place for place in places if place)


def _plan(root: SourceTree, directory: str, *, several: bool) -> BuildPlan:
    """The one build.

    With ``--continue`` it goes on after failures by itself, as far as anything goes on. What
    is up to date leaves no new report, so a second run in the same tree does without that.
    """
    part = root.below(directory)
    wrapper = find_wrapper(root, directory, _SCRIPT)
    gradle = (*wrapper.argv, "--no-daemon", "-q", "--continue")
    because = _WHOLE if several and part.has(*SETTINGS) else ""
    rerun = BuildStep("test", (*gradle, "--rerun-tasks", "build"))
    return BuildPlan(
        "gradle",
        (BuildStep("test", (*gradle, "build"), rerun=rerun),),
        (f"{part.has(*MANIFESTS)} is there", wrapper.reason),
        scope=BuildScope(because=because),
    )
