"""The message of an error among the lines about it, with the values that it compared. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

_LONGEST = 200
_VALUES_REACH = 40
#: Where the values end: the stack, and notes on the error.
_ENDS = ("at ", "stack backtrace:", "note: ", "❯", "⎯", "# ./")
_HEADINGS = ("+ actual", "- actual", "+ expected", "- expected", "- Expected", "+ Received")
_EXPECTED, _ACTUAL = ("Expected: ", "expected: "), ("Actual: ", "got: ", "Received: ")
_RESULTS = ("✔ ", "✖ ", "▶ ", "ok ", "not ok ", "Subtest: ")
_HEADING_ENDS = ("───", "... FAILED", " stdout ----")
_NO_MESSAGE = ("Failure/Error:", "running ", "failures:", *_HEADINGS)
_FRAMES = ("Traceback", "---", "===", "ImportError: Failed to import test module")


def read_message(lines: Sequence[str], *, python: bool = False) -> str:
    """Return the line that says what is wrong: Python's error, Rust's panic, or the first one."""
    if not python and is_panic(next(iter(lines), "")):
        return _read_panic(lines[0].strip(), lines[1:])
    for at, line in enumerate(lines):
        text = line.strip()
        if python and text and not (line[0].isspace() or line.startswith(_FRAMES)):
            return text.removeprefix("E ").strip()
        if (
            not python
            and text
            and not (text.startswith(_NO_MESSAGE) or text.endswith(("───", "... FAILED")))
        ):
            return with_values(text.strip("'"), lines[at + 1 :])
    return "failed"


def is_panic(line: str) -> bool:
    """Return True for the line with which Rust tells of a panic."""
    return " panicked at" in line and line.lstrip().startswith("thread '")


def find_syntax_error(lines: Sequence[str]) -> str:
    """Return the line that tells of a syntax error, empty for none."""
    for line in lines:
        if line.strip().startswith("SyntaxError"):
            return line.strip()
    return ""


def find_error_above(lines: Sequence[str], index: int) -> str:
    """Return the error that a test file printed before it ended, empty where it did not."""
    for at in range(index - 1, max(-1, index - 1 - _VALUES_REACH), -1):
        line = lines[at]
        text = line.strip().removeprefix("# ")
        word = text.partition(": ")[0].partition(" [")[0]
        if word.endswith("Error") and word.isalpha() and not line[:1].isspace():
            return text
        if at < index - 1 and text.startswith(_RESULTS):
            return ""
    return ""


def _read_panic(text: str, below: Sequence[str]) -> str:
    quoted = text.partition(" panicked at '")[2].rpartition("',")[0]
    message = quoted or next((line.strip() for line in below if line.strip()), "panicked")
    if not message.startswith("assertion"):
        return message
    sides = [line.strip().rstrip(",") for line in below[:6]]
    values = [" ".join(one.split()) for one in sides if one.startswith(("left:", "right:"))]
    return f"{message} ({_cut(', '.join(values))})" if values else message


def with_values(message: str, below: Sequence[str]) -> str:
    """Return the message with the values in the same line, where it leaves them to lines below."""
    message = message.strip()
    if message.endswith(")") and ":  (" in message:  # uvu adds how it compared
        message = message.rpartition("  (")[0]
    following = next(iter(_list_texts(below)), "")
    if message.startswith(_EXPECTED) and following.startswith(_ACTUAL):
        return f"{message} {_cut(following)}"
    if message.endswith(":"):
        texts = list[str]()
        for text in _list_texts(below):
            if text.endswith(message):
                break  # the same once more, above a stack
            texts.append(text)
        values = " ".join(_list_announced(texts))
        return f"{message} {_cut(values)}" if values else message
    if "expect(" in message or "…" in message:
        texts = list(_list_texts(below))
        sides = [text for text in texts if text.startswith(("Expected", "Received"))]
        values = ", ".join(sides[:2] or _list_difference(texts))
        return f"{message} ({_cut(values)})" if values else message
    return message


def _list_texts(below: Sequence[str]) -> Iterator[str]:
    for line in below[:_VALUES_REACH]:
        text = line.strip()
        if text.startswith(_ENDS):
            return
        if text:
            yield text


def _list_announced(texts: Sequence[str]) -> list[str]:
    """List what a colon announces: what stands above the difference, else the difference."""
    above = list[str]()
    for text in texts:
        if _is_heading(text):
            break
        above.append(text)
    return above or _list_difference(texts)


def _list_difference(texts: Sequence[str]) -> list[str]:
    start = next((at for at, text in enumerate(texts) if _is_heading(text)), len(texts))
    first = dict[str, str]()
    for text in texts[start:]:
        if not _is_heading(text) and text[0] in "+-" and text[1:].strip():
            first.setdefault(text[0], f"{text[0]} {text[1:].strip().removesuffix(',')}")
    return list(first.values())


def _is_heading(text: str) -> bool:
    return text.startswith(_HEADINGS)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
