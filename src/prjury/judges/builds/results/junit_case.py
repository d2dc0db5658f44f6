"""One test case of a JUnit report: whose it is, whether it ran, and why it failed. Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from xml.etree.ElementTree import Element

from msgspec.structs import replace

from prjury.judges.builds.failure import Failure, Kind, make_failure, with_details
from prjury.judges.builds.results.error_text import (
    add_values,
    find_place,
    read_message,
    strip_escapes,
)
from prjury.judges.builds.results.go import make_go_failure
from prjury.judges.builds.results.runner_output import LogSection, RunnerOutput, is_hook
from prjury.judges.builds.results.runner_reader import read_inside
from prjury.judges.builds.results.tree import TreeFiles

#: The runner by the name that it gives to the whole of a report or of a suite.
_BY_NAME = {
    "pytest": "pytest", "jest tests": "jest", "vitest tests": "vitest", "mocha tests": "mocha",
    "nextest": "nextest",
}  # fmt: skip
_JVM_PLACES = ("/surefire-reports/", "/failsafe-reports/", "/test-results/", "/TEST-")
#: Reports of CTest and Meson, whose tests are programs that may run tests of their own.
_PROGRAMS = ("/ctest", "/TEST-meson", "/testlog.junit.xml")
#: Runners that give no two tests the same name: a name that comes again is another attempt.
_UNIQUE = frozenset({"pytest", "go", "nextest"})

FAILED = frozenset({"failure", "error"})
#: What pytest and Jest say of a file that cannot be loaded; none of its tests has run.
_UNLOADED = frozenset({"collection failure", "Test suite failed to run"})
#: Messages that say nothing more than that something failed.
_EMPTY = frozenset({"", "Failed", "failed", *_UNLOADED})
#: How writers without children for it put the end of a test, in ``status`` or ``result``.
_BAD = frozenset({"failed", "failure", "fail", "error", "errored", "broken"})
_NOT_RUN = frozenset({"notrun", "disabled", "skipped", "ignored", "pending", "suppressed"})
_LONGEST_LINE = 2_000
_MOST_LINES = 2_000


def tag(element: Element) -> str:
    """Return an element's name without its namespace, in small letters."""
    return str(element.tag).rpartition("}")[2].lower()


@dataclass
class JunitReport:
    """A report as far as it was read: its runner, open suites, and most failures that it counts."""

    path: str
    tree: TreeFiles
    relative: Callable[[str], str]
    runner: str = ""
    suites: list[Mapping[str, str]] = field(default_factory=list)
    claimed: int = 0

    def open_suite(self, element: Element) -> None:
        """Begin a suite, or the whole report."""
        if tag(element) == "testsuite":
            self.suites.append(dict(element.attrib))
        for count in (element.get("failures", ""), element.get("errors", "")):
            if count.isascii() and count.isdigit():
                self.claimed = max(self.claimed, int(count[:9]))
        name = element.get("name", "").lower()
        in_place = any(place in f"/{self.path}" for place in _JVM_PLACES)
        by_name = (runner for start, runner in _BY_NAME.items() if name.startswith(start))
        self.runner = self.runner or next(by_name, "jvm" if in_place else "")

    def close(self, element: Element) -> None:
        """End a suite, or a property of it."""
        if tag(element) == "testsuite" and self.suites:
            self.suites.pop()
        elif tag(element) == "property" and element.get("name") == "go.version":
            self.runner = "go"

    @property
    def directory(self) -> str:
        """Where the report lies: that of a module, and of one of its test tasks."""
        return posixpath.dirname(self.path)

    def clean(self, text: str) -> str:
        """Return the text without the tree's own place and a terminal's sequences."""
        return self.relative(strip_escapes(text))

    def find_file(self, owner: str) -> tuple[str, bool]:
        """Return the file that a test's class stands for, and True if the class names the file."""
        name = self.relative(owner)
        if self.runner == "vitest":
            return self.tree.resolve(name), True
        if self.runner not in {"", "pytest"}:
            return "", False
        file = self.tree.find(name) if "/" in owner else None
        return (file, True) if file else (self.tree.module(owner) or "", False)


