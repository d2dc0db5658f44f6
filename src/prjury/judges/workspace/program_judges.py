"""Judges that run programs in a directory: any command, its builds, the tests of Maven."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from msgspec import Struct

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError, SourceError
from prjury.judges.workspace.files import Workspace, WorkspaceJudge, judge_checks, walk_elements
from prjury.jury.context import JudgmentContext
from prjury.jury.guard import limit_by_vote
from prjury.jury.judgment import Check, Judgment, Status
from prjury.jury.score import finite
from prjury.ports import Ports, Progress, Shell, SilentProgress
from prjury.ports.types import Completed, ShellCommand
from prjury.sandbox.contained import ContainedShell
from prjury.snapshot.model import printable, visible

if TYPE_CHECKING:
    from prjury.judges.builds.evidence import Run
    from prjury.judges.builds.plan import BuildPlan
    from prjury.policy.tiers import BuildOptions

#: Seconds that a command may take by default.
TIMEOUT = 600.0
#: Builds are found by the files of the directory.
DETECT = "auto"

_LONGEST_COMMAND = 200
_NOT_FOUND = 127
#: Last words of a shell that finds no such program.
_ABSENT = re.compile(r"(not found|No such file or directory)\s*\Z")
LIMITS = {
    "timeout": "took longer than {seconds:g} s",
    "output_limit": "printed more than {mebibytes} MiB",
    "memory_limit": "used more memory than it may have",
    "process_limit": "started more processes than it may have",
    "disk_limit": "wrote more than 5 GiB",
    "file_limit": "made more than 500,000 files",
}


def make_shell(environ: Mapping[str, str] | None = None) -> ContainedShell:
    """Make a shell for commands that the operator names, with the PATH, and without secrets."""
    variables = read_environment() if environ is None else environ
    return ContainedShell(variables, own_prefix=Path(os.devnull))


def read_environment() -> Mapping[str, str]:
    return os.environ


@dataclass(frozen=True)
class CommandJudge(WorkspaceJudge):
    """PASS where a command in the workspace ends with the expected exit code, else FAIL.

    The command is one line for ``/bin/sh``, or a program and its arguments; the exit code of an
    end by a signal is minus its number. FAIL as well beyond its ``timeout``, in seconds, or a limit
    of the shell. ERROR without such a program, or where the vote ends earlier.
    """

    command: str | Sequence[str]
    exit_code: int = 0
    timeout: float = TIMEOUT
    _: KW_ONLY
    shell: Shell = field(default_factory=make_shell, repr=False, compare=False)
    progress: Progress = field(default_factory=SilentProgress, repr=False, compare=False)
    name: str = "command"
    description: str = "a command in the workspace ends as expected"

    def __post_init__(self) -> None:
        words = (self.command,) if isinstance(self.command, str) else tuple(self.command)
        if not words or not words[0].strip():
            raise ValueError("an empty command proves nothing: say what to run")
        if any("\0" in word for word in words):
            raise ValueError(f"a command holds no NUL character: {words!r}")
        if not isinstance(self.command, str):
            object.__setattr__(self, "command", words)
        if type(self.exit_code) is not int or not -64 <= self.exit_code <= 255:  # noqa: PLR2004 - as it says
            raise ValueError(f"an exit code is 0..255, or minus a signal, not {self.exit_code!r}")
        _check_timeout(self.timeout)

    def judge_in(self, workspace: Workspace, _context: JudgmentContext) -> Judgment:
        command = ShellCommand(self.command, workspace.root, self.shell.environment())
        own, vote = Deadline.after(self.timeout), limit_by_vote(None)
        deadline = min(own, vote or own, key=lambda deadline: deadline.at)
        self.progress.say(f"$ {_show_command(command)}")
        completed = self.shell.run(command, deadline, self.progress)
        if completed.stopped == "timeout" and deadline is not own:
            words = f"was stopped after {completed.seconds:.1f} s, because the vote was over"
            raise CannotJudgeError(f"`{_show_command(command)}` {words}", reason="timeout")
        judgment = self.decide(command, completed, completed.tail())
        if judgment.status is not Status.FAIL:
            delete_log(completed)
        return judgment

    def decide(self, command: ShellCommand, done: Completed, tail: str) -> Judgment:
        """Return PASS or FAIL, or ERROR where there is no such program, by its last lines."""
        from prjury.report.judge_facts import RunFacts  # noqa: PLC0415 - it takes its time

        subject, reason = f"`{_show_command(command)}`", done.stopped
        if reason:
            mebibytes = command.output_limit // 1024**2
            limit = LIMITS[reason].format(seconds=self.timeout, mebibytes=mebibytes)
            words = f"{subject} {limit} and was stopped"
        elif done.exit_code == self.exit_code:
            words = f"{subject} ended with exit code {self.exit_code}"
            words += ", as expected" if self.exit_code else ""
        elif done.exit_code == _NOT_FOUND and _ABSENT.search(tail):
            words = (
                f"{subject} could not be run: install what was not found, or correct the command"
            )
            return Judgment.errored(words, metadata={"reason": "tool_missing"})
        else:
            reason = "exit_code"
            end = f"ended with exit code {done.exit_code}"
            if done.exit_code < 0:
                names = {number.value: number.name for number in signal.Signals}
                end = f"was ended by {names.get(-done.exit_code, f'signal {-done.exit_code}')}"
            words = f"{subject} {end}; exit code {self.exit_code} is expected"
        logs = (str(done.log),) if reason else ()
        metadata = {
            **RunFacts(printable(command.text), done.exit_code, logs).to_metadata(),
            "expected_exit_code": self.exit_code,
            "seconds": round(done.seconds, 3),
            **({"reason": reason} if reason else {}),
        }
        check = Check("exit-code", reason is None, words, evidence=tail or None)
        return judge_checks([check], words, metadata=metadata)


def delete_log(done: Completed) -> None:
    with contextlib.suppress(OSError):
        done.log.unlink()
        done.log.parent.rmdir()


def _check_timeout(timeout: float) -> None:
    if finite(timeout, "the timeout") <= 0:
        raise ValueError(f"the timeout is above 0 seconds, not {timeout}")


def _show_command(command: ShellCommand) -> str:
    text = visible(" ".join(command.text.split()))
    return text if len(text) <= _LONGEST_COMMAND else f"{text[: _LONGEST_COMMAND - 1]}…"


#: Quiet, never asking, without transfer progress; a module that fails keeps no other from running.
_MAVEN_FLAGS = ("-q", "-B", "-ntp", "--fail-at-end")


class MavenTests(Struct, frozen=True):
    """The outcome of a project's tests by the reports of this run; the caller removes the log."""

    command: tuple[str, ...]
    exit_code: int
    seconds: float
    log: Path
    tests: int = 0
    failed: int = 0
    errored: int = 0
    skipped: int = 0
    stopped: str | None = None

    @property
    def passed(self) -> bool:
        """Maven ended by itself and is content, and no report holds a failing test."""
        return not (self.exit_code or self.stopped or self.failed or self.errored)


