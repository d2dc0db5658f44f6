"""One test case of a JUnit report: whose it is, whether it ran, and why it failed. Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from xml.etree.ElementTree import Element

from msgspec.structs import replace

from prjury.judges.builds.failure import Failure, Kind, make_failure, with_details
from prjury.judges.builds.results.error_text import add_values, read_message
from prjury.judges.builds.results.go import make_go_failure
from prjury.judges.builds.results.places import find_place
from prjury.judges.builds.results.runner_output import LogSection, RunnerOutput
from prjury.judges.builds.results.runner_reader import read_inside
from prjury.judges.builds.results.terminal import strip_escapes
from prjury.judges.builds.results.tree import TreeFiles

#: The runner by the name that it gives to the whole of a report or of a suite.
_BY_NAME = {
    "pytest": "pytest", "jest tests": "jest", "vitest tests": "vitest", "mocha tests": "mocha",
    "nextest": "nextest",
}  # fmt: skip
_JVM_PLACES = ("surefire-reports/", "failsafe-reports/", "test-results/")
#: Runners that give no two tests the same name: a name that comes again is another attempt.
_UNIQUE = frozenset({"pytest", "go", "nextest"})

#: What pytest and Jest say of a file that cannot be loaded; none of its tests has run.
_UNLOADED = frozenset({"collection failure", "Test suite failed to run"})
#: Messages that say nothing more than that something failed.
_EMPTY = frozenset({"", "Failed", "failed", *_UNLOADED})
#: How writers without children for it put the end of a test, in ``status`` or ``result``.
_BAD = frozenset({"failed", "failure", "fail", "error", "errored", "broken"})
_NOT_RUN = frozenset({"notrun", "disabled", "skipped", "ignored", "pending", "suppressed"})
_HOOKS = ('"before all" hook', '"after all" hook', '"before each" hook', '"after each" hook')
_LONGEST_LINE = 2_000
_MOST_LINES = 2_000


def tag(element: Element) -> str:
    """Return an element's name without its namespace, in small letters."""
    return str(element.tag).rpartition("}")[2].lower()


@dataclass
class JunitReport:
    """A report as far as it was read.

    Attributes:
        path: where it lies, from the root of the tree.
        relative: takes the tree's own place out of a text.
        runner: who wrote it, empty where that is not known.
        suites: those that are open, the outermost first.
        label: distinguishes it from reports of the same tests.
        claimed: how many failures a suite of it counts.
    """

    path: str
    tree: TreeFiles
    relative: Callable[[str], str]
    runner: str = ""
    suites: list[Mapping[str, str]] = field(default_factory=list)
    label: str = ""
    claimed: int = 0
    _files: dict[str, tuple[str, bool]] = field(default_factory=dict)

    def open_suite(self, element: Element) -> None:
        """Begin a suite, or the whole report."""
        if tag(element) == "testsuite":
            self.suites.append(dict(element.attrib))
        for count in (element.get("failures", ""), element.get("errors", "")):
            if count.isascii() and count.isdigit():
                self.claimed = max(self.claimed, int(count[:9]))
        if self.runner:
            return
        name = element.get("name", "").lower()
        for beginning, runner in _BY_NAME.items():
            if name.startswith(beginning):
                self.runner = runner
                return
        in_place = any(f"/{place}" in f"/{self.path}" for place in _JVM_PLACES)
        if in_place or posixpath.basename(self.path).startswith("TEST-"):
            self.runner = "jvm"

    def close(self, element: Element) -> None:
        """End a suite, or a property of it."""
        if tag(element) == "testsuite" and self.suites:
            self.suites.pop()
        elif tag(element) == "property" and element.get("name") == "go.version":
            self.runner = "go"

    def begin_case(self, case: Element) -> None:
        """Note a test case; Node's own runner calls every class ``test``, and itself nothing."""
        if not self.runner and case.get("classname") == "test":
            self.runner = "node"

    @property
    def directory(self) -> str:
        """Where the report lies: that of a module, and of one of its test tasks."""
        return posixpath.dirname(self.path)

    @property
    def programs(self) -> bool:
        """CTest and Meson wrote it: a test is a program that may run tests of its own."""
        name = posixpath.basename(self.path)
        return name.startswith(("ctest", "TEST-meson")) or name == "testlog.junit.xml"

    def clean(self, text: str) -> str:
        """Return the text without the tree's own place and a terminal's sequences."""
        return self.relative(strip_escapes(text))

    def find_file(self, owner: str) -> tuple[str, bool]:
        """Return the file that a test's class stands for, and True if the class names the file."""
        if owner not in self._files:
            self._files[owner] = self._find_file(owner)
        return self._files[owner]

    def _find_file(self, owner: str) -> tuple[str, bool]:
        name = self.relative(owner)
        if self.runner == "vitest":
            return self.tree.resolve(name), True
        if self.runner not in {"", "pytest"}:
            return "", False
        file = self.tree.find(name) if owner and "/" in owner else None
        return (file, True) if file else (self.tree.module(owner) or "", False)


