"""Failing tests that test runners print, read from their output.

Every reader takes the lines of a log and yields the number of a line with the failure found there.
Reports, where there are any, tell more; this is for the runs that write none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from prjury.judges.build.failure import Failure, Kind, make_failure

_PYTEST_SUMMARY = re.compile(
    r"(?:FAILED|ERROR) (?P<path>[^\s:]{1,300}\.py)(?:::(?P<test>.*?))?(?: - (?P<message>.*))?$"
)
_PYTEST_SECTION = re.compile(r"_{2,} (?P<test>.+?) _{2,}$")
_PYTEST_PLACE = re.compile(r"(?P<path>[^\s:]{1,300}\.py):(?P<line>\d+): ")

_UNITTEST = re.compile(r"(?:FAIL|ERROR): (?P<name>\S+ \([\w.]+\))")

_GO_TEST = re.compile(r"\s*--- FAIL: (?P<name>\S+) \(")
_GO_PLACE = re.compile(r"\s+(?P<path>\S+\.go):(?P<line>\d+):? ?(?P<message>.*)")
_GO_PACKAGE = re.compile(r"FAIL\t(?P<package>\S+)\t")

_CARGO_TEST = re.compile(r"---- (?P<name>.+) stdout ----$")
_CARGO_PANIC = re.compile(
    r"thread '.*' (?:\(\d+\) )?panicked at (?:'(?P<message>.*)', )?"
    r"(?P<path>[^:']{1,300}):(?P<line>\d+):\d+"
)

_TAP = re.compile(r"\s*not ok \d+ - (?P<name>.+)$")
_TAP_PLACE = re.compile(r"\s+location: '(?P<path>[^']+?):(?P<line>\d+):\d+'")
_TAP_ERROR = re.compile(r"\s+error: (?:'(?P<message>.*)'|\|-)$")
_SPEC_PLACE = re.compile(r"test at (?P<path>\S[^:]{0,300}):(?P<line>\d+):\d+$")
_SPEC_TEST = re.compile(r"\s*✖ (?P<name>.+?)(?: \([\d.]+ms\))?$")

_JEST_TEST = re.compile(r"\s+● (?P<name>.+ › .+|\S.*)$")
_VITEST_TEST = re.compile(r"\s*FAIL +(?P<path>\S+\.[cm]?[jt]sx?) > (?P<name>.+)$")
_JS_PLACE = re.compile(
    r"\s+(?:at .*\(|at |❯ )(?:file://)?(?P<path>[^\s():]{1,300}\.[cm]?[jt]sx?):(?P<line>\d+):\d+"
)

#: How far below a test's heading its message and place are looked for.
_REACH = 40
_FAR = 5_000


def pytest(lines: Sequence[str]) -> Iterator[tuple[int, Failure]]:
    """The short summary of pytest, with the lines from the sections above it."""
    places: dict[str, tuple[str, str]] = {}
    section = ""
    for number, line in enumerate(lines):
        if match := _PYTEST_SECTION.match(line):
            section = match["test"]
        elif section and (match := _PYTEST_PLACE.match(line)):
            places[section] = (match["path"], match["line"])
        elif match := _PYTEST_SUMMARY.match(line):
            test = match["test"]
            path, at = places.get((test or "").replace("::", "."), (match["path"], None))
            name = f"{match['path']}::{test}" if test else match["path"]
            kind: Kind = "test" if test else "compile"  # a module that cannot be loaded
            yield number, make_failure(kind, match["message"] or "failed", path, at, name)


def unittest(lines: Sequence[str]) -> Iterator[tuple[int, Failure]]:
    """The headings of unittest; message and place come with the traceback below."""
    for number, line in enumerate(lines):
        if match := _UNITTEST.match(line):
            frame: tuple[str, str | None] = ("", None)
            message = "failed"
            for below in lines[number + 2 : number + _REACH]:
                if inner := re.match(r'  File "([^"/<][^"]*)", line (\d+)', below):
                    frame = (inner[1], inner[2])
                elif below and not below[0].isspace() and not below.startswith("Traceback"):
                    message = below
                    break
            yield number, make_failure("test", message, *frame, match["name"])


def go(lines: Sequence[str]) -> Iterator[tuple[int, Failure]]:
    """``go test``: its failing tests; a file is named without its directory, the package after."""
    for number, line in enumerate(lines):
        match = _GO_TEST.match(line)
        below = lines[number + 1 : number + 1 + _REACH]
        if not match or _has_subtest(match["name"], below):
            continue
        package = next(_found(_GO_PACKAGE, lines[number : number + _FAR]), {}).get("package", "")
        text = list(_until(_GO_TEST, below))
        place = next((found for found in _found(_GO_PLACE, text) if found["path"][0] != "/"), {})
        panic = next((line for line in text if line.startswith("panic: ")), None)
        path = place.get("path")
        where = f"{package}/{path}" if path and "/" not in path else path
        message = panic or place.get("message") or "failed"
        yield (
            number,
            make_failure("test", message, where, place.get("line"), f"{package}.{match['name']}"),
        )


def _has_subtest(name: str, below: Sequence[str]) -> bool:
    """Whether the next heading is that of a subtest, which tells more."""
    nested = _GO_TEST.match(below[0]) if below else None
    return bool(nested and nested["name"].startswith(f"{name}/"))


def _found(pattern: re.Pattern[str], lines: Iterable[str]) -> Iterator[dict[str, str]]:
    return (match.groupdict() for match in map(pattern.match, lines) if match)


def _until(pattern: re.Pattern[str], lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        if pattern.match(line):
            return
        yield line


def cargo(lines: Sequence[str]) -> Iterator[tuple[int, Failure]]:
    """``cargo test``: the panics below each test's heading."""
    for number, line in enumerate(lines):
        if not (match := _CARGO_TEST.match(line)):
            continue
        below = [
            text
            for text in _until(_CARGO_TEST, lines[number + 1 : number + _REACH])
            if text.strip()
        ]
        message, path, at = (below or ["failed"])[0], None, None
        for index, text in enumerate(below):
            if panic := _CARGO_PANIC.match(text):
                path, at = panic["path"], panic["line"]
                following = below[index + 1] if index + 1 < len(below) else "panicked"
                message = panic["message"] or following
                break
        yield number, make_failure("test", message, path, at, match["name"])


