"""The build stage: run the build here and record evidence that is judged elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec
from msgspec import Struct, structs

from prjury.judges.builds.compare import compare
from prjury.judges.builds.decide import WORST_FIRST, decide
from prjury.judges.builds.evidence import (
    SCHEMA_NAME,
    BuildEvidence,
    BuildRecord,
    BuildSandbox,
    Clean,
    KeepRun,
    record_build,
)
from prjury.judges.builds.external_builds import ReportedTests
from prjury.judges.builds.judge import make
from prjury.judges.builds.workplace import paths_of
from prjury.judges.context import PullRequestContext
from prjury.judges.merged_tree import command
from prjury.jury.judge import Judge
from prjury.jury.jury import Jury
from prjury.jury.voting import Ballot, MajorityVoting
from prjury.policy.options import CommandOptions
from prjury.policy.tiers import BuildOptions
from prjury.ports import Ports
from prjury.report.sanitise import redact_text
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
    version: str,
    commands: Sequence[CommandOptions] = (),
) -> BuiltEvidence:
    """Build as the judge does, and keep what happened, also where the judge crashes or is late."""
    builds, ran = list[BuildRecord](), list[BuildRecord]()

    def keep_in(records: list[BuildRecord]) -> KeepRun:
        return lambda plan, outcome: records.append(record_build(plan, outcome, _redactor(ports)))

    judges: list[Judge[PullRequestContext]] = [
        replace(command.make(structs.replace(each, from_="run"), ports), keep=keep_in(ran))
        for each in commands
    ]
    if options:
        build = make(options.with_changes(from_="run"), ports)
        judges.insert(0, replace(build, keep=keep_in(builds)))
    jury = Jury.of(MajorityVoting(), *judges, name="build")
    verdict = jury.vote(context, timeout=context.deadline.remaining, listener=ports.progress)
    records = (list({one.key: one for one in list(each)}.values()) for each in (builds, ran))
    record = _make_evidence(context.pull, version, ports.shell.level, *records)
    return BuiltEvidence(verdict.ballots, record)


def record_reports(
    tests: ReportedTests, options: BuildOptions, ports: Ports, pull: PullRequest, version: str
) -> BuiltEvidence:
    """The tests that another CI ran as evidence; nothing is run here."""
    paths = paths_of(ports.repository.files(tree_of(pull)))
    comparison = compare(tests.plan, tests.as_run, paths, options)
    build = record_build(tests.plan, tests.as_run, _redactor(ports))
    ballot = Ballot("build", decide(comparison))
    return BuiltEvidence((ballot,), _make_evidence(pull, version, "L0", [build]))


def tree_of(pull: PullRequest) -> str:
    return pull.merge.tree or pull.head.sha


def _redactor(ports: Ports) -> Clean:
    return lambda text: redact_text(text, ports.redact)


def _make_evidence(
    pull: PullRequest, version: str, level: str, *records: Sequence[BuildRecord]
) -> BuildEvidence:
    commits = (pull.base.sha, pull.head.sha, pull.merge.tree)
    sandbox = msgspec.convert({"level": level}, BuildSandbox)
    return BuildEvidence(SCHEMA_NAME, version, *commits, sandbox, *map(tuple, records))
