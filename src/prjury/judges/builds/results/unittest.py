"""The output of Python's own ``unittest``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from prjury.judges.builds.failure import Failure, identity
from prjury.judges.builds.results.runner_output import LogSection, RunnerOutput, RunnerRun

_HEADING = re.compile(
    r"(?P<what>FAIL|ERROR|UNEXPECTED SUCCESS): (?P<test>\S+) \((?P<owner>[\w.<>]+)\)"
)
_VERBOSE = re.compile(r"(?P<test>\w+) \((?P<owner>[\w.]+)\)(?P<rest>(?: \.\.\. ?(?P<status>.*))?)$")
_DOCUMENTED = re.compile(r".* \.\.\. (?P<status>.*)$")
_STATUS = re.compile(r"(?:ok|FAIL|ERROR|expected failure|unexpected success)?")
_SKIPPED = re.compile(r"skipped\b")
_END = re.compile(r"Ran (?P<count>\d{1,9}) tests? in [\d.]+s$")
_TOTALS = re.compile(r"(?:OK|FAILED)(?: \((?P<totals>.*)\))?$")
_TOTAL = re.compile(r"(?P<what>[a-z ]+)=(?P<number>\d{1,9})")
_FRAME = re.compile(r'  File "(?P<path>[^"/<][^"]*)", line (?P<line>\d+)')

_LOADING = "_FailedTest"
_REACH = 60


def unittest(section: LogSection) -> RunnerOutput:
    """The headings with their tracebacks; names where it is verbose."""
    results, run = RunnerOutput(), _Run(section)
    for index, line in enumerate(section.lines):
        if match := _END.match(line):
            results.settle(run.ended(int(match["count"]), section.lines[index + 1 : index + 4]))
            run = _Run(section)
        else:
            run.take(index, line)
    results.failures += run.failing
    return results


class _Run:
    """One run, line by line."""

    def __init__(self, section: LogSection) -> None:
        self._section = section
        self._named: list[str] = []
        self._skipped = 0
        self._waiting: tuple[str, str] | None = None
        self.failing: list[tuple[int, Failure]] = []

    def take(self, index: int, line: str) -> None:
        """One line of its output."""
        if match := _HEADING.match(line):
            self.failing.append((self._section.numbers[index], self._failure(index, match)))
        elif match := _VERBOSE.match(line):
            self._waiting = (match["test"], match["owner"])
            if match["rest"]:
                self._take_status(match["status"])
        elif self._waiting and (match := _DOCUMENTED.match(line)):
            self._take_status(match["status"])
        else:
            self._waiting = None

    def _take_status(self, status: str) -> None:
        """How the test that was named last ended."""
        test, owner = self._waiting or ("", "")
        self._waiting = None
        if test.startswith(("setUp", "tearDown")) or _LOADING in owner:
            return
        if _SKIPPED.match(status):
            self._skipped += 1
        elif _STATUS.fullmatch(status):
            self._named.append(identity(*self._known_as(test, owner)))

    def _known_as(self, test: str, owner: str) -> tuple[str, str]:
        """Suite and name as pytest has them too; newer Pythons repeat the test in the owner."""
        owner = owner.removesuffix(f".{test}")
        return self._section.tree.module(owner) or "", f"{owner}#{test}"

    def _failure(self, index: int, match: re.Match[str]) -> Failure:
        section, frame, message = self._section, None, match["what"].lower()
        reach = _REACH if match["what"] != "UNEXPECTED SUCCESS" else 0
        for below in section.lines[index + 2 : index + reach]:
            if found := _FRAME.match(below):
                known = section.tree.find(found["path"], section.directory)
                frame = found if known or frame is None else frame
            elif below and not below[0].isspace() and not below.startswith(_PREAMBLE):
                message = below
                break
        path, line = (frame["path"], frame["line"]) if frame else (None, None)
        test, owner = match["test"], match["owner"]
        if _LOADING in owner:
            return section.failure("compile", message, path, line, test)
        if test.startswith(("setUp", "tearDown")):
            return section.failure("error", f"{test}: {message}", path, line, owner)
        suite, name = self._known_as(test, owner)
        return section.test(name, suite, message, path, line)

    def ended(self, count: int, below: Sequence[str]) -> RunnerRun:
        """What it comes to, by its closing lines."""
        totals = next((match["totals"] for match in map(_TOTALS.match, below) if match), None)
        found = {m["what"].strip(): int(m["number"]) for m in _TOTAL.finditer(totals or "")}
        failed = sum(found.get(what, 0) for what in ("failures", "errors", "unexpected successes"))
        unloaded = sum(failure.kind == "compile" for _, failure in self.failing)
        ran = max(0, count - found.get("skipped", 0) - unloaded)
        unclear = self._skipped != found.get("skipped", 0)
        return RunnerRun("unittest", [], self.failing, ran, failed, self._named, unclear)


_PREAMBLE = ("Traceback", "ImportError: Failed to import test module", "---", "===")
