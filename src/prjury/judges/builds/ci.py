"""The base's own CI, which the change cannot edit: the jobs that a build here stands for. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from itertools import islice, pairwise
from typing import Any, TypeAlias

import msgspec

from prjury.errors import CannotJudgeError, ConfigError
from prjury.judges.builds.calls import RECIPE_FAMILIES, WORDS, Call, split_name
from prjury.judges.builds.ci_steps import CiStep, StepReader, fill_inputs, fill_variables, has_part
from prjury.judges.builds.plan import LeftOutStep
from prjury.judges.builds.source_tree import SourceTree, parent_of
from prjury.judges.builds.toolchains import TOOLS, Toolchains, WantedVersion, read_wanted_versions
from prjury.manifests.matrix import UNKNOWN, ExpressionContext, list_matrix_rows
from prjury.manifests.workflow import Trigger, Workflow, WorkflowJob, WorkflowStep, read_workflow

WORKFLOWS = ".github/workflows"
_DEEPEST = 3
_MOST_ROWS = 40

Place: TypeAlias = tuple[str, str]

_NO_VERSION = str.maketrans("", "", "0123456789.")
_SHARES = "shard group split chunk partition index".split()


class CiJob(msgspec.Struct, frozen=True, dict=True):
    """A job that tests pull requests, in the row of its matrix that fits this machine.

    Its actions are those up to the last test; `lacks` are programs that run its tests.
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
        return f"{self.path}, job {self.job}"

    def list_wanted_versions(self, root: SourceTree) -> Iterator[WantedVersion]:
        for tool, text in self.versions.items():
            yield WantedVersion(tool, text, self.name, "ci")
        for tool, path in self.version_files.items():
            for wish in read_wanted_versions(root, path):
                if wish.tool == tool:
                    yield WantedVersion(tool, wish.version, path, "ci")

    @cached_property
    def tests(self) -> tuple[CiStep, ...]:
        return tuple(step for step in self.steps if step.kind == "test")

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        return tuple(call for step in self.steps for call in step.calls)

    @cached_property
    def places(self) -> frozenset[Place]:
        """The kinds of code that it tests, each with its place."""
        calls = (call for step in self.tests for call in step.calls if call.family)
        configured = {("cmake", call.place) for call in self.calls if call.configures}
        if configured:
            calls = (call for call in calls if call.family not in {"cmake", *WRAPPING})
        return frozenset({(call.family, call.place) for call in calls} | configured)

    @property
    def kinds(self) -> frozenset[Place]:
        """Its places, with one name for build systems of the same code."""
        return frozenset((_ALIKE.get(family, family), place) for family, place in self.places)


class BaseCi(msgspec.Struct, frozen=True):
    """The CI of the base: the jobs that a build here stands for, the main one first, and others."""

    jobs: tuple[CiJob, ...] = ()
    others: tuple[CiJob, ...] = ()
    external: tuple[str, ...] = ()
    left_out: tuple[LeftOutStep, ...] = ()


def choose_base_ci_jobs(base_tree: SourceTree, toolchains: Toolchains) -> BaseCi | None:
    """The CI of the base that tests pull requests; None if no job in its workflows does."""
    reader = _LoadedWorkflows(base_tree, toolchains)
    ranked = sorted(reader.rank_jobs(), key=lambda one: (one[0], ("gradle", "") in one[1].places))
    external = tuple(dict.fromkeys(reader.external))
    left_out = tuple(dict.fromkeys(reader.left_out))
    others = (*(job for _, job in ranked), *reader.elsewhere)
    if not ranked or (ranked[0][0].aside and (external or reader.elsewhere)):
        return BaseCi((), others, external, left_out) if external or left_out else None
    (_, main), *rest = ranked
    chosen, covered = [main], set(main.kinds)
    for rank, job in rest:
        inside = {family for family, place in covered if not place} & RECIPE_FAMILIES
        plain = not any(family in WRAPPING | inside for family, _ in job.kinds)
        present = all(place in base_tree.directories for _, place in job.places)
        beside = rank.not_on_pull_requests or rank.aside or rank.other_machine
        apart = {place for _, place in covered}.isdisjoint(place for _, place in job.places)
        runs = apart or not (rank.lacks or rank.needs_artifacts)
        if plain and covered.isdisjoint(job.kinds) and present and runs and not beside:
            chosen.append(job)
            covered |= job.kinds
    others = tuple(job for job in others if job not in chosen)
    return BaseCi(tuple(chosen), others, external)


#: Families behind which any kind of code may be tested.
WRAPPING = frozenset({"make", "script", "shell"})
#: Families of which one does for the other: both build the same code.
_ALIKE = {"gradle": "maven", "meson": "cmake", "make": "cmake"}


