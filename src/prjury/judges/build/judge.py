"""The build judge: says whether the merged tree builds and its tests pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from prjury.config.schema import BuildOptions, Steps
from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError, SourceError
from prjury.judges.build.comparison import comparable, compared
from prjury.judges.build.decide import Case, build_changed, decide
from prjury.judges.build.outcome import Outcome
from prjury.judges.build.plan import BuildPlan, Step, StepName
from prjury.judges.build.recognise import Root, recognise
from prjury.judges.build.run import Builder
from prjury.judges.context import PullRequestContext
from prjury.jury.judge import Judge, JudgeType
from prjury.jury.judgment import Judgment
from prjury.ports import Doors, TreeEntry
from prjury.pull.model import PullRequest

_STEP_NAMES: tuple[StepName, ...] = ("setup", "build", "test", "lint")

#: Time that is left for stopping the build, reading its reports and removing it.
_RESERVE_SECONDS = 20.0


def make(options: BuildOptions, doors: Doors) -> Judge[PullRequestContext]:
    """The build judge with these options, behind these doors."""
    return BuildJudge(options, doors)


@dataclass(frozen=True)
class BuildJudge:
    """Builds the merged tree in a contained shell.

    PASS: every step ended with exit code 0 and no report holds a failing test. FAIL: anything else
    that is not proved to be the base's own. ABSTAIN: nothing to build, no way to tell how, or a
    build that the change has chosen itself. ERROR: a tool, the sandbox or a test report is missing.
    """

    options: BuildOptions
    doors: Doors
    name: str = "build"
    description: str = "builds and tests the merged tree"
    type: JudgeType = JudgeType.DETERMINISTIC

    def judge(self, context: PullRequestContext, /) -> Judgment:
        """Builds, and where that fails builds the base as well to tell old failures from new."""
        pull = context.pull
        if pull.merge.tree is None:
            return _no_tree(pull)
        if nothing := _nothing_to_build(pull):
            return Judgment.abstained(nothing, "not_applicable")
        if self.options.from_ != "run":
            return Judgment.errored(
                f"`build: {{from: {self.options.from_}}}` is not supported yet; "
                "the build judge can only run the build itself (`from: run`)",
                metadata={"reason": "not_supported"},
            )
        entries = self.doors.repository.files(pull.merge.tree)
        plan = self._plan(entries)
        if plan is None:
            return _no_build_system()
        old = self._plan(self.doors.repository.files(pull.base.sha))
        replaced = old is not None and old.tests and not plan.is_like(old)
        deadline = _within(context.deadline, self.options.timeout)
        builder = Builder(self.doors)
        judgment = self._built(builder, pull, entries, _noted(plan, old), deadline)
        judgment = build_changed(judgment, plan, old) if old and replaced else judgment
        builder.forget_logs(but=judgment.metadata.get("log"))
        return judgment

    def _built(
        self,
        builder: Builder,
        pull: PullRequest,
        entries: Sequence[TreeEntry],
        plan: BuildPlan,
        deadline: Deadline,
    ) -> Judgment:
        try:
            return decide(self._case(builder, pull, entries, plan, deadline))
        except CannotJudgeError as error:
            metadata = {"reason": error.reason, "command": plan.text, "system": plan.system}
            return Judgment.errored(str(error), metadata=metadata)

    def _plan(self, entries: Sequence[TreeEntry]) -> BuildPlan | None:
        command = self.options.command
        if command == "auto":
            return recognise(Root(entries, self._text))
        if isinstance(command, Steps):
            named = ((name, getattr(command, name)) for name in _STEP_NAMES)
            steps = tuple(Step(name, line) for name, line in named if line)
            return BuildPlan("command", steps) if steps else None
        return BuildPlan("command", (Step("build", command),))

    def _text(self, entry: TreeEntry) -> str:
        content = self.doors.repository.read([entry.blob]).get(entry.blob)
        return (content or b"").decode("utf-8", "replace")

    def _case(
        self,
        builder: Builder,
        pull: PullRequest,
        entries: Sequence[TreeEntry],
        plan: BuildPlan,
        deadline: Deadline,
    ) -> Case:
        outcome = builder.run(str(pull.merge.tree), entries, plan, deadline)
        known = frozenset(entry.path for entry in entries)
        case = Case(plan, outcome, known)
        if self.options.pre_existing == "block" or not comparable(outcome):
            return case
        self.doors.progress.say("it failed; trying the base without the change")
        base = self._base(builder, pull, plan, deadline)
        if isinstance(base, str):
            return replace(case, base_unknown=base)
        return replace(case, outcome=compared(outcome, base), base=base)

    def _base(
        self, builder: Builder, pull: PullRequest, plan: BuildPlan, deadline: Deadline
    ) -> Outcome | str:
        """How the base fares under the same plan, or why that cannot be told."""
        try:
            entries = self.doors.repository.files(pull.base.sha)
            outcome = builder.run(pull.base.sha, entries, plan, deadline)
        except (CannotJudgeError, SourceError) as error:
            return str(error)
        stopped = outcome.last.completed.stopped
        return f"its own build was stopped ({stopped})" if stopped else outcome


def _noted(plan: BuildPlan, old: BuildPlan | None) -> BuildPlan:
    """The plan with a note where the base has none, or another one that runs no tests."""
    if old is None:
        return replace(plan, notes=(*plan.notes, "no build was recognised on the base"))
    if old.tests or plan.is_like(old):
        return plan
    return replace(plan, notes=(*plan.notes, f"the base's own build, `{old.text}`, has no tests"))


def _no_tree(pull: PullRequest) -> Judgment:
    """There should be something to build and there is not: no reason to let the change through."""
    if pull.merge.impossible:
        return Judgment.abstained(f"nothing to build: {pull.merge.impossible}", "no_merge")
    return Judgment.abstained("nothing to build: the merge has conflicts", "conflicts")


def _nothing_to_build(pull: PullRequest) -> str:
    if not pull.files:
        return "nothing to build: no file changes"
    return "nothing to build: only documentation changes" if pull.docs_only else ""


def _no_build_system() -> Judgment:
    return Judgment.abstained(
        "no build system was recognised in the root of the tree. Set `build: {command: …}` in "
        ".github/prjury.yml, or pass --no-build if there is nothing to build.",
        "no_build_system",
    )


def _within(deadline: Deadline, timeout: float) -> Deadline:
    """The build's own deadline: early enough to end in an orderly way before the judge's."""
    left = deadline.remaining
    return deadline.within(min(timeout, left - min(_RESERVE_SECONDS, left / 4)))
