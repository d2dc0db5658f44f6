"""Read the log of one step: the failures and the tests in it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote

from prjury.judges.builds.results.log import transcribe
from prjury.judges.builds.results.merge_results import LogResults
from prjury.judges.builds.results.problem_matchers import read_problems
from prjury.judges.builds.results.runner_output import LogSection, RunnerOutput
from prjury.judges.builds.results.runners import READERS
from prjury.judges.builds.results.tree import TreeFiles
from prjury.judges.builds.toolchain import find_mismatches, with_environment
from prjury.judges.builds.traces import READERS as TRACES
from prjury.judges.builds.traces import python_traces, script_traces

#: Where a test runner prints results, these errors are the tests' own.
_TESTS_OWN: Mapping[object, tuple[str, ...]] = {
    python_traces: ("pytest", "unittest"),
    script_traces: ("tap", "node", "jest", "vitest", "mocha"),
}


@dataclass(frozen=True)
class TemporaryPaths:
    """The temporary places of a run, to be taken out of everything that it says.

    Attributes:
        tree: the root of the exported tree.
        around: the directory that holds the tree and everything else of the run.
    """

    tree: Path
    around: Path

    @property
    def reports(self) -> Path:
        """The directory for test reports that tools are asked to use."""
        return self.around / "reports"

    @cached_property
    def _marks(self) -> frozenset[str]:
        """What a text holds that names one of the places; most texts do not."""
        return frozenset({self.around.name, Path(os.path.realpath(self.around)).name})

    @cached_property
    def _replacements(self) -> Sequence[tuple[str, str]]:
        trees = sorted({str(self.tree), os.path.realpath(self.tree)})
        arounds = sorted({str(self.around), os.path.realpath(self.around)})
        of_trees = (pair for tree in trees for pair in ((f"{tree}/", ""), (tree, ".")))
        return (*of_trees, *((around, "…") for around in arounds))

    @cached_property
    def _addresses(self) -> re.Pattern[str]:
        """A file of the tree as Node's modules name it: blanks and others are encoded."""
        trees = "|".join(map(re.escape, {str(self.tree), os.path.realpath(self.tree)}))
        return re.compile(rf"file://(?:{trees})/(?P<path>[^\s:\"]*)")

    def relative(self, text: str) -> str:
        """The text with paths below the tree made relative to it."""
        if not any(mark in text for mark in self._marks):
            return text
        if "file://" in text:
            text = self._addresses.sub(_path, text)
        for place, shown in self._replacements:
            text = text.replace(place, shown)
        return text


def _path(address: re.Match[str]) -> str:
    """The path in an address, as it stands where it would break the line."""
    path = unquote(address["path"], errors="surrogateescape")
    return path if path.isprintable() else address["path"]


def read_log(
    log: Path, tree: TreeFiles, relative: Callable[[str], str], *, failed: bool
) -> LogResults:
    """Read the log of one step.

    Args:
        relative: takes the tree's own place out of a text.
        failed: whether the step failed; in the log of any other one nothing is a failure, or a
            reason to doubt.
    """
    transcript = transcribe(log, tree, relative)
    results = LogResults(tail=transcript.tail)
    for section in transcript.sections:
        runners = _read_tests(section, results)
        if failed:
            _read_errors(section, results, runners)
    results.others = with_environment(results.others)
    results.by_runner.setdefault("go", RunnerOutput()).add(transcript.events.go.finished())
    results.others += transcript.events.results.failures
    if transcript.cut:
        results.doubts.append("the log is too long to be read in full")
    return results if failed else results.without_failures()


def _read_tests(section: LogSection, results: LogResults) -> frozenset[str]:
    """Read the output of test runners; return those that printed any."""
    runners = set[str]()
    for runner, reader in READERS.items():
        if reader.finds(section):
            output = reader.read(section)
            results.by_runner.setdefault(runner, RunnerOutput()).add(output)
            runners |= {runner} if output.has_results else set()
    return frozenset(runners)


def _read_errors(section: LogSection, results: LogResults, runners: frozenset[str]) -> None:
    """Read the errors of compilers, build tools and programs."""
    results.take(find_mismatches(section))
    results.take(read_problems(section))
    for reader in TRACES:
        if runners.isdisjoint(_TESTS_OWN.get(reader.read, ())) and reader.finds(section):
            results.take(reader.read(section))
