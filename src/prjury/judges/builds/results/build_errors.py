"""Errors that tools print over several lines, and what shells say. Pure.

Each reader takes a section of a log and yields the number of a line with the failure found there.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from prjury.judges.builds.failure import Failure, Kind, with_details
from prjury.judges.builds.results.error_text import with_values
from prjury.judges.builds.results.places import find_place, list_places
from prjury.judges.builds.results.problem_matchers import Found
from prjury.judges.builds.results.runner_output import LogSection

_REACH = 50
#: The last line of Python's tracebacks, and the first one of Node's and of Ruby's.
_ERROR = re.compile(
    r"(?:E +|Uncaught )?(?P<message>(?P<type>[\w.:]*(?:Error|Exception|Exit|Interrupt))"
    r"(?: \[\w+\])?(?:: .*|$))"
)
_SYNTAX = frozenset({"SyntaxError", "IndentationError", "TabError"})
#: What a goal says that gave up because of other failures.
_CONSEQUENCES = (
    "There are test failures", "Compilation failure", "There were failing tests",
    "Compilation failed", "Compilation error",
)  # fmt: skip
_SHELLS = frozenset("sh bash dash zsh ash ksh make env".split())
#: The ends of a command that could not be executed.
_NOT_RUN = tuple(
    f"{word} {code}" for word in ("Error", "code", "status", "exit") for code in (126, 127)
)
_WHY = (
    "not found", "Permission denied", "No such file", "No such file or directory",
    "Is a directory", "Directory nonexistent", "Exec format error",
)  # fmt: skip
_CARGO = ("linking with", "no matching package", "failed to ", "the lock file", "package ")


def read_build_errors(section: LogSection, *, tests: bool) -> Found:
    """Yield what compilers, build tools, programs and shells print."""
    for reader, mark in _READERS:
        if mark in section.text:
            for number, failure in reader(section):
                if not (tests and reader is _read_traces and failure.kind != "compile"):
                    yield number, failure


def _read_arrows(section: LogSection) -> Found:
    for index, line in enumerate(section.lines):
        text = line.strip()
        if not text.startswith("--> "):
            continue
        path, number = next(list_places(text[4:]), ("", ""))
        heading = index - 1
        while heading > max(0, index - 4) and section.lines[heading][:1] in {" ", ""}:
            heading -= 1
        above = section.lines[heading] if heading >= 0 else ""
        is_error, message = above.startswith("error"), above
        if is_error:
            message = above.partition(": ")[2]
        elif not (above[:1].isupper() and above.partition(" ")[0][-1:].isdigit()):
            is_error = above.startswith(("invalid-syntax: ", "unformatted: "))
            if not is_error:
                continue
        if not (path and message):
            continue
        kind: Kind = "compile" if above.startswith("error") else "error"
        failure = section.failure(kind, message, path, number)
        block = list[str]()
        for below in section.lines[heading : heading + _REACH]:
            if not below.strip():
                break
            block.append(below)
        yield section.numbers[heading], with_details(failure, block)


def _read_cargo(section: LogSection) -> Found:
    """Yield what keeps Cargo from building at all, with its causes, and what gave up."""
    lines = section.lines
    for index, line in enumerate(lines):
        text = line.removeprefix("error: ")
        if text == line:
            continue
        if text.startswith("could not compile `"):
            message = text.partition(" due to ")[0]
            name = message.partition("compile ")[2]
            yield section.numbers[index], section.failure("goal", message, name=name)
        elif "test failed, to rerun pass `" in text:
            which = text.partition("pass `")[2].rstrip("`")
            died = [one for one in lines[index + 1 : index + 4] if "exit successfully" in one]
            signal = f" ({died[0].rpartition(' (')[2]}" if died and " (" in died[0] else ""
            failure = section.failure("goal", f"test failed: {which}{signal}", name=which)
            yield section.numbers[index], failure
        elif text.startswith(_CARGO) and not any("--> " in one for one in lines[index : index + 4]):
            below = lines[index + 1 : index + 12]
            causes = [
                below[at + 1].strip() for at, one in enumerate(below[:-1]) if one == "Caused by:"
            ]
            quoted = [one for one in text.split("`") if one.endswith(".toml")]
            path = quoted[0] if quoted else None
            failure = section.failure("error", ": ".join([text, *causes]), path)
            yield section.numbers[index], failure


def _read_traces(section: LogSection) -> Found:
    """Yield errors with a stack: Python's above the error, Node's and Ruby's below it."""
    frames = list[str]()
    for index, line in enumerate(section.lines):
        text = line.strip()
        if ' File "' in line or text.startswith('File "'):
            frames.append(line)
            continue
        if not text:
            frames = []
            continue
        match = _ERROR.match(text)
        if match and frames and (not line[0].isspace() or _indent(line) <= _indent(frames[-1])):
            path, number = find_place(frames, section.tree, section.directory, last=True)
            if not path:
                path, number = next(list_places(frames[-1]), (None, None))
            kind: Kind = "compile" if match["type"] in _SYNTAX else "error"
            failure = section.failure(kind, match["message"], path, number)
            yield section.numbers[index], failure
            frames = []
        elif match and not frames and (failure_below := _read_stack(section, index, match)):
            yield section.numbers[index], failure_below


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" E"))


