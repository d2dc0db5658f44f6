"""A build that ran elsewhere, judged here by the evidence that it left behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from prjury.errors import CannotJudgeError
from prjury.judges.builds.combine import list_touched
from prjury.judges.builds.compare import Comparison, compare
from prjury.judges.builds.decide import decide, decide_untried
from prjury.judges.builds.evidence import (
    BuildEvidence,
    BuildRecord,
    read_evidence,
    refuse_evidence,
    refuse_other_steps,
)
from prjury.judges.builds.kept_reports import KeptReports
from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.reported import ENDED, UNENDED
from prjury.judges.builds.wording import EVIDENCE_HOW, join_names
from prjury.jury.judgment import Judgment
from prjury.policy.tiers import BuildOptions
from prjury.ports import Evidence
from prjury.snapshot.model import PullRequest, visible

_MOST_NAMED = 3
_LONGEST_COMMAND = 200


@dataclass(frozen=True)
class EvidenceBuild:
    """Judges the builds of a pull request as if they had run here, and gets their reports."""

    options: BuildOptions
    pull: PullRequest
    paths: frozenset[str]
    reports: KeptReports = field(default_factory=KeptReports)

    def read(self, evidence: Evidence | None) -> BuildEvidence:
        """Read the evidence, which is of this change; else a CannotJudgeError says why not."""
        if evidence is None:
            why = "the policy takes the build from its evidence, and none was named"
            raise CannotJudgeError(why, remedy=EVIDENCE_HOW, reason="evidence_missing")
        record, pull = read_evidence(evidence.read()), self.pull
        for what, name, expected in (
            ("head", record.head, pull.head.sha),
            ("base", record.base, pull.base.sha),
            ("merged tree", record.merged_tree, pull.merge.tree),
        ):
            if name != expected:
                raise _mismatch(f"its {what} is {name or 'none'}, and here it is {expected}")
        return record

    def judge_reports(self, evidence: BuildEvidence) -> Judgment | None:
        """Judge by the reports of another CI; None where the evidence is of builds."""
        for plan in (ENDED, UNENDED):
            if [_key(plan)] == [record.key for record in evidence.builds]:
                return self._judge(plan, evidence.builds[0])
        return None

    def judge_builds(
        self, evidence: BuildEvidence, plans: Sequence[BuildPlan]
    ) -> Sequence[Judgment]:
        """Judge each plan, in order; ``evidence_mismatch`` where it is of other builds."""
        records = {record.key: record for record in evidence.builds}
        judgments = []
        for plan in plans:
            forms = (plan, *([plan.otherwise] if plan.otherwise else []))
            chosen = next((form for form in forms if _key(form) in records), plan)
            judgments.append(self._judge(chosen, records.pop(_key(chosen), None)))
        if records:
            commands = [f"`{visible(key[2][:_LONGEST_COMMAND])}`" for key in records]
            raise _mismatch(f"it ran {join_names(commands, _MOST_NAMED)}, which is not wanted here")
        return judgments

    def find_command(self, evidence: BuildEvidence, plan: BuildPlan) -> Comparison:
        """Compare the sides of a command of the policy; a CannotJudgeError if it was not run."""
        records = {record.command: record for record in evidence.commands}
        return self._compare(plan, records.get(plan.text))

    def _judge(self, plan: BuildPlan, record: BuildRecord | None) -> Judgment:
        try:
            return decide(self._compare(plan, record))
        except CannotJudgeError as error:
            return decide_untried(plan, str(error), error.reason)

    def _compare(self, plan: BuildPlan, record: BuildRecord | None) -> Comparison:
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
            self.reports.take(run, self.options)
        except ValueError as error:
            raise refuse_evidence(str(error)) from error
        return compare(plan, run, self.paths, self.options, list_touched(self.pull))


def _key(plan: BuildPlan) -> tuple[str, str, str]:
    return plan.system, plan.directory, plan.text


def _mismatch(why: str) -> CannotJudgeError:
    return CannotJudgeError(
        f"the evidence is of another build: {why}",
        why="the base or the head has moved on, or policy or version are not the same",
        remedy="build again with `prjury build`, with the same policy and version",
        reason="evidence_mismatch",
    )
