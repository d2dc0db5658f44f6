"""Where in the tree a JavaScript error was thrown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from prjury.judges.builds.failure import Failure, Kind
from prjury.judges.builds.results.runner_output import LogSection
from prjury.judges.builds.results.values import with_values

_FRAME = re.compile(
    r"\s*(?:at .*\(|at |❯ (?:\S+ )?|File: /?)(?:file://)?(?P<path>[^\s():]{1,300}\.[cm]?[jt]sx?)"
    r":(?P<line>\d+):\d+"
)
#: With brackets around it, or as all that the frame says, a path may hold blanks.
_BRACKETED = re.compile(
    r"\s*at .*?\((?:file://)?(?P<path>[^\s:][^:]{0,300}\.[cm]?[jt]sx?):(?P<line>\d+):\d+\)(?: \{)?$"
)
_BARE = re.compile(
    r"\s*at (?:async )?(?:file://)?(?P<path>[^\s:(][^:(]{0,300}\.[cm]?[jt]sx?)"
    r":(?P<line>\d+):\d+(?: \{)?$"
)
_ERROR = re.compile(r"(?:# )?(?P<message>\w*Error(?: \[\w+\])?: .*)")
#: What node prints above the line of code that it could not read, or that threw the error.
_HEADING = re.compile(
    r"(?:# )?(?:file://)?(?P<path>[^\s:#][^:]{0,300}\.[cm]?[jt]sx?):(?P<line>\d{1,9})$"
)
_COMMENT = re.compile(r"^# ?")
_RESULT = re.compile(r"\s*(?:# Subtest:|(?:not )?ok \d|[✔✖▶] |\.\.\.$)")
#: A test file, as Node names one that ended in an error.
SCRIPT = re.compile(r"\S+\.[cm]?[jt]sx?")
_REACH = 40
_FOREIGN = ("node:", "/", "../", "…")


def first_frame(lines: Iterable[str]) -> tuple[str, str] | tuple[None, None]:
    """Path and line of the innermost frame that may be in the tree, without dependencies."""
    for match in map(_frame, lines):
        path = match["path"] if match else ""
        if match and "node_modules/" not in path and not path.startswith(_FOREIGN):
            return path, match["line"]
    return None, None


def _frame(line: str) -> re.Match[str] | None:
    return _BRACKETED.match(line) or _BARE.match(line) or _FRAME.match(line)


@dataclass(frozen=True)
class Thrown:
    """The error with which a test file ended.

    Attributes:
        message: empty where none was printed.
        path: the file that could not be read or that threw it, None where that is not known.
    """

    message: str = ""
    path: str | None = None
    line: str | None = None

    @property
    def kind(self) -> Kind:
        """Whether a file could not even be read."""
        return "compile" if self.message.startswith("SyntaxError") else "error"


def error_above(lines: Sequence[str], index: int) -> Thrown:
    """The error that a test file printed before it ended."""
    found = ""
    for at in range(index - 1, max(-1, index - 1 - _REACH), -1):
        if match := _ERROR.match(lines[at]):
            below = lines[at + 1 : index]
            found = with_values(match["message"], [_COMMENT.sub("", line) for line in below])
        elif found and (heading := _HEADING.match(lines[at])):
            return Thrown(found, heading["path"], heading["line"])
        elif at < index - 1 and _RESULT.match(lines[at]):
            break
    return Thrown(found)


def file_failure(section: LogSection, name: str, thrown: Thrown, otherwise: str) -> Failure:
    """The failure of a test file that ended in an error, at the place of the error if known.

    Args:
        name: the test file.
        otherwise: the message where it printed no error.
    """
    if thrown.kind == "compile" and thrown.path and thrown.line:
        return section.failure("compile", thrown.message, thrown.path, thrown.line)
    return section.failure("error", f"{name}: {thrown.message or otherwise}", name, name=name)
