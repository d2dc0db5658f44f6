"""From a finished run to its failures: the log's and the reports', each once."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from operator import itemgetter
from pathlib import Path

from prjury.judges.build import compilers, runners
from prjury.judges.build.failure import Failure, distinct

_READERS = (compilers.one_liners, compilers.rustc, compilers.python_traces, *runners.READERS)
_MOST_OF_LOG = 8 * 1024**2
_LONGEST_LINE = 2_000
_MOST_PER_READER = 200
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x00\x08]")
_FRAGMENT = re.compile(r"(?:\r\n|\r|\n)")


@dataclass(frozen=True)
class Places:
    """The temporary places of a run, to be taken out of everything that it says.

    Attributes:
        tree: the root of the exported tree.
        around: the directory that holds the tree and everything else of the run.
    """

    tree: Path
    around: Path

    def relative(self, text: str) -> str:
        """The text with paths below the tree made relative to it."""
        for tree in {str(self.tree), os.path.realpath(self.tree)}:
            text = text.replace(f"file://{tree}/", "").replace(f"{tree}/", "").replace(tree, ".")
        for place in {str(self.around), os.path.realpath(self.around)}:
            text = text.replace(place, "…")
        return text


def read_log(log: Path) -> str:
    """The end of a log, decoded with replacement, without the terminal's escapes."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - _MOST_OF_LOG))
        return _ESCAPES.sub("", file.read().decode("utf-8", "replace"))


def read_failures(
    text: str, known: frozenset[str], relative: Callable[[str], str]
) -> list[Failure]:
    """The failures that the text of a log tells of, in the order in which it does."""
    lines = [line[:_LONGEST_LINE] for line in _FRAGMENT.split(relative(text))]
    found = [
        (number, failure)
        for reader in _READERS
        for number, failure in islice(reader(lines), _MOST_PER_READER)
    ]
    named = _by_name(known)
    return distinct(_located(failure, named) for _, failure in sorted(found, key=itemgetter(0)))


def _by_name(known: frozenset[str]) -> Mapping[str, Sequence[str]]:
    named: dict[str, list[str]] = {}
    for path in known:
        named.setdefault(path.rpartition("/")[2], []).append(path)
    return named


def _located(failure: Failure, named: Mapping[str, Sequence[str]]) -> Failure:
    """With the path as the tree has it.

    Go puts the package's name before a file, tools that run in a directory leave that away.
    """
    told = failure.path
    if not told:
        return failure
    candidates = named.get(told.rpartition("/")[2], ())
    ends = [path for path in candidates if f"/{told}".endswith(f"/{path}")]
    longer = [path for path in candidates if path.endswith(f"/{told}")]
    if ends:
        return replace(failure, path=max(ends, key=len))
    return replace(failure, path=longer[0]) if len(longer) == 1 else failure


def merged(of_reports: Sequence[Failure], of_log: Sequence[Failure]) -> tuple[Failure, ...]:
    """Both sources' failures; where reports hold some, the tests in the log are the same ones."""
    if not of_reports:
        return tuple(of_log)
    places = {failure.place for failure in of_reports}
    more = [failure for failure in of_log if _no_test(failure) and failure.place not in places]
    return (*of_reports, *distinct(more))


def _no_test(failure: Failure) -> bool:
    return failure.kind == "goal" or (failure.kind == "compile" and not failure.name)
