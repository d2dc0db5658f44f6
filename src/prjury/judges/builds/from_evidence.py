"""A build that ran elsewhere, judged here by the evidence that it left behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from msgspec import structs

from prjury.errors import CannotJudgeError
from prjury.judges.builds.compare import Comparison, compare
from prjury.judges.builds.decide import decide, decide_untried
from prjury.judges.builds.evidence import (
    BuildEvidence,
    BuildRecord,
    Run,
    confine_run,
    read_evidence,
    refuse_evidence,
)
from prjury.judges.builds.kept_reports import KeptReports
from prjury.judges.builds.plan import REPORTED, BuildPlan
from prjury.judges.builds.reported import ENDED, UNENDED, decide_reported
from prjury.judges.builds.wording import EVIDENCE_HOW, join_names
from prjury.jury.judgment import Judgment
from prjury.policy.tiers import BuildOptions
from prjury.ports import Evidence
from prjury.report.judge_facts import BuildFacts
from prjury.snapshot.model import PullRequest, visible

_MOST_NAMED = 3
_LONGEST_COMMAND = 200


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

    def read(self, evidence: Evidence | None) -> BuildEvidence:
        """Read the evidence, which is of this change."""
        if evidence is None:
            raise CannotJudgeError(
                "the policy takes the build from its evidence, and none was named",
                remedy=EVIDENCE_HOW,
                reason="evidence_missing",
            )
        recorded, pull = read_evidence(evidence.read()), self.pull
        expected = {"head": pull.head.sha, "base": pull.base.sha, "merged tree": pull.merge.tree}
        recorded_names = {
            "head": recorded.head,
            "base": recorded.base,
            "merged tree": recorded.merged_tree,
        }
        for what, name in expected.items():
            if recorded_names[what] != name:
                raise _mismatch(
                    f"its {what} is {recorded_names[what] or 'none'}, and here it is {name}"
                )
        return recorded

    def judge_reports(self, evidence: BuildEvidence) -> Judgment | None:
        """Judge by the reports of another CI; None where the evidence is of builds."""
        plans = {plan.text: plan for plan in (ENDED, UNENDED)}
        record = evidence.builds[0] if len(evidence.builds) == 1 else None
        if record is None or record.system != REPORTED or record.command not in plans:
            return None
        judgment = self._judge(plans[record.command], record, decide_reported)
        facts = BuildFacts.of(judgment) or BuildFacts()
        return judgment.with_metadata(**structs.replace(facts, origin="evidence").to_metadata())

    def judge_builds(
        self, evidence: BuildEvidence, plans: Sequence[BuildPlan]
    ) -> Sequence[Judgment]:
        """Judge each plan, in order."""
        records = {record.key: record for record in evidence.builds}
        judgments = []
        for plan in plans:
            chosen = next((form for form in _forms(plan) if _key(form) in records), plan)
            judgments.append(self._judge(chosen, records.pop(_key(chosen), None), decide))
        if records:
            commands = [f"`{visible(key[2][:_LONGEST_COMMAND])}`" for key in records]
            raise _mismatch(f"it ran {join_names(commands, _MOST_NAMED)}, which is not wanted here")
        return judgments

    def find_command(self, evidence: BuildEvidence, plan: BuildPlan) -> Comparison:
        """Compare the sides of a command of the policy."""
        record = next((one for one in evidence.commands if one.command == plan.text), None)
        if record is None:
            shown = visible(plan.text[:_LONGEST_COMMAND])
            why = f"the evidence holds nothing about `{shown}`"
            raise CannotJudgeError(why, remedy=EVIDENCE_HOW, reason="evidence_missing")
        if record.run is None:
            message = record.error.message if record.error else "it was not run"
            reason = record.error.reason if record.error else "evidence_missing"
            raise CannotJudgeError(message, reason=reason)
        try:
            return self._compare(plan, record.run)
        except ValueError as error:
            raise refuse_evidence(str(error)) from error

    def _judge(
        self, plan: BuildPlan, record: BuildRecord | None, judge: Callable[[Comparison], Judgment]
    ) -> Judgment:
        if record and record.error:
            return decide_untried(plan, record.error.message, record.error.reason)
        if record is None or record.run is None:
            why = f"the evidence holds nothing about `{visible(plan.text)}`; {EVIDENCE_HOW}"
            return decide_untried(plan, why, "evidence_missing")
        try:
            return judge(self._compare(plan, record.run))
        except ValueError as error:
            return decide_untried(plan, str(refuse_evidence(str(error))), "evidence_invalid")

    def _compare(self, plan: BuildPlan, run: Run) -> Comparison:
        run = confine_run(run, plan)
        self.kept.take(run, self.options)
        changed = frozenset(
            path for file in self.pull.files for path in (file.path, file.old_path) if path
        )
        return compare(plan, run, self.known, self.options, changed)


def _forms(plan: BuildPlan) -> tuple[BuildPlan, ...]:
    return (plan, plan.otherwise) if plan.otherwise else (plan,)


def _key(plan: BuildPlan) -> tuple[str, str, str]:
    return plan.system, plan.directory, plan.text


def _mismatch(why: str) -> CannotJudgeError:
    return CannotJudgeError(
        f"the evidence is of another build: {why}",
        why="the base or the head has moved on, or policy or version are not the same",
        remedy="build again with `prjury build`, with the same policy and version",
        reason="evidence_mismatch",
    )
