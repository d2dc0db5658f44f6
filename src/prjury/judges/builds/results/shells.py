"""What keeps a command from being executed: it is not there, or may not be."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from prjury.judges.builds.failure import Failure
from prjury.judges.builds.results.runner_output import LogSection

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
#: How a caller tells that a command could not be executed.
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