class _Rank(msgspec.Struct, frozen=True, order=True):
    not_on_pull_requests: bool
    aside: bool
    other_machine: bool
    unnamed: bool
    lacks: int
    named_by_others: bool  # by its title or its file, not by itself
    needs_artifacts: bool
    instrumented: bool
    distance: float
    below_root: bool
    narrowness: float


class _WorkflowCall(msgspec.Struct, frozen=True):
    workflow: Workflow
    events: frozenset[str]
    inputs: Mapping[str, Any] = {}
    caller: str = ""

    def make_context(self, row: object, job: WorkflowJob | None = None) -> ExpressionContext:
        unknown = "repository_owner repository ref ref_name sha event actor run_id token".split()
        event = {"event_name": "pull_request", "workspace": "."}
        values = {
            "github": {**event, **dict.fromkeys(unknown, UNKNOWN)},
            "runner": {"os": "Linux", "arch": "X64", "temp": "$RUNNER_TEMP"},
            "steps": UNKNOWN, "matrix": row, "inputs": self.inputs, "env": self.workflow.env,
        }  # fmt: skip
        variables = {**self.workflow.env, **(job.env if job else {})}
        env = fill_variables(ExpressionContext(values), variables)
        return ExpressionContext({**values, "env": env})


class _LoadedWorkflows:
    def __init__(self, root: SourceTree, toolchains: Toolchains) -> None:
        self.root, self.toolchains = root, toolchains
        self.external: list[str] = []
        self.left_out: list[LeftOutStep] = []
        self.elsewhere: list[CiJob] = []  # jobs that test, and cannot run here
        self.workflows: dict[str, Workflow] = {}
        files = sorted(path for path in root.files if parent_of(path) == WORKFLOWS)
        for path, text in root.texts([path for path in files if path.endswith((".yml", ".yaml"))]):
            with suppress(ConfigError, CannotJudgeError):  # GitHub does not run it either
                self.workflows[path] = read_workflow(text, path)

    def rank_jobs(self) -> Iterator[tuple[_Rank, CiJob]]:
        """The jobs that run tests, each in its best row."""
        for workflow in self.workflows.values():
            if set(workflow.triggers) != {"workflow_call"}:
                yield from self._rank_jobs(_WorkflowCall(workflow, frozenset(workflow.triggers)))

    def _rank_jobs(self, called: _WorkflowCall) -> Iterator[tuple[_Rank, CiJob]]:
        for job in called.workflow.jobs:
            context = called.make_context(UNKNOWN if job.has_matrix else {})
            name = f"{called.caller}{job.id}"
            if context.holds(job.condition) is False:
                continue
            if not job.uses:
                yield from self._choose_tested_row_or_note_left_out(called, job, name)
                continue
            workflow = self.workflows.get(job.uses.removeprefix("./"))
            if workflow is None or called.caller.count(" / ") >= _DEEPEST:
                self.external += [] if job.uses.startswith("./") else [job.uses]
                continue
            trigger = workflow.triggers.get("workflow_call", Trigger())
            inputs = fill_inputs(context, trigger, job.inputs)
            yield from self._rank_jobs(_WorkflowCall(workflow, called.events, inputs, f"{name} / "))

    def _choose_tested_row_or_note_left_out(
        self, called: _WorkflowCall, job: WorkflowJob, name: str
    ) -> Iterator[tuple[_Rank, CiJob]]:
        if any("prjury" in step.action or "pr-jury" in step.action for step in job.steps):
            return
        outer = called.make_context({})
        matrix = job.strategy.get("matrix")
        axes = outer.value(matrix.strip("${} ")) if isinstance(matrix, str) else matrix
        ranked, tested = [], []
        for values in islice(list_matrix_rows(axes, outer), _MOST_ROWS):
            row = _MatrixRow(self, called, job, values, name)
            if row.context.holds(job.condition) is not False:
                rank = row.rank_job(one := row.read_job())
                ranked.append((rank, one))
                by_push = "push" in called.events and not rank.aside
                if one.tests and (by_push or not rank.not_on_pull_requests):
                    tested.append((rank, one))
        if tested:
            best_rank, best = min(tested, key=lambda pair: (pair[0], -len(pair[1].tests)))
            more = {
                ", ".join(f"{name}: {value}" for name, value in one.row.items()): None
                for rank, one in tested
                if not rank.other_machine and not _list_tests(one) <= _list_tests(best)
            }
            yield best_rank, msgspec.structs.replace(best, other_rows=tuple(filter(None, more)))
            return
        for rank, one in ranked:
            if not (rank.not_on_pull_requests or rank.aside or rank.other_machine):
                kinds = set[str]() if rank.unnamed else {"unknown"}
                self.left_out += [step for step in one.left_out if step.tests or step.kind in kinds]
                self.elsewhere += [one] if any(step.tests for step in one.left_out) else []


