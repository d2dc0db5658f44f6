"""The build stage: run the build here and record evidence that is judged elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from prjury.judges.builds.compare import compare
from prjury.judges.builds.decide import WORST_FIRST, decide
from prjury.judges.builds.evidence import (
    SCHEMA_NAME,
    BuildEvidence,
    BuildRecord,
    BuildSandbox,
    Run,
    record_build,
)
from prjury.judges.builds.external_builds import tree_of
from prjury.judges.builds.judge import TreeBuildJudge, make
from prjury.judges.builds.plan import BuildPlan
from prjury.judges.builds.workplace import list_paths
from prjury.judges.context import PullRequestContext
from prjury.judges.merged_tree.command import MergedTreeCommand
from prjury.jury.jury import Jury
from prjury.jury.voting import Ballot, MajorityVoting
from prjury.policy.options import CommandOptions
from prjury.policy.tiers import BuildOptions
from prjury.ports import Ports
from prjury.resources import program_version
from prjury.snapshot.model import PullRequest


class BuiltEvidence(Struct, frozen=True):
    """What became of a build, and the judgments that the judges would give here."""

    ballots: tuple[Ballot, ...]
    record: BuildEvidence

    @property
    def evidence(self) -> Any:  # noqa: ANN401 - JSON
        return msgspec.json.decode(msgspec.json.encode(self.record))

    @property
    def ballot(self) -> Ballot:
        return min(self.ballots, key=lambda ballot: WORST_FIRST.index(ballot.judgment.status))


def build_and_record(
    options: BuildOptions | None,
    ports: Ports,
    context: PullRequestContext,
    commands: Sequence[CommandOptions] = (),
) -> BuiltEvidence:
    """Build as the judge does, and keep what happened, also where the judge crashes or is late."""
    builds = [make(options.with_changes(from_="run"), ports)] if options else []
    programs = [MergedTreeCommand(replace(each, from_="run"), ports) for each in commands]
    jury = Jury.of(MajorityVoting(), *builds, *programs, name="build")
    verdict = jury.vote(context, timeout=context.deadline.remaining, listener=ports.progress)

    def record_all(judges: Sequence[TreeBuildJudge | MergedTreeCommand]) -> Sequence[BuildRecord]:
        outcomes = (outcome for judge in judges for outcome in tuple(judge.outcomes))
        records = (record_build(outcome, ports.redact) for outcome in outcomes)
        return [*{record.key: record for record in records}.values()]

    records = record_all(builds), record_all(programs)
    evidence = _make_evidence(context.pull, ports.shell.level, *records)
    return BuiltEvidence(verdict.ballots, evidence)


def record_reports(
    tests: tuple[BuildPlan, Run], options: BuildOptions, ports: Ports, pull: PullRequest
) -> BuiltEvidence:
    """The tests that another CI ran as evidence; nothing is run here."""
    paths = list_paths(ports.repository, tree_of(pull))
    ballot = Ballot("build", decide(compare(*tests, paths, options)))
    build = record_build(tests, ports.redact)
    return BuiltEvidence((ballot,), _make_evidence(pull, "L0", [build]))


def _make_evidence(pull: PullRequest, level: str, *records: Sequence[BuildRecord]) -> BuildEvidence:
    commits = (pull.base.sha, pull.head.sha, pull.merge.tree)
    sandbox = msgspec.convert({"level": level}, BuildSandbox)
    return BuildEvidence(SCHEMA_NAME, program_version(), *commits, sandbox, *map(tuple, records))
