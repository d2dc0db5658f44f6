"""Coverage as JaCoCo reports it in XML."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree.ElementTree import Element

from prjury.errors import CannotJudgeError
from prjury.judges.workspace import report_files
from prjury.jury.frozen import FrozenDict
from prjury.snapshot.model import visible

_AGGREGATE = re.compile(r"(^|/)target/site/jacoco-aggregate/jacoco\.xml$")
_MODULE = re.compile(
    r"(^|/)(target/site/jacoco/jacoco|build/reports/jacoco/test/jacocoTestReport)\.xml$"
)
_NUMBER = re.compile(r"[0-9]{1,15}")


@dataclass(frozen=True, slots=True)
class Counter:
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

    def __add__(self, other: Counter) -> Counter:
        return Counter(self.covered + other.covered, self.missed + other.missed)


@dataclass(frozen=True)
class CoverageMetrics:
    """The totals of one or more reports.

    ``line``, ``branch`` and the others are percentages, 0..100, None where there is nothing of
    that kind to cover.

    Attributes:
        counters: the counts by ``line``, ``branch``, ``method``, ``instruction``, ``complexity``
            and ``class``, as far as there are any.
    """

    counters: Mapping[str, Counter] = field(default_factory=FrozenDict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "counters", FrozenDict(self.counters))

    def counter(self, metric: str) -> Counter | None:
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
        counters: dict[str, Counter] = {}
        for part in parts:
            for metric, counter in part.counters.items():
                known = counters.get(metric)
                counters[metric] = known + counter if known else counter
        return cls(counters)


def parse_jacoco(path: str | os.PathLike[str]) -> CoverageMetrics:
    """Reads a report, or those of a project.

    Args:
        path: the XML report, or a project's directory. There an aggregated report
            (``target/site/jacoco-aggregate/jacoco.xml``, in whichever module) counts alone; without
            one the reports of all modules are added up (Maven: ``target/site/jacoco/jacoco.xml``,
            Gradle: ``build/reports/jacoco/test/jacocoTestReport.xml``).

    Raises:
        CannotJudgeError: ``report_missing``, ``report_invalid``, ``unreadable``, ``too_large``, or
            ``report_ambiguous`` for a directory with several aggregated reports.
    """
    place = Path(path)
    files = _reports_of(place) if place.is_dir() else [Path(os.path.realpath(place))]
    return CoverageMetrics.total(map(_read, files))


def _reports_of(directory: Path) -> list[Path]:
    found = report_files.find(directory, lambda path: bool(_AGGREGATE.search(path)))
    if len(found) > 1:
        names = ", ".join(visible(str(path.relative_to(directory))) for path in found[:3])
        raise CannotJudgeError(
            f"{visible(str(directory))} holds {len(found)} aggregated coverage reports: {names}",
            why="They may count the same code twice",
            remedy="Name the one that counts",
            reason="report_ambiguous",
        )
    found = found or report_files.find(directory, lambda path: bool(_MODULE.search(path)))
    if not found:
        raise report_files.missing(directory / "target/site/jacoco/jacoco.xml")
    return found


def _read(path: Path) -> CoverageMetrics:
    """The totals of one report: those that it tells, else the sum of its groups or packages."""
    open_parts: list[_Part] = []
    whole = CoverageMetrics()
    for event, element in report_files.elements(path):
        if event == "start":
            if not open_parts and element.tag != "report":
                raise report_files.invalid(path, "It is not a report of JaCoCo")
            open_parts.append(_Part())
            continue
        part = open_parts.pop()
        if not open_parts:
            whole = part.metrics
        elif element.tag == "counter":
            open_parts[-1].told.update(_counter(element, path))
        elif element.tag in {"group", "package"}:
            open_parts[-1].below.append(part.metrics)
    return whole


@dataclass
class _Part:
    """An element of a report while it is read."""

    told: dict[str, Counter] = field(default_factory=dict)
    below: list[CoverageMetrics] = field(default_factory=list)

    @property
    def metrics(self) -> CoverageMetrics:
        return CoverageMetrics(self.told) if self.told else CoverageMetrics.total(self.below)


def _counter(element: Element, path: Path) -> dict[str, Counter]:
    """One counter by its kind; nothing where there is nothing to count."""
    words = [element.get(name, "") for name in ("covered", "missed")]
    if not element.get("type") or not all(map(_NUMBER.fullmatch, words)):
        raise report_files.invalid(path, "A counter has no type, or its counts are no numbers")
    covered, missed = map(int, words)
    return {element.get("type", "").lower(): Counter(covered, missed)} if covered + missed else {}
