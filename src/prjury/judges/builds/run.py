"""Run a plan: export the tree, build it in a temporary place, read the results; then the base."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError, SourceError
from prjury.judges.builds import lent_tools
from prjury.judges.builds.failure import Failure
from prjury.judges.builds.fault import (
    blame_environment,
    comparable,
    compared,
    failing_again,
    with_flaky,
    worth_another_try,
)
from prjury.judges.builds.kept_base import KeptBase
from prjury.judges.builds.kept_reports import watch_reports
from prjury.judges.builds.missing_files import named_few, noted, refuse_needed, without_files
from prjury.judges.builds.origins import ImportedCode
from prjury.judges.builds.outcome import BuildResult, PlanOutcome, StepResult
from prjury.judges.builds.plan import BuildPlan, BuildStep
from prjury.judges.builds.results.report_files import Stamp, find_reports, stamps
from prjury.judges.builds.results.tree import TemporaryPaths, TreeFiles
from prjury.judges.builds.runner_files import step_environment
from prjury.judges.builds.systems.source_tree import path_in
from prjury.policy.schema import BuildOptions
from prjury.ports import Ports
from prjury.ports.types import ShellCommand, TreeEntry
from prjury.snapshot.model import visible

_NOT_FOUND = 127
_MISSING_MODULE = re.compile(r"^\S*python\S*: No module named (pytest)$", re.MULTILINE)
_MISSING_SPAWN = re.compile(r"Failed to spawn: `(pytest)`")


@dataclass(frozen=True)
class Builder:
    """Builds trees through the ports that a judge may use.

    Attributes:
        changed: the paths that the change touches.
        logs: what was written so far.
        base: the commit whose history says which version the project is at; empty for none.
    """

    ports: Ports
    changed: frozenset[str] = frozenset()
    logs: list[Path] = field(default_factory=list)
    base: str = ""

    @cached_property
    def tag(self) -> str:
        """The nearest tag, which names a version; a long history takes git a while."""
        return self.ports.repository.nearest_tag(self.base) if self.base else ""

    @contextlib.contextmanager
    def opened(self, tree: str, entries: Sequence[TreeEntry]) -> Iterator[Workplace]:
        """The tree in a place of its own; nothing is left of it afterwards but the logs.

        Raises:
            CannotJudgeError: when the sandbox cannot be had.
        """
        with self.ports.shell.scratch() as around:
            for name in ("tree", "home", "tmp", "reports"):
                (around / name).mkdir()
            absent = self.ports.repository.export(tree, around / "tree")
            known = frozenset(entry.path for entry in entries)
            yield Workplace(self, TemporaryPaths(around / "tree", around), known, tuple(absent))

    @contextlib.contextmanager
    def in_place(self, root: Path, entries: Sequence[TreeEntry]) -> Iterator[Workplace]:
        """A directory as it lies there; what the steps write into it stays.

        Raises:
            CannotJudgeError: when the sandbox cannot be had.
        """
        with self.ports.shell.scratch() as around:
            for name in ("home", "tmp", "reports"):
                (around / name).mkdir()
            known = frozenset(entry.path for entry in entries)
            yield Workplace(self, TemporaryPaths(root, around), known)

    def forget_logs(self, but: frozenset[str]) -> None:
        """Removes all logs but those that the report names."""
        for log in self.logs:
            if str(log) not in but:
                log.unlink(missing_ok=True)
                with contextlib.suppress(OSError):  # it holds more than this log
                    log.parent.rmdir()


@dataclass(frozen=True)
class Workplace:
    """An exported tree in which plans are run, one after the other.

    Attributes:
        known: the paths of the tree.
        absent: those that are not there, because a partial clone lacks their content.
    """

    builder: Builder
    places: TemporaryPaths
    known: frozenset[str]
    absent: tuple[str, ...] = ()

    def run(
        self,
        plan: BuildPlan,
        deadline: Deadline,
        alone: Sequence[BuildStep] = (),
        env: Mapping[str, str] | None = None,
    ) -> PlanOutcome:
        """Runs the plan and reads what came of it.

        Where the machine or the network is to blame, and perhaps for a moment only, the failed step
        and those after it are tried once more.

        Args:
            alone: steps to be run in its place, each of them whatever became of the others.
            env: the plan's environment, where it was made before.

        Raises:
            CannotJudgeError: when a tool is missing, the sandbox cannot be had, the tree has no
                such directory, or other code was tested than this tree's.
        """
        directory = self._directory(plan)
        env = env or self._environment(plan)
        self.builder.ports.shell.copy_caches(lent_tools.words_of(plan), self.places.around / "home")
        earlier = stamps(self.places.tree, self.places.reports, _globs(plan))
        allowed, began = deadline.remaining, time.time()
        origins = self._origins(plan)
        env = {**env, **origins.environment(plan.system, env)}
        ran = replace(plan, steps=tuple(alone or plan.steps))
        results = self._run_steps(ran, directory, env, deadline, go_on=bool(alone))
        origins.refuse_elsewhere()
        outcome = self._read(plan, results, allowed, earlier, began)
        if alone or not worth_another_try(outcome) or not deadline.remaining:
            return outcome
        self.builder.ports.progress.say("the environment failed; trying again")
        good = results[:-1]
        rest = replace(plan, steps=plan.steps[len(good) :])
        again = self._run_steps(rest, directory, env, deadline, go_on=False)
        origins.refuse_elsewhere()
        return self._read(plan, (*good, *again), allowed, earlier, began)

    def case(self, plan: BuildPlan, options: BuildOptions, deadline: Deadline) -> BuildResult:
        """What came of the plan, with what a reader should know of this machine.

        Raises:
            CannotJudgeError: as `run` does.
        """
        reports = watch_reports(self.places, options.keep)
        env = self._environment(plan)
        with ThreadPoolExecutor(1) as beside:
            asked = beside.submit(self._versions, plan, env, deadline)
            outcome = self.run(plan, deadline, env=env)
        left = reports()
        withheld = self.builder.ports.shell.withheld
        if outcome.environment and withheld:
            kept = f"not handed to the build, since they hold credentials: {named_few(withheld)}"
            plan = noted(plan, kept)
        versions = asked.result()
        if not outcome.last.completed.stopped:  # else there is no time to ask for more
            versions = {**versions, **self._versions(plan, env, deadline, brought=True)}
        if "Python" in versions:
            versions = {**versions, **lent_tools.python_of(self._directory(plan))}
        return BuildResult(plan, outcome, self.known, options, versions=versions, kept=left)

    def _versions(
        self, plan: BuildPlan, env: Mapping[str, str], deadline: Deadline, *, brought: bool = False
    ) -> Mapping[str, str]:
        """Of the tools that the plan uses; those of the machine, or those that it has brought."""
        script = lent_tools.version_script(plan, brought=brought)
        if not script:
            return {}
        command = ShellCommand(script, self._directory(plan), env)
        printed = self.builder.ports.shell.ask(command, deadline.within(_SECONDS_TO_ANSWER))
        return lent_tools.read_versions(plan, printed, brought=brought)

    def _directory(self, plan: BuildPlan) -> Path:
        directory = self.places.tree / plan.directory
        if directory.is_symlink() or not directory.is_dir():
            raise CannotJudgeError(
                f"there is no directory `{visible(plan.directory)}` in this tree",
                why="the change brings the project along",
                reason="no_such_directory",
            )
        return directory

    def _origins(self, plan: BuildPlan) -> ImportedCode:
        around = self.places.around
        return ImportedCode(around / "probe", self.places.tree, plan.directory, self.known)

    @property
    def _places(self) -> Mapping[str, str]:
        places = self.places
        home = str(places.around / "home")
        return {"reports": str(places.reports), "home": home, "tree": str(places.tree)}

    def _environment(self, plan: BuildPlan) -> Mapping[str, str]:
        around = self.places.around
        home = str(around / "home")
        asked = any("{version}" in text or "{tag}" in text for text in plan.env.values())
        tag = self.builder.tag if asked else ""
        version = lent_tools.version_of(tag) if asked else ""
        filled = {**self._places, "version": version, "tag": tag}
        own = {name: text.format(**filled) for name, text in plan.env.items()}
        shell = self.builder.ports.shell.environment()
        env = {**shell, **own, "HOME": home, "TMPDIR": str(around / "tmp")}
        versions = {one.tool: one.version for one in reversed(plan.wants)}
        return lent_tools.lend_tools(lent_tools.words_of(plan), around / "lent", env, versions)

    def _run_steps(
        self,
        plan: BuildPlan,
        directory: Path,
        env: Mapping[str, str],
        deadline: Deadline,
        *,
        go_on: bool,
    ) -> tuple[StepResult, ...]:
        ports, results = self.builder.ports, list[StepResult]()
        for step in plan.steps:
            ports.progress.say(f"$ {step.text}")
            if "GITHUB_ENV" in env:
                env = step_environment(env)
            own = {name: text.format(**self._places) for name, text in step.env.items()}
            completed = ports.shell.run(
                ShellCommand(step.command, directory, {**env, **own}), deadline, ports.progress
            )
            self.builder.logs.append(completed.log)
            results.append(StepResult(step, completed, completed.tail()))
            _refuse_missing(results[-1], plan.programs)
            if not results[-1].good and not go_on and not step.may_fail:
                break
        return tuple(results)

    def _read(
        self,
        plan: BuildPlan,
        results: tuple[StepResult, ...],
        allowed: float,
        earlier: Mapping[Path, Stamp],
        began: float,
    ) -> PlanOutcome:
        """Read logs and reports; in a log there are failures only where its step failed."""
        from prjury.judges.builds.results.junit import read_reports  # noqa: PLC0415 - a build is begun without the readers
        from prjury.judges.builds.results.read import merge_results, read_log  # noqa: PLC0415 - as above

        relative, tree = self.places.relative, TreeFiles(self.known, plan.directory)
        found = find_reports(self.places.tree, self.places.reports, earlier, began, _globs(plan))
        reports = read_reports(found, tree, relative)
        logs = [
            read_log(
                result.completed.log,
                tree,
                relative,
                failed=not result.good and not result.step.may_fail,
            )
            for result in results
        ]
        failures, reports = merge_results(logs, reports, reported=plan.reported)
        results = tuple(
            replace(result, tail=log.tail) for log, result in zip(logs, results, strict=True)
        )
        outcome = PlanOutcome(results, allowed, failures, reports)
        return blame_environment(outcome, self.builder.changed, plan.set_up_code)


def _globs(plan: BuildPlan) -> tuple[str, ...]:
    """Where the plan's tests leave reports, from the root of the tree."""
    return tuple(path_in(plan.directory, glob) for glob in plan.reports)


