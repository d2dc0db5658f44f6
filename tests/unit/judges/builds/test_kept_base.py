"""What a base came to is kept, asked for on green changes alone, and excuses nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from fakes.shell import Scripted, ScriptedShell, SilentProgress
from fakes.trees import TreeRepository
from prjury.deadline import Deadline
from prjury.judges.builds.outcome import BuildResult
from prjury.judges.builds.plan import BuildPlan, BuildStep
from prjury.judges.builds.run import Builder, BuildSide, ComparisonRun
from prjury.policy.schema import BuildOptions
from prjury.ports import Ports

PLAN = BuildPlan("tool", (BuildStep("test", ("tool",)),), all_ran=1)
FAILED = '<failure message="no"/>'


@dataclass
class Notes:
    kept: dict[str, str] = field(default_factory=dict)

    def recall(self, key: str) -> str | None:
        return self.kept.get(key)

    def keep(self, key: str, value: str) -> None:
        self.kept[key] = value


def says(exit_code: int, *cases: str) -> Scripted:
    """What the tool leaves behind: ``name`` for a passing test, ``!name`` for a failing one."""
    text = "".join(
        f'<testcase classname="a" name="{case.strip("!")}" file="t.py">'
        f"{FAILED if case[0] == '!' else ''}</testcase>"
        for case in cases
    )
    return Scripted(exit_code, files={"../reports/r.xml": f"<testsuite>{text}</testsuite>"})


@dataclass
class Trees:
    """Changes on a base, tried one after the other with one memory."""

    base: dict[str, str] = field(default_factory=lambda: {"t.py": "1"})
    merged: dict[str, str] = field(default_factory=lambda: {"t.py": "2"})
    memory: Notes = field(default_factory=Notes)

    def tried(self, scripts: Sequence[Scripted], plan: BuildPlan = PLAN) -> tuple[BuildResult, int]:
        """The result, and how many commands were run."""
        repository = TreeRepository({"merged": self.merged, "base": self.base})
        shell = ScriptedShell(scripts)
        builder = Builder(Ports(repository, shell, SilentProgress(), base_outcomes=self.memory))
        merged, base = (BuildSide(name, repository.files(name)) for name in ("merged", "base"))
        run = ComparisonRun(builder, merged, base, BuildOptions())
        return run.case(plan, Deadline.after(60)), len(shell.commands)


def test_a_second_change_on_the_same_base_builds_it_no_more() -> None:
    trees = Trees()
    case, commands = trees.tried([says(0, "t", "u"), says(0, "t", "u")])
    assert (commands, case.lost.count) == (2, 0)
    case, commands = trees.tried([says(0, "t")])
    assert (commands, case.lost.count) == (1, 1)


def test_what_a_change_came_to_is_known_once_it_is_merged() -> None:
    trees = Trees()
    trees.tried([says(0, "t", "u"), says(0, "t")])
    trees.base, trees.merged = trees.merged, {"t.py": "3"}
    case, commands = trees.tried([says(0, "t")])
    assert (commands, case.lost.count) == (1, 1)


def test_a_change_that_fails_builds_its_base_all_the_same() -> None:
    trees = Trees()
    trees.tried([says(0, "t"), says(1, "!t")])
    case, commands = trees.tried([says(1, "!t"), says(0, "t")])
    assert commands == 2
    assert [failure.state for failure in case.outcome.failures] == ["new"]


def test_another_base_or_plan_is_another_result() -> None:
    trees = Trees()
    trees.tried([says(0, "t")])
    assert Trees({"t.py": "3"}, memory=trees.memory).tried([says(0, "t")])[1] == 2
    other = replace(PLAN, env={"MODE": "fast"})
    assert trees.tried([says(0, "t")], other)[1] == 2


@pytest.mark.parametrize("value", ["no JSON", "[" * 5000, json.dumps({"steps": []})])
def test_what_cannot_be_read_is_built_anew(value: str) -> None:
    trees = Trees()
    trees.tried([says(0, "t")])
    trees.memory.kept = dict.fromkeys(trees.memory.kept, value)
    assert trees.tried([says(0, "t")])[1] == 2


def test_a_base_that_was_stopped_is_not_kept() -> None:
    trees = Trees()
    trees.tried([says(1, "!t"), Scripted(-9, stopped="timeout")])
    assert trees.memory.kept == {}
