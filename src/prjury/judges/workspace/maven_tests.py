"""Running a Maven project's tests, and counting them by Surefire's and Failsafe's reports."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias
from xml.etree.ElementTree import Element

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.judges.workspace import report_files
from prjury.jury.score import finite
from prjury.ports import Progress, Shell
from prjury.ports.types import Completed, ShellCommand
from prjury.snapshot.model import visible

#: Quiet, never asking, without transfer progress; a module that fails keeps no other from running.
FLAGS = ("-q", "-B", "-ntp", "--fail-at-end")

_REPORT = re.compile(r"(^|/)target/(surefire|failsafe)-reports/TEST-[^/]+\.xml$")

#: What changes whenever a file is written, replaced or moved: number, time and size.
_Stamp: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True)
class MavenTests:
    """What became of a project's tests.

    Attributes:
        command: what was run.
        exit_code: Maven's; minus a signal's number if a signal ended it.
        seconds: how long it took.
        log: the file that holds everything it printed; whoever does not need it removes it.
        tests: how many tests the reports of this run hold, the skipped ones included.
        failed: those that found something wrong.
        errored: those that broke off.
        skipped: those that did not run.
        stopped: the limit it was stopped at, such as ``"timeout"``, else None.
    """

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
        """Whether Maven ended by itself and is content, and no report holds a failing test."""
        clean = self.exit_code == 0 and self.stopped is None
        return clean and not self.failed and not self.errored


def run_tests(
    directory: Path,
    timeout: float,
    shell: Shell,
    progress: Progress,
    goals: Sequence[str] = ("test",),
) -> MavenTests:
    """Runs the goals in the project's own directory, by its wrapper if that can be executed.

    Only reports that this run has written are counted.

    Args:
        timeout: seconds.

    Raises:
        CannotJudgeError: ``no_pom`` where there is no project, ``tool_missing`` without Maven, and
            ``report_invalid`` or the like when Maven is content and a report cannot be read.
        ValueError: for a timeout that is not above zero.
    """
    _refuse(directory, timeout)
    argv = (_program(directory), *FLAGS, *goals)
    before = _stamps(directory)
    completed = _run(
        ShellCommand(argv, directory.absolute(), shell.environment()), timeout, shell, progress
    )
    counts = _counted(directory, before, completed)
    return MavenTests(
        command=argv,
        exit_code=completed.exit_code,
        seconds=completed.seconds,
        log=completed.log,
        tests=counts.total(),
        failed=counts["failure"],
        errored=counts["error"],
        skipped=counts["skipped"],
        stopped=completed.stopped,
    )


def _refuse(directory: Path, timeout: float) -> None:
    if finite(timeout, "the timeout") <= 0:
        raise ValueError(f"the timeout is above 0 seconds, not {timeout}")
    if not (directory / "pom.xml").is_file():
        raise CannotJudgeError(
            f"{visible(str(directory))} is no Maven project: it has no pom.xml",
            remedy="Name the directory that holds the pom.xml",
            reason="no_pom",
        )


def _program(directory: Path) -> str:
    wrapper = directory / "mvnw"
    return "./mvnw" if wrapper.is_file() and os.access(wrapper, os.X_OK) else "mvn"


def _run(command: ShellCommand, timeout: float, shell: Shell, progress: Progress) -> Completed:
    try:
        return shell.run(command, Deadline.after(timeout), progress)
    except CannotJudgeError as error:
        if error.reason != "tool_missing":
            raise
        raise CannotJudgeError(
            error.what,
            why="There is no Maven on the PATH, and no wrapper `mvnw` that can be executed",
            remedy="Install Apache Maven, or commit the wrapper (`mvn wrapper:wrapper`)",
            reason=error.reason,
        ) from error


def _stamps(directory: Path) -> Mapping[Path, _Stamp]:
    """The reports that are there, and how each can be told from what is written there later."""
    found = report_files.find(directory, lambda path: bool(_REPORT.search(path)))
    return {path: _stamp(path.lstat()) for path in found}


def _stamp(status: os.stat_result) -> _Stamp:
    return status.st_ino, status.st_ctime_ns, status.st_size


def _counted(directory: Path, before: Mapping[Path, _Stamp], completed: Completed) -> Counter[str]:
    """The outcomes of all tests of this run, by ``passed``, ``failure``, ``error``, ``skipped``."""
    after = _stamps(directory)
    fresh = [path for path, stamp in after.items() if before.get(path) != stamp]
    counts: Counter[str] = Counter()
    for path in fresh:
        try:
            counts.update(list(_outcomes(path)))
        except CannotJudgeError:
            # A run that was stopped leaves half a report, and has not passed anyhow.
            if completed.exit_code == 0 and completed.stopped is None:
                raise
    return counts


def _outcomes(path: Path) -> Iterator[str]:
    for event, element in report_files.elements(path):
        if event == "end" and element.tag == "testcase":
            yield _outcome(element)


def _outcome(case: Iterable[Element]) -> str:
    tags = {child.tag for child in case}
    return next((kind for kind in ("failure", "error", "skipped") if kind in tags), "passed")
