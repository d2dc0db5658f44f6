"""Every way in which a pick can conflict, told as git tells it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from integration.backport.bench import ASKED, Bench, Story, lines

THREE = {"a.py": lines({3: "three"})}
GONE = {"a.py": None}
HUGE = 80_000


@dataclass(frozen=True)
class Clash:
    """A story that ends in conflicts of this type, at these paths, for this reason."""

    story: Story
    type: str
    paths: Sequence[str]
    reason: str
    verdict: str = "needs_human"


CLASHES = {
    "both change a line": Clash(
        Story(change=[THREE], branch=[{"a.py": lines({3: "drei"})}]),
        "content",
        ["a.py"],
        "Merge conflict in ",
    ),
    "deleted on the branch": Clash(
        Story(change=[{**THREE, "b.py": lines({5: "five"})}], branch=[GONE]),
        "modify_delete",
        ["a.py"],
        "a.py deleted in the branch",
    ),
    "renamed to two names": Clash(
        Story(change=[GONE | {"one.py": lines()}], branch=[GONE | {"two.py": lines()}]),
        "rename",
        ["a.py", "one.py", "two.py"],
        "a.py renamed to two.py in the branch and to one.py in the change",
    ),
    "binary": Clash(
        Story(
            start={"a.png": b"\0\1" * 500},
            change=[{"a.png": b"\0\2" * 500}],
            branch=[{"a.png": b"\0\3" * 500}],
        ),
        "binary",
        ["a.png"],
        "Cannot merge binary files: a.png (the branch vs. the change)",
    ),
    "Windows line ends": Clash(
        Story(
            start={"a.py": lines(end="\r\n")},
            change=[{"a.py": lines({3: "three"}, end="\r\n")}],
            branch=[{"a.py": lines({3: "drei"}, end="\r\n")}],
        ),
        "content",
        ["a.py"],
        "Merge conflict in ",
    ),
    "a lock file, which anybody can resolve": Clash(
        Story(
            start={"uv.lock": "a = 1\n"},
            change=[{"uv.lock": "a = 2\n"}],
            branch=[{"uv.lock": "a = 3\n"}],
        ),
        "content",
        ["uv.lock"],
        "run `uv lock`",
        "suitable_with_changes",
    ),
    "a huge file": Clash(
        Story(
            start={"big.txt": lines(count=HUGE)},
            change=[{"big.txt": lines({3: "three"}, HUGE)}],
            branch=[{"big.txt": lines({3: "drei"}, HUGE)}],
        ),
        "content",
        ["big.txt"],
        "not looked into: larger than 1024 KiB",
    ),
}


@pytest.mark.parametrize("name", CLASHES)
def test_a_conflict_is_the_one_that_git_has(tmp_path: Path, name: str) -> None:
    clash = CLASHES[name]
    told = Bench(tmp_path, clash.story).judge(labels=ASKED)
    assert (told.verdict, told.applies, told.tree) == (clash.verdict, False, None)
    assert [conflict.path for conflict in told.conflicts] == clash.paths
    assert {conflict.type for conflict in told.conflicts} == {clash.type}
    assert all(clash.reason in conflict.reason for conflict in told.conflicts)
    assert "conflict" in told.reasons[0]
    assert told.commands


NAMES = ("a b.py", "new\nline.txt", b"\xff\xfe.txt", "-dash", "it's $(touch CANARY)", "ä.py")


def _odd(line: str) -> dict[str | bytes, str]:
    return {name: lines({3: line}) for name in NAMES}


def test_odd_names_of_files(tmp_path: Path) -> None:
    story = Story(start=_odd("3"), main=[_odd("drei")], change=[_odd("three")], branch=[_odd("x")])
    bench = Bench(tmp_path, story)
    told = bench.judge(labels=ASKED)
    assert (told.verdict, len(told.conflicts)) == ("needs_human", len(NAMES))

    bench.history.branch("2.x", "1.x~1")
    told = bench.judge("2.x", labels=("backport 2.x",))
    assert told.verdict == "suitable_with_changes"
    assert told.prerequisites == (f"{bench.history.sha('main')} On main",)
