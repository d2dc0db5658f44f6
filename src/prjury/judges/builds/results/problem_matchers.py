"""Errors that tools print in one line, or as a heading with a list, by problem matchers.

The matchers are data in ``matchers/*.json``, in the format that GitHub's ``::add-matcher::`` and
Visual Studio Code share. Expressions are RE2's. Beside the format's own keys a matcher may have
``kind`` (``compile``, ``error`` or ``goal``), and a pattern ``name``, the group of a goal's name.
The first matcher that fits a line decides; what is no error, such as a warning, is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

from prjury.judges.builds.failure import Failure, Kind, with_details
from prjury.judges.builds.results.runner_output import LogSection

#: What a reader of errors yields: the number of a line in the log, and the failure found there.
Found: TypeAlias = Iterator[tuple[int, Failure]]
#: What the groups of a line say, by the names that the format has for them.
Values: TypeAlias = dict[str, str]

_KINDS: Mapping[str, Kind] = {"compile": "compile", "error": "error", "goal": "goal"}
_GROUPS = frozenset({"file", "line", "column", "severity", "code", "message", "name"})
_LARGEST_FILE = 256 * 1024
_MOST_MATCHERS = 500
_MOST_PATTERNS = 5
_LONGEST_EXPRESSION = 1_000
#: Lines that one heading may have below it.
_LONGEST_LOOP = 10_000
#: For the automaton of all first patterns together; it is emptied where it grows larger.
_MEMORY = 64 * 1024**2

#: What stands below a message: indented lines, a line of source above a caret, notes of gcc.
_INDENTED = re.compile(r"(?:\[ERROR\] )?\s+\S")
_CARET = re.compile(r"(?:\[ERROR\] )?[\s|\d]*[\^~][\s^~-]*$")
_NOTE = re.compile(r":\d+: note: ")
_MOST_BELOW = 20

#: What javac and scalac add on the next lines.
_SYMBOL = re.compile(r"(?:\[ERROR\])?\s+symbol: +(?P<more>.*)")
_MISMATCH = re.compile(r"(?:\[ERROR\] )? (?P<more>(?:found|required) *: .*)")


@dataclass(frozen=True)
class Pattern:
    """One line of a matcher: a compiled expression, and the number of the group of each value."""

    expression: Any
    groups: Mapping[str, int]

    def match(self, line: str) -> Values | None:
        """The values that the line holds, None where it does not fit."""
        found = self.expression.search(line)
        if not found:
            return None
        return {name: found[group] for name, group in self.groups.items() if found[group]}


@dataclass(frozen=True)
class ProblemMatcher:
    """The patterns of consecutive lines.

    Attributes:
        severity: the one of lines that name none.
        loop: whether the last pattern may fit several lines, each a problem of its own.
    """

    owner: str
    kind: Kind
    severity: str
    patterns: tuple[Pattern, ...]
    loop: bool = False

    def problems(self, lines: Sequence[str], index: int) -> Iterator[tuple[int, Values]]:
        """The errors that begin at a line, each with the index of the line that completes it."""
        heading: Values = {"severity": self.severity}
        *above, repeated = self.patterns
        for pattern in above:
            found = pattern.match(lines[index]) if index < len(lines) else None
            if found is None:
                return
            heading, index = heading | found, index + 1
        for at in range(index, min(len(lines), index + (_LONGEST_LOOP if self.loop else 1))):
            found = repeated.match(lines[at])
            if found is None:
                return
            values = heading | found
            if values["severity"].lower().endswith("error"):
                yield at, values


class MatcherSet:
    """All matchers; a line is looked at once for the first patterns of all of them."""

    def __init__(self, matchers: Sequence[ProblemMatcher]) -> None:
        """Compiles the first patterns into one automaton."""
        import re2  # noqa: PLC0415 - a compiled extension that only failing builds need

        self.matchers = matchers
        options = re2.Options()
        options.log_errors = False
        options.max_mem = _MEMORY
        self._firsts = re2.Set.SearchSet(options)
        for matcher in matchers:
            self._firsts.Add(matcher.patterns[0].expression.pattern)
        self._firsts.Compile()

    def problems(self, lines: Sequence[str]) -> Iterator[tuple[ProblemMatcher, int, Values]]:
        """Every error in the lines; where several matchers fit one line, the first one's."""
        for index, line in enumerate(lines):
            for number in sorted(self._firsts.Match(line) or ()):
                matcher = self.matchers[number]
                found = list(matcher.problems(lines, index))
                yield from ((matcher, at, values) for at, values in found)
                if found or len(matcher.patterns) == 1:
                    break


