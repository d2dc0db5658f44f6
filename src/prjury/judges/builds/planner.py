"""The sources of builds: the policy, the base's own CI, a recipe, or what is usual. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as changed

from msgspec.structs import replace

from prjury.judges.builds.adapters import ADAPTERS, with_adapters
from prjury.judges.builds.calls import read_calls, stops_early
from prjury.judges.builds.ci import WRAPPING, BaseCi, CiJob
from prjury.judges.builds.ci_plan import (
    RECIPE_FIRST,
    list_other_tests,
    plan_of_job,
    with_ci_options,
)
from prjury.judges.builds.detect import (
    DetectedBuilds,
    detect_builds,
)
from prjury.judges.builds.git_version import MISSING, with_repository
from prjury.judges.builds.plan import (
    CUSTOM,
    BuildPlan,
    BuildStep,
    LeftOutStep,
    StepName,
    escape_braces,
)
from prjury.judges.builds.systems import SYSTEMS
from prjury.judges.builds.systems.affected import narrow_to_affected
from prjury.judges.builds.systems.pytest import PYTEST_ENV
from prjury.judges.builds.systems.python_environment import with_environment
from prjury.judges.builds.systems.recipes import RecipeSystem
from prjury.judges.builds.systems.source_tree import Changes, SourceTree
from prjury.judges.builds.toolchains import Toolchains
from prjury.judges.builds.versions import TOOLS_OF, ToolChoice, choose_tools, wanted_versions
from prjury.judges.builds.wording import join_names
from prjury.policy.tiers import BuildOptions, Steps
from prjury.sandbox.environment import is_refused
from prjury.snapshot.model import visible

_MOST_NAMED = 3
_STEP_NAMES: tuple[StepName, ...] = ("setup", "build", "test", "lint")
#: Where code without a build of its own, such as a header, may have one of its tests.
_TESTS_ALONE = frozenset({"test", "tests"})
#: The family of build systems by the name of a plan.
_FAMILIES = {name: family for family, system in SYSTEMS.items() for name in system.COVERS}
#: The kind of code, as calls of tests name it, by the family of build systems.
_KINDS = {"bundler": "ruby", "composer": "php", "autotools": "make", "mix": "elixir"}
#: Variables that say how strict or how loud a tool is, or where this machine has its own word.
_NOT_TAKEN = frozenset("CI TERM CC CXX CPP AR LD CHOST SHELL TMPDIR MAVEN_ARGS".split())
_NOT_TAKEN_PARTS = ("PATH", "HOME", "COLOR", "FLAGS", "_OPTS", "WARNINGS", "_CACHE", "_DIR", "LD_")


@dataclass(frozen=True)
class BuildPlanner:
    """Finds the builds of trees: by the policy, the base's CI, recipes, or what is usual.

    Attributes:
        ci: how the base's own CI tests it.
        here: the tools of this machine.
        own: the policy's own recipes.
    """

    options: BuildOptions
    here: Toolchains
    ci: BaseCi | None = None
    own: tuple[RecipeSystem, ...] = ()

    def plans(self, root: SourceTree, changes: Changes | None) -> DetectedBuilds:
        """The builds of a tree.

        Args:
            changes: what changes, to find the parts that it affects; None for everything.
        """
        command = self.options.command
        if command != "auto":
            plan = make_policy_plan(command, self.options.junit)
            return DetectedBuilds((self._equip(root, plan, None),))
        systems = None if self.options.systems == "auto" else self.options.systems
        part = changes if self.options.affected else None
        programs = self.ci.programs if self.ci else frozenset[str]()
        builds = detect_builds(root, part, systems, self.own, programs)
        own = any(plan.system == one.recipe.name for one in self.own for plan in builds.plans)
        if systems is None and not own and self.ci and self.ci.jobs:
            builds = self._follow_ci(root, self.ci, builds, part)
        else:
            if systems is None and not builds.plans:
                builds = detect_builds(changed(root, allowed=_TESTS_ALONE), part, None, self.own)
            equipped = tuple(self._equip(root, plan, None) for plan in builds.plans)
            builds = replace(builds, plans=equipped, notes=(*builds.notes, *self._name_external()))
        plans = (
            replace(plan, reports=(*plan.reports, *self.options.junit)) for plan in builds.plans
        )
        return replace(builds, plans=tuple(plans))

    def _name_external(self) -> tuple[str, ...]:
        external = self.ci.external if self.ci and not self.ci.jobs else ()
        text = "its CI calls {}, which lies in another repository"
        return tuple(text.format(visible(one)) for one in external[:1])

    def _follow_ci(
        self, root: SourceTree, ci: BaseCi, affected: DetectedBuilds, changes: Changes | None
    ) -> DetectedBuilds:
        """The builds of the CI's jobs, and no more.

        Args:
            affected: the builds of recipes that the change affects.
        """
        every = detect_builds(root, None, None, (), ci.programs).plans
        plans, notes = list[BuildPlan](), list[str]()
        for job in ci.jobs:
            places = {place for _, place in job.places}
            touched = not changes or not changes.paths or any(map(changes.below, places))
            if len(ci.jobs) > 1 and "" not in places and not touched:
                notes.append(f"not touched by the change and not built: {job.job} in {min(places)}")
            else:
                plans += self._plans_of_job(root, job, affected.plans, every)
        kinds = {kind for job in (*ci.jobs, *ci.others) for kind in (*job.kinds, *job.places)}
        wrapped = {place for family, place in kinds if family in WRAPPING}
        left = [
            plan
            for plan in affected.plans
            if not {(kind_of(plan), plan.directory), ("cmake", plan.directory)} & kinds
            and wrapped.isdisjoint({"", plan.directory})
        ]
        if left:
            names = join_names([plan.label for plan in left], _MOST_NAMED)
            notes.append(f"not built, since its CI does not build it: {names}")
        if ci.others:
            names = join_names([job.job for job in ci.others], _MOST_NAMED)
            notes.append(f"its CI also tests in other jobs, which are not run here: {names}")
        skipped = {plan.directory for plan in left if plan.directory} | {*affected.skipped}
        return DetectedBuilds(tuple(plans), (*notes, *affected.notes), tuple(sorted(skipped)))

    def _plans_of_job(
        self,
        root: SourceTree,
        job: CiJob,
        affected: Sequence[BuildPlan],
        every: Sequence[BuildPlan],
    ) -> Iterator[BuildPlan]:
        """The recipes for which the job's options are meant, else its own lines."""
        fitting = [plan for plan in every if _stands_for(plan, job)]
        exact = [plan for plan in fitting if (kind_of(plan), plan.directory) in job.places]
        recipes = [plan for plan in exact if kind_of(plan) in RECIPE_FIRST and plan.tests]
        needs = "services" if job.services else "what another job has made" * job.needs_artifacts
        if recipes:
            wanted = {(plan.system, plan.directory) for plan in recipes}
            chosen = [plan for plan in affected if (plan.system, plan.directory) in wanted]
            yield from (self._with_options(root, plan, job) for plan in chosen)
        elif needs and fitting:
            because = f"built by a recipe, since {job.name} needs {needs}"
            yield from (self._note_recipe(root, plan, job, because) for plan in fitting)
        else:
            because = f"built by a recipe: as {job.name} does it, no test ran"
            tested = [plan for plan in fitting if plan.tests][:1]
            others = [self._note_recipe(root, plan, job, because) for plan in tested]
            plan = self._equip(root, plan_of_job(job, root, self.here), job)
            yield replace(plan, otherwise=next(iter(others), None))

    def _with_options(self, root: SourceTree, plan: BuildPlan, job: CiJob) -> BuildPlan:
        """A recipe's plan with the job's options, variables and its other tests."""
        family = kind_of(plan)
        others = list_other_tests(job, family, root)
        plan = with_ci_options(plan, job, family, root)
        env = {name: escape_braces(text) for name, text in job.env.items() if is_extra(name)}
        plan = plan.with_env({name: text for name, text in env.items() if name not in plan.env})
        reasons = (*plan.reasons, job.name)
        plan = replace(plan, steps=(*plan.steps, *others), left_out=job.left_out, reasons=reasons)
        return self._equip(root, plan, job)

    def _note_recipe(
        self, root: SourceTree, plan: BuildPlan, job: CiJob, because: str
    ) -> BuildPlan:
        noted = replace(plan, notes=(*plan.notes, because), left_out=job.left_out)
        return self._equip(root, noted, job)

    def _equip(self, root: SourceTree, plan: BuildPlan, job: CiJob | None) -> BuildPlan:
        """The plan with the versions of its tools, and what a tree needs to be built."""
        wanted = wanted_versions(root, plan.directory, job)
        tools = (
            tuple(job.versions)
            if plan.source == "ci" and job
            else TOOLS_OF.get(_FAMILIES.get(plan.system, ""), ())
        )
        chosen = choose_tools(tools, wanted, self.here, plan.system)
        missing = "; ".join(one.missing for one in chosen if one.missing)
        services = _name_services(job) if job and plan.tests and plan.source != "policy" else []
        equipped = replace(
            plan,
            tools=tuple(filter(None, (one.text for one in chosen))),
            wants=tuple(version for one in chosen for version in one.wanted),
            missing="" if plan.source == "policy" else missing,
            older="; ".join(one.older for one in chosen if one.older),
            notes=(*plan.notes, *(one.note for one in chosen if one.note)),
            left_out=(*services, *plan.left_out),
        ).with_env(self._path_of(plan, chosen))
        if plan.source == "policy":
            return equipped
        if plan.source == "ci":
            return with_repository(equipped)
        path = equipped.env.get("PATH", escape_braces(self.here.path))
        ci = [step.script for step in job.steps] if job else ()
        prepared = with_environment(equipped, root.below(plan.directory), path, ci)
        prepared = narrow_to_affected(with_adapters(prepared, root))
        other = with_repository(prepared)
        return other if job else replace(prepared, otherwise=other, otherwise_if=MISSING)

    def _path_of(self, plan: BuildPlan, chosen: Sequence[ToolChoice]) -> Mapping[str, str]:
        """The variables by which the steps find tools that PATH does not find anyway."""
        env, own = dict[str, str](), plan.env.get("PATH", "")
        path = escape_braces(self.here.path)
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


