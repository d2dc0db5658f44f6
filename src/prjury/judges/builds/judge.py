"""The build judge: says whether the merged tree builds and its tests pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.judges.builds import wording
from prjury.judges.builds.ci import BaseCi, choose_base_ci_jobs
from prjury.judges.builds.compare import compare
from prjury.judges.builds.decide import (
    abstain_if_build_lost,
    abstain_if_ci_edited,
    combine_judgments,
    decide,
    decide_untried,
    list_touched,
    note_untested_base,
)
from prjury.judges.builds.environment import Snippet, make_reason_facts
from prjury.judges.builds.evidence import KeptReports, Outcome, Run
from prjury.judges.builds.plan import BuildPlan, BuildSystem, DetectedBuilds
from prjury.judges.builds.planner import BuildPlanner
from prjury.judges.builds.run import BothSides, KeptBase
from prjury.judges.builds.source_tree import SourceTree
from prjury.judges.builds.systems.recipes import read_own_recipes
from prjury.judges.builds.test_settings import find_changed_test_settings
from prjury.judges.builds.toolchains import Toolchains
from prjury.judges.builds.unbuilt import choose_file_to_build, find_unbuilt_files, usual_command
from prjury.judges.builds.workplace import Builder, list_paths, object_missing
from prjury.judges.context import PullRequestContext
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment, Status
from prjury.policy import POLICY_PATH
from prjury.policy.tiers import BuildOptions
from prjury.ports import Ports
from prjury.ports.types import TreeEntry
from prjury.report.judge_facts import BuildFacts, RunFacts
from prjury.snapshot.kinds import edits_only_docs
from prjury.snapshot.model import FileKind, FileStatus, PullRequest, visible

#: Time that is left for stopping the build, reading its reports and removing it.
_RESERVE_SECONDS = 20.0


def make(options: BuildOptions, ports: Ports) -> TreeBuildJudge:
    return TreeBuildJudge(options, ports, read_own_recipes(options, ports.repository))


@dataclass(frozen=True)
class TreeBuildJudge:
    """Builds the merged tree, contained, and the base beside it; `outcomes` are all plans'."""

    options: BuildOptions
    ports: Ports
    own: tuple[BuildSystem, ...] = ()
    outcomes: list[Outcome] = field(default_factory=list, compare=False)
    name: str = "build"
    description: str = "builds and tests the merged tree"
    type: JudgeType = JudgeType.DETERMINISTIC

    def judge(self, context: PullRequestContext, /) -> Judgment:
        """Build; where that fails, build the base as well to distinguish old failures from new."""
        pull = context.pull
        if pull.merge.tree is None or not pull.files or edits_only_docs(pull):
            return _abstain_without_merge_or_code(pull)
        if self.options.from_ == "checks":
            from prjury.judges.builds.external_checks import wait_and_judge_by_checks  # noqa: PLC0415 - few ask for them

            deadline = within(context.deadline, self.options.timeout)
            return wait_and_judge_by_checks(self.options, self.ports, pull, deadline)
        try:
            return self._judge_builds(context, pull.merge.tree)
        except CannotJudgeError as error:
            if self.options.from_ != "evidence":
                raise
            return Judgment.errored(str(error), metadata=make_reason_facts(error.reason))

    def _judge_builds(self, context: PullRequestContext, merged: str) -> Judgment:
        pull, evidence, notes = context.pull, None, tuple[str, ...]()
        base, paths = pull.base.sha, list_paths(self.ports.repository, merged)
        if settings := find_changed_test_settings(pull.files, self.ports.repository.read):
            names = wording.join_names([visible(path) for path in settings])
            notes = (wording.EDITS_SETTINGS.format(names),)
        if self.options.from_ == "evidence":
            from prjury.judges.builds.external_builds import EvidenceBuild  # noqa: PLC0415 - few ask for it

            evidence = EvidenceBuild.read_and_check(self.options, self.ports, context)
            notes = (*notes, wording.FROM_EVIDENCE)
            if judged := evidence.judge_reports():
                judgment = combine_judgments([judged], notes)
                judgment = _add_facts(judgment, origin="evidence", settings=settings)
                return abstain_if_ci_edited(judgment, pull)
        planner = self._planner(base)
        builds = self._detect(planner, merged, frozenset(list_touched(pull)))
        base_plans = self._detect(planner, base, None).plans
        if not builds.plans:
            return self._abstain_without_build(pull, builds, paths, base_plans)
        unbuilt = tuple(find_unbuilt_files(pull.files, builds.plans, builds.skipped, self.own))
        if evidence:
            judgments = evidence.judge_and_refuse_unplanned_builds(builds.plans)
        else:
            judgments = self._build_and_judge(context, builds, merged, paths)
            notes = (*note_untested_base(builds.plans, base_plans), *notes)
        judgment = combine_judgments(judgments, (*builds.notes, *notes))
        origin = self.options.from_
        judgment = _add_facts(judgment, origin=origin, settings=settings, unbuilt=unbuilt)
        if evidence:
            judgment = abstain_if_ci_edited(judgment, pull)
        if judgment.status is not Status.PASS:
            return judgment
        judgment = _add_edited_tests_if_no_results(judgment, pull)
        every = self._detect(planner, merged, None).plans
        return abstain_if_build_lost(judgment, every, base_plans)

    def _build_and_judge(
        self, context: PullRequestContext, builds: DetectedBuilds, tree: str, paths: frozenset[str]
    ) -> Sequence[Judgment]:
        ports, pull, limit = self.ports, context.pull, self.options.timeout
        changed = frozenset(list_touched(pull))
        builder = Builder(ports, changed, tag=ports.repository.nearest_tag(pull.base.sha))
        memory = KeptBase.of(ports, pull.base.sha)
        sides = BothSides(builder, tree, pull.base.sha, self.options, memory)
        recalled, bases, judgments = [memory.recall_base(plan) for plan in builds.plans], [], []
        for base in recalled:
            half = within(context.deadline.within(context.deadline.remaining / 2), limit)
            bases.append(sides.recall_or_run_base(base, half))
        for base in bases:
            try:
                _refuse_missing_tools(base.plan)
                plan, run = sides.run_head_and_needed_base(base, within(context.deadline, limit))
            except CannotJudgeError as error:
                self.outcomes.append((base.plan, error))
                judgments.append(decide_untried(base.plan, str(error), error.reason))
                continue
            KeptReports.of(context).take_chosen_reports(run, self.options)
            self.outcomes.append((plan, run))
            judgments.append(decide(compare(plan, run, paths, self.options, changed)))
        logs = (log for judgment in judgments for log in RunFacts.parse(judgment).logs)
        builder.forget_logs(but=frozenset(logs))
        return judgments

    def _abstain_without_build(
        self,
        pull: PullRequest,
        builds: DetectedBuilds,
        paths: frozenset[str],
        base_plans: Sequence[BuildPlan],
    ) -> Judgment:
        source = choose_file_to_build(paths, {file.path for file in pull.files})
        is_configured = self.options.command != "auto" or self.options.systems != "auto"
        if not (source or is_configured or base_plans):
            why = "nothing to build: the tree holds no source code that is compiled or tested"
            return Judgment.abstained(why, "not_applicable")
        notes = f" ({'; '.join(builds.notes)})" if builds.notes else ""
        where = f" for {visible(source)}" if source else ""
        line = f"build: {{command: {usual_command(source or '')}}}"
        return Judgment.abstained(
            f"no build system was recognised in the tree{where}{notes}. Add one line to "
            f"{POLICY_PATH}, with the command that builds and tests it: `{line}`. Or pass "
            "--no-build if there is nothing to build.",
            "no_build_system",
            metadata=make_reason_facts("no_build_system", Snippet(text=line)),
        )

    def find_plans(
        self,
        merged_tree: str,
        base_commit: str,
        changed_paths: frozenset[str] | None = None,
        toolchains: Toolchains | None = None,
    ) -> DetectedBuilds:
        return self._detect(self._planner(base_commit, toolchains), merged_tree, changed_paths)

    def find_ci(self, tree: str, toolchains: Toolchains) -> BaseCi | None:
        """The CI in the workflows of a tree, as a machine with these tools would run it."""
        return choose_base_ci_jobs(self._root(tree, None), toolchains)

    def _planner(self, base: str, toolchains: Toolchains | None = None) -> BuildPlanner:
        toolchains = toolchains or Toolchains(self.ports.shell.environment())
        ci = choose_base_ci_jobs(self._root(base, None), toolchains)
        return BuildPlanner(self.options, toolchains, ci, self.own)

    def _detect(
        self, planner: BuildPlanner, tree: str, changes: frozenset[str] | None
    ) -> DetectedBuilds:
        return planner.plan_builds(self._root(tree, changes))

    def _root(self, tree: str, changes: frozenset[str] | None) -> SourceTree:
        return SourceTree(self.ports.repository.files(tree), self._require_texts, changed=changes)

    def _require_texts(self, entries: Sequence[TreeEntry]) -> Mapping[str, str]:
        """The texts of files that say how to build; CannotJudgeError if a clone lacks one."""
        contents = self.ports.repository.read([entry.blob for entry in entries])
        for entry in entries:
            if contents.get(entry.blob) is None:
                raise object_missing(
                    f"{visible(entry.path)} cannot be read, which says how to build"
                )
        return {blob: (data or b"").decode("utf-8", "replace") for blob, data in contents.items()}


