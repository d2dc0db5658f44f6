from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from fakes.refusals import refused
from prjury.jury.context import ExecutionStatus, JudgmentContext


def test_the_words_of_how_the_work_ended() -> None:
    words = ["success", "failed", "timeout", "cancelled", "unknown"]
    assert [status.value for status in ExecutionStatus] == words


def test_judges_share_no_metadata_with_anybody_and_cannot_change_it() -> None:
    files = ["a.py"]
    shared = {"attempt": 1, "scope": {"files": files}}
    context = JudgmentContext("add a button", metadata=shared)
    shared["attempt"] = 2
    files.append("b.py")
    assert context.metadata == {"attempt": 1, "scope": {"files": ("a.py",)}}
    for mapping in (context.metadata, context.metadata["scope"]):
        with refused(TypeError, "this dictionary cannot be changed"):
            mapping["attempt"] = 3  # type: ignore[index]


def test_seconds_are_taken_as_a_duration() -> None:
    taken: Any = 1.5
    assert JudgmentContext("g", execution_time=taken).execution_time == timedelta(seconds=1.5)


def test_a_text_is_a_workspaces_path() -> None:
    assert JudgmentContext("x", "/srv/app").workspace == Path("/srv/app")  # type: ignore[arg-type]
