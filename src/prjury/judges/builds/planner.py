"""The sources of builds: the policy, the base's own CI, a recipe, or what is usual. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace as changed

from msgspec import Struct
from msgspec.structs import replace

from prjury.judges.builds.calls import read_calls, stops_early
from prjury.judges.builds.ci import WRAPPING, BaseCi, CiJob
from prjury.judges.builds.ci_plan import (
    ADAPTERS,
    RECIPE_FIRST,
    list_other_tests,
    plan_of_job,
    with_adapters,
    with_ci_options,
)
from prjury.judges.builds.detect import ALSO_FOUND, DetectedBuilds, detect_builds
from prjury.judges.builds.plan import (
    CUSTOM,
    PYTEST_ENV,
    BuildPlan,
    BuildStep,
    StepName,
    escape_braces,
)
from prjury.judges.builds.systems import SYSTEMS
from prjury.judges.builds.systems.build_system import BuildSystem
from prjury.judges.builds.systems.jvm import narrow_to_affected
from prjury.judges.builds.systems.python import with_environment
from prjury.judges.builds.systems.source_tree import Changes, SourceTree, path_in
from prjury.judges.builds.toolchains import Toolchains, name_tool
from prjury.judges.builds.versions import TOOLS_OF, ToolChoice, choose_tools, list_wanted_versions
from prjury.judges.builds.wording import join_names
from prjury.policy.tiers import BuildOptions, Steps
from prjury.sandbox.environment import is_refused
from prjury.snapshot.model import visible

_MOST_NAMED = 3
_STEP_NAMES: tuple[StepName, ...] = ("setup", "build", "test", "lint")
#: Where code without a build of its own, such as a header, may have one of its tests.
_TESTS_ALONE = frozenset({"test", "tests"})
#: The family of build systems by the name of a plan.
_FAMILIES = {name: family for family, system in SYSTEMS.items() for name in system.covers}
#: The kind of code, as calls of tests name it, by the family of build systems.
_KINDS = {"bundler": "ruby", "composer": "php", "autotools": "make", "mix": "elixir"}
#: Variables that say how strict or how loud a tool is, or where this machine has its own word.
_NOT_TAKEN = frozenset("CI TERM CC CXX CPP AR LD CHOST SHELL TMPDIR MAVEN_ARGS".split())
_NOT_TAKEN_PARTS = ("PATH", "HOME", "COLOR", "FLAGS", "_OPTS", "WARNINGS", "_CACHE", "_DIR", "LD_")


class BuildPlanner(Struct, frozen=True):
    """Finds the builds of trees: by the policy, the base's CI, recipes, or what is usual."""

    options: BuildOptions
    machine: Toolchains
    ci: BaseCi | None = None
    own: tuple[BuildSystem, ...] = ()

    def plans(self, root: SourceTree, changes: Changes | None) -> DetectedBuilds:
        """The builds of a tree that the change affects; all of them for None."""
        if self.options.command != "auto":
            plan = make_policy_plan(self.options.command, self.options.junit)
            return DetectedBuilds((self._equip(root, plan, None),))
        systems = None if self.options.systems == "auto" else self.options.systems
        part = changes if self.options.affected else None
        builds = detect_builds(root, part, systems, self.own)
        own = any(plan.system in system.covers for system in self.own for plan in builds.plans)
        if systems is None and not own and self.ci and self.ci.jobs:
            builds = self._follow_ci(root, self.ci, builds, part)
        else:
            if systems is None and not builds.plans:
                builds = detect_builds(changed(root, allowed=_TESTS_ALONE), part, None, self.own)
            left_out = self.ci.left_out if self.ci else ()
            noted = (replace(plan, left_out=left_out) for plan in builds.plans)
            equipped = tuple(self._equip(root, plan, None) for plan in noted)
            external = self.ci.external[:1] if self.ci and not self.ci.jobs else ()
            elsewhere = "its CI calls {}, which lies in another repository"
            notes = (elsewhere.format(visible(one)) for one in external)
            builds = replace(builds, plans=equipped, notes=(*builds.notes, *notes))
        more = self.options.junit
        plans = (replace(plan, reports=(*plan.reports, *more)) for plan in builds.plans)
        return replace(builds, plans=tuple(plans))

    def _follow_ci(
        self, root: SourceTree, ci: BaseCi, affected: DetectedBuilds, changes: Changes | None
    ) -> DetectedBuilds:
        every = detect_builds(root, None).plans
        plans, notes = list[BuildPlan](), list[str]()
        for job in ci.jobs:
            places = {place for _, place in job.places}
            touched = not changes or not changes.paths or any(map(changes.below, places))
            if len(ci.jobs) > 1 and "" not in places and not touched:
                notes.append(f"not touched by the change and not built: {job.job} in {min(places)}")
            else:
                plans += self._plans_of_job(root, job, affected.plans, every)
        untested = _list_untested(root, ci, affected.plans)
        if untested:
            names = join_names([plan.label for plan in untested], _MOST_NAMED)
            notes.append(f"not built, since its CI does not build it: {names}")
        if ci.others:
            names = join_names([job.job for job in ci.others], _MOST_NAMED)
            notes.append(f"its CI also tests in other jobs, which are not run here: {names}")
        skipped = {plan.directory for plan in untested if plan.directory} | {*affected.skipped}
        notes += (note for note in affected.notes if not note.startswith(ALSO_FOUND))
        return DetectedBuilds(tuple(plans), tuple(notes), tuple(sorted(skipped)))

    def _plans_of_job(
        self,
        root: SourceTree,
        job: CiJob,
        affected: Sequence[BuildPlan],
        every: Sequence[BuildPlan],
    ) -> Iterator[BuildPlan]:
        fitting, recipes = [], []
        for plan in every:
            kind = kind_of(plan)
            exact = (kind, plan.directory) in job.places
            if exact or any((family, plan.directory) in job.places for family in WRAPPING):
                fitting.append(plan)
            if exact and kind in RECIPE_FIRST and plan.tests:
                recipes.append((plan.system, plan.directory))
        needs = "services" if job.services else "what another job has made" * job.needs_artifacts
        lacking = [name for name in job.lacks if not any(name in plan.text for plan in fitting)]
        needs = needs or "".join(f"`{name}`, which is not here" for name in lacking[:1])
        if recipes:
            for plan in affected:
                if (plan.system, plan.directory) in recipes:
                    yield self._equip(root, _with_job(plan, job, root), job)
        elif needs and any(plan.tests for plan in fitting):
            because = f"built by a recipe, since {job.name} needs {needs}"
            yield from (self._equip(root, _with_note(plan, job, because), job) for plan in fitting)
        else:
            because = f"built by a recipe: as {job.name} does it, no test ran"
            tested = [_with_note(plan, job, because) for plan in fitting if plan.tests]
            plan = self._equip(root, plan_of_job(job, root, self.machine), job)
            yield replace(plan, otherwise=self._equip(root, tested[0], job) if tested else None)

    def _equip(self, root: SourceTree, plan: BuildPlan, job: CiJob | None) -> BuildPlan:
        wishes = list_wanted_versions(root, plan.directory, job)
        by_lines = plan.source == "ci" and job is not None
        of_family = TOOLS_OF.get(_FAMILIES.get(plan.system, ""), ())
        tools = tuple(job.versions) if job and by_lines else of_family
        chosen = choose_tools(tools, wishes, self.machine, plan.system)
        missing = "; ".join(one.missing for one in chosen if one.missing)
        equipped = replace(
            plan,
            tools=tuple(one.text for one in chosen if one.text),
            wants=tuple(wish for one in chosen for wish in one.wishes),
            missing="" if plan.source == "policy" else missing,
            older="; ".join(one.older for one in chosen if one.older),
            versions={name_tool(one.tool): one.version for one in chosen if one.version},
        ).with_env(self._path_of(plan, chosen))
        if plan.source == "policy" or by_lines:
            return equipped
        path = equipped.env.get("PATH", escape_braces(self.machine.path))
        prepared = with_environment(equipped, root.below(plan.directory), path)
        return narrow_to_affected(with_adapters(prepared, root))

    def _path_of(self, plan: BuildPlan, chosen: Sequence[ToolChoice]) -> Mapping[str, str]:
        env, own = dict[str, str](), plan.env.get("PATH", "")
        path = escape_braces(self.machine.path)
        for one in chosen:
            if one.toolchain and not one.toolchain.current:
                home = escape_braces(str(one.toolchain.home))
                env.update(one.toolchain.environment(home, env.get("PATH", path)))
        if "PATH" in env and own:
            env["PATH"] = own.removesuffix(path) + env["PATH"]
        return env