def _refuse_missing(result: StepResult, programs: Sequence[str] = ()) -> None:
    """A tool that is not there says nothing about the code.

    Raises:
        CannotJudgeError: when the step failed because the tool itself is missing.
    """
    if result.good or result.completed.stopped:
        return
    missing = _MISSING_MODULE.search(result.tail) or _MISSING_SPAWN.search(result.tail)
    if missing and missing[1] in result.step.text:
        raise CannotJudgeError(
            f"`{result.step.text}` needs {missing[1]}, which is not installed",
            why="the tests' own environment was not set up before the build",
            remedy=f"install {missing[1]} with the project's dependencies, add a `setup` step, "
            "or name another `command` for the build judge in .github/prjury.yml",
            reason="tool_missing",
        )
    if result.completed.exit_code != _NOT_FOUND:
        return
    if named := _named_and_absent(result, programs):
        raise CannotJudgeError(
            f"`{result.step.text}` needs {named}, which is not installed here",
            remedy=f"install {named} where the builds run, or say what is to run instead with "
            "`build: {systems: […]}` or `build: {command: …}` in .github/prjury.yml",
            reason="tool_missing",
        )
    if _is_absent(result):
        raise CannotJudgeError(
            f"`{result.step.text}` could not be run: the command was not found",
            why="the tool is not installed here, or its name is misspelt",
            remedy="install it, or correct `build: {command: …}` in .github/prjury.yml",
            reason="tool_missing",
        )


