"""Builds that ran elsewhere: judged by the evidence or the test reports that they left behind."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

from msgspec import Struct

from prjury.errors import CannotJudgeError
from prjury.judges.builds.compare import Comparison, compare
from prjury.judges.builds.decide import decide, decide_untried, list_touched
from prjury.judges.builds.evidence import (
    BuildEvidence,
    BuildRecord,
    KeptReports,
    Run,
    StepRun,
    TreeRun,
    make_evidence_error,
    read_evidence,
    refuse_other_steps,
)
from prjury.judges.builds.failure import Results
from prjury.judges.builds.plan import REPORTED, BuildPlan, BuildStep
from prjury.judges.builds.results.junit import parse_reports
from prjury.judges.builds.results.report_files import Listing, load_reports, walk_files
from prjury.judges.builds.results.tree import TreeFiles
from prjury.judges.builds.wording import EVIDENCE_HOW, join_names
from prjury.judges.builds.workplace import list_paths
from prjury.judges.context import PullRequestContext
from prjury.jury.judgment import Judgment
from prjury.policy.tiers import BuildOptions
from prjury.ports import Ports
from prjury.snapshot.model import PullRequest, printable, visible

#: The plans of such a build: where its end is known, and where there is nothing but reports.
ENDED, UNENDED = (
    BuildPlan(REPORTED, (BuildStep("test", text),), has_report=True, source="ci")
    for text in ("the tests of another CI", "the test reports of another CI")
)


def make_reported_run(
    head: Results, base: Results | None, *, passed: bool | None = None, base_problem: str = ""
) -> tuple[BuildPlan, Run]:
    """The tests that another CI ran, as if they had run here.

    `passed` is its own word for its end, None if not known. A base without a test is not compared.
    """
    plan, results = UNENDED if passed is None else ENDED, head.resolve_retries(passed=bool(passed))
    failed = passed is False or bool(results.failures)
    run = _make_run(plan, results, 1 if failed else None if passed is None else 0)
    if base is None or not base.tests:
        return plan, Run(run, base_unknown="its reports hold no test" if base else base_problem)
    base = base.resolve_retries(passed=True)  # an attempt there excuses no failure here
    return plan, Run(run, _make_run(plan, base, 1 if base.failures else 0))


def _make_run(plan: BuildPlan, results: Results, exit_code: int | None) -> TreeRun:
    step = StepRun(plan.steps[0].name, plan.steps[0].text, exit_code)
    return TreeRun((step,), failures=(*results.failures, *results.flaky), results=results)


def require_reports_at(places: Sequence[Path], tree_paths: frozenset[str]) -> Results:
    """The reports at these places: files, and directories with XML files, which hold one each."""
    listing, names = Listing(), dict[Path, str]()
    above = [str(place.absolute().parent) for place in places if place.is_file()]
    for place in places:
        problems = len(listing.problems)
        if place.is_file():
            reports = {place: str(place.absolute().relative_to(posixpath.commonpath(above)))}
        else:
            below = walk_files(place, listing) if place.is_dir() else ()
            reports = {place / path: path for path in below if path.endswith(".xml")}
        if not reports and len(listing.problems) == problems:
            where = "below" if place.is_dir() else "at"
            raise CannotJudgeError(
                f"there is no report (*.xml) {where} {printable(str(place))}",
                why="the tests did not run, or their reports were not brought here",
                remedy="look at the job that runs them, and name files or directories it leaves",
                reason="report_missing",
            )
        names.update({path: printable(name) for path, name in reports.items()})
    listing.files = list(names)
    files = dict(load_reports(listing, lambda path: names[Path(path)]))
    return parse_ci_reports(files, tree_paths, listing.problems)


#: An absolute path in a report, and how many of them are looked at.
_ABSOLUTE = re.compile(
    rb"(?:(?<![\w./~:-])|(?<=file://))"
    rb"/(?:[^\s\"'<>:;,()\[\]&/]+/)+[^\s\"'<>:;,()\[\]&/]+"
)
_MOST_PATHS = 20_000
_LONGEST_PATH = 1_000


def parse_ci_reports(
    files: Mapping[str, bytes | None], tree_paths: frozenset[str], problems: Sequence[str] = ()
) -> Results:
    """Read another CI's reports; paths lose the place of its tree, with which most begin."""
    contents = filter(None, files.values())
    matches = (match[0] for content in contents for match in _ABSOLUTE.finditer(content))
    roots = Counter[str]()
    for path in islice(matches, _MOST_PATHS):
        parts = path[:_LONGEST_PATH].decode("utf-8", "replace").split("/")
        for at in range(2, len(parts)):
            if "/".join(parts[at:]) in tree_paths:
                roots["/".join(parts[:at])] += 1
                break
    root = re.escape(roots.most_common(1)[0][0]) if roots else r"(?!)"
    place = re.compile(rf"(?:file://|(?<![\w./~-])){root}/")  # no directory of the tree itself
    tree = TreeFiles(tree_paths)
    return parse_reports(files.items(), [*problems], tree, lambda text: place.sub("", text))


