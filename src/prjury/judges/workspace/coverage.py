"""The coverage judge: enough of the code is covered, and no less than before.

Percentages are compared as exact fractions: 80 to 75 is a drop of 5, whatever floats make of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Literal, Protocol, TypeAlias, get_args

from prjury.errors import CannotJudgeError
from prjury.judges.workspace.files import Workspace, answered, path_text
from prjury.jury.context import JudgmentContext
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment, Location
from prjury.jury.score import NumericalScore, finite
from prjury.snapshot.model import printable, visible

Metric: TypeAlias = Literal["line", "branch", "method", "instruction", "complexity", "class"]

_WHOLE = 100


class Counted(Protocol):
    """How many things there are to cover, and how many are."""

    @property
    def covered(self) -> int:
        """Those that were run."""
        ...

    @property
    def total(self) -> int:
        """All of them, at least one."""
        ...


class CoverageCounts(Protocol):
    """A report, as far as this judge is concerned."""

    def counter(self, metric: str) -> Counted | None:
        """The report's counter, None where it has none."""
        ...


@dataclass(frozen=True)
class Demand:
    """What is asked of a coverage.

    Attributes:
        minimum: the least percentage.
        baseline: the percentage before, as far as it is known.
        max_drop: the percentage points that it may have lost since.

    Raises:
        ValueError: when nothing is asked, or for numbers outside 0..100.
        TypeError: for anything but numbers.
    """

    minimum: float | None = None
    baseline: float | None = None
    max_drop: float | None = None

    def __post_init__(self) -> None:
        for name in ("minimum", "baseline", "max_drop"):
            value = getattr(self, name)
            if value is not None and not 0 <= finite(value, name) <= _WHOLE:
                raise ValueError(f"{name} is in 0..100, not {value}")
        if not (self.has_minimum or self.has_limit):
            raise ValueError("nothing is asked: name a minimum, a baseline or a max_drop")

    @property
    def has_minimum(self) -> bool:
        """Whether a least percentage is asked for."""
        return self.minimum is not None

    @property
    def has_limit(self) -> bool:
        """Whether it is asked how much was lost since the baseline."""
        return self.baseline is not None or self.max_drop is not None


@dataclass(frozen=True)
class ReportJudge:
    """PASS where a coverage report of the workspace holds what is asked, else FAIL.

    ``minimum`` asks for at least so many percent. ``max_drop`` asks for no more than so many points
    below the ``baseline``; a baseline alone asks for no drop at all. Both can be asked for: an
    improvement from 50 to at least 85 is ``minimum=85, baseline=50``. ABSTAIN ``no_baseline`` where
    a drop is asked about and there is no baseline, unless the minimum is missed already. ERROR
    ``no_workspace``, ``outside_workspace``, ``report_missing``, ``report_invalid``, ``too_large``,
    and ``no_such_counter`` where the report does not count what is asked about.

    Args:
        report: a report, or a directory that holds some, relative to the workspace.
        minimum: percent, 0..100.
        metric: line, branch, method, instruction, complexity or class.
        baseline: percent, 0..100.
        max_drop: percentage points, 0..100.
        read: reads a report, or those of a directory.

    Raises:
        ValueError: when nothing is asked, for numbers outside 0..100, an unknown metric, or an
            empty path.
        TypeError: for anything but numbers.
    """

    report: str | os.PathLike[str]
    minimum: float | None = None
    metric: Metric = "line"
    baseline: float | None = None
    max_drop: float | None = None
    _: KW_ONLY
    read: Callable[[Path], CoverageCounts] = field(repr=False, compare=False)
    name: str = "coverage"
    description: str = "enough of the code is covered by tests"
    type: JudgeType = JudgeType.DETERMINISTIC

    def __post_init__(self) -> None:
        object.__setattr__(self, "report", path_text(self.report))
        if self.metric not in get_args(Metric):
            known = ", ".join(get_args(Metric))
            raise ValueError(f"there is no metric {self.metric!r}; known are {known}")
        _ = self.demand

    @property
    def demand(self) -> Demand:
        """What is asked."""
        return Demand(self.minimum, self.baseline, self.max_drop)

    def judge(self, context: JudgmentContext, /) -> Judgment:
        """Whether the report holds what is asked."""
        return answered(lambda: self._judged(Workspace.of(context)))

    def _judged(self, workspace: Workspace) -> Judgment:
        path = os.fspath(self.report)
        if workspace.kind(path) == "missing":
            raise CannotJudgeError(
                f"there is no coverage report {visible(path)}",
                why="The tests have not run, or not with coverage",
                remedy="Run them with coverage, or name the report's place",
                reason="report_missing",
            )
        coverage = self.read(workspace.locate(path))
        return decide(coverage.counter(self.metric), self.demand, path, self.metric)


def decide(counter: Counted | None, demand: Demand, path: str, metric: str) -> Judgment:
    """PASS, FAIL, ABSTAIN or ERROR. Pure.

    Args:
        path: where the report stands.
        metric: what the counter counts.
    """
    if counter is None:
        summary = (
            f"{visible(path)} has no {metric} counter: there is nothing of that kind in the code, "
            "or it was compiled without what is needed to count it. Ask for another metric."
        )
        return Judgment.errored(summary, metadata={"reason": "no_such_counter"})
    current = Fraction(_WHOLE * counter.covered, counter.total)
    checks = tuple(_checks(current, demand, Location(path), metric))
    metadata = {
        "report": printable(path),
        "metric": metric,
        "percent": float(current),
        "covered": counter.covered,
        "missed": counter.total - counter.covered,
        "minimum": demand.minimum,
        "baseline": demand.baseline,
        "max_drop": demand.max_drop,
    }
    failed = [check for check in checks if not check.passed]
    words = "; ".join(check.message for check in failed or checks)
    if not failed and demand.has_limit and demand.baseline is None:
        summary = f"{words}; there is no baseline to compare with" if words else _unknown(metric)
        evidence = {"reason": "no_baseline", **metadata}
        return Judgment.abstained(summary, "no_baseline", checks=checks, metadata=evidence)
    score = NumericalScore(float(current), 0.0, float(_WHOLE))
    make = Judgment.failed if failed else Judgment.passed
    return make(words, score=score, checks=checks, metadata=metadata)


def _unknown(metric: str) -> str:
    return f"whether {metric} coverage dropped is not known: there is no baseline to compare with"


def _checks(current: Fraction, demand: Demand, place: Location, metric: str) -> Iterator[Check]:
    now = f"{metric} coverage is {_percent(current)} %"
    if demand.minimum is not None:
        enough = current >= _exact(demand.minimum)
        words = f"{now}, at least {_number(demand.minimum)} % is asked for"
        yield Check("coverage-minimum", enough, words, place)
    if demand.baseline is not None:
        most = demand.max_drop or 0.0
        drop = _exact(demand.baseline) - current
        asked = f"a drop of at most {_number(most)} points is" if most else "no drop is"
        words = f"{now} after {_number(demand.baseline)} %, {asked} allowed"
        yield Check("coverage-drop", drop <= _exact(most), words, place)


def _exact(number: float) -> Fraction:
    """The number as it is written, so that 74.9 is 749/10."""
    return Fraction(str(number))


def _percent(share: Fraction) -> str:
    """At most two decimals, rounded down: what is below a threshold must not look like it."""
    return _number(int(share * _WHOLE) / _WHOLE)


def _number(number: float) -> str:
    return str(number).removesuffix(".0")
