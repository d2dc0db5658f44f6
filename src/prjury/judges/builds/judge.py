"""The build judge: says whether the merged tree builds and its tests pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from msgspec import structs

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.judges.builds.ci import find_base_ci
from prjury.judges.builds.combine import build_changed, combine_outcomes, new_builds, unless_edited
from prjury.judges.builds.decide import decide, not_tried
from prjury.judges.builds.detect import Changes, DetectedBuilds, SourceTree
from prjury.judges.builds.kept_reports import KeepResult, KeptReports
from prjury.judges.builds.missing_files import object_missing
from prjury.judges.builds.outcome import BuildResult
from prjury.judges.builds.own_recipes import own_recipes
from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.planner import BuildPlanner
from prjury.judges.builds.run import Builder, BuildSide, ComparisonRun
from prjury.judges.builds.systems.recipes import RecipeSystem
from prjury.judges.builds.test_settings import changed_test_settings
from prjury.judges.builds.toolchains import Toolchains
from prjury.judges.builds.unbuilt import needing_build, systems_of, unbuilt, usual_command
from prjury.judges.context import PullRequestContext
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment, Status
from prjury.policy.load import POLICY_PATH
from prjury.policy.schema import BuildOptions
from prjury.ports import Ports
from prjury.ports.types import TreeEntry
from prjury.report.judge_facts import BuildFacts, RunFacts
from prjury.snapshot.model import PullRequest, visible

if TYPE_CHECKING:
    from prjury.judges.builds.record import BuildEvidenceJson

#: Time that is left for stopping the build, reading its reports and removing it.
_RESERVE_SECONDS = 20.0

_MOST_NAMED = 5


def make(options: BuildOptions, ports: Ports) -> TreeBuildJudge:
    """The build judge with these options and ports.

    Raises:
        ConfigError: for a recipe of the policy that is not there or not valid.
    """
    return TreeBuildJudge(options, ports, own_recipes(options, ports.repository))


def _forget(_plan: BuildPlan, _case: BuildResult | CannotJudgeError) -> None:
    """Keep nothing."""


@dataclass(frozen=True)
class TreeBuildJudge:
    """Builds the merged tree in a contained shell.

    PASS: every step ended with exit code 0 and no report holds a failing test. FAIL: anything else
    that is not proved to be the base's own. ABSTAIN: nothing to build, no way to tell how, or a
    build that the change has chosen itself. ERROR: a tool, the sandbox or a test report is missing.

    Attributes:
        own: the policy's own recipes.
        keep: gets each plan with its case, or with the error in its place.
    """

    options: BuildOptions
    ports: Ports
    own: tuple[RecipeSystem, ...] = ()
    keep: KeepResult = _forget
    name: str = "build"
    description: str = "builds and tests the merged tree"
    type: JudgeType = JudgeType.DETERMINISTIC

    def judge(self, context: PullRequestContext, /) -> Judgment:
        """Build; where that fails, build the base as well to distinguish old failures from new."""
        pull = context.pull
        if pull.merge.tree is None:
            return _no_tree(pull)
        if nothing := _nothing_to_build(pull):
            return Judgment.abstained(nothing, "not_applicable")
        deadline = within(context.deadline, self.options.timeout)
        if self.options.from_ == "checks":
            from prjury.judges.builds.external_checks import judge_by_checks  # noqa: PLC0415 - few ask for them

            return judge_by_checks(self.options, self.ports, pull, deadline)
        merged = BuildSide(pull.merge.tree, self.ports.repository.files(pull.merge.tree))
        base = BuildSide(pull.base.sha, self.ports.repository.files(pull.base.sha))
        recorded = self._recorded(pull, merged) if self.options.from_ == "evidence" else None
        if isinstance(recorded, Judgment):
            return recorded
        planner = self._planner(base)
        found = self._detect(planner, merged, changes_of(pull))
        theirs = self._detect(planner, base, None).plans
        if not found.plans:
            return self._no_build(pull, found, merged, theirs)
        ours = partial(self._detect, planner, merged, None)
        if recorded:
            judged = self._from_evidence(context, found, merged, recorded)
            return _unless_changed(judged, ours, theirs)
        builder = Builder(self.ports, frozenset(_touched(pull)), base=pull.base.sha)
        runner = ComparisonRun(builder, merged, base, self.options)
        keep = KeptReports.of(context).taking(self.keep)
        judgments = [
            judge_plan(plan, partial(runner.case, plan, deadline), keep) for plan in found.plans
        ]
        settings = changed_test_settings(pull.files, self.ports.repository.read)
        notes = (*found.notes, *new_builds(found.plans, theirs), *_settings_note(settings))
        judgment = combine_outcomes(judgments, notes)
        judgment = _with_unbuilt(judgment, pull, found, self.own, settings)
        judgment = _unless_changed(judgment, ours, theirs)
        builder.forget_logs(but=frozenset(RunFacts.of(judgment).logs))
        return judgment

    def _no_build(
        self,
        pull: PullRequest,
        found: DetectedBuilds,
        merged: BuildSide,
        theirs: Sequence[BuildPlan],
    ) -> Judgment:
        """The judgment where no build was found: nothing to build, or nothing that says how."""
        paths = [entry.path for entry in merged.entries]
        source = needing_build(paths, {file.path for file in pull.files})
        asked = self.options.command != "auto" or self.options.systems != "auto"
        if source or asked or theirs:
            return _no_build_system(found, source)
        why = "nothing to build: the tree holds no source code that is compiled or tested"
        return Judgment.abstained(why, "not_applicable")

    def _recorded(
        self, pull: PullRequest, merged: BuildSide
    ) -> BuildEvidenceJson | CannotJudgeError | Judgment:
        """The evidence of builds, or why it is not to be had; the judgment by another CI's."""
        from prjury.judges.builds.from_evidence import FROM_EVIDENCE, EvidenceBuild  # noqa: PLC0415 - models that only this needs

        build = EvidenceBuild(self.options, pull, _paths(merged))
        try:
            recorded = build.recorded(self.ports.evidence)
        except CannotJudgeError as error:
            return error
        judgment = build.by_reports(recorded)
        if judgment is None:
            return recorded
        settings = changed_test_settings(pull.files, self.ports.repository.read)
        facts = BuildFacts.of(judgment) or BuildFacts()
        noted = combine_outcomes([judgment], (*_settings_note(settings), FROM_EVIDENCE))
        reported = structs.replace(facts, settings=settings).to_metadata()
        return unless_edited(noted.with_metadata(**reported), pull)

    def _from_evidence(
        self,
        context: PullRequestContext,
        found: DetectedBuilds,
        merged: BuildSide,
        recorded: BuildEvidenceJson | CannotJudgeError,
    ) -> Judgment:
        """The judgment from the evidence of a build elsewhere."""
        from prjury.judges.builds.from_evidence import FROM_EVIDENCE, EvidenceBuild  # noqa: PLC0415 - as above

        pull, kept = context.pull, KeptReports.of(context)
        try:
            if isinstance(recorded, CannotJudgeError):
                raise recorded
            build = EvidenceBuild(self.options, pull, _paths(merged), kept)
            judgments = build.judgments(recorded, found.plans)
        except CannotJudgeError as error:
            return Judgment.errored(str(error), metadata={"reason": error.reason})
        settings = changed_test_settings(pull.files, self.ports.repository.read)
        notes = (*found.notes, *_settings_note(settings), FROM_EVIDENCE)
        judgment = combine_outcomes(judgments, notes)
        judgment = _with_unbuilt(judgment, pull, found, self.own, settings, origin="evidence")
        return unless_edited(judgment, pull)

    def planned(self, merged: str, base: str, changes: Changes | None = None) -> DetectedBuilds:
        """The builds that would run for a tree; nothing is run.

        Args:
            base: the tree whose own CI counts; the same one where nothing changes.

        Raises:
            CannotJudgeError: when a partial clone lacks a file that says how to build.
        """
        ours, theirs = (
            BuildSide(tree, self.ports.repository.files(tree)) for tree in (merged, base)
        )
        return self._detect(self._planner(theirs), ours, changes)

    def _planner(self, base: BuildSide) -> BuildPlanner:
        here = Toolchains(self.ports.shell.environment())
        ci = find_base_ci(self._root(base, None), here)
        return BuildPlanner(self.options, here, ci, self.own)

    def _detect(
        self, planner: BuildPlanner, side: BuildSide, changes: Changes | None
    ) -> DetectedBuilds:
        """The builds of a side.

        Where everything is built whatever changes, the changes still say where to look for it.
        """
        return planner.plans(self._root(side, changes), changes)

    def _root(self, side: BuildSide, changes: Changes | None) -> SourceTree:
        return SourceTree(side.entries, self._text, read_many=self._texts, changed=changes)

    def _text(self, entry: TreeEntry) -> str:
        """A file that says how to build.

        Raises:
            CannotJudgeError: when a partial clone lacks its content.
        """
        content = self.ports.repository.read([entry.blob]).get(entry.blob)
        if content is None:
            raise object_missing(f"{visible(entry.path)} cannot be read, which says how to build")
        return content.decode("utf-8", "replace")

    def _texts(self, entries: Sequence[TreeEntry]) -> Mapping[str, str]:
        blobs = self.ports.repository.read([entry.blob for entry in entries])
        return {
            blob: (content or b"").decode("utf-8", "replace") for blob, content in blobs.items()
        }