def run_maven_tests(
    path: str | os.PathLike[str],
    timeout: float = TIMEOUT,
    *,
    goals: Sequence[str] = ("test",),
    shell: Shell | None = None,
    progress: Progress | None = None,
) -> MavenTests:
    """Run a Maven project's tests in place, and count those that the reports of this run hold.

    The wrapper ``mvnw`` is used if it can be executed. A run of more than ``timeout`` seconds has
    not passed. CannotJudgeError without a ``pom.xml`` or Maven, or for a report that is broken.
    """
    from prjury.judges.builds.results.report_files import (  # noqa: PLC0415 - with all of builds
        OF_MAVEN,
        find_reports,
        stamps,
    )

    directory, shell = Path(path).absolute(), shell or make_shell()
    _check_timeout(timeout)
    if not (directory / "pom.xml").is_file():
        what = f"{visible(str(directory))} is no Maven project: it has no pom.xml"
        remedy = "Name the directory that holds the pom.xml"
        raise CannotJudgeError(what, remedy=remedy, reason="no_pom")
    program = "./mvnw" if os.access(directory / "mvnw", os.X_OK) else "mvn"
    argv = (program, *_MAVEN_FLAGS, *goals)
    command = ShellCommand(argv, directory, shell.environment())
    nowhere = directory / "pom.xml"
    earlier = stamps(directory, nowhere)
    done = shell.run(command, Deadline.after(timeout), progress or SilentProgress())
    counts = Counter[str]()
    for report in find_reports(directory, nowhere, earlier).files:
        if report.parent.name not in OF_MAVEN:
            continue  # such as a resource of tests, which is copied
        try:
            for element, _ in walk_elements(report):
                if element.tag == "testcase":
                    tags = {child.tag for child in element}
                    kinds = [kind for kind in ("failure", "error", "skipped") if kind in tags]
                    counts[kinds[0] if kinds else "passed"] += 1
        except CannotJudgeError:
            # A run that was stopped leaves half a report, and has not passed anyhow.
            if done.exit_code == 0 and done.stopped is None:
                raise
    numbers = (counts.total(), counts["failure"], counts["error"], counts["skipped"])
    return MavenTests(argv, done.exit_code, done.seconds, done.log, *numbers, done.stopped)


