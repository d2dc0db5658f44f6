"""What a JUnit report claims of itself, compared with the test cases that it holds. Pure.

Honest reports differ: some count the cases of nested suites and some the suites, pytest counts
subtests, Jest leaves out what is still to be done, surefire counts an attempt that failed before
another one passed, gotestsum counts some failures as errors as well. So only what no report can
honestly say is a contradiction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

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
