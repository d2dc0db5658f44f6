"""What replays of real pull requests have shown, in small histories."""

from __future__ import annotations

from pathlib import Path

import pytest

from integration.backport.bench import Bench, Story, lines
from prjury.jury.judgment import Check
from prjury.report.model import Backport

SWEPT = {f"many/m{number}.py": "one = 1\n" for number in range(101)}
SWEEPING = dict.fromkeys(SWEPT, "one = 2\n")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def check(told: Backport, name: str) -> Check | None:
    return next((one for one in told.checks if one.name == name), None)


def test_a_change_that_sweeps_through_the_project_is_not_told_to_go_first(bench: Bench) -> None:
    start = {"a.py": lines(), "b.py": lines(), **SWEPT}
    bench.history.commit(start, "start")
    bench.history.branch("1.x")
    bench.history.commit({"a.py": lines({3: "drei"}), **SWEEPING}, "New heads everywhere")
    bench.history.switch("change", create=True)
    bench.history.commit({"a.py": lines({3: "three"})}, "Fix the count")
    bench.history.switch("main")
    told = bench.judge("1.x")
    found = check(told, "prerequisites")
    assert told.applies is False
    assert told.prerequisites == ()
    assert found is not None
    assert found.message == (
        "no earlier change makes it clean (there is none of at most 100 files)"
    )


def test_one_that_sweeps_does_not_hide_the_one_that_has_to_go_first(bench: Bench) -> None:
    start = {"a.py": lines(), "b.py": lines(), **SWEPT}
    bench.history.commit(start, "start")
    bench.history.branch("1.x")
    first = bench.history.commit({"a.py": lines({3: "drei"})}, "Count in German")
    bench.history.commit({"a.py": lines({3: "drei", 30: "x"}), **SWEEPING}, "New heads everywhere")
    bench.history.switch("change", create=True)
    bench.history.commit({"a.py": lines({3: "three", 30: "x"})}, "Fix the count")
    bench.history.switch("main")
    told = bench.judge("1.x")
    assert told.verdict == "suitable_with_changes"
    assert told.prerequisites == (f"{first} Count in German",)


def test_where_the_branch_has_none_of_the_files_nothing_is_looked_for(bench: Bench) -> None:
    bench.history.commit({"b.py": lines()}, "start")
    bench.history.branch("1.x")
    bench.history.commit({"new/a.py": lines()}, "A new part")
    bench.history.switch("change", create=True)
    bench.history.commit({"new/a.py": lines({3: "three"})}, "Fix the new part")
    bench.history.switch("main")
    told = bench.judge("1.x")
    assert told.verdict == "not_applicable"
    assert check(told, "prerequisites") is None
    assert told.prerequisites == ()


def test_a_change_without_a_change_is_not_there_already(bench: Bench) -> None:
    Story(change=[]).tell(bench.history)
    bench.history.switch("change")
    bench.history.git("commit", "--quiet", "--allow-empty", "-m", "Nothing at all")
    bench.history.switch("main")
    told = bench.judge("1.x")
    assert told.verdict == "not_applicable"
    assert told.reasons == ("the change is empty: there is nothing to pick",)
    assert told.commands == ()
