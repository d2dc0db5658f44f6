from __future__ import annotations

import json
from typing import Any

from prjury.agents.command import LONGEST_TEXT, MOST_CALLS, list_calls, read_answer


def used(number: int, name: str, **given: Any) -> dict[str, Any]:
    block = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": given}
    return {"type": "assistant", "message": {"content": [{"type": "text", "text": "hm"}, block]}}


def answered(number: int, **more: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": "…", **more}
    return {"type": "user", "message": {"role": "user", "content": [block]}}


def item(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": "item.completed", "item": {"id": "item_1", "type": kind, **more}}


def test_calls_of_claude_with_what_came_of_them() -> None:
    calls = list_calls(
        [
            used(1, "Read", file_path="tests/test_a.py"),
            used(2, "Bash", command="pytest -q\nrm -r /", description="run"),
            answered(2, is_error=True),
            answered(1),
            used(3, "TodoWrite", todos=[]),
            answered(9),  # of no call
        ]
    )
    assert list(calls) == [
        {"name": "Read", "target": "tests/test_a.py", "outcome": "ok"},
        {"name": "Bash", "target": "pytest -q", "outcome": "failed"},
        {"name": "TodoWrite"},
    ]


def test_calls_of_codex() -> None:
    changes = [{"path": "a.py", "kind": "update"}, {"path": "b.py", "kind": "add"}]
    calls = list_calls(
        [
            {"type": "item.started", "item": {"type": "command_execution", "command": "ls"}},
            item("command_execution", command="ls", exit_code=2, status="completed"),
            item("file_change", changes=changes, status="completed"),
            item("mcp_tool_call", server="docs", tool="search", status="failed"),
            item("agent_message", text="done"),
        ]
    )
    assert [tuple(call.values()) for call in calls] == [
        ("command_execution", "ls", "failed"),
        ("file_change", "a.py", "ok"),
        ("file_change", "b.py", "ok"),
        ("mcp_tool_call", "docs search", "failed"),
    ]


def test_what_is_strange_or_much_is_left_out() -> None:
    odd: list[dict[str, Any]] = [
        {"type": "assistant", "message": "text"},
        {"type": "assistant", "message": {"content": [7, {"type": "tool_use", "input": 3}]}},
        item("file_change", changes="all", status=[]),
        {"type": "item.completed", "item": {"type": ["command_execution"]}},
    ]
    many = [used(number, "Read", file_path="x" * 999) for number in range(MOST_CALLS + 5)]
    calls = list_calls([*odd, *many])
    assert len(calls) == MOST_CALLS
    assert len(calls[0]["target"]) == LONGEST_TEXT + 1


def test_they_are_in_what_is_known_of_the_run() -> None:
    events = [used(1, "Read", file_path="a"), {"type": "result", "result": "done"}]
    answer = read_answer("\n".join(map(json.dumps, events)))
    assert answer.metadata == {"tool_calls": [{"name": "Read", "target": "a"}]}
