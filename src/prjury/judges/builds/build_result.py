"""All that the judgment of one build rests on. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from prjury.judges.builds.comparison import same_end
from prjury.judges.builds.failure import Failure
from prjury.judges.builds.outcome import PlanOutcome
from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.vanished import Vanished, find_vanished
from prjury.snapshot.kinds import kind_of
from prjury.snapshot.model import FileKind


@dataclass(frozen=True)
class BuildResult:
    """All that the judgment rests on.

    Attributes:
        known: the paths of the merged tree.
        base: what became of the same plan on the base, None where that was not tried.
        base_unknown: why the base could not be compared with, where it was tried in vain.
        flaky: whether a test that passed when it was run again alone still fails the judge.
        old: whether failures that the base has as well fail the judge.
        vanished: what follows where tests that ran on the base did not run here.
        first: the first outcome, where the plan was run again without stopping at failures.
        ran_again: how many failing tests were run again alone.
    """

    plan: BuildPlan
    outcome: PlanOutcome
    known: frozenset[str] = frozenset()
    base: PlanOutcome | None = None
    base_unknown: str = ""
    flaky: Literal["warn", "block"] = "block"
    old: Literal["warn", "block"] = "warn"
    vanished: Literal["ask", "fail", "warn"] = "ask"
    first: PlanOutcome | None = None
    ran_again: int = 0

    def excuses(self, failure: Failure) -> bool:
        """Whether a failure does not fail the judge."""
        excused = {
            "new": False,
            "pre_existing": self.old == "warn",
            "flaky": self.flaky == "warn",
            "environment": False,
        }
        return excused[failure.state]

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

    @cached_property
    def test_files(self) -> int:
        """How many files of the tree are tests by their names; 0 where no tests are to be run."""
        if not self.plan.tests:
            return 0
        return sum(kind_of(path) is FileKind.TEST for path in self.known)

    @property
    def ordered(self) -> tuple[Failure, ...]:
        """All failures, those that fail the judge first, otherwise in their own order."""
        return tuple(sorted(self.outcome.failures, key=self.excuses))

    @property
    def only_old_failures(self) -> bool:
        """Whether all that failed is known, and fails in the same way on the base."""
        old = self.base is not None and same_end(self.outcome, self.base)
        return old and bool(self.outcome.failures) and not self.blocking

    def to_the_end(self, outcome: PlanOutcome, base: PlanOutcome) -> BuildResult:
        """With the outcomes of the plan's second form; the first run stays what is reported."""
        again = self.plan.once_more
        return replace(self, plan=again, outcome=outcome, base=base, first=self.outcome)
