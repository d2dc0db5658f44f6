"""One test case of a JUnit report: whose it is, whether it ran, and why it failed. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import TypeAlias
from xml.etree.ElementTree import Element

from prjury.judges.builds.failure import Failure, Kind, identity, make_failure, with_details
from prjury.judges.builds.results.closing_lines import closing_lines
from prjury.judges.builds.results.error_text import first_frame, with_values
from prjury.judges.builds.results.go import go_failure
from prjury.judges.builds.results.jvm import java_place
from prjury.judges.builds.results.runner_output import LogSection, RunnerOutput
from prjury.judges.builds.results.rust_runners import panic_of
from prjury.judges.builds.results.tree import TreeFiles

_COUNT = re.compile(r"\d{1,9}", re.ASCII)
#: Mocha subtracts here what it counts otherwise elsewhere.
_DIFFERENCE = re.compile(r"-?\d{1,9}", re.ASCII)
_FORMS = {"tests": _COUNT, "failures": _COUNT, "errors": _COUNT, "skipped": _DIFFERENCE}
#: Runners that count more tests than they list: subtests, and what a filter leaves out.
_COUNT_MORE = frozenset({"pytest", "mocha"})
_LONGEST = 40


@dataclass
class _Suite:
    """A suite that is being read; cases and failures of suites within it count as its own."""

    claims: Mapping[str, str]
    cases: int = 0
    broken: int = 0
    children: int = 0


@dataclass
class Claims:
    """Compares suites with their cases, while they are read.

    Attributes:
        contradictions: one clause each.
    """

    contradictions: list[str] = field(default_factory=list)
    _open: list[_Suite] = field(default_factory=list)

    def opened(self, claims: Mapping[str, str]) -> None:
        """A suite, or the whole report, begins."""
        self._open.append(_Suite(claims))

    def case(self, broken: int) -> None:
        """A test case ends that holds so many failures, those of attempts that count no more."""
        if self._open:
            self._open[-1].cases += 1
            self._open[-1].children += 1
            self._open[-1].broken += broken

    def closed(self, runner: str) -> None:
        """The innermost suite ends."""
        suite = self._open.pop()
        self.contradictions += _contradictions(suite, runner)
        if self._open:
            self._open[-1].children += 1
            self._open[-1].cases += suite.cases
            self._open[-1].broken += suite.broken


def _contradictions(suite: _Suite, runner: str) -> Iterator[str]:
    claims = {name: suite.claims[name] for name in _FORMS if suite.claims.get(name)}
    wrong = [name for name, text in claims.items() if not _FORMS[name].fullmatch(text)]
    if wrong:
        yield f'{wrong[0]}="{claims[wrong[0]][:_LONGEST]}" is no number'
        return
    numbers = {name: int(text) for name, text in claims.items()}
    tests = numbers.get("tests", 0)
    failed = max(numbers.get("failures", 0), numbers.get("errors", 0))
    if tests > suite.cases and tests != suite.children and runner not in _COUNT_MORE:
        yield f"a suite counts {tests:,} tests and lists {suite.cases:,}"
    if failed > suite.broken:
        yield f"a suite counts {failed:,} failures and shows {suite.broken:,}"


Place: TypeAlias = tuple[str | None, str | None]

_PYTEST = re.compile(r"(?P<path>[^\s:][^:]{0,300}\.py):(?P<line>\d+): ")
_PYTHON = re.compile(r'(?:E\s+|\s+)File "(?P<path>[^"]{1,300})", line (?P<line>\d+)')


def place_in(lines: Sequence[str], owner: str, tree: TreeFiles, report: str) -> Place:
    """The innermost frame that is in the tree.

    Args:
        owner: the test's class; a frame of its own is preferred to one in the code under test.
        report: where the report lies, to choose between modules with the same class.
    """
    path, line = java_place(lines, owner, tree, report)
    if path:
        return path, line
    python = (_PYTEST.match(text) or _PYTHON.match(text) for text in reversed(lines))
    frames = ((match["path"], match["line"]) for match in python if match)
    for named, at in chain(frames, [first_frame(lines)]):
        if named and (path := tree.find(named)):
            return path, at
    return None, None


#: What pytest and Jest say of a file that cannot be loaded; none of its tests has run.
_UNLOADED = frozenset({"collection failure", "Test suite failed to run"})
#: Messages that say nothing more than that something failed.
_EMPTY = frozenset({"", "Failed", "failed", *_UNLOADED})
_NOT_RUN = frozenset({"notrun", "disabled"})
_HOOK = re.compile(r'"(?:before|after) (?:all|each)" hook')
_PYTEST_MESSAGE = re.compile(r"E\s+(?P<message>\S.*)")
#: Node writes messages of several lines into one, but for the cause of the failure.
_NODE_MESSAGE = re.compile(r"\s+cause: \w+(?: \[\w+\])?: (?P<message>.*:)$")
#: A frame of a stack, and the lines of pytest that show an assertion and its values.
_STACK = re.compile(r"\s*(?:at \S|\.\.\. \d+ more)")
_MARKED = re.compile(r"[>E] ")
_LONGEST_LINE = 2_000
_MOST_LINES = 2_000

#: The runner by the name that it gives to the whole of a report or of a suite.
_BY_NAME = (
    ("pytest", "pytest"),
    ("jest tests", "jest"),
    ("vitest tests", "vitest"),
    ("mocha tests", "mocha"),
    ("nextest", "nextest"),
)
_JVM = re.compile(r"(?:^|/)(?:surefire-reports|failsafe-reports|test-results)/|(?:^|/)TEST-[^/]*$")


def tag(element: Element) -> str:
    """An element's name without its namespace."""
    return str(element.tag).rpartition("}")[2]


