"""The results of a run: its tests, and each cause of a failure with what identifies it."""

from __future__ import annotations

import hashlib
import posixpath
import re
import textwrap
from collections.abc import Iterable
from itertools import islice
from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, Struct
from msgspec.structs import replace

Kind: TypeAlias = Literal["compile", "test", "error", "goal"]
State: TypeAlias = Literal["new", "pre_existing", "flaky", "environment"]
#: A path, a name, a message, a test's identity.
Line: TypeAlias = Annotated[str, Meta(max_length=10_000)]
Text: TypeAlias = Annotated[str, Meta(max_length=200_000)]
Count: TypeAlias = Annotated[int, Meta(ge=0, le=2**31)]
LineNumber: TypeAlias = Annotated[int, Meta(ge=1, lt=10**9)]

_LONGEST_MESSAGE = 500
_LONGEST_NAME = 300
_MOST_DETAILS = 30
_LONGEST_DETAIL = 300

#: The order in which failures are listed: what keeps other things from running comes first.
_RANKS: dict[Kind, int] = {"compile": 0, "test": 1, "error": 2, "goal": 3}

#: An address in memory, which differs from run to run.
_ADDRESS = r"0x[0-9a-f]+|@[0-9a-f]{5,}"
_IN_NAMES = re.compile(_ADDRESS)
#: Besides that: how long something took, and temporary files.
_IN_MESSAGES = re.compile(
    _ADDRESS + r"|\b\d+(?:\.\d+)? ?(?:ms|s|seconds)\b|(?:…|/tmp|/var/tmp)/[^\s:'\"`)]+"
)
#: A line's number behind a file's name; lines move.
_LINE = re.compile(r"(\.\w{1,8}|[Mm]akefile):\d+(?::\d+)?\b")


class Failure(Struct, frozen=True, forbid_unknown_fields=True):
    """A test, code that cannot be loaded, an error of its own, a goal that others broke.

    `suite` tells a test from others of its name: its file, package or report's directory; None for
    the path. `details` are all that the tool says, line by line, if that is more than the message.
    """

    kind: Kind
    message: Line
    path: Line | None = None
    line: LineNumber | None = None
    name: Line | None = None
    suite: Line | None = None
    state: State = "new"
    details: Text = ""

    @property
    def id(self) -> str:
        """The same for the same failure in another run; lines may move, so they are not in it."""
        if self.kind == "test" and self.name:
            return identity(self.path or "" if self.suite is None else self.suite, self.name)
        content = _LINE.sub(r"\1", _IN_MESSAGES.sub("", " ".join(self.message.split())))
        return f"{self.kind}:{self.name or self.path or ''}:{content}"

    @property
    def place(self) -> str:
        if not self.path:
            return ""
        return f"{self.path}:{self.line}" if self.line else self.path

    @property
    def shown(self) -> str:
        return self.details or self.message

    def as_json(self) -> dict[str, Any]:
        names = ("kind", "path", "line", "message", "state")
        fields = {name: getattr(self, name) for name in names}
        return {"id": self.id, **fields, **({"details": self.details} if self.details else {})}


