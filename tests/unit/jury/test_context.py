from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from fakes.refusals import refused
from prjury.jury.context import ExecutionStatus, JudgmentContext
from prjury.jury.library.template import Template


def test_a_goal_is_all_that_has_to_be_known() -> None:
    context = JudgmentContext("add a button")
    assert context.execution_status is ExecutionStatus.UNKNOWN
    assert context.metadata == {}
    rest = (
        context.workspace,
        context.agent_output,
        context.started_at,
        context.execution_time,
        context.error,
    )
    assert rest == (None,) * 5


def test_everything_else_is_kept_as_it_is() -> None:
    began, took = datetime(2026, 1, 2, tzinfo=UTC), timedelta(seconds=3)
    context = JudgmentContext(
        "add a button", Path("work"), "done", ExecutionStatus.TIMEOUT, began, took, "too slow"
    )
    assert (context.goal, context.workspace) == ("add a button", Path("work"))
    assert (context.agent_output, context.error) == ("done", "too slow")
    assert (context.execution_status, context.execution_time) == (ExecutionStatus.TIMEOUT, took)
    assert context.started_at == began


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


def test_what_is_no_json_is_handed_to_the_judges_as_it_is() -> None:
    thing = object()
    context = JudgmentContext("add a button", metadata={"thing": thing, "all": [thing, {1}]})
    assert context.metadata["thing"] is thing
    assert context.metadata["all"] == (thing, {1})


def test_seconds_are_taken_as_a_duration() -> None:
    taken: Any = 1.5
    assert JudgmentContext("g", execution_time=taken).execution_time == timedelta(seconds=1.5)


def test_steps_and_diff_are_kept_as_they_were() -> None:
    steps = [{"tool": "edit"}, "tests ran"]
    context = JudgmentContext("g", diff="--- a", trajectory=steps)
    steps.append("more")
    assert context.trajectory == ({"tool": "edit"}, "tests ran")
    assert Template("{diff} {trajectory}")(context) == '--- a [{"tool": "edit"}, "tests ran"]'


def test_a_text_is_a_workspaces_path() -> None:
    assert JudgmentContext("x", "/srv/app").workspace == Path("/srv/app")  # type: ignore[arg-type]
