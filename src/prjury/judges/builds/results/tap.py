"""TAP, as ``tape``, ``prove``, Bats and others write it, with subtests indented by four blanks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from prjury.judges.builds.failure import Failure
from prjury.judges.builds.results.error_text import add_values, find_error_above, find_place
from prjury.judges.builds.results.runner_output import LogSection, RunnerOutput, is_hook
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
    index: int
    names: tuple[str, ...]
    good: bool
    skipped: bool
    opens: bool


class _StreamState(Struct):
    points: list[_Point] = []
    names: dict[int, str] = {}
    plan: int | None = None
    announced: bool = False
    closed: bool = False
    bailed: bool = False

    def list_parts(self, at: int) -> list[_Point]:
        depth, parts = len(self.points[at].names), list[_Point]()
        step = 1 if self.points[at].opens else -1
        at += step
        while 0 <= at < len(self.points) and len(self.points[at].names) > depth:
            parts.append(self.points[at])
            at += step
        return parts


def read_tap(section: LogSection) -> RunnerOutput:
    """Return the results of each stream; tests are known by their names and the directory."""
    output, stream = RunnerOutput(), _StreamState()
    for index, line in enumerate(section.lines):
        text = line.lstrip(" ")
        depth = min((len(line) - len(text)) // _INDENT, _DEEPEST)
        match = _POINT.match(text.rstrip()) if text.startswith(("ok", "not ok")) else None
        if not depth and _begins_stream(line, match, stream):
            _end_stream(section, output, stream)
            is_tap = line.startswith("TAP version ") or stream.announced or bool(stream.points)
            stream = _StreamState(announced=is_tap)
        if match:
            stream.points.append(_make_point(index, depth, match, stream))
        elif text.startswith("# Subtest: "):
            stream.names[depth] = _unescape(text.removeprefix("# Subtest: "))
        elif not depth and (plan := _PLAN.match(line)):
            stream.plan, stream.closed = int(plan[1]), bool(stream.points)
        elif line.startswith("Bail out!") and (stream.points or stream.announced):
            stream.bailed = True
            output.doubts.append(LEFT_OUT.format("TAP", line[9:].strip() or "bailed out"))
    _end_stream(section, output, stream)
    return output


def _begins_stream(line: str, match: re.Match[str] | None, stream: _StreamState) -> bool:
    if match:
        return match["number"] == "1" and stream.closed
    return line.startswith("TAP version 1") or bool(stream.plan is not None and _PLAN.match(line))


def _unescape(name: str) -> str:
    return name.replace("\\#", "#").replace("\\\\", "\\").strip()


def _make_point(index: int, depth: int, match: re.Match[str], stream: _StreamState) -> _Point:
    around = tuple(stream.names.get(level, "") for level in range(depth))
    title = stream.names.pop(depth, "")
    name = _unescape(match["name"] or "") or title
    name = name or f"test {match['number'] or len(stream.points) + 1}"
    if match["opens"]:
        stream.names[depth] = name
    skipped, opens = bool(match["directive"]), bool(match["opens"])
    return _Point(index, (*around, name), not match["bad"], skipped, opens)


def _end_stream(section: LogSection, output: RunnerOutput, stream: _StreamState) -> None:
    if not stream.announced and (stream.plan is None or not stream.points):
        return  # lines that happen to begin like this
    roots = sum(len(point.names) == 1 for point in stream.points)
    missing = (stream.plan or 0) - roots
    if missing > 0 and not stream.bailed:
        why = f"{missing} of {stream.plan} planned results are missing"
        output.doubts.append(LEFT_OUT.format("TAP", why))
    names, failing = list[str](), list[tuple[int, Failure]]()
    for at, point in enumerate(stream.points):
        parts = stream.list_parts(at)
        if point.skipped:
            output.skipped += not parts
            continue
        failure = _read_failure(section, point)
        if not parts and failure.kind == "test":
            names.append(failure.id)
        if not (point.good or any(not part.good and not part.skipped for part in parts)):
            failing.append((section.numbers[point.index], failure))
    unclear = stream.plan != roots
    output.add_run("the TAP stream", names, failing, len(names), len(failing), unclear=unclear)


def _read_failure(section: LogSection, point: _Point) -> Failure:
    name = " > ".join(filter(None, point.names))
    if point.good:
        return section.test(name, section.directory)
    block = _list_below(section.lines[point.index + 1 : point.index + 1 + _REACH])
    message = _read_message(block)
    if name.endswith(_SCRIPTS) and " " not in name:  # a file that cannot be loaded
        message = find_error_above(section.lines, point.index) or message
        return section.failure("error", f"{name}: {message}", name, None, name)
    path, line = find_place(block, section.tree, section.directory)
    if is_hook(name):
        return section.failure("error", f"{name}: {message}", path, line, name)
    return section.test(name, section.directory, message, path, line)


def _list_below(lines: Sequence[str]) -> list[str]:
    """List the lines about one result: indented or in YAML, or else comments."""
    block, is_yaml = list[str](), False
    for line in lines:
        text = line.strip()
        outside = line and not line[0].isspace() and not line.startswith("#") and not is_yaml
        if outside or text == "..." or text.startswith(("ok ", "not ok ", "# Subtest: ")):
            break
        is_yaml = is_yaml or text == "---"
        if text not in {"---", "#"}:
            block.append(line)
    return block


def _read_message(block: Sequence[str]) -> str:
    lines = [*(line.strip() for line in block), ""]
    for at, line in enumerate(lines):
        key, _, value = line.partition(": ")
        if key in {"error", "message"}:
            text = value.strip().strip("'\"`")
            return add_values(lines[at + 1] if text in {"|-", "|", ">-"} else text, block[at + 2 :])
    texts = [line.lstrip("# ") for line in lines if line.lstrip("# ")]
    return add_values(texts[0], texts[1:]) if texts else ""
