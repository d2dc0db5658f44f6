"""Untrusted text as templates get it: a value that cannot be printed unsanitised.

Whatever a template does with it (prints it, joins it, concatenates it), the result has gone through
the sanitiser, because the only thing that the value has to offer is its sanitised forms.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import is_dataclass
from types import SimpleNamespace
from typing import TypeAlias

from markupsafe import Markup, escape
from msgspec import Struct

from prjury.report import sanitise
from prjury.report.sanitise import Redact
from prjury.report.wording import first_line

#: Lines of a text that is shown as running prose.
_MOST_LINES = 30


class Text(ABC):
    """Words from outside, on their way into one output language."""

    __slots__ = ("_raw", "_redact")

    def __init__(self, raw: str, redact: Redact = sanitise.BY_SHAPE) -> None:
        self._raw = raw
        self._redact = redact

    @abstractmethod
    def plain(self, limit: int = 300) -> Markup: ...

    @abstractmethod
    def code(self, limit: int = 200) -> Markup: ...

    def quote(self, limit: int = 200) -> Markup:
        lines = [line for line in self._raw.splitlines() if line.strip()]
        telling = (line.strip() for line in lines if any(map(str.isalnum, line)))
        code = type(self)(next(telling, first_line(self._raw)), self._redact).code(limit)
        more = f" (+{len(lines) - 1} lines)" if len(lines) > 1 else ""
        return code + Markup(more)  # noqa: S704 - our own words and a number

    def __bool__(self) -> bool:
        return bool(self._raw)

    def __html__(self) -> str:
        return self.plain()

    def __str__(self) -> str:
        return self.plain()

    def _split_lines(self, limit: int) -> list[str]:
        text = sanitise.clean(self._raw, limit, self._redact)
        lines = [line for line in text.split("\n") if line.strip()] or [""]
        if len(lines) > _MOST_LINES:
            return [*lines[:_MOST_LINES], f"… (+{len(lines) - _MOST_LINES} lines)"]
        return lines


#: Wraps a string for one output language.
Ink: TypeAlias = Callable[[str], Text]


def ink_value(value: object, ink: Ink) -> object:
    """Return a value as templates may have it: every string is a `Text`, but for trusted ones."""
    if isinstance(value, str):
        return value if isinstance(value, Markup) else ink(value)
    if isinstance(value, tuple):
        return tuple(ink_value(item, ink) for item in value)
    has_parts = is_dataclass(value) or isinstance(value, SimpleNamespace | Struct)
    return Inked(value, ink) if has_parts else value


class Inked:
    """A value whose attributes are inked when they are first read."""

    def __init__(self, value: object, ink: Ink) -> None:
        self._value = value
        self._ink = ink

    def __getattr__(self, name: str) -> object:
        self.__dict__[name] = part = ink_value(getattr(self._value, name), self._ink)
        return part


class MarkdownText(Text):
    """Words on their way into Markdown as GitHub reads it."""

    __slots__ = ()

    def plain(self, limit: int = 300) -> Markup:
        return _safe(sanitise.plain(self._raw, limit, self._redact))

    def prose(self, limit: int = 600) -> Markup:
        return _safe(sanitise.prose(self._raw, limit, self._redact))

    def code(self, limit: int = 200) -> Markup:
        return _safe(sanitise.inline_code(self._raw, limit, self._redact))

    def cell(self, limit: int = 120) -> Markup:
        return _safe(sanitise.prose(self._raw, limit, self._redact, in_cell=True))

    def block(self, limit: int = 4_000, indent: int = 0, language: str = "") -> Markup:
        return _safe(sanitise.fence_text(self._raw, limit, self._redact, indent, language))

    def paragraph(self, limit: int = 3_000) -> Markup:
        # The lines are clean already; what is left is to take the life out of their markup.
        return _safe("\\\n".join(sanitise.prose(line, None) for line in self._split_lines(limit)))


class HtmlText(Text):
    """Words on their way into an HTML page."""

    __slots__ = ()

    def plain(self, limit: int = 300) -> Markup:
        return escape(sanitise.join_lines(self._raw, limit, self._redact))

    def prose(self, limit: int = 600) -> Markup:
        return _mark_code(sanitise.join_lines(self._raw, limit, self._redact))

    def code(self, limit: int = 200) -> Markup:
        text = sanitise.single(self._raw, limit, self._redact)
        return Markup("<code>{}</code>").format(text)

    def block(self, limit: int = 4_000, indent: int = 0, language: str = "") -> Markup:  # noqa: ARG002 - HTML needs none
        text = sanitise.clean(self._raw, limit, self._redact).strip("\n")
        text = text if text.strip() else sanitise.EMPTY
        if language != "diff":
            return Markup("<pre>{}</pre>").format(text)
        classes = {"-": "gone", "+": "come"}
        lines = [
            Markup('<span class="{}">{}</span>').format(classes.get(line[:1], "same"), line)
            for line in text.split("\n")
        ]
        return Markup("<pre>{}</pre>").format(Markup("").join(lines))

    def paragraph(self, limit: int = 3_000) -> Markup:
        lines = self._split_lines(limit) if self._raw.strip() else [sanitise.EMPTY]
        return Markup("<br>").join(map(_mark_code, lines))


class TerminalText(Text):
    """Words on their way to a terminal: one line, in which nothing controls it."""

    __slots__ = ()

    def plain(self, limit: int = 600) -> Markup:
        return _safe(sanitise.log_line(self._raw, limit, self._redact))

    code = plain

    def prose(self, limit: int = 600) -> Markup:
        """Words in one line, without the backticks around code."""
        return _safe(sanitise.log_line(self._raw.replace("`", ""), limit, self._redact))

    def lines(self, most: int, before: str = "| ") -> list[Markup]:
        lines = [line for line in self._raw.splitlines() if line.strip()]
        shown = [before + type(self)(line, self._redact).plain() for line in lines[:most]]
        return [*shown, *([trust(f"… (+{len(lines) - most} lines)")] if lines[most:] else [])]


#: What stands before a line of the terminal's template to give it a style; no text can hold it.
STYLED = re.compile(r"\0(\w+)\0")


def style(name: str) -> Markup:
    return trust(f"\0{name}\0")


def _mark_code(line: str) -> Markup:
    pieces = sanitise.CODE_SPAN.split(line)
    # The pattern has one group, so every other piece is what stood between backticks.
    return Markup("").join(
        Markup("<code>{}</code>").format(piece) if odd % 2 else escape(piece)
        for odd, piece in enumerate(pieces)
    )


def trust(words: str) -> Markup:
    """Words and addresses that we wrote ourselves: symbols, numbers, quoted URLs."""
    return Markup(words)  # noqa: S704 - never called with a word from outside


def _safe(markdown: str) -> Markup:
    return Markup(markdown)  # noqa: S704 - the only door, and the sanitiser stands in it
