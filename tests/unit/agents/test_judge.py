from __future__ import annotations

from pathlib import Path

import pytest

from prjury import AgentJudge, JudgmentContext, Status
from prjury.agents.judge import private_copy
from prjury.errors import CannotJudgeError


def vandal(goal: str, workspace: Path) -> str:
    (workspace / "kept.txt").write_text("other")
    (workspace / "gone.txt").unlink()
    (workspace / "sub" / "new.txt").write_text("new")
    assert str(workspace) in goal
    return "Answer: YES\nReasoning: fine"


def filled(root: Path) -> JudgmentContext:
    (root / "sub").mkdir()
    for name in ("kept.txt", "gone.txt"):
        (root / name).write_text(name)
    return JudgmentContext("write files", root)


def test_what_an_agent_judge_changes_is_undone_and_told(tmp_path: Path) -> None:
    said = AgentJudge(vandal, "Look at {workspace}").judge(filled(tmp_path))
    assert said.status is Status.PASS
    assert said.reasoning == "fine (the agent changed 3 files: undone)"
    files = ("changed kept.txt", "deleted gone.txt", "added sub/new.txt")
    assert said.metadata["undone"]["count"] == 3
    assert set(said.metadata["undone"]["files"]) == set(files)
    assert {p.name for p in tmp_path.rglob("*.txt")} == {"kept.txt", "gone.txt"}
    assert (tmp_path / "kept.txt").read_text() == "kept.txt"


def test_an_agent_that_only_looks_is_not_told_off(tmp_path: Path) -> None:
    looks = AgentJudge(lambda goal, place: f"YES. {sorted(p.name for p in place.iterdir())}", "?")
    said = looks.judge(filled(tmp_path))
    assert "undone" not in said.metadata
    assert "gone.txt" in said.reasoning


def test_an_agent_may_work_in_the_workspace_itself(tmp_path: Path) -> None:
    AgentJudge(vandal, "Look at {workspace}", read_only=False).judge(filled(tmp_path))
    assert (tmp_path / "kept.txt").read_text() == "other"


def test_links_of_a_copy_lead_into_the_copy(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / ".git").write_text("gitdir: /elsewhere\n")
    with private_copy(tmp_path) as copy:
        (copy / "link").write_text("y")
        assert not (copy / ".git").exists()
    assert (tmp_path / "real").read_text() == "x"
    with pytest.raises(CannotJudgeError, match="more than 2"), private_copy(tmp_path, 2):
        pass
