"""Tests that another CI ran: its reports of both sides, read as the result of a build."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from msgspec import Struct

from prjury.errors import CannotJudgeError
from prjury.judges.builds.evidence import Run, StepRun, TreeRun
from prjury.judges.builds.failure import Results
from prjury.judges.builds.plan import REPORTED, BuildPlan, BuildStep
from prjury.judges.builds.results.junit import parse_reports
from prjury.judges.builds.results.report_files import Found, files_below, load_reports
from prjury.judges.builds.results.tree import TreeFiles
from prjury.snapshot.model import printable

#: The plans of such a build: where its end is known, and where there is nothing but reports.
ENDED, UNENDED = (
    BuildPlan(REPORTED, (BuildStep("test", text),), has_report=True, source="ci")
    for text in ("the tests of another CI", "the test reports of another CI")
)


class ReportedTests(Struct, frozen=True):
    """The tests that another CI ran; `good` is its own word for its end, None if not known."""

    head: Results
    base: Results | None = None
    good: bool | None = None
    base_unknown: str = ""

    @property
    def plan(self) -> BuildPlan:
        """The plan that stands for the other CI's own."""
        return UNENDED if self.good is None else ENDED

    @property
    def run(self) -> Run:
        """The run of that plan as if done here; a base without a test is none to compare with."""
        results = self.head.settle_attempts(good=self.good is True)
        failed = self.good is False or bool(results.failures)
        head = _make_run(self.plan, results, 1 if failed else None if self.good is None else 0)
        if self.base is None or not self.base.tests:
            unknown = "its reports hold no test" if self.base else self.base_unknown
            return Run(head, base_unknown=unknown)
        base = self.base.settle_attempts(good=True)  # an attempt there excuses no failure here
        return Run(head, _make_run(self.plan, base, 1 if base.failures else 0))


def _make_run(plan: BuildPlan, results: Results, exit_code: int | None) -> TreeRun:
    step = StepRun(plan.steps[0].name, plan.steps[0].text, exit_code)
    return TreeRun((step,), failures=(*results.failures, *results.flaky), results=results)


def read_places(places: Sequence[Path], known: frozenset[str]) -> Results:
    """The reports at these places: files, and directories with XML files, which hold one each."""
    listing, names = Found(), dict[Path, str]()
    above = [str(place.absolute().parent) for place in places if place.is_file()]
    for place in places:
        problems = len(listing.problems)
        if place.is_file():
            reports = {place: str(place.absolute().relative_to(posixpath.commonpath(above)))}
        else:
            below = files_below(place, listing) if place.is_dir() else ()
            reports = {place / path: path for path in below if path.endswith(".xml")}
        if not reports and len(listing.problems) == problems:
            raise _report_missing(place)
        names.update({path: printable(name) for path, name in reports.items()})
    listing.files = list(names)
    doubts = list(listing.problems)
    files = dict(load_reports(listing, doubts, lambda path: names[Path(path)]))
    return read_reported(files, known, doubts)


def read_reported(
    files: Mapping[str, bytes | None], known: frozenset[str], problems: Sequence[str] = ()
) -> Results:
    """Read another CI's reports; paths lose the place where its copy of the tree was."""
    texts = (content for content in files.values() if content)
    root = _root_of(texts, known)
    doubts = list(problems)

    def relative(text: str) -> str:
        return text.replace(f"{root}/", "") if root else text

    return parse_reports(files.items(), doubts, TreeFiles(known), relative)


def _report_missing(place: Path) -> CannotJudgeError:
    where = "below" if place.is_dir() else "at"
    return CannotJudgeError(
        f"there is no report (*.xml) {where} {printable(str(place))}",
        why="the tests did not run, or their reports were not brought here",
        remedy="look at the job that runs them, and name files or directories that it leaves",
        reason="report_missing",
    )


#: An absolute path in a report, and how many of them are looked at.
_ABSOLUTE = re.compile(rb"(?<![\w./~:-])/(?:[^\s\"'<>:;,()\[\]&/]+/)+[^\s\"'<>:;,()\[\]&/]+")
_MOST_PATHS = 20_000
_LONGEST_PATH = 1_000


def _root_of(contents: Iterator[bytes], known: frozenset[str]) -> str:
    """The place of the tree: the text before most names of its files; empty for none."""
    matches = (match[0] for content in contents for match in _ABSOLUTE.finditer(content))
    roots = Counter[str]()
    for path in islice(matches, _MOST_PATHS):
        parts = path[:_LONGEST_PATH].decode("utf-8", "replace").split("/")
        for at in range(2, len(parts)):
            if "/".join(parts[at:]) in known:
                roots["/".join(parts[:at])] += 1
                break
    return roots.most_common(1)[0][0] if roots else ""