class Results(Struct, frozen=True, forbid_unknown_fields=True):
    """The tests of one run, by its reports (`files`) and, where they are silent, its logs.

    Besides the `tests` with names, runners only count others (`counted`), and programs of tests
    their own (`within`); `ignored` ones failed in steps that ended well. `problems` say why all
    this may be incomplete. `flaky` are attempts before one that passed; of the `retried` tests the
    last attempt passed, if these are attempts of one test, which only the end of the job can show.
    """

    files: Count = 0
    tests: Count = 0
    failures: tuple[Failure, ...] = ()
    problems: tuple[Line, ...] = ()
    ran: tuple[Line, ...] = ()
    counted: Count = 0
    by_runner: dict[Line, Count] = {}
    skipped: Count = 0
    ignored: Count = 0
    within: dict[Line, Count] = {}
    flaky: tuple[Failure, ...] = ()
    retried: tuple[Line, ...] = ()

    @property
    def run(self) -> int:
        return len(self.ran) + self.counted

    @property
    def has_tests(self) -> bool:
        """It holds tests, perhaps only skipped ones."""
        return bool(self.tests or self.counted or self.skipped)

    def resolve_retries(self, *, passed: bool) -> Results:
        """Return the results of a job that ended: in a good one the last attempt counts."""
        if not (passed and self.retried):
            return replace(self, retried=())
        failing, flaky = list[Failure](), [*self.flaky]
        for failure in self.failures:
            if failure.id in self.retried:
                flaky.append(replace(failure, state="flaky"))
            else:
                failing.append(failure)
        ran = [test for test in self.ran if test not in self.retried]
        return replace(
            self, failures=tuple(failing), flaky=tuple(flaky), ran=(*ran, *self.retried), retried=()
        )


def identity(suite: str, name: str) -> str:
    """A test's identity: tests in different files are different, whatever they are called."""
    return f"test:{_IN_NAMES.sub('', shorten(suite))}:{_IN_NAMES.sub('', shorten(name))}"


def shorten(name: str) -> str:
    """The name in one line, or its beginning and a digest of the whole where it is very long."""
    name = " ".join(name.split())
    if len(name) <= _LONGEST_NAME:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{name[: _LONGEST_NAME - 17]}…{digest}"


def make_failure(
    kind: Kind,
    message: str,
    path: str | None = None,
    line: object = None,
    name: str | None = None,
    suite: str | None = None,
) -> Failure:
    """A failure with its path and message in order; a path that leaves the tree is dropped."""
    digits = str(line)
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= 9  # noqa: PLR2004 - fits 32 bits
    number = int(digits) if is_number else 0
    inside = inside_tree(path) if path else None
    text = " ".join(message.split())[:_LONGEST_MESSAGE] or "no message"
    called = shorten(name) if name else None
    return Failure(kind, text, inside, (number or None) if inside else None, called, suite)


def with_details(failure: Failure, lines: Iterable[str]) -> Failure:
    """The failure with the lines about it; a single one is its message."""
    texts = [line.rstrip()[:_LONGEST_DETAIL] for line in islice(lines, _MOST_DETAILS)]
    text = textwrap.dedent("\n".join(texts)).strip("\n")
    return replace(failure, details=text) if "\n" in text else failure


def inside_tree(path: str) -> str | None:
    """The path below the root of the tree in its plain form, None where it leads elsewhere."""
    if path.startswith(("/", "~")) or ":" in path or "\0" in path:
        return None
    plain = posixpath.normpath(path)
    return None if plain in {".", ".."} or plain.startswith("../") else plain


def sort_unique(failures: Iterable[Failure]) -> list[Failure]:
    """The failures of a log, each once, in order; tests of one name differ by place and message."""
    unique, tests = dict[object, Failure](), dict[str, list[str]]()
    for failure in failures:
        placed = failure.kind in {"test", "compile"}
        more = (failure.place, failure.message) if placed else ()
        if unique.setdefault((failure.id, more), failure) is failure and failure.kind == "test":
            tests.setdefault(failure.place, []).append(failure.message)
    of_errors = {one.message for one in unique.values() if one.kind == "error" and one.path}
    unloaded = {(one.place, one.message) for one in unique.values() if one.name}

    def repeats_another(failure: Failure) -> bool:
        if failure.kind == "compile":
            return not failure.name and (failure.place, failure.message) in unloaded
        if failure.kind == "error" and failure.path:
            return any(text in failure.message for text in tests.get(failure.place, ()))
        return failure.kind == "error" and failure.message in of_errors

    return sort_failures(failure for failure in unique.values() if not repeats_another(failure))


def sort_failures(failures: Iterable[Failure]) -> list[Failure]:
    """Compile errors, tests, other errors, goals; each kind in the order of printing."""
    return sorted(failures, key=lambda failure: _RANKS[failure.kind])
