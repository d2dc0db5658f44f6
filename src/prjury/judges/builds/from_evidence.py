"""A build that ran elsewhere, judged here by the evidence that it left behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from msgspec import structs

from prjury.errors import CannotJudgeError
from prjury.judges.builds.decide import decide, not_tried
from prjury.judges.builds.kept_reports import KeptReports
from prjury.judges.builds.outcome import BuildResult
from prjury.judges.builds.plan import REPORTED, BuildPlan
from prjury.judges.builds.record import (
    BuildEvidenceJson,
    BuildJson,
    CaseJson,
    EvidenceReader,
    invalid,
    read_evidence,
)
from prjury.judges.builds.reported import ENDED, UNENDED, decide_reported
from prjury.jury.judgment import Judgment
from prjury.policy.schema import BuildOptions
from prjury.ports import Evidence
from prjury.report.judge_facts import BuildFacts
from prjury.snapshot.model import PullRequest, visible

#: The note in every judgment that was made in this way.
FROM_EVIDENCE = "built elsewhere, read from its evidence"

_MOST_NAMED = 3
_LONGEST_COMMAND = 200
_HOW = (
    "run `prjury build` where the change may be built, or `prjury evidence from-junit` on the "
    "reports of its CI, and name the file that it writes: "
    "`prjury review --evidence build-evidence.json`"
)


@dataclass(frozen=True)
class EvidenceBuild:
    """Judges the builds of a pull request as if they had run here.

    Attributes:
        known: the paths of the merged tree.
        kept: gets the reports that the builds have left behind.
    """

    options: BuildOptions
    pull: PullRequest
    known: frozenset[str]
    kept: KeptReports = field(default_factory=KeptReports)

    def recorded(self, evidence: Evidence | None) -> BuildEvidenceJson:
        """The evidence, which is of this change.

        Raises:
            CannotJudgeError: ``evidence_missing``, ``evidence_invalid``, or ``evidence_mismatch``
                where it is of another change.
        """
        if evidence is None:
            raise CannotJudgeError(
                "the policy takes the build from its evidence, and none was named",
                remedy=_HOW,
                reason="evidence_missing",
            )
        recorded = read_evidence(evidence.read())
        self._refuse_other_change(recorded)
        return recorded

    def by_reports(self, recorded: BuildEvidenceJson) -> Judgment | None:
        """The judgment by the reports of another CI; None where the evidence is of builds."""
        plans = {plan.text: plan for plan in (ENDED, UNENDED)}
        build = recorded.builds[0] if len(recorded.builds) == 1 else None
        if build is None or build.system != REPORTED or build.command not in plans:
            return None
        plan = plans[build.command]
        judgment = self._judgment(plan, build, decide_reported)
        facts = BuildFacts.of(judgment) or BuildFacts()
        return judgment.with_metadata(**structs.replace(facts, origin="evidence").to_metadata())

    def judgments(
        self, recorded: BuildEvidenceJson, plans: Sequence[BuildPlan]
    ) -> Sequence[Judgment]:
        """A judgment of each plan, in order.

        Raises:
            CannotJudgeError: ``evidence_mismatch`` where it is of other builds.
        """
        _refuse_other_builds(recorded, plans)
        builds = {(one.system, one.directory, one.command): one for one in recorded.builds}
        return [
            self._judgment(plan, builds.get((plan.system, plan.directory, plan.text)), decide)
            for plan in plans
        ]

    def command(self, recorded: BuildEvidenceJson, plan: BuildPlan) -> BuildResult:
        """What became of a command of the policy.

        Raises:
            CannotJudgeError: ``evidence_missing`` where it was not run, ``evidence_invalid`` where
                it cannot have ended so, and the reason why it could not be run.
        """
        run = next((one for one in recorded.commands if one.command == plan.text), None)
        if run is None:
            shown = visible(plan.text[:_LONGEST_COMMAND])
            why = f"the evidence holds nothing about `{shown}`"
            raise CannotJudgeError(why, remedy=_HOW, reason="evidence_missing")
        if run.case is None:
            error = run.error
            why = error.message if error else "it was not run"
            raise CannotJudgeError(why, reason=error.reason if error else "evidence_missing")
        try:
            return self._result(plan, run.case)
        except ValueError as error:
            raise invalid(str(error)) from error

    def _result(self, plan: BuildPlan, record: CaseJson) -> BuildResult:
        result = EvidenceReader(plan, self.known, self.options).case(record)
        self.kept.take(result)
        return result

    def _refuse_other_change(self, recorded: BuildEvidenceJson) -> None:
        pull = self.pull
        here = {"head": pull.head.sha, "base": pull.base.sha, "merged tree": pull.merge.tree}
        there = {"head": recorded.head, "base": recorded.base, "merged tree": recorded.merged_tree}
        for what, ours in here.items():
            if there[what] != ours:
                raise _mismatch(f"its {what} is {there[what] or 'none'}, and here it is {ours}")

    def _judgment(
        self, plan: BuildPlan, build: BuildJson | None, judged: Callable[[BuildResult], Judgment]
    ) -> Judgment:
        if build is None or build.case is None:
            return _without_case(plan, build)
        try:
            return judged(self._result(plan, build.case))
        except ValueError as error:
            return not_tried(plan, str(invalid(str(error))), "evidence_invalid")


def _without_case(plan: BuildPlan, build: BuildJson | None) -> Judgment:
    if build is None or build.error is None:
        why = f"the evidence holds nothing about `{visible(plan.text)}`; {_HOW}"
        return not_tried(plan, why, "evidence_missing")
    return not_tried(plan, build.error.message, build.error.reason)


def _refuse_other_builds(recorded: BuildEvidenceJson, plans: Sequence[BuildPlan]) -> None:
    """Refuse evidence with other builds; it was recorded for another policy or version."""
    wanted = {(plan.system, plan.directory, plan.text) for plan in plans}
    extra = [
        f"`{visible(build.command[:_LONGEST_COMMAND])}`"
        for build in recorded.builds
        if (build.system, build.directory, build.command) not in wanted
    ]
    if extra:
        more = f" and {len(extra) - _MOST_NAMED} more" if len(extra) > _MOST_NAMED else ""
        raise _mismatch(f"it ran {', '.join(extra[:_MOST_NAMED])}{more}, which is not wanted here")


def _mismatch(why: str) -> CannotJudgeError:
    return CannotJudgeError(
        f"the evidence is of another build: {why}",
        why="the base or the head has moved on, or policy or version are not the same",
        remedy="build again with `prjury build`, with the same policy and version",
        reason="evidence_mismatch",
    )
