from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prjury import AgentClient, AgentResult, CommandAgent, ExecutionStatus
from prjury.agents.command import LONGEST_TEXT, MOST_CALLS, list_tool_calls, read_answer


def test_the_goal_is_its_input_and_the_workspace_its_directory(tmp_path: Path) -> None:
    usage = """echo ',"usd":0.5,"usage":{"input_tokens":7}}'"""
    said = """echo '{"output":"'"$(cat) $PWD"'"'"""
    agent = CommandAgent(f"{said}; {usage}; cat $PRJURY_GOAL_FILE > seen; echo $HOME > home")
    assert isinstance(agent, AgentClient)
    done = agent.run("say hello", tmp_path)
    assert (done.status, done.output) == (ExecutionStatus.SUCCESS, f"say hello {tmp_path}")
    assert (done.metadata["usd"], done.metadata["input_tokens"]) == (0.5, 7)
    assert (tmp_path / "seen").read_text() == "say hello\n"
    assert "prjury" in (tmp_path / "home").read_text()


def test_it_gets_no_secret_but_its_own() -> None:
    environ = {"PATH": "/usr/bin:/bin", "AGENT_API_KEY": "mine", "OTHER_API_KEY": "theirs"}
    agent = CommandAgent("env", env=["AGENT_API_KEY"], environ=environ)
    printed = agent.run("x", None).output
    assert "AGENT_API_KEY=mine" in printed
    assert "theirs" not in printed


@pytest.mark.parametrize(
    "name", ["GITHUB_TOKEN", "GH_TOKEN", "ACTIONS_RUNTIME_TOKEN", "LD_PRELOAD"]
)
def test_credentials_of_the_job_are_no_agents(name: str) -> None:
    with pytest.raises(ValueError, match="not handed to an agent"):
        CommandAgent("env", env=[name])


@pytest.mark.parametrize(
    ("command", "status", "error"),
    [
        ("echo no key >&2; exit 3", ExecutionStatus.FAILED, "exit code 3: no key"),
        ("nonesuch", ExecutionStatus.FAILED, "not found"),
        ("sleep 60", ExecutionStatus.TIMEOUT, "it took longer than 0.5 s"),
        ("yes", ExecutionStatus.FAILED, "it printed more than 64 MiB"),
    ],
)
def test_how_it_fails(command: str, status: ExecutionStatus, error: str) -> None:
    seconds = 0.5 if "sleep" in command else 20.0
    done = CommandAgent(command, seconds).run("x", None)
    assert done.status is status
    assert error in str(done.error)


@pytest.mark.parametrize("wrong", [("", 1.0), ("true", 0.0), ("a\0b", 1.0)])
def test_wrong_settings_are_refused(wrong: tuple[str, float]) -> None:
    with pytest.raises(ValueError, match=r"agent's command|timeout"):
        CommandAgent(*wrong)


CLAUDE = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "num_turns": 3,
    "result": "Answer: YES",
    "total_cost_usd": 0.0123,
    "usage": {"input_tokens": 1200, "output_tokens": 34, "cache_read_input_tokens": 9},
}
PRICED = AgentResult(
    "Answer: YES",
    metadata={"usd": 0.0123, "turns": 3, "input_tokens": 1200, "output_tokens": 34},
)
MESSAGE = {"content": [{"type": "text", "text": "hm"}], "usage": {"input_tokens": 99}}
CODEX = [
    {"type": "thread.started", "thread_id": "x"},
    {"type": "item.completed", "item": {"type": "reasoning", "text": "hm"}},
    {"type": "item.completed", "item": {"type": "agent_message", "text": "Answer: NO"}},
    {"type": "item.completed", "item": {"type": "reasoning", "text": "so"}},
    {"type": "turn.completed", "usage": {"input_tokens": 10, "output_tokens": 5}},
    {"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 2}},
]
COUNTED = AgentResult("x", metadata={"input_tokens": 4})
PROMPTED = AgentResult("fine", metadata={"input_tokens": 4})
CODEX_ANSWER = AgentResult(
    "Answer: NO", metadata={"turns": 2, "input_tokens": 11, "output_tokens": 7}
)


def lines(*events: object) -> str:
    return "\n".join(map(json.dumps, events))


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("  Answer: YES\n", AgentResult("Answer: YES")),
        (json.dumps(CLAUDE), PRICED),
        (json.dumps(CLAUDE, indent=2), PRICED),
        (json.dumps([{"type": "system"}, CLAUDE]), PRICED),
        ("warning: old\n" + lines(*CODEX), CODEX_ANSWER),
        (lines({"type": "assistant", "message": MESSAGE}, CLAUDE), PRICED),
        ('{"response": "fine", "stats": {}}', AgentResult("fine")),
        ('{"output": "fine", "usage": {"prompt_tokens": 4}}', PROMPTED),
        (lines({"usd": 0.5, "text": "x"}, {"usd": 0, "text": "y"}), AgentResult("y")),
        ('{"verdict": true}', AgentResult('{"verdict": true}')),
        ('{"usd": NaN, "text": "x"}', AgentResult("x")),
        ('{"usd": -1, "usage": {"input_tokens": true, "prompt_tokens": 4}, "text": "x"}', COUNTED),
        ('{"usd": 1e999, "num_turns": "3", "usage": [], "text": "x"}', AgentResult("x")),
        ('{"type": "result", "result": "one\u2028line"}\nbye', AgentResult("one\u2028line")),
    ],
)  # fmt: skip
def test_what_is_printed_is_understood(printed: str, expected: AgentResult) -> None:
    assert read_answer(printed) == expected


def test_errors_by_its_own_account() -> None:
    failed = {**CLAUDE, "is_error": True, "result": "Credit balance is too low"}
    assert read_answer(json.dumps(failed)).error == "Credit balance is too low"
    turn = {"type": "turn.failed", "error": {"message": "quota"}}
    assert read_answer(lines(turn)).error == "quota"
    assert read_answer('{"type": "error", "message": "no model"}').error == "no model"
    for silent in ({"type": "turn.failed"}, {"type": "error", "error": {}}, {"error": {"code": 5}}):
        assert read_answer(lines(silent, CLAUDE)).error == "it failed"
    assert read_answer('{"error": null, "text": "x"}') == AgentResult("x")


def used(number: int, name: str, **given: Any) -> dict[str, Any]:
    block = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": given}
    return {"type": "assistant", "message": {"content": [{"type": "text", "text": "hm"}, block]}}


def answered(number: int, **more: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": "…", **more}
    return {"type": "user", "message": {"role": "user", "content": [block]}}


def item(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": "item.completed", "item": {"id": "item_1", "type": kind, **more}}


def test_calls_of_claude_with_what_came_of_them() -> None:
    calls = list_tool_calls(
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
    calls = list_tool_calls(
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
    calls = read_answer(lines(*odd, *many)).metadata["tool_calls"]
    assert len(calls) == MOST_CALLS
    assert len(calls[0]["target"]) == LONGEST_TEXT + 1
