"""The build judge over a directory: detection, results and causes of failures as in a review."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError, SourceError
from prjury.judges.workspace.files import Workspace, judge_or_error
from prjury.judges.workspace.program_judges import TIMEOUT, make_shell
from prjury.jury.context import JudgmentContext
from prjury.jury.guard import patience
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment
from prjury.jury.score import finite
from prjury.ports import Ports, Progress, Shell, SilentProgress
from prjury.snapshot.model import visible

if TYPE_CHECKING:
    from prjury.judges.builds.evidence import Run
    from prjury.judges.builds.plan import BuildPlan
    from prjury.policy.tiers import BuildOptions

#: Builds are found by the files of the directory.
DETECT = "auto"


@dataclass(frozen=True)
class BuildJudge:
    """PASS where the workspace builds and its tests pass, else FAIL with places and messages.

    ``BuildJudge("make test")``, or as ``maven``, ``gradle`` and ``detect`` make it. It builds where
    the work lies, so that reports are there afterwards; the timeout, in seconds, is that of all
    builds together. ABSTAIN ``not_applicable`` where there is nothing to build,
    ``no_build_system`` where nothing says how; ERROR where the environment is to blame.
    """

    command: str | Sequence[str] = DETECT
    timeout: float = TIMEOUT
    _: KW_ONLY
    system: str | None = None
    goals: tuple[str, ...] = ()
    shell: Shell = field(default_factory=make_shell, repr=False, compare=False)
    progress: Progress = field(default_factory=SilentProgress, repr=False, compare=False)
    name: str = "build"
    description: str = "the workspace builds and its tests pass"
    type: JudgeType = JudgeType.DETERMINISTIC

    def __post_init__(self) -> None:
        if not isinstance(self.command, str):
            object.__setattr__(self, "command", shlex.join(self.command))
        if finite(self.timeout, "the timeout") <= 0:
            raise ValueError(f"the timeout is above 0 seconds, not {self.timeout}")
        if self.system and self.command != DETECT:
            raise ValueError("name a command or a system, not both")
        if self.goals and self.system not in {"maven", "gradle"}:
            raise ValueError("goals are for Maven and Gradle")
        self._options()

    @classmethod
    def maven(cls, *goals: str, timeout: float = TIMEOUT) -> Self:
        """The Maven build with these goals, by the wrapper if there is one; ``verify`` for none."""
        return cls(timeout=timeout, system="maven", goals=goals)

    @classmethod
    def gradle(cls, *tasks: str, timeout: float = TIMEOUT) -> Self:
        """The Gradle build with these tasks, by the wrapper if there is one; ``build`` for none."""
        return cls(timeout=timeout, system="gradle", goals=tasks)

    @classmethod
    def detect(cls, *, timeout: float = TIMEOUT) -> Self:
        """Every build that the files of the workspace declare."""
        return cls(timeout=timeout)

    def judge(self, context: JudgmentContext, /) -> Judgment:
        """Build, and read why it failed."""
        return judge_or_error(lambda: self._build(Workspace.of(context).root))

    def _options(self) -> BuildOptions:
        from prjury.policy.load import read_options  # noqa: PLC0415 - it takes its time
        from prjury.policy.tiers import BuildOptions  # noqa: PLC0415 - the same

        systems = [self.system] if self.system else "auto"
        return read_options({"command": self.command, "systems": systems}, BuildOptions)

    def _build(self, root: Path) -> Judgment:
        from prjury.git.directory import TREE, open_directory  # noqa: PLC0415 - as above
        from prjury.judges.builds.combine import combine_judgments  # noqa: PLC0415 - as above
        from prjury.judges.builds.judge import TreeBuildJudge, judge_plan  # noqa: PLC0415 - as above
        from prjury.judges.builds.systems.jvm import with_goals  # noqa: PLC0415 - as above
        from prjury.judges.builds.workplace import Builder  # noqa: PLC0415 - as above
        from prjury.report.judge_facts import RunFacts  # noqa: PLC0415 - as above

        try:
            directory = open_directory(root)
        except SourceError as error:
            return Judgment.errored(str(error), metadata={"reason": error.reason})
        paths = frozenset(entry.path for entry in directory.entries)
        ports, options = Ports(directory, self.shell, self.progress), self._options()
        builds = TreeBuildJudge(options, ports).find_plans(TREE, TREE)
        if not builds.plans:
            return self._judge_unbuilt(paths, builds.notes)
        builder = Builder(ports)
        own = Deadline.after(self.timeout)
        deadline = min(own, patience(None) or own, key=lambda deadline: deadline.at)

        def run(plan: BuildPlan) -> Run:
            with builder.open_directory(directory.root, directory.entries) as place:
                outcome = place.run_with_reports(plan, options, deadline)
            if outcome.head.last.stopped == "timeout" and deadline is not own:
                words = f"`{plan.text}` was stopped, because the vote was over"
                raise CannotJudgeError(words, reason="timeout")
            return outcome

        judgments = []
        for plan in builds.plans:
            goal_plan = with_goals(plan, self.goals) if self.goals else plan
            judgments.append(judge_plan(goal_plan, partial(run, goal_plan), paths, options))
        judgment = combine_judgments(judgments, builds.notes)
        builder.forget_logs(but=frozenset(RunFacts.of(judgment).logs))
        return judgment

    def _judge_unbuilt(self, paths: Iterable[str], notes: Sequence[str]) -> Judgment:
        from prjury.judges.builds.unbuilt import find_source, usual_command  # noqa: PLC0415 - as above

        more = f" ({'; '.join(notes)})" if notes else ""
        if self.system:
            words = f"there is no {self.system} build in the workspace{more}"
            return Judgment.errored(words, metadata={"reason": "no_build_system"})
        source = find_source(paths, ())
        if source is None and not notes:
            words = "nothing to build: there is no source code that is compiled or tested"
            return Judgment.abstained(words, "not_applicable")
        where = f" for {visible(source)}" if source else ""
        command = usual_command(source or "")
        words = f"no build system was recognised{where}{more}. Name the command that builds and "
        return Judgment.abstained(f"{words}tests it, such as `{command}`.", "no_build_system")


#: The name by which the judge is known elsewhere.
BuildSuccessJudge = BuildJudge
