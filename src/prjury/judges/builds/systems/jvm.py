"""Maven and Gradle: wrapper scripts, reactors, and the modules that a change touches. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from msgspec.structs import replace

from prjury.judges.builds.calls import WORDS
from prjury.judges.builds.plan import JVM, BuildPlan, BuildStep, BuildSystem
from prjury.judges.builds.source_tree import (
    EXECUTABLE,
    SourceTree,
    is_below,
    join_path,
    nearest,
    parent_of,
    parents_of,
    path_in,
)
from prjury.manifests.formats import POM
from prjury.manifests.maven import Pom, read_pom

#: With this, failing tests are only in the reports, and nothing is left out because of them.
_GOING_ON = "-Dmaven.test.failure.ignore=true"
#: Words of plans that run every test, however often, and whatever comes of it.
_THROUGHOUT = {_GOING_ON, "--rerun-tasks"}
#: With more changed modules than this, everything is built.
_MOST_MODULES = 200
#: Options of ``.mvn/maven.config`` that choose modules, or another build file.
_CHOOSING = WORDS["maven_choosing"]
#: Lists the modules that a run of Maven goes through, as ``group:artifact``, by words of the shell.
_LIST = "while read -r _ mark module _; do case $mark in *-'<') printf %s, \"$module\";; esac; done"
#: Options that silence the list, or that go on after failures, and phases; `pre-clean` stands for
#: them, which runs no plugin, whatever a project binds to other phases.
_NOT_ASKED = WORDS["maven_not_asked"]
_SETTINGS = ("settings.gradle", "settings.gradle.kts")
_SCRIPTS = (*_SETTINGS, "build.gradle", "build.gradle.kts")


def choose_command_and_reason(
    tree: SourceTree, directory: str, script: str, tool: str, needed: Sequence[str]
) -> tuple[tuple[str, ...], str]:
    """Call the nearest script, in a build's directory or above it, else the tool; and say why."""
    installed = f"so the installed `{tool}` is used"
    for count, place in enumerate((directory, *parents_of(directory))):
        path, shown = path_in(place, script), f"{'../' * count}{script}"
        if path not in tree.files:
            continue
        missing = [file for file in needed if path_in(place, file) not in tree.files]
        if missing:
            return (tool,), f"{shown} is there without {missing[0]}, {installed}"
        if tree.files[path].mode != EXECUTABLE:
            return ("sh", shown), f"{shown} is there but not executable, so `sh` runs it"
        return (shown if count else f"./{shown}",), f"{shown} is there"
    return (tool,), f"no {script}, {installed}"


def with_goals(plan: BuildPlan, goals: Sequence[str]) -> BuildPlan:
    """A plan of Maven or Gradle with other goals, which may publish, so that tests stop them."""
    words = (word for word in plan.steps[-1].command[:-1] if word not in _THROUGHOUT)
    step = BuildStep("test", (*words, *goals))
    return replace(plan, steps=(*plan.steps[:-1], step))


def _list_maven_plans(root: SourceTree) -> tuple[BuildPlan, ...]:
    poms = {path: root.readable(path, read_pom) or Pom() for path in root.named(POM)}
    modules = {module for path in [*poms] for module in _add_modules(root, poms, path) - {path}}
    plans: dict[str, BuildPlan] = {}
    for directory in sorted(map(parent_of, poms.keys() - modules)):
        above = [place for place in plans if is_below(directory, place)]
        of_sources = any("src" in directory[len(place) :].split("/") for place in above)
        if of_sources or not root.may_hold_project(directory):
            continue
        needed = (".mvn/wrapper/maven-wrapper.properties",)
        maven, reason = choose_command_and_reason(root, directory, "mvnw", "mvn", needed)
        command = (*maven, "-q", "-B", "--fail-at-end", _GOING_ON, "verify")
        plans[directory] = BuildPlan(
            "maven",
            (BuildStep("test", command, all_ran=0),),
            (f"{POM} is there", reason),
            directory=directory,
            modules=tuple(_list_changed_or_no_limit(root, directory, modules)),
        )
    return tuple(plans.values())