def _unless_changed(
    judgment: Judgment, ours: Callable[[], DetectedBuilds], theirs: Sequence[BuildPlan]
) -> Judgment:
    """The judgment, but no PASS of a build that the change has chosen itself.

    Args:
        ours: finds all builds of the merged tree.
    """
    if judgment.status is not Status.PASS:
        return judgment
    return build_changed(judgment, ours().plans, theirs)


def _paths(side: BuildSide) -> frozenset[str]:
    return frozenset(entry.path for entry in side.entries)


def judge_plan(
    plan: BuildPlan, run: Callable[[], BuildResult], keep: KeepResult = _forget
) -> Judgment:
    """The judgment of one build.

    Args:
        run: runs the plan.
        keep: as in `TreeBuildJudge`.
    """
    try:
        _refuse_missing_tools(plan)
        case = run()
    except CannotJudgeError as error:
        keep(plan, error)
        return not_tried(plan, str(error), error.reason)
    keep(plan, case)
    return decide(case)


def _refuse_missing_tools(plan: BuildPlan) -> None:
    """Refuse a plan that wants versions of tools that are not here.

    Raises:
        CannotJudgeError: with what is missing and how to get it.
    """
    if plan.missing:
        raise CannotJudgeError(plan.missing, reason="environment")


def changes_of(pull: PullRequest) -> Changes | None:
    """What the change touches; None, which is everything, where nothing of it is built."""
    changes = Changes.of(_touched(pull))
    return changes if changes.paths else None