@dataclass(frozen=True)
class JunitCase:
    """A test case in a report."""

    case: Element
    report: JunitReport

    @cached_property
    def _owner(self) -> str:
        return strip_escapes(self.case.get("classname", ""))

    @cached_property
    def _name(self) -> str:
        return strip_escapes(self.case.get("name", ""))

    def _children(self, *names: str) -> Iterator[Element]:
        return (child for child in self.case if tag(child) in names)

    @cached_property
    def _end(self) -> str:
        """How the test ended, as far as attributes say."""
        for name in ("status", "result"):
            word = self.case.get(name, "").lower()
            if word in _BAD or word in _NOT_RUN:
                return word
        return ""

    @cached_property
    def skipped(self) -> bool:
        """It did not run, or does not count because it is still to be done."""
        kinds = [child.get("type") for child in self._children("skipped")]
        broken = next(self._children("failure", "error"), None) is not None
        if kinds:
            return not broken or kinds == ["todo"]
        return self._end in _NOT_RUN and not broken

    @cached_property
    def _inside(self) -> RunnerOutput:
        """What the test prints of tests of its own."""
        if not self.report.programs:
            return RunnerOutput()
        lines = [
            line for out in self._children("system-out") for line in (out.text or "").splitlines()
        ]
        return read_inside(LogSection(lines, range(len(lines)), self.report.tree))

    def count_inside(self) -> int:
        """Count the tests of a test that is a program."""
        return self._inside.counted + len(self._inside.ran)

    def list_inside(self) -> list[Failure]:
        """List what failed in a test that is a program."""
        suite, name = self.known_as
        failing = (one for _, one in self._inside.failures)
        return [replace(one, suite=suite, name=f"{name}: {one.name}") for one in failing]

    @cached_property
    def kind(self) -> Kind:
        """The kind of a failure: something that is no test may have kept tests from running."""
        if self._name in _UNLOADED or self._owner in _UNLOADED:
            return "compile"
        if any(child.get("message") in _UNLOADED for child in self._children("error", "failure")):
            return "compile"
        if self.report.runner == "vitest" and self._name == self._owner:
            return "compile"
        if self.report.runner == "go" and not self._owner:
            text = next((child.text or "" for child in self._children("failure")), "")
            return "goal" if "[build failed]" in text else "error"
        return "error" if self._is_whole else "test"

    @property
    def _is_whole(self) -> bool:
        """It is no test, but what belongs to several: a class, a file, a hook."""
        if self.report.runner == "mocha":
            return any(hook in self._name for hook in _HOOKS)
        if self.report.runner == "node":
            return self.report.relative(self._name) in self.report.tree.known
        return self.report.runner == "jvm" and not self._name

    @cached_property
    def known_as(self) -> tuple[str, str]:
        """Suite and name, the same ones as the runner's own output leads to."""
        report, owner, name = self.report, self._owner, self._name
        repeated = report.runner in {"jest", "mocha"} and name.endswith(owner)
        full = name if repeated or not owner else f"{owner}#{name}"
        label = _find_environment(report.path)
        mark = f" ({label})" if label else ""
        if report.runner == "go":
            return owner or (report.suites[-1].get("name", "") if report.suites else ""), name
        if report.runner == "nextest":
            return owner, name
        if file := self.case.get("file"):
            return report.tree.resolve(report.relative(file)) + mark, full
        if report.runner == "node":
            suites = (suite.get("name", "") for suite in report.suites)
            return report.directory, " > ".join([*suites, report.relative(name)])
        suite, itself = report.find_file(owner)
        return (suite or report.directory) + mark, name if itself else full

    @property
    def ran(self) -> bool:
        """A test of this name ran."""
        return self.kind == "test" and bool(self.known_as[1].strip()) and not self.skipped

    @property
    def is_unique(self) -> bool:
        """No other test has its name."""
        return self.report.runner in _UNIQUE and bool(self._name)

    def failure(self) -> Failure | None:
        """Return why it failed, None if it did not."""
        if self.skipped:
            return None
        failures = list(self._children("failure", "error"))
        if failures:
            return self._read_failure(failures[0])
        if self._end in _BAD:
            return self._read_failure(Element("failure"))
        return None

    @property
    def shows_failure(self) -> bool:
        """It shows a failure, also one that does not count, such as an attempt's."""
        bad = any(tag(child).endswith(("failure", "error")) for child in self.case)
        return bad or self._end in _BAD

    def attempts(self) -> list[Failure]:
        """List the attempts that failed before one passed, one of each test."""
        if not len(self.case) or self.failure():
            return []
        attempts = self._children("flakyfailure", "flakyerror", "rerunfailure", "rerunerror")
        return [replace(self._read_failure(one), state="flaky") for one in attempts][:1]

    def _read_failure(self, child: Element) -> Failure:
        text = child.text or ""
        if not text.strip():  # Surefire keeps the stack of an attempt in an element of its own
            text = next((one.text or "" for one in child if tag(one) == "stacktrace"), text)
        text = self.report.clean(text[: _LONGEST_LINE * _MOST_LINES])
        lines = [line[:_LONGEST_LINE] for line in text.splitlines()[:_MOST_LINES]]
        message = _break_lines(self.report.clean(child.get("message") or ""))
        headline = _read_first(message.splitlines())
        return with_details(self._place_failure(headline, lines), _list_shown(lines))

    def _place_failure(self, headline: str, lines: Sequence[str]) -> Failure:
        suite, name = self.known_as
        tree, runner = self.report.tree, self.report.runner
        message = _read_doctest(lines) or ("" if headline in _EMPTY else headline)
        if runner == "go" and self.kind == "test":
            return make_go_failure(LogSection((), (), tree), suite, name, lines)
        path, line = find_place(
            lines, tree, owner=self._owner, near=self.report.path, last=runner in {"", "pytest"}
        )
        if runner == "nextest":
            message = read_message(lines)
        elsewhere = self.kind == "compile" and path not in {None, tree.module(self._name)}
        if path is None:
            path, line = self._find_own_place()
        message = message or self._read_first_error(lines)
        if self.kind != "test":  # what many modules import is broken once
            return make_failure(self.kind, message, path, line, None if elsewhere else self._whole)
        return make_failure("test", message, path, line, name, suite)

    @property
    def _whole(self) -> str:
        """What is broken where it is no test."""
        suite, name = self.known_as
        by_runner = {"go": suite, "jvm": self._owner, "mocha": name}
        return by_runner.get(self.report.runner) or self.report.relative(self._name)

    def _read_first_error(self, lines: Sequence[str]) -> str:
        """Return the text's first line; for a module that pytest cannot load the error itself."""
        if self.kind == "compile":
            for line in reversed(lines):
                if line.startswith("E ") and line[1:].strip():
                    return line[1:].strip()
        return _read_first(lines) or "failed"

    def _find_own_place(self) -> tuple[str | None, str | None]:
        """Return where the test itself stands."""
        file, at = self.case.get("file"), self.case.get("line", "")
        line = str(int(at) + 1) if at.isascii() and at.isdigit() and len(at) < 9 else None  # noqa: PLR2004
        if file:
            path = self.report.tree.find(self.report.relative(file))
            return path, line if path else None
        for name in (*self.known_as, self.report.relative(self._name)):
            if name in self.report.tree.known:
                return name, None
        return None, None


def _find_environment(path: str) -> str:
    """Return the environment of tox that wrote a report, by its name ``pytest-1-py312.xml``."""
    directory, _, name = path.rpartition("/")
    if posixpath.basename(directory) != "reports" or not name.startswith("pytest-"):
        return ""
    step, dash, label = name.removeprefix("pytest-").removesuffix(".xml").partition("-")
    environment = label if step.isdigit() else f"{step}{dash}{label}"
    return "" if environment.startswith("$") else environment


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


def _read_doctest(lines: Sequence[str]) -> str:
    """Return what a failing example in documentation expects and gets, empty for anything else."""
    if not lines or not lines[-1].endswith(": DocTestFailure") or "Expected:" not in lines:
        return ""
    start = lines.index("Expected:")
    return " ".join(line.strip() for line in lines[start:-1] if line.strip())
