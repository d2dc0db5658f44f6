"""Coverage of the added lines of a change, by what reports say of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import groupby
from posixpath import basename, commonprefix, normpath
from typing import TypeAlias

from prjury.judges.builds.results.tree import TreeFiles
from prjury.judges.workspace.coverage import format_percent
from prjury.judges.workspace.coverage_readers import CoverageReport
from prjury.jury.judgment import Check, Judgment, Location, Severity
from prjury.jury.score import NumericalScore
from prjury.report.wording import join_words, pluralize
from prjury.snapshot.model import visible

#: The added lines of files by their numbers.
AddedLines: TypeAlias = Mapping[str, Mapping[int, str]]
#: Of the files that a report names, which of their added lines were run, if they are code at all.
AddedCoverage: TypeAlias = Mapping[str, Mapping[int, bool]]

_MOST_FINDINGS = 50
#: No code in a language of braces: nothing, only brackets, or only a comment.
_NO_CODE = re.compile(r"\s*(//.*|[^\w\"'`]*)")


def match_coverage(
    reports: Iterable[CoverageReport], added: AddedLines, tree: TreeFiles
) -> AddedCoverage:
    """Say which added lines were run; a line that any of the reports saw run was run."""
    coverage: dict[str, dict[int, bool]] = {}
    for report in reports:
        for name, lines in report.files.items():
            path = _find_file(name, report.roots, str(report.place), tree)
            if path not in added:
                continue
            runs = coverage.setdefault(path, {})
            for number, text in added[path].items():
                if number in lines and not (report.by_block and _NO_CODE.fullmatch(text)):
                    runs[number] = lines[number] or runs.get(number, False)
    return coverage


def _find_file(name: str, roots: Sequence[str], place: str, tree: TreeFiles) -> str:
    """Return the file that a report at a place means; empty for none. Neighbours come first."""
    plain = normpath(name.replace("\\", "/"))
    for root in roots:
        if path := tree.of_package(normpath(root.replace("\\", "/")), plain):
            return path
    if plain in tree.paths:
        return plain
    longer = [path for path in tree.named(basename(plain)) if path.endswith(f"/{plain}")]
    nearest = max(longer, key=lambda path: len(commonprefix([path, place])), default="")
    return nearest or tree.of_package("", plain) or ""


def decide_added(
    coverage: AddedCoverage, minimum: float, report: str, unmeasured: Sequence[str]
) -> Judgment:
    """Return PASS, FAIL or ABSTAIN for the added lines; no report names the unmeasured files."""
    names = join_words([visible(path) for path in unmeasured])
    gap = f"{visible(report)} knows nothing of {names}" if unmeasured else ""
    runs = [run for lines in coverage.values() for run in lines.values()]
    if not runs and gap:
        return Judgment.abstained(f"no added line was measured: {gap}", "not_measured")
    if not runs:
        return Judgment.abstained("no added line is code that counts", "not_applicable")
    share = Fraction(100 * sum(runs), len(runs))
    enough = share >= Fraction(str(minimum))
    words = (
        f"{format_percent(share)} % of the {len(runs)} added lines are covered, "
        f"at least {format_percent(minimum)} % is asked for"
    )
    checks = [Check("coverage-added-lines", enough, words, Location(report))]
    checks += _list_uncovered(coverage, "warning" if enough else "error")
    if gap:
        checks.append(Check.bad("coverage-unmeasured", gap, severity="warning"))
    make = Judgment.passed if enough else Judgment.failed
    return make(
        f"{words}; {gap}" if gap else words,
        score=NumericalScore(float(share), 0.0, 100.0),
        checks=checks,
        metadata={
            "report": report,
            "mode": "added_lines",
            "percent": float(share),
            "covered": sum(runs),
            "missed": len(runs) - sum(runs),
            "minimum": minimum,
            "unmeasured": list(unmeasured),
            "summaries": ["coverage-added-lines"],
        },
    )


def _list_uncovered(coverage: AddedCoverage, severity: Severity) -> Iterator[Check]:
    spans = [(path, span) for path in sorted(coverage) for span in _list_spans(coverage[path])]
    for path, (first, last) in spans[:_MOST_FINDINGS]:
        lines = f"line {first} is" if first == last else f"lines {first} to {last} are"
        place = Location(path, first, last if last > first else None)
        words = f"{lines} not covered by tests"
        yield Check.bad("uncovered-lines", words, place, severity=severity)
    if (rest := len(spans) - _MOST_FINDINGS) > 0:
        words = f"{pluralize(rest, 'more place')} not covered by tests"
        yield Check.bad("uncovered-lines", words, severity=severity)


def _list_spans(lines: Mapping[int, bool]) -> Iterator[tuple[int, int]]:
    missed = sorted(number for number, run in lines.items() if not run)
    for _, group in groupby(enumerate(missed), key=lambda entry: entry[1] - entry[0]):
        numbers = [number for _, number in group]
        yield numbers[0], numbers[-1]
