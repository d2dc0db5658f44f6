"""Run plans on two trees, the base first; what bases came to is kept for later changes."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError, SourceError
from prjury.judges.builds import wording
from prjury.judges.builds.compare import (
    count_test_files,
    find_machine_fault,
    find_new_test_failures,
    runs_every_test,
)
from prjury.judges.builds.evidence import (
    Run,
    TreeRun,
    clean_value,
    refuse_other_steps,
    validate_run,
    watch_reports,
)
from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.workplace import Builder, Workplace, paths_of
from prjury.policy.tiers import BuildOptions
from prjury.ports import Memory
from prjury.ports.types import TreeEntry
from prjury.report.sanitise import Redact, redact_text
from prjury.report.wording import pluralize
from prjury.resources import program_version

#: Bases whose failing tests are remembered, and how many of each.
_MOST_BASES, _MOST_FAILING = 400, 200


class Recollection(Struct, frozen=True):
    """The kept outcomes of a plan: of the base, of an earlier commit, and tests that failed."""

    base: TreeRun | None = None
    earlier: TreeRun | None = None
    commit: str = ""
    history: tuple[tuple[str, ...], ...] = ()

    def count_base_failures(self, run: TreeRun) -> dict[str, tuple[int, int]]:
        """On how many of how many bases each test failed that fails in this run and not on all."""
        counts = {}
        for failure in run.failures:
            failed = sum(failure.id in tests for tests in self.history)
            if failure.kind == "test" and 0 < failed < len(self.history):
                counts[failure.id] = (failed, len(self.history))
        return counts


class KeptBase(Struct, frozen=True):
    """Keeps outcomes in the operator's memory; none whose tests have other names once redacted."""

    memory: Memory
    redact: Redact
    environ: Mapping[str, str]

    def recall(
        self, plan: BuildPlan, tree: Sequence[TreeEntry], commits: Sequence[str]
    ) -> Recollection:
        """Recall the outcomes of a plan for the base's tree and its commits, the newest first."""
        base = self._read_outcome(plan, self._make_key(plan, tree))
        earlier, commit = None, ""
        for commit in commits:
            key = self.memory.recall(self._make_key(plan, commit))
            earlier = self._read_outcome(plan, key) if key else None
            if earlier:
                break
        failing = self._read_history(plan)
        history = tuple(tests for name, tests in failing.items() if name in commits)
        return Recollection(base, earlier, commit if earlier else "", history)

    def keep(
        self, plan: BuildPlan, tree: Sequence[TreeEntry], run: TreeRun, commit: str = ""
    ) -> None:
        """Keep an outcome that passed, and note which tests failed on a commit of the base."""
        if commit and run.tested:
            tests = (failure.id for failure in run.failures if failure.kind == "test")
            failing = tuple(redact_text(test, self.redact) for test in tests)[:_MOST_FAILING]
            history = self._read_history(plan)
            history.pop(commit, None)
            newest = dict([*history.items(), (commit, failing)][-_MOST_BASES:])
            text = msgspec.json.encode(clean_value(newest, str)).decode()
            self.memory.keep(self._make_key(plan, None), text)
        if run.failed or not run.ended:
            return
        cleaned = clean_value(run, lambda text: redact_text(text, self.redact))
        if cleaned.results.ran != run.results.ran:
            return
        key = self._make_key(plan, tree)
        self.memory.keep(key, msgspec.json.encode(cleaned).decode())
        if commit:
            self.memory.keep(self._make_key(plan, commit), key)

    def _read_outcome(self, plan: BuildPlan, key: str) -> TreeRun | None:
        with suppress(ValueError, RecursionError, msgspec.MsgspecError):
            run = msgspec.json.decode(self.memory.recall(key) or "", type=TreeRun)
            validate_run(run)
            refuse_other_steps(run, plan)
            return None if run.failed or not run.ended else run
        return None

    def _read_history(self, plan: BuildPlan) -> dict[str, tuple[str, ...]]:
        """Return the tests that failed by the commits of the base, the oldest first."""
        text = self.memory.recall(self._make_key(plan, None)) or ""
        with suppress(ValueError, RecursionError, msgspec.MsgspecError):
            return msgspec.json.decode(text, type=dict[str, tuple[str, ...]])
        return {}

    def _make_key(self, plan: BuildPlan, tree: Sequence[TreeEntry] | str | None) -> str:
        steps = [[step.name, step.text] for step in plan.steps]
        how = [plan.system, plan.directory, steps, dict(plan.env), list(plan.reports)]
        system = os.uname()
        machine = [system.sysname, system.release, system.machine]
        where = [program_version(), machine, sorted(self.environ.items())]
        what: object = tree
        if not (tree is None or isinstance(tree, str)):
            what = [[entry.path, entry.mode, entry.blob] for entry in tree]
        text = json.dumps([how, where, what], sort_keys=True)
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        return f"base outcome {digest}"


#: More tests than this fail for no bad luck.
_MOST_AGAIN = 20
#: Earlier commits of the base whose outcomes are looked up.
_MOST_EARLIER = 40


class BuildSide(Struct, frozen=True):
    """A tree to be built: its object name and its files."""

    tree: str
    entries: Sequence[TreeEntry]


class BaseRun(Struct, frozen=True):
    """The base, as far as it is known before the merged tree is built, or why it proves nothing."""

    plan: BuildPlan
    run: TreeRun | None = None
    remembered: bool = False
    unknown: str = ""
    reports: Mapping[str, bytes | None] = {}


