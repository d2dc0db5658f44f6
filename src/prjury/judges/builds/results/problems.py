"""Errors that tools print: by the first matcher that fits, or by readers of several lines.

The matchers are in ``problems.json``, in the format of GitHub and Visual Studio Code with RE2's
expressions; a matcher may have a ``kind`` besides, and a pattern the group of a goal's ``name``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise, takewhile
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct, field

from prjury.judges.builds.failure import Failure, Kind, with_details
from prjury.judges.builds.results.lines import TABLE, LineSet, LogSection, add_values, list_places

#: What a reader of errors yields: the number of a line in the log, and the failure found there.
NumberedFailures: TypeAlias = Iterator[tuple[int, Failure]]
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

    def find_errors(self, lines: Sequence[str]) -> Iterator[tuple[ProblemMatcher, int, Values]]:
        """Yield every error in the lines; where several matchers fit one line, the first one's."""
        for index, line in enumerate(lines):
            for number, match in self._firsts.find(line):
                matcher = self._matchers[number]
                first = {"severity": matcher.severity, **matcher.pattern[0].read(match)}
                problems = list(self._match_patterns_below(number, first, lines, index))
                for at, values in problems:
                    if values["severity"].lower().endswith("error"):
                        yield matcher, at, values
                if problems:
                    break

    def _match_patterns_below(
        self, matcher_number: int, values: Values, lines: Sequence[str], index: int
    ) -> Iterator[tuple[int, Values]]:
        below = self._matchers[matcher_number].pattern[1:]
        if not below:
            yield index, values
            return
        expressions = self._below[matcher_number].patterns
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


class MatcherFile(Struct, frozen=True):
    """All matchers, and beginnings of lines: of goals, and of errors, some with a cause below."""

    matchers: list[ProblemMatcher] = field(name="problemMatcher")
    prefixes: dict[str, tuple[str, ...]] = {}


_TABLE = files("prjury.judges.builds.results").joinpath("problems.json").read_bytes()


@cache
def read_table() -> tuple[MatcherSet, dict[str, tuple[str, ...]]]:
    table = msgspec.json.decode(_TABLE, type=MatcherFile)
    return MatcherSet(table.matchers), table.prefixes


def read_problems(section: LogSection) -> NumberedFailures:
    """Yield the errors that the matchers find, with the lines below that belong to them."""
    lines = section.lines
    died = _read_perl_errors_by_file(lines) if "\nDubious, test " in section.text else {}
    for matcher, index, values in read_table()[0].find_errors(lines):
        message = values.get("message", "")
        if message.endswith("Tests: 0 Failed: 0"):
            message = died.get(values.get("file", ""), message)
        text = message + _read_symbol(lines[index + 1 : index + 5])
        code = f" ({values['code']})" if "code" in values else ""
        path, line, name = (values.get(key) for key in ("file", "line", "name"))
        failure = section.failure(matcher.kind, f"{text}{code}", path, line, name)
        below = list_continuation_lines(lines[index + 1 :]) if matcher.kind == "compile" else ()
        yield section.numbers[index], with_details(failure, (message, *below))


def _read_perl_errors_by_file(lines: Sequence[str]) -> dict[str, str]:
    """Return the errors with which Perl's test files ended, by the files; it repeats where."""
    errors, error = dict[str, str](), ""
    for line in lines:
        words, at, place = line.rpartition(" at ")
        path, _, number = place.partition(" line ")
        if not at or not number.removesuffix(".").isdecimal():
            continue
        if not words.startswith(("BEGIN failed--", "Compilation failed in ")):
            error = words.partition(" (@INC ")[0]
        if path.endswith(".t"):
            errors.setdefault(path, error)
    return errors


def _read_symbol(below: Sequence[str]) -> str:
    """Return the rest of a message of javac or scalac, which stands below it."""
    first = dict[str, str]()
    for line in below:
        text = " ".join(line.removeprefix("[ERROR]").split())
        first.setdefault(text.partition(":")[0].strip(), text)
    return "".join(f" ({first[key]})" for key in ("symbol", "found", "required") if key in first)