def _touched(pull: PullRequest) -> Iterator[str]:
    return (path for file in pull.files for path in (file.path, file.old_path) if path)


def _settings_note(paths: Sequence[str]) -> tuple[str, ...]:
    """Says that the change decides itself which tests judge it."""
    if not paths:
        return ()
    more = f" and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else ""
    named = ", ".join(map(visible, paths[:_MOST_NAMED]))
    return (f"this change edits what decides which tests run: {named}{more}",)


def _with_unbuilt(
    judgment: Judgment,
    pull: PullRequest,
    found: DetectedBuilds,
    own: Sequence[RecipeSystem],
    settings: tuple[str, ...],
    origin: str = "run",
) -> Judgment:
    """The judgment, which names the files that no build looks at, and changed test settings."""
    files = unbuilt(pull.files, systems_of(found.plans), found.skipped, own)
    facts = BuildFacts.of(judgment) or BuildFacts()
    facts = structs.replace(facts, unbuilt=tuple(files), origin=origin, settings=settings)
    return judgment.with_metadata(**facts.to_metadata())


def _no_tree(pull: PullRequest) -> Judgment:
    """The judgment where there is no merged tree; it is no reason to let the change through."""
    if pull.merge.impossible:
        return Judgment.abstained(f"nothing to build: {pull.merge.impossible}", "no_merge")
    return Judgment.abstained("nothing to build: the merge has conflicts", "conflicts")


def _nothing_to_build(pull: PullRequest) -> str:
    if not pull.files:
        return "nothing to build: no file changes"
    return "nothing to build: only documentation changes" if pull.docs_only else ""


def _no_build_system(found: DetectedBuilds, source: str | None) -> Judgment:
    notes = f" ({'; '.join(found.notes)})" if found.notes else ""
    where = f" for {visible(source)}" if source else ""
    command = usual_command(source or "")
    return Judgment.abstained(
        f"no build system was recognised in the tree{where}{notes}. Add one line to "
        f"{POLICY_PATH}, with the command that builds and tests it: "
        f"`build: {{command: {command}}}`. Or pass --no-build if there is nothing to build.",
        "no_build_system",
    )


def within(deadline: Deadline, timeout: float) -> Deadline:
    """The deadline of a run: early enough to end in an orderly way before the judge's."""
    left = deadline.remaining
    return deadline.within(min(timeout, left - min(_RESERVE_SECONDS, left / 4)))
