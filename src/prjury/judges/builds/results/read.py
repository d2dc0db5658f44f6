"""Read what a run has left, logs and reports; whatever was printed, it stays bounded."""

from __future__ import annotations

import json
import posixpath
import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from io import TextIOWrapper
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from prjury.judges.builds.failure import Failure, Results, inside_tree, sort_failures, sort_unique
from prjury.judges.builds.results.lines import (
    TABLE,
    LogSection,
    RunnerOutput,
    find_ambiguous,
    strip_escapes,
)
from prjury.judges.builds.results.problems import read_build_errors, read_problems
from prjury.judges.builds.results.runners import read_known_runners, read_unknown_runner
from prjury.judges.builds.results.streams import GoEvents, read_go_failures, read_tap
from prjury.judges.builds.results.tree import TreeFiles

_LONGEST_EVENT = 1024**2
_LONGEST_LINE = 2_000
#: A log of more lines is left where it is, but for its end.
_MOST_LINES = 1_100_000
_END = 1024**2
#: What is kept of the end of a log, roughly in bytes of memory.
_MOST_KEPT = 96 * 1024**2
_COST_OF_LINE = 150
_TAIL_LINES = 30
_LONGEST_TAIL_LINE = 500

_DECODER = json.JSONDecoder()

_PNPM = re.compile(r"(?P<place>[^\s$:]+) (?P<script>[\w:.-]+)\$ ")
_NPM = re.compile(r"> (?P<name>(?:@[\w.-]+/)?[\w.-]+)(?P<version>@\S+)? [\w:.-]+$")


def _read_first_and_last_lines(log: Path, transcript: Transcript) -> Iterator[str]:
    with log.open("rb") as raw, TextIOWrapper(raw, "utf-8", "replace") as file:
        lines = iter(lambda: _read_line_start(file), "")
        yield from islice(lines, _MOST_LINES)
        if next(lines, ""):
            transcript.cut = True
            file.seek(max(raw.tell(), log.stat().st_size - _END))
            yield from islice(lines, _MOST_LINES)


def _read_line_start(file: TextIOWrapper) -> str:
    """The beginning of the next line; the rest of a very long one is passed over."""
    line = end = file.readline(_LONGEST_EVENT)
    while end and not end.endswith("\n"):
        end = file.readline(_LONGEST_EVENT)
    return line


class Transcript(Struct):
    """What a step printed, up to a size: `cut` if it is only the end."""

    go: GoEvents
    lines: deque[tuple[int, str, str]] = field(default_factory=deque)
    last: deque[str] = field(default_factory=lambda: deque(maxlen=_TAIL_LINES))
    size: int = 0
    cut: bool = False

    def add(self, number: int, place: str, line: str) -> None:
        self.lines.append((number, place, line))
        self.size += len(line) + _COST_OF_LINE
        while self.size > _MOST_KEPT:
            self.size -= len(self.lines.popleft()[2]) + _COST_OF_LINE
            self.cut = True

    def split_sections(self, tree: TreeFiles) -> list[LogSection]:
        sections: dict[str, tuple[list[str], list[int]]] = {}
        for number, place, line in self.lines:
            lines, numbers = sections.setdefault(place, ([], []))
            lines.append(line)
            numbers.append(number)
        return [LogSection(*texts, tree, place) for place, texts in sections.items()]


class _Places(Struct):
    tree: TreeFiles
    current: str
    entered: list[str] = []
    prefixes: dict[str, str] = {}

    def track_directory_and_text(self, line: str) -> tuple[str, str]:
        """Return where a line was printed, as far as build tools say, and what of it was."""
        if self.prefixes:
            head, colon, rest = f"{line} ".partition(": ")  # scripts' names may hold colons
            if colon and head in self.prefixes:
                return self.prefixes[head], rest[:-1]
        if "$ " in line and (match := _PNPM.match(line)):
            place = inside_tree(posixpath.join(self.tree.directory, match["place"])) or ""
            self.prefixes[f"{match['place']} {match['script']}"] = place
            return place, line
        if line.startswith("> ") and (match := _NPM.match(line)):
            directory = self.tree.package(match["name"])
            if directory is not None or match["version"]:
                self.current = directory or self.tree.directory
        elif " directory '" in line and "make" in line.partition(": ")[0]:
            word, _, place = line.partition(": ")[2].partition(" directory '")
            if word == "Entering":
                self.entered.append(self.current)
                plain = posixpath.normpath(place.removesuffix("'"))
                self.current = self.tree.directory if plain.startswith(("/", ".")) else plain
            elif self.entered:
                self.current = self.entered.pop()
        return self.current, line


