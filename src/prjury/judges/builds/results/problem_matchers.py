"""Errors that tools print in one line, or below a heading, by the first matcher that fits.

The matchers are in ``problems.json``, in the format of GitHub and Visual Studio Code with RE2's
expressions; a matcher may have a ``kind`` besides, and a pattern the group of a goal's ``name``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any, TypeAlias

from msgspec import Struct, convert

from prjury.judges.builds.failure import Failure, Kind, with_details
from prjury.judges.builds.results.line_set import LineSet
from prjury.judges.builds.results.runner_output import LogSection

#: What a reader of errors yields: the number of a line in the log, and the failure found there.
Found: TypeAlias = Iterator[tuple[int, Failure]]
#: What the groups of a line say, by the names that the format has for them.
Values: TypeAlias = dict[str, str]

#: Lines that one heading may have below it.
_LONGEST_LOOP = 10_000
_MOST_BELOW = 20


class Pattern(Struct, frozen=True, forbid_unknown_fields=True):
    """One line of a matcher: an expression, and the number of the group of each value."""

    regexp: str
    file: int = 0
    line: int = 0
    column: int = 0
    severity: int = 0
    code: int = 0
    message: int = 0
    name: int = 0
    loop: bool = False

    def __post_init__(self) -> None:
        if not self.regexp.startswith("^"):
            raise ValueError(f"not an expression that begins with ^: {self.regexp}")

    def read(self, match: Any) -> Values:  # noqa: ANN401 - re2 has no types
        """Return the values that a line holds."""
        groups = {name: getattr(self, name) for name in _GROUPS}
        return {name: match[group] for name, group in groups.items() if group and match[group]}


_GROUPS = ("file", "line", "severity", "code", "message", "name")


class ProblemMatcher(Struct, frozen=True, forbid_unknown_fields=True):
    """The patterns of consecutive lines; `severity` is that of lines that name none."""

    owner: str
    pattern: list[Pattern]
    kind: Kind = "error"
    severity: str = "error"


class MatcherSet:
    """All matchers; a line is looked at once for the first patterns of all of them."""

    def __init__(self, matchers: Sequence[ProblemMatcher]) -> None:
        self._matchers = matchers
        self._firsts = LineSet([matcher.pattern[0].regexp for matcher in matchers])
        self._below = [LineSet([one.regexp for one in each.pattern[1:]]) for each in matchers]

    def find(self, lines: Sequence[str]) -> Iterator[tuple[ProblemMatcher, int, Values]]:
        """Yield every error in the lines; where several matchers fit one line, the first one's."""
        for index, line in enumerate(lines):
            for number, match in self._firsts.find(line):
                matcher = self._matchers[number]
                first = {"severity": matcher.severity, **matcher.pattern[0].read(match)}
                problems = list(self._complete(number, first, lines, index))
                for at, values in problems:
                    if values["severity"].lower().endswith("error"):
                        yield matcher, at, values
                if problems:
                    break

    def _complete(
        self, number: int, values: Values, lines: Sequence[str], index: int
    ) -> Iterator[tuple[int, Values]]:
        below = self._matchers[number].pattern[1:]
        if not below:
            yield index, values
            return
        expressions = self._below[number].patterns
        for pattern, expression in zip(below[:-1], expressions[:-1], strict=True):
            index += 1
            match = expression.search(lines[index]) if index < len(lines) else None
            if not match:
                return
            values = values | pattern.read(match)
        end = index + 2 if not below[-1].loop else index + 2 + _LONGEST_LOOP
        for at in range(index + 1, min(len(lines), end)):
            match = expressions[-1].search(lines[at])
            if not match:
                return
            yield at, values | below[-1].read(match)


def parse_matchers(text: str) -> list[ProblemMatcher]:
    """Return the matchers of a file."""
    return convert(json.loads(text)["problemMatcher"], list[ProblemMatcher])


@cache
def load_matchers() -> MatcherSet:
    """Return the matchers that come with the package."""
    data = files("prjury.judges.builds.results").joinpath("problems.json")
    return MatcherSet(parse_matchers(data.read_text("utf-8")))


def read_problems(section: LogSection) -> Found:
    """Yield the errors that the matchers find, with the lines below that belong to them."""
    lines = section.lines
    for matcher, index, values in load_matchers().find(lines):
        message = values.get("message", "")
        text = message + _read_symbol(lines[index + 1 : index + 5])
        code = f" ({values['code']})" if "code" in values else ""
        path, line, name = (values.get(key) for key in ("file", "line", "name"))
        failure = section.failure(matcher.kind, f"{text}{code}", path, line, name)
        below = list_source(lines[index + 1 :]) if matcher.kind == "compile" else ()
        yield section.numbers[index], with_details(failure, (message, *below))


def _read_symbol(below: Sequence[str]) -> str:
    """Return the rest of a message of javac or scalac, which stands below it."""
    first = dict[str, str]()
    for line in below:
        text = " ".join(line.removeprefix("[ERROR]").split())
        first.setdefault(text.partition(":")[0].strip(), text)
    return "".join(f" ({first[key]})" for key in ("symbol", "found", "required") if key in first)


def list_source(below: Sequence[str]) -> list[str]:
    """List the lines below a compiler's message that belong to it: source, symbols, candidates."""
    source = list[str]()
    plain = [line.removeprefix("[ERROR] ") for line in (*below[: _MOST_BELOW + 1], "")]
    for line, under in pairwise(plain):
        marks = under.strip()
        marked = set(marks) <= set("^~- |0123456789") and ("^" in marks or "~" in marks)
        if not (marked or line[:1] in {" ", "\t"} or ": note: " in line) or not line.strip():
            break
        source.append(line)
    return source
