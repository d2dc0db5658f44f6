"""Gradle: single projects and builds of several. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from prjury.judges.builds.failure import Failure
from prjury.judges.builds.plan import BuildPlan, BuildScope, BuildStep
from prjury.judges.builds.systems.gradle_projects import Projects, read_projects
from prjury.judges.builds.systems.gradle_settings import BUILD_SCRIPTS, SETTINGS
from prjury.judges.builds.systems.java_tests import java_tests
from prjury.judges.builds.systems.projects import plans_of
from prjury.judges.builds.systems.source_tree import Changes, SourceTree, joined
from prjury.judges.builds.systems.wrapper import Script, wrapper_of

#: Gradle's own place for reports: below the project's directory, one directory for each task.
_REPORTS = re.compile(
    r"(?:(?P<project>.+)/)?build/test-results/(?P<task>[A-Za-z]\w*)(?:/[^/]+\.xml)?", re.ASCII
)


@dataclass(frozen=True)
class GradleAlone:
    """Runs failing tests again, each in the task that it failed in.

    Attributes:
        gradle: Gradle with its options.
        projects: the paths of the projects by their directories, from the root of the tree.
            Nothing where they are not known: then the tasks of that name are run everywhere.
    """

    gradle: tuple[str, ...]
    projects: Callable[[], Mapping[str, str]]

    def __call__(self, failures: Sequence[Failure]) -> tuple[BuildStep, ...] | None:
        """One step for all of them, None where one cannot be named exactly."""
        tests, projects = java_tests(failures), self.projects()
        tasks: dict[str, list[str]] = {}
        for test in tests or ():
            task = _task(test.report, projects)
            if task is None:
                return None
            name = f"{test.owner}.{test.method}{'[*' if test.many else ''}"
            tasks.setdefault(task, []).append(name)
        if not tasks:
            return None
        words = (word for task, names in sorted(tasks.items()) for word in (task, *_chosen(names)))
        return (BuildStep("test", (*self.gradle, "--no-build-cache", *words)),)


def _task(report: str, projects: Mapping[str, str]) -> str | None:
    match = _REPORTS.fullmatch(report)
    if match is None or (projects and (match["project"] or "") not in projects):
        return None
    return f"{projects[match['project'] or '']}:{match['task']}" if projects else match["task"]


def _chosen(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(word for name in dict.fromkeys(names) for word in ("--tests", name))


_SCRIPT = Script(
    "gradlew",
    "gradle",
    "gradle/wrapper/gradle-wrapper.properties",
    needs=("gradle/wrapper/gradle-wrapper.jar",),
)


def plans(root: SourceTree, changes: Changes | None) -> tuple[BuildPlan, ...]:
    """The builds of one or more projects, as far as the change affects them."""
    places = root.directories_with(*SETTINGS, *BUILD_SCRIPTS)
    return plans_of(root, changes, places, lambda part: _Gradle(root, part))


@dataclass(frozen=True)
class _Gradle:
    """Settings, or a build script that stands alone, with all projects."""

    tree: SourceTree
    root: SourceTree

    @cached_property
    def projects(self) -> Projects:
        return read_projects(self.root)

    @property
    def outside(self) -> frozenset[str]:
        """The builds that take part in this one; they are built for themselves as well."""
        included = self.projects.settings.builds
        places = (joined(self.root.place, place) for place in included)
        return frozenset(place for place in places if place)

    @property
    def declares(self) -> bool:
        return False  # a script is a program

    def owns(self, directory: str) -> bool:
        """Whether Gradle would look for its settings here."""
        if directory == "buildSrc" or directory.startswith("buildSrc/"):
            return True
        settings = self.root.directories_with(*SETTINGS)
        return "" in settings and directory not in settings

    def plans(self, changes: Changes | None) -> tuple[BuildPlan, ...]:
        """The one build, of everything or of what the change affects.

        With ``--continue`` it goes on after failures by itself, as far as anything goes on. What
        is up to date leaves no new report, so a second run in the same tree does without that.
        """
        scope = self.projects.scope(changes) if changes else BuildScope()
        wrapper = wrapper_of(self.tree, self.root.place, _SCRIPT)
        gradle = (*wrapper.argv, "--no-daemon", "-q", "--continue")
        tasks = tuple(f"{path}:build" for path in scope.modules) or ("build",)
        found = self.root.has(*SETTINGS, *BUILD_SCRIPTS)
        plan = BuildPlan(
            "gradle",
            (BuildStep("test", (*gradle, *tasks)),),
            (f"{found} is there", wrapper.reason),
            scope=scope,
            alone=GradleAlone(gradle, self._paths),
        )
        afresh = replace(plan, steps=(BuildStep("test", (*gradle, "--rerun-tasks", *tasks)),))
        return (replace(plan, afresh=afresh),)

    def _paths(self) -> Mapping[str, str]:
        """The paths of the projects by their directories, from the root of the tree."""
        if self.projects.unreadable:
            return {}
        named = self.projects.directories
        return {joined(self.root.place, place) or "": named[place] for place in named}
