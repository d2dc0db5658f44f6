"""Files with wider hunks, from a real repository and from made-up ones."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from fakes.history import History
from fakes.repository import BASE, HEAD, FakeRepository, Files, blob_of
from prjury.code.parser import Parser
from prjury.deadline import Deadline
from prjury.errors import SourceError
from prjury.git.operator import open_repository
from prjury.git.store import open_store
from prjury.git.take_snapshot import take_snapshot
from prjury.judges.quality.surroundings import with_surroundings
from prjury.snapshot.kinds import kind_of
from prjury.snapshot.model import FileChange, FileStatus, Hunk, Line

SOON = Deadline.after(3_600)  # counted from the import: the whole suite may run before

BODY = "".join(f"        step({number})\n" for number in range(1, 9))
CODE = f"class A:\n    x = 1\n\n    def f(self):\n{BODY}\n    def g(self):\n        pass\n"


def edited(path: str, content: str | bytes = CODE, number: int = 9) -> FileChange:
    """A file whose line ``number`` is new, in a hunk without context."""
    hunk = Hunk(number - 1, 0, number, 1, "", (Line("+", None, number, "        step(5)"),))
    return FileChange(
        path, FileStatus.MODIFIED, kind_of(path), 1, new_blob=blob_of(content), hunks=(hunk,)
    )


def repository(*contents: str | bytes) -> FakeRepository:
    return FakeRepository({HEAD: {str(place): content for place, content in enumerate(contents)}})


def lines(file: FileChange) -> list[list[int]]:
    """The head's lines that each hunk shows."""
    return [[line.new for line in hunk.lines if line.new] for hunk in file.hunks]


def test_a_real_pull_request_is_widened_on_both_sides(tmp_path: Path) -> None:
    java = "class A {{\r\n\r\n\tvoid f() {{\r\n{}\t}}\r\n}}\r\n"
    steps = [f"\t\tstep({number});\r\n" for number in range(1, 13)]
    history = History(tmp_path / "repo", bare=True)
    history.commit({"A.java": java.format("".join(steps)), "a.py": CODE, "README.md": "a\n"})
    history.switch("change", create=True)
    changed = [*steps[:5], "\t\tmore();\r\n", *steps[5:]]
    moved = CODE.replace("x = 1", "x = 1\n    y = 2").replace("        step(8)\n", "")
    new = {"A.java": java.format("".join(changed)), "new.py": "z = 1\n", "README.md": "b\n"}
    history.commit({**new, "a.py": None, "b.py": moved})
    operator = open_repository(history.path)
    with open_store(operator) as store:
        pull = take_snapshot(store, operator.commit("main"), operator.commit("change"))
        result = with_surroundings(pull.files, store, Parser(), SOON)
        assert [file.path for file in result] == ["A.java", "README.md", "b.py", "new.py"]
        assert [file is same for file, same in zip(result, pull.files, strict=True)] == [
            False,
            True,
            False,
            True,
        ]
        assert lines(result[0]) == [[1], list(range(3, 18))]
        assert lines(result[2]) == [list(range(1, 16))]
        for file, before in zip(result, pull.files, strict=True):
            contents = store.read([blob for blob in (file.old_blob, file.new_blob) if blob])
            check_side(file, "old", contents[file.old_blob] if file.old_blob else b"")
            check_side(file, "new", contents[file.new_blob] if file.new_blob else b"")
            assert changes(file) == changes(before)


def changes(file: FileChange) -> list[Line]:
    return [line for hunk in file.hunks for line in hunk.lines if line.sign != " "]


def check_side(file: FileChange, side: str, content: bytes | None) -> None:
    """Every line of the side is the file's line of that number."""
    texts = (content or b"").decode().splitlines(keepends=True)
    for hunk in file.hunks:
        numbered = [(getattr(line, side), line.text + line.end) for line in hunk.lines]
        told = [(number, text) for number, text in numbered if number]
        assert [text for _, text in told] == [texts[number - 1] for number, _ in told]
        begin = getattr(hunk, f"{side}_start")
        assert [number for number, _ in told] == list(range(begin, begin + len(told)))


HUGE = CODE + "# filler\n" * 120_000
LATIN = CODE.encode() + b"# \xe9\n"


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("a.rb", CODE),
        ("a.json", "{}\n" * 20),
        ("docs/a.md", CODE),
        ("vendor/a.py", CODE),
        ("a.py", HUGE),
        ("a.py", LATIN),
        ("a.py", b"# coding: shift_jis\n" + CODE.encode()),
        ("a.py", "x = 1\n" * 20),
    ],
    ids=["unknown", "data", "prose", "vendored", "huge", "latin-1", "encoded", "plain"],
)
def test_a_file_without_surroundings_stays_as_it_is(path: str, content: str | bytes) -> None:
    file = edited(path, content)
    assert with_surroundings([file], repository(content), Parser(), SOON) == (file,)


def test_a_parser_that_dies_leaves_the_files() -> None:
    dying = Parser(command=(sys.executable, "-I", "-c", "raise SystemExit(3)"))
    file = edited("a.py")
    assert with_surroundings([file], repository(CODE), dying, SOON) == (file,)


def test_a_hostile_text_leaves_its_own_file() -> None:
    bomb = "class A {\n" * 8 + "int x = " + "a<" * 9_000 + "\n" + ("a<" * 9_000 + "\n") * 5
    files = [edited("A.java", bomb), edited("a.py")]
    first, second = with_surroundings(files, repository(bomb, CODE), Parser(), SOON)
    assert first is files[0]
    assert lines(second)[0] == [1]


def test_of_more_text_than_is_looked_at_the_smaller_files_come_first() -> None:
    large = CODE + f'y = "{"x" * 900}"\n' * 1_150
    small = edited("z.py")
    files = [*(edited(f"{number}.py", large) for number in range(9)), small]
    result = with_surroundings(files, repository(large, CODE), Parser(), SOON)
    assert [len(file.hunks) for file in result] == [*[2] * 8, 1, 2]


@dataclass
class DamagedRepository(FakeRepository):
    def read(self, blobs: Sequence[str]) -> Mapping[str, bytes | None]:
        raise SourceError("an object is damaged", remedy="git fsck")


def test_a_repository_that_cannot_be_read_leaves_the_files() -> None:
    files: Files = {"a.py": CODE}
    file = edited("a.py")
    damaged = DamagedRepository({BASE: files, HEAD: files})
    assert with_surroundings([file], damaged, Parser(), SOON) == (file,)
