"""The outcomes of one build on merged tree and base, and what comparing them proves. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from functools import cached_property
from typing import Literal

from prjury.judges.builds.failure import Failure
from prjury.judges.builds.plan import CUSTOM, BuildPlan, BuildStep
from prjury.ports.types import Completed
from prjury.report.wording import counted
from prjury.snapshot.kinds import kind_of
from prjury.snapshot.model import FileKind


@dataclass(frozen=True, slots=True)
class Reports:
    """What reports, and where they are silent the logs, say of the tests of one run.

    Attributes:
        files: how many reports there are.
        tests: how many test cases they hold, those that were skipped included, and how many tests
            only the logs name.
        failures: those in the reports.
        problems: one sentence for each reason why all this may be incomplete. What the logs
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


#: What stands between a test's own name and what it belongs to.
_SEPARATOR = re.compile(r"::|[:#>]")
_PARAMETERS = re.compile(r"[\[(]")
#: From here on two names in one module are taken for one test that was renamed.
_ALIKE = 0.5
#: Comparing names costs the product of their numbers.
_MOST_COMPARED = 200


@dataclass(frozen=True, slots=True)
class Vanished:
    """The tests of the base that did not run.

    Attributes:
        names: those that are known by name.
        count: all of them; runs of tests that are only counted may hold some of the names.
    """

    names: tuple[str, ...] = ()
    count: int = 0


def find_vanished(here: Reports, base: Reports) -> Vanished:
    """The tests that ran on the base and not here; one that was moved or renamed is not lost."""
    lost = Counter(base.ran) - Counter(here.ran)
    new = Counter(here.ran) - Counter(base.ran)
    _forget_alike(lost, new, _name)
    _forget_alike(lost, new, _without_parameters)
    _forget_renamed(lost, new)
    unnamed = base.counted - here.counted
    if unnamed > 0:
        unnamed = max(0, unnamed - new.total())
    names = tuple(sorted(lost.elements()))
    count = max(0, len(names) + unnamed)
    return Vanished(tuple(map(readable, names)) if count else (), count)


def readable(identity: str) -> str:
    """A test's identity as a reader knows it: ``tests/test_a.py test_b``."""
    suite, _, rest = identity.removeprefix("test:").partition(":")
    owner, _, name = rest.rpartition("#")
    module = suite.removesuffix(".py").replace("/", ".")  # pytest repeats the file as a module
    owner = owner.removeprefix(module).lstrip(".") if suite.endswith(".py") else owner
    return " ".join(filter(None, (suite, owner, name)))


def _forget_alike(lost: Counter[str], new: Counter[str], key: Callable[[str], str]) -> None:
    """Takes out tests for which there is a new one of the same key, one for one."""
    arrived: dict[str, list[str]] = {}
    for identity in new.elements():
        arrived.setdefault(key(identity), []).append(identity)
    for identity in list(lost.elements()):
        if candidates := arrived.get(key(identity)):
            _forget(lost, identity, new, candidates.pop())


def _name(identity: str) -> str:
    """The test's own name with its parameters, which it keeps in another module."""
    return _split(identity)[1]


def _without_parameters(identity: str) -> str:
    """What stays the same where only parameters change, such as a random value."""
    return _PARAMETERS.split(identity, maxsplit=1)[0]


def _forget_renamed(lost: Counter[str], new: Counter[str]) -> None:
    """Takes out tests of a similar name in the same module, one for one."""
    arrived: dict[str, list[str]] = {}
    for identity in new.elements():
        arrived.setdefault(_split(identity)[0], []).append(identity)
    for identity in list(lost.elements())[:_MOST_COMPARED]:
        module, name = _split(identity)
        candidates = arrived.get(module, [])[:_MOST_COMPARED]
        best = max(candidates, key=lambda other: _likeness(name, other), default=None)
        if best is not None and _likeness(name, best) >= _ALIKE:
            arrived[module].remove(best)
            _forget(lost, identity, new, best)


def _likeness(name: str, other: str) -> float:
    return SequenceMatcher(None, name, _split(other)[1], autojunk=False).ratio()


def _forget(lost: Counter[str], identity: str, new: Counter[str], other: str) -> None:
    lost.subtract([identity])
    new.subtract([other])


def _split(identity: str) -> tuple[str, str]:
    """The module, and the test's own name with its parameters."""
    parameters = _PARAMETERS.search(identity)
    end = parameters.start() if parameters else len(identity)
    separators = [match.end() for match in _SEPARATOR.finditer(identity, 0, end)]
    start = separators[-1] if separators else 0
    return identity[:start], identity[start:].strip()


