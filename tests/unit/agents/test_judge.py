from __future__ import annotations

import json
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import pytest

from prjury import AgentJudge, AgentResult, Judgment, JudgmentContext, SecurityAudit, Status
from prjury.agents.judge import SECURITY_CHECKS, copy_workspace
from prjury.errors import CannotJudgeError
from prjury.jury.library.evaluation import Call


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
    with copy_workspace(tmp_path) as copy:
        (copy / "link").write_text("y")
        assert not (copy / ".git").exists()
    assert (tmp_path / "real").read_text() == "x"
    with pytest.raises(CannotJudgeError, match="more than 2"), copy_workspace(tmp_path, 2):
        pass


HOLE = 'db.execute("select * from t where id=" + id)'


@pytest.fixture
def context(tmp_path: Path) -> JudgmentContext:
    (tmp_path / "app.py").write_text(f"def get(id):\n    {HOLE}\n")
    return JudgmentContext("a shop", workspace=tmp_path)


def report(status: str, *found: dict[str, Any], without: str = "") -> str:
    named = {finding["name"] for finding in found} | {without}
    fine = [{"name": n, "passed": True, "message": "ok"} for n in SECURITY_CHECKS if n not in named]
    return json.dumps({"status": status, "rationale": "so", "findings": [*found, *fine]})


def hole(**more: Any) -> dict[str, Any]:
    place = {"path": "app.py", "line": 2, "evidence": HOLE, "severity": "error"}
    return {"name": "injection", "passed": False, "message": "id is pasted in", **place, **more}


def test_an_audit_names_each_check(context: JudgmentContext) -> None:
    goals: list[str] = []

    def agent(goal: str, workspace: Path) -> AgentResult:
        goals.append(goal)
        assert (workspace / "app.py").is_file()
        return AgentResult(report("pass"), metadata={"turns": 3})

    said = SecurityAudit(agent).judge(context)
    assert said.status is Status.PASS
    assert {check.name for check in said.checks} == set(SECURITY_CHECKS)
    assert "- secrets: no key" in goals[0]
    assert not isinstance(SECURITY_CHECKS, MutableMapping)
    assert said.metadata["agent"] == {"turns": 3}


@pytest.mark.parametrize("status", ["fail", "pass"])
def test_a_hole_that_is_there_fails_whatever_the_agent_concludes(
    context: JudgmentContext, status: str
) -> None:
    said = SecurityAudit(lambda _: report(status, hole())).judge(context)
    assert said.status is Status.FAIL
    (check,) = said.failed_checks
    assert (check.name, str(check.location), check.evidence) == ("injection", "app.py:2", HOLE)


@pytest.mark.parametrize(
    "lie",
    [
        {"path": "other.py"},
        {"evidence": "eval(id)"},
        {"evidence": None},
        {"path": "../../etc/passwd", "evidence": "root"},
    ],
)
def test_a_hole_that_is_not_there_is_no_verdict(
    context: JudgmentContext, lie: dict[str, Any]
) -> None:
    said = SecurityAudit(lambda _: report("fail", hole(**lie))).judge(context)
    assert (said.status, said.label) == (Status.ABSTAIN, "no_opinion")
    assert said.failed_checks[0].message.startswith("not found in the workspace: ")


def test_evidence_that_the_agent_wrote_itself_does_not_count(context: JudgmentContext) -> None:
    def planting(_: str, workspace: Path) -> str:
        (workspace / "planted.py").write_text("eval(x)\n")
        return report("fail", hole(path="planted.py", line=1, evidence="eval(x)"))

    said = SecurityAudit(planting).judge(context)
    assert (said.status, said.label) == (Status.ABSTAIN, "no_opinion")
    assert said.metadata["undone"]["files"] == ("added planted.py",)


def test_a_check_that_was_left_out_is_no_pass(context: JudgmentContext) -> None:
    said = SecurityAudit(lambda _: report("pass", without="secrets")).judge(context)
    assert (said.status, said.label) == (Status.ABSTAIN, "not_checked")
    assert "secrets" in said.reasoning


def test_warnings_stay_remarks(context: JudgmentContext) -> None:
    said = SecurityAudit(lambda _: report("pass", hole(severity="warning"))).judge(context)
    assert said.status is Status.PASS
    assert len(said.failed_checks) == 1


def test_one_may_name_the_checks(context: JudgmentContext) -> None:
    audit = SecurityAudit(lambda _: report("pass"), checks={"licences": "each file names its own"})
    assert audit.judge(context).label == "not_checked"
    with pytest.raises(ValueError, match="something to look at"):
        SecurityAudit(lambda _: "", checks={})


def test_an_answer_in_prose_is_an_error(context: JudgmentContext) -> None:
    said = SecurityAudit(lambda _: "All is well.").judge(context)
    assert (said.status, said.metadata["reason"]) == (Status.ERROR, "reply_invalid")


class Sceptic(AgentJudge[JudgmentContext]):
    def __init__(self, client: Call) -> None:
        super().__init__(client, "Doubt {goal}", name="sceptic")

    def judge(self, context: JudgmentContext, /) -> Judgment:
        return super().judge(context).with_metadata(doubts=True)


def test_a_judge_with_a_constructor_of_its_own_asks_how_sure_the_agent_is() -> None:
    goals: list[str] = []

    def client(goal: str, _workspace: Path | None = None) -> str:
        goals.append(goal)
        return "Answer: YES\nConfidence: 0.9"

    sceptic = Sceptic(client)
    asking = sceptic.asking_confidence()
    said = asking.judge(JudgmentContext("sort names"))
    assert (type(asking), asking.name, said.confidence) == (Sceptic, "sceptic", 0.9)
    assert said.metadata["doubts"]
    sceptic.judge(JudgmentContext("sort names"))
    assert "onfidence" in goals[0]
    assert goals[1] == "Doubt sort names"