def read_transcript(log: Path, tree: TreeFiles, relative: Callable[[str], str]) -> Transcript:
    """Read a log once; `relative` takes the tree's own place out of a text."""
    go = GoEvents(LogSection((), (), tree, tree.directory))
    transcript, places = Transcript(go), _Places(tree, tree.directory)
    for number, raw in enumerate(_read_first_and_last_lines(log, transcript)):
        place, line = places.track_directory_and_text(relative(strip_escapes(raw.rstrip("\n"))))
        event = _parse_go_event(line)
        if event is None:
            transcript.add(number, place, line[:_LONGEST_LINE])
            transcript.last.append(line[:_LONGEST_TAIL_LINE])
            continue
        for text in transcript.go.take_event_and_get_output(number, event).splitlines():
            transcript.last.append(text[:_LONGEST_TAIL_LINE])
            if event["Action"] == "build-output":
                transcript.add(number, place, text[:_LONGEST_LINE])
    return transcript


def _parse_go_event(line: str) -> dict[str, Any] | None:
    """Return an event of ``go test -json``, None for any other line."""
    if not line.startswith("{") or '"Action":' not in line:
        return None
    try:
        value, end = _DECODER.raw_decode(line)
    except (ValueError, RecursionError):
        return None
    is_event = isinstance(value, dict) and bool(value.keys() & {"Package", "ImportPath"})
    is_event = is_event and isinstance(value.get("Action"), str)
    return value if is_event and not line[end:].strip() else None


