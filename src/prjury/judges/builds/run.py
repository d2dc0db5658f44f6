"""Run plans on two trees, the base first; what bases came to is kept for later changes."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError, SourceError
from prjury.judges.builds import wording
from prjury.judges.builds.compare import (
    count_test_files,
    find_machine_fault,
    find_new_test_failures_if_compiled,
    runs_every_test,
)
from prjury.judges.builds.evidence import (
    Run,
    TreeRun,
    redact_and_clean,
    refuse_other_steps,
    validate_run,
)
from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.workplace import Builder, Workplace, list_paths
from prjury.policy.tiers import BuildOptions
from prjury.ports import Memory, Ports
from prjury.report.sanitise import Redact
from prjury.report.wording import pluralize
from prjury.resources import program_version
from prjury.snapshot.merge_style import HistoryCommit

#: Bases whose failing tests are remembered, and how many of each.
_MOST_BASES, _MOST_FAILING = 400, 200
#: The base and earlier commits of it whose outcomes are looked up.
_MOST_EARLIER = 40
#: More tests than this fail for no bad luck.
_MOST_AGAIN = 20


class BaseRun(Struct, frozen=True):
    """The base, as far as it is known before the merged tree is built, or why it proves nothing.

    `outcome` is the newest that is kept of it and its earlier commits, that of the `commit`;
    `history` has the tests that failed, for each commit of which that is known.
    """

    plan: BuildPlan
    outcome: TreeRun | None = None
    commit: str = ""
    history: tuple[tuple[str, ...], ...] = ()
    run: TreeRun | None = None
    remembered: bool = False
    unknown: str = ""
    reports: Mapping[str, bytes | None] = {}

    def count_failing_bases(self, run: TreeRun) -> dict[str, tuple[int, int]]:
        """On how many of how many bases each test failed that fails in this run and not on all."""
        counts = {}
        for failure in run.failures:
            failed = sum(failure.id in tests for tests in self.history)
            if failure.kind == "test" and 0 < failed < len(self.history):
                counts[failure.id] = (failed, len(self.history))
        return counts


class KeptBase(Struct, frozen=True):
    """Keeps outcomes of trees in the operator's memory, and knows the base's newest commits.

    None is kept whose tests have other names once redacted.
    """

    memory: Memory
    redact: Redact
    environ: Mapping[str, str]
    commits: Sequence[HistoryCommit] = ()

    @classmethod
    def of(cls, ports: Ports, base: str) -> KeptBase:
        commits: Sequence[HistoryCommit] = ()
        with suppress(SourceError):
            commits = ports.repository.recent(base, _MOST_EARLIER)
        return cls(ports.base_outcomes, ports.redact, ports.shell.environment(), commits)

    def recall_base(self, plan: BuildPlan) -> BaseRun:
        """Recall what is kept of a plan; to be asked for before anything is built."""
        failing = self._read_history(plan)
        trees = {commit.tree for commit in self.commits}
        history = tuple(tests for tree, tests in failing.items() if tree in trees)
        for commit in self.commits:
            if run := self._read_passed_outcome(plan, commit.tree):
                return BaseRun(plan, run, commit.sha, history)
        return BaseRun(plan, history=history)

    def keep_passed(self, plan: BuildPlan, tree: str, run: TreeRun) -> None:
        """Keep an outcome that passed."""
        if run.failed or not run.ended:
            return
        cleaned = redact_and_clean(run, self.redact)
        if cleaned.results.ran == run.results.ran:
            self.memory.keep(self._make_key(plan, tree), msgspec.json.encode(cleaned).decode())

    def keep_history_and_passed_base(self, plan: BuildPlan, run: TreeRun) -> None:
        """Note which tests failed on the base, and keep its outcome if it passed."""
        for base in self.commits[:1]:
            if run.tested:
                tests = tuple(failure.id for failure in run.failures if failure.kind == "test")
                history = self._read_history(plan)
                history.pop(base.tree, None)
                failing = redact_and_clean(tests[:_MOST_FAILING], self.redact)
                newest = dict([*history.items(), (base.tree, failing)][-_MOST_BASES:])
                self.memory.keep(self._make_key(plan), msgspec.json.encode(newest).decode())
            self.keep_passed(plan, base.tree, run)

    def _read_passed_outcome(self, plan: BuildPlan, tree: str) -> TreeRun | None:
        with suppress(ValueError, RecursionError, msgspec.MsgspecError):
            text = self.memory.recall(self._make_key(plan, tree)) or ""
            run = msgspec.json.decode(text, type=TreeRun)
            validate_run(run)
            refuse_other_steps(run, plan)
            return None if run.failed or not run.ended else run
        return None

    def _read_history(self, plan: BuildPlan) -> dict[str, tuple[str, ...]]:
        """Return the tests that failed by the trees of the base, the oldest first."""
        text = self.memory.recall(self._make_key(plan)) or ""
        with suppress(ValueError, RecursionError, msgspec.MsgspecError):
            return msgspec.json.decode(text, type=dict[str, tuple[str, ...]])
        return {}

    def _make_key(self, plan: BuildPlan, tree: str = "") -> str:
        steps = [[step.name, step.text] for step in plan.steps]
        how = [plan.system, plan.directory, steps, dict(plan.env), list(plan.reports)]
        system = os.uname()
        machine = [system.sysname, system.release, system.machine]
        where = [program_version(), machine, sorted(self.environ.items())]
        text = json.dumps([how, where, tree], sort_keys=True)
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        return f"base outcome {digest}"


class BothSides(Struct, frozen=True):
    """Runs plans on the base and on the merged tree, which is what the change makes of it."""

    builder: Builder
    merged: str
    base: str
    options: BuildOptions
    memory: KeptBase

    def recall_or_run_base(self, base: BaseRun, deadline: Deadline) -> BaseRun:
        """Take the base from an earlier run, or build it if it is compared with."""
        outcome = None if self.options.keep_of_base else base.outcome
        if outcome and base.commit == self.base:
            self.builder.ports.progress.say(wording.BASE_KEPT)
            self.memory.keep_history_and_passed_base(base.plan, outcome)
            return replace(base, run=outcome, remembered=True)
        if outcome and outcome.seconds > deadline.remaining:
            return replace(base, unknown=wording.BASE_SLOW)
        if base.plan.missing or self.options.compare != "always" or not base.plan.tests:
            return base
        return self._build_and_keep_base(base, deadline)

    def _build_and_keep_base(self, base: BaseRun, deadline: Deadline) -> BaseRun:
        self.builder.ports.progress.say(wording.BUILDING_BASE)
        plan, base = base.plan, replace(base, run=None, remembered=False)
        try:
            with self.builder.open_tree(self.base, deadline) as place:
                run = place.run_with_retry_and_pack(plan, deadline, self.options.keep_of_base)
                if plan.otherwise and run.failed and not run.tested:
                    plan = plan.otherwise
                    run = place.run_with_retry_and_pack(plan, deadline, self.options.keep_of_base)
        except (CannotJudgeError, SourceError) as error:
            brings = error.reason == "no_such_directory"
            return replace(base, plan=plan, unknown="" if brings else str(error))
        unknown = "" if run.ended else wording.say_base_stopped(run.deciding_step.stopped)
        fault = find_machine_fault(run, (), place.paths)
        if fault and not run.tested:
            unknown = wording.BASE_UNBUILDABLE.format(fault.line)
        if unknown:
            return replace(base, plan=plan, unknown=unknown)
        self.memory.keep_history_and_passed_base(plan, run)
        return replace(base, plan=plan, run=run, reports=place.reports)

    def run_head_and_needed_base(self, base: BaseRun, deadline: Deadline) -> tuple[BuildPlan, Run]:
        """Run the plan on the merged tree, with one retry, and on the base if that is needed."""
        with self.builder.open_tree(self.merged, deadline) as place:
            plan = base.plan
            run = place.run_with_reports(plan, self.options, deadline)
            other = plan.otherwise
            if other and not base.run and run.head.failed and not run.head.tested:
                always = self.options.compare == "always"
                base = base if always else self._build_and_keep_base(base, deadline)
                if always or base.plan == other:
                    plan = other
                    run = place.run_with_reports(plan, self.options, deadline)
            run = self._add_base_if_needed(place.paths, run, replace(base, plan=plan), deadline)
            run = self._retry_few(place, plan, run, deadline)
        self.memory.keep_passed(plan, self.merged, run.head)
        shows = run.base is not None and not run.base.failed and run.base.tested
        compares = self.options.compare == "always" and run.head.tested and not run.head.failed
        if compares and base.outcome and not shows:
            run = replace(run, base=base.outcome, base_commit=base.commit)
        return plan, replace(run, history=base.count_failing_bases(run.head))

    def _add_base_if_needed(
        self, head_paths: frozenset[str], run: Run, base: BaseRun, deadline: Deadline
    ) -> Run:
        """The run beside the base's, built where needed; a kept outcome excuses no failure."""
        head, options = run.head, self.options
        fault = find_machine_fault(head, self.builder.changed, head_paths)
        if (head.failed and not head.ended) or (fault and not head.tested):
            return run
        if not head.failed and options.compare != "always":
            return run
        if head.failed and options.pre_existing != "warn":
            return run
        wants_base = base.run is None and not base.unknown and (head.failed or head.tested)
        late = wants_base and (not base.plan.tests or options.compare != "always")
        if late or (head.failed and base.remembered):
            built = self._build_and_keep_base(base, deadline)
            disturbed = base.remembered and built.run is not None and built.run.failed
            run = replace(run, disturbed=disturbed)
            base = built
        base_paths = list_paths(self.builder.ports.repository, self.base)
        return replace(
            run,
            base=base.run,
            base_kept=base.remembered,
            base_unknown=base.unknown,
            base_test_files=count_test_files(base_paths, base.plan.directory),
            reports_of_base=dict(base.reports),
        )

    def _retry_few(self, place: Workplace, plan: BuildPlan, run: Run, deadline: Deadline) -> Run:
        suspects = find_new_test_failures_if_compiled(run)
        if not 0 < len(suspects) <= _MOST_AGAIN or deadline.remaining < run.head.seconds:
            return run
        count = pluralize(len(suspects), "newly failing test")
        self.builder.ports.progress.say(wording.RUNNING_AGAIN.format(count))
        try:
            if plan.failed_tests_plan and runs_every_test(run.head, plan):
                retry = place.run_with_retry_and_pack(plan.failed_tests_plan, deadline)
                settled = {*retry.results.ran, *(failure.id for failure in retry.failures)}
                if settled.issuperset(failure.id for failure in suspects):
                    return replace(run, retry=retry)
            return replace(run, retry=place.run_with_retry_and_pack(plan, deadline), whole=True)
        except CannotJudgeError:
            return run  # the failures stand as they are