def _stands_for(plan: BuildPlan, job: CiJob) -> bool:
    """True if a recipe's build stands for what a job tests, in the same place."""
    families = {family for family, place in job.places if place == plan.directory}
    return kind_of(plan) in families or not WRAPPING.isdisjoint(families)


def _name_services(job: CiJob) -> list[LeftOutStep]:
    why = "services are not started here"
    return [LeftOutStep(f"services: {one}", why, "services", job.path) for one in job.services]


def is_extra(name: str) -> bool:
    """True if a variable of the CI belongs to the project, not to its machine."""
    return not (
        name in _NOT_TAKEN or any(part in name for part in _NOT_TAKEN_PARTS) or is_refused(name)
    )


def make_policy_plan(command: str | Steps, junit: Sequence[str] = ()) -> BuildPlan:
    """The plan of the commands that the policy names: one, or steps in their order.

    Args:
        junit: globs of the reports that they have to leave, if any.
    """
    return replace(_commands_plan(command), reports=tuple(junit), reported=bool(junit))


def _commands_plan(command: str | Steps) -> BuildPlan:
    if isinstance(command, Steps):
        named = ((name, getattr(command, name)) for name in _STEP_NAMES)
        steps = tuple(BuildStep(name, line) for name, line in named if line)
        return BuildPlan(CUSTOM, steps, env=PYTEST_ENV, source="policy")
    calls = read_calls(command)
    alone = len(calls) == 1 and calls[0].program == "pytest" and not set(command) & set("|;&")
    alone = alone and not stops_early(calls[0])
    ends = ADAPTERS["pytest"].all_ran if alone else None
    step = BuildStep("build", command, all_ran=ends)
    return BuildPlan(CUSTOM, (step,), env=PYTEST_ENV, source="policy")
