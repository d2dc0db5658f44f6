"""What has to be picked first: found, named, and typed in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from integration.backport.bench import ASKED, Bench, Step, Story, lines

THREE = {"a.py": lines({3: "three"})}
OTHER = {"z.py": "z = 1\n"}
HELPER = "def helper():\n    return 1\n"
USES = "from util import helper\n\n\n" + lines({3: "helper()"})
OLD_UTIL = {"a.py": lines(), "util.py": "X = 1\n"}
NEW_UTIL = {"util.py": "X = 1\n\n\n" + HELPER}


def says(title: str, **changed: str) -> Step:
    """A commit with this title, whose file has these lines by number."""
    return {"a.py": lines({int(name[1:]): text for name, text in changed.items()})}, title


def without_4(line: str) -> dict[str, str]:
    return {"a.py": lines({3: line}).replace("    yield 4\n", "")}


def several(count: int, line: str) -> Step:
    """The line, and so many others far away from it."""
    others = {12 + 4 * number: "x" for number in range(count)}
    return {"a.py": lines({3: line, **others})}, f"Number {count}"


@dataclass(frozen=True)
class First:
    """What is to be found, by the titles; nothing where nothing helps."""

    story: Story
    needs: Sequence[str]
    verdict: str = "suitable_with_changes"


FIRST = {
    "one": First(Story(change=[THREE], main=[OTHER, says("P", _3="drei")]), ["P"]),
    "two, of which none helps alone": First(
        Story(
            change=[says("Fix", _3="three", _20="twenty")],
            main=[says("P", _3="drei"), says("Q", _3="drei", _20="zwanzig")],
        ),
        ["P", "Q"],
    ),
    "two among others": First(
        Story(
            change=[says("Fix", _3="three", _12="x", _20="twenty", _30="y")],
            main=[
                says("P", _3="drei"),
                says("no", _3="drei", _12="x"),
                says("Q", _3="drei", _12="x", _20="zwanzig"),
                says("nor this", _3="drei", _12="x", _20="zwanzig", _30="y"),
            ],
        ),
        ["P", "Q"],
    ),
    "one that needs another": First(
        Story(change=[THREE], main=[says("P", _3="drei"), says("Q", _3="trois")]), ["P", "Q"]
    ),
    "one that takes a public name away": First(
        Story(
            start={"a.py": lines(), "util.py": HELPER},
            change=[THREE],
            main=[({"a.py": lines({3: "drei"}), "util.py": "X = 1\n"}, "P")],
        ),
        ["P"],
        "needs_human",
    ),
    "the second of which no line is left to blame": First(
        Story(change=[without_4("three")], main=[says("P", _3="drei"), (without_4("drei"), "Q")]),
        ["P", "Q"],
    ),
    "the oldest of eight, by the lines": First(
        Story(
            change=[several(7, "three")],
            main=[says("P", _3="drei"), *(several(number, "drei") for number in range(1, 8))],
        ),
        ["P"],
    ),
    "one of a file that has another name on the branch": First(
        Story(
            change=[THREE],
            main=[says("P", _3="drei")],
            branch=[{"a.py": None, "core/a.py": lines({30: "x"})}],
        ),
        ["P"],
    ),
    "none: the branch went its own way": First(
        Story(
            change=[says("Fix", _3="three", _20="x")],
            main=[says("no", _20="x")],
            branch=[says("Own", _3="x")],
        ),
        [],
        "needs_human",
    ),
    "what brings a name": First(
        Story(start=OLD_UTIL, change=[{"a.py": USES}], main=[OTHER, (NEW_UTIL, "P"), OTHER]), ["P"]
    ),
    "what brings a file": First(
        Story(change=[{"a.py": USES}], main=[OTHER, ({"util.py": HELPER}, "P")]), ["P"]
    ),
    "what brings two names": First(
        Story(
            start=OLD_UTIL,
            change=[{"a.py": "from more import second\n" + USES.replace("er()", "er(second)")}],
            main=[(NEW_UTIL, "P"), ({"more.py": HELPER.replace("helper", "second")}, "Q")],
        ),
        ["P", "Q"],
    ),
    "what brings a name, and what the lines are from": First(
        Story(
            start=OLD_UTIL, change=[{"a.py": USES}], main=[says("Q", _3="drei"), (NEW_UTIL, "P")]
        ),
        ["Q", "P"],
    ),
    "what brings a name cannot be picked": First(
        Story(
            start=OLD_UTIL,
            change=[{"a.py": USES}],
            main=[({"util.py": "X = 2\n\n\n" + HELPER}, "no")],
            branch=[{"util.py": "X = 3\n"}],
        ),
        [],
        "needs_human",
    ),
    "the lines are from something, but a name is not to be had": First(
        Story(
            start=OLD_UTIL,
            change=[{"a.py": USES}],
            main=[({"util.py": "X = 2\n\n\n" + HELPER}, "no"), says("P", _3="drei")],
            branch=[{"util.py": "X = 3\n"}],
        ),
        ["P"],
        "needs_human",
    ),
}


@pytest.mark.parametrize("name", FIRST)
def test_what_comes_first_is_found_and_named(tmp_path: Path, name: str) -> None:
    first = FIRST[name]
    bench = Bench(tmp_path, first.story)
    told = bench.judge(labels=ASKED)
    assert [named.partition(" ")[2] for named in told.prerequisites] == list(first.needs)
    assert told.verdict == first.verdict, told.reasons
    picks = [command for command in told.commands if "cherry-pick" in command]
    assert len(picks) == len(first.needs) + 1
    if first.needs and first.verdict == "suitable_with_changes":
        (check,) = (one for one in told.checks if one.name == "prerequisites")
        assert check.fix == "\n".join(picks[:-1])
        assert told.tree
    if not first.needs and not told.applies:
        assert told.reasons[0].startswith("conflicts in 1 file")


@pytest.mark.parametrize("merge", ["squash", "merge", "rebase"])
def test_a_merge_comes_first(tmp_path: Path, merge: str) -> None:
    bench = Bench(tmp_path)
    history = bench.history
    history.commit({"a.py": lines()}, "start")
    history.branch("1.x")
    history.switch("topic", create=True)
    history.commit({"a.py": lines({2: "zwei"})}, "one")
    history.commit({"a.py": lines({2: "zwei", 3: "drei"})}, "two")
    history.switch("main")
    history.commit(OTHER)
    unit = history.merge("topic", message="Merge pull request #5 from ada/topic")
    history.switch("change", create=True)
    history.commit({"a.py": lines({2: "zwei", 3: "three"})}, "Fix the count")
    history.commit({"a.py": lines({2: "two", 3: "three"})}, "And the next")

    told = bench.judge(labels=ASKED, policy=f"merge: {merge}")
    assert told.prerequisites == (f"{unit} Merge pull request #5 from ada/topic",)
    assert told.commands[1] == f"git cherry-pick -x -m 1 {unit}"
    assert told.reasons[0].startswith(f"picks cleanly after `{unit[:7]}`")


def test_the_checks_say_what_the_branch_lacks_even_then(tmp_path: Path) -> None:
    story = FIRST["the lines are from something, but a name is not to be had"].story
    told = Bench(tmp_path, story).judge(labels=ASKED)
    assert told.reasons[0].endswith("P; even then the branch lacks helper")


def test_what_brings_a_name_and_does_not_pick_is_told(tmp_path: Path) -> None:
    bench = Bench(tmp_path, FIRST["what brings a name cannot be picked"].story)
    told = bench.judge(labels=ASKED)
    assert (
        told.reasons[0]
        == "1.x lacks what the change uses: helper (a.py:1; on the base in util.py:4)"
    )
    (check,) = (one for one in told.checks if one.name == "prerequisites")
    brings = bench.history.sha("main")[:7]
    assert check.message == f"the commits that add what is missing do not pick cleanly ({brings})"
