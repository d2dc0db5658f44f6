"""``go test``: the events of ``-json``, and the output for people."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from prjury.judges.builds.failure import Failure, identity, with_details
from prjury.judges.builds.results.error_text import with_values
from prjury.judges.builds.results.runner_output import LogSection, RunnerOutput
from prjury.judges.builds.results.tree import TreeFiles

_PANICS = ("panic: ", "fatal error: ")
#: Lines of the runner's own.
_CHATTER = ("=== ", "--- ", "FAIL", "ok  \t", "exit status ", "coverage: ")

_MOST_LINES = 80
_LONGEST_LINE = 500
#: Of more tests at a time only the names are kept.
_MOST_RUNNING = 5_000
_MOST_PACKAGES = 20_000


@dataclass
class _Package:
    output: deque[str] = field(default_factory=lambda: deque(maxlen=_MOST_LINES))
    running: dict[str, deque[str]] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    failed: bool = False


class GoEvents:
    """The tests of the packages, as their events come in.

    A test is known by its package and its name. A test that fails by its subtests alone is left
    out: they hold more details.

    Attributes:
        results: what was read so far.
    """

    def __init__(self, tree: TreeFiles, directory: str | None = None) -> None:
        """Starts with nothing."""
        self.results = RunnerOutput()
        self._section = LogSection((), (), tree, tree.directory if directory is None else directory)
        self._packages: dict[str, _Package] = {}

    def read(self, number: int, event: dict[str, Any]) -> str:
        """Takes in one event and returns what it prints."""
        action, output = _text(event, "Action"), _text(event, "Output")
        name, test = _text(event, "Package"), _text(event, "Test")
        if name and action == "output":
            self.add_output(name, test, output)
        elif name:
            self.take(number, action, name, test, broken=bool(event.get("FailedBuild")))
        return output

    def add_output(self, name: str, test: str, output: str) -> None:
        """A line of a test's output, or of its package's where none of that name runs."""
        package = self._package(name)
        package.running.get(test, package.output).append(output.rstrip("\n")[:_LONGEST_LINE])

    def take(
        self, number: int, action: str, name: str, test: str = "", *, broken: bool = False
    ) -> None:
        """A test begins or ends, or a package ends if no test is named."""
        package = self._package(name)
        if action == "run" and len(package.running) < _MOST_RUNNING:
            package.running[test] = deque(maxlen=_MOST_LINES)
        elif action in {"pass", "fail", "skip"} and test:
            self._test_ended(number, action, name, test)
        elif action in {"pass", "fail", "skip"}:
            self._package_ended(number, name, failed=action == "fail", broken=broken)

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

    def _test_ended(self, number: int, action: str, name: str, test: str) -> None:
        package = self._packages[name]
        output = package.running.pop(test, deque())
        if action == "skip":
            self.results.skipped += 1
            return
        self.results.ran.append(identity(name, test))
        if action == "pass":
            return
        package.failed = True
        panic = any(map(_is_panic, output))
        by_parts = test in package.broken and not (panic and _is_own(test, output))
        if not by_parts or any(place[2] for place in map(_read_place, output) if place):
            self._fail(number, self._failure(name, test, output))
        if panic:
            self._cut_short(name)
        if panic and by_parts:
            self._blame_panic(name, test, output)
        parent = test.rpartition("/")[0]
        while parent:
            package.broken.add(parent)
            parent = parent.rpartition("/")[0]

    def _package_ended(self, number: int, name: str, *, failed: bool, broken: bool) -> None:
        package = self._packages.pop(name)
        if not failed:
            return
        if broken or any("[build failed]" in line for line in package.output):
            text = f"FAIL {name} [build failed]"
            self._fail(number, self._section.failure("goal", text, name=name))
            return
        for test, output in package.running.items():
            package.failed = True
            self.results.ran.append(identity(name, test))
            if not any(other.startswith(f"{test}/") for other in package.running):
                self._fail(number, self._failure(name, test, output or package.output))
        if package.running or any(map(_is_panic, package.output)):
            self._cut_short(name)
        if not (package.running or package.failed):
            lines = [f"FAIL {name}", *_informative(package.output)]
            text = next(filter(_is_panic, lines), lines[-1])
            self._fail(number, self._section.failure("error", text, name=name))

    def _blame_panic(self, name: str, parent: str, output: Iterable[str]) -> None:
        """The panic of a subtest, which is its parent's output: the last one to fail did it."""
        for at, (number, failure) in reversed([*enumerate(self.results.failures)][-_MOST_LINES:]):
            test = failure.name or ""
            if failure.suite == name and test.startswith(f"{parent}/"):
                self.results.failures[at] = (number, self._failure(name, test, output))
                return

    def _cut_short(self, name: str) -> None:
        self.results.doubts.append(f"the tests of the package {name} stopped early")

    def _fail(self, number: int, failure: Failure) -> None:
        self.results.failures.append((number, failure))

    def _failure(self, package: str, test: str, output: Iterable[str]) -> Failure:
        return go_failure(self._section, package, test, list(output))