def kind_of(plan: BuildPlan) -> str:
    """The kind of code that a recipe's plan tests, as calls of tests name it."""
    family = _FAMILIES.get(plan.system, plan.system)
    return _KINDS.get(family, family)


def _list_untested(root: SourceTree, ci: BaseCi, plans: Sequence[BuildPlan]) -> list[BuildPlan]:
    kinds = {kind for job in (*ci.jobs, *ci.others) for kind in (*job.kinds, *job.places)}
    wrapped = {place for family, place in kinds if family in WRAPPING}
    untested = []
    for plan in plans:
        own_lock = path_in(plan.directory, "uv.lock") in root.files
        by_root = plan.system == "uv" and ("python", "") in kinds and not own_lock
        tested = {(kind_of(plan), plan.directory), ("cmake", plan.directory)} & kinds
        if not (by_root or tested or wrapped & {"", plan.directory}):
            untested.append(plan)
    return untested


def _with_job(plan: BuildPlan, job: CiJob, root: SourceTree) -> BuildPlan:
    family = kind_of(plan)
    others = list_other_tests(job, family, root)
    plan = with_ci_options(plan, job, family)
    env = {}
    for name, text in job.env.items():
        of_machine = name in _NOT_TAKEN or any(part in name for part in _NOT_TAKEN_PARTS)
        if not of_machine and not is_refused(name):
            env[name] = escape_braces(text)
    return replace(
        plan,
        steps=(*plan.steps, *others),
        env={**env, **plan.env},
        left_out=job.left_out,
        reasons=(*plan.reasons, job.name),
    )


def _with_note(plan: BuildPlan, job: CiJob, because: str) -> BuildPlan:
    return replace(plan, notes=(*plan.notes, because), left_out=job.left_out)


def make_policy_plan(command: str | Steps, junit: Sequence[str] = ()) -> BuildPlan:
    """The plan of the commands that the policy names, and of the reports that they leave."""
    if isinstance(command, Steps):
        lines = ((name, getattr(command, name)) for name in _STEP_NAMES)
        steps = tuple(BuildStep(name, line) for name, line in lines if line)
    else:
        calls = read_calls(command)
        alone = len(calls) == 1 and calls[0].program == "pytest" and not set(command) & set("|;&")
        ends = ADAPTERS["pytest"].all_ran if alone and not stops_early(calls[0]) else None
        steps = (BuildStep("build", command, all_ran=ends),)
    return BuildPlan(
        CUSTOM, steps, env=PYTEST_ENV, source="policy", reports=tuple(junit), has_report=bool(junit)
    )
