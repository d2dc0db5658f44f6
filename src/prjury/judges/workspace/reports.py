"""Reports that build tools write as XML, and the coverage that JaCoCo reports.

The files come from code that is not trusted: nothing but regular files is opened, sizes and depths
are capped, nothing outside the document is fetched and no entity is expanded.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO
from xml.etree.ElementTree import Element

from prjury.errors import CannotJudgeError
from prjury.judges.workspace.files import open_regular, unreadable
from prjury.jury.frozen import FrozenDict
from prjury.snapshot.model import visible

#: Bytes; reports of very large projects stay below it.
LARGEST_REPORT = 256 * 1024**2

_DEEPEST_ELEMENT = 100
_DEEPEST_DIRECTORY = 60
_MOST_DIRECTORIES = 100_000
_SKIPPED = frozenset({".git", "node_modules", ".venv", ".gradle", ".tox"})


def find_reports(root: Path, pattern: re.Pattern[str]) -> list[Path]:
    """The reports below a directory, in order; links to directories are not followed.

    A directory that cannot be entered is left out: no build of this user has written there.

    Args:
        pattern: found in the path of a report, relative to the directory.

    Raises:
        CannotJudgeError: ``too_large`` when the directory is too large to be searched.
    """
    found: list[Path] = []
    for seen, (place, directories, files) in enumerate(os.walk(root)):
        below = Path(place).relative_to(root)
        directories[:] = sorted(set(directories) - _SKIPPED)
        if seen >= _MOST_DIRECTORIES or len(below.parts) > _DEEPEST_DIRECTORY:
            raise CannotJudgeError(
                f"{visible(str(root))} cannot be searched for reports",
                why="It holds too many directories, or they are nested too deeply",
                remedy="Name the report itself",
                reason="too_large",
            )
        found.extend(
            Path(place, name) for name in files if pattern.search((below / name).as_posix())
        )
    return sorted(found)


def report_elements(path: Path) -> Iterator[tuple[str, Element]]:
    """The report's elements as ``("start", element)`` and ``("end", element)``.

    An element that has ended and was handed out is emptied. The document type may be named, nothing
    of it is fetched. A link is not followed.

    Raises:
        CannotJudgeError: ``report_missing``, ``unreadable``, ``too_large`` or ``report_invalid``.
    """
    from defusedxml import DefusedXmlException  # noqa: PLC0415 - only runs with reports need it
    from defusedxml.ElementTree import ParseError, iterparse  # noqa: PLC0415 - the same

    depth = 0
    with _opened(path) as file:
        try:
            for event, element in iterparse(file, ("start", "end"), forbid_dtd=False):
                depth += 1 if event == "start" else -1
                if depth > _DEEPEST_ELEMENT:
                    raise invalid_report(
                        path, f"It is nested deeper than {_DEEPEST_ELEMENT} levels"
                    )
                yield event, element
                if event == "end":
                    element.clear()
        except DefusedXmlException as error:
            raise invalid_report(path, "It declares entities, which are refused") from error
        except (ParseError, LookupError, ValueError) as error:
            raise invalid_report(path, f"It is not XML: {error}") from error


def invalid_report(path: Path, why: str) -> CannotJudgeError:
    """The error for a report that is there and does not say what it should."""
    return CannotJudgeError(
        f"the report {visible(str(path))} cannot be understood",
        why=why,
        remedy="Have it written again by a complete build",
        reason="report_invalid",
    )


def missing_report(path: Path) -> CannotJudgeError:
    """The error for a report that is not there."""
    return CannotJudgeError(
        f"there is no report at {visible(str(path))}",
        why="The build has not run, or writes its reports elsewhere",
        remedy="Run it first, or name the report's place",
        reason="report_missing",
    )


def _opened(path: Path) -> BinaryIO:
    """The file; never waits for one that is no regular file."""
    what = f"the report {visible(str(path))}"
    try:
        file = open_regular(path)
    except FileNotFoundError as error:
        raise missing_report(path) from error
    except OSError as error:
        linked = error.errno == errno.ELOOP
        raise unreadable(what, "It is a symbolic link" if linked else error.strerror) from error
    if os.fstat(file.fileno()).st_size > LARGEST_REPORT:
        file.close()
        raise CannotJudgeError(
            f"{what} is larger than {LARGEST_REPORT // 1024**2} MiB",
            remedy="Name a report of a part of the project",
            reason="too_large",
        )
    return file


_AGGREGATE = re.compile(r"(^|/)target/site/jacoco-aggregate/jacoco\.xml$")
_MODULE = re.compile(
    r"(^|/)(target/site/jacoco/jacoco|build/reports/jacoco/test/jacocoTestReport)\.xml$"
)
_NUMBER = re.compile(r"[0-9]{1,15}")


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
    found = find_reports(directory, _AGGREGATE)
    if len(found) > 1:
        names = ", ".join(visible(str(path.relative_to(directory))) for path in found[:3])
        raise CannotJudgeError(
            f"{visible(str(directory))} holds {len(found)} aggregated coverage reports: {names}",
            why="They may count the same code twice",
            remedy="Name the one that counts",
            reason="report_ambiguous",
        )
    found = found or find_reports(directory, _MODULE)
    if not found:
        raise missing_report(directory / "target/site/jacoco/jacoco.xml")
    return found


def _read(path: Path) -> CoverageMetrics:
    """The totals of one report: those that it tells, else the sum of its groups or packages."""
    open_parts: list[_Part] = []
    whole = CoverageMetrics()
    for event, element in report_elements(path):
        if event == "start":
            if not open_parts and element.tag != "report":
                raise invalid_report(path, "It is not a report of JaCoCo")
            open_parts.append(_Part())
            continue
        part = open_parts.pop()
        if not open_parts:
            whole = part.metrics
        elif element.tag == "counter":
            open_parts[-1].own.update(_counter(element, path))
        elif element.tag in {"group", "package"}:
            open_parts[-1].below.append(part.metrics)
    return whole


@dataclass
class _Part:
    """An element of a report while it is read."""

    own: dict[str, CoverageCounter] = field(default_factory=dict)
    below: list[CoverageMetrics] = field(default_factory=list)

    @property
    def metrics(self) -> CoverageMetrics:
        return CoverageMetrics(self.own) if self.own else CoverageMetrics.total(self.below)


def _counter(element: Element, path: Path) -> dict[str, CoverageCounter]:
    """One counter by its kind; nothing where there is nothing to count."""
    words = [element.get(name, "") for name in ("covered", "missed")]
    if not element.get("type") or not all(map(_NUMBER.fullmatch, words)):
        raise invalid_report(path, "A counter has no type, or its counts are no numbers")
    covered, missed = map(int, words)
    return (
        {element.get("type", "").lower(): CoverageCounter(covered, missed)}
        if covered + missed
        else {}
    )
