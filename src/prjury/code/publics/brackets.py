"""Takes headings apart at their outermost commas, colons and brackets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_STRING = r'"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`'
_OPERATORS = r"->|=>|[<>=!:+]=|::|\?\."
_SINGLE = r"[()\[\]{}<>,=;:?]"
_TOKENS = {
    True: re.compile(rf"{_STRING}|'(?:\\.|[^'\\])*'|{_OPERATORS}|{_SINGLE}"),
    False: re.compile(rf"{_STRING}|'(?:\\[^']*|[^'\\])'|{_OPERATORS}|{_SINGLE}"),
}
_CLOSINGS = frozenset(")]}>")
_TIGHT = re.compile(r"\s*([<>\[\]().]|::)\s*")
_COMMA = re.compile(r"\s*,\s*")


@dataclass(frozen=True)
class Brackets:
    """How brackets are told from other signs in a language.

    Attributes:
        quotes: whether strings may stand in single quotes.
        angles: whether ``<`` and ``>`` are brackets.
    """

    quotes: bool = False
    angles: bool = True

    def tokens(self, text: str, start: int = 0) -> Iterator[tuple[int, str, int]]:
        """The place and text of each sign, and how deep in brackets it stands."""
        openings = "([{<" if self.angles else "([{"
        closings = ")]}>" if self.angles else ")]}"
        depth = 0
        for match in _TOKENS[self.quotes].finditer(text, start):
            token = match[0]
            if token in closings:
                depth -= 1
            yield match.start(), token, depth
            if token in openings:
                depth += 1

    def split(self, text: str, separator: str = ",") -> list[str]:
        """The parts between outermost separators, stripped; none of them is empty."""
        places = [at for at, token, depth in self.tokens(text) if token == separator and depth <= 0]
        starts = [0, *(at + len(separator) for at in places)]
        parts = (text[a:b].strip() for a, b in zip(starts, [*places, len(text)], strict=True))
        return [part for part in parts if part]

    def cut(self, text: str, *stops: str) -> str:
        """What stands before the first outermost one of these signs."""
        for at, token, depth in self.tokens(text):
            if depth <= 0 and token in stops:
                return text[:at].strip()
        return text.strip()

    def after(self, text: str, sign: str) -> str:
        """What stands behind the first outermost sign; nothing where there is none."""
        for at, token, depth in self.tokens(text):
            if depth <= 0 and token == sign:
                return text[at + len(sign) :].strip()
        return ""

    def group(self, text: str, opening: str = "(") -> tuple[str, str, str] | None:
        """What stands before, in and behind the first outermost brackets of a sort."""
        start = next(
            (at for at, token, depth in self.tokens(text) if token == opening and depth <= 0), None
        )
        if start is None:
            return None
        end = self.closing(text, start)
        return text[:start].strip(), text[start + 1 : end].strip(), text[end + 1 :].strip()

    def closing(self, text: str, start: int) -> int:
        """The place of the bracket that closes the one at ``start``; the end without one."""
        for at, token, depth in self.tokens(text, start):
            if at > start and depth == 0 and token in _CLOSINGS:
                return at
        return len(text)


def tidy(text: str) -> str:
    """The same type or list in one way of spacing."""
    return _COMMA.sub(", ", _TIGHT.sub(r"\1", " ".join(text.split()))).strip(", ")
