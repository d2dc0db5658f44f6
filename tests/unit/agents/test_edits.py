from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from prjury.agents.judge import stat_files
from prjury.agents.repair import EditRules
from prjury.git.store import NewFiles

TESTS = """import unittest  # and assert
class A(unittest.TestCase):
    def test_a(self):
        self.assertEqual(total([1]), 1)
    def test_b(self):
        self.assertEqual(total([]), 0)
"""
FILES = {"src/a.py": "x = 1\n", "src/shop/b.py": "x = 1\n", "tests/test_a.py": TESTS}
NAME = "tests/test_a.py"


def after(root: Path, work: Callable[[Path], object]) -> tuple[NewFiles, Mapping[str, str]]:
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    before = stat_files(root)
    work(root)
    rules = EditRules(["tests/**"], dict.fromkeys(FILES, "100644"), {NAME: TESTS.encode()})
    return rules.split_by_refusal(root, before)


def written(path: str, text: str) -> Callable[[Path], object]:
    def work(root: Path) -> None:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)

    return work


def replaced(old: str, new: str) -> Callable[[Path], object]:
    assert old in TESTS
    return written(NAME, TESTS.replace(old, new))


def moved(root: Path) -> None:
    (root / "tests").rename(root / "src" / "t")
    (root / "tests").symlink_to(root / "src" / "t")


LAST = "self.assertEqual(total([]), 0)"
HOSTILE: Mapping[str, tuple[Callable[[Path], object], str, str]] = {
    "edits the change": (written("src/a.py", "y"), "src/a.py", "outside of the paths"),
    "climbs out by a name": (written("tests/../src/b.py", "y"), "src/b.py", "outside of"),
    "deletes the tests": (lambda root: (root / NAME).unlink(), NAME, "no file may be deleted"),
    "empties the tests": (written(NAME, ""), NAME, "fewer assertions (0 of 2)"),
    "drops a test": (written(NAME, TESTS.split("    def test_b", maxsplit=1)[0]), NAME, "(1 of 2)"),
    "comments out": (replaced("self.", "pass  # self."), NAME, "(0 of 2)"),
    "quotes": (replaced("self.assertEqual(total([]), 0)", '"self.assertEqual()"'), NAME, "(1 of"),
    "asserts true": (replaced("assertEqual(total([]), 0)", "assertTrue(True)"), NAME, "(1 of 2)"),
    "asserts itself": (replaced("assertEqual(total([]), 0)", "assertEqual(x, x)"), NAME, "(1 of"),
    "asserts or true": (replaced(LAST, "self.assertTrue(x == 0 or True)"), NAME, "(1 of 2)"),
    "asserts a tuple": (replaced(LAST, "assert (total([]) == 0, 0)"), NAME, "(1 of 2)"),
    "returns first": (replaced(LAST, f"return\n        {LAST}"), NAME, "it returns before"),
    "skips": (replaced("class", "@unittest.skip('')\nclass"), NAME, "it skips tests"),
    "raises SkipTest": (replaced("import", "raise SkipTest\nimport"), NAME, "it skips tests"),
    "ends the process": (replaced("import", "os._exit(0)\nimport"), NAME, "it skips tests"),
    "a new file that skips": (written("tests/b.py", "pytest.skip('x')"), "tests/b.py", "skips"),
    "writes a hook": (written(".git/hooks/x", "y"), ".git/hooks/x", "git's own files"),
    "writes a hook below": (written("tests/.GIT/x", "y"), "tests/.GIT/x", "git's own files"),
    "a link": (lambda root: (root / "tests/l.py").symlink_to("/etc/passwd"), "tests/l.py", "link"),
    "a second name": (
        lambda root: os.link(root / "src/a.py", root / "tests/l.py"),
        "tests/l.py",
        "second name",
    ),
    "a pipe": (lambda root: os.mkfifo(root / "tests/p.py"), "tests/p.py", "no plain file"),
    "the directory as a link": (moved, NAME, "no file may be deleted"),
    "shadows": (written("tests/shop/b.py", "x = 2"), "tests/shop/b.py", "takes the place of"),
    "shadows at the top": (written("tests/a.py", "x = 2"), "tests/a.py", "takes the place of"),
    "hides code": (written("tests/b.py", "# coding: utf-7\n"), "tests/b.py", "cannot be read"),
    "steers the runner": (
        written("tests/conftest.py", "x = 1"),
        "tests/conftest.py",
        "decides which",
    ),
    "steers it by a table": (
        written("tests/pyproject.toml", "[tool.pytest.ini_options]\naddopts = '--co'"),
        "tests/pyproject.toml",
        "it decides which tests run",
    ),
    "steers another file": (written("tests/Makefile", "all:"), "tests/Makefile", "decides which"),
    "too large": (written("tests/b.py", "x" * 600_000), "tests/b.py", "larger than 512 KiB"),
    "binary": (
        lambda root: (root / "tests/b.py").write_bytes(b"\xff\xfe\x00"),
        "tests/b.py",
        "no text",
    ),
}


@pytest.mark.parametrize(("work", "path", "reason"), HOSTILE.values(), ids=HOSTILE)
def test_what_may_not_be_part_of_a_repair(
    tmp_path: Path, work: Callable[[Path], object], path: str, reason: str
) -> None:
    accepted, refused = after(tmp_path, work)
    assert accepted == {}
    assert reason in refused[path]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (NAME, TESTS.replace("total", "sum_of")),
        (NAME, TESTS.replace("[1]), 1", "[2]), 2")),
        (NAME, TESTS + "    def test_c(self):\n        self.assertTrue(total([2]) == 2)\n"),
        ("tests/new/test_b.py", "def test_b():\n    assert total([3]) == 3\n"),
        ("tests/shop/tests/test_a.py", "def test_c():\n    assert total([3]) == 3\n"),
        ("tests/data.json", "{}"),
        ("tests/pyproject.toml", "[project]\nname = 'shop'\n"),
    ],
)
def test_an_honest_repair_is_accepted(tmp_path: Path, path: str, text: str) -> None:
    accepted, refused = after(tmp_path, written(path, text))
    assert accepted == {path: ("100644", text.encode())}
    assert refused == {}


@pytest.mark.parametrize("text", ["\n" * 400_000, "assert(" + "," * 400_000, "assert " * 60_000])
def test_no_edit_takes_more_time_than_its_length(tmp_path: Path, text: str) -> None:
    accepted, refused = after(tmp_path, written(NAME, text))
    assert {*accepted} ^ {*refused} == {NAME}


@pytest.mark.parametrize("file", [("src/__pycache__/a.cpython-311.pyc", "x"), (NAME, TESTS)])
def test_by_products_of_a_run_and_files_as_they_were_are_not_told(
    tmp_path: Path, file: tuple[str, str]
) -> None:
    assert after(tmp_path, written(*file)) == ({}, {})


def test_what_is_a_link_in_the_tree_is_not_replaced(tmp_path: Path) -> None:
    written(NAME, TESTS)(tmp_path)
    rules = EditRules(["tests/**"], {NAME: "120000"}, {NAME: b"../a.py"})
    assert rules.split_by_refusal(tmp_path, {}) == ({}, {NAME: "it is no plain file in the tree"})
