"""The build stage: run the build here and record evidence that is judged elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from prjury.errors import CannotJudgeError
from prjury.judges.builds.combine import WORST_FIRST
from prjury.judges.builds.judge import make
from prjury.judges.builds.outcome import BuildResult
from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.record import SCHEMA_NAME, EvidenceRecorder, Json
from prjury.judges.builds.reported import ReportedTests, decide_reported
from prjury.judges.context import PullRequestContext
from prjury.judges.merged_tree import command
from prjury.jury.judge import Judge
from prjury.jury.jury import Jury
from prjury.jury.voting import Ballot, MajorityVoting
from prjury.policy.schema import BuildOptions
from prjury.policy.seats import CommandOptions
from prjury.ports import Ports
from prjury.report.invisible_chars import without_surrogates
from prjury.report.redact import redacted
from prjury.snapshot.model import PullRequest

_Options = TypeVar("_Options", BuildOptions, CommandOptions)


@dataclass(frozen=True)
class BuiltEvidence:
    """What became of a build.

    Attributes:
        ballots: the judgments that the judges would give here. They are not part of the evidence.
        evidence: what happened, in the form ``prjury/build-evidence/v1``.
    """

    ballots: tuple[Ballot, ...]
    evidence: Json

    @property
    def ballot(self) -> Ballot:
        """The worst one; the first of several."""
        return min(self.ballots, key=lambda one: WORST_FIRST.index(one.judgment.status))


def build_evidence(
    options: BuildOptions | None,
    ports: Ports,
    context: PullRequestContext,
    version: str,
    commands: Sequence[CommandOptions] = (),
) -> BuiltEvidence:
    """Builds as the judge does, in a thread of its own, and keeps what happened.

    Where the judge crashes or its time is over the evidence holds the builds that had ended.

    Args:
        options: the policy's, None where it builds nothing; where the build is to come from makes
            no difference here.
        version: this program's.
        commands: what the policy runs besides.
    """
    builds, ran = list[Json](), dict[str, Json]()
    recorder = EvidenceRecorder(lambda text: redacted(without_surrogates(text), ports.redact))

    def keep(plan: BuildPlan, became: BuildResult | CannotJudgeError) -> None:
        builds.append(recorder.build(plan, became))

    def keep_command(plan: BuildPlan, became: BuildResult | CannotJudgeError) -> None:
        ran[plan.text] = recorder.build(plan, became)

    judges: list[Judge[PullRequestContext]] = [
        replace(command.make(_here(each), ports), keep=keep_command) for each in commands
    ]
    if options:
        judges.insert(0, replace(make(_here(options), ports), keep=keep))
    jury = Jury.of(MajorityVoting(), *judges, name="build")
    timeout = context.deadline.remaining
    verdict = jury.vote(context, timeout=timeout, listener=ports.progress)
    evidence = _evidence(context.pull, version, ports.shell.level, list(builds))
    if ran:
        evidence["commands"] = [*dict(ran).values()]
    return BuiltEvidence(verdict.ballots, evidence)


def _here(options: _Options) -> _Options:
    return options.model_copy(update={"from_": "run"})


def reported_evidence(
    tests: ReportedTests, options: BuildOptions, ports: Ports, pull: PullRequest, version: str
) -> BuiltEvidence:
    """The tests that another CI ran as evidence; nothing is run here."""
    known = frozenset(entry.path for entry in ports.repository.files(tree_of(pull)))
    case = tests.result(options, known)
    recorder = EvidenceRecorder(lambda text: redacted(without_surrogates(text), ports.redact))
    evidence = _evidence(pull, version, "L0", [recorder.build(case.plan, case)])
    ballot = Ballot("build", decide_reported(case))
    return BuiltEvidence((ballot,), evidence)


def tree_of(pull: PullRequest) -> str:
    """The merged tree, or the head where there is none."""
    return pull.merge.tree or pull.head.sha


def _evidence(pull: PullRequest, version: str, level: str, builds: list[Json]) -> Json:
    return {
        "schema": SCHEMA_NAME,
        "version": version,
        "base": pull.base.sha,
        "head": pull.head.sha,
        "merged_tree": pull.merge.tree,
        "sandbox": {"level": level},
        "builds": builds,
    }