@dataclass(frozen=True)
class BuildJudge(WorkspaceJudge):
    """PASS where the workspace builds and its tests pass, else FAIL with places and messages.

    ``BuildJudge("make test")``, or as ``maven``, ``gradle`` and ``detect`` make it. It builds where
    the work lies; the timeout, in seconds, is that of all builds together. ABSTAIN where there is
    nothing to build, or nothing says how; ERROR where the environment is to blame.
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

    def __post_init__(self) -> None:
        if not isinstance(self.command, str):
            object.__setattr__(self, "command", shlex.join(self.command))
        _check_timeout(self.timeout)
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

    def _options(self) -> BuildOptions:
        from prjury.policy.load import read_options  # noqa: PLC0415 - it takes its time
        from prjury.policy.tiers import BuildOptions  # noqa: PLC0415 - the same

        systems = [self.system] if self.system else "auto"
        return read_options({"command": self.command, "systems": systems}, BuildOptions)

    def judge_in(self, workspace: Workspace, _context: JudgmentContext) -> Judgment:
        from prjury.git.directory import TREE, list_directory  # noqa: PLC0415 - as above
        from prjury.judges.builds.decide import combine_judgments  # noqa: PLC0415 - as above
        from prjury.judges.builds.judge import TreeBuildJudge, run_and_judge_plan  # noqa: PLC0415 - as above
        from prjury.judges.builds.systems.jvm import with_goals  # noqa: PLC0415 - as above
        from prjury.judges.builds.workplace import Builder  # noqa: PLC0415 - as above
        from prjury.report.judge_facts import RunFacts  # noqa: PLC0415 - as above

        try:
            directory = list_directory(workspace.root)
        except SourceError as error:
            return Judgment.errored(str(error), metadata={"reason": error.reason})
        paths = frozenset(entry.path for entry in directory.entries)
        ports, options = Ports(directory, self.shell, self.progress), self._options()
        builds = TreeBuildJudge(options, ports).find_plans(TREE, TREE)
        if not builds.plans:
            return self._abstain_or_err_without_build(paths, builds.notes)
        builder = Builder(ports)
        own = Deadline.after(self.timeout)
        deadline = min(own, limit_by_vote(None) or own, key=lambda deadline: deadline.at)

        def run(plan: BuildPlan) -> Run:
            with builder.open_tree(TREE, deadline, directory.root) as place:
                outcome = place.run_with_reports(plan, options, deadline)
            if outcome.head.deciding_step.stopped == "timeout" and deadline is not own:
                words = f"`{plan.text}` was stopped, because the vote was over"
                raise CannotJudgeError(words, reason="timeout")
            return outcome

        judgments = []
        for plan in builds.plans:
            goal_plan = with_goals(plan, self.goals) if self.goals else plan
            judgments.append(run_and_judge_plan(goal_plan, partial(run, goal_plan), paths, options))
        judgment = combine_judgments(judgments, builds.notes)
        builder.forget_logs(but=frozenset(RunFacts.parse(judgment).logs))
        return judgment

    def _abstain_or_err_without_build(self, paths: Iterable[str], notes: Sequence[str]) -> Judgment:
        from prjury.judges.builds.unbuilt import choose_file_to_build, usual_command  # noqa: PLC0415 - as above

        more = f" ({'; '.join(notes)})" if notes else ""
        if self.system:
            words = f"there is no {self.system} build in the workspace{more}"
            return Judgment.errored(words, metadata={"reason": "no_build_system"})
        source = choose_file_to_build(paths, ())
        if source is None and not notes:
            words = "nothing to build: there is no source code that is compiled or tested"
            return Judgment.abstained(words, "not_applicable")
        where = f" for {visible(source)}" if source else ""
        command = usual_command(source or "")
        words = f"no build system was recognised{where}{more}. Name the command that builds and "
        return Judgment.abstained(f"{words}tests it, such as `{command}`.", "no_build_system")


#: The name by which the judge is known elsewhere.
BuildSuccessJudge = BuildJudge