#: Runners with a form of their own, and text without which there is nothing of them.
_STREAMS = (
    ("go", read_go_failures, ("\nFAIL\t", "--- FAIL: ")),
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


class LogResults(Struct):
    """What was read from one step's log by runners; the empty name is for errors of none."""

    tail: str
    failed: bool
    by_runner: dict[str, RunnerOutput]
    ignored: int = 0


def read_log(
    log: Path, tree: TreeFiles, relative: Callable[[str], str], *, failed: bool
) -> LogResults:
    """Read the log of one step; if it did not fail, failures in it are no more than a number."""
    transcript = read_transcript(log, tree, relative)
    results = LogResults("\n".join(transcript.last), failed, {"": RunnerOutput()})
    every = [_read_section(section, failed=failed) for section in transcript.split_sections(tree)]
    for outputs in (*every, {"go": transcript.go.finish()}):
        for runner, output in outputs.items():
            results.by_runner.setdefault(runner, RunnerOutput()).add(output)
    if transcript.cut:
        results.by_runner[""].doubts.append("the log is too long to be read in full")
    if not failed:
        results.ignored = sum(output.broken for output in results.by_runner.values())
        for runner, output in results.by_runner.items():
            doubts = output.doubts if runner == "tap" else []  # it announced more than it ran
            counts = output.ran, output.counted, output.skipped
            results.by_runner[runner] = RunnerOutput([], *counts, doubts=doubts)
    return results


def _read_section(section: LogSection, *, failed: bool) -> dict[str, RunnerOutput]:
    outputs = read_known_runners(section)
    for name, read, marks in _STREAMS:
        if any(mark in section.text for mark in marks):
            outputs[name] = read(section)
    if "tap" in outputs and outputs["tap"].has_results:  # the same tests, in a form for programs
        outputs.pop("vitest", None)
    has_tests = any(output.has_results for output in outputs.values())
    if not has_tests:
        outputs[_CLOSING] = read_unknown_runner(section)
    if failed:
        others = outputs[""] = RunnerOutput()
        for errors in (read_problems(section), read_build_errors(section, tests=has_tests)):
            listed = list(islice(errors, _MOST_PER_READER + 1))
            others.failures += listed[:_MOST_PER_READER]
            if len(listed) > _MOST_PER_READER:
                others.doubts.append(f"more than {_MOST_PER_READER} errors were printed")
    return outputs


def merge_results(
    logs: Sequence[LogResults], reports: Results, *, expected: bool
) -> tuple[tuple[Failure, ...], Results]:
    """Merge logs and reports into failures and results.

    Where a runner has written a report, the log's tests are the same ones, unless it counts more.
    If the tests were asked for reports, a log's names are but a number.
    """
    reports = reports.resolve_retries(passed=not any(log.failed for log in logs))
    by_runner = dict[str, RunnerOutput]()
    for log in logs:
        for runner, output in log.by_runner.items():
            if not (runner == _CLOSING and reports.files):  # it counts the reports' tests
                by_runner.setdefault(runner, RunnerOutput()).add(output)
    in_reports, covered = frozenset(reports.ran), set[str]()
    names, problems, counted, skipped = list[str](), [*reports.problems], 0, reports.skipped
    for runner, output in by_runner.items():
        writers = _WRITING_TAP if runner == "tap" else (runner,)
        number = sum(reports.by_runner.get(name, 0) for name in writers)
        surplus = max(0, output.counted + len(output.ran) - number)
        problems += output.doubts if number else [*output.doubts, *output.unnamed]
        if expected or number:
            counted += surplus
        else:
            counted += output.counted
            skipped += output.skipped
            names += [name for name in output.ran if name not in in_reports]
        if number and not surplus:
            covered.add(runner)
    failures = _merge_failures(logs, reports, covered)
    ran = (*reports.ran, *names[:_MOST_TESTS])
    if len(failures) > _MOST_FAILURES:
        problems.append(f"more than {_MOST_FAILURES} failures")
    if len(names) > _MOST_TESTS:
        problems.append(f"more than {_MOST_TESTS} tests ran")
    for name in find_ambiguous(failures, ran)[:1]:
        called = name.removeprefix("test:")
        problems.append(f"several tests are called {called}, and not all of them failed")
    return (*failures, *reports.flaky), replace(
        reports,
        tests=reports.tests + len(names),
        problems=tuple(dict.fromkeys(problems)),
        ran=ran,
        counted=counted,
        skipped=skipped,
        ignored=sum(log.ignored for log in logs),
    )


def _merge_failures(
    logs: Sequence[LogResults], reports: Results, covered_runners: Collection[str]
) -> list[Failure]:
    """Merge what reports and logs hold, those of covered runners and at places of reports once."""
    tests, ids = frozenset(reports.ran), {failure.id for failure in reports.failures}
    places = {failure.place for failure in reports.failures} - {""}
    errors = [failure for failure in reports.failures if failure.kind == "error"]
    broken = {word for failure in errors for word in (failure.name, failure.place) if word}
    of_logs = list[Failure]()
    for log in logs:
        repeated = set[str]()
        for runner in log.by_runner.keys() & covered_runners:
            for _, failure in log.by_runner[runner].failures:
                same = failure.kind == "test" and (
                    runner in _OTHERWISE_CALLED or failure.id in tests
                )
                whole = failure.kind == "error" and broken & {failure.name, failure.place}
                if same or whole:
                    repeated.add(failure.id)
        listed = [item for output in log.by_runner.values() for item in output.failures]
        of_logs += [  # goals give up after what is repeated
            failure
            for failure in turn_unexplained_goals_to_errors(sorted(listed, key=itemgetter(0)))
            if failure.id not in repeated
        ]
    more = [
        failure
        for failure in sort_unique(of_logs)
        if failure.id not in ids and not (failure.kind in _PLACED and failure.place in places)
    ]
    of_reports = [failure for failure in reports.failures if failure.kind == "test"]
    others = sort_unique(failure for failure in reports.failures if failure.kind != "test")
    return sort_failures([*of_reports, *others, *more[:_MOST_FAILURES]])


#: How goals begin that are printed right after their causes, by the tool that prints them.
_AT_ONCE = TABLE["at_once"]


def turn_unexplained_goals_to_errors(failures: Iterable[tuple[int, Failure]]) -> Iterator[Failure]:
    """Yield the failures in order; a goal without a cause before it is an unread error."""
    caused, last = False, ""
    for _, failure in failures:
        tool = _name_tool(failure.message) if failure.kind == "goal" else ""
        if not tool:
            caused = caused or failure.kind != "goal"
            yield failure
            continue
        follows = caused or last not in {"", tool}  # a tool that called another gives up after it
        yield failure if follows else replace(failure, kind="error")
        caused, last = False, tool


def _name_tool(goal: str) -> str:
    """Return the tool that prints a goal at once, a make with its depth; empty for others."""
    if ": exit " in goal:
        return "tox"
    start = next((start for start in _AT_ONCE if goal.startswith(start)), "")
    return goal.partition(":")[0] if start.endswith("make") else start
