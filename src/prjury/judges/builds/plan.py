"""Build systems and plans: what is run, in which part of the tree, and why. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from prjury.judges.builds.source_tree import SourceTree
from prjury.judges.builds.toolchains import WantedVersion
from prjury.report.wording import join_words
from prjury.snapshot.model import visible

#: The name of plans with the commands of the policy, in the place of a build system's.
CUSTOM = "command"
#: The name of plans that stand for what another CI ran, of which there are only reports.
REPORTED = "reports"
_PYTEST_OPTIONS = "PYTEST_ADDOPTS"
#: Options that pytest gets after the tree's own, so that they win: to write a report with files and
#: lines (only the older family has them), and to continue after failures. A pytest that a test
#: calls writes one of another name.
_REPORT = "--junitxml={reports}/pytest$PYTEST_CURRENT_TEST.xml"
PYTEST_ENV = {_PYTEST_OPTIONS: f"{_REPORT} -o junit_family=xunit1 --maxfail=0"}
#: pytest runs what failed just before, and nothing where it remembers nothing.
_LAST_FAILED = "--last-failed --last-failed-no-failures=none"
_SOURCES = {"policy": "the policy", "recipe": "a recipe", "ci": "the base's own CI",
            "convention": "what is usual"}  # fmt: skip
_NONE = (
    "nothing, no build is known; "
    "add `build: {command: …}` with the command that builds and tests it"
)

JVM = frozenset(".java .kt .kts .scala .groovy".split())
JAVASCRIPT = frozenset(".js .jsx .mjs .cjs .ts .tsx .mts .cts .vue .svelte".split())
PYTHON = frozenset(".py .pyi .pyx".split())
#: What bindings and extensions are written in.
NATIVE = frozenset(".c .cc .cpp .cxx .h .hh .hpp .s .asm".split())
#: For builds that may run anything, so that every source counts as built.
ANY_LANGUAGE = frozenset({"*"})

StepName: TypeAlias = Literal["setup", "build", "test", "lint"]
#: Where a plan comes from: the policy's commands; a build system's files; the base's own CI; or
#: what is usual.
PlanSource: TypeAlias = Literal["policy", "recipe", "ci", "convention"]
#: What a step needs that is not here: a database or a container, packages of the system, what only
#: the CI itself has, such as secrets and artifacts of other jobs, or all else.
LeftOutKind: TypeAlias = Literal["services", "packages", "elsewhere", "other", "unknown"]
#: When the builds of a system are run: always; only where nothing better is found; likewise, but
#: only builds without tests; only if the policy names the system.
When: TypeAlias = Literal["always", "last_resort", "last_resort_if_untested", "on_request"]


class LeftOutStep(Struct, frozen=True):
    """A step of the base's CI that is not run here: its command, a clause, its file and line."""

    text: str
    why: str
    kind: LeftOutKind = "other"
    origin: str = ""
    tests: bool = False


class BuildStep(Struct, frozen=True):
    """One command of a build: program and arguments, or one line for ``/bin/sh``.

    Attributes:
        parts: the packages of a workspace in which the command runs its script.
        origin: the file and the line where the base's CI has it; empty for all else.
        may_fail: the steps after it run all the same if it fails.
        all_ran: the exit code that means that every test ran and some failed; None if it may stop.
    """

    name: StepName
    command: tuple[str, ...] | str
    parts: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    origin: str = ""
    may_fail: bool = False
    all_ran: int | None = None

    @property
    def text(self) -> str:
        return self.command if isinstance(self.command, str) else shlex.join(self.command)

    @property
    def shown(self) -> str:
        """The command; a script for bash as it stands in a workflow."""
        by_bash = self.command[:1] == ("bash",) and self.command[-2:-1] == ("-c",)
        return self.command[-1] if by_bash else self.text

    def covers(self, other: BuildStep) -> bool:
        """Tell whether it runs all that the other runs, perhaps with more names and no options."""
        if isinstance(self.command, str) or isinstance(other.command, str):
            return self.command == other.command
        more = {*self.command} - {*other.command}
        wider = {*self.command} >= {*other.command} and {*self.parts} >= {*other.parts}
        return wider and not any(word.startswith("-") for word in more)