def list_continuation_lines(below: Sequence[str]) -> list[str]:
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


_REACH = 50
#: The last line of Python's tracebacks, and the first one of Node's and of Ruby's.
_ERROR = re.compile(
    r"(?:E +|Uncaught )?(?P<message>(?P<type>[\w.:]*(?:Error|Exception|Exit|Interrupt))"
    r"(?: \[\w+\])?(?:: .*|$))"
)
_SYNTAX = frozenset({"SyntaxError", "IndentationError", "TabError"})
#: What a goal says that gave up because of other failures.
_CONSEQUENCES = tuple(TABLE["consequences"])
_LEVELS = ("error: ", "npm error code ", "npm ERR! code ", "npm error ", "npm ERR! ")
#: Lines between an error and its cause that say nothing.
_EMPTY = frozenset({"", "Caused by:", "npm error", "npm ERR!"})


def read_build_errors(section: LogSection, *, tests: bool) -> NumberedFailures:
    """Yield what compilers and build tools print; traces beside results of `tests` are theirs."""
    for reader, mark in _READERS:
        if mark in section.text:
            for number, failure in reader(section):
                if not (tests and reader is _read_stack_traces and failure.kind != "compile"):
                    yield number, failure


def _read_arrow_errors(section: LogSection) -> NumberedFailures:
    """Yield what Rust's compiler, Ruff and others say above the arrow to the place."""
    for index, line in enumerate(section.lines):
        text = line.strip()
        path, number = next(list_places(text[4:]), ("", "")) if text[:4] == "--> " else ("", "")
        heading = index - 1
        while heading > max(0, index - 4) and section.lines[heading][:1] in {" ", ""}:
            heading -= 1
        above = section.lines[heading] if heading >= 0 else ""
        is_code = above[:1].isupper() and above.partition(" ")[0][-1:].isdigit()
        if path and (is_code or above.startswith(("error", "invalid-", "unformatted: "))):
            kind: Kind = "compile" if above.startswith("error") else "error"
            message = above.partition(": ")[2] if kind == "compile" else above
            failure = section.failure(kind, message, path, number)
            block = takewhile(str.strip, section.lines[heading : heading + _REACH])
            yield section.numbers[heading], with_details(failure, block)


def _read_cargo_and_node_errors(section: LogSection) -> NumberedFailures:
    """Yield what tools of Cargo and Node say in lines that are known by their beginnings."""
    _, prefixes = read_table()
    for index, line in enumerate(section.lines):
        text = line.strip()
        if text.startswith(prefixes["goals"]):
            message = text.removeprefix("error: ").partition(" due to ")[0]
            name = message.split("`")[1] if "`" in message else None
            message = message.removesuffix(" with error:")
            yield section.numbers[index], section.failure("goal", message, name=name)
        elif text.startswith(prefixes["errors"]):
            below = (one.strip() for one in section.lines[index + 1 : index + 5])
            cause = next((one for one in below if one not in _EMPTY), "")
            texts = [text, cause] if text.startswith(prefixes["caused"]) else [text]
            for level in _LEVELS:
                texts = [one.removeprefix(level) for one in texts]
            message = ": ".join(filter(None, texts))
            yield section.numbers[index], section.failure("error", message)


def _read_stack_traces(section: LogSection) -> NumberedFailures:
    """Yield errors with a stack: Python's above the error, Node's and Ruby's below it."""
    frames = list[str]()
    lines = [line.removeprefix("# ") for line in section.lines]  # as in comments of TAP
    for index, line in enumerate(lines):
        text = line.strip()
        if text.startswith('File "') or ' File "' in line:
            frames.append(line)
            continue
        match = _ERROR.match(text)
        inner = frames and line[:1].isspace() and _count_blanks(line) > _count_blanks(frames[-1])
        if match and not inner and (error := _read_exception(section, lines, index, match, frames)):
            yield section.numbers[index], error
        if not text or (match and not inner):
            frames = []


