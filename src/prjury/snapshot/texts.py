"""Where text over several lines lies in a file, in which every blank counts.

A file is read from its top with the comments, character literals and strings of its language. Where
it holds something that could be read in two ways, nothing is known from there on.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from prjury.snapshot.syntax import SYNTAXES, VERBATIM, Syntax
from prjury.snapshot.threeway import Lines

_BEFORE_A_PATTERN = frozenset("(,=:[!&|?{;+-*%~^>")
_WORDS_BEFORE = frozenset(
    "return typeof case in of void delete throw await yield else do instanceof new".split()
)
_PATTERN = re.compile(r"/(?![*/])(?:[^/\\\[\n]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n])*\])+/\w*")
_WORD = re.compile(r"[\w$]+$")
#: So far it is looked back for what stands before a slash.
_FAR = 80


@dataclass(frozen=True)
class Texts:
    """The texts of one version of a file, by offsets of characters.

    Attributes:
        starts: where each line begins, and where the last one ends.
        spans: the texts that go over several lines, in order.
        known: up to where the file could be read.
        goes_on: for each line, whether the next one belongs to it.
    """

    starts: Sequence[int]
    spans: Sequence[tuple[int, int]]
    known: int
    goes_on: Sequence[bool]

    @classmethod
    def of(cls, suffix: str, lines: Lines) -> Texts:
        """Reads a file of a kind that is known."""
        content = "".join(lines)
        syntax = SYNTAXES[suffix]
        odd = any(word in content for word in VERBATIM) or not content.startswith(syntax.begins)
        spans, known = ([], -1) if odd and content else _read(syntax, content)
        starts = list(accumulate(map(len, lines), initial=0))
        goes_on = [line.rstrip().endswith(("\\", "??/")) for line in lines]
        return cls(starts, spans, known, goes_on)

    def clear_of(self, where: range) -> bool:
        """Whether no text is open there, and no line goes on behind a backslash, for certain."""
        start, stop = self.starts[where.start], self.starts[where.stop]
        if stop > self.known or any(self.goes_on[max(where.start - 1, 0) : where.stop]):
            return False
        # Texts do not overlap: of those that begin before the end the last one ends last.
        begun = bisect_left(self.spans, (stop, -1))
        return not begun or self.spans[begun - 1][1] <= start


def _read(syntax: Syntax, content: str) -> tuple[list[tuple[int, int]], int]:
    """The texts over several lines, and the offset up to which that is certain."""
    spans: list[tuple[int, int]] = []
    end = 0
    for start, stop, is_text in _pieces(syntax, content):
        if stop is None:
            return spans, start
        if is_text and "\n" in content[start:stop]:
            spans.append((start, stop))
        end = stop
    return spans, max(end, len(content))


def _pieces(syntax: Syntax, content: str) -> Iterator[tuple[int, int | None, bool]]:
    """Comments and texts from the top; one without an end is where reading ends."""
    at = 0
    while found := syntax.opening.search(content, at):
        stop = _end(syntax, content, found)
        yield found.start(), stop, found.lastgroup == "raw" or found[0] in syntax.texts
        if stop is None:
            return
        at = stop


def _end(syntax: Syntax, content: str, found: re.Match[str]) -> int | None:
    """Where what has been opened ends; None where that is not certain."""
    start = found.end()
    match found.lastgroup:
        case "whole":
            return start
        case "unsure":
            return None
        case "remark":
            end = content.find("\n", start)
            return len(content) if end < 0 else end
        case "block":
            return _comment_end(syntax, content, start)
        case "slash":
            return _slash_end(content, found.start())
        case "raw":
            return _behind(content, f'"{"#" * found[0].count("#")}', start)
    return _text_end(syntax, content, found[0], start)


def _behind(content: str, mark: str, start: int) -> int | None:
    at = content.find(mark, start)
    return None if at < 0 else at + len(mark)


def _comment_end(syntax: Syntax, content: str, start: int) -> int | None:
    end = _behind(content, "*/", start)
    if end and syntax.nested and "/*" in content[start:end]:
        return None
    return end


def _text_end(syntax: Syntax, content: str, mark: str, start: int) -> int | None:
    """The end of a string; one on a single line that has none there cannot be told."""
    several = mark in syntax.texts
    for found in syntax.closing[mark].finditer(content, start):
        if found.lastgroup == "code" or (found[0] in {"\n", "\\\n"} and not several):
            return None
        if found[0] == mark:
            return found.end()
    return None


def _slash_end(content: str, at: int) -> int | None:
    """Behind a slash that divides, or behind the pattern that it opens."""
    before = content[max(at - _FAR, 0) : at].rstrip()
    word = _WORD.search(before)
    if content.startswith("/>", at) or (at and content[at - 1] == "<"):
        return at + 1
    if not before or before[-1] in _BEFORE_A_PATTERN or (word and word[0] in _WORDS_BEFORE):
        pattern = _PATTERN.match(content, at)
        return pattern.end() if pattern else None
    if word or before[-1] in "]\"'`":
        return at + 1
    end = content.find("\n", at)
    rest = content[at + 1 : end if end >= 0 else None]
    return None if any(mark in rest for mark in "\"'`/") else at + 1
