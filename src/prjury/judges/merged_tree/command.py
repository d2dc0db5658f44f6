"""A command of the policy, which runs in the merged tree and has to end as expected."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.judges.builds.combine import unless_edited
from prjury.judges.builds.decide import cause_checks
from prjury.judges.builds.environment import remedy_for
from prjury.judges.builds.from_evidence import EvidenceBuild
from prjury.judges.builds.judge import within
from prjury.judges.builds.kept_reports import KeptReports
from prjury.judges.builds.missing_files import refuse_needed, without_files
from prjury.judges.builds.outcome import BuildResult
from prjury.judges.builds.plan import CUSTOM, BuildPlan, BuildStep
from prjury.judges.builds.run import Builder
from prjury.judges.context import PullRequestContext
from prjury.judges.merged_tree.tree import no_tree
from prjury.judges.workspace.files import answered
from prjury.judges.workspace.program_judges import CommandJudge
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment
from prjury.policy.schema import BuildOptions
from prjury.policy.seats import CommandOptions
from prjury.ports import Ports
from prjury.ports.types import ShellCommand
from prjury.report.judge_facts import RunFacts
from prjury.snapshot.model import PullRequest

#: Seconds less than it may take, at which a command was stopped because the review's time was over.
_SHORTENED = 5.0


def make(options: CommandOptions, ports: Ports) -> MergedTreeCommand:
    """The judge with these options and ports."""
    return MergedTreeCommand(options, ports)


def _forget(_plan: BuildPlan, _became: BuildResult | CannotJudgeError) -> None:
    """Keep nothing."""


@dataclass(frozen=True)
class MergedTreeCommand:
    """PASS where a command in a copy of the merged tree ends as expected, else FAIL.

    FAIL as well where it takes longer than it may, or exceeds a limit of the shell. ERROR where the
    environment is to blame, after a second attempt, and where the review's time is over.

    Attributes:
        keep: gets the plan with what became of it, or with the error in its place.
    """

    options: CommandOptions
    ports: Ports
    keep: Callable[[BuildPlan, BuildResult | CannotJudgeError], None] = _forget
    name: str = "command"
    description: str = "a command in the merged tree ends as expected"
    type: JudgeType = field(default=JudgeType.DETERMINISTIC)

    def judge(self, context: PullRequestContext, /) -> Judgment:
        """Run the command and wait for its end, or read from the evidence how it ended."""
        tree = context.pull.merge.tree
        if tree is None:
            return no_tree(context.pull)
        if self.options.from_ == "evidence":
            return answered(lambda: self._recorded(tree, context))
        return answered(lambda: self._judged(tree, context))

    @property
    def plan(self) -> BuildPlan:
        """The command as the plan of a build."""
        return BuildPlan(CUSTOM, (BuildStep("test", self.options.run),), source="policy")

    def _judged(self, tree: str, context: PullRequestContext) -> Judgment:
        try:
            result, builder = self._run(tree, context.pull, context.deadline)
        except CannotJudgeError as error:
            self.keep(self.plan, error)
            if error.reason != "tool_missing":
                raise
            raise CannotJudgeError(
                error.what,
                why="The tool is not installed here, or its name is misspelt",
                remedy="Install it, or correct `command: {run: …}` in .github/prjury.yml",
                reason=error.reason,
            ) from error
        KeptReports.of(context).taking(self.keep)(result.plan, result)
        judgment = self.decide(result)
        builder.forget_logs(but=frozenset(RunFacts.of(judgment).logs))
        return judgment

    def _run(self, tree: str, pull: PullRequest, deadline: Deadline) -> tuple[BuildResult, Builder]:
        files = self.ports.repository.files
        touched = (path for file in pull.files for path in (file.path, file.old_path) if path)
        builder = Builder(self.ports, frozenset(touched), base=pull.base.sha)
        entries = files(tree)
        with builder.opened(tree, entries) as place:
            refuse_needed(place.absent, entries, files(pull.base.sha))
            plan = without_files(self.plan, place.absent)
            deadline = within(deadline, self.options.timeout)
            return place.case(plan, BuildOptions(keep=self.options.keep), deadline), builder

    def _recorded(self, tree: str, context: PullRequestContext) -> Judgment:
        known = frozenset(entry.path for entry in self.ports.repository.files(tree))
        options = BuildOptions(keep=self.options.keep)
        source = EvidenceBuild(options, context.pull, known, KeptReports.of(context))
        judgment = self.decide(source.command(source.recorded(self.ports.evidence), self.plan))
        return unless_edited(judgment.with_metadata(**{"from": "evidence"}), context.pull)

    def decide(self, result: BuildResult) -> Judgment:
        """Decide how the command has ended. Pure."""
        outcome, done = result.outcome, result.outcome.last.completed
        options, allowed = self.options, outcome.allowed
        metadata = RunFacts(options.run, done.exit_code, (str(done.log),)).to_metadata()
        if done.stopped == "timeout" and allowed < options.timeout - _SHORTENED:
            return Judgment.errored(
                f"`{options.run}` was stopped, because the time of the review was over",
                metadata={**metadata, "reason": "timeout"},
            )
        good = not done.stopped and done.exit_code == options.exit_code
        if not good and not done.stopped and (cause := outcome.environment):
            return Judgment.errored(
                f"`{options.run}` cannot be run here, and the change is not to blame: "
                f"{cause.message}. To have it judged: {remedy_for(cause, {})}.",
                metadata={**metadata, "reason": "environment"},
            )
        timeout = min(options.timeout, max(1.0, math.ceil(allowed)))
        judge = CommandJudge(options.run, options.exit_code, timeout, shell=self.ports.shell)
        judgment = judge.decide(ShellCommand(options.run, Path()), done, outcome.last.tail)
        causes = [] if good else cause_checks(result)
        noted = "; ".join(result.plan.notes)
        return replace(
            judgment,
            reasoning=f"{judgment.reasoning} ({noted})" if noted else judgment.reasoning,
            checks=(*judgment.checks, *causes),
            metadata={**judgment.metadata, "summaries": ["exit-code"] if causes else []},
        )
