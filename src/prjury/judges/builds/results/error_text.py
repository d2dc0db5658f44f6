"""The message of an error among the lines about it, with the values that it compared. Pure."""

from __future__ import annotations

from collections.abc import Sequence

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