#: Characters of a command in a sentence.
_LONGEST_STEP = 60


def comparable(outcome: PlanOutcome) -> bool:
    """Whether it is worth asking how the base fares: a limit or a signal is the change's own."""
    return (
        outcome.failed
        and not outcome.last.completed.stopped
        and outcome.last.completed.exit_code >= 0
    )


def compared(outcome: PlanOutcome, base: PlanOutcome) -> PlanOutcome:
    """The outcome with the failures that the base has as well marked as such.

    Each failure of the base accounts for one of the merged tree: of two that look alike
    the second one is new where the base has only one.
    """
    return replace(outcome, failures=tuple(_marked(outcome, base)))


def _marked(outcome: PlanOutcome, base: PlanOutcome) -> Iterator[Failure]:
    there = Counter(failure.id for failure in base.failures)
    for failure in outcome.failures:
        old = there[failure.id] > 0 and failure.state != "environment"
        there[failure.id] -= old
        yield replace(failure, state="pre_existing") if old else failure


def unmarked(outcome: PlanOutcome) -> PlanOutcome:
    """The outcome as it was before it was compared with a base that turned out to be of no use."""
    return replace(
        outcome,
        failures=tuple(
            replace(failure, state="new") if failure.state == "pre_existing" else failure
            for failure in outcome.failures
        ),
    )


def same_end(outcome: PlanOutcome, base: PlanOutcome) -> bool:
    """Whether both stopped at the same step with the same exit code.

    A different end means that something happened which is not among the causes that were read.
    """
    ours, theirs = outcome.last, base.last
    return base.failed and (ours.step, ours.completed.exit_code, ours.completed.stopped) == (
        theirs.step,
        theirs.completed.exit_code,
        theirs.completed.stopped,
    )


def fixed(outcome: PlanOutcome, base: PlanOutcome) -> tuple[Failure, ...]:
    """The tests that fail on the base and demonstrably pass with the change."""
    failing = {failure.id for failure in outcome.failures}
    ran = frozenset(outcome.reports.ran)
    tests = (failure for failure in base.failures if failure.kind == "test")
    return tuple(failure for failure in tests if failure.id in ran and failure.id not in failing)


def unproven(plan: BuildPlan, outcome: PlanOutcome, base: PlanOutcome, lost: Vanished) -> str:
    """Why old failures may hide new ones, or nothing where it is shown that they do not.

    What shows it: nothing but tests failed (and the goals that run them), both runs have results
    that could be read in full, and no test of the base is lost.
    """
    return next(_doubts(plan, outcome, base, lost), "")


def _doubts(
    plan: BuildPlan, outcome: PlanOutcome, base: PlanOutcome, lost: Vanished
) -> Iterator[str]:
    kinds = {failure.kind for failure in outcome.failures}
    if "test" not in kinds or kinds - {"test", "goal"}:
        yield "not only tests failed, so something may have kept tests from running"
    exit_code = outcome.last.completed.exit_code
    if exit_code and plan.all_ran not in {None, exit_code}:
        yield f"exit code {exit_code} does not show that every test ran"
    if plan.system == CUSTOM and plan.all_ran != exit_code:
        yield f"`{outcome.last.step.text[:_LONGEST_STEP]}` may leave out what comes after a failure"
    if len(outcome.results) < len(plan.steps):
        yield f"the steps after `{outcome.last.step.text[:_LONGEST_STEP]}` were not reached"
    yield from _doubts_about(outcome, "the merged tree")
    yield from _doubts_about(base, "the base")
    if lost.count:
        such = f", such as {lost.names[0]}" if lost.names else ""
        yield f"{counted(lost.count, 'test')} of the base did not run{such}"


def _doubts_about(run: PlanOutcome, of: str) -> Iterator[str]:
    if run.last.completed.stopped or run.last.completed.exit_code < 0:
        yield f"the build of {of} was cut off"
    if run.reports.problems:
        yield f"in {of} {run.reports.problems[0]}"
    if not run.reports.tests and not run.reports.counted:
        yield f"there are no test results of {of}"


def unseen(plan: BuildPlan, outcome: PlanOutcome) -> str:
    """What may still not have run for the failures' sake, on either side; a note, no doubt."""
    if plan.all_ran == outcome.last.completed.exit_code:
        return ""
    return f"what `{plan.text}` leaves out after a failure ran on neither side"


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
