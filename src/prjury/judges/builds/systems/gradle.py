"""Gradle: whole builds; their scripts are programs, which are not run here to ask them. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from prjury.judges.builds.failure import Failure
from prjury.judges.builds.plan import BuildPlan, BuildScope, BuildStep
from prjury.judges.builds.systems.build_system import JVM, SystemDocs, When
from prjury.judges.builds.systems.jvm import Script, java_tests, wrapper_of
from prjury.judges.builds.systems.projects import any_leads_out, leads_out, plans_of
from prjury.judges.builds.systems.source_tree import Changes, SourceTree, joined

SETTINGS = ("settings.gradle", "settings.gradle.kts")
MANIFESTS = (*SETTINGS, "build.gradle", "build.gradle.kts")
COVERS = {"gradle": JVM}
WHEN: When = "always"
DOCS = SystemDocs(
    (
        (
            "`build.gradle`, `settings.gradle` (also `.kts`)",
            "`./gradlew` or `gradle`, `--no-daemon -q --continue build`",
        ),
    ),
    tools="Gradle",
)

_SCRIPT = Script(
    "gradlew",
    "gradle",
    "gradle/wrapper/gradle-wrapper.properties",
    needs=("gradle/wrapper/gradle-wrapper.jar",),
)
#: More than this is no script that anybody wrote.
_LARGEST = 1024**2
#: Another build that takes part; without its directory where that has to be computed.
_INCLUDED = re.compile(r"\bincludeBuild\b\s*\(?\s*(?:\"([^\"$\n]+)\"|'([^'\n]+)')?")
_WHOLE = "a Gradle build is always run as a whole"
#: Gradle's own place for reports: below the project's directory, one directory for each task.
_REPORTS = re.compile(
    r"(?:(?P<project>.+)/)?build/test-results/(?P<task>[A-Za-z]\w*)(?:/[^/]+\.xml)?", re.ASCII
)


def plans(root: SourceTree, changes: Changes | None) -> tuple[BuildPlan, ...]:
    """The builds that the change affects, each of them whole."""
    places = root.directories_with(*MANIFESTS)
    return plans_of(root, changes, places, lambda part: _Gradle(root, part), _uses_outside)


def _uses_outside(root: SourceTree) -> bool:
    """Whether a script names files outside, or a build whose place has to be computed."""
    return any_leads_out(root, _is_script, _names_outside)


def _is_script(path: str) -> bool:
    return path.endswith((".gradle", ".gradle.kts"))


def _names_outside(text: str, path: str) -> bool:
    if len(text) > _LARGEST or leads_out(_INCLUDED.sub("", text), path):
        return True
    return any(not (found[1] or found[2]) for found in _INCLUDED.finditer(text))


@dataclass(frozen=True)
class _Gradle:
    """The build of a settings script, or of a build script that stands alone."""

    tree: SourceTree
    root: SourceTree

    @cached_property
    def outside(self) -> frozenset[str]:
        """The builds that take part in this one; they are built for themselves as well."""
        text = self.root.text(self.root.has(*SETTINGS) or "")[:_LARGEST]
        named = (found[1] or found[2] for found in _INCLUDED.finditer(text))
        places = (joined(self.root.place, name) for name in named if name)
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
        """The one build.

        With ``--continue`` it goes on after failures by itself, as far as anything goes on. What
        is up to date leaves no new report, so a second run in the same tree does without that.
        """
        wrapper = wrapper_of(self.tree, self.root.place, _SCRIPT)
        gradle = (*wrapper.argv, "--no-daemon", "-q", "--continue")
        found = self.root.has(*MANIFESTS)
        several = changes is not None and self.root.has(*SETTINGS)
        plan = BuildPlan(
            "gradle",
            (BuildStep("test", (*gradle, "build")),),
            (f"{found} is there", wrapper.reason),
            scope=BuildScope(because=_WHOLE if several else ""),
            rerun_failed=GradleRerun(gradle, self.root),
        )
        rerun = replace(plan, steps=(BuildStep("test", (*gradle, "--rerun-tasks", "build")),))
        return (replace(plan, rerun=rerun),)


@dataclass(frozen=True)
class GradleRerun:
    """Runs failing tests again, each in the task that it failed in.

    Attributes:
        gradle: Gradle with its options.
        root: the tree as seen from the build.
    """

    gradle: tuple[str, ...]
    root: SourceTree

    def __call__(self, failures: Sequence[Failure]) -> tuple[BuildStep, ...] | None:
        """One step for each project, None where a test cannot be named exactly."""
        projects: dict[str, dict[str, list[str]]] = {}
        for test in java_tests(failures) or ():
            found = _REPORTS.fullmatch(test.report)
            project = self._project(found["project"] or "") if found else None
            if found is None or project is None:
                return None
            name = f"{test.owner}.{test.method}{'[*' if test.many else ''}"
            projects.setdefault(project, {}).setdefault(found["task"], []).append(name)
        return tuple(self._step(one, tasks) for one, tasks in sorted(projects.items())) or None

    def _project(self, directory: str) -> str | None:
        """A project's directory as seen from the build; None for one that is not in the tree."""
        place = self.root.place
        below = directory.removeprefix(f"{place}/") if place and directory != place else directory
        below = "" if below == place else below
        known = below in self.root.directories and not below.startswith("-")
        return below if not below or known else None

    def _step(self, project: str, tasks: Mapping[str, Sequence[str]]) -> BuildStep:
        """The project is chosen by its directory, whatever the settings call it."""
        words = ["-p", project] if project else []
        for task, names in sorted(tasks.items()):
            words.append(task if project else f":{task}")
            words += [word for name in dict.fromkeys(names) for word in ("--tests", name)]
        return BuildStep("test", (*self.gradle, "--no-build-cache", *words))
