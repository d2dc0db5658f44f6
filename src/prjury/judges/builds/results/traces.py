"""Errors that tools print over several lines.

Each reader takes a section of a log and yields the number of a line with the failure found there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from prjury.judges.builds.failure import Failure, Kind, with_details
from prjury.judges.builds.results.error_text import first_frame, with_values
from prjury.judges.builds.results.problem_matchers import Found
from prjury.judges.builds.results.runner_output import LogSection, RunnerReader

_WHY = (
    r"(?:(?:command )?not found|Permission denied|No such file(?: or directory)?|"
    r"Is a directory|Directory nonexistent|Exec format error|bad interpreter: .*)"
)
#: A shell by its name, make, which does without a shell where it can, or a script.
_SHELL = r"(?:\S*/)?(?:ba|da|k|z|a)?sh"
_SAID = re.compile(
    rf"(?:{_SHELL}|\w*make(?:\[\d+\])?|(?P<script>\S+?)(?=: (?:line )?\d+: )): "
    rf"(?:(?:line )?(?P<line>\d+): )?"
    rf"(?P<message>(?:\.: |cd: )?(?:cannot \w+ )?(?P<what>[^:]+): {_WHY}|cd: can't cd to \S+)$"
)
_ENVIRONMENT = re.compile(
    r"(?:\S*/)?env: [‘'\"]?(?P<what>[^’'\":]+)[’'\"]?: "
    r"(?P<why>No such file or directory|Permission denied)$"
)
#: A shell that finds no program says so in words of its own; what else it says, others say too.
_UNKNOWN = re.compile(rf"{_SHELL}: .*not found$")
#: How a caller says that a command could not be executed.
_EXIT = re.compile(r"\b(?:Error|code|status|exit) 12[67]\b")
_GAVE_UP = re.compile(r"\w*make(?:\[\d+\])?: \*\*\* \[.*\] Error \d+$")

_REACH = 5


def shells(section: LogSection) -> Iterator[tuple[int, Failure]]:
    """What shells say of commands that they could not execute, without the shell's own name.

    A build may print such a line and go on. So it counts where it is the last word, where make
    gives up at once, or where the caller ends with the exit code for it.
    """
    lines = section.lines
    for index, line in enumerate(lines):
        if not (match := _SAID.match(line) or _ENVIRONMENT.match(line)):
            continue
        if _UNKNOWN.match(line) or _ended(lines[index + 1 : index + 1 + _REACH]):
            yield section.numbers[index], _failure(section, match)


def _ended(below: Sequence[str]) -> bool:
    following = next((line for line in below if line.strip()), None)
    if following is None or _GAVE_UP.match(following):
        return True
    return any(map(_EXIT.search, below))


def _failure(section: LogSection, match: re.Match[str]) -> Failure:
    """The file that could not be executed, or the script's line that wanted it."""
    found = match.groupdict()
    message = found.get("message") or f"{found['what']}: {found['why']}"
    if script := found.get("script"):
        return section.failure("error", message, script, found["line"])
    what = found["what"] or ""
    path = section.tree.find(what, section.directory) if "/" in what else None
    return section.failure("error", message, path)


#: A message of Rust's compiler ends with an empty line.
_LONGEST_BLOCK = 40
_RUSTC = re.compile(r"error(?:\[E\d+\])?: (?P<message>.*)")
_RUFF = re.compile(r"(?P<message>(?:[A-Z]+\d+ |invalid-syntax: |unformatted: )\S.*)")
_ARROW = re.compile(r"\s*--> (?P<path>[^:]{1,300}):(?P<line>\d+):\d+$")

_CARGO = re.compile(
    r"error: (?P<message>(?:linking with|no matching package|failed to |the lock file|package ).*)"
)
_CAUSE = "Caused by:"
_TOML = re.compile(r"`(?P<path>[^`]+\.toml)`")

_PYTHON_FRAME = re.compile(r'(?P<before>E?\s+)File "(?P<path>[^"]{1,300})", line (?P<line>\d+)')
_PYTHON_ERROR = re.compile(
    r"(?:E\s+)?(?P<message>(?P<type>[\w.]*(?:Error|Exception|Warning|Exit|Interrupt))(?:: .*|$))"
)
#: How much further in than the error's own line, wherever an installer puts the whole.
_FRAME_INDENT = 2
_SYNTAX = frozenset({"SyntaxError", "IndentationError", "TabError"})

