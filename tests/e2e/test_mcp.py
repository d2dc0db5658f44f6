"""The jury as tools: a client of the official SDK lists and calls each of them."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from e2e.conftest import Prjury
from fakes.history import History
from fakes.waiting import eventually

_READ = {"path": "shadow", "contains": "root"}
REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "absolute": ("judge", {"name": "file-content", "workspace": "/etc", "options": _READ}),
    "above": ("judge", {"name": "file-exists", "workspace": "..", "options": {"path": "x"}}),
    "linked": ("judge", {"name": "file-content", "workspace": "link", "options": _READ}),
    "other repository": ("review", {"repo": "/", "base": "main"}),
    "build": ("judge", {"name": "build"}),
    "command": ("judge", {"name": "command", "options": {"command": "touch ran"}}),
    "long": ("review", {"base": "x" * 300}),
    "long title": ("review", {"title": "x" * 10_001}),
}


@pytest.fixture
def history(tmp_path: Path) -> History:
    made = History(tmp_path / "repo")
    project = '[project]\nname = "x"\nrequires-python = ">=3.12"\n'
    made.commit({"pyproject.toml": project, "a.py": "x = 1\n"}, "start")
    made.git("branch", "1.0.x")
    made.switch("change", create=True)
    made.commit({"a.py": "x = 2\n"}, "Change it")
    (made.path / "b.py").write_text("import imp\n")
    return made


async def session(history: History, state: Path) -> dict[str, Any]:
    from mcp import Client, StdioServerParameters  # noqa: PLC0415 - seconds for one test

    keep = {key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ}
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "prjury", "mcp", "--repo", str(history.path), "--no-build", "--no-llm"],
        env={**keep, "XDG_STATE_HOME": str(state)},
    )
    calls: dict[str, dict[str, Any]] = {
        "review": {"worktree": True},
        "judge": {"name": "file-exists", "options": {"path": "a.py"}},
        "backport": {"onto": ["1.0.x"], "base": "main", "head": "change"},
        "explain": {"name": "tests-passed"},
    }
    async with Client(server) as client:
        found: dict[str, Any] = {
            "tools": {tool.name: tool for tool in (await client.list_tools()).tools}
        }
        for name, arguments in calls.items():
            found[name] = await client.call_tool(name, arguments)
        found["program"] = await client.call_tool("judge", {"name": "evil.py:judge"})
        scripted = {"name": "correctness", "options": {"model": "scripted:yes.json"}}
        found["scripted"] = await client.call_tool("judge", scripted)
        found["misspelt"] = await client.call_tool("review", {"work_tree": True})
        (history.path / "link").symlink_to("/etc")
        for name, (tool, arguments) in REFUSED.items():
            found[name] = await client.call_tool(tool, arguments)
        found["wrong"] = await client.call_tool("review", {"base": "nowhere", "head": "change"})
    return found


@pytest.mark.slow
def test_a_client_lists_and_calls_every_tool(
    prjury: Prjury, history: History, tmp_path: Path
) -> None:
    found = asyncio.run(session(history, tmp_path / "state"))
    assert sorted(found["tools"]) == ["backport", "explain", "judge", "review"]
    assert "worktree" in found["tools"]["review"].input_schema["properties"]

    review = found["review"].structured_content
    assert (review["status"], review["gate"]) == ("fail", "failure")
    assert "b.py" in review["feedback"]
    assert found["judge"].structured_content["status"] == "pass"
    assert found["backport"].structured_content["backports"][0]["branch"] == "1.0.x"
    assert "tests-passed" in found["explain"].content[0].text
    for name, words in {
        "program": "there is no judge called",
        "scripted": "is for the operator to choose",
        "misspelt": "work_tree",
        "absolute": "none of the directories",
        "above": "none of the directories",
        "linked": "none of the directories",
        "other repository": "none of the directories",
        "build": "--no-build",
        "command": "--no-build",
        "long": "more than 256",
        "long title": "more than 10000",
        "wrong": "there is no branch, ref or commit 'nowhere'",
    }.items():
        assert found[name].is_error
        assert words in found[name].content[0].text

    shown = prjury("journal", "show").out
    assert "prjury mcp" in shown
    assert "tool review" in shown


def test_a_missing_sdk_is_said(prjury: Prjury, tmp_path: Path) -> None:
    (tmp_path / "mcp.py").write_text("raise ImportError\n")
    run = prjury("mcp", env={"PYTHONPATH": str(tmp_path)})
    assert run.code == 2
    assert run.complaint.endswith("Install it: pip install 'prjury[mcp]'.")


_HELLO: tuple[dict[str, Any], ...] = (
    {
        "method": "initialize",
        "id": 1,
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    },
    {"method": "notifications/initialized"},
    {"method": "tools/call", "id": 2, "params": {"name": "judge", "arguments": {}}},
)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["end of input", "cancel"])
def test_a_run_that_nobody_waits_for_is_ended(tmp_path: Path, ending: str) -> None:
    marker = str(uuid4().int % 10**9 + 10**9)
    (tmp_path / "repo").mkdir()
    options = {"command": f"echo begun; sleep {marker}"}
    _HELLO[2]["params"]["arguments"] = {"name": "command", "options": options}
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    arguments = ["-m", "prjury", "mcp", "--repo", str(tmp_path / "repo"), "--commands"]
    with subprocess.Popen(
        [sys.executable, *arguments], env=environ, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as server:
        assert server.stdin
        for message in _HELLO:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            server.stdin.flush()
        assert eventually(lambda: is_running(marker))
        if ending == "cancel":
            cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
            content = json.dumps({**cancel, "params": {"requestId": 2}})
            server.stdin.write(content.encode() + b"\n")
            server.stdin.flush()
            assert eventually(lambda: not is_running(marker))
        server.stdin.close()
        assert server.wait(30) == 0
    assert not is_running(marker)


def is_running(marker: str) -> bool:
    return subprocess.run(["pgrep", "-xf", f"sleep {marker}"], check=False).returncode == 0
