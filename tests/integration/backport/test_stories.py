"""What happens to both branches, and the verdict that follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from fakes.history import link, script, submodule
from integration.backport.bench import Bench, Story, lines

THREE = {"a.py": lines({3: "three"})}
A, B = "1" * 40, "2" * 40


@dataclass(frozen=True)
class Clash:
    """A conflict, and how its files are told to collide."""

    story: Story
    types: Sequence[str]
    paths: Sequence[str]


CLASHES = {
    "content": Clash(
        Story(change=[THREE], branch=[{"a.py": lines({3: "drei"})}]), ["content"], ["a.py"]
    ),
    "deleted on the branch": Clash(
        Story(change=[{**THREE, "b.py": lines({5: "five"})}], branch=[{"a.py": None}]), ["modify_delete"], ["a.py"]
    ),
    "deleted by the change": Clash(
        Story(change=[{"a.py": None}], branch=[THREE]), ["modify_delete"], ["a.py"]
    ),
    "added on both": Clash(
        Story(change=[{"n.py": lines()}], branch=[{"n.py": lines({2: "b"}, 7)}]), ["add_add"], ["n.py"]
    ),
    "renamed to two names": Clash(
        Story(change=[{"a.py": None, "one.py": lines()}], branch=[{"a.py": None, "two.py": lines()}]),
        ["rename"], ["a.py", "one.py", "two.py"],
    ),
    "renamed and deleted": Clash(
        Story(change=[{"a.py": None, "one.py": lines()}], branch=[{"a.py": None}]), ["rename"], ["one.py"]
    ),
    "two files renamed to one name": Clash(
        Story(
            start={"a.py": lines(), "b.txt": lines(count=90)},
            change=[{"a.py": None, "c": lines()}],
            branch=[{"b.txt": None, "c": lines(count=90)}],
        ),
        ["rename"], ["c"],
    ),
    "binary": Clash(
        Story(
            start={"a.png": b"\0\1" * 500},
            change=[{"a.png": b"\0\2" * 500}],
            branch=[{"a.png": b"\0\3" * 500}],
        ),
        ["binary"], ["a.png"],
    ),
    "a link and a file": Clash(
        Story(start={"x": "x"}, change=[{"n": link("x")}], branch=[{"n": "text\n"}]),
        ["mode"], ["n"],
    ),
    "a mode and another": Clash(
        Story(change=[{"n": script("#!/bin/sh\n")}], branch=[{"n": "#!/bin/sh\n"}]),
        ["mode"], ["n"],
    ),
    "submodule": Clash(
        Story(start={"lib": submodule(A), "a.py": "a\n"}, change=[{"lib": submodule(B)}], branch=[{"lib": submodule("3" * 40)}]),
        ["submodule"], ["lib"],
    ),
    "a file where the branch has a directory": Clash(
        Story(change=[{"x": "file\n"}], branch=[{"x/y.py": "y\n"}]), ["directory_file"], ["x"]
    ),
    "a directory where the branch has a file": Clash(
        Story(change=[{"x/y.py": "y\n"}], branch=[{"x": "file\n"}]), ["directory_file"], ["x"]
    ),
    "a directory split in two": Clash(
        Story(
            start={"d/a.py": lines(), "d/b.py": lines(count=60), "z": "z\n"},
            branch=[{"d/a.py": None, "d/b.py": None, "e/a.py": lines(), "f/b.py": lines(count=60)}],
            change=[{"d/new.py": "n\n"}],
        ),
        ["directory"], ["d/new.py"],
    ),
}