_SCRIPT_ERROR = re.compile(r"(?:Uncaught )?(?P<message>(?P<type>\w*Error)(?: \[\w+\])?: .*)")
_SCRIPT_PLACE = re.compile(r"(?P<path>[^\s:]{1,300}\.[cm]?[jt]sx?):(?P<line>\d+)$")

#: So many lines may stand between a message that announces values and the stack.
_VALUES = 60

_SPOTBUGS = re.compile(
    r"\[ERROR\] (?:High|Medium|Low): (?P<message>.*) \[(?P<type>[\w.$]+)\] .*?"
    r"(?P<file>\w+\.\w+):\[lines? (?P<line>\d+)"
)
#: A goal of a module that gave up.
MAVEN_GOAL = re.compile(
    r"\[ERROR\] Failed to execute goal (?P<message>(?P<name>(?:\S+ )?(?:\(\S+\) )?"
    r"on project [^:\s]+): ?(?P<reason>.*?))(?: -> \[Help \d+\])?$"
)
_CONSEQUENCES = (
    "There are test failures",
    "Compilation failure",
    "There were failing tests",
    "Compilation failed",
    "Compilation error",
)
_ENFORCER = re.compile(
    r"\[ERROR\] Rule \d+: (?:\S*\.)?(?P<rule>\w+)(?:\(\w+\))? failed with message:"
)
_MAVEN_ERROR = re.compile(r"\[ERROR\] +(?P<text>\S.*)")
#: A project whose POM is wrong, and what is wrong there.
_MAVEN_PROJECT = re.compile(r"\[ERROR\] +The project .{1,300} \((?P<path>\S+)\) has \d+ errors?$")
_BELOW_PROJECT = "[ERROR]     "
#: A message that names its POM is read without the project.
_IN_POM = re.compile(r"\[ERROR\] {4,}(?P<message>(?!\S+ POM )\S.*?)(?: -> \[Help \d+\])?$")
_POM_LINE = re.compile(r" @ (?:\S+, )?line (?P<line>\d+), column \d+$")

_GRADLE_WHERE = re.compile(r"\w+ (?:file )?'(?P<path>[^']+)' line: (?P<line>\d+)")
#: Gradle 4 names no task where it lacks a download, but what it was resolving.
_GRADLE_TASK = re.compile(
    r"(?:Execution failed for task|Could not determine the dependencies of task"
    r"|Could not resolve all \w+(?: \w+)? for configuration) '(?P<name>[^']+)'"
)

_NPM = re.compile(r"npm (?:ERR!|error) (?P<text>\S.*)")
_NPM_CODE = re.compile(r"code (?P<code>\S+)$")
_NPM_LIFECYCLE = re.compile(r"Lifecycle script `(?P<script>[^`]+)` failed")
_NPM_PREFIX = re.compile(r"[a-z]+ (?=[A-Z])")
_PNPM = re.compile(r"Error: ERR_PNPM_(?P<code>(?!RECURSIVE)\w+)$")
_PNPM_MARKS = ("╰─▶ ", "× ")


def _matches(
    expression: re.Pattern[str], section: LogSection
) -> Iterator[tuple[int, re.Match[str]]]:
    """The lines that match, by their index in the section."""
    for index, line in enumerate(section.lines):
        if match := expression.match(line):
            yield index, match


def arrows(section: LogSection) -> Found:
    """Rust's compiler and ruff: the message first, the place on the next lines."""
    for index, line in enumerate(section.lines):
        match = _RUSTC.match(line)
        kind: Kind = "compile" if match else "error"
        match = match or _RUFF.match(line)
        if match and (place := _arrow(section.lines[index + 1 : index + 4])):
            failure = section.failure(kind, match["message"], place["path"], place["line"])
            block = takewhile(str.strip, section.lines[index : index + _LONGEST_BLOCK])
            yield section.numbers[index], with_details(failure, block)


def _arrow(below: Sequence[str]) -> re.Match[str] | None:
    return next(filter(None, map(_ARROW.match, below)), None)


