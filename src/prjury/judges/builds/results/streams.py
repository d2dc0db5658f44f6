"""Streams of results: ``go test`` as events and for people, and TAP with its indented subtests."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, takewhile
from typing import Any

from msgspec import Struct, field

from prjury.judges.builds.failure import Failure, identity, with_details
from prjury.judges.builds.results.lines import (
    LogSection,
    RunnerOutput,
    add_values,
    find_error_above,
    is_hook,
)
from prjury.judges.builds.results.report_files import LEFT_OUT

_PANICS = ("panic: ", "fatal error: ")
_STOPPED = "the tests of the package {} stopped early"
#: Lines of the runner's own.
_CHATTER = ("=== ", "--- ", "FAIL", "ok  \t", "exit status ", "coverage: ", "Error Trace:")
_MOST_LINES = 80
_LONGEST_LINE = 500
#: Of more tests at a time only the names are kept.
_MOST_RUNNING = 5_000
_MOST_PACKAGES = 20_000


class _Package(Struct):
    output: deque[str] = field(default_factory=lambda: deque(maxlen=_MOST_LINES))
    running: dict[str, deque[str]] = {}
    broken: set[str] = set()
    failed: bool = False


class GoEvents:
    """The tests of packages by their events; one that fails by its subtests alone is left out."""

    def __init__(self, section: LogSection) -> None:
        self.results = RunnerOutput()
        self._section = section
        self._packages: dict[str, _Package] = {}

    def take_event_and_get_output(self, number: int, event: dict[str, Any]) -> str:
        texts = {key: text for key, text in event.items() if isinstance(text, str)}
        action, output = texts.get("Action", ""), texts.get("Output", "")
        name, test = texts.get("Package", ""), texts.get("Test", "")
        if name and action == "output":
            self.add_output(name, test, output)
        elif name:
            self.record_action(number, action, name, test, broken=bool(event.get("FailedBuild")))
        return output

    def add_output(self, name: str, test: str, output: str) -> None:
        """Take in a line of a test, or of its package where none of that name runs."""
        package = self._package(name)
        package.running.get(test, package.output).append(output.rstrip("\n")[:_LONGEST_LINE])

    def record_action(
        self, number: int, action: str, package_name: str, test: str = "", *, broken: bool = False
    ) -> None:
        """Take in the begin or end of a test, or the end of a package if no test is named."""
        package = self._package(package_name)
        if action == "run" and len(package.running) < _MOST_RUNNING:
            package.running[test] = deque(maxlen=_MOST_LINES)
        elif action in {"pass", "fail", "skip"} and test:
            self._end_test(number, action, package_name, test)
        elif action in {"pass", "fail", "skip"}:
            self._end_package(number, package_name, failed=action == "fail", broken=broken)

    def _package(self, name: str) -> _Package:
        if name not in self._packages and len(self._packages) > _MOST_PACKAGES:
            self._packages.clear()
        return self._packages.setdefault(name, _Package())

    def finish(self) -> RunnerOutput:
        """The results, with a doubt if a package never came to its end."""
        if self._packages:
            self.results.doubts.append(f"the tests of {len(self._packages)} packages did not end")
            self._packages.clear()
        return self.results

    def _end_test(self, number: int, action: str, package_name: str, test: str) -> None:
        package = self._packages[package_name]
        output = package.running.pop(test, deque())
        if action == "skip":
            self.results.skipped += 1
            return
        self.results.ran.append(identity(package_name, test))
        if action == "pass":
            return
        package.failed = True
        logs = any(place[2] for place in map(_parse_indented_file_line_text, output) if place)
        if logs or test not in package.broken:
            failure = make_go_failure(self._section, package_name, test, output)
            self.results.failures.append((number, failure))
        if any(map(_is_panic, output)):
            self.results.doubts.append(_STOPPED.format(package_name))
        while test := test.rpartition("/")[0]:
            package.broken.add(test)

    def _end_package(self, number: int, package_name: str, *, failed: bool, broken: bool) -> None:
        package, failures = self._packages.pop(package_name), list[Failure]()
        if not failed:
            return
        if broken or any("[build failed]" in line for line in package.output):
            text = f"FAIL {package_name} [build failed]"
            failures.append(self._section.failure("goal", text, name=package_name))
            package = _Package(failed=True)
        for test, output in package.running.items():
            self.results.ran.append(identity(package_name, test))
            if not any(other.startswith(f"{test}/") for other in package.running):
                shown = output or package.output
                failures.append(make_go_failure(self._section, package_name, test, shown))
        if package.running or any(map(_is_panic, package.output)):
            self.results.doubts.append(_STOPPED.format(package_name))
        if not (package.running or package.failed):
            lines = [f"FAIL {package_name}", *_list_informative(package.output)]
            text = next(filter(_is_panic, lines), lines[-1])
            failures.append(self._section.failure("error", text, name=package_name))
        self.results.failures += [(number, failure) for failure in failures]


def make_go_failure(section: LogSection, package: str, test: str, lines: Iterable[str]) -> Failure:
    """Return a failing test by what it printed: its panic, or what it logged last."""
    output, path, number = list(lines), None, None
    message = panic = next(filter(_is_panic, output), "")
    for at, line in enumerate(output):
        place = _parse_indented_file_line_text(line)
        if not place:
            continue
        if not panic:
            path, number, text = place
            below = list(takewhile(_is_continued, output[at + 1 :]))
            message = add_values(text, below) if text else ""
        elif not place[0].startswith("/") and section.tree.find_in_package(package, place[0]):
            path, number, _ = place
            break
    texts = _list_informative(line for line in output if not _parse_indented_file_line_text(line))
    message = message or " ".join(islice(texts, 4))
    shown = [line for line in output if not _is_chatter(line)]
    if path is not None:
        path = section.tree.find_in_package(package, path) or path
    failure = section.failure("test", message or "failed", path, number, test, package)
    return with_details(failure, shown)


def _is_panic(line: str) -> bool:
    return line.startswith(_PANICS)


def _is_chatter(line: str) -> bool:
    text = line.strip()
    return not text or text == "PASS" or text.startswith(_CHATTER)


def _is_continued(line: str) -> bool:
    return not line.strip() or (line.startswith(" " * 8) and not line[8:9].isspace())


def _parse_indented_file_line_text(line: str) -> tuple[str, str, str] | None:
    file, suffix, rest = line.strip().partition(".go:")
    number = rest.partition(":")[0].partition(" ")[0]
    if not (suffix and line[:1].isspace() and number.isdecimal()) or " " in file or ":" in file:
        return None
    after = rest[len(number) :]
    if after and not after.startswith((":", " +0x")):
        return None
    return f"{file}.go", number, after[1:].strip() if after.startswith(":") else ""


def _list_informative(output: Iterable[str]) -> Iterator[str]:
    return (line.strip() for line in output if not _is_chatter(line))


def read_go_failures(section: LogSection) -> RunnerOutput:
    """The failing tests by package; the names of others are lines that a test can print."""
    events, start = GoEvents(section), 0
    for index, line in enumerate(section.lines):
        if line.startswith(("ok  \t", "?   \t")):
            start = index + 1
        elif line.startswith("FAIL\t"):
            name, _, broken = line[5:].partition("\t")[0].partition(" [")
            _replay_lines(section, range(start, index), name, events)
            events.record_action(section.numbers[index], "fail", name, broken=bool(broken))
            start = index + 1
    _replay_lines(section, range(start, len(section.lines)), "", events)  # a package without end
    return RunnerOutput(events.results.failures, doubts=events.results.doubts)


def _replay_lines(section: LogSection, span: range, package: str, events: GoEvents) -> None:
    """Take these lines as events, subtests first; with ``-v`` output stands above a heading."""
    output, passed = list[str](), set[str]()
    printed, failing, target = dict[str, list[str]](), dict[str, int](), output
    for index in span:
        line = section.lines[index]
        mark, _, rest = line.strip().partition(" ")
        word, _, name = rest.partition(" ")
        name = name.strip().partition(" (")[0]
        if mark == "===" and word in {"RUN", "CONT", "NAME"}:
            target = printed.setdefault(name, [])
        elif mark == "---" and word == "FAIL:":
            target = printed.setdefault(name, [])
            failing[name] = section.numbers[index]
        elif mark == "---" and word in {"PASS:", "SKIP:"}:
            passed.add(name)
            target = output if name in printed else target
        elif line in {"FAIL", "PASS"}:
            target = output
        else:
            target.append(line)
    bad = printed.keys() - (passed - failing.keys())
    for test in sorted(bad, key=lambda name: (-name.count("/"), name)):
        events.record_action(0, "run", package, test)
        for line in printed[test][:_MOST_LINES]:
            events.add_output(package, test, line)
        if test in failing:  # the others were interrupted
            events.record_action(failing[test], "fail", package, test)
    for line in output[:_MOST_LINES]:
        events.add_output(package, "", line)


#: Some leave out the number, others the name; behind a brace the subtests follow.
_POINT = re.compile(
    r"(?P<bad>not )?ok(?: (?P<number>\d+)(?: -)?(?= |$)| -(?= )|(?= #|$))"
    r"(?: (?!#\s*(?i:SKIP|TODO))(?P<name>.*?))??(?: # time=[\d.]+m?s)?"
    r"(?: #\s*(?P<directive>(?i:SKIP|TODO)\b.*?))?(?P<opens> \{)?$"
)
_PLAN = re.compile(r"1\.\.(\d{1,9})\s*(?:#|$)")
_INDENT = 4
_DEEPEST = 50
_REACH = 40
_SCRIPTS = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx")


class _Point(Struct, frozen=True):
    index: int
    names: tuple[str, ...]
    good: bool
    skipped: bool
    opens: bool


class _StreamState(Struct):
    points: list[_Point] = []
    names: dict[int, str] = {}
    plan: int | None = None
    announced: bool = False
    closed: bool = False
    bailed: bool = False

    def list_subtests(self, at: int) -> list[_Point]:
        depth, parts = len(self.points[at].names), list[_Point]()
        step = 1 if self.points[at].opens else -1
        at += step
        while 0 <= at < len(self.points) and len(self.points[at].names) > depth:
            parts.append(self.points[at])
            at += step
        return parts


def read_tap(section: LogSection) -> RunnerOutput:
    """Return the results of each stream; tests are known by their names and the directory."""
    output, stream = RunnerOutput(), _StreamState()
    for index, line in enumerate(section.lines):
        text = line.lstrip(" ")
        depth = min((len(line) - len(text)) // _INDENT, _DEEPEST)
        match = _POINT.match(text.rstrip()) if text.startswith(("ok", "not ok")) else None
        if match:
            begins = match["number"] == "1" and stream.closed
        else:
            replans = stream.plan is not None and _PLAN.match(line)
            begins = bool(line.startswith("TAP version 1") or replans)
        if begins and not depth:
            _add_tap_results(section, output, stream)
            is_tap = line.startswith("TAP version ") or stream.announced or bool(stream.points)
            stream = _StreamState(announced=is_tap)
        if match:
            stream.points.append(_make_named_point(index, depth, match, stream))
        elif text.startswith("# Subtest: "):
            stream.names[depth] = _unescape(text.removeprefix("# Subtest: "))
        elif not depth and (plan := _PLAN.match(line)):
            stream.plan, stream.closed = int(plan[1]), bool(stream.points)
        elif line.startswith("Bail out!") and (stream.points or stream.announced):
            stream.bailed = True
            output.doubts.append(LEFT_OUT.format("TAP", line[9:].strip() or "bailed out"))
    _add_tap_results(section, output, stream)
    return output


def _unescape(name: str) -> str:
    return name.replace("\\#", "#").replace("\\\\", "\\").strip()


def _make_named_point(index: int, depth: int, match: re.Match[str], stream: _StreamState) -> _Point:
    around = tuple(stream.names.get(level, "") for level in range(depth))
    title = stream.names.pop(depth, "")
    name = _unescape(match["name"] or "") or title
    name = name or f"test {match['number'] or len(stream.points) + 1}"
    if match["opens"]:
        stream.names[depth] = name
    skipped, opens = bool(match["directive"]), bool(match["opens"])
    return _Point(index, (*around, name), not match["bad"], skipped, opens)


def _add_tap_results(section: LogSection, output: RunnerOutput, stream: _StreamState) -> None:
    if not stream.announced and (stream.plan is None or not stream.points):
        return  # lines that happen to begin like this
    roots = sum(len(point.names) == 1 for point in stream.points)
    missing = (stream.plan or 0) - roots
    if missing > 0 and not stream.bailed:
        why = f"{missing} of {stream.plan} planned results are missing"
        output.doubts.append(LEFT_OUT.format("TAP", why))
    names, failing = list[str](), list[tuple[int, Failure]]()
    for at, point in enumerate(stream.points):
        parts = stream.list_subtests(at)
        if point.skipped:
            output.skipped += not parts
            continue
        failure = _read_point_as_failure(section, point)
        if not parts and failure.kind == "test":
            names.append(failure.id)
        if not (point.good or any(not part.good and not part.skipped for part in parts)):
            failing.append((section.numbers[point.index], failure))
    unclear = stream.plan != roots
    output.add_run("the TAP stream", names, failing, len(names), len(failing), unclear=unclear)


def _read_point_as_failure(section: LogSection, point: _Point) -> Failure:
    name = " > ".join(filter(None, point.names))
    if point.good:
        return section.failure("test", "passed", name=name, suite=section.directory)
    block = _list_diagnostics(section.lines[point.index + 1 : point.index + 1 + _REACH])
    message = _read_tap_message(block)
    if name.endswith(_SCRIPTS) and " " not in name:  # a file that cannot be loaded
        message = find_error_above(section.lines, point.index) or message
        return section.failure("error", message, name, None, name)
    path, line = section.find_place(block)
    if is_hook(name):
        return section.failure("error", f"{name}: {message}", path, line, name)
    return section.failure("test", message or "failed", path, line, name, section.directory)


def _list_diagnostics(lines: Sequence[str]) -> list[str]:
    """List the lines about one result: indented or in YAML, or else comments."""
    block, is_yaml = list[str](), False
    for line in lines:
        text = line.strip()
        outside = line and not line[0].isspace() and not line.startswith("#") and not is_yaml
        if outside or text == "..." or text.startswith(("ok ", "not ok ", "# Subtest: ")):
            break
        is_yaml = is_yaml or text == "---"
        if text not in {"---", "#"}:
            block.append(line)
    return block


def _read_tap_message(block: Sequence[str]) -> str:
    lines = [*(line.strip() for line in block), ""]
    for at, line in enumerate(lines):
        key, _, value = line.partition(": ")
        if key in {"error", "message"}:
            text = value.strip().strip("'\"`")
            return add_values(lines[at + 1] if text in {"|-", "|", ">-"} else text, block[at + 2 :])
    texts = [line.lstrip("# ") for line in lines if line.lstrip("# ")]
    return add_values(texts[0], texts[1:]) if texts else ""
