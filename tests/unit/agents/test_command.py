from __future__ import annotations

from pathlib import Path

import pytest

from prjury import AgentClient, CommandAgent, ExecutionStatus


def test_the_goal_is_its_input_and_the_workspace_its_directory(tmp_path: Path) -> None:
    agent = CommandAgent("cat; pwd; cat $PRJURY_GOAL_FILE > seen; echo $HOME > home")
    assert isinstance(agent, AgentClient)
    done = agent.run("say hello", tmp_path)
    assert (done.status, done.output) == (ExecutionStatus.SUCCESS, f"say hello\n{tmp_path}")
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


def test_usage_and_cost_are_read(tmp_path: Path) -> None:
    said = '{"type":"result","result":"done","total_cost_usd":0.5,"usage":{"input_tokens":7}}'
    (tmp_path / "said.json").write_text(said)
    done = CommandAgent("cat said.json").run("x", tmp_path)
    assert done.output == "done"
    assert (done.metadata["usd"], done.metadata["input_tokens"]) == (0.5, 7)


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
