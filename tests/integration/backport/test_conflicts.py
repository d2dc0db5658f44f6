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
        "both sides change the same line",
    ),
    "deleted on the branch": Clash(
        Story(change=[{**THREE, "b.py": lines({5: "five"})}], branch=[GONE]),
        "modify_delete",
        ["a.py"],
        "the branch deletes the file",
    ),
    "deleted by the change": Clash(
        Story(change=[GONE], branch=[THREE]),
        "modify_delete",
        ["a.py"],
        "the change deletes the file",
    ),
    "added on both": Clash(
        Story(change=[{"n.py": lines()}], branch=[{"n.py": lines({2: "b"}, 7)}]),
        "add_add",
        ["n.py"],
        "both sides add the file",
    ),
    "renamed to two names": Clash(
        Story(change=[GONE | {"one.py": lines()}], branch=[GONE | {"two.py": lines()}]),
        "rename",
        ["a.py", "one.py", "two.py"],
        "the branch renames `a.py` to `two.py`, the change renames it to `one.py`",
    ),
    "renamed by the change and deleted on the branch": Clash(
        Story(change=[GONE | {"one.py": lines(), "b.py": lines({9: "n"})}], branch=[GONE]),
        "rename",
        ["one.py"],
        "the branch deletes it",
    ),
    "renamed on the branch and deleted by the change": Clash(
        Story(change=[GONE], branch=[GONE | {"one.py": lines()}]),
        "rename",
        ["one.py"],
        "the change deletes it",
    ),
    "two files renamed to one name": Clash(
        Story(
            start={"a.py": lines(), "b.txt": lines(count=90)},
            change=[GONE | {"c": lines()}],
            branch=[{"b.txt": None, "c": lines(count=90)}],
        ),
        "rename",
        ["c"],
        "the branch renames `b.txt` to this path, the change renames `a.py` to it",
    ),
    "changed on the branch where it has another name": Clash(
        Story(change=[THREE], branch=[GONE | {"core/a.py": lines({3: "drei"})}]),
        "content",
        ["core/a.py"],
        "both sides change the same line",
    ),
    "binary": Clash(
        Story(
            start={"a.png": b"\0\1" * 500},
            change=[{"a.png": b"\0\2" * 500}],
            branch=[{"a.png": b"\0\3" * 500}],
        ),
        "binary",
        ["a.png"],
        "both sides change a binary file",
    ),
    "a link and a file": Clash(
        Story(change=[{"n": link("a.py")}], branch=[{"n": "text\n"}]),
        "mode",
        ["n"],
        "the branch has a file at this path, the change a symbolic link",
    ),
    "one mode and another": Clash(
        Story(change=[{"n": script("#!/bin/sh\n")}], branch=[{"n": "#!/bin/sh\n"}]),
        "mode",
        ["n"],
        "both sides add the same file with different modes",
    ),
    "submodule": Clash(
        Story(
            start={"lib": submodule("1" * 40), "a.py": "a\n"},
            change=[{"lib": submodule("2" * 40)}],
            branch=[{"lib": submodule("3" * 40)}],
        ),
        "submodule",
        ["lib"],
        "the branch moves the submodule to 3333333, the change to 2222222",
    ),
    "a file where the branch has a directory": Clash(
        Story(change=[{"x": "file\n"}], branch=[{"x/y.py": "y\n"}]),
        "other",
        ["x"],
        "the branch has a directory at this path, the change a file",
    ),
    "a directory where the branch has a file": Clash(
        Story(change=[{"x/y.py": "y\n"}], branch=[{"x": "file\n"}]),
        "other",
        ["x"],
        "the change has a directory at this path, the branch a file",
    ),
    "a directory that the branch has split": Clash(
        Story(
            start={"d/a.py": lines(), "d/b.py": lines(count=60), "z": "z\n"},
            branch=[{"d/a.py": None, "d/b.py": None, "e/a.py": lines(), "f/b.py": lines(count=60)}],
            change=[{"d/new.py": "n = 1\n"}],
        ),
        "rename",
        ["d"],
        "one side splits the directory",
    ),
    "Windows line ends": Clash(
        Story(
            start={"a.py": lines(end="\r\n")},
            change=[{"a.py": lines({3: "three"}, end="\r\n")}],
            branch=[{"a.py": lines({3: "drei"}, end="\r\n")}],
        ),
        "content",
        ["a.py"],
        "both sides change the same line",
    ),
    "versions alone, which anybody can resolve": Clash(
        Story(
            start={"requirements.txt": "flask==2.1.0\nsix==1.0\n"},
            change=[{"requirements.txt": "flask==2.1.4\nsix==1.0\n"}],
            branch=[{"requirements.txt": "flask==2.1.1\nsix==1.0\n"}],
        ),
        "content",
        ["requirements.txt"],
        "take the newer one",
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
    told = bench.judge("2.x", labels=ASKED)
    assert told.verdict == "suitable_with_changes"
    assert told.prerequisites == (f"{bench.history.sha('main')} On main",)
