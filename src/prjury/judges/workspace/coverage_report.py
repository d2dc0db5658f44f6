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
    """How many lines, branches, methods, … were run by the tests, and how many were not."""

    covered: int
    missed: int

    def __post_init__(self) -> None:
        if min(self.covered, self.missed) < 0 or not self.total:
            raise ValueError(f"{self.covered} covered and {self.missed} missed is no count")

    @property
    def total(self) -> int:
        """All of them."""
        return self.covered + self.missed

    def __add__(self, other: CoverageCounter) -> CoverageCounter:
        return CoverageCounter(self.covered + other.covered, self.missed + other.missed)


class CoverageMetrics(Struct, frozen=True):
    """The totals of one or more reports; percentages are 0..100, None where there is nothing.

    Attributes:
        counters: by ``line``, ``branch``, ``method``, ``instruction``, ``complexity``, ``class``.
    """

    counters: Mapping[str, CoverageCounter] = field(default_factory=FrozenDict)

    def __post_init__(self) -> None:
        force_setattr(self, "counters", FrozenDict(self.counters))

    def percent(self, metric: str) -> float | None:
        """The share of ``line``, ``branch``, … that was run, 0..100."""
        counter = self.counters.get(metric)
        return 100 * counter.covered / counter.total if counter else None

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
    """Lines and counts of a report while it is read; lines are counted unless it tells a total."""

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
        """Count one more entry; CannotJudgeError ``too_large`` for more than any project has."""
        self._entries += 1
        if self._entries > _MOST_ENTRIES:
            raise large_report(self.place, f"has more than {_MOST_ENTRIES:,} lines")

    def set_total(self, metric: str, covered: int, total: int) -> None:
        """Note a total if there is anything to count; ValueError for more covered than all."""
        if total or covered:
            self.counters[metric] = CoverageCounter(covered, total - covered)

    def finish(self, roots: Iterable[str] = (), *, by_block: bool = False) -> CoverageReport:
        """Return the report."""
        if "line" not in self.counters:
            lines = [covered for lines in self.files.values() for covered in lines.values()]
            self.set_total("line", sum(lines), len(lines))
        metrics = CoverageMetrics(self.counters)
        return CoverageReport(metrics, self.files, tuple(roots), self.place, by_block)