def _read_stack(section: LogSection, index: int, match: re.Match[str]) -> Failure | None:
    """Return an error whose stack stands below it, None where there is none."""
    lines, message = section.lines, match["message"]
    if "." in match["type"] or not match["type"].endswith("Error"):
        return None  # of the JVM
    reach = _REACH if message.endswith(":") else 1
    start = index + 1
    while start < min(len(lines), index + 1 + reach) and not lines[start].startswith("    at "):
        start += 1
    if start >= len(lines) or not lines[start].startswith("    at "):
        return None
    message = with_values(message, lines[index + 1 : start])
    stack = list[str]()
    for line in lines[start : start + _REACH]:
        if not line.startswith("    at "):
            break
        stack.append(line)
    path, number = find_place(stack, section.tree, section.directory)
    kind: Kind = "error"
    if match["type"] in _SYNTAX:
        for line in lines[max(0, index - 6) : index]:
            if place := next(list_places(line), None):
                (path, number), kind = place, "compile"
                break
    return section.failure(kind, message, path, number)


def _read_maven(section: LogSection) -> Found:
    """Yield the goals that gave up, and the rules of the enforcer."""
    for index, line in enumerate(section.lines):
        text = line.removeprefix("[ERROR] ")
        if text.startswith("Failed to execute goal "):
            text = text.removeprefix("Failed to execute goal ").partition(" -> [Help ")[0]
            name, colon, reason = text.partition(": ")
            while colon and "on project " not in name:
                more, colon, reason = reason.partition(": ")
                name = f"{name}: {more}"
            reason = reason.strip()
            name = name.removesuffix(":")
            kind: Kind = "goal" if not reason or reason.startswith(_CONSEQUENCES) else "error"
            yield section.numbers[index], section.failure(kind, text, name=name)
        elif text.startswith("Rule ") and text.endswith("failed with message:"):
            rule = text.partition(": ")[2].split(" ")[0].partition("(")[0].rpartition(".")[2]
            below = list[str]()
            for one in section.lines[index + 1 : index + 20]:
                if not one.startswith("[ERROR]") or " Rule " in one:
                    break
                below.append(one.removeprefix("[ERROR]").strip())
            culprits = [one for one in below if " <--- " in one]
            why = next(iter([*culprits, *filter(None, below)]), "failed")
            yield section.numbers[index], section.failure("error", f"{rule}: {why}", name=rule)


def _read_gradle(section: LogSection) -> Found:
    lines, place = section.lines, ("", "")
    for index, line in enumerate(lines[:-1]):
        below = lines[index + 1]
        if line == "* Where:":
            place = (below.partition("'")[2].partition("'")[0], below.rpartition("line: ")[2])
        elif line == "* What went wrong:":
            reasons = [one.strip()[2:] for one in lines[index + 2 : index + 5] if _is_reason(one)]
            reason = reasons[0] if reasons else ""
            names_task = "task '" in below or "for configuration '" in below
            name = below.partition("'")[2].partition("'")[0] if names_task else None
            message = f"{below} {reason}".strip()
            if name and reason.startswith(_CONSEQUENCES):
                failure = section.failure("goal", message, name=name)
            else:
                failure = section.failure("error", message, place[0] or None, place[1], name)
            yield section.numbers[index], failure
            place = ("", "")


