from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from prjury.judges.workspace.content import FileContentJudge, FileExistsJudge
from prjury.jury.context import JudgmentContext
from prjury.jury.judge import Judge, JudgeType
from prjury.jury.judgment import Location, Status
from prjury.jury.jury import Jury
from prjury.jury.score import BooleanScore
from prjury.jury.voting import MajorityVoting


@pytest.fixture
def context(tmp_path: Path) -> JudgmentContext:
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_bytes(b"# Title\r\n\r\nIt works.\r\n")
    os.mkfifo(tmp_path / "pipe")
    return JudgmentContext("goal", workspace=tmp_path)


@pytest.mark.parametrize(
    ("path", "status", "reasoning"),
    [
        ("README.md", Status.PASS, "README.md is there"),
        (Path("README.md"), Status.PASS, "README.md is there"),
        ("LICENSE", Status.FAIL, "there is no file LICENSE"),
        ("docs", Status.FAIL, "docs is a directory, not a file"),
        ("pipe", Status.FAIL, "pipe is a FIFO, not a file"),
    ],
)
def test_a_file_is_there_or_not(
    context: JudgmentContext, path: str | Path, status: Status, reasoning: str
) -> None:
    judgment = FileExistsJudge(path).judge(context)
    (check,) = judgment.checks
    assert (judgment.status, judgment.reasoning) == (status, reasoning)
    assert judgment.score == BooleanScore(status is Status.PASS)
    assert (check.name, check.passed) == ("file-exists", status is Status.PASS)
    assert (check.message, check.location) == (reasoning, Location(str(path)))
    assert judgment.metadata == {"path": str(path)}


def test_a_name_that_is_no_utf_8_can_be_told(context: JudgmentContext) -> None:
    judgment = FileExistsJudge("\udcff").judge(context)
    assert judgment.reasoning == "there is no file \\xff"
    assert judgment.metadata == {"path": "\\xff"}


@pytest.mark.parametrize(
    ("expectation", "status", "reasoning", "line"),
    [
        (
            {"exact": "# Title\n\nIt works.\n"},
            Status.PASS,
            "README.md is exactly the expected text",
            None,
        ),
        ({"contains": "It works"}, Status.PASS, "README.md contains 'It works'", 3),
        ({"regex": r"^It \w+\.$"}, Status.PASS, r"README.md matches '^It \\w+\\.$'", 3),
        ({"contains": "It fails"}, Status.FAIL, "README.md does not contain 'It fails'", None),
        ({"regex": "x{3}"}, Status.FAIL, "nothing in README.md matches 'x{3}'", None),
        (
            {"exact": "# Title\n"},
            Status.FAIL,
            "README.md is not the expected text: it goes on with line 2 where it should end",
            2,
        ),
    ],
)
def test_the_text_is_as_expected_or_not(
    context: JudgmentContext,
    expectation: dict[str, Any],
    status: Status,
    reasoning: str,
    line: int | None,
) -> None:
    judgment = FileContentJudge("README.md", **expectation).judge(context)
    (check,) = judgment.checks
    assert (judgment.status, judgment.reasoning) == (status, reasoning)
    assert judgment.score == BooleanScore(status is Status.PASS)
    assert (check.name, check.passed) == ("file-content", status is Status.PASS)
    assert check.location == Location("README.md", line)
    assert judgment.metadata == {"path": "README.md"}


def test_an_empty_file_can_be_asked_for(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    context = JudgmentContext("goal", workspace=tmp_path)
    assert FileContentJudge("empty", exact="").judge(context).status is Status.PASS


@pytest.mark.parametrize(
    ("path", "status", "reasoning", "reason"),
    [
        ("LICENSE", Status.FAIL, "there is no file LICENSE", None),
        ("docs", Status.FAIL, "docs is a directory, not a file", None),
        (
            "pipe",
            Status.ERROR,
            (
                "pipe cannot be read. It is a FIFO. "
                "Check its permissions, and that it is a regular file."
            ),
            "unreadable",
        ),
        (
            "../x",
            Status.ERROR,
            (
                "../x leaves the workspace. It climbs out with `..`. "
                "Name a path inside the workspace, relative to it."
            ),
            "outside_workspace",
        ),
    ],
)
def test_where_there_is_no_text(
    context: JudgmentContext, path: str, status: Status, reasoning: str, reason: str | None
) -> None:
    judgment = FileContentJudge(path, contains="x").judge(context)
    assert (judgment.status, judgment.reasoning) == (status, reasoning)
    assert judgment.metadata.get("reason") == reason


@pytest.mark.parametrize("judge", [FileExistsJudge("a"), FileContentJudge("a", contains="x")])
def test_no_workspace(judge: Judge[JudgmentContext]) -> None:
    judgment: Any = judge.judge(JudgmentContext("goal"))
    assert judgment.status is Status.ERROR
    assert judgment.metadata == {"reason": "no_workspace"}


@pytest.mark.parametrize(
    ("expectation", "told"),
    [
        ({}, "name exactly one of exact, contains and regex, not none"),
        (
            {"exact": "a", "regex": "b"},
            "name exactly one of exact, contains and regex, not exact and regex",
        ),
        ({"contains": ""}, "an empty text is in every file: say what the file has to contain"),
        ({"regex": "("}, "RE2 refuses '(': missing ): ("),
    ],
)
def test_expectations_that_make_no_sense(expectation: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=r"exactly one|empty|RE2") as refusal:
        FileContentJudge("a", **expectation)
    assert str(refusal.value) == told


def test_expectations_that_are_no_text() -> None:
    with pytest.raises(TypeError, match="contains is text, not a bytes"):
        FileContentJudge("a", contains=b"x")  # type: ignore[arg-type]


@pytest.mark.parametrize("make", [FileExistsJudge, lambda path: FileContentJudge(path, exact="")])
def test_paths_that_make_no_sense(make: Any) -> None:
    with pytest.raises(ValueError, match="'' is not a path"):
        make("")


def test_on_a_bench_they_are_told_apart(context: JudgmentContext) -> None:
    jury = Jury.of(
        MajorityVoting(),
        FileExistsJudge("README.md"),
        FileExistsJudge("LICENSE"),
        FileContentJudge("README.md", contains="works"),
        FileExistsJudge("LICENSE", name="license"),
    )
    verdict = jury.vote(context)
    assert {name: said.status.value for name, said in verdict.by_name.items()} == {
        "file-exists": "pass",
        "file-exists-2": "fail",
        "file-content": "pass",
        "license": "fail",
    }
    assert {ballot.type for ballot in verdict.ballots} == {JudgeType.DETERMINISTIC}


def test_equal_judges_are_equal() -> None:
    assert FileContentJudge("a", exact="x") == FileContentJudge(Path("a"), exact="x")
    assert FileContentJudge("a", exact="x") != FileContentJudge("a", contains="x")
