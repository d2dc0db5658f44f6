"""Whether the branch has the change already, by all that history tells."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from fakes.history import History
from integration.backport.bench import ASKED, Bench, Step, Story, lines

#: Something that happens on the branch afterwards.
Event: TypeAlias = Callable[[History], object]

THREE = {"a.py": lines({3: "three"})}
ADAPTED = {"a.py": lines({3: "three, adapted"})}
TWO: Sequence[Step] = (THREE, {**THREE, "b.py": lines({5: "five"})})


def picked(what: str = "change", *options: str) -> Event:
    return lambda history: history.git("cherry-pick", *options, what)


def reverted(what: str = "HEAD", *options: str) -> Event:
    return lambda history: history.git("revert", "--no-edit", *options, what)


def merged(history: History) -> None:
    history.commit({"own.py": "own = 1\n"})
    history.merge("change")


def told(message: str, files: Mapping[str, str] = ADAPTED) -> Event:
    """Another commit whose message says where it is from."""
    return lambda history: history.commit(
        files, message.format(sha=history.sha("change"), short=history.sha("change")[:10])
    )


LATER = told("Later, in the next line", {"a.py": lines({3: "three", 4: "four"})})


@dataclass(frozen=True)
class There:
    """What the branch has gone through, and what is told of it.

    Attributes:
        says: part of the decisive reason.
    """

    then: Sequence[Event]
    says: str
    change: Sequence[Step] = (THREE,)
    verdict: str = "already_present"
    more: Mapping[str, Any] = field(default_factory=dict)


BACK: dict[str, Any] = {"verdict": "needs_human"}
NOT: dict[str, Any] = {"verdict": "suitable", "says": "asked for"}
CLASHES: dict[str, Any] = {"verdict": "needs_human", "says": "conflicts in 1 file"}
OF_7: dict[str, Any] = {"more": {"number": 7}}

THERE = {
    "the same patch": There([picked()], "is the same patch"),
    "the same patch, and the line was changed since": There(
        [picked(), told("Better")], "is the same patch"
    ),
    "the same patch, and the next line was changed since": There(
        [picked(), LATER], "is the same patch"
    ),
    "the same patch among other things": There(
        [told("Mixed", {**THREE, "own.py": "own = 1\n"}), LATER], "is the same patch"
    ),
    "a trailer of -x": There([told("Fix\n\n(cherry picked from commit {sha})")], "the message of "),
    "a trailer with a short name": There(
        [told("Fix\n\n(cherry picked from commit {short})")], "the message of "
    ),
    "the number of the pull request": There([told("Fix\n\nBackport #7")], "names #7", **OF_7),
    "the number after the title": There([told("[1.x] Fix (#7) (#12)")], "names #7", **OF_7),
    "another number": There([told("[1.x] Fix (#71)")], **CLASHES, **OF_7),
    "the pick has no effect": There(
        [told("All", {"a.py": lines({3: "three", 20: "x"})})], "picking it has no effect"
    ),
    "the commit itself": There([merged], "it holds the commit itself"),
    "each of its commits": There(
        [picked("change~1"), picked("change"), LATER], "are its commits one by one", TWO
    ),
    "each of its commits by name or patch": There(
        [picked("change~1"), told("(cherry picked from commit {sha})", {"b.py": lines({5: "5!"})})],
        "are its commits one by one",
        TWO,
    ),
    "one of its commits": There([picked("change~1")], change=TWO, **NOT),
    "the last of its commits by name": There(
        [told("Fix\n\n(cherry picked from commit {sha})", {"b.py": lines({5: "5!"})})],
        change=TWO,
        **CLASHES,
    ),
    "reverted": There([picked(), reverted()], "reverts", **BACK),
    "named and reverted": There([picked("change", "-x"), reverted()], "reverts", **BACK),
    "reverted twice": There([picked(), reverted(), reverted(), LATER], "is the same patch"),
    "reverted three times": There([picked(), *[reverted()] * 3], "reverts", **BACK),
    "reverted and picked again": There(
        [picked(), reverted(), picked(), LATER], "is the same patch"
    ),
    "named, reverted and picked again": There(
        [picked("change", "-x"), reverted(), picked(), LATER], "is the same patch"
    ),
    "picked twice, and each time its first pick was reverted": There(
        [picked(), reverted(), picked("change", "-x"), reverted("HEAD~2")], "reverts", **BACK
    ),
    "one of its commits reverted": There(
        [picked("change~1"), picked("change"), reverted("HEAD~1")], "reverts", TWO, **BACK
    ),
    "itself, and it was reverted": There([merged, reverted("change")], "reverts", **BACK),
    "itself, and its merge was reverted": There(
        [merged, reverted("HEAD", "-m", "1")], "reverts", **BACK
    ),
    "itself, reverted and picked again": There(
        [merged, reverted("change"), picked(), LATER], "is the same patch"
    ),
}


@pytest.mark.parametrize("name", THERE)
def test_what_the_branch_has_already(tmp_path: Path, name: str) -> None:
    there = THERE[name]
    bench = Bench(tmp_path, Story(change=there.change))
    bench.history.switch("1.x")
    for event in there.then:
        event(bench.history)
    bench.history.checkout()
    found = bench.judge(labels=ASKED, **there.more)
    assert (found.verdict, there.says in found.reasons[0]) == (there.verdict, True), found.reasons
    assert bool(found.commands) is (there.verdict != "already_present")


def test_a_file_that_the_branch_moved_is_not_deleted_there(tmp_path: Path) -> None:
    gone = {"a.py": None}
    story = Story(change=[gone], branch=[gone | {"core/a.py": lines()}])
    assert Bench(tmp_path, story).judge(labels=ASKED).verdict == "needs_human"


def test_a_file_that_both_have_moved_is_there(tmp_path: Path) -> None:
    moved = {"a.py": None, "core/a.py": lines()}
    told = Bench(tmp_path, Story(change=[moved], branch=[moved, LATER_THERE])).judge()
    assert (told.verdict, told.applies) == ("already_present", False)


LATER_THERE = {"core/a.py": None}