def tap(lines: Sequence[str]) -> Iterator[tuple[int, Failure]]:
    """TAP as Node's own runner writes it; a suite that fails by its tests is left out."""
    for number, line in enumerate(lines):
        if not (match := _TAP.match(line)):
            continue
        path = at = None
        message = "failed"
        below = list(_until(_TAP, lines[number + 1 : number + _REACH]))
        for index, text in enumerate(below):
            if place := _TAP_PLACE.match(text):
                path, at = place["path"], place["line"]
            elif error := _TAP_ERROR.match(text):
                message = error["message"] or (below[index + 1] if index + 1 < len(below) else "")
            elif text.strip() == "...":
                break
        if not any("failureType: 'subtestsFailed'" in text for text in below[:6]):
            yield number, make_failure("test", message, path, at, match["name"])


def node_spec(lines: Sequence[str]) -> Iterator[tuple[int, Failure]]:
    """Node's readable reporter, in its list of failing tests."""
    for number, line in enumerate(lines[:-1]):
        place = _SPEC_PLACE.match(line)
        test = _SPEC_TEST.match(lines[number + 1]) if place else None
        if place and test:
            message = lines[number + 2] if number + 2 < len(lines) else "failed"
            yield (
                number,
                make_failure("test", message, place["path"], place["line"], test["name"]),
            )


def jest(lines: Sequence[str]) -> Iterator[tuple[int, Failure]]:
    """Jest and Vitest: a heading, the message below it, the first frame that is in the tree."""
    for number, line in enumerate(lines):
        if not (match := _VITEST_TEST.match(line) or _JEST_TEST.match(line)):
            continue
        below = lines[number + 1 : number + _REACH]
        message = next((text for text in below if text.strip()), "failed")
        frames = (found for found in map(_JS_PLACE.match, below) if found)
        frame = next((found for found in frames if "node_modules" not in found["path"]), None)
        path = frame["path"] if frame else match.groupdict().get("path")
        yield (
            number,
            make_failure("test", message, path, frame["line"] if frame else None, match["name"]),
        )


READERS = (pytest, unittest, go, cargo, tap, node_spec, jest)
