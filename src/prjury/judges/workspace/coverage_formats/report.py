"""What a coverage report says, whichever tool has written it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from prjury.errors import CannotJudgeError
from prjury.jury.frozen import FrozenDict
from prjury.snapshot.model import visible

#: Lines, or blocks of lines, of all files of a report; the largest projects stay below it.
_MOST_LINES = 5_000_000


@dataclass(frozen=True, slots=True)
class CoverageCounter:
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


@dataclass(frozen=True)
class CoverageMetrics:
    """The totals of one or more reports.

    ``line``, ``branch`` and the others are percentages, 0..100, None where there is nothing of
    that kind to cover.

    Attributes:
        counters: the counts by ``line``, ``branch``, ``method``, ``instruction``, ``complexity``
            and ``class``, as far as there are any.
    """

    counters: Mapping[str, CoverageCounter] = field(default_factory=FrozenDict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "counters", FrozenDict(self.counters))

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
        """Percent of the branches of ``if`` and ``switch``."""
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
        """What several reports add up to, such as those of the modules of a project."""
        counters: dict[str, CoverageCounter] = {}
        for part in parts:
            for metric, counter in part.counters.items():
                known = counters.get(metric)
                counters[metric] = known + counter if known else counter
        return cls(counters)


@dataclass(frozen=True)
class CoverageReport:
    """One report.

    Attributes:
        files: for each file, as the report names it, which of its lines were run.
        roots: the directories that these names may start from, as the report has them.
        place: the report itself.
        by_block: whether lines without code, such as blank ones, count among those of a block.
    """

    metrics: CoverageMetrics
    files: Mapping[str, Mapping[int, bool]] = field(default_factory=dict, repr=False)
    roots: tuple[str, ...] = ()
    place: Path = Path()
    by_block: bool = False


@dataclass
class LineTable:
    """The lines of a report's files while it is read.

    Attributes:
        report: where it is, for messages.
    """

    report: Path
    files: dict[str, dict[int, bool]] = field(default_factory=dict)
    _entries: int = 0

    def add(self, file: str, line: int, *, covered: bool) -> None:
        """Note a line, which was run if any entry says so.

        Raises:
            CannotJudgeError: ``too_large`` for more lines than any project has.
        """
        self.count()
        lines = self.files.setdefault(file, {})
        lines[line] = covered or lines.get(line, False)

    def count(self) -> None:
        """Count one more entry, whatever it is of.

        Raises:
            CannotJudgeError: as `add`.
        """
        self._entries += 1
        if self._entries > _MOST_LINES:
            raise CannotJudgeError(
                f"the report {visible(str(self.report))} has more than {_MOST_LINES:,} lines",
                remedy="Name a report of a part of the project",
                reason="too_large",
            )

    @property
    def counter(self) -> dict[str, CoverageCounter]:
        """The lines of all files; nothing where there are none."""
        every = [covered for lines in self.files.values() for covered in lines.values()]
        return counter_of("line", sum(every), len(every))


def counter_of(metric: str, covered: int, total: int) -> dict[str, CoverageCounter]:
    """One counter by its name; nothing where there is nothing to count.

    Raises:
        ValueError: for more covered ones than there are.
    """
    return {metric: CoverageCounter(covered, total - covered)} if total or covered else {}
