"""Read what a run has left: the failures and tests of its logs, and of its reports with them.

A test runner's name is the one under which its reports count, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import itemgetter
from pathlib import Path

from msgspec.structs import replace

from prjury.judges.builds.failure import Failure, Results, drop_repeats, sort_failures
from prjury.judges.builds.results.build_errors import read_build_errors
from prjury.judges.builds.results.go import read_go
from prjury.judges.builds.results.log import transcribe
from prjury.judges.builds.results.problem_matchers import read_problems
from prjury.judges.builds.results.runner_output import LogSection, RunnerOutput, ambiguous
from prjury.judges.builds.results.runner_reader import read_program, read_runners
from prjury.judges.builds.results.tap import read_tap
from prjury.judges.builds.results.tree import TreeFiles

#: Runners with a form of their own, and text without which there is nothing of them.
_STREAMS = (
    ("go", read_go, ("\nFAIL\t", "--- FAIL: ")),
    ("tap", read_tap, ("\nTAP version ", "\n1..")),
)
#: Read where no other reader knows the tests.
_CLOSING = "closing lines"

_MOST_TESTS = 1_000_000
_MOST_FAILURES = 20_000
#: The runners whose reports call a test otherwise than their output does.
_OTHERWISE_CALLED = frozenset({"jvm", "jest", "mocha", "node", "tap", "RSpec"})
#: The runners that write TAP, by the names under which their reports count.
_WRITING_TAP = ("node", "mocha", "vitest")
#: What reports hold as well, perhaps under another name. Any other error stands for itself.
_PLACED = frozenset({"test", "compile"})
_MOST_PER_READER = 2_000


@dataclass
class LogResults:
    """What was read from the log of one step.

    Attributes:
        tail: its last lines as a person would read them.
        by_runner: what was read of each test runner's output.
        others: the failures that are no runner's, with the numbers of their lines.
        doubts: why the log may be incomplete.
        ignored: how many tests failed in a step that ended well.
        failed: the step failed.
    """

    tail: str = ""
    by_runner: dict[str, RunnerOutput] = field(default_factory=dict)
    others: list[tuple[int, Failure]] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    ignored: int = 0
    failed: bool = False

    def take(self, found: Iterable[tuple[int, Failure]]) -> None:
        """Takes in what one reader found, up to a number."""
        before = len(self.others)
        self.others += islice(found, _MOST_PER_READER + 1)
        if len(self.others) - before > _MOST_PER_READER:
            self.others.pop()
            self.doubts.append(f"more than {_MOST_PER_READER} errors were printed")

    def drop_failures(self) -> LogResults:
        """Of a step that did not fail: failures in its log are no more than a number."""
        outputs = {
            runner: RunnerOutput(ran=one.ran, counted=one.counted, skipped=one.skipped)
            for runner, one in self.by_runner.items()
            if one.ran or one.counted or one.skipped
        }
        ignored = sum(one.broken for one in self.by_runner.values())
        return LogResults(self.tail, outputs, ignored=ignored)


def read_log(
    log: Path, tree: TreeFiles, relative: Callable[[str], str], *, failed: bool
) -> LogResults:
    """Read the log of one step."""
    transcript = transcribe(log, tree, relative)
    results = LogResults(tail=transcript.tail, failed=failed)
    for section in transcript.sections:
        tests = _read_tests(section, results)
        if failed:
            _read_errors(section, results, tests=tests)
    results.by_runner.setdefault("go", RunnerOutput()).add(transcript.go.finish())
    if transcript.cut:
        results.doubts.append("the log is too long to be read in full")
    return results if failed else results.drop_failures()


def _read_tests(section: LogSection, results: LogResults) -> bool:
    outputs = read_runners(section)
    for name, read, marks in _STREAMS:
        if any(mark in section.text for mark in marks):
            outputs[name] = read(section)
    if "tap" in outputs and outputs["tap"].has_results:  # the same tests, in a form for programs
        outputs.pop("vitest", None)
    has_results = any(output.has_results for output in outputs.values())
    if not has_results:
        outputs[_CLOSING] = read_program(section)
    for name, output in outputs.items():
        results.by_runner.setdefault(name, RunnerOutput()).add(output)
    return has_results


def _read_errors(section: LogSection, results: LogResults, *, tests: bool) -> None:
    results.take(read_problems(section))
    results.take(read_build_errors(section, tests=tests))


def merge_results(
    logs: Sequence[LogResults], reports: Results, *, reported: bool
) -> tuple[tuple[Failure, ...], Results]:
    """Merge logs and reports into failures and results.

    A log never outweighs a report: where a runner has written one, the log's tests are the same
    ones, unless it counts more. If the tests were asked for reports, its names are but a number.
    """
    reports = reports.settle_attempts(good=not any(log.failed for log in logs))
    by_runner = _sum_logs(logs)
    if reports.files:  # they count the same tests in another way
        by_runner.pop(_CLOSING, None)
    surplus = {runner: _count_surplus(runner, one, reports) for runner, one in by_runner.items()}
    silent = {runner for runner in by_runner if reported or _count_reported(runner, reports)}
    apart = [one for runner, one in by_runner.items() if runner not in silent]
    in_reports = frozenset(reports.ran)
    names = [name for one in apart for name in one.ran if name not in in_reports]
    counted = sum(surplus[runner] for runner in silent) + sum(one.counted for one in apart)
    covered = {
        runner for runner in by_runner if _count_reported(runner, reports) and not surplus[runner]
    }
    of_logs = [failure for log in logs for failure in _failures(log, covered, reports)]
    failures = _merge(reports.failures, drop_repeats(of_logs))
    ran = (*reports.ran, *names[:_MOST_TESTS])
    problems = [*reports.problems, *_doubts(logs, by_runner, reports, failures, names)]
    for name in ambiguous(failures, ran)[:1]:
        called = name.removeprefix("test:")
        problems.append(f"several tests are called {called}, and not all of them failed")
    return (*failures, *reports.flaky), replace(
        reports,
        tests=reports.tests + len(names),
        problems=tuple(dict.fromkeys(problems)),
        ran=ran,
        counted=counted,
        skipped=reports.skipped + sum(one.skipped for one in apart),
        ignored=sum(log.ignored for log in logs),
    )


def _sum_logs(logs: Iterable[LogResults]) -> dict[str, RunnerOutput]:
    """Sum up each runner over all steps."""
    by_runner: dict[str, RunnerOutput] = {}
    for log in logs:
        for runner, one in log.by_runner.items():
            by_runner.setdefault(runner, RunnerOutput()).add(one)
    return by_runner


def _count_surplus(runner: str, output: RunnerOutput, reports: Results) -> int:
    """Count the tests of a log that the reports of the same runner do not hold."""
    return max(0, output.counted + len(output.ran) - _count_reported(runner, reports))


def _count_reported(runner: str, reports: Results) -> int:
    """Count the tests in the reports of a runner; several runners write TAP."""
    names = _WRITING_TAP if runner == "tap" else (runner,)
    return sum(reports.by_runner.get(name, 0) for name in names)


def _failures(log: LogResults, covered: set[str], reports: Results) -> Iterator[Failure]:
    """The failures of one log in the order of its lines, without those that the reports hold."""
    listed = [item for output in log.by_runner.values() for item in output.failures]
    every = root_cause(sorted(listed + log.others, key=itemgetter(0)))
    tests = frozenset(reports.ran)
    errors = [failure for failure in reports.failures if failure.kind == "error"]
    broken = {word for failure in errors for word in (failure.name, failure.place) if word}

    def is_reported(runner: str, failure: Failure) -> bool:
        if failure.kind == "test":
            return runner in _OTHERWISE_CALLED or failure.id in tests
        return failure.kind == "error" and not broken.isdisjoint((failure.name, failure.place))

    repeated = {
        failure.id
        for runner in covered.intersection(log.by_runner)
        for _, failure in log.by_runner[runner].failures
        if is_reported(runner, failure)
    }
    return (failure for failure in every if failure.id not in repeated)


def _merge(of_reports: Sequence[Failure], of_logs: Sequence[Failure]) -> tuple[Failure, ...]:
    ids = {failure.id for failure in of_reports}
    places = {failure.place for failure in of_reports} - {""}
    more = [
        failure
        for failure in of_logs
        if failure.id not in ids and not (failure.kind in _PLACED and failure.place in places)
    ]
    tests = [failure for failure in of_reports if failure.kind == "test"]
    others = drop_repeats(failure for failure in of_reports if failure.kind != "test")
    return tuple(sort_failures([*tests, *others, *more[:_MOST_FAILURES]]))


def _doubts(
    logs: Iterable[LogResults],
    by_runner: Mapping[str, RunnerOutput],
    reports: Results,
    failures: Sequence[Failure],
    names: Sequence[str],
) -> Iterator[str]:
    for log in logs:
        yield from log.doubts
    for runner, one in by_runner.items():
        yield from one.doubts
        if not _count_reported(runner, reports):
            yield from one.unnamed
    if len(failures) > _MOST_FAILURES:
        yield f"more than {_MOST_FAILURES} failures"
    if len(names) > _MOST_TESTS:
        yield f"more than {_MOST_TESTS} tests ran"


#: How goals begin that are printed right after their causes, by the tool that prints them.
_AT_ONCE = (
    "make", "gmake", "test failed", "npm ", "ELIFECYCLE", "[ELIFECYCLE]", "error Command failed",
    "The command failed",
)  # fmt: skip


def root_cause(failures: Iterable[tuple[int, Failure]]) -> Iterator[Failure]:
    """The failures in order; a goal without a cause before it stands for itself.

    Such a goal is an error that could not be read, and no consequence of a test named elsewhere.
    """
    caused, last = False, ""
    for _, failure in failures:
        tool = _name_tool(failure.message) if failure.kind == "goal" else ""
        if not tool:
            caused = caused or failure.kind != "goal"
            yield failure
            continue
        follows = caused or last not in {"", tool}
        yield failure if follows else replace(failure, kind="error")
        caused, last = False, tool


def _name_tool(goal: str) -> str:
    """The tool that prints a goal at once, a make with its depth; empty for others."""
    if ": exit " in goal:
        return "tox"
    start = next((start for start in _AT_ONCE if goal.startswith(start)), "")
    return goal.partition(":")[0] if start.endswith("make") else start
