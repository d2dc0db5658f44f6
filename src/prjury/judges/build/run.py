"""Runs a plan on one tree: exported into a temporary place, built there, read, removed."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.judges.build.junit import read_reports
from prjury.judges.build.outcome import Outcome, StepResult
from prjury.judges.build.plan import BuildPlan
from prjury.judges.build.reading import Places, merged, read_failures, read_log
from prjury.judges.build.search import Stamp, find_reports, untouched
from prjury.ports import Command, Doors, TreeEntry

_NOT_FOUND = 127
_MISSING_MODULE = re.compile(r"^\S*python\S*: No module named (pytest)$", re.MULTILINE)
_MISSING_SPAWN = re.compile(r"Failed to spawn: `(pytest)`")


@dataclass(frozen=True)
class Builder:
    """Builds trees through the doors that a judge may use.

    Attributes:
        logs: what was written so far.
    """

    doors: Doors
    logs: list[Path] = field(default_factory=list)

    def run(
        self, tree: str, entries: Sequence[TreeEntry], plan: BuildPlan, deadline: Deadline
    ) -> Outcome:
        """Exports and builds; nothing is left of it but the logs.

        Raises:
            CannotJudgeError: when a tool is missing or the sandbox cannot be had.
        """
        with self.doors.shell.scratch() as place:
            places = Places(place / "tree", place)
            for name in ("tree", "home", "tmp", "reports"):
                (place / name).mkdir()
            self.doors.repository.export(tree, places.tree)
            env = self._environment(plan, place)
            known = frozenset(entry.path for entry in entries)
            committed = untouched(places.tree, known)
            allowed = deadline.remaining
            results = self._run_steps(plan, places.tree, env, deadline)
            return _read(results, allowed, places, known, committed)

    def forget_logs(self, but: str | None) -> None:
        """Removes all logs but the one that the report names."""
        for log in self.logs:
            if str(log) != but:
                log.unlink(missing_ok=True)
                with contextlib.suppress(OSError):  # it holds more than this log
                    log.parent.rmdir()

    def _environment(self, plan: BuildPlan, place: Path) -> Mapping[str, str]:
        own = {name: text.format(reports=place / "reports") for name, text in plan.env.items()}
        shell = self.doors.shell.environment()
        return {**shell, **own, "HOME": str(place / "home"), "TMPDIR": str(place / "tmp")}

    def _run_steps(
        self, plan: BuildPlan, tree: Path, env: Mapping[str, str], deadline: Deadline
    ) -> tuple[StepResult, ...]:
        results: list[StepResult] = []
        for step in plan.steps:
            self.doors.progress.say(f"$ {step.text}")
            command = Command(step.command, tree, env)
            completed = self.doors.shell.run(command, deadline, self.doors.progress)
            self.logs.append(completed.log)
            results.append(StepResult(step, completed, completed.tail()))
            _refuse_missing(results[-1])
            if not results[-1].good:
                break
        return tuple(results)


def _read(
    results: tuple[StepResult, ...],
    allowed: float,
    places: Places,
    known: frozenset[str],
    committed: Mapping[str, Stamp],
) -> Outcome:
    """What log and reports say. A log is read only where something failed."""
    results = tuple(replace(result, tail=places.relative(result.tail)) for result in results)
    found = find_reports(places.tree, places.around / "reports", committed)
    reports = read_reports(found, known, places.relative)
    outcome = Outcome(results, allowed, reports.failures, reports)
    if outcome.last.good:
        return outcome
    text = read_log(outcome.last.completed.log)
    of_log = read_failures(text, known, places.relative)
    return replace(outcome, failures=merged(reports.failures, of_log))


def _refuse_missing(result: StepResult) -> None:
    """A tool that is not there says nothing about the code.

    Raises:
        CannotJudgeError: when the step failed because the tool itself is missing.
    """
    if result.good or result.completed.stopped:
        return
    missing = _MISSING_MODULE.search(result.tail) or _MISSING_SPAWN.search(result.tail)
    if missing and missing[1] in result.step.text:
        raise CannotJudgeError(
            f"`{result.step.text}` needs {missing[1]}, which is not installed",
            why="the tests' own environment was not set up before the build",
            remedy=f"install {missing[1]} with the project's dependencies, add a `setup` step, "
            "or name another `command` for the build judge in .github/prjury.yml",
            reason="tool_missing",
        )
    if result.completed.exit_code == _NOT_FOUND and _is_absent(result):
        raise CannotJudgeError(
            f"`{result.step.text}` could not be run: the command was not found",
            why="the tool is not installed here, or its name is misspelt",
            remedy="install it, or correct `build: {command: …}` in .github/prjury.yml",
            reason="tool_missing",
        )


def _is_absent(result: StepResult) -> bool:
    """Whether a program of the machine is missing, not one that the tree should have brought."""
    program = result.step.text.split(maxsplit=1)[0]
    if isinstance(result.step.command, str):
        return "/" not in program
    return f"{program}: command not found" in result.tail  # a version manager's stand-in said so