@dataclass
class JunitReport:
    """A report as far as it was read.

    Attributes:
        path: where it lies, from the root of the tree.
        relative: takes the tree's own place out of a text.
        label: distinguishes reports of the same tests, run in several ways; usually empty.
        runner: who wrote it, empty where that is not known.
        around: the suites that are open, the outermost first.
        claims: what the suites say of themselves, and whether that is true.
    """

    path: str
    tree: TreeFiles
    relative: Callable[[str], str]
    label: str = ""
    runner: str = ""
    around: list[Mapping[str, str]] = field(default_factory=list)
    claims: Claims = field(default_factory=Claims)
    _files: dict[str, tuple[str, bool]] = field(default_factory=dict)

    def opened(self, element: Element) -> None:
        """A suite, or the whole, begins."""
        name = element.get("name", "").lower()
        self.claims.opened(dict(element.attrib))
        if tag(element) == "testsuite":
            self.around.append(dict(element.attrib))
        if not self.runner:
            found = (runner for begin, runner in _BY_NAME if name.startswith(begin))
            self.runner = next(found, "jvm" if _JVM.search(self.path) else "")

    def closed(self, element: Element) -> None:
        """A suite, or a property of it, ends."""
        if tag(element) in {"testsuites", "testsuite"}:
            self.claims.closed(self.runner)
        if tag(element) == "testsuite" and self.around:
            self.around.pop()
        elif tag(element) == "property" and element.get("name") == "go.version":
            self.runner = "go"

    @cached_property
    def directory(self) -> str:
        """Where the report lies: that of a module, and of one of its test tasks."""
        return posixpath.dirname(self.path)

    def named(self, case: Element) -> None:
        """A test case begins; Node's own runner calls every class ``test``, and itself nothing."""
        if not self.runner and case.get("classname") == "test":
            self.runner = "node"

    def file_of(self, owner: str) -> tuple[str, bool]:
        """The file that a test's class stands for, and whether it is one by its own name.

        Vitest calls a file a class; a Python class is named with its module. Empty for none.
        """
        if owner not in self._files:
            self._files[owner] = self._file_of(owner)
        return self._files[owner]

    def _file_of(self, owner: str) -> tuple[str, bool]:
        named = self.relative(owner)
        if self.runner == "vitest":
            return self.tree.resolved(named), True
        if self.runner not in {"", "pytest"}:
            return "", False
        file = self.tree.find(named) if owner and "/" in owner else None
        return (file, True) if file else (self.tree.module(owner) or "", False)


