"""The coverage judge: enough of the code is covered, and no less than before.

Percentages are compared as exact fractions: 80 to 75 is a drop of 5, whatever floats make of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from prjury.errors import CannotJudgeError
from prjury.judges.workspace.coverage_formats.read import parse_coverage
from prjury.judges.workspace.coverage_formats.report import CoverageCounter, CoverageMetrics
from prjury.judges.workspace.files import Workspace, answered, path_text
from prjury.jury.context import JudgmentContext
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment, Location
from prjury.jury.score import NumericalScore, finite
from prjury.snapshot.model import printable, visible

Metric: TypeAlias = Literal["line", "branch", "method", "instruction", "complexity", "class"]


@dataclass(frozen=True)
class CoverageJudge:
    """PASS where a coverage report of the workspace holds what is asked, else FAIL.

    ``CoverageJudge("target/site/jacoco/jacoco.xml", minimum=80)``; for a project of several modules
    ``CoverageJudge(".", minimum=80, metric="branch")``.

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
        read: reads a report, or those of a directory; in any known format by default.

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
    read: Callable[[Path], CoverageMetrics] = field(
        default=parse_coverage, repr=False, compare=False
    )
    name: str = "coverage"
    description: str = "enough of the code is covered by tests"
    type: JudgeType = JudgeType.DETERMINISTIC

    def __post_init__(self) -> None:
        object.__setattr__(self, "report", path_text(self.report))
        if self.metric not in get_args(Metric):
            known = ", ".join(get_args(Metric))
            raise ValueError(f"there is no metric {self.metric!r}; known are {known}")
        asked = {name: getattr(self, name) for name in ("minimum", "baseline", "max_drop")}
        for name, value in asked.items():
            if value is not None and not 0 <= finite(value, name) <= 100:  # noqa: PLR2004 - percent
                raise ValueError(f"{name} is in 0..100, not {value}")
        if all(value is None for value in asked.values()):
            raise ValueError("nothing is asked: name a minimum, a baseline or a max_drop")

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
        return self.decide(self.read(workspace.locate(path)).counter(self.metric))

    def decide(self, counter: CoverageCounter | None) -> Judgment:
        """PASS, FAIL, ABSTAIN or ERROR for what the report counts; None where it does not. Pure."""
        path = os.fspath(self.report)
        if counter is None:
            summary = (
                f"{visible(path)} has no {self.metric} counter: there is nothing of that kind in "
                "the code, or it was compiled without what is needed to count it. "
                "Ask for another metric."
            )
            return Judgment.errored(summary, metadata={"reason": "no_such_counter"})
        current = Fraction(100 * counter.covered, counter.total)
        checks = tuple(self._checks(current, Location(path)))
        metadata = {
            "report": printable(path),
            "metric": self.metric,
            "percent": float(current),
            "covered": counter.covered,
            "missed": counter.missed,
            "minimum": self.minimum,
            "baseline": self.baseline,
            "max_drop": self.max_drop,
        }
        failed = [check for check in checks if not check.passed]
        words = "; ".join(check.message for check in failed or checks)
        if not failed and self.max_drop is not None and self.baseline is None:
            begin = words or f"whether {self.metric} coverage dropped is not known"
            summary = f"{begin}{';' if words else ':'} there is no baseline to compare with"
            return Judgment.abstained(summary, "no_baseline", checks=checks, metadata=metadata)
        score = NumericalScore(float(current), 0.0, 100.0)
        make = Judgment.failed if failed else Judgment.passed
        return make(words, score=score, checks=checks, metadata=metadata)

    def _checks(self, current: Fraction, place: Location) -> Iterator[Check]:
        now = f"{self.metric} coverage is {_percent(current)} %"
        if self.minimum is not None:
            enough = current >= _exact(self.minimum)
            words = f"{now}, at least {_number(self.minimum)} % is asked for"
            yield Check("coverage-minimum", enough, words, place)
        if self.baseline is not None:
            most = self.max_drop or 0.0
            drop = _exact(self.baseline) - current
            asked = f"a drop of at most {_number(most)} points is" if most else "no drop is"
            words = f"{now} after {_number(self.baseline)} %, {asked} allowed"
            yield Check("coverage-drop", drop <= _exact(most), words, place)


def _exact(number: float) -> Fraction:
    """The number as it is written, so that 74.9 is 749/10."""
    return Fraction(str(number))


def _percent(share: Fraction) -> str:
    """At most two decimals, rounded down: what is below a threshold must not look like it."""
    return _number(int(share * 100) / 100)


def _number(number: float) -> str:
    return str(number).removesuffix(".0")
