"""Errors that compilers, linters and build tools print, read from their output.

Every reader takes the lines of a log and yields the number of a line with the failure found there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from prjury.judges.build.failure import Failure, Kind, make_failure

_FILE = r"(?P<path>[^\s:(\[][^:(\[]{0,300}?"

#: One line is one failure. Named groups: path, line, name, message.
_LINES: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    # javac, kotlinc and groovyc through Maven
    (
        "compile",
        re.compile(
            r"\[ERROR\] (?P<path>[^:\[\]]{1,300}\.\w+):\[(?P<line>\d+),\d+\] (?P<message>.*)"
        ),
    ),
    # gcc, clang, javac, mypy
    (
        "compile",
        re.compile(_FILE + r"\.\w{1,8}):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<message>.*)"),
    ),
    # kotlinc
    (
        "compile",
        re.compile(
            r"e: (?:file://)?(?P<path>[^:]{1,300}\.kts?):"
            r"(?: \()?(?P<line>\d+)(?::|, )\d+(?:\):)? (?P<message>.*)"
        ),
    ),
    # tsc, plain and pretty
    (
        "compile",
        re.compile(
            r"(?P<path>[^\s(:][^(:]{0,300}\.[cm]?[jt]sx?)[(:](?P<line>\d+)[,:]\d+(?:\):| -) "
            r"error (?P<message>TS\d+: .*)"
        ),
    ),
    # go build, go vet
    (
        "compile",
        re.compile(
            r"(?:vet: )?(?P<path>[^\s:][^:]{0,300}\.go):(?P<line>\d+):(?:\d+:)? (?P<message>.*)"
        ),
    ),
    # ruff, flake8
    (
        "error",
        re.compile(r"(?P<path>[^\s:]{1,300}\.py):(?P<line>\d+):\d+: (?P<message>[A-Z]+\d+ .*)"),
    ),
    # Maven: a goal, a model that cannot be read
    (
        "goal",
        re.compile(
            r"\[ERROR\] Failed to execute goal (?P<message>(?P<name>\S+ (?:\(\S+\) )?"
            r"on project [^:\s]+): .*)"
        ),
    ),
    (
        "error",
        re.compile(
            r"\[(?:ERROR|FATAL)\]\s+(?P<message>(?:Non-|'|Could not |Unknown |Malformed |"
            r"Unresolveable ).*)"
        ),
    ),
    # Gradle
    ("goal", re.compile(r"(?P<message>Execution failed for task '(?P<name>[^']+)'.*)")),
    # make
    (
        "goal",
        re.compile(
            r"(?P<message>g?make(?:\[\d+\])?: \*\*\* \[(?:(?P<path>[^:\]]+):(?P<line>\d+): )?"
            r"(?P<name>[^\]]+)\] .*)"
        ),
    ),
    ("goal", re.compile(r"(?P<message>g?make: \*\*\* No rule to make target '(?P<name>[^']+)'.*)")),
    # npm
    (
        "goal",
        re.compile(r"npm (?:ERR!|error) (?P<message>(?P<name>code \w+|Missing script: .*))"),
    ),
)

#: What javac adds to "cannot find symbol" on one of the next lines.
_SYMBOL = re.compile(r"(?:\[ERROR\])?\s+symbol: +(?P<symbol>.*)")

_RUSTC = re.compile(r"error(?:\[E\d+\])?: (?P<message>.*)")
_RUSTC_PLACE = re.compile(r"\s*--> (?P<path>[^:]{1,300}):(?P<line>\d+):\d+$")

_PYTHON_FRAME = re.compile(r'(?:E?\s+)File "(?P<path>[^"]{1,300})", line (?P<line>\d+)')
_PYTHON_ERROR = re.compile(
    r"(?:E\s+)?(?P<message>(?P<type>[\w.]*(?:Error|Exception|Warning|Exit|Interrupt))(?:: .*|$))"
)
_SYNTAX = frozenset({"SyntaxError", "IndentationError", "TabError"})


def one_liners(lines: Sequence[str]) -> Iterator[tuple[int, Failure]]:
    """What is told completely in one line."""
    for number, line in enumerate(lines):
        for kind, pattern in _LINES:
            if match := pattern.match(line):
                found = {"path": None, "line": None, "name": None, **match.groupdict()}
                below = lines[number + 1 : number + 4] if kind == "compile" else ()
                message = (found["message"] or "") + _symbol(below)
                yield (
                    number,
                    make_failure(kind, message, found["path"], found["line"], found["name"]),
                )
                break


def _symbol(below: Sequence[str]) -> str:
    match = next(filter(None, map(_SYMBOL.match, below)), None)
    return f" ({' '.join(match['symbol'].split())})" if match else ""


def rustc(lines: Sequence[str]) -> Iterator[tuple[int, Failure]]:
    """Rust's errors: the message first, the place on a later line."""
    for number, line in enumerate(lines):
        if not (error := _RUSTC.match(line)):
            continue
        for place in map(_RUSTC_PLACE.match, lines[number + 1 : number + 4]):
            if place:
                yield (
                    number,
                    make_failure("compile", error["message"], place["path"], place["line"]),
                )
                break


def python_traces(lines: Sequence[str]) -> Iterator[tuple[int, Failure]]:
    """Tracebacks and syntax errors: the innermost frame inside the tree and the error's line."""
    frame: tuple[str, str] | None = None
    for number, line in enumerate(lines):
        if match := _PYTHON_FRAME.match(line):
            if frame is None or not match["path"].startswith(("/", "<")):
                frame = (match["path"], match["line"])
        elif frame and (error := _PYTHON_ERROR.match(line)):
            kind: Kind = "compile" if error["type"] in _SYNTAX else "error"
            yield number, make_failure(kind, error["message"], *frame)
            frame = None
        elif not line.strip():
            frame = None
