"""The builds of a tree: by the policy, the base's own CI, its files, or what is usual. Pure.

Different systems in one directory are all run; of alternatives for the same code one is chosen.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from prjury.judges.builds.calls import WORDS, read_calls, stops_early
from prjury.judges.builds.ci import WRAPPING, BaseCi, CiJob
from prjury.judges.builds.ci_plan import (
    ADAPTERS,
    RECIPE_FIRST,
    add_ci_settings_and_steps,
    add_report_options_to_script_plan,
    drop_recipe_and_unmet_steps,
    plan_ci_job,
)
from prjury.judges.builds.plan import (
    CUSTOM,
    PYTEST_ENV,
    BuildPlan,
    BuildStep,
    BuildSystem,
    DetectedBuilds,
    StepName,
    escape_braces,
)
from prjury.judges.builds.source_tree import (
    SourceTree,
    find_excluded_part,
    is_below,
    is_within,
    nearest,
    parents_of,
    path_in,
)
from prjury.judges.builds.systems import SYSTEMS
from prjury.judges.builds.systems.jvm import narrow_maven_to_affected
from prjury.judges.builds.systems.python import add_environment_and_install
from prjury.judges.builds.toolchains import (
    TOOLS_OF,
    Toolchains,
    choose_tools,
    list_wanted_versions,
    name_tool,
)
from prjury.judges.builds.wording import join_names
from prjury.manifests.gradle import blank_comments
from prjury.policy.tiers import BuildOptions, Steps
from prjury.snapshot.model import visible

_MOST_NAMED = 3
_STEP_NAMES: tuple[StepName, ...] = ("setup", "build", "test", "lint")
#: Where code without a build of its own, such as a header, may have one of its tests.
_TESTS_ALONE = frozenset({"test", "tests"})
#: The family of a system, and the kind of code, as calls of tests name it, by the name of a plan.
_FAMILIES = {name: family for family, system in SYSTEMS.items() for name in system.covers}
_KINDS = {**_FAMILIES, "bundler": "ruby", "composer": "php", "autotools": "make", "mix": "elixir"}

_AUTOMATIC = tuple(name for name, system in SYSTEMS.items() if system.when != "on_request")
_ALSO_FOUND = "also found and not run"
_NOT_TOUCHED = "not touched by the change and not built"


class BuildPlanner(Struct, frozen=True):
    """Finds the builds of trees: by the policy, the base's CI, recipes, or what is usual."""

    options: BuildOptions
    machine: Toolchains
    ci: BaseCi | None = None
    own: tuple[BuildSystem, ...] = ()

    def plan_builds(self, root: SourceTree) -> DetectedBuilds:
        """The builds of a tree that the change affects; all of them where there is none."""
        if self.options.command != "auto":
            plan = make_policy_plan(self.options.command, self.options.junit)
            return DetectedBuilds((self._equip_plan(root, plan, None),))
        systems = None if self.options.systems == "auto" else self.options.systems
        changed = root.changed if self.options.affected else None
        builds = detect_builds(root, changed, systems, self.own)
        own = any(plan.system in system.covers for system in self.own for plan in builds.plans)
        if systems is None and not own and self.ci and self.ci.jobs:
            builds = self._plan_from_ci(root, self.ci, builds, changed)
        else:
            if systems is None and not builds.plans:
                builds = detect_builds(replace(root, allowed=_TESTS_ALONE), changed, None, self.own)
            ci, notes = self.ci or BaseCi(), builds.notes
            if not ci.jobs:
                for one in ci.external[:1]:
                    notes += (f"its CI calls {visible(one)} of another repository",)
                notes += tuple(_note_other_jobs(ci))
            noted = (replace(plan, left_out=ci.left_out) for plan in builds.plans)
            equipped = tuple(self._equip_plan(root, plan, None) for plan in noted)
            builds = replace(builds, plans=equipped, notes=notes)
        more = self.options.junit
        plans = (replace(plan, reports=(*plan.reports, *more)) for plan in builds.plans)
        return replace(builds, plans=tuple(plans))

    def _plan_from_ci(
        self, root: SourceTree, ci: BaseCi, affected: DetectedBuilds, changed: frozenset[str] | None
    ) -> DetectedBuilds:
        every = detect_builds(root, None).plans
        plans, notes, directories = list[BuildPlan](), list[str](), root.directories | {""}
        for job in ci.jobs:
            places = {"" if family in WRAPPING else place for family, place in job.places}
            # a directory that the build makes stands for that in which it lies
            places |= {nearest(f"{step.directory}/x", directories) or "" for step in job.tests}
            paths = root.changed_sources if changed else ()
            touched = not paths or any(is_within(path, at) for path in paths for at in places)
            if len(ci.jobs) > 1 and "" not in places and not touched:
                name = f"{_name_job_apart(job, ci)} in {min(places)}"
                notes.append(f"not touched by the change and not built: {name}")
            else:
                plans += self._plan_job(root, job, affected.plans, every)
        untested = _list_unrun_plans(root, ci, affected.plans)
        if untested:
            names = join_names([plan.label for plan in untested], _MOST_NAMED)
            notes.append(f"not built, since no step of its CI that can run here builds it: {names}")
        notes += _note_other_jobs(ci)
        ran = {place for job in ci.jobs for _, place in job.places}
        skipped = {plan.directory for plan in untested if plan.directory}
        skipped |= {place for place in affected.skipped if place not in ran}
        notes += (note for note in affected.notes if not note.startswith(_ALSO_FOUND))
        return DetectedBuilds(tuple(plans), tuple(notes), tuple(sorted(skipped)))

    def _plan_job(
        self,
        root: SourceTree,
        job: CiJob,
        affected_plans: Sequence[BuildPlan],
        all_plans: Sequence[BuildPlan],
    ) -> Iterator[BuildPlan]:
        fitting = _list_plans_tested_at(all_plans, job.places)
        testing = [plan for plan in fitting if plan.system in RECIPE_FIRST and plan.tests]
        # what a program of the project tests is told by that program, not by the recipe
        direct = {(one.family or "cmake", one.place) for one in job.calls if one.runner != "script"}
        recipes = {(plan.system, plan.directory) for plan in testing} & job.places & direct
        lacking = [name for name in job.lacks if not any(name in plan.text for plan in fitting)]
        absent = "services" if job.services else "what another job has made" * job.needs_artifacts
        needs = absent or "".join(f"`{name}`, which is not here" for name in lacking[:1])
        untested = f": as {job.name} does it, no test ran"
        why = f"built by a recipe{f', since {job.name} needs {needs}' if needs else untested}"
        noted = [replace(plan, notes=(*plan.notes, why), left_out=job.left_out) for plan in fitting]
        tested = [plan for plan in noted if plan.tests]
        if recipes:
            rest = drop_recipe_and_unmet_steps(job, recipes, absent)
            job = replace(job, left_out=rest.left_out)
            others = plan_ci_job(rest, root, self.machine) if rest.steps else None
            for plan in affected_plans:
                if (plan.system, plan.directory) in recipes:
                    follow = None if plan.directory else others
                    others = others if plan.directory else None
                    yield self._equip_plan(root, add_ci_settings_and_steps(plan, job, follow), job)
            if not others:
                return
            job = rest
            tested = [plan for plan in tested if (plan.system, plan.directory) not in recipes]
        elif needs and tested:
            yield from (self._equip_plan(root, plan, job) for plan in noted)
            return
        plan = self._equip_plan(root, plan_ci_job(job, root, self.machine), job)
        yield replace(plan, otherwise=self._equip_plan(root, tested[0], job) if tested else None)

    def _equip_plan(self, root: SourceTree, plan: BuildPlan, job: CiJob | None) -> BuildPlan:
        by_ci = job.list_wanted_versions(root) if job else ()
        wishes = list_wanted_versions(root, plan.directory, by_ci)
        by_lines = plan.source == "ci" and job is not None
        of_family = TOOLS_OF.get(_FAMILIES.get(plan.system, ""), ())
        tools = tuple({**job.versions, **job.version_files}) if job and by_lines else of_family
        chosen = choose_tools(tools, wishes, self.machine, plan.system)
        missing = "; ".join(one.missing for one in chosen if one.missing)
        env, path = dict[str, str](), escape_braces(self.machine.path)
        for one in chosen:
            if one.toolchain and not one.toolchain.current:
                home = escape_braces(str(one.toolchain.home))
                env.update(one.toolchain.environment(home, env.get("PATH", path)))
        if "PATH" in env and "PATH" in plan.env:
            env["PATH"] = plan.env["PATH"].removesuffix(path) + env["PATH"]
        equipped = replace(
            plan,
            tools=tuple(one.text for one in chosen if one.text),
            wants=tuple(wish for one in chosen for wish in one.wishes),
            missing="" if plan.source == "policy" else missing,
            older="; ".join(one.older for one in chosen if one.older),
            versions={name_tool(one.tool): one.version for one in chosen if one.version},
            env={**plan.env, **env},
        )
        if plan.source == "policy" or by_lines:
            return equipped
        path = equipped.env.get("PATH", path)
        prepared = add_environment_and_install(equipped, root.below(plan.directory), path)
        return narrow_maven_to_affected(add_report_options_to_script_plan(prepared, root))