class BuildPlan(Struct, frozen=True):
    """The steps of one build, in order.

    Attributes:
        env: variables for the steps; ``{reports}``, ``{home}`` and ``{tree}`` are directories.
        has_report: the steps write a test report, so that a missing one is an error.
        reports: globs of further JUnit files, from the plan's directory.
        modules: those of Maven that change, where no others but their dependents are built.
        wants: the versions of tools that the project asks for, the strongest word of a tool first.
        missing: why this machine cannot run it, and what to do.
        older: why its tools here may be too old, and what to do; it is run all the same.
        otherwise: another plan for the same code, for a base on which this one tests nothing.
    """

    system: str
    steps: tuple[BuildStep, ...]
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    has_report: bool = False
    reports: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    directory: str = ""
    modules: tuple[str, ...] = ()
    source: PlanSource = "recipe"
    tools: tuple[str, ...] = ()
    versions: Mapping[str, str] = {}
    wants: tuple[WantedVersion, ...] = ()
    missing: str = ""
    older: str = ""
    left_out: tuple[LeftOutStep, ...] = ()
    otherwise: BuildPlan | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        return self.system, self.directory, self.text

    @property
    def label(self) -> str:
        return f"{self.system} in {visible(self.directory)}" if self.directory else self.system

    @property
    def text(self) -> str:
        """All steps as a person would type them in the root of the tree."""
        steps = " && ".join(step.text for step in self.steps)
        place = f"./{self.directory}" if self.directory.startswith("-") else self.directory
        return f"cd {shlex.quote(place)} && {steps}" if place else steps

    @property
    def without_setup(self) -> str:
        """The text of the steps that prove something; of all steps if it only sets up."""
        proving = tuple(step for step in self.steps if step.name != "setup")
        return replace(self, steps=proving or self.steps).text

    @property
    def tests(self) -> bool:
        return self.system == CUSTOM or any(step.name == "test" for step in self.steps)

    def covers(self, other: BuildPlan) -> bool:
        """Tell whether it runs all that the other runs, perhaps more; setup steps do not count."""
        same_place = (self.system, self.directory) == (other.system, other.directory)
        steps = [step for step in other.steps if step.name != "setup"]
        return same_place and all(any(own.covers(step) for own in self.steps) for step in steps)

    def goes_on(self, index: int) -> bool:
        """True if the steps behind this one run though it failed: failing tests stop no others."""
        step, later = self.steps[index], self.steps[index + 1 :]
        return step.may_fail or (step.name == "test" and any(one.name == "test" for one in later))

    @property
    def failed_tests_plan(self) -> BuildPlan | None:
        """The plan that runs what failed just before, by pytest's own option; None for others."""
        steps = []
        for step in [step for step in self.steps if step.name == "test"] or self.steps[-1:]:
            options = {**self.env, **step.env}.get(_PYTEST_OPTIONS)
            if options is None:
                return None
            env = {**step.env, _PYTEST_OPTIONS: f"{options} {_LAST_FAILED}"}
            steps.append(replace(step, env=env))
        return replace(self, steps=tuple(steps))


def escape_braces(text: str) -> str:
    """A value for `BuildPlan.env`, in which braces stand for places."""
    return text.replace("{", "{{").replace("}", "}}")


class BuildSystem(Struct, frozen=True):
    """A build system; the policy's own one, or one that travels with the program.

    Attributes:
        manifests: the names of the files that make a directory a project, globs among them.
        covers: the suffixes of the sources that are compiled or tested, by the names of its builds.
        family: of several builds of one family in a directory one is run.
        wrapper: the script of a project that runs the system's program.
    """

    manifests: tuple[str, ...]
    covers: Mapping[str, frozenset[str]]
    plans: Callable[[SourceTree], tuple[BuildPlan, ...]]
    when: When = "always"
    family: str = ""
    wrapper: str = ""
    is_recipe: bool = False
    own: bool = False


class DetectedBuilds(Struct, frozen=True):
    """The builds of a tree, notes on what is not run, and places of projects that are not built."""

    plans: tuple[BuildPlan, ...]
    notes: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()


def make_plan_document(builds: DetectedBuilds) -> Mapping[str, Any]:
    documents = []
    for plan in builds.plans:
        values = to_builtins(plan)
        names = "source system directory reasons modules tools left_out notes".split()
        document = {name: values[name] for name in names}
        document["missing"] = plan.missing or plan.older or None
        document["steps"] = [
            {"name": step.name, "command": step.text, "origin": step.origin} for step in plan.steps
        ]
        documents.append(document)
    schema = {"schema": "prjury/build-plan/v1", "builds": documents}
    return {**schema, "notes": builds.notes, "skipped": builds.skipped}


def list_plan_lines(builds: DetectedBuilds) -> Iterator[str]:
    for plan in builds.plans:
        where = f" in {plan.directory}" if plan.directory else ""
        yield f"{plan.system}{where}, by {_SOURCES[plan.source]}"
        for step in plan.steps:
            origin = f"  # {step.origin}" if step.origin else ""
            first, *rest = step.shown.splitlines()
            yield f"  {step.name:7} {first}{origin}"
            yield from (f"          {line}" for line in rest)
        rows = {
            "why": plan.reasons,
            "only": [", ".join(plan.modules)],
            "with": plan.tools,
            "lacks": [plan.missing],
            "older": [f"{plan.older}; it is tried all the same"] if plan.older else [],
            "not run": [f"{one.text}: {one.why}  # {one.origin}" for one in plan.left_out],
            "note": plan.notes,
        }
        for label, texts in rows.items():
            yield from (f"  {label:7} {text}" for text in texts if text)
    if not builds.plans:
        yield _NONE
    yield from (f"note: {note}" for note in builds.notes)
    yield from (f"not built, by its name: {place}" for place in builds.skipped)


def summarise_and_check_plans(builds: DetectedBuilds) -> tuple[str, bool]:
    """The builds in one line, and whether all of them could run here."""
    if not builds.plans:
        return _NONE, False
    line = join_words(
        [f"{plan.system}, `{plan.steps[-1].text.splitlines()[0]}`" for plan in builds.plans]
    )
    lacks = next((plan.missing for plan in builds.plans if plan.missing), "")
    source = _SOURCES[builds.plans[0].source]
    return (f"{line}; {lacks}", False) if lacks else (f"{line} ({source})", True)
