"""Every way in which a pick can conflict, told as git tells it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from fakes.history import link, script, submodule
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
    "deleted by the change": Clash(
        Story(change=[GONE], branch=[THREE]),
        "modify_delete",
        ["a.py"],
        "a.py deleted in the change",
    ),
    "added on both": Clash(
        Story(change=[{"n.py": lines()}], branch=[{"n.py": lines({2: "b"}, 7)}]),
        "add_add",
        ["n.py"],
        "Merge conflict in n.py",
    ),
    "renamed to two names": Clash(
        Story(change=[GONE | {"one.py": lines()}], branch=[GONE | {"two.py": lines()}]),
        "rename",
        ["a.py", "one.py", "two.py"],
        "a.py renamed to two.py in the branch and to one.py in the change",
    ),
    "renamed by the change and deleted on the branch": Clash(
        Story(change=[GONE | {"one.py": lines(), "b.py": lines({9: "n"})}], branch=[GONE]),
        "rename",
        ["one.py"],
        "deleted in the branch",
    ),
    "renamed on the branch and deleted by the change": Clash(
        Story(change=[GONE], branch=[GONE | {"one.py": lines()}]),
        "rename",
        ["one.py"],
        "deleted in the change",
    ),
    "two files renamed to one name": Clash(
        Story(
            start={"a.py": lines(), "b.txt": lines(count=90)},
            change=[GONE | {"c": lines()}],
            branch=[{"b.txt": None, "c": lines(count=90)}],
        ),
        "add_add",
        ["c"],
        "Merge conflict in c",
    ),
    "changed on the branch where it has another name": Clash(
        Story(change=[THREE], branch=[GONE | {"core/a.py": lines({3: "drei"})}]),
        "content",
        ["core/a.py"],
        "Merge conflict in ",
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
    "a link and a file": Clash(
        Story(change=[{"n": link("a.py")}], branch=[{"n": "text\n"}]),
        "mode",
        ["n"],
        "n had different types on each side",
    ),
    "one mode and another": Clash(
        Story(change=[{"n": script("#!/bin/sh\n")}], branch=[{"n": "#!/bin/sh\n"}]),
        "mode",
        ["n"],
        "Merge conflict in n",
    ),
    "submodule": Clash(
        Story(
            start={"lib": submodule("1" * 40), "a.py": "a\n"},
            change=[{"lib": submodule("2" * 40)}],
            branch=[{"lib": submodule("3" * 40)}],
        ),
        "submodule",
        ["lib"],
        "submodule lib",
    ),
    "a file where the branch has a directory": Clash(
        Story(change=[{"x": "file\n"}], branch=[{"x/y.py": "y\n"}]),
        "other",
        ["x"],
        "directory in the way of x from the change",
    ),
    "a directory where the branch has a file": Clash(
        Story(change=[{"x/y.py": "y\n"}], branch=[{"x": "file\n"}]),
        "other",
        ["x"],
        "directory in the way of x from the branch",
    ),
    "a directory that the branch has split": Clash(
        Story(
            start={"d/a.py": lines(), "d/b.py": lines(count=60), "z": "z\n"},
            branch=[{"d/a.py": None, "d/b.py": None, "e/a.py": lines(), "f/b.py": lines(count=60)}],
            change=[{"d/new.py": "n = 1\n"}],
        ),
        "rename",
        ["d"],
        "Unclear where to rename d to",
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
