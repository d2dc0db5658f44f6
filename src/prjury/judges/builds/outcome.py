"""What became of a plan on one tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from prjury.judges.builds.failure import Failure
from prjury.judges.builds.plan import BuildStep
from prjury.ports.types import Completed


@dataclass(frozen=True, slots=True)
class Reports:
    """What reports, and where they are silent the logs, say of the tests of one run.

    Attributes:
        files: how many reports there are.
        tests: how many test cases they hold, those that were skipped included, and how many tests
            only the logs name.
        failures: those that the reports tell of.
        problems: one sentence for each reason why all this may not tell everything. What the logs
            leave open is among them only where a step failed.
        ran: the identity of each test that was not skipped, as often as it ran. A failing test's
            is the `Failure.id` of its failure.
        counted: the tests that runners count in their closing lines without naming those that
            passed, all runners together; 0 where none did.
        by_runner: how many of the tests that ran the reports name, by runner; under an empty name
            where it is not known which one wrote the report.
        skipped: how many test cases did not run, as far as reports and logs say.
    """

    files: int = 0
    tests: int = 0
    failures: tuple[Failure, ...] = ()
    problems: tuple[str, ...] = ()
    ran: tuple[str, ...] = ()
    counted: int = 0
    by_runner: Mapping[str, int] = field(default_factory=dict)
    skipped: int = 0

    @property
    def run(self) -> int:
        """How many tests ran."""
        return len(self.ran) + self.counted


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
    reports: Reports = field(default_factory=Reports)

    @property
    def last(self) -> StepResult:
        """The step that decided, or the last one."""
        return self.results[-1]

    @property
    def environment(self) -> Failure | None:
        """What the machine lacks, where no test and no compile error came of it."""
        if any(failure.kind in {"test", "compile"} for failure in self.failures):
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