def _text(event: dict[str, Any], key: str) -> str:
    value = event.get(key, "")
    return value if isinstance(value, str) else ""


def go_failure(section: LogSection, package: str, test: str, output: list[str]) -> Failure:
    """Return a failing test by what it printed: its panic, or what it logged last."""
    panic = next((line for line in output if _is_panic(line)), "")
    path = number = None
    message = panic
    for at, line in enumerate(output):
        place = _read_place(line)
        if not place:
            continue
        if not panic:
            path, number, text = place
            below = list(takewhile(_is_continued, output[at + 1 :]))
            message = with_values(text, below) if text else ""
        elif not place[0].startswith("/") and section.tree.of_package(package, place[0]):
            path, number, _ = place
            break
    message = message or _read_assertion(output) or " ".join(list(_informative(output))[:4])
    shown = [line for line in output if not _is_chatter(line)]
    if path is not None:
        path = section.tree.of_package(package, path) or path
    return with_details(section.test(test, package, message, path, number), shown)


def _is_panic(line: str) -> bool:
    return line.startswith(_PANICS)


def _is_chatter(line: str) -> bool:
    text = line.strip()
    return not text or text == "PASS" or text.startswith(_CHATTER)


def _is_continued(line: str) -> bool:
    """Go indents what belongs to a logged line by eight blanks."""
    return not line.strip() or (line.startswith(" " * 8) and not line[8:9].isspace())


def _read_place(line: str) -> tuple[str, str, str] | None:
    file, suffix, rest = line.strip().partition(".go:")
    number = rest.partition(":")[0].partition(" ")[0]
    if not (suffix and line[:1].isspace() and number.isdecimal()) or " " in file or ":" in file:
        return None
    after = rest[len(number) :]
    if after and not after.startswith((":", " +0x")):
        return None
    return f"{file}.go", number, after[1:].strip() if after.startswith(":") else ""


def _is_own(test: str, output: Iterable[str]) -> bool:
    """A panic is the test's own, not a subtest's: its function is being executed."""
    return any(f".{test}(" in line and not line[:1].isspace() for line in output)


def _read_assertion(output: Sequence[str]) -> str:
    """Return what an assertion of testify says, with the values below it."""
    for at, line in enumerate(output):
        label, colon, message = line.strip().partition(":")
        if label == "Error" and colon and message.strip() and line[:1].isspace():
            below = [text.strip() for text in output[at + 1 : at + 3]]
            values = [text for text in below if text.startswith(("expected", "actual"))]
            return with_values(message, values)
    return ""


def _informative(output: Iterable[str]) -> Iterable[str]:
    return (line.strip() for line in output if not _is_chatter(line))


def go(section: LogSection) -> RunnerOutput:
    """The failing tests by package; the names of others are lines that a test can print."""
    events, start = GoEvents(section.tree, section.directory), 0
    for index, line in enumerate(section.lines):
        if line.startswith(("ok  \t", "?   \t")):
            start = index + 1
        elif line.startswith("FAIL\t"):
            name, _, broken = line[5:].partition("\t")[0].partition(" [")
            _replay(section, range(start, index), name, events)
            events.take(section.numbers[index], "fail", name, broken=bool(broken))
            start = index + 1
    _replay(section, range(start, len(section.lines)), "", events)  # a package that never ended
    output_read = events.results
    return RunnerOutput(output_read.failures, doubts=output_read.doubts)


def _replay(section: LogSection, span: range, package: str, events: GoEvents) -> None:
    """The failing tests among these lines as events: each with its output, subtests first."""
    output, good = list[str](), set[str]()
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
            good.add(name)
            target = output if name in printed else target
        elif line in {"FAIL", "PASS"}:
            target = output
        else:
            target.append(line)
    bad = printed.keys() - (good - failing.keys())
    for test in sorted(bad, key=lambda name: (-name.count("/"), name)):
        events.take(0, "run", package, test)
        for line in printed[test][:_MOST_LINES]:
            events.add_output(package, test, line)
        if test in failing:  # the others were interrupted
            events.take(failing[test], "fail", package, test)
    for line in output[:_MOST_LINES]:
        events.add_output(package, "", line)