def _count_blanks(line: str) -> int:
    return len(line) - len(line.lstrip(" E"))


def _read_exception(
    section: LogSection,
    lines: Sequence[str],
    index: int,
    match: re.Match[str],
    frames: Sequence[str],
) -> Failure | None:
    """Return an error with the frames above it, or else with a stack below it; None without."""
    message, is_syntax = match["message"], match["type"] in _SYNTAX
    kind: Kind = "compile" if is_syntax else "error"
    if frames:
        path, number = section.find_place(frames, last=True)
        if not path:
            path, number = next(list_places(frames[-1]), (None, None))
        return section.failure(kind, message, path, number)
    reach = _REACH if message.endswith(":") else 1
    values = list(takewhile(lambda one: not one.startswith("    at "), lines[index + 1 :][:reach]))
    stack = lines[index + 1 + len(values) :][:_REACH]
    if "." in match["type"] or not (stack and stack[0].startswith("    at ")):
        return None  # of the JVM, or no stack
    path, number = section.find_place(stack)
    if is_syntax:
        places = (place for line in lines[max(0, index - 6) : index] for place in list_places(line))
        path, number = next(places, (path, number))
    return section.failure(kind, add_values(message, values), path, number)


def _read_maven_failures(section: LogSection) -> NumberedFailures:
    """Yield the goals that gave up; without failing tests or compile errors they are errors."""
    for index, line in enumerate(section.lines):
        text = line.removeprefix("[ERROR] ")
        if text.startswith("Failed to execute goal "):
            text = text.removeprefix("Failed to execute goal ").partition(" -> [Help ")[0]
            goal, _, rest = text.partition("on project ")
            project, _, reason = rest.partition(": ")
            name = f"{goal}on project {project}".removesuffix(":")
            follows = not reason.strip() or reason.strip().startswith(_CONSEQUENCES)
            failure = section.failure("goal" if follows else "error", text, name=name)
            yield section.numbers[index], failure
        elif text.startswith("Rule ") and text.endswith("failed with message:"):
            own = takewhile(lambda one: " Rule " not in one, section.lines[index + 1 : index + 20])
            below = [one.removeprefix("[ERROR]").strip() for one in own]
            why = next((one for one in below if " <--- " in one), next(filter(None, below), ""))
            rule = text.partition(": ")[2].split(" ")[0].partition("(")[0].rpartition(".")[2]
            yield section.numbers[index], section.failure("error", f"{rule}: {why}", name=rule)


def _read_gradle_failures(section: LogSection) -> NumberedFailures:
    lines = section.lines
    for index, line in enumerate(lines[:-1]):
        if line == "* What went wrong:":
            below = lines[index + 1]
            more = [one.strip() for one in lines[index + 2 : index + 5]]
            reason = next((one[2:] for one in more if one.startswith("> ")), "")
            names_task = "task '" in below or "for configuration '" in below
            name = below.partition("'")[2].partition("'")[0] if names_task else None
            kind: Kind = "goal" if name and reason.startswith(_CONSEQUENCES) else "error"
            message = f"{below} {reason}".strip()
            path, number = None, None
            if lines[max(0, index - 3) : index - 2] == ["* Where:"]:
                where = lines[index - 2]
                path, number = where.partition("'")[2].partition("'")[0], where.rpartition(" ")[2]
            yield section.numbers[index], section.failure(kind, message, path, number, name)


_READERS = (
    (_read_arrow_errors, "--> "),
    (_read_cargo_and_node_errors, "\n"),
    (_read_stack_traces, "\n"),
    (_read_maven_failures, "[ERROR]"),
    (_read_gradle_failures, "\n* What went wrong:"),
)
