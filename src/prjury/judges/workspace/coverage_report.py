"""Coverage as reports count it, whichever tool has written them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import force_setattr

from prjury.judges.workspace.reports import large_report
from prjury.jury.frozen import FrozenDict

#: Lines, or blocks of lines, of all files of a report; the largest projects stay below it.
_MOST_ENTRIES = 5_000_000


class CoverageCounter(Struct, frozen=True):
    """How many lines, branches, methods, … were run by the tests, and how many were not.

    Raises:
        ValueError: for negative numbers, and where there is nothing to count.
    """

    covered: int
    missed: int

    def __post_init__(self) -> None:
        if min(self.covered, self.missed) < 0 or not self.total:
            raise ValueError(f"{self.covered} covered and {self.missed} missed is no count")

    @property
    def total(self) -> int:
        """All of them."""
        return self.covered + self.missed

    @property
    def percent(self) -> float:
        """The share that was run, 0..100."""
        return 100 * self.covered / self.total

    def __add__(self, other: CoverageCounter) -> CoverageCounter:
        return CoverageCounter(self.covered + other.covered, self.missed + other.missed)


class CoverageMetrics(Struct, frozen=True):
    """The totals of one or more reports.

    ``line``, ``branch``, ``method``, ``instruction`` and ``complexity`` are percentages, 0..100,
    None where there is nothing of that kind to cover.

    Attributes:
        counters: the counts by these names and ``class``, as far as there are any.
    """

    counters: Mapping[str, CoverageCounter] = field(default_factory=FrozenDict)

    def __post_init__(self) -> None:
        force_setattr(self, "counters", FrozenDict(self.counters))

    def counter(self, metric: str) -> CoverageCounter | None:
        """The counts of ``line``, ``branch``, …; None where there are none."""
        return self.counters.get(metric)

    def percent(self, metric: str) -> float | None:
        """The share of ``line``, ``branch``, … that was run, 0..100."""
        counter = self.counter(metric)
        return counter.percent if counter else None

    @property
    def line(self) -> float | None:
        """Percent of the lines."""
        return self.percent("line")

    @property
    def branch(self) -> float | None:
        """Percent of the branches."""
        return self.percent("branch")

    @property
    def method(self) -> float | None:
        """Percent of the methods."""
        return self.percent("method")

    @property
    def instruction(self) -> float | None:
        """Percent of the bytecode instructions."""
        return self.percent("instruction")

    @property
    def complexity(self) -> float | None:
        """Percent of the paths, counted as cyclomatic complexity."""
        return self.percent("complexity")

    @classmethod
    def total(cls, parts: Iterable[CoverageMetrics]) -> CoverageMetrics:
        """Add up several reports, such as those of the modules of a project."""
        counters: dict[str, CoverageCounter] = {}
        for part in parts:
            for metric, counter in part.counters.items():
                sum_ = counters.get(metric)
                counters[metric] = sum_ + counter if sum_ else counter
        return cls(counters)


class CoverageReport(Struct, frozen=True):
    """One report.

    Attributes:
        files: for each file, as the report names it, which of its lines were run.
        roots: the directories that these names may start from, as the report has them.
        place: the report itself.
        by_block: whether lines without code, such as blank ones, count among those of a block.
    """

    metrics: CoverageMetrics
    files: Mapping[str, Mapping[int, bool]] = field(default_factory=dict)
    roots: tuple[str, ...] = ()
    place: Path = Path()
    by_block: bool = False


class CoverageTally:
    """Lines and counts of a report while it is read.

    Attributes:
        counters: totals that the report tells; lines are counted unless it tells theirs.
    """

    def __init__(self, place: Path) -> None:
        """Begin with the report at a place."""
        self.place = place
        self.files: dict[str, dict[int, bool]] = {}
        self.counters: dict[str, CoverageCounter] = {}
        self._entries = 0

    def add_line(self, file: str, line: int, *, covered: bool) -> None:
        """Note a line, which was run if any entry says so."""
        self.count_entry()
        lines = self.files.setdefault(file, {})
        lines[line] = covered or lines.get(line, False)

    def count_entry(self) -> None:
        """Count one more entry, whatever it is of.

        Raises:
            CannotJudgeError: ``too_large`` for more than any project has.
        """
        self._entries += 1
        if self._entries > _MOST_ENTRIES:
            raise large_report(self.place, f"has more than {_MOST_ENTRIES:,} lines")

    def set_total(self, metric: str, covered: int, total: int) -> None:
        """Note a total, unless there is nothing to count.

        Raises:
            ValueError: for more covered ones than there are.
        """
        if total or covered:
            self.counters[metric] = CoverageCounter(covered, total - covered)

    def finish(self, roots: Iterable[str] = (), *, by_block: bool = False) -> CoverageReport:
        """Return the report."""
        lines = [covered for lines in self.files.values() for covered in lines.values()]
        if "line" not in self.counters:
            self.set_total("line", sum(lines), len(lines))
        metrics = CoverageMetrics(self.counters)
        return CoverageReport(metrics, self.files, tuple(roots), self.place, by_block)
