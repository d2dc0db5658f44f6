"""Lines of a log: their section, the error and the place that they name, and the tests. Pure."""

from __future__ import annotations

import json
import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from msgspec import Struct

from prjury.judges.builds.failure import Failure, Kind, inside_tree, make_failure
from prjury.judges.builds.results.tree import TreeFiles
from prjury.report.wording import pluralize

TABLE = json.loads((Path(__file__).parent / "output.json").read_text("utf-8"))
_LONGEST = 200
_REACH = 40
#: What ends the lines of an error: its stack, and notes on it.
_ENDS = ("at ", "stack backtrace:", "note: ", "❯", "⎯", "# ./")
#: The beginnings of lines with values, and those of headings above them.
_VALUES = ("expected", "received", "actual", "got:", "left:", "right:", "+", "-")
_HEADINGS = ("+ actual", "- actual", "+ expected", "- expected", "- Expected", "+ Received")
_NO_MESSAGE = (*TABLE["no_messages"], *_HEADINGS)
_NO_MESSAGE_ENDS = ("───", "... FAILED", " stdout ----")


def find_error_message(lines: Sequence[str], *, python: bool = False) -> str:
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


PathAndLine: TypeAlias = tuple[str | None, str | None]

#: The file and line of a frame of a stack, or of a message, in most languages.
_PLACE = re.compile(r"(?<![\w:.])(?P<path>[^\s:()\[\]\"'`,<>]{1,300}\.\w{1,8}):(?P<line>\d{1,9})")
_PYTHON = re.compile(r'File "(?P<path>[^"]{1,300})", line (?P<line>\d{1,9})')
_JAVA = re.compile(
    r"at (?:\S+/)?(?P<type>[\w.$]+)\.[^.(\s]+\((?P<file>\w+\.\w+):(?P<line>\d{1,9})\)"
)


def list_places(line: str) -> Iterator[tuple[str, str]]:
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
    r"(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x1b]{0,999}?(?:\x07|#x07;?|(?:\x1b|␛|#x1[Bb];?)\\))"
)


_MARKS = ("\x1b", "␛", "#x1", "\\x1b", "\\u001b", "\x00", "\x08", "\x07", "#x07")
_CONTROLS = dict.fromkeys(map(ord, "\x00\x07\x08\x1b"))


def strip_escapes(text: str) -> str:
    """Return the text without colours, links and the characters that move a cursor."""
    if not any(mark in text for mark in _MARKS):
        return text
    return _SEQUENCE.sub("", text).translate(_CONTROLS)


class LogSection(Struct, frozen=True, dict=True):
    """Lines that were printed in one directory, with their numbers in the whole log."""

    lines: Sequence[str]
    numbers: Sequence[int]
    tree: TreeFiles
    directory: str = ""

    @cached_property
    def text(self) -> str:
        return "\n" + "\n".join(self.lines)

    def file(self, name: str) -> str:
        """The file of the tree that is meant, or the path as it stands."""
        return self.tree.resolve(name, self.directory)

    def find_place(
        self, lines: Sequence[str], *, owner: str = "", near: str = "", last: bool = False
    ) -> PathAndLine:
        """Return path and line of the frame nearest to the error that is in the tree, if any."""
        fallback: PathAndLine = (None, None)
        for line in reversed(lines) if last else lines:
            if java := _JAVA.search(line):
                package = java["type"].rpartition(".")[0].replace(".", "/")
                path = self.tree.find_nearest(posixpath.join(package, java["file"]), near)
                if path and owner and java["type"].startswith(owner.partition("$")[0]):
                    return path, java["line"]
                if path and fallback[0] is None:
                    fallback = (path, java["line"])
                continue
            for path, number in list_places(line):
                top = path.removeprefix("/")  # Vitest's, from the root of the tree
                inside = self.tree.find(path, self.directory)
                if inside or top in self.tree.paths:
                    return inside or top, number
        return fallback

    def failure(
        self,
        kind: Kind,
        message: str,
        path: str | None = None,
        line: object = None,
        name: str | None = None,
        suite: str | None = None,
    ) -> Failure:
        """A failure whose path is one of the tree's own files; others may lead out by a link.

        The suite of a test may be empty, which is not the same as unknown.
        """
        inside = self.tree.find(path, self.directory) if path else None
        if path and not inside and kind != "test" and not name and inside_tree(path):
            place = f"{path}:{line}" if line else path
            message = message if path in message else f"{place}: {message}"
        return make_failure(kind, message, inside, line, name, suite)


