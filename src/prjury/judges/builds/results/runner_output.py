"""The tests of one source, and the section of a log that they were read from. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from msgspec import Struct

from prjury.judges.builds.failure import Failure, Kind, inside_tree, make_failure
from prjury.judges.builds.results.tree import TreeFiles
from prjury.report.wording import pluralize


@dataclass(frozen=True)
class LogSection:
    """Lines that were printed in one directory, with their numbers in the whole log."""

    lines: Sequence[str]
    numbers: Sequence[int]
    tree: TreeFiles
    directory: str = ""

    @cached_property
    def text(self) -> str:
        """All lines, each behind a line break."""
        return "\n" + "\n".join(self.lines)

    def file(self, name: str) -> str:
        """The file of the tree that is meant, or the path as it stands."""
        return self.tree.resolve(name, self.directory)

    def failure(
        self,
        kind: Kind,
        message: str,
        path: str | None = None,
        line: object = None,
        name: str | None = None,
        suite: str | None = None,
    ) -> Failure:
        """A failure whose path is one of the tree's own files; others may lead out by a link."""
        inside = self.tree.find(path, self.directory) if path else None
        if path and not inside and kind != "test" and not name and inside_tree(path):
            place = f"{path}:{line}" if line else path
            message = message if path in message else f"{place}: {message}"
        elif path and inside:
            message = _strip_place(message, (path, inside))
        return make_failure(kind, message, inside, line, name, suite)

    def test(
        self, name: str, suite: str, message: str = "", path: str | None = None, line: object = None
    ) -> Failure:
        """A failing test; its suite may be empty, which is not the same as unknown."""
        return self.failure("test", message or "failed", path, line, name, suite)


def _strip_place(message: str, paths: Iterable[str]) -> str:
    """The message without the place with which it begins; the failure bears it anyway."""
    path = next((path for path in paths if message.startswith(f"{path}:")), None)
    if path is None:
        return message
    rest = message.removeprefix(path)
    number, _, text = rest.partition(": ")
    is_place = all(not part or part.isdecimal() for part in number.split(":"))
    return (text.strip() if is_place else rest) or message


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
        """The source holds something about tests."""
        return bool(self.failures or self.ran or self.counted)

    @property
    def says_something(self) -> bool:
        """It holds anything at all."""
        return self.has_results or bool(self.skipped or self.doubts or self.unnamed or self.more)

    def add(self, other: RunnerOutput) -> None:
        """Take in what another source holds."""
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def add_run(
        self,
        by: str,
        names: Sequence[str],
        failing: Sequence[tuple[int, Failure]],
        count: int,
        failed: int,
        *,
        unclear: bool = False,
    ) -> None:
        """Take in one run; names, which tests may print, count where the runner counts as many.

        It contradicts them otherwise if it is `unclear`.
        """
        self.failures += failing
        if names and len(names) == count and not unclear:
            unique = frozenset(names)  # some tests break before they can be counted
            self.ran += [*names, *(name for name in _list_ids(failing) if name not in unique)]
        else:
            self.counted += count
        if len(failing) < failed:
            clause = f"and names {len(failing) or 'none'}"
            self.unnamed.append(f"{by} counts {pluralize(failed, 'failed test')} {clause}")
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
