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

from prjury.judges.builds.failure import inside_tree
from prjury.judges.builds.results.error_text import strip_escapes
from prjury.judges.builds.results.go import GoEvents
from prjury.judges.builds.results.runner_output import LogSection
from prjury.judges.builds.results.tree import TreeFiles

_CHUNK = 1024**2
_LONGEST_EVENT = 1024**2
_LONGEST_LINE = 2_000
#: A log of more lines is left where it is, but for its end.
_MOST_LINES = 1_100_000
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


def _decode_lines(log: Path, window: _Window) -> Iterator[str]:
    with log.open("rb") as file:
        yield from islice(_split_lines(file), _MOST_LINES)
        if file.read(1):
            window.cut = True
            file.seek(max(file.tell(), log.stat().st_size - _END))
            yield from islice(_split_lines(file), _MOST_LINES)


def _split_lines(file: BinaryIO) -> Iterator[str]:
    decoder, rest, end = codecs.getincrementaldecoder("utf-8")("replace"), "", False
    while not end:
        chunk = file.read(_CHUNK)
        end = not chunk
        text = rest + decoder.decode(chunk, final=end)
        held = "\r" if text.endswith("\r") and not end else ""  # half of a line's end
        text = text.removesuffix("\r") if held else text
        *whole, rest = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for line in whole if not end else (*whole, *([rest] if rest else [])):
            yield strip_escapes(line[:_LONGEST_EVENT])
        rest = rest[:_LONGEST_EVENT] + held


@dataclass
class _Window:
    """The beginning and the end of the text, each up to a size."""

    head: list[tuple[int, str, str]] = field(default_factory=list)
    tail: deque[tuple[int, str, str]] = field(default_factory=deque)
    spent: int = 0
    size: int = 0
    cut: bool = False

    def add(self, number: int, place: str, line: str) -> None:
        cost = len(line) + _COST_OF_LINE
        if self.spent + cost <= _HEAD:
            self.head.append((number, place, line))
            self.spent += cost
            return
        self.spent = _HEAD
        self.tail.append((number, place, line))
        self.size += cost
        while self.size > _TAIL:
            self.size -= len(self.tail.popleft()[2]) + _COST_OF_LINE
            self.cut = True

    def split_sections(self, tree: TreeFiles) -> list[LogSection]:
        sections: dict[str, tuple[list[str], list[int]]] = {}
        for number, place, line in (*self.head, *self.tail):
            lines, numbers = sections.setdefault(place, ([], []))
            lines.append(line)
            numbers.append(number)
        return [LogSection(*texts, tree, place) for place, texts in sections.items()]


class _Places:
    """The directory in which a line was printed, as far as build tools say."""

    def __init__(self, tree: TreeFiles) -> None:
        self._tree = tree
        self._here = tree.directory
        self._entered: list[str] = []
        self._prefixes: dict[str, str] = {}

    def split(self, line: str) -> tuple[str, str]:
        if self._prefixes:
            head, colon, rest = f"{line} ".partition(": ")  # scripts' names may hold colons
            if colon and head in self._prefixes:
                return self._prefixes[head], rest[:-1]
        if "$ " in line and (match := _PNPM.match(line)):
            place = inside_tree(posixpath.join(self._tree.directory, match["place"])) or ""
            self._prefixes[f"{match['place']} {match['script']}"] = place
            return place, line
        if line.startswith("> ") and (match := _NPM.match(line)):
            directory = self._tree.package(match["name"])
            if directory is not None or match["version"]:
                self._here = directory or self._tree.directory
        elif " directory '" in line and "make" in line.partition(": ")[0]:
            word, _, place = line.partition(": ")[2].partition(" directory '")
            if word == "Entering":
                self._entered.append(self._here)
                plain = posixpath.normpath(place.removesuffix("'"))
                self._here = self._tree.directory if plain.startswith(("/", ".")) else plain
            elif self._entered:
                self._here = self._entered.pop()
        return self._here, line


@dataclass(frozen=True)
class Transcript:
    """What a step printed: sections by directory, and the last lines; `cut` without its middle."""

    sections: list[LogSection]
    go: GoEvents
    tail: str
    cut: bool


def transcribe(log: Path, tree: TreeFiles, relative: Callable[[str], str]) -> Transcript:
    """Read a log once; `relative` takes the tree's own place out of a text."""
    window, go, places = _Window(), GoEvents(tree), _Places(tree)
    tail: deque[str] = deque(maxlen=_TAIL_LINES)
    for number, raw in enumerate(_decode_lines(log, window)):
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
    sections = window.split_sections(tree)
    return Transcript(sections, go, "\n".join(tail), window.cut)


def _read_event(line: str) -> dict[str, Any] | None:
    """Return an event of ``go test -json``, None for any other line."""
    if not line.startswith("{") or '"Action":' not in line:
        return None
    try:
        value, end = _DECODER.raw_decode(line)
    except (ValueError, RecursionError):
        return None
    is_event = isinstance(value, dict) and bool(value.keys() & {"Package", "ImportPath"})
    is_event = is_event and isinstance(value.get("Action"), str)
    return value if is_event and not line[end:].strip() else None