_MOST_NAMED = 3
_LONGEST_COMMAND = 200


def tree_of(pull: PullRequest) -> str:
    """The merged tree; the head where there is none."""
    return pull.merge.tree or pull.head.sha


class EvidenceBuild(Struct, frozen=True):
    """Judges the builds of a pull request as if they had run here, and gets their reports."""

    options: BuildOptions
    context: PullRequestContext
    paths: frozenset[str]
    evidence: BuildEvidence

    @classmethod
    def read_and_check(
        cls, options: BuildOptions, ports: Ports, context: PullRequestContext
    ) -> EvidenceBuild:
        """Read the evidence, which is of this change; else a CannotJudgeError says why not."""
        if ports.evidence is None:
            why = "the policy takes the build from its evidence, and none was named"
            raise CannotJudgeError(why, remedy=EVIDENCE_HOW, reason="evidence_missing")
        record, pull = read_evidence(ports.evidence.read_evidence_bytes()), context.pull
        for what, name, expected in (
            ("head", record.head, pull.head.sha),
            ("base", record.base, pull.base.sha),
            ("merged tree", record.merged_tree, pull.merge.tree),
        ):
            if name != expected:
                raise _mismatch(f"its {what} is {name or 'none'}, and here it is {expected}")
        return cls(options, context, list_paths(ports.repository, tree_of(pull)), record)

    def judge_reports(self) -> Judgment | None:
        """Judge by the reports of another CI; None where the evidence is of builds."""
        for plan in (ENDED, UNENDED):
            if [plan.key] == [record.key for record in self.evidence.builds]:
                return self._judge(plan, self.evidence.builds[0])
        return None

    def judge_and_refuse_unplanned_builds(self, plans: Sequence[BuildPlan]) -> Sequence[Judgment]:
        """Judge each plan, in order; ``evidence_mismatch`` where it is of other builds."""
        records = {record.key: record for record in self.evidence.builds}
        judgments = []
        for plan in plans:
            forms = (plan, *([plan.otherwise] if plan.otherwise else []))
            chosen = next((form for form in forms if form.key in records), plan)
            judgments.append(self._judge(chosen, records.pop(chosen.key, None)))
        if records:
            commands = [f"`{visible(key[2][:_LONGEST_COMMAND])}`" for key in records]
            raise _mismatch(f"it ran {join_names(commands, _MOST_NAMED)}, which is not wanted here")
        return judgments

    def find_command(self, plan: BuildPlan) -> Comparison:
        """Compare the sides of a command of the policy; a CannotJudgeError if it was not run."""
        records = {record.command: record for record in self.evidence.commands}
        return self._take_reports_and_compare(plan, records.get(plan.text))

    def _judge(self, plan: BuildPlan, record: BuildRecord | None) -> Judgment:
        try:
            return decide(self._take_reports_and_compare(plan, record))
        except CannotJudgeError as error:
            return decide_untried(plan, str(error), error.reason)

    def _take_reports_and_compare(self, plan: BuildPlan, record: BuildRecord | None) -> Comparison:
        if record and record.error:
            raise CannotJudgeError(record.error.message, reason=record.error.reason)
        run = record.run if record else None
        if run is None:
            why = f"the evidence holds nothing about `{visible(plan.text[:_LONGEST_COMMAND])}`"
            raise CannotJudgeError(why, remedy=EVIDENCE_HOW, reason="evidence_missing")
        try:
            for side in (run.head, run.base if not run.base_commit else None):
                if side:
                    refuse_other_steps(side, plan)
            KeptReports.of(self.context).take_chosen_reports(run, self.options)
        except ValueError as error:
            raise make_evidence_error(str(error)) from error
        return compare(plan, run, self.paths, self.options, list_touched(self.context.pull))


def _mismatch(why: str) -> CannotJudgeError:
    return CannotJudgeError(
        f"the evidence is of another build: {why}",
        why="the base or the head has moved on, or policy or version are not the same",
        remedy="build again with `prjury build`, with the same policy and version",
        reason="evidence_mismatch",
    )