def _list_tests(job: CiJob) -> set[str]:
    table = {} if has_part(" ".join(job.row), _SHARES) else _NO_VERSION
    steps = [one for one in job.steps if one.kind == "test" or any(c.configures for c in one.calls)]
    env = (f"{key}={text}" for step in steps for key, text in {**job.env, **step.env}.items())
    return {text.translate(table) for text in (*(step.script for step in steps), *env)}


class _MatrixRow(msgspec.Struct, frozen=True, dict=True):
    reader: _LoadedWorkflows
    called: _WorkflowCall
    job: WorkflowJob
    values: Mapping[str, Any]
    name: str

    @cached_property
    def context(self) -> ExpressionContext:
        return self.called.make_context(self.values, self.job)

    def rank_job(self, job: CiJob) -> _Rank:
        title = self.job.title.partition("${{")[0]
        names = f"{self.name} {title} {job.path.rpartition('/')[2]}"
        aside = WORDS["aside"] - ({"integration"} if "unit" in split_name(title) else set())
        words = [str(value) for value in (*job.versions.values(), *self.values.values())]
        unusual = any(has_part(word, WORDS["unusual"]) for word in words)
        tools = [(key.removesuffix("-version"), str(text)) for key, text in self.values.items()]
        versions = [*job.versions.items(), *(one for one in tools if one[0] in TOOLS)]
        far = max((self.reader.toolchains.distance(*one) for one in versions), default=0.0)
        services = sum(step.kind == "services" for step in job.left_out)
        others = self._list_missing(job, job.calls), self.job.container
        texts = [str(value) for value in self.values.values() if value is not UNKNOWN]
        texts += [*self.values, *job.env.values(), *(step.script for step in job.steps)]
        return _Rank(
            not_on_pull_requests=not self.called.events & {"pull_request", "merge_group"},
            aside=has_part(names, aside),
            other_machine=has_part(f"{job.machine} {self.name}-", WORDS["other_machines"]),
            lacks=services + sum(map(bool, others)),
            needs_artifacts=job.needs_artifacts,
            instrumented=has_part(" ".join(texts), WORDS["instrumented"]),
            distance=far + unusual * 0.5,
            unnamed=WORDS["main"].isdisjoint(split_name(names)),
            named_by_others=WORDS["main"].isdisjoint(split_name(self.name)),
            below_root=all(place for _, place in job.places),
            narrowness=-measure_feature_breadth(job.calls),
        )

    def _list_missing(self, job: CiJob, calls: Iterable[Call]) -> list[str]:
        installs = (call for call in job.calls if call.purpose == "setup")
        words = (word.rpartition("/")[2] for call in installs for word in call.words[1:])
        installed = {word.partition("@")[0] for word in words} & WORDS["installable"]
        programs = {call.words[0].rpartition("/")[2] for call in calls} & WORDS["needed"]
        return sorted(name for name in programs - installed if not self.reader.toolchains.has(name))

    def read_job(self) -> CiJob:
        job, path = self.job, self.called.workflow.path
        defaults = {**self.called.workflow.defaults, **job.defaults}
        reader = StepReader(self.reader.root, self.reader.toolchains, self.context, path, defaults)
        reader.read_up_to_last_test(job.steps)
        texts = self.values.items()
        row = {key: str(text) for key, text in texts if isinstance(text, str | int | float)}
        why = "services are not started here"
        left_out = [LeftOutStep(f"services: {one}", why, "services", path) for one in job.services]
        if job.container:
            image, why = f"container: {job.container}", "its image is not used here"
            left_out.append(LeftOutStep(image, why, "elsewhere", path))
        read = CiJob(
            path,
            self.name,
            row,
            reader.versions,
            reader.version_files,
            self.context.values["env"],
            tuple(reader.steps),
            job.services,
            tuple(dict.fromkeys([*left_out, *reader.left_out])),
            tuple(dict.fromkeys(reader.linters)),
            needs_artifacts=reader.needs_artifacts,
            actions=tuple(reader.actions),
            machine=" ".join(self.context.fill(label) or "" for label in job.runs_on),
        )
        tests = (call for step in read.tests for call in step.calls)
        return msgspec.structs.replace(read, lacks=tuple(self._list_missing(read, tests)))


def measure_feature_breadth(calls: Iterable[Call]) -> float:
    """The breadth of calls of tests: the features, tags and extras that they ask for."""
    breadth = 0.0
    for call in (call for call in calls if call.family):
        words = call.words
        before = words[: words.index("--")] if "--" in words else words
        if call.program == "cargo" and any(one.startswith(("-p", "--package")) for one in before):
            breadth -= 1  # less than the workspace, whatever features it asks for
            continue
        if "--all-features" in before:
            return math.inf
        for word, after in pairwise([*before, ""]):
            name, sign, text = word.partition("=")
            if name in WORDS["listing"]:
                breadth += len((text if sign else after).replace(",", " ").split())
            breadth += name in WORDS["widening"]
            breadth -= word in WORDS["narrowing"] or (word in WORDS["selecting"] and bool(after))
    return breadth
