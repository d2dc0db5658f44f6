"""What stands around an error: the values that it compared, and where JavaScript threw it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from prjury.judges.builds.failure import Failure, Kind
from prjury.judges.builds.results.runner_output import LogSection

#: Where the values end: the stack, and notes on the error.
_END = re.compile(r"at \S.*[:)]|stack backtrace:|note: |❯|⎯")
#: The heading of a difference; Jest and Vitest print it in two lines.
_HEADING = re.compile(
    r"[+-] (?:actual|expected)\b.* [+-] (?:actual|expected)\b"
    r"|[+-] (?:Expected|Received|Snapshot)\b(?: .*)?$"
)
_NAMED = re.compile(r"(?:Expected|Received)\b.*")
_SIDE = re.compile(r"(?P<side>left|right): +(?P<value>.*?),?$")

_LONGEST = 200
_VALUES_REACH = 40


def with_values(message: str, below: Sequence[str]) -> str:
    """The message with the values in the same line, where it leaves them to the lines below.

    Args:
        below: the lines below the message.
    """
    message = message.strip()
    if message.endswith(":"):
        again = takewhile(lambda text: not text.endswith(message), _texts(below))
        values = " ".join(_announced(list(again)))
        return f"{message} {_bounded(values)}" if values else message
    if "expect(" in message or "…" in message:
        texts = _texts(below)
        values = ", ".join([*filter(_NAMED.match, texts)][:2] or _difference(texts))
        return f"{message} ({_bounded(values)})" if values else message
    return message


def with_sides(message: str, below: Sequence[str]) -> str:
    """The message of Rust's own assertions with both sides, which are named."""
    texts = _texts(below) if message.startswith("assertion") else []
    sides = [f"{side['side']}: {side['value']}" for side in map(_SIDE.match, texts) if side]
    return f"{message} ({_bounded(', '.join(sides[:2]))})" if sides else message


def _texts(below: Sequence[str]) -> list[str]:
    texts = (line.strip() for line in below[:_VALUES_REACH])
    return [text for text in takewhile(lambda text: not _END.match(text), texts) if text]


def _announced(texts: Sequence[str]) -> Sequence[str]:
    """What a colon announces: what stands above the difference, else the difference."""
    above = list(takewhile(lambda text: not _HEADING.match(text), texts))
    return above or _difference(texts)


def _difference(texts: Sequence[str]) -> list[str]:
    """The first line of each side of a difference, as it is printed."""
    start = next((at for at, text in enumerate(texts) if _HEADING.match(text)), len(texts))
    lines = [text for text in texts[start:] if not _HEADING.match(text)]
    return list(_first_of_each(lines))


def _first_of_each(lines: Sequence[str]) -> Iterator[str]:
    left = {"+", "-"}
    for line in lines:
        if line[0] in left and line[1:].strip():
            left.remove(line[0])
            yield f"{line[0]} {line[1:].strip().removesuffix(',')}"


def _bounded(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


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
_THROWN = re.compile(r"(?:# )?(?P<message>\w*Error(?: \[\w+\])?: .*)")
#: What node prints above the line of code that it could not read, or that threw the error.
_SOURCE = re.compile(
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
        if match := _THROWN.match(lines[at]):
            below = lines[at + 1 : index]
            found = with_values(match["message"], [_COMMENT.sub("", line) for line in below])
        elif found and (heading := _SOURCE.match(lines[at])):
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
