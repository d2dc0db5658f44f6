"""The message and the place of an error among the lines about it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from prjury.judges.builds.results.tree import TreeFiles

_LONGEST = 200
_REACH = 40
#: What ends the lines of an error: its stack, and notes on it.
_ENDS = ("at ", "stack backtrace:", "note: ", "❯", "⎯", "# ./")
#: The beginnings of lines with values, and those of headings above them.
_VALUES = ("expected", "received", "actual", "got:", "left:", "right:", "+", "-")
_HEADINGS = ("+ actual", "- actual", "+ expected", "- expected", "- Expected", "+ Received")
_NO_MESSAGE = (
    "Failure/Error:", "running ", "failures:", "Traceback", "---", "===", "thread '",
    "ImportError: Failed to import test module", *_HEADINGS,
)  # fmt: skip
_NO_MESSAGE_ENDS = ("───", "... FAILED", " stdout ----")


def read_message(lines: Sequence[str], *, python: bool = False) -> str:
    """Return the line that says what is wrong: Python's first outermost one, else the first."""
    for at, line in enumerate(lines):
        text = line.strip()
        if is_panic(line) and "panicked at '" in line:
            return text.partition("panicked at '")[2].rpartition("',")[0]
        if not text or text.startswith(_NO_MESSAGE) or text.endswith(_NO_MESSAGE_ENDS):
            continue
        if not (python and line[0].isspace()):
            text = text.removeprefix("E ").strip() if python else text.strip("'")
            return add_values(text, lines[at + 1 :])
    return "failed"


def is_panic(line: str) -> bool:
    """Return True for the line with which Rust tells of a panic."""
    return " panicked at" in line and line.lstrip().startswith("thread '")


def find_error_above(lines: Sequence[str], index: int) -> str:
    """Return the error that a test file printed before it ended, empty where it did not."""
    for line in reversed(lines[max(0, index - _REACH) : index]):
        text = line.strip().removeprefix("# ")
        word = text.partition(": ")[0].partition(" [")[0]
        if word.endswith("Error") and word.isalpha() and not line[:1].isspace():
            return text
    return ""


def add_values(message: str, below: Sequence[str]) -> str:
    """Return the message with the values that it leaves to the lines below, where it does."""
    message = message.strip()
    announces = message.endswith(":") or "expect(" in message or "…" in message
    if not (announces or message.startswith(("assertion ", "Expected: ", "expected: "))):
        return message
    texts = list[str]()
    for line in below[:_REACH]:
        text = line.strip().removesuffix(",")
        if text.startswith(_ENDS) or (text and text.endswith(message)):
            break
        if text and not text.startswith(_HEADINGS):
            texts.append(text)
    values = [text for text in texts if text.lower().startswith(_VALUES)][:2]
    if message.endswith(":") and texts and texts[0] not in values:
        values = texts[:1]
    shown = " ".join(" ".join(values).split())
    return f"{message} {shown[:_LONGEST]}{'…' * (len(shown) > _LONGEST)}" if shown else message


Place: TypeAlias = tuple[str | None, str | None]

#: The file and line of a frame of a stack, or of a message, in most languages.
_PLACE = re.compile(r"(?<![\w:.])(?P<path>[^\s:()\[\]\"'`,<>]{1,300}\.\w{1,8}):(?P<line>\d{1,9})")
_PYTHON = re.compile(r'File "(?P<path>[^"]{1,300})", line (?P<line>\d{1,9})')
_JAVA = re.compile(
    r"at (?:\S+/)?(?P<type>[\w.$]+)\.[^.(\s]+\((?P<file>\w+\.\w+):(?P<line>\d{1,9})\)"
)


def find_place(
    lines: Sequence[str],
    tree: TreeFiles,
    directory: str | None = None,
    *,
    owner: str = "",
    near: str = "",
    last: bool = False,
) -> Place:
    """Return path and line of the frame nearest to the error that is in the tree, if any."""
    fallback: Place = (None, None)
    for line in reversed(lines) if last else lines:
        if java := _JAVA.search(line):
            path = tree.of_type(java["type"], java["file"], near)
            if path and owner and java["type"].startswith(owner.partition("$")[0]):
                return path, java["line"]
            if path and fallback[0] is None:
                fallback = (path, java["line"])
            continue
        for path, number in list_places(line):
            top = path.removeprefix("/")  # Vitest's, from the root of the tree
            if inside := tree.find(path, directory) or (top if top in tree.paths else None):
                return inside, number
    return fallback


def list_places(line: str) -> Iterator[tuple[str, str]]:
    """Yield each path that a line names with a number behind it."""
    if python := _PYTHON.search(line):
        yield python["path"], python["line"]
    elif ":" in line:
        head, _, rest = line.partition(":")
        if rest[:1].isdecimal():  # with blanks in its name
            yield head.strip(), rest.partition(":")[0].rstrip()
        for match in _PLACE.finditer(line):
            path = match["path"].removeprefix("file://")
            if "node_modules/" not in path:
                yield path, match["line"]


#: Colours and the like, and links, behind the escape character or what writers put for it.
_SEQUENCE = re.compile(
    r"(?:\x1b|␛|#x1[Bb];?|\\x1b|\\u001b)"
    r"(?:\[[0-9;?]*[ -/]*[@-~]|\].*?(?:\x07|#x07;?|(?:\x1b|␛|#x1[Bb];?)\\))"
)


_MARKS = ("\x1b", "␛", "#x1", "\\x1b", "\\u001b", "\x00", "\x08", "\x07", "#x07")
_CONTROLS = dict.fromkeys(map(ord, "\x00\x07\x08\x1b"))


def strip_escapes(text: str) -> str:
    """Return the text without colours, links and the characters that move a cursor."""
    if not any(mark in text for mark in _MARKS):
        return text
    return _SEQUENCE.sub("", text).translate(_CONTROLS)
