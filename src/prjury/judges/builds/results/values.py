"""The values that an assertion compared; they are printed below its message. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

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
_REACH = 40


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
    texts = (line.strip() for line in below[:_REACH])
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