def _is_reason(line: str) -> bool:
    return line.strip().startswith("> ")


def _read_node_tools(section: LogSection) -> Found:
    for index, line in enumerate(section.lines):
        text, below = line.strip(), section.lines[index + 1 : index + 12]
        failure: Failure | None = None
        if text.startswith(("npm ERR! ", "npm error ")):
            failure = _read_npm(section, text.split(" ", 2)[2], below)
        elif text.startswith(("ELIFECYCLE", "[ELIFECYCLE]", "error Command failed with exit code")):
            failure = section.failure("goal", text)
        elif text.startswith("The command failed in workspace "):
            failure = section.failure("goal", text, name=text.split(" ")[5])
        elif "ERR_PNPM_" in text and "ERR_PNPM_RECURSIVE" not in text:
            code, _, message = text.partition("ERR_PNPM_")[2].partition(" ")
            marked = [one.strip() for one in below if one.strip().startswith(("╰─▶ ", "× "))]
            marked.sort(key=lambda one: one.startswith("×"))
            words = message.strip() or (marked[0].partition(" ")[2] if marked else "")
            code_name = code if message.strip() else None
            failure = section.failure(
                "error", words if code_name else f"{code}: {words}", name=code_name
            )
        elif text.startswith("error ") and text[6:7].isupper() and "Command failed" not in text:
            failure = section.failure("error", text[6:])
        elif "The lockfile would have been " in text or text.startswith("Vitest caught "):
            start = max(0, text.find("The lockfile would"))
            failure = section.failure("error", text[start:])
        if failure:
            yield section.numbers[index], failure


def _read_npm(section: LogSection, text: str, below: Sequence[str]) -> Failure | None:
    if text.startswith("Lifecycle script `"):
        script = text.split("`")[1]
        return section.failure("goal", f"npm script {script} failed", name=script)
    if text.startswith("Missing script:"):
        return section.failure("error", text)
    code = text.removeprefix("code ")
    if code == text or code.isdigit() or " " in code:
        return None
    if code == "ELIFECYCLE":
        return section.failure("goal", "npm script failed", name=code)
    texts = [one.strip().split(" ", 2)[2] for one in below if one.strip().count(" ") > 1]
    missing = [one for one in texts if one.startswith(("Missing:", "Invalid:"))]
    sentences = [one for one in texts if " " in one and not one.startswith("path ")]
    words = next(iter([*missing, *sentences]), "")
    first, _, rest = words.partition(" ")
    if not missing and first.islower() and rest[:1].isupper():
        words = rest
    return section.failure("error", f"{code}: {words}")


def _read_shells(section: LogSection) -> Found:
    """Yield what shells say of commands that they could not execute."""
    for index, line in enumerate(section.lines):
        shell, *rest = line.strip().split(": ")
        why = rest[-1] if rest else ""
        if not (why.endswith(_WHY) or "cd to " in why or "bad interpreter" in line):
            continue
        number = rest[0].removeprefix("line ")
        if number.isdigit():
            rest = rest[1:]
        program = posixpath.basename(shell)
        is_shell = program.rstrip("]0123456789[") in _SHELLS
        if not rest or not (is_shell or number.isdigit()):
            continue
        message = ": ".join(rest).strip("‘’'\"").replace("’: ", ": ").replace("': ", ": ")
        unknown = is_shell and not program.startswith(("make", "env")) and why.endswith("not found")
        if unknown or _gives_up(section.lines[index + 1 : index + 6]):
            script = None if is_shell else shell
            what = rest[0].strip("‘’'\"")
            path = script or (section.tree.find(what, section.directory) if "/" in what else None)
            failure = section.failure("error", message, path, number if script else None)
            yield section.numbers[index], failure


def _gives_up(below: Sequence[str]) -> bool:
    following = next((line for line in below if line.strip()), None)
    if following is None or (following.startswith("make") and "*** [" in following):
        return True
    return any(end in line for line in below for end in (*_NOT_RUN, "exit 127"))


_READERS = (
    (_read_arrows, "--> "),
    (_read_cargo, "\nerror: "),
    (_read_traces, "\n"),
    (_read_maven, "[ERROR]"),
    (_read_gradle, "\n* What went wrong:"),
    (_read_shells, ": "),
    (_read_node_tools, "\n"),
)
