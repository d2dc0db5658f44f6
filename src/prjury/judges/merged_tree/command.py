"""A command of the policy, which runs in the merged tree and has to end as expected."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path

from prjury.errors import CannotJudgeError
from prjury.judges.builds.compare import Comparison, compare
from prjury.judges.builds.decide import abstain_if_ci_edited, check_causes, find_lack, list_touched
from prjury.judges.builds.evidence import KeptReports, Outcome
from prjury.judges.builds.external_builds import EvidenceBuild
from prjury.judges.builds.judge import within
from prjury.judges.builds.plan import CUSTOM, BuildPlan, BuildStep
from prjury.judges.builds.workplace import Builder
from prjury.judges.context import PullRequestContext
from prjury.judges.merged_tree.tree import judge_tree
from prjury.judges.workspace.program_judges import CommandJudge
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment
from prjury.policy.options import CommandOptions
from prjury.policy.tiers import BuildOptions
from prjury.ports import Ports
from prjury.ports.types import Completed, ShellCommand
from prjury.report.judge_facts import RunFacts

#: Seconds less than it may take, at which a command was stopped because the review's time was over.
_SHORTENED = 5.0


def make(options: CommandOptions, ports: Ports) -> MergedTreeCommand:
    return MergedTreeCommand(options, ports)


@dataclass(frozen=True)
class MergedTreeCommand:
    """PASS where a command in a copy of the merged tree ends as expected, else FAIL."""

    options: CommandOptions
    ports: Ports
    outcomes: list[Outcome] = field(default_factory=list, compare=False)
    name: str = "command"
    description: str = "a command in the merged tree ends as expected"
    type: JudgeType = JudgeType.DETERMINISTIC

    def judge(self, context: PullRequestContext, /) -> Judgment:
        from_evidence = self.options.from_ == "evidence"
        look = self._read_evidence if from_evidence else self._run_and_judge
        return judge_tree(context, lambda tree: look(tree, context))

    @property
    def plan(self) -> BuildPlan:
        return BuildPlan(CUSTOM, (BuildStep("test", self.options.run),), source="policy")

    def _run_and_judge(self, tree: str, context: PullRequestContext) -> Judgment:
        pull, deadline, repository = context.pull, context.deadline, self.ports.repository
        options = BuildOptions(keep=self.options.keep)
        touched = frozenset(list_touched(pull))
        builder = Builder(self.ports, touched, tag=repository.nearest_tag(pull.base.sha))
        try:
            with builder.open_tree(tree, deadline) as place:
                limit = within(deadline, self.options.timeout)
                run = place.run_with_reports(self.plan, options, limit)
                comparison = compare(self.plan, run, place.paths, options, builder.changed)
        except CannotJudgeError as error:
            self.outcomes.append((self.plan, error))
            raise
        KeptReports.of(context).take_chosen_reports(comparison.run, options)
        self.outcomes.append((comparison.plan, comparison.run))
        judgment = self.decide_by_exit(comparison)
        builder.forget_logs(but=frozenset(RunFacts.parse(judgment).logs))
        return judgment

    def _read_evidence(self, _tree: str, context: PullRequestContext) -> Judgment:
        options = BuildOptions(keep=self.options.keep)
        evidence = EvidenceBuild.read_and_check(options, self.ports, context)
        judgment = self.decide_by_exit(evidence.find_command(self.plan))
        return abstain_if_ci_edited(judgment.with_metadata(**{"from": "evidence"}), context.pull)

    def decide_by_exit(self, comparison: Comparison) -> Judgment:
        """Decide by the end of the command. Pure."""
        step, allowed = comparison.outcome.deciding_step, comparison.outcome.allowed
        options, code = self.options, step.exit_code or 0
        reason = words = ""
        if step.stopped == "timeout" and allowed < options.timeout - _SHORTENED:
            reason, words = "timeout", "was stopped, because the time of the review was over"
        good = not step.stopped and code == options.exit_code
        cause = find_lack(comparison)
        if not good and not step.stopped and cause and comparison.fault:
            words = "cannot be run here, and the change is not to blame: "
            words += f"{cause.message}. To have it judged: {comparison.fault.words}."
            reason = "environment"
        if reason:
            metadata = RunFacts(options.run, code, (step.log,)).to_metadata()
            metadata["reason"] = reason
            return Judgment.errored(f"`{options.run}` {words}", metadata=metadata)
        timeout = min(options.timeout, max(1.0, math.ceil(allowed)))
        judge = CommandJudge(options.run, options.exit_code, timeout, shell=self.ports.shell)
        done = Completed(code, Path(step.log), step.seconds, step.stopped)
        judgment = judge.decide(ShellCommand(options.run, Path()), done, step.tail)
        causes = [] if good else check_causes(comparison)
        notes = "; ".join(comparison.plan.notes)
        return replace(
            judgment,
            reasoning=f"{judgment.reasoning} ({notes})" if notes else judgment.reasoning,
            checks=(*judgment.checks, *causes),
            metadata={**judgment.metadata, "summaries": ["exit-code"] if causes else []},
        )