class JunitCase:
    """A test case of a report: whose `test` it is (suite and name), how it ended, and why.

    Its failure may be of no test (`kind`), or of an attempt that does not count (`shows_failure`).
    A test that is a program prints tests of its own (`inside`).
    """

    def __init__(self, case: Element, report: JunitReport) -> None:
        self._case, self._report = case, report
        if not report.runner and case.get("classname") == "test":
            report.runner = "node"  # its own runner calls every class so, and itself nothing
        self._owner = strip_escapes(case.get("classname", ""))
        self._name = strip_escapes(case.get("name", ""))
        words = [case.get(name, "").lower() for name in ("status", "result")]
        ending = next((word for word in words if word in _BAD or word in _NOT_RUN), "")
        failures = self._list_children(*FAILED)
        kinds = [child.get("type") for child in self._list_children("skipped")]
        self.skipped = kinds == ["todo"] or (not failures and bool(kinds or ending in _NOT_RUN))
        self._failures = failures or [Element("failure")] * (ending in _BAD)
        self.shows_failure = bool(self._failures) or any(
            tag(child).endswith(tuple(FAILED)) for child in case
        )
        self.kind: Kind = self._find_kind()
        self.test = self._identify()
        self.ran = self.kind == "test" and bool(self.test[1].strip()) and not self.skipped
        self.is_unique = report.runner in _UNIQUE and bool(self._name)
        self.inside = self._read_inside()

    def _list_children(self, *names: str) -> list[Element]:
        return [child for child in self._case if tag(child) in names]

    def _read_inside(self) -> RunnerOutput:
        if not any(place in f"/{self._report.path}" for place in _PROGRAMS):
            return RunnerOutput()
        texts = [child.text or "" for child in self._list_children("system-out")]
        lines = [line for text in texts for line in text.splitlines()]
        return read_inside(LogSection(lines, range(len(lines)), self._report.tree))

    def list_inside(self) -> Iterator[Failure]:
        """Yield what failed in a test that is a program."""
        suite, name = self.test
        for _, failure in self.inside.failures:
            yield replace(failure, suite=suite, name=f"{name}: {failure.name}")

    def _find_kind(self) -> Kind:
        report, name, owner = self._report, self._name, self._owner
        words = {name, owner, *(child.get("message") for child in self._failures)}
        if _UNLOADED & words or (report.runner == "vitest" and name == owner):
            return "compile"
        if report.runner == "go" and not owner:
            built = not any("[build failed]" in (child.text or "") for child in self._failures)
            return "error" if built else "goal"
        of_several = {
            "mocha": is_hook(name),
            "node": report.relative(name) in report.tree.paths,
            "jvm": not name,
        }
        return "error" if of_several.get(report.runner) else "test"

    def _identify(self) -> tuple[str, str]:
        report, owner, name = self._report, self._owner, self._name
        if report.runner == "go":
            return owner or (report.suites[-1].get("name", "") if report.suites else ""), name
        if report.runner == "nextest":
            return owner, name
        repeated = report.runner in {"jest", "mocha"} and name.endswith(owner)
        full = name if repeated or not owner else f"{owner}#{name}"
        if file := self._case.get("file"):
            return report.tree.resolve(report.relative(file)), full
        if report.runner == "node":
            suites = (suite.get("name", "") for suite in report.suites)
            return report.directory, " > ".join([*suites, report.relative(name)])
        suite, itself = report.find_file(owner)
        return suite or report.directory, name if itself else full

    @cached_property
    def failure(self) -> Failure | None:
        """Why it failed, None if it did not."""
        bad = [] if self.skipped else self._failures
        return self._read_failure(bad[0]) if bad else None

    def find_attempt(self) -> Failure | None:
        """Return an attempt that failed before one passed."""
        names = ("flakyfailure", "flakyerror", "rerunfailure", "rerunerror")
        attempts = self._list_children(*names)
        if not attempts or self.failure:
            return None
        return replace(self._read_failure(attempts[0]), state="flaky")

    def _read_failure(self, child: Element) -> Failure:
        text = child.text or ""
        if not text.strip():  # Surefire keeps the stack of an attempt in an element of its own
            text = next((below.text or "" for below in child if tag(below) == "stacktrace"), text)
        text = self._report.clean(text[: _LONGEST_LINE * _MOST_LINES])
        lines = [line[:_LONGEST_LINE] for line in text.splitlines()[:_MOST_LINES]]
        message = _break_lines(self._report.clean(child.get("message") or ""))
        headline = _read_first(message.splitlines())
        return with_details(self._place_failure(headline, lines), _list_shown(lines))

    def _place_failure(self, headline: str, lines: Sequence[str]) -> Failure:
        (suite, name), tree, runner = self.test, self._report.tree, self._report.runner
        if runner == "go" and self.kind == "test":
            return make_go_failure(LogSection((), (), tree), suite, name, lines)
        near, last = self._report.path, runner in {"", "pytest"}
        path, line = find_place(lines, tree, owner=self._owner, near=near, last=last)
        message = "" if headline in _EMPTY else headline
        if runner == "nextest":
            message = read_message(lines)
        elif not message and "Expected:" in lines:  # an example in documentation
            message = " ".join(" ".join(lines[lines.index("Expected:") :][:4]).split())
        if self.kind == "compile" and not message:  # what pytest marks is the error itself
            marked = [text[1:].strip() for text in lines if text.startswith("E ")]
            message = next(filter(None, reversed(marked)), "")
        message = message or _read_first(lines) or "failed"
        elsewhere = self.kind == "compile" and path not in {None, tree.module(self._name)}
        if path is None:
            path, line = self._find_own_place()
        if self.kind == "test":
            return make_failure("test", message, path, line, name, suite)
        whole = {"go": suite, "jvm": self._owner, "mocha": name}.get(runner)
        whole = whole or self._report.relative(self._name)
        # what many modules import is broken once
        return make_failure(self.kind, message, path, line, None if elsewhere else whole)

    def _find_own_place(self) -> tuple[str | None, str | None]:
        paths, relative = self._report.tree.paths, self._report.relative
        if file := self._case.get("file"):
            path, at = self._report.tree.find(relative(file)), self._case.get("line", "")
            is_line = path and at.isascii() and at.isdigit() and len(at) < 9  # noqa: PLR2004
            return path, str(int(at) + 1) if is_line else None
        for name in (*self.test, relative(self._name)):
            if name in paths:
                return name, None
        return None, None


def _break_lines(message: str) -> str:
    r"""Break a message of several lines, of which a writer has put ``\n`` for their ends."""
    one_line = "\n" not in message and ":\\" not in message
    return message.replace("\\n", "\n") if one_line else message


def _list_shown(lines: Sequence[str]) -> list[str]:
    """List the lines of a failure's text that show what is wrong: pytest's marked ones, or all."""
    own = [line for line in lines if line.strip() and not line.lstrip().startswith(("at ", "... "))]
    marked = [line for line in own if line.startswith((">", "E "))]
    return marked if any(line.startswith("E ") for line in marked) else own


def _read_first(lines: Sequence[str]) -> str:
    """Return the first line that says something, with the values that it announces."""
    for at, line in enumerate(lines):
        if line.strip():
            return add_values(line, lines[at + 1 :])
    return ""
