"""A change of several commits, as a project that squashes, merges or rebases brings it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from fakes.history import History
from integration.backport.bench import ASKED, Bench, Step, Story, lines

WAYS = ("squash", "merge", "rebase")
THREE = {"a.py": lines({3: "three"})}
#: Back and forth: as one change it never touches the third line.
DETOUR: Sequence[Step] = (
    ({"a.py": lines({30: "x"})}, "One"),
    ({"a.py": lines({3: "drei", 30: "x"})}, "Two"),
    ({"a.py": lines({30: "x"})}, "Three"),
    ({"a.py": lines({20: "y", 30: "x"})}, "Four"),
)


def judged(bench: Bench, way: str, onto: str = "1.x") -> tuple[str, str, str]:
    """Verdict, how it picks, and the last command."""
    told = bench.judge(onto, labels=[f"backport {onto}"], policy=f"merge: {way}")
    (check,) = (check for check in told.checks if check.name == "picks-cleanly")
    return told.verdict, check.message, told.commands[-1]


def names(bench: Bench, *refs: str) -> str:
    return " ".join(map(bench.history.sha, refs))


@pytest.mark.parametrize("way", WAYS)
def test_several_commits(tmp_path: Path, way: str) -> None:
    bench = Bench(tmp_path, Story(change=[THREE, {**THREE, "b.py": lines({9: "nine"})}]))
    verdict, _, command = judged(bench, way)
    assert verdict == "suitable"
    squash = 'git cherry-pick "$(git commit-tree '
    each = f"git cherry-pick -x {names(bench, 'change~1', 'change')}"
    assert command == each if way == "rebase" else command.startswith(squash)


def test_a_conflict_in_the_middle_of_what_is_clean_as_one(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Story(change=DETOUR, branch=[{"a.py": lines({3: "own"})}]))
    assert [judged(bench, way)[0] for way in WAYS] == ["suitable", "suitable", "needs_human"]
    _, how, command = judged(bench, "rebase")
    assert how.startswith(f"commit 2 of 4 (`{bench.history.sha('change~2')[:7]}` Two): conflicts")
    every = names(bench, "change~3", "change~2", "change~1", "change")
    assert command == f"git cherry-pick -x {every}"


def test_a_commit_without_effect_on_the_branch(tmp_path: Path) -> None:
    steps = [THREE, {"a.py": lines({3: "three", 20: "x"})}, {"b.py": "b = 1\n"}]
    bench = Bench(tmp_path, Story(change=steps, branch=[{"a.py": lines({20: "x"})}]))
    verdict, how, command = judged(bench, "rebase")
    assert verdict == "suitable"
    assert how.startswith("3 commits pick cleanly")
    assert how.endswith("1 of them without effect")
    assert command == f"git cherry-pick -x {names(bench, 'change~2', 'change')}"


def test_a_commit_and_its_revert_come_to_nothing(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Story(change=[THREE, {"a.py": lines()}]))
    for way in WAYS:
        assert bench.judge(labels=ASKED, policy=f"merge: {way}").verdict == "not_applicable"


@pytest.fixture
def long(tmp_path: Path) -> Bench:
    """A change of forty commits, and branches on which it is clean and conflicts."""
    done: dict[int, str] = {}
    steps = []
    for number in range(1, 41):
        done[number] = f"new {number}"
        steps.append(({"a.py": lines(done)}, f"Step {number}"))
    bench = Bench(tmp_path, Story(change=steps, branch=[{"b.py": lines({1: "own"})}]))
    bench.history.branch("2.x")
    bench.history.extend("2.x", [({"a.py": lines({12: "own"})}, "Own")])
    return bench


def with_merges(history: History) -> None:
    """A change that took in ``main`` twice."""
    history.commit({"a.py": lines(), "b.py": lines()}, "start")
    history.branch("1.x")
    history.switch("change", create=True)
    history.commit(THREE, "One")
    for number, line in ((1, {30: "b"}), (2, {20: "bb", 30: "b"})):
        history.extend("main", [({"z.py": f"z = {number}\n"}, "On main")])
        history.merge("main")
        history.commit({"b.py": lines(line)}, f"After {number}")
    history.extend("1.x", [({"own.py": "own = 1\n"}, "Own")])


@pytest.mark.parametrize("way", WAYS)
def test_all_is_in_a_merge(tmp_path: Path, way: str) -> None:
    bench = Bench(tmp_path, Story(change=[], main=[{"z.py": "z = 1\n"}]))
    bench.history.switch("change")
    bench.history.git("update-ref", "HEAD", bench.history.sha("main~1"))
    bench.history.merge("main", files=THREE, message="Fix it while merging")
    verdict, _, command = judged(bench, way)
    assert verdict == "suitable"
    assert "git commit-tree" in command


TITLES = (
    'it\'s "$(touch CANARY)" `touch CANARY` \\ \x1b[31m!\n\nx',
    "--allow-empty",
    "#7",
    "ä",
    "it's " * 99,
)


@pytest.mark.parametrize("title", TITLES)
def test_no_title_is_a_command(tmp_path: Path, title: str) -> None:
    bench = Bench(tmp_path, Story(change=[THREE, {"a.py": lines({3: "x"})}]))
    told = bench.judged("1.x", title=title)
    path = bench.type_in(told, told.backports[0], bench.history.path)
    assert not list(path.rglob("CANARY"))
