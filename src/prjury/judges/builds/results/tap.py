"""TAP, as ``node --test``, Mocha, Vitest and others write it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from prjury.judges.builds.failure import Failure
from prjury.judges.builds.results.error_text import add_values, find_error_above
from prjury.judges.builds.results.junit_case import HOOKS
from prjury.judges.builds.results.places import find_place
from prjury.judges.builds.results.runner_output import LogSection, RunnerOutput, RunnerRun
from prjury.judges.builds.results.wording import LEFT_OUT

#: Some leave out the number, others the name; behind a brace the subtests follow.
_POINT = re.compile(
    r"(?P<bad>not )?ok(?: (?P<number>\d+)(?: -)?(?= |$)| -(?= )|(?= #|$))"
    r"(?: (?!#\s*(?i:SKIP|TODO))(?P<name>.*?))??(?: # time=[\d.]+m?s)?"
    r"(?: #\s*(?P<directive>(?i:SKIP|TODO)\b.*?))?(?P<opens> \{)?$"
)
_PLAN = re.compile(r"1\.\.(\d{1,9})\s*(?:#|$)")
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
    opens: bool
    block: Sequence[str]

    def has(self, line: str) -> bool:
        return any(text.strip() == line for text in self.block)

    @property
    def is_whole(self) -> bool:
        """It is a file that ended in an error, or a hook, and no test."""
        return (len(self.names) == 1 and _is_script(self.names[0])) or any(
            hook in self.names[-1] for hook in HOOKS
        )


class _Stream(Struct):
    points: list[_Point] = []
    names: dict[int, str] = {}
    totals: dict[str, int] = {}
    plan: int | None = None
    announced: bool = False
    closed: bool = False
    bailed: bool = False

    def count_roots(self) -> int:
        return sum(len(point.names) == 1 for point in self.points)

    def list_parts(self, at: int) -> list[_Point]:
        """List the results inside of one: before it, or behind its brace."""
        depth, parts = len(self.points[at].names), list[_Point]()
        step = 1 if self.points[at].opens else -1
        at += step
        while 0 <= at < len(self.points) and len(self.points[at].names) > depth:
            parts.append(self.points[at])
            at += step
        return parts


def _is_script(name: str) -> bool:
    return name.endswith(_SCRIPTS) and " " not in name


def read_tap(section: LogSection) -> RunnerOutput:
    """Return the results of each stream; tests are known by their names and the directory."""
    output, stream = RunnerOutput(), _Stream()
    for index, line in enumerate(section.lines):
        text = line.lstrip(" ")
        depth = min((len(line) - len(text)) // _INDENT, _DEEPEST)
        match = _POINT.match(text.rstrip()) if text.startswith(("ok", "not ok")) else None
        if not depth and _begins_stream(line, match, stream):
            _end_stream(section, output, stream)
            is_tap = line.startswith("TAP version ") or stream.announced or bool(stream.points)
            stream = _Stream(announced=is_tap)
        if match:
            stream.points.append(_read_point(section, index, depth, match, stream))
        elif text.startswith("# Subtest: "):
            stream.names[depth] = _unescape(text.removeprefix("# Subtest: "))
        elif not depth:
            _read_comment(line, output, stream)
    _end_stream(section, output, stream)
    return output


def _begins_stream(line: str, match: re.Match[str] | None, stream: _Stream) -> bool:
    if match:
        return match["number"] == "1" and stream.closed
    return line.startswith("TAP version 1") or bool(stream.plan is not None and _PLAN.match(line))


def _read_comment(line: str, output: RunnerOutput, stream: _Stream) -> None:
    word, _, number = line.removeprefix("# ").partition(" ")
    if plan := _PLAN.match(line):
        stream.plan, stream.closed = int(plan[1]), bool(stream.points)
    elif line.startswith("# ") and number.strip().isdecimal():
        stream.totals[word] = int(number.strip()[:9])
    elif line.startswith("Bail out!") and (stream.points or stream.announced):
        stream.bailed = True
        output.doubts.append(LEFT_OUT.format("TAP", line[9:].strip() or "bailed out"))


def _unescape(name: str) -> str:
    return name.replace("\\#", "#").replace("\\\\", "\\").strip()


def _read_point(
    section: LogSection, index: int, depth: int, match: re.Match[str], stream: _Stream
) -> _Point:
    around = tuple(stream.names.get(level, "") for level in range(depth))
    called = stream.names.pop(depth, "")
    name = _unescape(match["name"] or "") or called
    name = name or f"test {match['number'] or len(stream.points) + 1}"
    if match["opens"]:
        stream.names[depth] = name
    block, is_yaml = list[str](), False
    for line in section.lines[index + 1 : index + 1 + _REACH]:
        text = line.strip()
        outside = line and not line[0].isspace() and not is_yaml
        if outside or text == "..." or text.startswith(("ok ", "not ok ", "# Subtest: ")):
            break
        is_yaml = is_yaml or text == "---"
        if text != "---":
            block.append(line)
    skipped, opens = bool(match["directive"]), bool(match["opens"])
    return _Point(index, (*around, name), not match["bad"], skipped, opens, block)


def _end_stream(section: LogSection, output: RunnerOutput, stream: _Stream) -> None:
    if not stream.announced and (stream.plan is None or not stream.points):
        return  # lines that happen to begin like this
    missing = (stream.plan or 0) - stream.count_roots()
    if missing > 0 and not stream.bailed:
        why = f"{missing} of {stream.plan} planned results are missing"
        output.doubts.append(LEFT_OUT.format("TAP", why))
    names, failing, good, bad = list[str](), list[tuple[int, Failure]](), 0, 0
    for at, point in enumerate(stream.points):
        parts, is_suite = stream.list_parts(at), point.has("type: 'suite'")
        encloses = bool(parts) or is_suite
        if point.skipped:
            output.skipped += not encloses
            continue
        good += point.good and not is_suite
        bad += not point.good and not is_suite
        if not encloses and not point.is_whole:
            names.append(_make_test(section, point, "").id)
        by_parts = any(not part.good and not part.skipped for part in parts)
        if not (point.good or by_parts or point.has("failureType: 'subtestsFailed'")):
            failing.append((section.numbers[point.index], _read_failure(section, point)))
    run = RunnerRun("the TAP stream", names, failing, len(names), len(failing))
    totals = stream.totals
    if "pass" in totals or "fail" in totals:
        failed = totals.get("fail", 0) + totals.get("cancelled", 0)
        run.failed += max(0, failed - bad)
        run.unclear = (good, bad) != (totals.get("pass", 0), failed)
    else:
        run.unclear = stream.plan != stream.count_roots()
    output.add_run(run)


def _make_test(
    section: LogSection,
    point: _Point,
    message: str,
    path: str | None = None,
    line: str | None = None,
) -> Failure:
    name = " > ".join(filter(None, point.names))
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
    if point.is_whole:
        name = " > ".join(filter(None, point.names))
        is_file = _is_script(name)
        above = find_error_above(section.lines, point.index) if is_file else ""
        why, place = f"{name}: {above or message or 'failed'}", name if is_file else path
        return section.failure("error", why, place, None if is_file else line, name)
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