def _note_other_jobs(ci: BaseCi) -> list[str]:
    labels = [*dict.fromkeys(_name_job_apart(job, ci) for job in ci.others)]
    note = "its CI also tests in other jobs, which are not run here"
    return [f"{note}: {join_names(labels, _MOST_NAMED)}"] if labels else []


def _name_job_apart(job: CiJob, ci: BaseCi) -> str:
    paths = {one.path for one in (*ci.jobs, *ci.others) if one.job == job.job}
    return job.name if len(paths) > 1 else job.job


def _list_unrun_plans(root: SourceTree, ci: BaseCi, plans: Sequence[BuildPlan]) -> list[BuildPlan]:
    kinds = {kind for job in (*ci.jobs, *ci.others) for kind in (*job.kinds, *job.places)}
    within, untested = _list_plans_tested_at(plans, kinds), []
    script = root.text(root.has("settings.gradle.kts", "settings.gradle") or "")
    settings = blank_comments(script).replace("'", '"').replace("(", " ").replace('"./', '"')
    settings = " ".join(settings.split())
    by_gradle = any(("gradle", "") in job.places for job in ci.jobs)
    for plan in plans:
        place = plan.directory
        own_lock = path_in(place, "uv.lock") in root.files
        by_root = plan.system == "uv" and ("python", "") in kinds and not own_lock
        by_root |= by_gradle and plan.system == "gradle" and f'includeBuild "{place}"' in settings
        if not (by_root or plan in within or ("cmake", place) in kinds):
            untested.append(plan)
    return untested