def cargo_errors(section: LogSection) -> Found:
    """What keeps cargo from building at all, with the causes that it gives."""
    for index, match in _matches(_CARGO, section):
        below = section.lines[index + 1 : index + 12]
        if _arrow(below[:3]):
            continue
        causes = [below[at + 1].strip() for at, text in enumerate(below[:-1]) if text == _CAUSE]
        manifest = _TOML.search(match.string)
        message = ": ".join([match["message"], *causes])
        failure = section.failure("error", message, manifest["path"] if manifest else None)
        yield section.numbers[index], failure


def python_traces(section: LogSection) -> Found:
    """Tracebacks and syntax errors: the innermost frame inside the tree and the error's line."""
    frame: tuple[str, str] | None = None
    margin = 0
    for index, line in enumerate(section.lines):
        if match := _PYTHON_FRAME.match(line):
            before = match["before"]
            margin = max(0, len(before) - _FRAME_INDENT) if before.isspace() else 0
            if frame is None or _is_nearer(section, match["path"], frame[0]):
                frame = (match["path"], match["line"])
        elif frame and (error := _PYTHON_ERROR.match(line[:margin].lstrip() + line[margin:])):
            kind: Kind = "compile" if error["type"] in _SYNTAX else "error"
            yield section.numbers[index], section.failure(kind, error["message"], *frame)
            frame = None
        elif not line.strip():
            frame = None


def _is_nearer(section: LogSection, path: str, before: str) -> bool:
    """Whether a file is the tree's own, or may be and the one before cannot."""
    if section.tree.find(path, section.directory):
        return True
    return before.startswith(("/", "<")) and not path.startswith(("/", "<"))


def script_traces(section: LogSection) -> Found:
    """An error that ends Node: its first frame in the tree; a syntax error has its own line."""
    lines = section.lines
    for index, match in _matches(_SCRIPT_ERROR, section):
        start = _stack(lines, index, match["message"])
        if start is None:
            continue
        message = with_values(match["message"], lines[index + 1 : start])
        path, at = first_frame(takewhile(_is_frame, lines[start : start + 50]))
        kind: Kind = "error"
        if match["type"] == "SyntaxError":
            above = map(_SCRIPT_PLACE.match, lines[max(0, index - 6) : index])
            if place := next(filter(None, above), None):
                path, at, kind = place["path"], place["line"], "compile"
        yield section.numbers[index], section.failure(kind, message, path, at)


def _stack(lines: Sequence[str], index: int, message: str) -> int | None:
    """Where the stack of an error begins: below the values, if the message announces some."""
    reach = _VALUES if message.endswith(":") else 1
    below = range(index + 1, min(index + 1 + reach, len(lines)))
    return next((at for at in below if _is_frame(lines[at])), None)


def _is_frame(line: str) -> bool:
    return line.startswith("    at ")


def spotbugs(section: LogSection) -> Found:
    """SpotBugs through Maven, which names the class and its file's last part."""
    for index, match in _matches(_SPOTBUGS, section):
        path = section.tree.of_type(match["type"], match["file"])
        failure = section.failure("error", match["message"], path, match["line"])
        yield section.numbers[index], failure


def maven(section: LogSection) -> Found:
    """The goals that gave up, the rules of the enforcer, and what is wrong in a POM.

    A goal that did not give up for tests or compile errors stands for itself.
    """
    for index, match in _matches(MAVEN_GOAL, section):
        consequence = not match["reason"] or match["reason"].startswith(_CONSEQUENCES)
        kind: Kind = "goal" if consequence else "error"
        failure = section.failure(kind, match["message"], name=match["name"])
        yield section.numbers[index], failure
    for index, match in _matches(_ENFORCER, section):
        why = next(_enforced(section.lines, index + 1), "failed")
        failure = section.failure("error", f"{match['rule']}: {why}", name=match["rule"])
        yield section.numbers[index], failure
    yield from _wrong_poms(section)


def _wrong_poms(section: LogSection) -> Found:
    """What Maven says of each project's POM, in the lines below the project."""
    for index, project in _matches(_MAVEN_PROJECT, section):
        below = enumerate(section.lines[index + 1 :], index + 1)
        for at, line in takewhile(lambda each: each[1].startswith(_BELOW_PROJECT), below):
            if found := _IN_POM.match(line):
                place = _POM_LINE.search(found["message"])
                number = place["line"] if place else None
                failure = section.failure("error", found["message"], project["path"], number)
                yield section.numbers[at], failure


