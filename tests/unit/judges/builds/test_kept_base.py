"""What bases came to is kept, recalled before anything is built, and excuses nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from msgspec.structs import replace

from fakes.both_sides import PLAN, run_both, says
from fakes.shell import Scripted
from prjury.judges.builds.compare import Comparison
from prjury.judges.builds.plan import BuildPlan


@dataclass
class Notes:
    kept: dict[str, str] = field(default_factory=dict)

    def recall(self, key: str) -> str | None:
        return self.kept.get(key)

    def keep(self, key: str, value: str) -> None:
        self.kept[key] = value


FELL = Scripted(2, "broken\n")


@dataclass
class Trees:
    """Changes on the newest commit of a branch, tried one after the other with one memory."""

    commits: dict[str, dict[str, str]] = field(default_factory=lambda: {"base": {"t.py": "1"}})
    merged: dict[str, str] = field(default_factory=lambda: {"t.py": "2"})
    memory: Notes = field(default_factory=Notes)

    def run(
        self, scripts: Sequence[Scripted], plan: BuildPlan = PLAN, seconds: float = 60
    ) -> tuple[Comparison, int]:
        """The comparison, and how many commands were run."""
        comparison, commands = run_both(
            scripts, plan, self.merged, self.commits, self.memory, seconds
        )
        return comparison, len(commands)


def test_a_second_change_on_the_same_base_builds_it_no_more() -> None:
    trees = Trees()
    comparison, commands = trees.run([says(0, "t", "u"), says(0, "t", "u")])
    assert (commands, comparison.lost.count) == (2, 0)
    comparison, commands = trees.run([says(0, "t")])
    assert (commands, comparison.lost.count) == (1, 1)


def test_a_change_that_fails_builds_a_kept_base_all_the_same() -> None:
    trees = Trees()
    trees.run([says(0, "t")])
    comparison, commands = trees.run([says(1, "!t"), says(0, "t"), says(1, "!t")])
    assert commands == 3
    assert [failure.state for failure in comparison.outcome.failures] == ["new"]


def test_a_kept_base_that_fails_now_excuses_nothing() -> None:
    trees = Trees()
    trees.run([says(0, "t")])
    comparison, _ = trees.run([says(1, "!t"), says(1, "!t")])
    assert comparison.run.disturbed


def test_another_base_or_plan_is_another_result() -> None:
    trees = Trees()
    trees.run([says(0, "t")])
    assert Trees({"base": {"t.py": "3"}}, memory=trees.memory).run([says(0, "t")])[1] == 2
    assert trees.run([says(0, "t")], replace(PLAN, env={"MODE": "fast"}))[1] == 2


@pytest.mark.parametrize(
    "value", ["no JSON", "[" * 5000, '{"steps": []}', "\ud800", '[{"commit": "c", "tests": ["t"]}]']
)
def test_what_cannot_be_read_is_built_anew(value: str) -> None:
    trees = Trees()
    trees.run([says(0, "t")])
    trees.memory.kept = dict.fromkeys(trees.memory.kept, value)
    assert trees.run([says(0, "t")])[1] == 2


@pytest.mark.parametrize(
    "base", [FELL, says(1, "!t"), Scripted(-9, stopped="timeout")], ids=["fell", "red", "stopped"]
)
def test_only_what_passed_is_kept(base: Scripted) -> None:
    trees = Trees()
    trees.run([base, FELL, says(0, "t")])
    trees.merged = {"t.py": "3"}
    comparison, commands = trees.run([says(0, "t", "u"), says(0, "t")])
    assert (commands, comparison.lost.count) == (2, 1)


@pytest.mark.parametrize(
    ("scripts", "seconds"),
    [([FELL, says(0, "t")], 60), ([says(0, "t")], 0.4)],
    ids=["it shows nothing", "there is no time for it"],
)
def test_an_earlier_commit_of_the_base_stands_in(scripts: list[Scripted], seconds: float) -> None:
    trees = Trees({"old": {"t.py": "0"}})
    trees.run([says(0, "t", "u"), says(0, "t", "u")])
    trees.commits = {"new": {"t.py": "5"}, **trees.commits}
    trees.merged = {"t.py": "6"}
    comparison, commands = trees.run(scripts, seconds=seconds)
    assert (comparison.run.base_commit, comparison.lost.count) == ("old", 1)
    assert (comparison.why_not_compared, commands) == (None, len(scripts))


def test_a_test_that_failed_on_bases_before_is_counted() -> None:
    trees = Trees()
    for number, outcome in enumerate([says(0, "t"), says(1, "!t"), says(0, "t")]):
        trees.commits = {f"c{number}": {"t.py": f"{number}0"}, **trees.commits}
        trees.run([outcome, says(0, "t"), says(0, "t")])
    trees.commits = {"now": {"t.py": "now"}, **trees.commits}
    comparison, _ = trees.run([says(0, "t"), says(1, "!t"), says(1, "!t")])
    (failure,) = comparison.outcome.failures
    assert comparison.run.history[failure.id] == (1, 3)
