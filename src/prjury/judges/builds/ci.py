"""The base's own CI: the jobs of its workflows that a build here stands for.

It is read from the base, so that the change cannot edit it. What wants more rights than a build
has, or would change the machine itself, is left out and named. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import msgspec

from prjury.errors import CannotJudgeError, ConfigError
from prjury.judges.builds.calls import RECIPE_FAMILIES, WORDS, Call, split_name
from prjury.judges.builds.ci_steps import (
    CiStep,
    StepReader,
    fill_variables,
    has_part,
    join_background,
)
from prjury.judges.builds.plan import LeftOutStep
from prjury.judges.builds.systems.source_tree import SourceTree, parent_of
from prjury.judges.builds.toolchains import Toolchains
from prjury.manifests.matrix import UNKNOWN, ExpressionContext, matrix_rows
from prjury.manifests.workflow import (
    CompositeAction,
    Workflow,
    WorkflowJob,
    WorkflowStep,
    read_workflow,
)

WORKFLOWS = ".github/workflows"
_DEEPEST = 3
_MOST_ROWS = 40

Place: TypeAlias = tuple[str, str]


class CiJob(msgspec.Struct, frozen=True, dict=True):
    """A job that tests pull requests, in the row of its matrix that fits this machine.

    Attributes:
        path: of the workflow.
        row: the row of its matrix.
        versions: what its actions set up, by tool.
        version_files: the files from which its actions take versions, by tool.
        env: the variables of all its steps.
        steps: what it runs here, in order, up to the last test.
        services: what runs beside it, such as a database.
        left_out: what is not run, and why.
        linters: what it checks besides the tests.
        other_rows: the lines by which rows that are not run test something else.
        needs_artifacts: whether it works on what another job has made.
        lacks: the programs that run its tests and are not here.
        actions: the actions that it uses up to the last test, with their inputs.
        machine: the labels of the machine that it wants.
    """

    path: str
    job: str
    row: Mapping[str, str] = {}
    versions: Mapping[str, str] = {}
    version_files: Mapping[str, str] = {}
    env: Mapping[str, str] = {}
    steps: tuple[CiStep, ...] = ()
    services: tuple[str, ...] = ()
    left_out: tuple[LeftOutStep, ...] = ()
    linters: tuple[str, ...] = ()
    other_rows: tuple[str, ...] = ()
    needs_artifacts: bool = False
    lacks: tuple[str, ...] = ()
    actions: tuple[WorkflowStep, ...] = ()
    machine: str = ""

    @property
    def name(self) -> str:
        """The job with its file."""
        return f"{self.path}, job {self.job}"

    @cached_property
    def tests(self) -> tuple[CiStep, ...]:
        """The steps that run tests."""
        return tuple(step for step in self.steps if step.kind == "test")

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """The commands of all its steps."""
        return tuple(call for step in self.steps for call in step.calls)

    @cached_property
    def places(self) -> frozenset[Place]:
        """The kinds of code that it tests, each with its place."""
        families = {
            (call.family, step.directory)
            for step in self.tests
            for call in step.calls
            if call.family
        }
        if any(call.program == "cmake" and "--build" not in call.words for call in self.calls):
            places = ("" if "build" in place.lower() else place for _, place in families)
            families = {("cmake", place) for place in places}
        return frozenset(families)

    @property
    def kinds(self) -> frozenset[Place]:
        """Its places, with one name for build systems of the same code."""
        return frozenset((_ALIKE.get(family, family), place) for family, place in self.places)

    @cached_property
    def programs(self) -> frozenset[str]:
        """The names of the programs that it calls."""
        return frozenset(call.program for call in self.calls)


class BaseCi(msgspec.Struct, frozen=True):
    """The CI of the base.

    Attributes:
        jobs: those that a build here stands for, the main one first.
        others: the remaining ones that run tests.
        external: the workflows of other repositories that it calls.
        left_out: tests that cannot run here, of jobs in which nothing else tests.
    """

    jobs: tuple[CiJob, ...] = ()
    others: tuple[CiJob, ...] = ()
    external: tuple[str, ...] = ()
    left_out: tuple[LeftOutStep, ...] = ()

    @property
    def programs(self) -> frozenset[str]:
        """The programs that any job calls that runs tests."""
        return frozenset().union(*(job.programs for job in (*self.jobs, *self.others)))


def find_base_ci(root: SourceTree, here: Toolchains) -> BaseCi | None:
    """The CI that tests pull requests; None if no job in the tree's workflows does.

    Args:
        root: the base's tree; what the change makes of it is not asked.
    """
    reader = _Reader(root, here)
    ranked = sorted(reader.list_jobs(), key=lambda one: (one[0], "gradle" in one[1].programs))
    external = tuple(dict.fromkeys(reader.external))
    nothing = BaseCi(external=external, left_out=tuple(dict.fromkeys(reader.left_out)))
    if not ranked:
        return nothing if external or nothing.left_out else None
    (first, main), *rest = ranked
    if first.aside and (reader.external or reader.left_out):
        return nothing
    chosen, covered = [main], set(main.kinds)
    for rank, job in rest:
        plain = not any(family in WRAPPING for family, _ in job.kinds)
        inside = {family for family, place in covered if not place} & RECIPE_FAMILIES
        new = not any(family in inside for family, _ in job.kinds) and covered.isdisjoint(job.kinds)
        present = all(place in root.directories for _, place in job.places)
        if plain and new and present and rank.stands_alone:
            chosen.append(job)
            covered |= job.kinds
    others = tuple(job for _, job in rest if job not in chosen)
    return BaseCi(tuple(chosen), others, external)


#: Families behind which any kind of code may be tested.
WRAPPING = frozenset({"make", "script", "shell"})
#: Families of which one does for the other: both build the same code.
_ALIKE = {"gradle": "maven", "meson": "cmake", "make": "cmake"}


class _Rank(msgspec.Struct, frozen=True, order=True):
    """The order of jobs: the smallest is the one that a build here stands for."""

    not_on_pull_requests: bool
    aside: bool
    other_machine: bool
    unnamed: bool
    lacks: int
    instrumented: bool
    distance: float
    below_root: bool
    narrowness: float

    @property
    def stands_alone(self) -> bool:
        """True for a main job that can run here."""
        return not (self.not_on_pull_requests or self.aside or self.other_machine or self.lacks)


class _Called(msgspec.Struct, frozen=True):
    """A workflow as an event, or a job of another one, starts it."""

    workflow: Workflow
    events: frozenset[str]
    inputs: Mapping[str, str] = {}
    caller: str = ""
    depth: int = 0


class _Reader:
    """Reads the workflows and local actions of one tree."""

    def __init__(self, root: SourceTree, here: Toolchains) -> None:
        self.root, self.here = root, here
        self.external: list[str] = []
        self.left_out: list[LeftOutStep] = []
        self.composites: dict[str, CompositeAction | None] = {}
        self.workflows = {one.path: one for one in self._read_workflows()}

    def _read_workflows(self) -> Iterator[Workflow]:
        files = sorted(path for path in self.root.files if parent_of(path) == WORKFLOWS)
        paths = [path for path in files if path.endswith((".yml", ".yaml"))]
        for path, text in self.root.texts(paths):
            try:
                yield read_workflow(text, path)
            except (ConfigError, CannotJudgeError):
                continue  # GitHub does not run it either, or a partial clone lacks it

    def list_jobs(self) -> Iterator[tuple[_Rank, CiJob]]:
        """The jobs that run tests, each in its best row."""
        for workflow in self.workflows.values():
            if set(workflow.triggers) != {"workflow_call"}:
                yield from self._list_jobs(_Called(workflow, frozenset(workflow.triggers)))

    def _list_jobs(self, called: _Called) -> Iterator[tuple[_Rank, CiJob]]:
        context = _context(called, {})
        for job in called.workflow.jobs:
            name = f"{called.caller}{job.id}"
            if context.holds(job.condition) is False:
                continue
            if job.uses:
                workflow = self.workflows.get(job.uses.removeprefix("./"))
                if workflow is None or called.depth == _DEEPEST:
                    self.external += [] if job.uses.startswith("./") else [job.uses]
                    continue
                trigger = workflow.triggers.get("workflow_call")
                inputs = dict(trigger.inputs) if trigger else {}
                inputs |= {key: context.fill(text) or "" for key, text in job.inputs.items()}
                depth = called.depth + 1
                inner = _Called(workflow, called.events, inputs, f"{name} / ", depth)
                yield from self._list_jobs(inner)
            elif ranked := self._choose_row(called, job, name):
                yield ranked

    def _choose_row(
        self, called: _Called, job: WorkflowJob, name: str
    ) -> tuple[_Rank, CiJob] | None:
        if any("prjury" in step.action or "pr-jury" in step.action for step in job.steps):
            return None
        outer = _context(called, {})
        matrix = job.strategy.get("matrix")
        axes = outer.value(matrix.strip("${} ")) if isinstance(matrix, str) else matrix
        values = [*matrix_rows(axes, outer)][:_MOST_ROWS]
        rows = [_Row(self, called, job, row, name) for row in values]
        rows = [row for row in rows if row.context.holds(job.condition) is not False]
        ranked = [(row.rank(one := row.read()), one) for row in rows]
        released = called.workflow.path.endswith(("release.yml", "publish.yml"))
        on_push = "push" in called.events and not released
        tested = [
            (rank, one)
            for rank, one in ranked
            if one.tests and not (rank.not_on_pull_requests and (rank.aside or not on_push))
        ]
        if not tested:
            for rank, one in ranked:
                if not (rank.not_on_pull_requests or rank.aside or rank.other_machine):
                    self.left_out += (step for step in one.left_out if step.tests)
            return None
        best_rank, best = min(tested, key=lambda one: one[0])
        usual = (one for rank, one in tested if not rank.other_machine)
        lines = dict.fromkeys(step.script for one in usual for step in one.tests)
        own = {step.script for step in best.tests}
        more = tuple(line for line in lines if line not in own)
        return best_rank, msgspec.structs.replace(best, other_rows=more)


def _context(
    called: _Called, row: Mapping[str, Any], job: WorkflowJob | None = None
) -> ExpressionContext:
    unknown = "repository_owner repository ref ref_name sha event actor run_id".split()
    github = {"event_name": "pull_request", "workspace": ".", **dict.fromkeys(unknown, UNKNOWN)}
    runner = {"os": "Linux", "arch": "X64", "temp": "$RUNNER_TEMP"}
    values = {"github": github, "runner": runner, "steps": UNKNOWN, "matrix": row}
    values |= {"inputs": called.inputs}
    env = called.workflow.env
    variables = {**env, **(job.env if job else {})}
    first = ExpressionContext({**values, "env": env})
    return ExpressionContext({**values, "env": dict(fill_variables(first, variables))})


class _Row(msgspec.Struct, frozen=True, dict=True):
    """A job in one row of its matrix."""

    reader: _Reader
    called: _Called
    job: WorkflowJob
    values: Mapping[str, Any]
    name: str

    @cached_property
    def context(self) -> ExpressionContext:
        return _context(self.called, self.values, self.job)

    def rank(self, job: CiJob) -> _Rank:
        """The row's place among those that a build here can stand for."""
        title = self.job.title.partition("${{")[0]
        names = f"{self.name} {title} {job.path.rpartition('/')[2]}"
        texts = [str(value) for value in self.values.values() if value is not UNKNOWN]
        texts += [*self.values, *job.env.values()]
        marked = has_part(
            " ".join([*texts, *(step.script for step in job.steps)]), WORDS["instrumented"]
        )
        return _Rank(
            not_on_pull_requests=not self.called.events & {"pull_request", "merge_group"},
            aside=has_part(names, WORDS["aside"]),
            other_machine=has_part(f"{job.machine} {self.name}-", WORDS["other_machines"]),
            lacks=self._count_missing(job),
            instrumented=marked,
            distance=self._distance(job),
            unnamed=WORDS["main"].isdisjoint(split_name(names)),
            below_root=all(place for _, place in job.places),
            narrowness=-measure_breadth(job.tests),
        )

    def _count_missing(self, job: CiJob) -> int:
        missing = self._list_missing(job, job.calls)
        services = [step for step in job.left_out if step.kind == "services"]
        others = (bool(missing), bool(self.job.container), job.needs_artifacts)
        return len(services) + sum(others)

    def _list_missing(self, job: CiJob, calls: Iterable[Call]) -> list[str]:
        installs = (call for call in job.calls if call.purpose == "setup")
        words = (word.rpartition("/")[2] for call in installs for word in call.words[1:])
        installed = {word.partition("@")[0] for word in words} & WORDS["installable"]
        programs = {call.words[0].rpartition("/")[2] for call in calls} & WORDS["needed"]
        return sorted(name for name in programs - installed if not self.reader.here.has(name))

    def _distance(self, job: CiJob) -> float:
        """The distance of this machine from its versions; unusual rows are farther."""
        texts = [str(value) for value in (*job.versions.values(), *self.values.values())]
        free = [text for text in texts if text.endswith("t") and text[-2:-1].isdigit()]
        unusual = bool(free) or any(has_part(text, WORDS["unusual"]) for text in texts)
        far = max((self.reader.here.distance(*one) for one in job.versions.items()), default=0.0)
        return far + unusual * 0.5

    def read(self) -> CiJob:
        """The job as it runs in this row."""
        reader, path = self.reader, self.called.workflow.path
        reading = StepReader(reader.root, reader.here, self.context, path, reader.composites)
        reading.defaults = {**self.called.workflow.defaults, **self.job.defaults}
        reading.take(self.job.steps)
        kinds = [step.kind for step in reading.steps]
        last = len(kinds) - kinds[::-1].index("test") if "test" in kinds else 0
        plain = {
            key: str(value)
            for key, value in self.values.items()
            if isinstance(value, str | int | float)
        }
        why = "services are not started here"
        left_out = [
            LeftOutStep(f"services: {one}", why, "services", path) for one in self.job.services
        ]
        if image := f"container: {self.job.container}" if self.job.container else "":
            left_out.append(LeftOutStep(image, "its image is not used here", "elsewhere", path))
        job = CiJob(
            path,
            self.name,
            plain,
            reading.versions,
            reading.version_files,
            self.context.values["env"],
            tuple(join_background(reading.steps[:last])),
            self.job.services,
            tuple(dict.fromkeys([*left_out, *reading.left_out[: reading.left_at_test or None]])),
            tuple(dict.fromkeys(reading.linters)),
            needs_artifacts=reading.needs_artifacts,
            actions=tuple(reading.actions[: reading.actions_at_test]),
            machine=" ".join(self.context.fill(label) or "" for label in self.job.runs_on),
        )
        tests = (call for step in job.tests for call in step.calls)
        return msgspec.structs.replace(job, lacks=tuple(self._list_missing(job, tests)))


def measure_breadth(steps: Iterable[CiStep]) -> float:
    """The breadth of calls of tests: the features, tags and extras that they ask for."""
    return sum(_breadth_of(call.words) for step in steps for call in step.calls if call.family)


def _breadth_of(words: Sequence[str]) -> float:
    before = words[: words.index("--")] if "--" in words else words
    if "--all-features" in before:
        return math.inf
    listed = [
        text for word, _, text in (one.partition("=") for one in before) if word in WORDS["listing"]
    ]
    listed += [text for word, text in pairwise(before) if word in WORDS["listing"]]
    wide = sum(len(text.replace(",", " ").split()) for text in listed)
    wide += sum(word.partition("=")[0] in WORDS["widening"] for word in before)
    selected = sum(word in WORDS["selecting"] and bool(text) for word, text in pairwise(before))
    return wide - selected - sum(word in WORDS["narrowing"] for word in before)
