"""TAP, as ``node --test``, Mocha, Vitest and others write it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from prjury.judges.builds.failure import Failure
from prjury.judges.builds.results.error_text import add_values, find_error_above
from prjury.judges.builds.results.places import find_place
from prjury.judges.builds.results.runner_output import LogSection, RunnerOutput, RunnerRun

_POINT = re.compile(
    r"(?P<bad>not )?ok \d+(?: -)?(?: (?P<name>.*?))?"
    r"(?: # time=[\d.]+m?s)?(?: # (?P<directive>(?i:SKIP|TODO)\b.*))?$"
)
_INDENT = 4
_DEEPEST = 50
_REACH = 40
_SCRIPTS = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx")


class _Point(Struct, frozen=True):
    """One line of results, with the names of the tests around it, and the lines below it."""

    index: int
    names: tuple[str, ...]
    good: bool
    skipped: bool
    block: Sequence[str]

    def has(self, line: str) -> bool:
        return any(text.strip() == line for text in self.block)

    @property
    def is_file(self) -> bool:
        """It is a whole file, which ended in an error."""
        return len(self.names) == 1 and _is_script(self.names[0])


class _Stream(Struct):
    points: list[_Point] = []
    names: dict[int, str] = {}
    totals: dict[str, int] = {}
    plan: int | None = None
    announced: bool = False


def _is_script(name: str) -> bool:
    return name.endswith(_SCRIPTS) and " " not in name


def read_tap(section: LogSection) -> RunnerOutput:
    """Return the results of each stream; tests are known by their names and the directory."""
    output, stream = RunnerOutput(), _Stream()
    for index, line in enumerate(section.lines):
        text = line.lstrip(" ")
        depth = min((len(line) - len(text)) // _INDENT, _DEEPEST)
        word, _, rest = text.partition(" ")
        if text.startswith(("ok ", "not ok ")) and (match := _POINT.match(text)):
            stream.points.append(_read_point(section, index, depth, match, stream))
        elif text.startswith("# Subtest: "):
            stream.names[depth] = _unescape(text.removeprefix("# Subtest: "))
        elif depth:
            continue
        elif line.startswith("TAP version 1"):
            _end_stream(section, output, stream)
            stream = _Stream(announced=True)
        elif word.startswith("1..") and word[3:].isdecimal():
            stream.plan = int(word[3:12])
        elif word == "#" and rest.strip().rpartition(" ")[2].isdecimal():
            stream.totals[rest.partition(" ")[0]] = int(rest.strip().rpartition(" ")[2][:9])
        elif line.startswith("Bail out!") and stream.points:
            output.doubts.append(f"the tests bailed out:{line.removeprefix('Bail out!')}")
    _end_stream(section, output, stream)
    return output


def _unescape(name: str) -> str:
    return name.replace("\\#", "#").replace("\\\\", "\\").strip()


def _read_point(
    section: LogSection, index: int, depth: int, match: re.Match[str], stream: _Stream
) -> _Point:
    around = tuple(stream.names.get(level, "") for level in range(depth))
    name = _unescape(match["name"] or "") or stream.names.get(depth, "")
    block, is_yaml = list[str](), False
    for line in section.lines[index + 1 : index + 1 + _REACH]:
        text = line.strip()
        outside = line and not line[0].isspace() and not is_yaml
        if outside or text == "..." or text.startswith(("ok ", "not ok ", "# Subtest: ")):
            break
        is_yaml = is_yaml or text == "---"
        if text != "---":
            block.append(line)
    return _Point(index, (*around, name), not match["bad"], bool(match["directive"]), block)


def _end_stream(section: LogSection, output: RunnerOutput, stream: _Stream) -> None:
    if not stream.points or not (stream.announced or stream.plan is not None):
        return  # lines that happen to begin like this
    tests = [point for point in stream.points if not point.has("type: 'suite'")]
    counted = [point for point in tests if not point.skipped]
    bad = [point for point in counted if not point.good]
    files = sum(point.is_file for point in counted)
    failing = [
        (section.numbers[point.index], _read_failure(section, point))
        for point in bad
        if not point.has("failureType: 'subtestsFailed'")
    ]
    names = [_make_test(section, point, "").id for point in counted if not point.is_file]
    output.skipped += len(tests) - len(counted)
    run = RunnerRun("the TAP stream", names, failing, len(counted) - files, len(failing))
    totals = stream.totals
    if "pass" in totals or "fail" in totals:
        failed = totals.get("fail", 0) + totals.get("cancelled", 0)
        run.count = totals.get("pass", 0) + failed - files
        run.failed += max(0, failed - len(bad))
        run.unclear = (len(counted) - len(bad), len(bad)) != (totals.get("pass", 0), failed)
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
    test_file = section.tree.find(file, section.directory) if rest and _is_script(file) else None
    if test_file:  # Vitest begins each name with the file, and may place the error in a dependency
        if not path or not section.tree.find(path, section.directory):
            path, line = test_file, None
        return section.test(rest, test_file, message, path, line)
    return section.test(name, section.directory, message, path, line)


def _read_failure(section: LogSection, point: _Point) -> Failure:
    message, place = "", ""
    for at, text in enumerate(map(str.strip, point.block)):
        key, colon, value = text.partition(":")
        if colon and key in {"location", "at"}:
            place = place or value.strip(" '\"")
        elif colon and key in {"error", "message"} and not message:
            message = _unquote(value)
            if not message and value.strip():
                message = _read_block(point.block[at + 1 :])
    message = message or _read_block(point.block)
    path, line, *_ = *place.rsplit(":", 2), ""
    if not line.isdecimal():
        path, line = find_place(point.block, section.tree, section.directory)  # type: ignore[assignment]
    if point.is_file:
        name = point.names[0]
        message = find_error_above(section.lines, point.index) or message or "failed"
        return section.failure("error", f"{name}: {message}", name, name=name)
    return _make_test(section, point, message, path, line)


def _unquote(value: str) -> str:
    """Return a text between quotes, empty for what begins a block; YAML doubles its own quote."""
    text = value.strip()
    quote = text[:1]
    if quote not in {"'", '"', "`"}:
        return ""
    text = text[1:].removesuffix(quote)
    return text.replace(quote * 2, quote) if quote == "'" else text.replace("\\" + quote, quote)


def _read_block(block: Sequence[str]) -> str:
    for at, line in enumerate(block):
        if line.strip():
            return add_values(line, block[at + 1 :])
    return ""