@dataclass(frozen=True)
class JunitCase:
    """A test case in a report."""

    case: Element
    report: JunitReport

    @property
    def _owner(self) -> str:
        return self.case.get("classname", "")

    @property
    def _name(self) -> str:
        return self.case.get("name", "")

    def _children(self, *names: str) -> Iterator[Element]:
        return (child for child in self.case if tag(child) in names)

    @property
    def skipped(self) -> bool:
        """Whether it did not run, or does not count because it is still to be done."""
        if self.case.get("status") in _NOT_RUN:
            return True
        if not len(self.case):
            return False
        kinds = [child.get("type") for child in self._children("skipped")]
        broken = next(self._children("failure", "error"), None) is not None
        return bool(kinds) and (not broken or kinds == ["todo"])

    @property
    def inside(self) -> RunnerOutput:
        """The tests of which it prints how many there are, or a line each."""
        lines = [
            line for out in self._children("system-out") for line in (out.text or "").splitlines()
        ]
        return closing_lines(LogSection(lines, range(len(lines)), self.report.tree))

    @cached_property
    def kind(self) -> Kind:
        """What a failure of it is: something that is no test may have kept tests from running."""
        if self._name in _UNLOADED or self._owner in _UNLOADED:
            return "compile"
        if len(self.case) and any(
            child.get("message") in _UNLOADED for child in self._children("error", "failure")
        ):
            return "compile"
        if self.report.runner == "vitest" and self._name == self._owner:
            return "compile"
        if self.report.runner == "go" and not self._owner:
            text = next((child.text or "" for child in self._children("failure")), "")
            return "goal" if "[build failed]" in text else "error"
        return "error" if self._is_whole else "test"

    @property
    def _is_whole(self) -> bool:
        """Whether it is no test, but what belongs to several: a class, a file, a hook."""
        if self.report.runner == "mocha":
            return _HOOK.search(self._name) is not None
        if self.report.runner == "node":
            return self.report.relative(self._name) in self.report.tree.known
        return self.report.runner == "jvm" and not self._name

    @cached_property
    def known_as(self) -> tuple[str, str]:
        """Suite and name, the same ones as the runner's own output leads to."""
        suite, name = self._known_as()
        return (f"{suite} ({self.report.label})" if self.report.label else suite), name

    def _known_as(self) -> tuple[str, str]:
        report, owner, name = self.report, self._owner, self._name
        repeated = report.runner in {"jest", "mocha"} and name.endswith(owner)
        full = name if repeated or not owner else f"{owner}#{name}"
        if report.runner == "go":
            return owner or (report.around[-1].get("name", "") if report.around else ""), name
        if report.runner == "nextest":
            return owner, name
        if file := self.case.get("file"):
            return report.tree.resolved(report.relative(file)), full
        if report.runner == "node":
            suites = (suite.get("name", "") for suite in report.around)
            return report.directory, " > ".join([*suites, report.relative(name)])
        suite, itself = report.file_of(owner)
        return suite or report.directory, name if itself else full

    @property
    def ran(self) -> bool:
        """Whether a test of this name ran."""
        return self.kind == "test" and bool(self.known_as[1].strip()) and not self.skipped

    @property
    def id(self) -> str:
        """Its identity."""
        return identity(*self.known_as)

    @property
    def broken(self) -> int:
        """How many failures it holds, those of attempts before the last one included."""
        return sum(tag(child).lower().endswith(("failure", "error")) for child in self.case)

    def failures(self) -> Iterator[Failure]:
        """Why it failed, if it did; a case with subtests may fail several times.

        What failed before the tests were run again, and then passed, is no failure.
        """
        if not len(self.case) or self.skipped:
            return
        for child in self._children("failure", "error"):
            text = self.report.relative((child.text or "")[: _LONGEST_LINE * _MOST_LINES])
            lines = [line[:_LONGEST_LINE] for line in text.splitlines()[:_MOST_LINES]]
            headline = self.report.relative(child.get("message") or "")
            own = _of_node(lines) if self.report.runner == "node" else ""
            yield self._failure(own or _first(headline.splitlines()), lines)

    def _failure(self, headline: str, lines: Sequence[str]) -> Failure:
        """The failure with the lines that show it: no frames of a stack, no setting-up above."""
        return with_details(self._named_failure(headline, lines), _showing(lines))

    def _named_failure(self, headline: str, lines: Sequence[str]) -> Failure:
        suite, name = self.known_as
        tree = self.report.tree
        path, line = place_in(lines, self._owner, tree, self.report.path)
        message = _of_doctest(lines) or ("" if headline in _EMPTY else headline)
        if self.report.runner == "go" and self.kind == "test":
            return go_failure(LogSection((), (), tree), suite, name, list(lines))
        if self.report.runner == "nextest":
            message, path, line = panic_of([text for text in lines if text.strip()])
        elsewhere = self.kind == "compile" and path not in {None, tree.module(self._name)}
        if path is None:
            path, line = self._own_place()
        if not message:
            message = self._first_error(lines)
        if self.kind != "test":  # what many modules import is broken once
            return make_failure(self.kind, message, path, line, None if elsewhere else self._whole)
        return make_failure("test", message, path, line, name, suite)

    @property
    def _whole(self) -> str:
        """What is broken where it is no test."""
        suite, name = self.known_as
        by_runner = {"go": suite, "jvm": self._owner, "mocha": name}
        return by_runner.get(self.report.runner) or self.report.relative(self._name)

    def _first_error(self, lines: Sequence[str]) -> str:
        """The text's first line; for a module that pytest cannot load the error itself."""
        errors = [match["message"] for match in map(_PYTEST_MESSAGE.match, lines) if match]
        if errors and self.kind == "compile":
            return errors[-1]
        return _first(lines) or "failed"

    def _own_place(self) -> tuple[str | None, str | None]:
        """Where the test itself stands."""
        file, at = self.case.get("file"), self.case.get("line", "")
        line = str(int(at) + 1) if at.isascii() and at.isdigit() and len(at) < 9 else None  # noqa: PLR2004
        if file:
            known = self.report.tree.find(self.report.relative(file))
            return known, line if known else None
        names = (*self.known_as, self.report.relative(self._name))
        found = (name for name in names if name in self.report.tree.known)
        return next(found, None), None


def _showing(lines: Sequence[str]) -> list[str]:
    """The lines of a failure's text that show what is wrong: pytest's marked ones, or its head."""
    own = [line for line in lines if line.strip() and not _STACK.match(line)]
    marked = [line for line in own if _MARKED.match(line)]
    return marked if any(line.startswith("E ") for line in marked) else own


def _first(lines: Sequence[str]) -> str:
    """The first line that says something, with the values that it announces."""
    start = next((at for at, line in enumerate(lines) if line.strip()), len(lines))
    return with_values(lines[start], lines[start + 1 :]) if lines[start:] else ""


def _of_node(lines: Sequence[str]) -> str:
    """A message of several lines as Node's own reporter has it, empty for anything else."""
    for at, line in enumerate(lines):
        if match := _NODE_MESSAGE.match(line):
            return with_values(match["message"], lines[at + 1 :])
    return ""


def _of_doctest(lines: Sequence[str]) -> str:
    """What a failing example in documentation expects and gets, empty for anything else."""
    if not lines or not lines[-1].endswith(": DocTestFailure"):
        return ""
    start = next((at for at, line in enumerate(lines) if line == "Expected:"), len(lines))
    return " ".join(line.strip() for line in lines[start:-1] if line.strip())
