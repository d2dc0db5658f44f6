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

from prjury.judges.builds.failure import Failure, with_details
from prjury.judges.builds.results.go import GoEvents
from prjury.judges.builds.results.runner_output import LogSection, RunnerOutput
from prjury.judges.builds.results.terminal import strip_escapes
from prjury.judges.builds.results.tree import TreeFiles


class Events:
    """Reads the lines that tools write for programs, one after the other.

    They come from the build tool itself: what the code under test prints is inside of them, or
    stands elsewhere.

    Attributes:
        results: what was read so far, without what `go` holds.
        go: the tests of ``go test -json``.
    """

    def __init__(self, tree: TreeFiles) -> None:
        """Starts with nothing."""
        self.results = RunnerOutput()
        self.go = GoEvents(tree)
        self._section = LogSection((), (), tree, tree.directory)

    def read(self, number: int, event: dict[str, Any]) -> tuple[str, bool] | None:
        """What the event says to people; None where it is none that is known.

        It comes with whether it is to be read like the rest of the log.
        """
        action = event.get("Action")
        if isinstance(action, str) and ("Package" in event or "ImportPath" in event):
            text = self.go.read(number, event)
            return text, action == "build-output"
        if isinstance(event.get("reason"), str) and event.keys() & {"package_id", "success"}:
            return self._message(number, event.get("message")), False
        if event.get("$message_type") == "diagnostic":
            return self._message(number, event), False
        return None

    def _message(self, number: int, message: object) -> str:
        """A compiler's message as cargo and rustc put it."""
        if not isinstance(message, dict):
            return ""  # an artifact, the end of the build
        failure = self._failure(message)
        if failure:
            self.results.failures.append((number, failure))
        rendered = message.get("rendered")
        return rendered if isinstance(rendered, str) else ""

    def _failure(self, message: dict[str, Any]) -> Failure | None:
        level, text, spans = (message.get(key) for key in ("level", "message", "spans"))
        if not str(level).startswith("error") or not isinstance(text, str):
            return None
        places = [span for span in spans if isinstance(span, dict)] if spans else []
        if not places and text.startswith(("aborting due to", "could not compile")):
            return None  # a summary of earlier messages
        span = next((span for span in places if span.get("is_primary")), {})
        path, line = span.get("file_name"), span.get("line_start")
        file = path if isinstance(path, str) else None
        failure = self._section.failure("compile", text, file, line)
        rendered = message.get("rendered")
        return with_details(failure, rendered.splitlines() if isinstance(rendered, str) else ())


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
_MARKS = ('"Action":', '"reason":', '"$message_type":')

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
    """Decoded pieces; none ends between the two characters of a line break."""
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
        """Where a package is; without a version its name may be that of a command."""
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
        events: what those lines hold.
        tail: the last lines as a person would read them.
        cut: whether the middle is missing.
    """

    sections: list[LogSection]
    events: Events
    tail: str
    cut: bool


def transcribe(log: Path, tree: TreeFiles, relative: Callable[[str], str]) -> Transcript:
    """Reads a log once, from the beginning to the end.

    Args:
        relative: takes the tree's own place out of a text.
    """
    window, events, places = _Window(), Events(tree), _Places(tree)
    tail: deque[str] = deque(maxlen=_TAIL_LINES)
    lines = LogLines(log)
    for number, raw in enumerate(lines):
        place, line = places.split(relative(raw))
        event = _event(line)
        printed = events.read(number, event) if event is not None else None
        if printed is None:
            window.add(number, place, line[:_LONGEST_LINE])
            tail.append(line[:_LONGEST_TAIL_LINE])
            continue
        said, plain = printed
        for text in said.splitlines():
            tail.append(text[:_LONGEST_TAIL_LINE])
            if plain:
                window.add(number, place, text[:_LONGEST_LINE])
    return Transcript(window.sections(tree), events, "\n".join(tail), window.cut or lines.cut)


def _event(line: str) -> dict[str, Any] | None:
    if not line.startswith("{") or not any(mark in line for mark in _MARKS):
        return None
    try:
        value, end = _DECODER.raw_decode(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and not line[end:].strip() else None
