"""Running failing tests of a Gradle build again, by their names. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from prjury.judges.builds.failure import Failure
from prjury.judges.builds.plan import BuildStep
from prjury.judges.builds.systems.java_tests import java_tests

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
