"""One cause of a failed build, with what makes it the same one in another run."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Kind: TypeAlias = Literal["compile", "test", "goal", "error"]
State: TypeAlias = Literal["new", "pre_existing", "flaky"]

_LONGEST_MESSAGE = 500
#: Things that differ from run to run without meaning anything.
_ACCIDENTAL = re.compile(r"0x[0-9a-f]+|@[0-9a-f]{5,}|\b\d+(\.\d+)? ?(ms|s|seconds)\b")


@dataclass(frozen=True, slots=True)
class Failure:
    """A compiler's error, a failing test, a goal that broke.

    Attributes:
        kind: ``compile`` for what does not compile, ``test`` for a failing test, ``error`` for a
            program's own complaint, ``goal`` for the part of the build that gave up.
        message: one line.
        path: the file below the root of the tree, where one is named.
        line: its line, from 1.
        name: the test's or goal's name.
        suite: the file that the test belongs to, or the report that tells of it.
        state: whether the base fails in the same way.
    """

    kind: Kind
    message: str
    path: str | None = None
    line: int | None = None
    name: str | None = None
    suite: str | None = None
    state: State = "new"

    @property
    def id(self) -> str:
        """The same for the same failure in another run; lines may move, so they are not in it."""
        if self.kind == "test" and self.name:
            return identity(self.suite or self.path or "", self.name)
        content = _ACCIDENTAL.sub("", " ".join(self.message.split()))
        return f"{self.kind}:{self.name or self.path or ''}:{content}"

    @property
    def place(self) -> str:
        """``path:line``, ``path`` or nothing."""
        if not self.path:
            return ""
        return f"{self.path}:{self.line}" if self.line else self.path

    def as_json(self) -> dict[str, Any]:
        """The failure as the report holds it."""
        return {
            "id": self.id,
            "kind": self.kind,
            "path": self.path,
            "line": self.line,
            "message": self.message,
            "state": self.state,
        }


def identity(suite: str, name: str) -> str:
    """A test's identity: tests in different files are different, whatever they are called."""
    return f"test:{suite}:{name}"


def make_failure(
    kind: Kind,
    message: str,
    path: str | None = None,
    line: object = None,
    name: str | None = None,
    suite: str | None = None,
) -> Failure:
    """A failure with its path and message in order.

    A path that leaves the tree is dropped: the message still tells what is wrong.
    """
    number = int(str(line)) if str(line).isdigit() and len(str(line)) <= 9 else 0  # noqa: PLR2004 - fits 32 bits
    inside = _inside(path) if path else None
    text = " ".join(message.split())[:_LONGEST_MESSAGE] or "no message"
    return Failure(kind, text, inside, (number or None) if inside else None, name, suite)


def _inside(path: str) -> str | None:
    cleaned = path.removeprefix("./").replace("/./", "/")
    outside = cleaned.startswith(("/", "~")) or ".." in cleaned.split("/") or ":" in cleaned
    return None if outside or not cleaned else cleaned


def distinct(failures: Iterable[Failure]) -> list[Failure]:
    """Each failure once, in order, the goals that gave up after the causes.

    A traceback that a failing test names as well is that test's.
    """
    found: dict[tuple[str, int | None], Failure] = {}
    for failure in failures:
        found.setdefault((failure.id, failure.line if failure.kind == "compile" else None), failure)
    tests = {failure.place for failure in found.values() if failure.kind == "test"} - {""}
    kept = [f for f in found.values() if f.kind != "error" or f.place not in tests]
    return sorted(kept, key=lambda failure: failure.kind == "goal")
