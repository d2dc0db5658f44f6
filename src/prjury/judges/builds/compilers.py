"""Errors that compilers, linters and build tools tell in one line.

Every reader takes a section of a log and yields the number of a line with the failure found there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from prjury.judges.builds.failure import Failure, Kind, with_details
from prjury.judges.builds.results.runner_output import LogSection

#: What a reader yields: the number of a line in the log, and what it tells.
Found: TypeAlias = Iterator[tuple[int, Failure]]

_FILE = r"(?P<path>[^\s:(\[][^:(\[]{0,300}?"

#: Lines without any of this are no error; looking for it is much faster than all patterns.
_HINT = re.compile(
    r"^go: |rror|ERR|FATAL|e: |:\d+:|\*\*\*|\(ignored\)|undefined reference|not found|not met|"
    r"not reached|"
    r"ELIFECYCLE|failed|: exit \d|➤ YN|× No solution|\.groovy: \d"
)

#: How make says that a signal ended a command.
_SIGNALS = (
    "(?:Aborted|Segmentation fault|Bus error|Illegal instruction|Floating point exception|Killed|"
    "Terminated|Hangup|Quit|Trace/breakpoint trap)"
)

#: One line is one failure. Named groups: path, line, name, message.
_PATTERNS: tuple[tuple[Kind, str], ...] = (
    # Checkstyle, through Maven and Gradle
    (
        "error",
        (
            r"\[ERROR\] (?P<path>[^:\[\]]{1,300}\.\w+):\[(?P<line>\d+)(?:,\d+)?\] "
            r"\(\w+\) (?P<message>\w+: .*)"
        ),
    ),
    (
        "error",
        (
            r"\[ant:checkstyle\] \[ERROR\] (?P<path>[^:\[\]]{1,300}\.\w+):(?P<line>\d+)"
            r"(?::\d+)?: (?P<message>.*)"
        ),
    ),
    # javac and kotlinc through Maven
    (
        "compile",
        (
            r"\[ERROR\] (?P<path>[^:\[\]]{1,300}\.\w+): ?[\[(](?P<line>\d+), ?\d+[\])] "
            r"(?P<message>.*)"
        ),
    ),
    # gcc, clang, javac, kotlinc, scalac (also through Maven), mypy
    (
        "compile",
        r"(?:\[ERROR\] )?" + _FILE + r"\.\w{1,8}):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: "
        r"(?P<message>.*)",
    ),
    # the linker
    (
        "compile",
        r"(?:\S*ld: )?" + _FILE + r"\.\w{1,8}):(?:(?P<line>\d+)|\(\.\w+[^)]*\)): "
        r"(?P<message>undefined reference to .*)",
    ),
    # kotlinc through Gradle
    (
        "compile",
        (
            r"e: (?:file://)?(?P<path>[^:]{1,300}\.kts?):"
            r"(?: \()?(?P<line>\d+)(?::|, )\d+(?:\):)? (?P<message>.*)"
        ),
    ),
    # Scala 3
    (
        "compile",
        (
            r"(?:\[ERROR\] )?-- (?:\[E\d+\] )?(?P<message>[\w ]*Error): "
            r"(?P<path>[^:]{1,300}\.scala):(?P<line>\d+):\d+"
        ),
    ),
    # groovyc, also through Maven
    (
        "compile",
        (
            r"(?:\[ERROR\] )?(?P<path>[^\s:\[][^:\[]{0,300}\.groovy): (?P<line>\d+): "
            r"(?P<message>.*)"
        ),
    ),
    # tsc, plain and pretty; MSBuild's compilers
    (
        "compile",
        (
            r"(?P<path>[^\s(:][^(:]{0,300}\.\w{1,8})[(:](?P<line>\d+)[,:]\d+(?:\):| -) "
            r"error (?P<message>[A-Z]+\d+: .*?)(?: \[[^\]]*proj\])?$"
        ),
    ),
    (
        "error",
        (
            r"(?:(?P<path>\S+proj)|CSC|MSBUILD) ?: error (?P<message>[A-Z]+\d+: .*?)"
            r"(?: \[[^\]]*proj\])?$"
        ),
    ),
    # go build, go vet
    (
        "compile",
        r"(?:vet: )?(?P<path>[^\s:][^:]{0,300}\.go):(?P<line>\d+):\d+: (?P<message>.*)",
    ),
    # go's modules
    ("error", r"go: (?P<message>(?!downloading |finding |found |added |upgraded |warning: ).+)"),
    # ruff, flake8
    (
        "error",
        (
            r"(?P<path>[^\s:]{1,300}\.pyi?):(?P<line>\d+):\d+: "
            r"(?P<message>(?:[A-Z]+\d+|invalid-syntax:) .*)"
        ),
    ),
    # Maven: a model that cannot be read, dependencies that cannot be had
    (
        "error",
        (
            r"\[(?:ERROR|FATAL)\]\s+(?P<message>(?:Malformed|Non-readable|Non-parseable) POM "
            r"(?P<path>[^\s:]+): .*?)(?:\s+@\s.*)?(?: -> \[Help \d+\])?$"
        ),
    ),
    (
        "error",
        (
            r"\[(?:ERROR|FATAL)\]\s+(?P<message>(?:Non-|'|Could not |Unknown |Malformed |"
            r"Unresolveable ).*?)(?: -> \[Help \d+\])?$"
        ),
    ),
    # assert in C and C++: glibc, then the BSDs
    (
        "error",
        (
            r"\S+: (?P<path>[^\s:][^:]{0,300}\.\w{1,8}):(?P<line>\d+): (?:.{1,300}: )?"
            r"(?P<message>Assertion [`'].* failed\.)"
        ),
    ),
    (
        "error",
        (
            r"(?P<message>Assertion failed: \(.*\)), (?:function \w{1,200}, )?"
            r"file (?P<path>[^,\s]{1,300}), line (?P<line>\d+)\."
        ),
    ),
    # make
    (
        "goal",
        (
            r"(?P<message>\w*make(?:\[\d+\])?: (?:\*\*\* )?\[(?:(?P<path>[^:\]]+):(?P<line>\d+): )?"
            r"(?P<name>[^\]]+)\] (?:Error \d+|" + _SIGNALS + r")\b.*)"
        ),
    ),
    (
        "error",
        (
            r"(?P<message>\w*make(?:\[\d+\])?: \*\*\* (?:\[[^\]]*\] )?"
            r"No rule to make target '(?P<name>[^']+)'.*)"
        ),
    ),
    ("error", r"(?P<path>[^\s:]+):(?P<line>\d+): \*\*\* (?P<message>.*)"),
    # cargo
    ("goal", r"error: (?P<message>could not compile (?P<name>`.*?) due to ).*"),
    # pnpm, yarn
    ("goal", r"\s*(?P<message>\[?ELIFECYCLE\]? .*)"),
    ("error", r" ?ERR_PNPM_(?P<name>(?!RECURSIVE)\w+) +(?P<message>\S.*)"),
    ("goal", r"(?P<message>error Command failed with exit code \d+)"),
    ("goal", r"(?P<message>The command failed in workspace (?P<name>\S+) with exit code \d+)"),
    ("error", r"error (?P<message>(?!Command failed)[A-Z].{5,})"),
    ("error", r"➤ YN\d{4}: (?:[│┌└·] )?(?P<message>The lockfile would have been .*)"),
    # tox
    (
        "goal",
        r"(?P<message>(?P<name>\S+): exit \d+) \([\d.]+ seconds\) .*?> .*",
    ),
    # pip, uv
    ("error", r"ERROR: (?P<message>(?:Could not|No matching distribution|Failed) .*)"),
    ("error", r"error: (?P<message>Failed to .*)"),
    ("error", r"\s*× (?P<message>No solution found .*)"),
    # coverage that is too low
    ("error", r"(?:FAIL |ERROR: )?(?P<message>Required test coverage of .* not reached.*)"),
    ("error", r"(?:ERROR: )?(?P<message>Coverage for \w+ \(.*\) does not meet .*)"),
    ("error", r"Jest: (?P<message>.*coverage threshold .*not met.*)"),
)
_LINES = tuple((kind, re.compile(pattern)) for kind, pattern in _PATTERNS)

#: What stands below a message: indented lines, a line of source above a caret, notes of gcc.
_INDENTED = re.compile(r"(?:\[ERROR\] )?\s+\S")
_CARET = re.compile(r"(?:\[ERROR\] )?[\s|\d]*[\^~][\s^~-]*$")
_NOTE = re.compile(r":\d+: note: ")
_MOST_BELOW = 20

#: What javac and scalac add on the next lines.
_SYMBOL = re.compile(r"(?:\[ERROR\])?\s+symbol: +(?P<more>.*)")
_MISMATCH = re.compile(r"(?:\[ERROR\] )? (?P<more>(?:found|required) *: .*)")


def one_liners(section: LogSection) -> Found:
    """What is told completely in one line."""
    lines = section.lines
    for index, line in enumerate(lines):
        if not _HINT.search(line):
            continue
        for kind, pattern in _LINES:
            if match := pattern.match(line):
                found = {"path": None, "line": None, "name": None, **match.groupdict()}
                message = (found["message"] or "").removesuffix(" due to ")
                message += _more(message, lines[index + 1 : index + 4])
                failure = section.failure(
                    kind, message, found["path"], found["line"], found["name"]
                )
                below = _belonging(lines, index) if kind == "compile" else ()
                details = (found["message"] or "", *below)
                yield section.numbers[index], with_details(failure, details)
                break


def _belonging(lines: Sequence[str], index: int) -> Iterator[str]:
    """The lines below a compiler's message that belong to it: source, symbols, candidates."""
    below = lines[index + 1 : index + 1 + _MOST_BELOW]
    for at, line in enumerate(below):
        source = any(map(_CARET.match, below[at + 1 : at + 2]))
        if not (source or _INDENTED.match(line) or _NOTE.search(line)):
            return
        yield line.removeprefix("[ERROR] ")


def _more(message: str, below: Sequence[str]) -> str:
    """What belongs to a message and stands below it."""
    if message.endswith("cannot find symbol"):
        found = next(filter(None, map(_SYMBOL.match, below)), None)
        return f" ({' '.join(found['more'].split())})" if found else ""
    if message.endswith("type mismatch;"):
        return "".join(f" {found['more']}" for found in map(_MISMATCH.match, below) if found)
    return ""