class BothSides(Struct, frozen=True, dict=True):
    """Runs plans on the base and on the merged tree, which is what the change makes of it."""

    builder: Builder
    merged: BuildSide
    base: BuildSide
    options: BuildOptions
    memory: KeptBase

    def recall(self, plans: Sequence[BuildPlan]) -> list[Recollection]:
        """Recall what is kept of each plan; to be asked for before anything is built."""
        return [
            self.memory.recall(plan, self.base.entries, self._earlier_commits) for plan in plans
        ]

    @cached_property
    def _earlier_commits(self) -> tuple[str, ...]:
        try:
            commits = self.builder.ports.repository.recent(self.base.tree, _MOST_EARLIER)
        except (SourceError, NotImplementedError):
            return ()
        return tuple(commit.sha for commit in commits)

    def run_base(self, plan: BuildPlan, recollection: Recollection, deadline: Deadline) -> BaseRun:
        """Take the base from an earlier run, or build it if it is compared with."""
        if recollection.base and not self.options.keep_of_base:
            self.builder.ports.progress.say(wording.BASE_KEPT)
            self.memory.keep(plan, self.base.entries, recollection.base, self.base.tree)
            return BaseRun(plan, recollection.base, remembered=True)
        earlier = recollection.earlier
        if earlier and earlier.seconds > deadline.remaining and not self.options.keep_of_base:
            return BaseRun(plan, unknown=wording.BASE_SLOW)
        if plan.missing or self.options.compare != "always" or not plan.tests:
            return BaseRun(plan)
        return self._build_base(plan, deadline)

    def _build_base(self, plan: BuildPlan, deadline: Deadline) -> BaseRun:
        self.builder.ports.progress.say(wording.BUILDING_BASE)
        try:
            with self.builder.open_tree(self.base.tree, self.base.entries, deadline) as place:
                collect_reports = watch_reports(place.places, self.options.keep_of_base)
                run = place.run(plan, deadline)
                if plan.otherwise and run.failed and not run.tested:
                    plan = plan.otherwise
                    run = place.run(plan, deadline)
                reports = collect_reports()
        except (CannotJudgeError, SourceError) as error:
            brings = error.reason == "no_such_directory"
            return BaseRun(plan, unknown="" if brings else str(error))
        if not run.ended:
            return BaseRun(plan, unknown=wording.say_base_stopped(run.last.stopped))
        fault = find_machine_fault(run, (), paths_of(self.base.entries))
        if fault and not run.tested:
            return BaseRun(plan, unknown=wording.BASE_UNBUILDABLE.format(fault.line))
        self.memory.keep(plan, self.base.entries, run, self.base.tree)
        return BaseRun(plan, run, reports=reports)

    def run_head(
        self, base: BaseRun, recollection: Recollection, deadline: Deadline
    ) -> tuple[BuildPlan, Run]:
        """Run the plan on the merged tree beside what is known of the base; as `Workplace.run`."""
        with self.builder.open_tree(self.merged.tree, self.merged.entries, deadline) as place:
            plan = base.plan
            run = place.run_with_reports(plan, self.options, deadline)
            other = plan.otherwise
            if other and not base.run and run.head.failed and not run.head.tested:
                always = self.options.compare == "always"
                base = base if always else self._build_base(plan, deadline)
                if always or base.plan == other:
                    plan = other
                    run = place.run_with_reports(plan, self.options, deadline)
            run = self._compare_with_base(place.paths, plan, run, base, deadline)
            run = self._retry_tests(place, plan, run, deadline)
        if not run.head.failed:
            self.memory.keep(plan, self.merged.entries, run.head)
        run = self._with_earlier(run, recollection)
        return plan, replace(run, history=recollection.count_base_failures(run.head))

    def _compare_with_base(
        self, paths: frozenset[str], plan: BuildPlan, run: Run, base: BaseRun, deadline: Deadline
    ) -> Run:
        """The run beside the base's, built where needed; a kept outcome excuses no failure."""
        head, options = run.head, self.options
        fault = find_machine_fault(head, self.builder.changed, paths)
        if (head.failed and not head.ended) or (fault and not head.tested):
            return run
        if not head.failed and options.compare != "always":
            return run
        if head.failed and options.pre_existing != "warn":
            return run
        wants_base = base.run is None and not base.unknown and (head.failed or head.tested)
        late = wants_base and (not plan.tests or options.compare != "always")
        if late or (head.failed and base.remembered):
            built = self._build_base(plan, deadline)
            disturbed = base.remembered and built.run is not None and built.run.failed
            run = replace(run, disturbed=disturbed)
            base = built
        return replace(
            run,
            base=base.run,
            base_kept=base.remembered,
            base_unknown=base.unknown,
            base_test_files=count_test_files(paths_of(self.base.entries), plan.directory),
            reports_of_base=dict(base.reports),
        )

    def _retry_tests(self, place: Workplace, plan: BuildPlan, run: Run, deadline: Deadline) -> Run:
        suspects = find_new_test_failures(run)
        if not 0 < len(suspects) <= _MOST_AGAIN or deadline.remaining < run.head.seconds:
            return run
        count = pluralize(len(suspects), "newly failing test")
        self.builder.ports.progress.say(wording.RUNNING_AGAIN.format(count))
        try:
            if plan.last_failed and runs_every_test(run.head, plan):
                retry = place.run(plan.last_failed, deadline)
                settled = {*retry.results.ran, *(failure.id for failure in retry.failures)}
                if settled.issuperset(failure.id for failure in suspects):
                    return replace(run, retry=retry)
            return replace(run, retry=place.run(plan, deadline), whole=True)
        except CannotJudgeError:
            return run  # the failures stand as they are

    def _with_earlier(self, run: Run, recollection: Recollection) -> Run:
        shows = run.base is not None and not run.base.failed and run.base.tested
        compares = self.options.compare == "always" and run.head.tested and not run.head.failed
        if not compares or shows or recollection.earlier is None:
            return run
        return replace(run, base=recollection.earlier, base_commit=recollection.commit)
