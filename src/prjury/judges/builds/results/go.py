"""``go test``: the events of ``-json``, and the output for people."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from prjury.judges.builds.failure import Failure, identity, with_details
from prjury.judges.builds.results.error_text import add_values
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
    """The tests of packages by their events; one that fails by its subtests alone is left out."""

    def __init__(self, tree: TreeFiles, directory: str | None = None) -> None:
        self.results = RunnerOutput()
        self._section = LogSection((), (), tree, tree.directory if directory is None else directory)
        self._packages: dict[str, _Package] = {}

    def read(self, number: int, event: dict[str, Any]) -> str:
        """Take in one event and return what it prints."""
        texts = {key: text for key, text in event.items() if isinstance(text, str)}
        action, output = texts.get("Action", ""), texts.get("Output", "")
        name, test = texts.get("Package", ""), texts.get("Test", "")
        if name and action == "output":
            self.add_output(name, test, output)
        elif name:
            self.take(number, action, name, test, broken=bool(event.get("FailedBuild")))
        return output

    def add_output(self, name: str, test: str, output: str) -> None:
        """Take in a line of a test, or of its package where none of that name runs."""
        package = self._package(name)
        package.running.get(test, package.output).append(output.rstrip("\n")[:_LONGEST_LINE])

    def take(
        self, number: int, action: str, name: str, test: str = "", *, broken: bool = False
    ) -> None:
        """Take in the begin or end of a test, or the end of a package if no test is named."""
        package = self._package(name)
        if action == "run" and len(package.running) < _MOST_RUNNING:
            package.running[test] = deque(maxlen=_MOST_LINES)
        elif action in {"pass", "fail", "skip"} and test:
            self._end_test(number, action, name, test)
        elif action in {"pass", "fail", "skip"}:
            self._end_package(number, name, failed=action == "fail", broken=broken)

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

    def _end_test(self, number: int, action: str, name: str, test: str) -> None:
        package = self._packages[name]
        output = package.running.pop(test, deque())
        if action == "skip":
            self.results.skipped += 1
            return
        self.results.ran.append(identity(name, test))
        if action == "pass":
            return
        package.failed = True
        logs = any(place[2] for place in map(_read_place, output) if place)
        if logs or test not in package.broken:
            self._fail(number, make_go_failure(self._section, name, test, output))
        if any(map(_is_panic, output)):
            self._note_stop(name)
        parent = test.rpartition("/")[0]
        while parent:
            package.broken.add(parent)
            parent = parent.rpartition("/")[0]

    def _end_package(self, number: int, name: str, *, failed: bool, broken: bool) -> None:
        package = self._packages.pop(name)
        if not failed:
            return
        if broken or any("[build failed]" in line for line in package.output):
            text = f"FAIL {name} [build failed]"
            self._fail(number, self._section.failure("goal", text, name=name))
            return
        for test, output in package.running.items():
            self.results.ran.append(identity(name, test))
            if not any(other.startswith(f"{test}/") for other in package.running):
                shown = output or package.output
                self._fail(number, make_go_failure(self._section, name, test, shown))
        if package.running or any(map(_is_panic, package.output)):
            self._note_stop(name)
        if not (package.running or package.failed):
            lines = [f"FAIL {name}", *_list_informative(package.output)]
            text = next(filter(_is_panic, lines), lines[-1])
            self._fail(number, self._section.failure("error", text, name=name))

    def _note_stop(self, name: str) -> None:
        self.results.doubts.append(f"the tests of the package {name} stopped early")

    def _fail(self, number: int, failure: Failure) -> None:
        self.results.failures.append((number, failure))


def make_go_failure(section: LogSection, package: str, test: str, lines: Iterable[str]) -> Failure:
    """Return a failing test by what it printed: its panic, or what it logged last."""
    output, path, number = list(lines), None, None
    message = panic = next(filter(_is_panic, output), "")
    for at, line in enumerate(output):
        place = _read_place(line)
        if not place:
            continue
        if not panic:
            path, number, text = place
            below = list(takewhile(_is_continued, output[at + 1 :]))
            message = add_values(text, below) if text else ""
        elif not place[0].startswith("/") and section.tree.of_package(package, place[0]):
            path, number, _ = place
            break
    message = message or _read_assertion(output) or " ".join(list(_list_informative(output))[:4])
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


def _read_assertion(output: Iterable[str]) -> str:
    """Return what an assertion of testify says, with the values below it."""
    texts = [line.strip() for line in output if line[:1].isspace()]
    for at, text in enumerate(texts):
        label, _, message = text.partition(":")
        if label == "Error" and message.strip():
            return add_values(message, texts[at + 1 : at + 3])
    return ""


def _list_informative(output: Iterable[str]) -> Iterator[str]:
    return (line.strip() for line in output if not _is_chatter(line))


def read_go(section: LogSection) -> RunnerOutput:
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
    return RunnerOutput(events.results.failures, doubts=events.results.doubts)


def _replay(section: LogSection, span: range, package: str, events: GoEvents) -> None:
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
        events.take(0, "run", package, test)
        for line in printed[test][:_MOST_LINES]:
            events.add_output(package, test, line)
        if test in failing:  # the others were interrupted
            events.take(failing[test], "fail", package, test)
    for line in output[:_MOST_LINES]:
        events.add_output(package, "", line)