def _enforced(lines: Sequence[str], start: int) -> Iterator[str]:
    """What the enforcer says of one rule; the line with an arrow names the culprit."""
    texts: list[str] = []
    for line in lines[start : start + 20]:
        match = _MAVEN_ERROR.match(line)
        if not match or _ENFORCER.match(line) or match["text"].startswith("-> ["):
            break
        texts.append(match["text"])
    yield from (text for text in texts if " <--- " in text)
    yield from texts


def gradle(section: LogSection) -> Found:
    """What went wrong, by Gradle's own heading, with the build file's line where it is named."""
    place: re.Match[str] | None = None
    for index, line in enumerate(section.lines):
        below = section.lines[index + 1 : index + 4]
        if line == "* Where:":
            place = _GRADLE_WHERE.match(below[0]) if below else None
        elif line == "* What went wrong:" and below:
            yield section.numbers[index], _of_gradle(section, below, place)
            place = None


def _of_gradle(section: LogSection, below: Sequence[str], place: re.Match[str] | None) -> Failure:
    reasons = [line.strip()[2:] for line in below[1:] if line.strip().startswith("> ")]
    reason = reasons[0] if reasons else ""
    task = _GRADLE_TASK.match(below[0])
    message = f"{below[0]} {reason}".strip()
    path, line = (place["path"], place["line"]) if place else (None, None)
    if task and reason.startswith(_CONSEQUENCES):
        return section.failure("goal", message, name=task["name"])
    return section.failure("error", message, path, line, task["name"] if task else None)


def npm(section: LogSection) -> Found:
    """Errors of npm: a failed script is a goal, because its own output holds the cause."""
    for index, match in _matches(_NPM, section):
        text, failure = match["text"], None
        if lifecycle := _NPM_LIFECYCLE.match(text):
            message = f"npm script {lifecycle['script']} failed"
            failure = section.failure("goal", message, name=lifecycle["script"])
        elif text.startswith("Missing script:"):
            failure = section.failure("error", text)
        elif (code := _NPM_CODE.match(text)) and not code["code"].isdigit():
            failure = _of_npm(section, section.lines[index + 1 : index + 12], code["code"])
        if failure:
            yield section.numbers[index], failure


def _of_npm(section: LogSection, below: Sequence[str], code: str) -> Failure:
    """What npm's code means, by the next lines that hold a sentence."""
    if code == "ELIFECYCLE":
        return section.failure("goal", "npm script failed", name=code)
    texts = [match["text"] for match in map(_NPM.match, below) if match]
    missing = next((text for text in texts if text.startswith(("Missing:", "Invalid:"))), "")
    first = next((text for text in texts if " " in text and not text.startswith("path ")), "")
    return section.failure("error", f"{code}: {missing or _NPM_PREFIX.sub('', first, count=1)}")


def pnpm(section: LogSection) -> Found:
    """Errors of pnpm: a code in a line of its own, the sentence behind an arrow or a cross."""
    for index, match in _matches(_PNPM, section):
        below = [text.strip() for text in section.lines[index + 1 : index + 8]]
        marked = ((mark, text) for mark in _PNPM_MARKS for text in below if text.startswith(mark))
        words = next((text.removeprefix(mark) for mark, text in marked), "")
        yield section.numbers[index], section.failure("error", f"{match['code']}: {words}")


READERS: Sequence[RunnerReader[Found]] = (
    RunnerReader(arrows, ("--> ",)),
    RunnerReader(cargo_errors, ("\nerror: ",)),
    RunnerReader(python_traces, ('File "',)),
    RunnerReader(script_traces, ("\n    at ",)),
    RunnerReader(spotbugs, (":[line",)),
    RunnerReader(maven, ("[ERROR]",)),
    RunnerReader(gradle, ("\n* What went wrong:",)),
    RunnerReader(
        shells,
        (" not found", " denied", "No such file", "irectory", "Exec format", "interpreter", "cd: "),
    ),
    RunnerReader(npm, ("\nnpm ",)),
    RunnerReader(pnpm, ("ERR_PNPM_",)),
)