def _named_and_absent(result: StepResult, programs: Sequence[str]) -> str:
    """The program that the recipe names and the machine lacks, empty for none."""
    named = "|".join(map(re.escape, programs))
    found = re.search(rf"\b({named}): (?:command )?not found", result.tail) if programs else None
    return found[1] if found else ""


def _is_absent(result: StepResult) -> bool:
    """Whether a program of the machine is missing, not one that the tree should have brought."""
    program = result.step.text.split(maxsplit=1)[0]
    if isinstance(result.step.command, str):
        others = set[str](_NOT_FOUND_NAME.findall(result.tail)) - {program}
        return "/" not in program and not others
    return f"{program}: command not found" in result.tail  # a version manager's stand-in


_NOT_FOUND_NAME = re.compile(r"(?:^|: )([\w.+-]+): (?:command )?not found$", re.MULTILINE)
_SECONDS_TO_ANSWER = 10.0
#: More failing tests than this are not flaky, and too many to run again one by one.
_MOST_AGAIN = 20


@dataclass(frozen=True)
class BuildSide:
    """A tree to be built: its object name and its files."""

    tree: str
    entries: Sequence[TreeEntry]


@dataclass(frozen=True)
class ComparisonRun:
    """Runs plans on two trees.

    Attributes:
        merged: what the change makes of the base.
        base: the base without it.
        options: the policy's. Where old failures fail the judge too, the base of a change that
            fails does not matter.
    """

    builder: Builder
    merged: BuildSide
    base: BuildSide
    options: BuildOptions

    def case(self, plan: BuildPlan, deadline: Deadline) -> BuildResult:
        """All that is to be known of this build.

        Raises:
            CannotJudgeError: when a tool is missing or the sandbox is not available, or when files
                of the tree are missing that may be needed.
        """
        with contextlib.ExitStack() as stack:
            merged = stack.enter_context(self.builder.opened(self.merged.tree, self.merged.entries))
            refuse_needed(merged.absent, self.merged.entries, self.base.entries)
            plan = without_files(plan, merged.absent)
            case = merged.case(plan, self.options, deadline)
            if not self._asks_base(case):
                return case
            if known := self._known_base(case):
                return replace(case, base=known)
            case = self._with_base(case, merged, deadline)
            return self._with_flaky(case, merged, deadline) if comparable(case.outcome) else case

    def _asks_base(self, case: BuildResult) -> bool:
        outcome = case.outcome
        if outcome.environment:
            return False
        if not outcome.failed:
            tested = case.plan.tests or outcome.reports.run > 0
            return tested and self.options.compare == "always"
        return comparable(outcome) and self.options.pre_existing == "warn"

    def _known_base(self, case: BuildResult) -> PlanOutcome | None:
        """What an earlier run kept; it is not asked for where it could excuse a failure.

        What the merged tree came to is kept as well: once merged, it is the next change's base.
        """
        if case.outcome.failed:
            return None
        self._kept_base.keep(case.plan, self.merged.entries, case.outcome)
        if self.options.keep_of_base:
            return None
        known = self._kept_base.recall(case.plan, self.base.entries)
        if known:
            self.builder.ports.progress.say("what the base came to is known from an earlier run")
        return known

    @property
    def _kept_base(self) -> KeptBase:
        ports = self.builder.ports
        return KeptBase(ports.base_outcomes, ports.redact, ports.shell.environment())

    def _with_base(self, case: BuildResult, merged: Workplace, deadline: Deadline) -> BuildResult:
        """Add the base's outcome; run both to the end where the plan has such a form.

        Where the time is too short for that, the case stays what it was, unproven.
        """
        say, alone, kept = self.builder.ports.progress.say, case, self._kept_base
        say("trying the base without the change")
        try:
            with self.builder.opened(self.base.tree, self.base.entries) as base:
                refuse_needed(base.absent, self.base.entries, self.merged.entries)
                reports = watch_reports(base.places, self.options.keep_of_base)
                old = base.run(case.plan, deadline)
                case = replace(case, kept_of_base=reports())
                if cause := old.environment:
                    why = f"it cannot be built here ({cause.message})"
                    return replace(alone, base_unknown=why)
                kept.keep(case.plan, self.base.entries, old)
                case = replace(case, outcome=compared(case.outcome, old, case.known), base=old)
                if stopped := old.last.completed.stopped:  # it proves nothing
                    why = f"its own build was stopped ({stopped})"
                    return replace(alone, base_unknown=why)
                if not (case.plan.keep_going and (case.only_old_failures or case.hides_tests)):
                    return case
                say("both fail alike; trying again without stopping at failures")
                old = base.run(case.plan.keep_going, deadline)
            if old.last.completed.stopped:
                return case
            outcome = merged.run(case.plan.keep_going, deadline)
            if outcome.last.completed.stopped == "timeout":
                return case
            return case.to_the_end(compared(outcome, old, case.known), old)
        except (CannotJudgeError, SourceError) as error:
            return replace(alone, base_unknown=str(error))

    def _with_flaky(self, case: BuildResult, merged: Workplace, deadline: Deadline) -> BuildResult:
        """Run the new failing tests once more, alone; what passes then is flaky."""
        suspects = [f for f in case.outcome.failures if f.kind == "test" and f.state == "new"]
        rerun = case.plan.rerun_failed
        steps = rerun(suspects) if rerun and 0 < len(suspects) <= _MOST_AGAIN else None
        if not steps:
            return case
        say = self.builder.ports.progress.say
        say(f"running {len(suspects)} failing tests again, alone")
        try:
            again = merged.run(case.plan, deadline, alone=steps)
            flaky_ids = _passed_again(suspects, again)
            case = replace(
                case, outcome=with_flaky(case.outcome, flaky_ids), ran_again=len(suspects)
            )
            if self.options.flaky == "block" or not flaky_ids or not _only_flaky(case):
                return case
            say("they passed; trying everything once more")
            outcome = merged.run(case.plan.once_more, deadline)
        except CannotJudgeError:
            return case  # the failures stand as they are
        if case.base is None:
            return case
        outcome_again = compared(outcome, case.base, case.known)
        failing = {failure.id for failure in outcome_again.failures}
        flaky_before = (f for f in case.outcome.failures if f.state == "flaky")
        passed_now = tuple(f for f in flaky_before if f.id not in failing)
        failures = (*failing_again(outcome_again.failures, flaky_ids), *passed_now)
        return case.to_the_end(replace(outcome_again, failures=failures), case.base)


def _only_flaky(case: BuildResult) -> bool:
    """Whether nothing fails the judge but the goals that ran the flaky tests."""
    return all(failure.kind == "goal" for failure in case.blocking)


def _passed_again(suspects: Sequence[Failure], again: PlanOutcome) -> frozenset[str]:
    """The tests that failed before and demonstrably passed now; none of a run that was stopped."""
    if again.last.completed.stopped:
        return frozenset()
    return frozenset(one.id for one in again.passing(suspects))