class RunnerOutput(Struct):
    """What was read so far: failures by their lines, and the identity of each test that ran.

    `counted` tests are only in a closing line, `more` failures are named by none. Sentences tell of
    failures without names (`unnamed`), and why tests may not have run (`doubts`).
    """

    failures: list[tuple[int, Failure]] = []
    ran: list[str] = []
    counted: int = 0
    skipped: int = 0
    unnamed: list[str] = []
    doubts: list[str] = []
    more: int = 0

    @property
    def broken(self) -> int:
        """How many tests failed, those among them that nothing names."""
        return len(_list_ids(self.failures)) + self.more

    @property
    def has_results(self) -> bool:
        return bool(self.failures or self.ran or self.counted)

    def add(self, other: RunnerOutput) -> None:
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def add_run(
        self,
        runner_name: str,
        test_names: Sequence[str],
        failing: Sequence[tuple[int, Failure]],
        ran_count: int,
        failed: int,
        *,
        unclear: bool = False,
    ) -> None:
        """Take in one run; names count where the runner counts as many, and is not `unclear`."""
        self.failures += failing
        if test_names and len(test_names) == ran_count and not unclear:
            unique = frozenset(test_names)  # some tests break before they can be counted
            self.ran += [*test_names, *(name for name in _list_ids(failing) if name not in unique)]
        else:
            self.counted += ran_count
        if len(failing) < failed:
            clause = f"and names {len(failing) or 'none'}"
            self.unnamed.append(f"{runner_name} counts {pluralize(failed, 'failed test')} {clause}")
            self.more += failed - len(failing)


def is_hook(name: str) -> bool:
    """True for the name of a hook of Mocha, which runs around tests."""
    hooks = ('"before all" hook', '"after all" hook', '"before each" hook', '"after each" hook')
    return any(hook in name for hook in hooks)


def _list_ids(failing: Iterable[tuple[int, Failure]]) -> list[str]:
    return [failure.id for _, failure in failing if failure.kind == "test"]


def find_ambiguous(failures: Iterable[Failure], ran: Iterable[str]) -> list[str]:
    """Find the failing tests whose name a passing one bears as well."""
    failing = Counter(failure.id for failure in failures if failure.kind == "test")
    seen = Counter(name for name in ran if name in failing)
    return sorted(name for name in failing if seen[name] > failing[name])


#: For the automaton of all expressions together; it is emptied where it grows larger.
_MEMORY = 64 * 1024**2


class LineSet:
    """Expressions of RE2; what is none raises ValueError."""

    def __init__(self, expressions: Sequence[str]) -> None:
        import re2  # noqa: PLC0415 - a compiled extension that only builds with logs need

        options = re2.Options()
        options.log_errors = False
        options.max_mem = _MEMORY
        self.patterns: list[Any] = []
        self._set = re2.Set.SearchSet(options)
        for expression in expressions:
            try:
                self.patterns.append(re2.compile(expression, options))
            except re2.error as error:
                raise ValueError(f"{expression}: {error}") from error
            self._set.Add(expression)
        if expressions:
            self._set.Compile()

    def find(self, line: str) -> Iterator[tuple[int, Any]]:
        """Yield each expression that fits the line, by its number, with its match."""
        if not self.patterns:
            return
        for number in sorted(self._set.Match(line) or ()):
            if match := self.patterns[number].search(line):
                yield number, match