def run_and_judge_plan(
    plan: BuildPlan, run: Callable[[], Run], tree_paths: frozenset[str], options: BuildOptions
) -> Judgment:
    try:
        _refuse_missing_tools(plan)
        return decide(compare(plan, run(), tree_paths, options))
    except CannotJudgeError as error:
        return decide_untried(plan, str(error), error.reason)


def _refuse_missing_tools(plan: BuildPlan) -> None:
    if plan.missing:
        raise CannotJudgeError(plan.missing, reason="environment")


def _add_facts(judgment: Judgment, **more: object) -> Judgment:
    facts = replace(BuildFacts.parse(judgment) or BuildFacts(), **more)
    return judgment.with_metadata(**facts.to_metadata())


def _add_edited_tests_if_no_results(judgment: Judgment, pull: PullRequest) -> Judgment:
    """The judgment with edited test files among its test settings, if no test result is seen."""
    facts = BuildFacts.parse(judgment)
    if facts is None or not facts.test_files:
        return judgment
    edited = (file for file in pull.files if file.status is not FileStatus.ADDED)
    tests = {file.path for file in edited if file.kind is FileKind.TEST}
    return _add_facts(judgment, settings=tuple(sorted(tests.union(facts.settings))))


def _abstain_without_merge_or_code(pull: PullRequest) -> Judgment:
    why, label = "only documentation changes", "not_applicable"
    if pull.merge.impossible:
        why, label = pull.merge.impossible, "no_merge"
    elif pull.merge.tree is None:
        why, label = "the merge has conflicts", "conflicts"
    elif not pull.files:
        why = "no file changes"
    return Judgment.abstained(f"nothing to build: {why}", label)


def within(deadline: Deadline, timeout: float) -> Deadline:
    """The deadline of a run: early enough to end in an orderly way before the judge's."""
    seconds = deadline.remaining
    return deadline.within(min(timeout, seconds - min(_RESERVE_SECONDS, seconds / 4)))