def _add_modules(root: SourceTree, poms: dict[str, Pom], path: str) -> set[str]:
    modules = set[str]()
    for name in (*poms[path].members, *poms[path].profile_modules):
        place = join_path(parent_of(path), name)
        module = None if place is None else root.has(place, path_in(place, POM))
        if module:
            poms.setdefault(module, root.readable(module, read_pom) or Pom())
            modules.add(module)
    return modules


def _list_changed_or_no_limit(root: SourceTree, directory: str, modules: set[str]) -> Sequence[str]:
    config = root.text(path_in(directory, ".mvn/maven.config")).split()
    if root.changed is None or not _CHOOSING.isdisjoint(config):
        return ()
    places, names = frozenset({directory, *map(parent_of, modules)}), dict[str, None]()
    # documentation in a module may be packaged with it
    docs = {path for path in root.changed_docs if nearest(path, places - {""}) is not None}
    for path in sorted(root.changed_sources | docs):
        home = nearest(path, places)
        if path.endswith(POM) or home == directory:
            return ()  # it belongs to no single module
        if home is not None:
            name = home[len(directory) :].strip("/") if is_below(home, directory) else ""
            begins = name[:1].isalnum() or name[:1] == "_"
            if not (begins and name.isprintable()) or {",", ":"} & set(name):
                return ()  # Maven cannot be told of it
            names[name] = None
    return () if len(names) > _MOST_MODULES else [*names]


def narrow_maven_to_affected(plan: BuildPlan) -> BuildPlan:
    """Build only the modules that change, those that depend on them, and what all of these need.

    Maven leaves out what a dependent needs where ``-am`` and ``-amd`` are given at once, so it is
    asked for the dependents first. Where it does not answer, everything is built.
    """
    if plan.system != "maven" or not plan.modules:
        return plan
    steps = []
    for step in plan.steps:
        line = step.command
        if isinstance(line, tuple) and not step.origin:
            asking = [word for word in line if word not in _NOT_ASKED]
            question = shlex.join([*asking, "-pl", ",".join(plan.modules), "-amd", "pre-clean"])
            line = (
                f'modules=$({question} | {_LIST}); echo "Maven builds: '
                f'${{modules:-every module}}"; {step.text} ${{modules:+-pl "${{modules%,}}" -am}}'
            )
        steps.append(replace(step, command=line))
    return replace(plan, steps=tuple(steps))


def _list_gradle_plans(root: SourceTree) -> tuple[BuildPlan, ...]:
    builds: dict[str, BuildPlan] = {}
    for place in sorted(root.directories_with(*_SCRIPTS)):
        above = [build for build in builds if is_below(place, build)]
        owned = any(_owns(root.below(build), place[len(build) :].strip("/")) for build in above)
        if owned or not root.may_hold_project(place):
            continue
        files = ("gradle/wrapper/gradle-wrapper.properties", "gradle/wrapper/gradle-wrapper.jar")
        gradle, reason = choose_command_and_reason(root, place, "gradlew", "gradle", files)
        # nothing counts as up to date, as that would leave no new report
        command = (*gradle, "--no-daemon", "-q", "--continue", "--rerun-tasks", "build")
        steps = (BuildStep("test", command),)
        reasons = (f"{root.below(place).has(*_SCRIPTS)} is there", reason)
        builds[place] = BuildPlan("gradle", steps, reasons, directory=place)
    return tuple(builds.values())


def _owns(build: SourceTree, directory: str) -> bool:
    settings = build.directories_with(*_SETTINGS)
    of_sources = directory.split("/", maxsplit=1)[0] == "buildSrc"
    return of_sources or ("" in settings and directory not in settings)


MAVEN = BuildSystem((POM,), {"maven": JVM}, _list_maven_plans, family="jvm", wrapper="mvnw")
GRADLE = BuildSystem(_SCRIPTS, {"gradle": JVM}, _list_gradle_plans, family="jvm", wrapper="gradlew")
