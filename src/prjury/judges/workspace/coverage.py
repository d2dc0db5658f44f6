"""The coverage judge: enough is covered, and no less than before, by exact fractions."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Literal, TypeAlias, get_args

from prjury.errors import CannotJudgeError
from prjury.judges.workspace.coverage_readers import CoverageCounter, CoverageMetrics, read_coverage
from prjury.judges.workspace.files import Workspace, WorkspaceJudge, judge_checks, require_text_path
from prjury.jury.context import JudgmentContext
from prjury.jury.judgment import Check, Judgment, Location
from prjury.jury.score import NumericalScore, finite
from prjury.snapshot.model import printable, visible

Metric: TypeAlias = Literal["line", "branch", "method", "instruction", "complexity", "class"]
Mode: TypeAlias = Literal["floor", "preserved", "improved"]

#: Keys of the context's metadata that may hold the baseline, in percent.
BASELINE_KEYS = ("baseline_coverage", "baselineCoverage")
_FULL = 100


@dataclass(frozen=True)
class CoverageJudge(WorkspaceJudge):
    """PASS where a coverage report of the workspace holds what is asked, else FAIL.

    What is named is asked for: a ``minimum``, and no drop below the ``baseline`` (both in percent)
    but ``max_drop`` points; in the mode ``improved`` more than the baseline. The baseline may be
    ``metadata["baseline_coverage"]`` of the context; ABSTAIN ``no_baseline`` without. A directory
    ``report`` is searched for the usual names.
    """

    report: str | os.PathLike[str] = "."
    minimum: float | None = None
    metric: Metric = "line"
    baseline: float | None = None
    max_drop: float | None = None
    mode: Mode | None = None
    _: KW_ONLY
    name: str = "coverage"
    description: str = "enough of the code is covered by tests"

    def __post_init__(self) -> None:
        object.__setattr__(self, "report", require_text_path(self.report))
        for kind, choices in (("metric", Metric), ("mode", Mode)):
            value, names = getattr(self, kind), get_args(choices)
            if value is not None and value not in names:
                raise ValueError(f"there is no {kind} {value!r}; known are {', '.join(names)}")
        for name in ("minimum", "baseline", "max_drop"):
            value = getattr(self, name)
            if value is not None and not 0 <= finite(value, name) <= _FULL:
                raise ValueError(f"{name} is in 0..100, not {value}")
        compared = self.baseline is not None or self.max_drop is not None
        if self.mode is None and self.minimum is None and not compared:
            raise ValueError("nothing is asked: name a minimum, a baseline or a max_drop")
        if self.mode == "floor" and (self.minimum is None or compared):
            raise ValueError("the mode floor needs a minimum, and compares with no baseline")
        if self.mode == "improved" and self.max_drop is not None:
            raise ValueError("the mode improved allows no drop")

    @property
    def compares(self) -> bool:
        return self.mode in {"preserved", "improved"} or self.max_drop is not None

    def judge_in(self, workspace: Workspace, context: JudgmentContext) -> Judgment:
        baseline = _read_base_percent(context) if self.compares and self.baseline is None else None
        reports = read_coverage(workspace.locate_inside(os.fspath(self.report)))
        metrics = CoverageMetrics.total(report.metrics for report in reports)
        return self.decide(metrics.counters.get(self.metric), baseline)

    def decide(
        self,
        counter: CoverageCounter | None,
        baseline: float | Fraction | None = None,
        subject: str = "",
    ) -> Judgment:
        """Return the judgment of a count, or of none, by a baseline in percent. Pure."""
        report = os.fspath(self.report)
        if counter is None:
            words = (
                f"{visible(report)} has no {self.metric} counter: there is nothing of that kind in "
            )
            words += "the code, or it was compiled without what is needed. Ask for another metric."
            return Judgment.errored(words, metadata={"reason": "no_such_counter"})
        current = Fraction(100 * counter.covered, counter.total)
        base = self.baseline if baseline is None else baseline
        before = None if base is None else _exact(base)
        if base == float(current):
            before = current
        subject = subject or f"{self.metric} coverage"
        checks = list(self._make_coverage_checks(subject, current, before, Location(report)))
        failed = [check for check in checks if not check.passed]
        words = "; ".join(check.message for check in failed or checks)
        metadata = {
            "report": printable(report),
            "metric": self.metric,
            "percent": float(current),
            "covered": counter.covered,
            "missed": counter.missed,
            "minimum": self.minimum,
            "baseline": None if base is None else float(base),
            "max_drop": self.max_drop,
            **({"mode": self.mode} if self.mode else {}),
        }
        if not failed and self.compares and before is None:
            reason = f"{words}; there is no baseline to compare with".removeprefix("; ")
            return Judgment.abstained(reason, "no_baseline", checks=checks, metadata=metadata)
        score = NumericalScore(float(current), 0.0, 100.0)
        if self.mode == "improved" and before is not None:
            score = NumericalScore(float(_gain(current, before)))
        return judge_checks(checks, words, score, metadata)

    def _make_coverage_checks(
        self, subject: str, current: Fraction, before: Fraction | None, place: Location
    ) -> Iterator[Check]:
        now = f"{subject} is {format_percent(current)} %"
        if self.minimum is not None:
            words = f"{now}, at least {format_percent(self.minimum)} % is asked for"
            yield Check("coverage-minimum", current >= _exact(self.minimum), words, place)
        if before is None:
            return
        now = f"{now} after {format_percent(before)} %"
        if self.mode == "improved":
            gain = _gain(current, before)
            share = f"{format_percent(100 * gain)} % of the possible gain"
            words = f"{now}, {share if gain else 'that is no improvement'}"
            yield Check("coverage-improved", gain > 0, words, place)
            return
        most = self.max_drop or 0.0
        limit = f"a drop of at most {format_percent(most)} points is" if most else "no drop is"
        enough = before - current <= _exact(most)
        yield Check("coverage-drop", enough, f"{now}, {limit} allowed", place)


class CoverageImprovementJudge(CoverageJudge):
    """`CoverageJudge` in its mode ``improved``; the score is the share of the possible gain.

    The baseline, in percent, is the context's if not given; without target any gain will do.
    """

    def __init__(
        self,
        baseline: float | None = None,
        target: float | None = None,
        report: str | os.PathLike[str] = ".",
        metric: Metric = "line",
    ) -> None:
        name = "coverage-improvement"
        super().__init__(report, target, metric, baseline, None, "improved", name=name)


def _read_base_percent(context: JudgmentContext) -> float | None:
    for key in BASELINE_KEYS:
        value = context.metadata.get(key)
        if value is None:
            continue
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _FULL:
            return float(value)
        what = f"the context's baseline, {visible(repr(value)[:80])}, is no percentage"
        remedy = f"Put a number from 0 to 100 into metadata[{BASELINE_KEYS[0]!r}]"
        raise CannotJudgeError(what, remedy=remedy, reason="baseline_invalid")
    return None


def _gain(current: Fraction, before: Fraction) -> Fraction:
    """Return the share of the possible gain; all of it if there was nothing left to gain."""
    if before == _FULL:
        return Fraction(int(current == before))
    return max(Fraction(0), (current - before) / (_FULL - before))


def _exact(number: float | Fraction) -> Fraction:
    return number if isinstance(number, Fraction) else Fraction(str(number))


def format_percent(number: float | Fraction) -> str:
    """Write at most two decimals of a share; rounded down, or it looks like its threshold."""
    value = int(number * 100) / 100 if isinstance(number, Fraction) else number
    return str(value).removesuffix(".0")
