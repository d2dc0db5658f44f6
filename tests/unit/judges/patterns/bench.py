"""A small project to judge, and a parser that needs no process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fakes.repository import BASE, HEAD, FakeRepository, Files, pull_between
from fakes.shell import ScriptedShell, SilentProgress
from prjury.code.parser import Job, NotParsed, Parser
from prjury.code.worker import run_job_or_error
from prjury.deadline import Deadline
from prjury.judges.context import PullRequestContext
from prjury.judges.patterns.judge import PatternsJudge, make
from prjury.jury.judgment import Judgment
from prjury.policy.load import read_options
from prjury.policy.options import PatternsOptions, RuleSelection
from prjury.ports import Ports
from prjury.snapshot.model import PullRequest

BOOT_2, BOOT_3, BOOT_4 = "2.7.18", "3.5.0", "4.1.1"
JAVA = "src/main/java/x/A.java"


class Quiet(SilentProgress):
    def close(self) -> None:
        """Nothing is open."""


class InProcessParser(Parser, frozen=True):
    def run(self, jobs: Sequence[Job], deadline: Deadline) -> list[Mapping[str, Any] | NotParsed]:
        replies = [run_job_or_error(job) for job in jobs]
        return [NotParsed("", str(each["error"])) if "error" in each else each for each in replies]


def pom(boot: str | None = BOOT_4, *own: str, more: str = "") -> str:
    """A project with Boot's parent and its own dependencies (``group:artifact[:version]``)."""
    parent = (
        "<parent><groupId>org.springframework.boot</groupId>"
        f"<artifactId>spring-boot-starter-parent</artifactId><version>{boot}</version></parent>"
    )
    dependencies = "".join(map(dependency, own))
    return (
        f"<project>{parent if boot else ''}<artifactId>app</artifactId>{more}"
        f"<dependencies>{dependencies}</dependencies></project>"
    )


def dependency(coordinate: str, more: str = "") -> str:
    group, artifact, version = [*coordinate.split(":"), ""][:3]
    told = f"<version>{version}</version>" if version else ""
    return (
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
        f"{told}{more}</dependency>"
    )


def bench(
    before: Files,
    after: Files,
    *,
    repository: FakeRepository | None = None,
    suppressions: bool = True,
    parser: Parser | None = None,
    options: Mapping[str, Any] | None = None,
) -> PatternsJudge:
    store = repository or FakeRepository({BASE: before, HEAD: after})
    ports = Ports(store, ScriptedShell(), Quiet())
    rules = RuleSelection(suppressions)
    judge = make(read_options(options or {}, PatternsOptions).with_rules(rules), ports)
    return replace(judge, parser=parser or InProcessParser())


def judged(
    before: Files, after: Files, *, pull: PullRequest | None = None, **more: Any
) -> Judgment:
    """The judgment on the pull request that turns one tree into the other."""
    judge = bench(before, after, **more)
    return judge.judge(context(pull or pull_between(before, after)))


def context(pull: PullRequest, seconds: float = 60) -> PullRequestContext:
    return PullRequestContext("judge it", pull=pull, deadline=Deadline.after(seconds))


def adding(
    code: str | bytes, *, path: str = JAVA, manifest: str | None = None, **more: Any
) -> Judgment:
    """The judgment on a new file in a project with that ``pom.xml``."""
    base = {"pom.xml": pom() if manifest is None else manifest}
    return judged(base, {**base, path: code}, **more)


def found(judgment: Judgment) -> list[tuple[str, str, int | None]]:
    """Rule, severity and line of each finding."""
    return [
        (check.name, check.severity, check.location.line if check.location else None)
        for check in judgment.failed_checks
    ]
