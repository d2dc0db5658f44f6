"""What the library offers for a directory, ready to use: commands run in a contained shell."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path

from prjury.judges.workspace.command import TIMEOUT, ShellJudge
from prjury.judges.workspace.coverage import CoverageCounts, ReportJudge
from prjury.judges.workspace.jacoco import parse_jacoco
from prjury.judges.workspace.maven_tests import MavenTests, run_tests
from prjury.ports import Progress, Shell, SilentProgress
from prjury.sandbox import ContainedShell

#: No program is kept off the PATH, those of the virtual environment that this runs in neither: a
#: command that is named here means what it means in the terminal of whoever names it.
_NO_PREFIX = Path(os.devnull)


def contained_shell(environ: Mapping[str, str] | None = None) -> ContainedShell:
    """A shell for commands that the operator names.

    It hands on a list of harmless variables, the PATH among them, and nothing that could be a
    secret; give a `ContainedShell` of your own where a command needs more.

    Args:
        environ: this process's environment, unless it is another one.
    """
    return ContainedShell(os.environ if environ is None else environ, own_prefix=_NO_PREFIX)


@dataclass(frozen=True)
class CommandJudge(ShellJudge):
    """`ShellJudge` with a contained shell of this process's environment and without progress.

    ``CommandJudge("make test")``, ``CommandJudge(["go", "vet", "./..."], timeout=60)``.
    """

    _: KW_ONLY
    shell: Shell = field(default_factory=contained_shell, repr=False, compare=False)
    progress: Progress = field(default_factory=SilentProgress, repr=False, compare=False)


@dataclass(frozen=True)
class CoverageJudge(ReportJudge):
    """`ReportJudge` for the XML reports of JaCoCo.

    ``CoverageJudge("target/site/jacoco/jacoco.xml", minimum=80)``; for a project of several modules
    ``CoverageJudge(".", minimum=80, metric="branch")``.
    """

    _: KW_ONLY
    read: Callable[[Path], CoverageCounts] = field(default=parse_jacoco, repr=False, compare=False)


def run_maven_tests(
    path: str | os.PathLike[str],
    timeout: float = TIMEOUT,
    *,
    goals: Sequence[str] = ("test",),
    shell: Shell | None = None,
    progress: Progress | None = None,
) -> MavenTests:
    """Runs a Maven project's tests where it lies, and counts them.

    The wrapper ``mvnw`` is used if it is there and can be executed, else ``mvn``. The goals run in
    a contained shell; what they write stays in the project.

    Args:
        path: the directory with the ``pom.xml``.
        timeout: seconds; a run that takes longer has not passed and has ``stopped == "timeout"``.
        goals: such as ``("verify",)``.
        shell: where it runs.
        progress: hears of its output.

    Raises:
        CannotJudgeError: ``no_pom``, ``tool_missing``; ``report_invalid`` or the like when Maven is
            content and a test report cannot be read.
        ValueError: for a timeout that is not above zero.
    """
    around = shell or contained_shell()
    return run_tests(Path(path), timeout, around, progress or SilentProgress(), goals)
