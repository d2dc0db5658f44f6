"""TAP, as ``node --test``, Mocha, Vitest and others write it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from prjury.judges.builds.failure import Failure
from prjury.judges.builds.results.error_text import find_error_above, with_values
from prjury.judges.builds.results.places import find_place, list_places
from prjury.judges.builds.results.runner_output import LogSection, RunnerOutput, RunnerRun

_POINT = re.compile(
    r"(?P<bad>not )?ok \d+(?: -)?(?: (?P<name>.*?))?"
    r"(?: # time=[\d.]+m?s)?(?: # (?P<directive>(?i:SKIP|TODO)\b.*))?$"
)
_INDENT = 4
_DEEPEST = 50
_REACH = 40
_SCRIPTS = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx")


@dataclass
class _Point:
    """One line of results, with the names of the tests around it."""

    index: int
    names: tuple[str, ...]
    good: bool
    skipped: bool
    block: Sequence[str]

    @property
    def is_suite(self) -> bool:
        """It stands for the tests inside of it."""
        return any(line.strip() == "type: 'suite'" for line in self.block)

    @property
    def is_file(self) -> bool:
        """It is a whole file, which ended in an error."""
        return len(self.names) == 1 and is_script(self.names[0])

    @property
    def fails_by_parts(self) -> bool:
        """It fails by its subtests alone."""
        return any(line.strip() == "failureType: 'subtestsFailed'" for line in self.block)


@dataclass
class _Stream:
    points: list[_Point] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    totals: dict[str, int] = field(default_factory=dict)
    plan: int | None = None
    announced: bool = False


def is_script(name: str) -> bool:
    """Return True for a test file, as Node names one that ended in an error."""
    return name.endswith(_SCRIPTS) and " " not in name


def tap(section: LogSection) -> RunnerOutput:
    """Return the results of each stream; a suite that fails by its tests is left out."""
    output, stream = RunnerOutput(), _Stream()
    for index, line in enumerate(section.lines):
        text = line.lstrip(" ")
        depth = min((len(line) - len(text)) // _INDENT, _DEEPEST)
        if text.startswith(("ok ", "not ok ")) and (match := _POINT.match(text)):
            stream.points.append(_read_point(section, index, depth, match, stream))
        elif text.startswith("# Subtest: "):
            stream.names[depth] = _unescape(text.removeprefix("# Subtest: "))
        elif depth:
            continue
        elif line.startswith("TAP version 1"):
            _settle(section, output, stream)
            stream = _Stream(announced=True)
        elif line.startswith("1..") and line[3:].split(" ")[0].isdecimal():
            stream.plan = int(line[3:].split(" ")[0][:9])
        elif line.startswith("# "):
            word, _, number = line[2:].partition(" ")
            if word in {"pass", "fail", "cancelled"} and number.strip().isdecimal():
                stream.totals[word] = int(number.strip()[:9])
        elif line.startswith("Bail out!") and stream.points:
            output.doubts.append(f"the tests bailed out:{line.removeprefix('Bail out!')}")
    _settle(section, output, stream)
    return output


def _unescape(name: str) -> str:
    return name.replace("\\#", "#").replace("\\\\", "\\").strip()


def _read_point(
    section: LogSection, index: int, depth: int, match: re.Match[str], stream: _Stream
) -> _Point:
    around = tuple(stream.names.get(level, "") for level in range(depth))
    name = _unescape(match["name"] or "") or stream.names.get(depth, "")
    block = _list_block(section.lines, index)
    return _Point(index, (*around, name), not match["bad"], bool(match["directive"]), block)


def _list_block(lines: Sequence[str], index: int) -> list[str]:
    block, is_yaml = list[str](), False
    for line in lines[index + 1 : index + 1 + _REACH]:
        text = line.strip()
        outside = line and not line[0].isspace() and not is_yaml
        if outside or text.startswith(("ok ", "not ok ", "# Subtest: ")):
            break
        is_yaml = is_yaml or text == "---"
        if text == "...":
            break
        if text != "---":
            block.append(line)
    return block


def _settle(section: LogSection, output: RunnerOutput, stream: _Stream) -> None:
    if not stream.points or not (stream.announced or stream.plan is not None):
        return  # lines that happen to begin like this
    tests = [point for point in stream.points if not point.is_suite]
    counted = [point for point in tests if not point.skipped]
    failing = [
        (section.numbers[point.index], _read_failure(section, point))
        for point in counted
        if not point.good and not point.fails_by_parts
    ]
    bad = sum(not point.good for point in counted)
    files = sum(point.is_file for point in counted)
    names = [_make_test(section, point, "").id for point in counted if not point.is_file]
    output.skipped += len(tests) - len(counted)
    run = RunnerRun("the TAP stream", names, failing, len(counted) - files, len(failing))
    if stream.totals:
        passed = stream.totals.get("pass", 0)
        failed = stream.totals.get("fail", 0) + stream.totals.get("cancelled", 0)
        run.count = passed + failed - files
        run.failed += max(0, failed - bad)
        run.unclear = (len(counted) - bad, bad) != (passed, failed)
    else:
        run.unclear = stream.plan != sum(len(point.names) == 1 for point in stream.points)
    output.settle(run)


def _make_test(
    section: LogSection,
    point: _Point,
    message: str,
    path: str | None = None,
    line: str | None = None,
) -> Failure:
    name = " > ".join(filter(None, point.names)) or "a test without a name"
    file, _, rest = name.partition(" > ")
    test_file = section.tree.find(file, section.directory) if rest and is_script(file) else None
    if test_file:  # Vitest begins each name with the file, and may place the error in a dependency
        if not path or not section.tree.find(path, section.directory):
            path, line = test_file, None
        return section.test(rest, test_file, message, path, line)
    return section.test(name, section.directory, message, path, line)


def _read_failure(section: LogSection, point: _Point) -> Failure:
    message, place = "", ""
    for at, line in enumerate(point.block):
        key, colon, value = line.strip().partition(":")
        if colon and key in {"location", "at"}:
            place = place or _unquote(value)
        elif colon and key in {"error", "message"} and not message:
            message = _unquote(value) or (_read_block(point.block[at:]) if value.strip() else "")
    if not message:
        message = _read_block(["", *point.block])
    path, _, rest = place.rpartition(":")
    path, line = (path.rpartition(":")[0], path.rpartition(":")[2]) if rest else ("", "")
    if not line.isdecimal():
        path, line = find_place(point.block, section.tree, section.directory)  # type: ignore[assignment]
    if point.is_file:
        name = point.names[0]
        message = find_error_above(section.lines, point.index) or message or "failed"
        if message.startswith("SyntaxError") and (shown := _find_unreadable(section, point.index)):
            return section.failure("compile", message, *shown)
        return section.failure("error", f"{name}: {message}", name, name=name)
    return _make_test(section, point, message, path, line)


def _find_unreadable(section: LogSection, index: int) -> tuple[str, str] | None:
    """The place of a syntax error, which Node prints above it; the file may be an imported one."""
    lines = [line.removeprefix("# ") for line in section.lines[max(0, index - _REACH) : index]]
    errors = [at for at, line in enumerate(lines) if line.startswith("SyntaxError")]
    above = lines[max(0, errors[-1] - 6) : errors[-1]] if errors else []
    return next((place for line in reversed(above) for place in list_places(line)), None)


def _unquote(value: str) -> str:
    """Return what stands for a text between quotes, empty for the beginning of a block."""
    text = value.strip()
    if text in {"|-", "|", ">-", ">"}:
        return ""
    quote = text[:1]
    if quote not in {"'", '"', "`"}:
        return ""
    text = text[1:].removesuffix(quote)
    return text.replace(quote * 2, quote) if quote == "'" else text.replace("\\" + quote, quote)


def _read_block(lines: Sequence[str]) -> str:
    depth = _indent(lines[0]) if lines[0] else -1
    block = list[str]()
    for line in lines[1:]:
        if line.strip() and _indent(line) <= depth:
            break
        if line.strip() or block:
            block.append(line)
    return with_values(block[0], block[1:]) if block else ""


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
