"""What became of a build: of one run of its plan, and of all its runs on both trees. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from prjury.judges.builds.failure import Failure, Results
from prjury.judges.builds.plan import BuildPlan, BuildStep
from prjury.judges.builds.systems.source_tree import is_within
from prjury.judges.builds.test_sets import Vanished, find_vanished
from prjury.policy.schema import BuildOptions
from prjury.ports.types import Completed
from prjury.snapshot.kinds import kind_of
from prjury.snapshot.model import FileKind


@dataclass(frozen=True, slots=True)
class StepResult:
    """A step that has ended, with the last lines that it printed."""

    step: BuildStep
    completed: Completed
    tail: str

    @property
    def good(self) -> bool:
        """Whether it ended by itself, with exit code 0."""
        return self.completed.exit_code == 0 and self.completed.stopped is None


@dataclass(frozen=True, slots=True)
class PlanOutcome:
    """What became of a plan on one tree.

    Attributes:
        results: the steps that ran; the last one may have failed.
        allowed: the seconds that there were.
        failures: the causes, as far as they could be read.
    """

    results: tuple[StepResult, ...]
    allowed: float
    failures: tuple[Failure, ...] = ()
    reports: Results = field(default_factory=Results)

    @property
    def last(self) -> StepResult:
        """The step that decided, or the last one."""
        return self.results[-1]

    @property
    def environment(self) -> Failure | None:
        """What the machine lacks, where nothing fails that the base does not have as well."""
        if any(one.state == "new" and one.kind != "goal" for one in self.failures):
            return None
        return next((one for one in self.failures if one.state == "environment"), None)

    @property
    def seconds(self) -> float:
        """How long all steps took."""
        return sum(result.completed.seconds for result in self.results)

    @property
    def failed(self) -> bool:
        """Whether a step failed or a report holds a failing test."""
        return not self.last.good or bool(self.reports.failures)

    def passing(self, failed: Iterable[Failure]) -> tuple[Failure, ...]:
        """Those of the tests that failed in another run and demonstrably pass here.

        A missing result is no pass.
        """
        failing, ran = {failure.id for failure in self.failures}, frozenset(self.reports.ran)
        tests = (failure for failure in failed if failure.kind == "test")
        return tuple(one for one in tests if one.id in ran and one.id not in failing)

    def ends_like(self, base: PlanOutcome) -> bool:
        """Whether both stopped at the same step with the same exit code.

        A different end means that something happened which is not among the causes that were read.
        """
        ours, theirs = self.last, base.last
        return base.failed and (ours.step, ours.completed.exit_code, ours.completed.stopped) == (
            theirs.step,
            theirs.completed.exit_code,
            theirs.completed.stopped,
        )


@dataclass(frozen=True)
class BuildResult:
    """All that the judgment rests on.

    Attributes:
        known: the paths of the merged tree.
        options: the policy's: what old, flaky and vanished tests mean.
        base: what became of the same plan on the base, None where that was not tried.
        base_unknown: why the base could not be compared with, where it was tried in vain.
        first: the first outcome, where the plan was run again without stopping at failures.
        ran_again: how many failing tests were run again alone.
        versions: of the tools that were used, by their names.
        kept: reports for other judges, by their paths; None for one that could not be read.
        kept_of_base: those of the base that other judges compare with.
    """

    plan: BuildPlan
    outcome: PlanOutcome
    known: frozenset[str] = frozenset()
    options: BuildOptions = field(default_factory=BuildOptions)
    base: PlanOutcome | None = None
    base_unknown: str = ""
    first: PlanOutcome | None = None
    ran_again: int = 0
    versions: Mapping[str, str] = field(default_factory=dict)
    kept: Mapping[str, bytes | None] = field(default_factory=dict)
    kept_of_base: Mapping[str, bytes | None] = field(default_factory=dict)

    def excuses(self, failure: Failure) -> bool:
        """Whether a failure does not fail the judge."""
        warn = {"pre_existing": self.options.pre_existing, "flaky": self.options.flaky}
        return warn.get(failure.state) == "warn"

    @property
    def blocking(self) -> tuple[Failure, ...]:
        """The failures that fail the judge."""
        return tuple(f for f in self.outcome.failures if not self.excuses(f))

    @cached_property
    def lost(self) -> Vanished:
        """The tests of the base that did not run; none where a failure may have kept them from it.

        The base has to be known.
        """
        if self.base is None or self.blocking or self.outcome.last.completed.stopped:
            return Vanished()
        return find_vanished(self.outcome.reports, self.base.reports)

    @property
    def ignored(self) -> int:
        """How many more tests than on the base failed in a step that ended well all the same."""
        if self.base is None:
            return 0
        return max(0, self.outcome.reports.ignored - self.base.reports.ignored)

    @cached_property
    def test_files(self) -> int:
        """How many files of the project are tests by their names."""
        place = self.plan.directory
        ours = (path for path in self.known if is_within(path, place))
        return sum(kind_of(path) is FileKind.TEST for path in ours)

    @property
    def ordered(self) -> tuple[Failure, ...]:
        """All failures, those that fail the judge first, otherwise in their own order."""
        return tuple(sorted(self.outcome.failures, key=self.excuses))

    @property
    def only_old_failures(self) -> bool:
        """Whether all that failed is known, and fails in the same way on the base."""
        old = self.base is not None and self.outcome.ends_like(self.base)
        return old and bool(self.outcome.failures) and not self.blocking

    @property
    def hides_tests(self) -> bool:
        """Whether both lack the same, and the plan's second form comes to the tests anyway."""
        again = self.plan.keep_going
        if self.base is None or again is None or not again.goes_on:
            return False
        return self.outcome.environment is not None and self.outcome.ends_like(self.base)

    def to_the_end(self, outcome: PlanOutcome, base: PlanOutcome) -> BuildResult:
        """With the outcomes of the plan's second form; the first run stays what is reported."""
        again = replace(self.plan.once_more, older=self.plan.older)
        return replace(self, plan=again, outcome=outcome, base=base, first=self.outcome)