def _list_plans_tested_at(
    plans: Sequence[BuildPlan], places: Collection[tuple[str, str]]
) -> list[BuildPlan]:
    """The plans of which calls test at least a part; make and scripts in the root may test all."""
    tested = []
    for plan in plans:
        kind, where = _KINDS.get(plan.system, plan.system), plan.directory
        kin = (one for one in plans if _KINDS.get(one.system, one.system) == kind)
        homes = frozenset(one.directory for one in kin)
        for family, place in places:
            wraps = family in WRAPPING and (not where or place in {"", where})
            if wraps or (family == kind and nearest(f"{place}/x", homes) == where):
                tested.append(plan)
                break
    return tested


def make_policy_plan(command: str | Steps, junit: Sequence[str] = ()) -> BuildPlan:
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


class _Build(Struct, frozen=True):
    name: str
    plan: BuildPlan
    system: BuildSystem

    @property
    def place(self) -> tuple[str, str]:
        return self.name, self.plan.directory

    @property
    def only_compiles(self) -> bool:
        return self.system.when == "last_resort_if_untested" and not self.plan.tests

    @property
    def is_weak(self) -> bool:
        return self.system.when == "last_resort" or self.only_compiles


def detect_builds(
    root: SourceTree,
    changed_paths: frozenset[str] | None,
    systems: Sequence[str] | None = None,
    own_systems: Sequence[BuildSystem] = (),
) -> DetectedBuilds:
    """The builds that the change can affect; all of them, each whole, for None."""
    by_name = {name: SYSTEMS[name] for name in SYSTEMS if name in (systems or _AUTOMATIC)}
    by_name |= {name: system for system in own_systems for name in system.covers}
    root = replace(root, changed=changed_paths or root.changed)
    touched = root.changed_sources
    paths = touched if changed_paths else frozenset[str]()
    excluded = {one for path in touched for one in parents_of(path) if find_excluded_part(one)}
    excluded -= root.allowed
    root = replace(root, allowed=root.allowed | excluded)
    pairs = by_name.items()
    listed = [_Build(name, plan, system) for name, system in pairs for plan in system.plans(root)]
    every = [build for build in listed if build.plan.directory not in excluded]
    chosen = [build for build in every if not _loses_to_own_or_family(root, build, every)]
    if not systems:  # none is left out for being weak where the policy names systems
        chosen = [build for build in chosen if not _is_weak_beside_better(build, chosen)]
    notes = _note(_ALSO_FOUND, every, {build.place for build in chosen})
    for name in SYSTEMS.keys() - _AUTOMATIC if systems is None else ():
        if marker := root.has(*SYSTEMS[name].manifests):
            only = f"but {name.capitalize()} runs only if `systems` names it"
            notes.append(f"{marker} is there, {only}")
    for name in sorted({*(systems or ())} - {build.name for build in every}):
        notes.append(f"`systems` names {visible(name)}, which was not found")
    places = frozenset(build.plan.directory for build in chosen)
    whole = not paths or any(nearest(path, places) is None for path in paths)
    builds: list[BuildPlan] = []
    built = set[tuple[str, str]]()
    for build in sorted(chosen, key=lambda build: build.plan.directory):
        where = build.plan.directory
        inside = any(is_within(path, where) for path in paths)
        above = (other.plan for other in chosen if is_below(where, other.plan.directory))
        waits = build.system.is_recipe and any(plan.tests for plan in above)
        if whole or inside or (_may_need_files_outside(root, build) and not waits):
            plan = build.plan if inside and not whole else replace(build.plan, modules=())
            built.add(build.place)
            builds.append(replace(plan, source="convention") if build.is_weak else plan)
    notes += _note(_NOT_TOUCHED, chosen, built)
    others = frozenset(build.plan.directory for build in listed) | places
    skipped = {place for path in touched if (place := nearest(path, others)) in excluded}
    skipped = {place for place in skipped if place and not _is_vendored_or_fixture(place, places)}
    return DetectedBuilds(tuple(builds), tuple(notes), tuple(sorted(skipped)))


