"""From the log of a step to sections that can be read. Whatever was printed, it stays bounded."""

from __future__ import annotations

import codecs
import json
import posixpath
import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from prjury.judges.builds.results.go import GoEvents
from prjury.judges.builds.results.runner_output import LogSection
from prjury.judges.builds.results.terminal import strip_escapes
from prjury.judges.builds.results.tree import TreeFiles

_CHUNK = 1024**2
_LONGEST_EVENT = 1024**2
_LONGEST_LINE = 2_000
#: A log of more lines is left where it is, but for its end.
_MOST_LINES = 2_000_000
_END = 1024**2
#: What is kept of a log's text, roughly in bytes of memory.
_HEAD = 24 * 1024**2
_TAIL = 72 * 1024**2
_COST_OF_LINE = 150
_TAIL_LINES = 30
_LONGEST_TAIL_LINE = 500

_DECODER = json.JSONDecoder()

_PNPM = re.compile(r"(?P<place>[^\s$:]+) (?P<script>[\w:.-]+)\$ ")
_NPM = re.compile(r"> (?P<name>(?:@[\w.-]+/)?[\w.-]+)(?P<version>@\S+)? [\w:.-]+$")


@dataclass
class LogLines:
    """The lines of a log, decoded with replacement, without the terminal's escapes.

    What exceeds the longest line that makes sense is left out.

    Attributes:
        cut: whether lines are missing, known after the last one.
    """

    log: Path
    cut: bool = False

    def __iter__(self) -> Iterator[str]:
        """The lines, once."""
        with self.log.open("rb") as file:
            yield from islice(_lines(file), _MOST_LINES)
            if file.read(1):
                self.cut = True
                file.seek(max(file.tell(), self.log.stat().st_size - _END))
                yield from islice(_lines(file), _MOST_LINES)


def _lines(file: BinaryIO) -> Iterator[str]:
    rest = ""
    for text in _texts(file):
        *whole, rest = (rest + text).replace("\r\n", "\n").replace("\r", "\n").split("\n")
        yield from map(_clean, whole)
        rest = rest[:_LONGEST_EVENT]
    if rest:
        yield _clean(rest)


def _texts(file: BinaryIO) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    held = ""
    while chunk := file.read(_CHUNK):
        text = held + decoder.decode(chunk)
        held = "\r" if text.endswith("\r") else ""
        yield text.removesuffix("\r")
    yield held + decoder.decode(b"", final=True)


def _clean(line: str) -> str:
    return strip_escapes(line[:_LONGEST_EVENT])


@dataclass
class _Window:
    """The beginning and the end of the text, each up to a size."""

    head: list[tuple[int, str, str]] = field(default_factory=list)
    tail: deque[tuple[int, str, str]] = field(default_factory=deque)
    spent: int = 0
    kept: int = 0
    cut: bool = False

    def add(self, number: int, place: str, line: str) -> None:
        """Keeps a line, and lets go of the oldest one behind the beginning where it must."""
        cost = len(line) + _COST_OF_LINE
        if self.spent + cost <= _HEAD:
            self.head.append((number, place, line))
            self.spent += cost
            return
        self.spent = _HEAD
        self.tail.append((number, place, line))
        self.kept += cost
        while self.kept > _TAIL:
            self.kept -= len(self.tail.popleft()[2]) + _COST_OF_LINE
            self.cut = True

    def sections(self, tree: TreeFiles) -> list[LogSection]:
        """The lines by the directory in which they were printed."""
        sections: dict[str, tuple[list[str], list[int]]] = {}
        for part in (self.head, self.tail):
            for number, place, line in part:
                lines, numbers = sections.setdefault(place, ([], []))
                lines.append(line)
                numbers.append(number)
        return [
            LogSection(lines, numbers, tree, place) for place, (lines, numbers) in sections.items()
        ]


class _Places:
    """Tells in which directory a line was printed, as far as build tools say."""

    def __init__(self, tree: TreeFiles) -> None:
        self._tree = tree
        self._here = tree.directory
        self._entered: list[str] = []
        self._prefixes: dict[str, str] = {}

    def split(self, line: str) -> tuple[str, str]:
        """The directory, and the line without the prefix that names the directory."""
        if self._prefixes:
            head, colon, rest = f"{line} ".partition(": ")  # scripts' names may hold colons
            if colon and head in self._prefixes:
                return self._prefixes[head], rest[:-1]
        if "$ " in line and (match := _PNPM.match(line)):
            place = self._below(match["place"])
            self._prefixes[f"{match['place']} {match['script']}"] = place
            return place, line
        if line.startswith("> ") and (match := _NPM.match(line)):
            self._here = self._package(match["name"], versioned=bool(match["version"]))
        elif " directory '" in line and "make" in line.partition(": ")[0]:
            word, _, place = line.partition(": ")[2].partition(" directory '")
            self._enter(word == "Entering", place.removesuffix("'"))
        return self._here, line

    def _package(self, name: str, *, versioned: bool) -> str:
        directory = self._tree.package(name)
        if directory is None and not versioned:
            return self._here
        return directory or self._tree.directory

    def _enter(self, entering: bool, place: str) -> None:  # noqa: FBT001 - which of the two it is
        if entering:
            self._entered.append(self._here)
            plain = posixpath.normpath(place)
            self._here = self._tree.directory if plain.startswith(("/", ".")) else plain
        elif self._entered:
            self._here = self._entered.pop()

    def _below(self, place: str) -> str:
        plain = posixpath.normpath(posixpath.join(self._tree.directory, place))
        return "" if plain == "." or plain.startswith(("/", "..")) else plain


@dataclass(frozen=True)
class Transcript:
    """What a step printed.

    Attributes:
        sections: its text by directories, without the lines that programs write for programs.
        go: the tests of ``go test -json``.
        tail: the last lines as a person would read them.
        cut: whether the middle is missing.
    """

    sections: list[LogSection]
    go: GoEvents
    tail: str
    cut: bool


def transcribe(log: Path, tree: TreeFiles, relative: Callable[[str], str]) -> Transcript:
    """Reads a log once, from the beginning to the end."""
    window, go, places = _Window(), GoEvents(tree), _Places(tree)
    tail: deque[str] = deque(maxlen=_TAIL_LINES)
    lines = LogLines(log)
    for number, raw in enumerate(lines):
        place, line = places.split(relative(raw))
        event = _read_event(line)
        if event is None:
            window.add(number, place, line[:_LONGEST_LINE])
            tail.append(line[:_LONGEST_TAIL_LINE])
            continue
        for text in go.read(number, event).splitlines():
            tail.append(text[:_LONGEST_TAIL_LINE])
            if event["Action"] == "build-output":
                window.add(number, place, text[:_LONGEST_LINE])
    return Transcript(window.sections(tree), go, "\n".join(tail), window.cut or lines.cut)


def _read_event(line: str) -> dict[str, Any] | None:
    """An event of ``go test -json``, which comes from the tool itself; None for any other line."""
    if not line.startswith("{") or '"Action":' not in line:
        return None
    try:
        value, end = _DECODER.raw_decode(line)
    except (ValueError, RecursionError):
        return None
    known = isinstance(value, dict) and bool(value.keys() & {"Package", "ImportPath"})
    return (
        value if known and isinstance(value.get("Action"), str) and not line[end:].strip() else None
    )
