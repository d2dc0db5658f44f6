"""The coverage judge: enough of the code is covered, and no less than before.

Percentages are compared as exact fractions: 80 to 75 is a drop of 5, whatever floats make of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from prjury.errors import CannotJudgeError
from prjury.judges.workspace.added_lines import (
    AddedCoverage,
    added_by,
    added_coverage,
    unmeasured,
)
from prjury.judges.workspace.coverage_formats.read import parse_coverage, read_coverage
from prjury.judges.workspace.coverage_formats.report import CoverageCounter, CoverageMetrics
from prjury.judges.workspace.files import Workspace, answered, path_text
from prjury.jury.context import JudgmentContext
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment, Location, Severity
from prjury.jury.score import NumericalScore, finite
from prjury.snapshot.kinds import kind_of
from prjury.snapshot.model import FileKind, printable, visible

Metric: TypeAlias = Literal["line", "branch", "method", "instruction", "complexity", "class"]
Mode: TypeAlias = Literal["floor", "preserved", "improved", "added_lines"]

#: Where the context's metadata may hold the baseline, in percent.
BASELINE_KEYS = ("baseline_coverage", "baselineCoverage")
_MOST_FINDINGS = 50
_A_DIFF = re.compile(r"^(diff |--- |\+\+\+ |@@ )", re.MULTILINE)


@dataclass(frozen=True)
class CoverageJudge:
    """PASS where a coverage report of the workspace holds what is asked, else FAIL.

    ``CoverageJudge(minimum=80)`` finds the report, or those of several modules, by the usual names;
    ``CoverageJudge("target/jacoco.xml", minimum=80, metric="branch")`` takes this one; for a change
    ``CoverageJudge("coverage.xml", minimum=90, mode="added_lines")``.

    Without a ``mode`` everything that is named is asked for. ``minimum`` asks for at least so many
    percent. ``max_drop`` asks for no more than so many points below the ``baseline``; a baseline
    alone asks for no drop at all. The modes are: ``floor``, the minimum alone; ``preserved``, no
    drop but ``max_drop``; ``improved``, more than the baseline, with the share of the possible gain
    as score; ``added_lines``, the minimum of the lines that the context's ``diff`` adds, each
    uncovered one a check with its place.

    Where a baseline is needed and none is given it is that of the context's
    ``metadata["baseline_coverage"]``, else ABSTAIN ``no_baseline``, unless the minimum is missed
    already. ABSTAIN ``not_applicable`` where no added line is code, ``not_measured`` where the
    report knows none of the changed source files. ERROR ``no_workspace``, ``outside_workspace``,
    ``report_missing``, ``report_invalid``, ``too_large``, ``no_diff``, ``diff_invalid``,
    ``baseline_invalid``, and ``no_such_counter`` where the report does not count what is asked.

    Args:
        report: a report, or a directory that holds some, relative to the workspace, which is
            searched by default.
        minimum: percent, 0..100.
        metric: line, branch, method, instruction, complexity or class.
        baseline: percent, 0..100.
        max_drop: percentage points, 0..100.
        diff: the change as a unified diff, where the context has none.
        read: reads the totals of a report, or of those of a directory; in any known format by
            default.

    Raises:
        ValueError: when nothing is asked, for numbers outside 0..100, an unknown metric or mode, an
            empty path, or a mode that does not go with the rest.
        TypeError: for anything but numbers.
    """

    report: str | os.PathLike[str] = "."
    minimum: float | None = None
    metric: Metric = "line"
    baseline: float | None = None
    max_drop: float | None = None
    mode: Mode | None = None
    _: KW_ONLY
    diff: str | None = field(default=None, repr=False)
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
        if self.mode is not None:
            self._check_mode(self.mode)
        elif all(value is None for value in asked.values()):
            raise ValueError("nothing is asked: name a minimum, a baseline or a max_drop")

    def _check_mode(self, mode: str) -> None:
        if mode not in get_args(Mode):
            raise ValueError(f"there is no mode {mode!r}; known are {', '.join(get_args(Mode))}")
        if mode in {"floor", "added_lines"} and self.minimum is None:
            raise ValueError(f"the mode {mode} needs a minimum")
        if mode in {"floor", "added_lines"} and {self.baseline, self.max_drop} != {None}:
            raise ValueError(f"the mode {mode} compares with no baseline")
        if mode == "added_lines" and self.metric != "line":
            raise ValueError("the mode added_lines counts lines, and has no other metric")
        if mode == "improved" and self.max_drop is not None:
            raise ValueError("the mode improved allows no drop")

    @property
    def compares(self) -> bool:
        """Whether a baseline is needed."""
        return self.mode in {"preserved", "improved"} or self.max_drop is not None

    def judge(self, context: JudgmentContext, /) -> Judgment:
        """Whether the report holds what is asked."""
        return answered(lambda: self._judged(Workspace.of(context), context))

    def _judged(self, workspace: Workspace, context: JudgmentContext) -> Judgment:
        path = os.fspath(self.report)
        if workspace.kind(path) == "missing":
            raise CannotJudgeError(
                f"there is no coverage report {visible(path)}",
                why="The tests have not run, or not with coverage",
                remedy="Run them with coverage, or name the report's place",
                reason="report_missing",
            )
        place = workspace.locate(path)
        if self.mode == "added_lines":
            return self._added_lines(workspace, place, context)
        baseline = self.baseline
        if baseline is None and self.compares:
            baseline = _baseline_of(context)
        return self.decide(self.read(place).counter(self.metric), baseline)

    def _added_lines(self, workspace: Workspace, place: Path, context: JudgmentContext) -> Judgment:
        from prjury.git.directory import open_directory  # noqa: PLC0415 - only this mode needs it

        diff = context.diff if context.diff is not None else self.diff
        if diff is None:
            raise CannotJudgeError(
                "which lines were added is not known",
                why="The context has no diff",
                remedy="Hand it over: JudgmentContext(goal, workspace=..., diff=...), or name a "
                "file with the option diff",
                reason="no_diff",
            )
        if diff.strip() and not _A_DIFF.search(diff):
            raise CannotJudgeError(
                "which lines were added is not known",
                why="What was handed over is no diff",
                remedy="Hand over what git diff prints",
                reason="diff_invalid",
            )
        added = added_by(diff)
        known = [entry.path for entry in open_directory(workspace.root).entries]
        found = added_coverage(read_coverage(place), added, known, str(workspace.root))
        sources = (path for path in added if kind_of(printable(path)) is FileKind.SOURCE)
        return self.decide_added(found, unmeasured(added, found, sources))

    def decide_added(self, found: AddedCoverage, unknown: Sequence[str] = ()) -> Judgment:
        """PASS, FAIL or ABSTAIN for the added lines. Pure.

        Args:
            unknown: the changed source files that no report names.
        """
        path, minimum = os.fspath(self.report), self.minimum or 0.0
        every = [run for lines in found.values() for run in lines.values()]
        named = f"{visible(path)} knows nothing of {_listed(unknown)}" if unknown else ""
        if unknown and not every:
            return Judgment.abstained(f"no added line was measured: {named}", "not_measured")
        if not every:
            return Judgment.abstained("no added line is code that counts", "not_applicable")
        current = Fraction(100 * sum(every), len(every))
        enough = current >= _exact(minimum)
        share = f"{_percent(current)} % of the {len(every)} added lines are covered"
        words = f"{share}, at least {_number(minimum)} % is asked for"
        checks = [
            Check("coverage-added-lines", enough, words, Location(path)),
            *_uncovered(found, "warning" if enough else "error"),
        ]
        if named:
            checks.append(Check("coverage-unmeasured", False, named, severity="warning"))  # noqa: FBT003 - as its field
        make = Judgment.passed if enough else Judgment.failed
        return make(
            f"{words}; {named}" if named else words,
            score=NumericalScore(float(current), 0.0, 100.0),
            checks=checks,
            metadata={
                "report": printable(path),
                "mode": "added_lines",
                "percent": float(current),
                "covered": sum(every),
                "missed": len(every) - sum(every),
                "minimum": self.minimum,
                "unmeasured": [printable(one) for one in unknown],
                "summaries": ["coverage-added-lines"],
            },
        )

    def decide(
        self, counter: CoverageCounter | None, baseline: float | Fraction | None = None
    ) -> Judgment:
        """PASS, FAIL, ABSTAIN or ERROR for what the report counts; None where it does not. Pure.

        Args:
            baseline: percent, where the judge was given none.
        """
        path, base = os.fspath(self.report), self.baseline if baseline is None else baseline
        if counter is None:
            summary = (
                f"{visible(path)} has no {self.metric} counter: there is nothing of that kind in "
                "the code, or it was compiled without what is needed to count it. "
                "Ask for another metric."
            )
            return Judgment.errored(summary, metadata={"reason": "no_such_counter"})
        current = Fraction(100 * counter.covered, counter.total)
        checks = tuple(self._checks(current, base, Location(path)))
        metadata = {
            "report": printable(path),
            "metric": self.metric,
            "percent": float(current),
            "covered": counter.covered,
            "missed": counter.missed,
            "minimum": self.minimum,
            "baseline": float(base) if isinstance(base, Fraction) else base,
            "max_drop": self.max_drop,
            **({"mode": self.mode} if self.mode else {}),
        }
        failed = [check for check in checks if not check.passed]
        words = "; ".join(check.message for check in failed or checks)
        if not failed and self.compares and base is None:
            begin = words or f"whether {self.metric} coverage {self._question} is not known"
            summary = f"{begin}{';' if words else ':'} there is no baseline to compare with"
            return Judgment.abstained(summary, "no_baseline", checks=checks, metadata=metadata)
        score = NumericalScore(float(current), 0.0, 100.0)
        if self.mode == "improved" and base is not None:
            score = NumericalScore(float(_gain(current, _before(base, current))))
        make = Judgment.failed if failed else Judgment.passed
        return make(words, score=score, checks=checks, metadata=metadata)

    @property
    def _question(self) -> str:
        return "improved" if self.mode == "improved" else "dropped"

    def _checks(
        self, current: Fraction, base: float | Fraction | None, place: Location
    ) -> Iterator[Check]:
        now = f"{self.metric} coverage is {_percent(current)} %"
        if self.minimum is not None:
            enough = current >= _exact(self.minimum)
            words = f"{now}, at least {_number(self.minimum)} % is asked for"
            yield Check("coverage-minimum", enough, words, place)
        if base is None:
            return
        before = _before(base, current)
        if self.mode == "improved":
            full = current == before == _FULL
            words = f"{now} after {_number(base)} %, {_improved(current, before)}"
            yield Check("coverage-improved", full or current > before, words, place)
            return
        most = self.max_drop or 0.0
        asked = f"a drop of at most {_number(most)} points is" if most else "no drop is"
        words = f"{now} after {_number(base)} %, {asked} allowed"
        yield Check("coverage-drop", before - current <= _exact(most), words, place)


@dataclass(frozen=True)
class CoverageImprovementJudge:
    """PASS where coverage is above its baseline and has reached the target, else FAIL.

    ``CoverageImprovementJudge(baseline=50, target=85)``; the score is the share of the possible
    gain. It is `CoverageJudge` in its mode ``improved``, with the same reasons.

    Args:
        baseline: percent; that of the context's ``metadata["baseline_coverage"]`` if not given.
        target: percent; any gain is enough if not given.
        report: a report, or a directory that holds some, relative to the workspace.
    """

    baseline: float | None = None
    target: float | None = None
    report: str | os.PathLike[str] = "."
    metric: Metric = "line"
    name: str = "coverage-improvement"
    description: str = "more of the code is covered by tests than before"
    type: JudgeType = JudgeType.DETERMINISTIC

    def __post_init__(self) -> None:
        self._measure()

    def judge(self, context: JudgmentContext, /) -> Judgment:
        """Whether coverage has improved enough."""
        return self._measure().judge(context)

    def _measure(self) -> CoverageJudge:
        return CoverageJudge(
            self.report, self.target, self.metric, baseline=self.baseline, mode="improved"
        )


_FULL = 100


def _baseline_of(context: JudgmentContext) -> float | None:
    """The baseline that the context knows.

    Raises:
        CannotJudgeError: ``baseline_invalid`` where it is no percentage.
    """
    known = (context.metadata.get(key) for key in BASELINE_KEYS)
    said = next((value for value in known if value is not None), None)
    number = isinstance(said, int | float) and not isinstance(said, bool)
    if said is None or (number and 0 <= said <= _FULL):
        return None if said is None else float(said)
    raise CannotJudgeError(
        f"the context's baseline, {visible(repr(said)[:80])}, is no percentage",
        remedy=f"Put a number from 0 to 100 into metadata[{BASELINE_KEYS[0]!r}]",
        reason="baseline_invalid",
    )


def _before(base: float | Fraction, current: Fraction) -> Fraction:
    """The baseline; one that was read from a report as a float is no thousandth off."""
    return current if float(current) == base else _exact(base)


def _gain(current: Fraction, before: Fraction) -> Fraction:
    """The share of the possible gain, 0..1; all of it where there was nothing left to gain."""
    if before == _FULL:
        return Fraction(int(current == before))
    return max(Fraction(0), (current - before) / (_FULL - before))


def _improved(current: Fraction, before: Fraction) -> str:
    if before == _FULL:
        return "and there was nothing left to gain" if current == before else "that is less"
    if current <= before:
        return "that is no improvement"
    return f"{_percent(100 * _gain(current, before))} % of the possible gain"


def _uncovered(found: AddedCoverage, severity: Severity) -> Iterator[Check]:
    """A check for each run of uncovered lines."""
    spans = [(path, *span) for path in sorted(found) for span in _spans(found[path])]
    for path, first, last in spans[:_MOST_FINDINGS]:
        lines = f"line {first} is" if first == last else f"lines {first} to {last} are"
        place = Location(path, first, last if last > first else None)
        yield Check("uncovered-lines", False, f"{lines} not covered by tests", place, severity)  # noqa: FBT003 - as its field
    if (left := len(spans) - _MOST_FINDINGS) > 0:
        words = f"{left} more {'place is' if left == 1 else 'places are'} not covered"
        yield Check("uncovered-lines", False, words, None, severity)  # noqa: FBT003 - as above


def _spans(lines: Mapping[int, bool]) -> Iterator[tuple[int, int]]:
    missed = sorted(number for number, run in lines.items() if not run)
    first = last = None
    for number in missed:
        if first is not None and last is not None and number != last + 1:
            yield first, last
            first = None
        first, last = number if first is None else first, number
    if first is not None and last is not None:
        yield first, last


def _listed(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""  # noqa: PLR2004 - some examples
    return ", ".join(map(visible, paths[:3])) + more


def _exact(number: float | Fraction) -> Fraction:
    """The number as it is written, so that 74.9 is 749/10."""
    return number if isinstance(number, Fraction) else Fraction(str(number))


def _percent(share: Fraction) -> str:
    """At most two decimals, rounded down: what is below a threshold must not look like it."""
    return _number(int(share * 100) / 100)


def _number(number: float | Fraction) -> str:
    if isinstance(number, Fraction):
        return _percent(number)
    return str(number).removesuffix(".0")
