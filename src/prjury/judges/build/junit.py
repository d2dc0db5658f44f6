"""Test reports in JUnit's XML, as Surefire, Failsafe, Gradle and pytest write them.

The files come from code that is not trusted: no DTD, no links, nothing but regular files, caps on
number, size and depth. The elements count, not the totals that a report claims for itself.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from pathlib import Path
from xml.etree.ElementTree import Element

from prjury.judges.build.failure import Failure, Kind, identity, make_failure
from prjury.judges.build.outcome import Reports
from prjury.judges.build.search import Found
from prjury.pull.model import printable

_MOST_FILES = 2_000
_MOST_BYTES = 64 * 1024**2
_LARGEST_FILE = 20 * 1024**2
_DEEPEST = 100

_JAVA_FRAME = re.compile(
    r"\s*at (?:\S+/)?(?P<type>[\w.$]+)\.[^.(]+\((?P<file>\w+\.\w+):(?P<line>\d+)\)"
)
_PYTEST_FRAME = re.compile(r"(?P<path>[^\s:]{1,300}\.py):(?P<line>\d+): ")
_PYTHON_FRAME = re.compile(r'(?:E\s+|\s+)File "(?P<path>[^"]{1,300})", line (?P<line>\d+)')

#: What pytest says of a module that cannot be loaded; none of its tests has run.
_COLLECTION = "collection failure"
_PYTEST_MESSAGE = re.compile(r"E\s+(?P<message>\S.*)")


class ReportError(ValueError):
    """A report that is there and cannot be read; the text says why."""


def read_reports(found: Found, known: frozenset[str], relative: Callable[[str], str]) -> Reports:
    """Reads every report that was found.

    Args:
        found: the reports, and what the search for them left out.
        known: the paths of the tree.
        relative: takes the tree's own place out of a text.
    """
    problems = list(found.problems)
    failures, ran = list[Failure](), list[str]()
    tests, room = 0, _MOST_BYTES
    for path in found.files[:_MOST_FILES]:
        suite = printable(relative(str(path)))
        try:
            content = _content(path, room)
            room -= len(content)
            for case in _cases(content):
                tests += 1
                failures.extend(_failures(case, suite, known, relative))
                ran.extend(_ran(case, suite))
        except ReportError as error:
            problems.append(f"the report {suite} {error}")
    if len(found.files) > _MOST_FILES:
        problems.append(f"only the first {_MOST_FILES} test reports were read")
    return Reports(len(found.files), tests, tuple(failures), tuple(problems), tuple(ran))


def _content(path: Path, room: int) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise ReportError(f"cannot be opened: {error.strerror}") from error
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor, so that it is no link
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise ReportError("is not a regular file")
        content = file.read(_LARGEST_FILE + 1)
    if len(content) > _LARGEST_FILE:
        raise ReportError(f"is larger than {_LARGEST_FILE // 1024**2} MiB")
    if len(content) > room:
        raise ReportError(f"was not read: all reports exceed {_MOST_BYTES // 1024**2} MiB")
    return content


def _cases(content: bytes) -> Iterator[Element]:
    """The test cases; what has been read is let go."""
    from defusedxml import DefusedXmlException  # noqa: PLC0415 - only runs with reports need it
    from defusedxml.ElementTree import ParseError, iterparse  # noqa: PLC0415

    depth = 0
    try:
        for event, element in iterparse(BytesIO(content), ("start", "end"), forbid_dtd=True):
            depth += 1 if event == "start" else -1
            if depth > _DEEPEST:
                raise ReportError(f"is nested deeper than {_DEEPEST} levels")
            if event == "end" and _tag(element) == "testcase":
                yield element
            if event == "end" and _tag(element) in {"testcase", "testsuite", "properties"}:
                element.clear()
    except DefusedXmlException as error:
        raise ReportError("holds a document type, which is refused") from error
    except (ParseError, LookupError, ValueError) as error:
        reason = error if isinstance(error, ReportError) else f"is not XML: {error}"
        raise ReportError(str(reason)) from error


def _tag(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _name(case: Element) -> str:
    owner, test = case.get("classname", ""), case.get("name", "")
    return f"{owner}#{test}" if owner else test


def _ran(case: Element, suite: str) -> Iterator[str]:
    if not any(_tag(child) == "skipped" for child in case):
        yield identity(case.get("file") or suite, _name(case))


def _failures(
    case: Element, suite: str, known: frozenset[str], relative: Callable[[str], str]
) -> Iterator[Failure]:
    for child in case:
        if _tag(child) not in {"failure", "error"}:
            continue
        text = relative(child.text or "")
        lines = [line[:2000] for line in text.splitlines()]
        path, line = _place(case, lines, known)
        message = _message(relative(child.get("message") or ""), lines)
        kind: Kind = "compile" if child.get("message") == _COLLECTION else "test"
        yield make_failure(
            kind, message, path, line, _name(case) or None, case.get("file") or suite
        )


def _message(message: str, lines: Sequence[str]) -> str:
    """The message's first line; for pytest's collection errors the error itself."""
    first = message.strip().partition("\n")[0]
    if first and first != _COLLECTION:
        return first
    errors = [match["message"] for match in map(_PYTEST_MESSAGE.match, lines) if match]
    return errors[-1] if errors else next((line for line in lines if line.strip()), "failed")


def _place(
    case: Element, lines: Sequence[str], known: frozenset[str]
) -> tuple[str | None, str | None]:
    """Where it failed: the innermost frame in the tree, else where the test stands."""
    owner = case.get("classname", "")
    for frame in filter(None, map(_JAVA_FRAME.match, lines)):
        if frame["type"].startswith(owner) and (path := _java_file(frame, known)):
            return path, frame["line"]
    for line in reversed(lines):
        match = _PYTEST_FRAME.match(line) or _PYTHON_FRAME.match(line)
        if match and match["path"].removeprefix("./") in known:
            return match["path"], match["line"]
    file, at = case.get("file"), case.get("line", "")
    return file, str(int(at) + 1) if at.isdigit() and len(at) < 9 else None  # noqa: PLR2004


def _java_file(frame: re.Match[str], known: frozenset[str]) -> str | None:
    package = frame["type"].rpartition(".")[0].replace(".", "/")
    suffix = f"/{package}/{frame['file']}" if package else f"/{frame['file']}"
    return next((path for path in sorted(known) if f"/{path}".endswith(suffix)), None)