def parse_matchers(text: str) -> Iterator[ProblemMatcher]:
    """The matchers of one file.

    Raises:
        ValueError: when the file has not the form of problem matchers, or exceeds a limit.
    """
    import json  # noqa: PLC0415 - beside re2, for failing builds only

    if len(text) > _LARGEST_FILE:
        raise ValueError(f"larger than {_LARGEST_FILE // 1024} KiB")
    listed = json.loads(text)["problemMatcher"]
    if len(listed) > _MOST_MATCHERS:
        raise ValueError(f"more than {_MOST_MATCHERS} matchers")
    for item in listed:
        patterns = item["pattern"] if isinstance(item["pattern"], list) else [item["pattern"]]
        if not 0 < len(patterns) <= _MOST_PATTERNS:
            raise ValueError(f"{item['owner']}: 1 to {_MOST_PATTERNS} patterns are allowed")
        yield ProblemMatcher(
            item["owner"],
            _KINDS[item.get("kind", "error")],
            item.get("severity", "error"),
            tuple(map(_pattern, patterns)),
            loop=bool(patterns[-1].get("loop")),
        )


def _pattern(item: Mapping[str, Any]) -> Pattern:
    import re2  # noqa: PLC0415 - as above

    regexp = item["regexp"]
    unknown = item.keys() - _GROUPS - {"regexp", "loop"}
    if unknown or not regexp.startswith("^") or len(regexp) > _LONGEST_EXPRESSION:
        raise ValueError(f"not an expression that begins with ^, or an unknown key: {dict(item)}")
    options = re2.Options()
    options.log_errors = False
    try:
        expression = re2.compile(regexp, options)
    except re2.error as error:
        raise ValueError(f"{regexp}: {error}") from error
    groups = {name: item[name] for name in item.keys() & _GROUPS}
    if any(not 0 < group <= expression.groups for group in groups.values()):
        raise ValueError(f"{regexp}: it has {expression.groups} groups, not as many as are named")
    return Pattern(expression, groups)


@cache
def shipped_matchers() -> MatcherSet:
    """The matchers that come with the package, in the order of their files' names."""
    folder = files("prjury.judges.builds.results").joinpath("matchers")
    found = sorted(
        (one for one in folder.iterdir() if one.name.endswith(".json")), key=lambda one: one.name
    )
    return MatcherSet([each for one in found for each in parse_matchers(one.read_text("utf-8"))])


def read_problems(section: LogSection) -> Found:
    """The errors that the shipped matchers find, with the lines below that belong to them."""
    lines = section.lines
    for matcher, index, values in shipped_matchers().problems(lines):
        text = values.get("message", "")
        message = text + _more(text, lines[index + 1 : index + 4])
        if code := values.get("code"):
            message = f"{message} ({code})"
        path, line, name = (values.get(key) for key in ("file", "line", "name"))
        failure = section.failure(matcher.kind, message, path, line, name)
        below = _belonging(lines, index) if matcher.kind == "compile" else ()
        yield section.numbers[index], with_details(failure, (text, *below))


def _belonging(lines: Sequence[str], index: int) -> Iterator[str]:
    """The lines below a compiler's message that belong to it: source, symbols, candidates."""
    below = lines[index + 1 : index + 1 + _MOST_BELOW]
    for at, line in enumerate(below):
        source = any(map(_CARET.match, below[at + 1 : at + 2]))
        if not (source or _INDENTED.match(line) or _NOTE.search(line)):
            return
        yield line.removeprefix("[ERROR] ")


def _more(message: str, below: Sequence[str]) -> str:
    """The rest of a message of javac or scalac, which stands below it."""
    if message.endswith("cannot find symbol"):
        found = next(filter(None, map(_SYMBOL.match, below)), None)
        return f" ({' '.join(found['more'].split())})" if found else ""
    if message.endswith("type mismatch;"):
        return "".join(f" {found['more']}" for found in map(_MISMATCH.match, below) if found)
    return ""