def _loses_to_own_or_family(root: SourceTree, build: _Build, all_builds: Sequence[_Build]) -> bool:
    place, system = build.plan.directory, build.system
    around = [other for other in all_builds if is_within(place, other.plan.directory)]
    if not system.own and any(other.system.own for other in around):
        return True

    def rank(other: _Build) -> tuple[int, bool, bool]:
        wrapper = path_in(other.plan.directory, other.system.wrapper)
        return len(other.plan.directory), not other.plan.tests, wrapper not in root.files

    kin = [other for other in around if other.system.family == system.family]
    if system.family == "jvm":
        kin = [other for other in kin if other.plan.directory == place]
    return bool(system.family) and build is not min(kin, key=rank)


def _is_weak_beside_better(build: _Build, all_builds: Sequence[_Build]) -> bool:
    """Tell whether there are better builds of the same code than those that often call others."""
    if not build.is_weak:
        return False
    where = build.plan.directory
    strong = [other.plan for other in all_builds if not other.is_weak]
    beside = [plan for plan in strong if plan.directory == where]
    only_tests = build.plan.tests and not any(plan.tests for plan in beside)
    if any(is_below(where, plan.directory) for plan in strong) or (beside and not only_tests):
        return True
    if build.only_compiles and any(is_below(plan.directory, where) for plan in strong):
        return True
    rivals = [other for other in all_builds if other.is_weak and other.plan.directory == where]
    return build is not min(rivals, key=lambda other: not other.plan.tests)


def _may_need_files_outside(root: SourceTree, build: _Build) -> bool:
    """True if a manifest names a place outside of its project; recipes do not say."""
    where = build.plan.directory
    part = root.below(where)
    is_member = build.plan.system == "uv" and not part.has("uv.lock")
    if build.system.is_recipe or is_member:
        return True
    for place in parents_of(where) if build.name == "maven" else ():
        has_parent = path_in(place, "pom.xml") in root.files and "<parent>" in part.text("pom.xml")
        if has_parent or path_in(place, ".mvn") in root.directories:
            return True
    for name in build.system.manifests:
        for path in part.named(name):
            text = part.text(path)
            if "../" * (path.count("/") + 1) in text or "includeBuild" in text:
                return True
    return False


def _is_vendored_or_fixture(place: str, built: frozenset[str]) -> bool:
    """True for code of others, and for tests and their data below a project that is built."""
    for path in (place, *parents_of(place)):
        name = path.rpartition("/")[2].lower()
        is_fixture = name in WORDS["test_material"] and nearest(path, built) is not None
        if is_fixture or name in WORDS["vendored"]:
            return True
    return False


def _note(label: str, builds: Sequence[_Build], built: set[tuple[str, str]]) -> list[str]:
    labels = [build.plan.label for build in builds if build.place not in built]
    return [f"{label}: {join_names(labels)}"] if labels else []
