from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from prjury.agents.judge import AgentJudge
from prjury.errors import CannotJudgeError
from prjury.jury.context import ExecutionStatus, JudgmentContext
from prjury.jury.judge import Judge, JudgeType, type_of
from prjury.jury.judgment import Check, Judgment, Location, Status
from prjury.jury.library.agent import AgentClient, AgentResult, run_agent
from prjury.jury.library.replies import ASSESSMENT_FORM, assessment
from prjury.jury.score import NumericalScore

CONTEXT = JudgmentContext("say hello", Path("/w"), "hello")


@dataclass
class Client:
    """A client whose agent reports what it is told to, and that keeps what it was asked."""

    reports: Any = "Answer: YES\nReasoning: all is well"
    asked: list[tuple[str, Path | None]] = field(default_factory=list)

    def run(self, goal: str, workspace: Path | None) -> Any:
        self.asked.append((goal, workspace))
        if isinstance(self.reports, BaseException):
            raise self.reports
        return self.reports


class Later(Client):
    async def run(self, goal: str, workspace: Path | None) -> Any:
        await asyncio.sleep(0)
        return super().run(goal, workspace)


def test_what_a_result_cannot_be() -> None:
    wrong: Any = 3
    with pytest.raises(TypeError, match=r"^an agent's output is text, not a int$"):
        AgentResult(wrong)
    with pytest.raises(TypeError, match=r"^an agent's output is text, not a NoneType$"):
        AgentResult(None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^an agent's error is text, not a int$"):
        AgentResult("", error=wrong)
    with pytest.raises(ValueError, match="'done' is not a valid ExecutionStatus"):
        AgentResult("", "done")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^metadata\.a is a set, which JSON cannot hold$"):
        AgentResult("", metadata={"a": set()})


@pytest.mark.parametrize("kind", [Client, Later])
@pytest.mark.parametrize("reports", ["done", AgentResult("done")])
def test_running_an_agent(kind: type[Client], reports: Any) -> None:
    client = kind(reports)
    assert run_agent(client, "g", Path("/w")) == AgentResult("done")
    assert client.asked == [("g", Path("/w"))]


def test_it_asks_and_classifies() -> None:
    client = Client()
    judge = AgentJudge(client, "Look whether {goal} was done.")
    assert judge.judge(CONTEXT) == Judgment.passed(
        "all is well", checks=[Check("agent", True, "all is well")]
    )
    assert client.asked == [("Look whether say hello was done.", Path("/w"))]
    assert isinstance(judge, Judge)
    assert isinstance(client, AgentClient)
    assert (judge.name, judge.description, type_of(judge)) == ("agent", "", JudgeType.AGENT)


@pytest.mark.parametrize(
    ("reports", "reason", "told"),
    [
        (AgentResult("Answer: YES", ExecutionStatus.FAILED), "agent_failed", "the agent failed"),
        (
            AgentResult("Answer: YES", ExecutionStatus.FAILED, "no \udcff disk"),
            "agent_failed",
            "the agent failed: no \\udcff disk",
        ),
        (
            AgentResult("Answer: YES", ExecutionStatus.TIMEOUT),
            "timeout",
            "the agent did not answer in time",
        ),
        (
            AgentResult("Answer: YES", ExecutionStatus.CANCELLED, "by the user"),
            "cancelled",
            "the agent was cancelled: by the user",
        ),
        (OSError("gone"), "agent_failed", "the agent failed: OSError: gone"),
        (TimeoutError(), "timeout", "the agent did not answer in time: TimeoutError"),
        (
            asyncio.CancelledError(),
            "cancelled",
            "the agent was cancelled: asyncio.exceptions.CancelledError",
        ),
        (CannotJudgeError("No key", reason="no_key"), "no_key", "the agent failed: No key."),
        (
            ["YES"],
            "agent_failed",
            "the agent failed: TypeError: the client returned a list instead of an AgentResult",
        ),
        ("", "reply_invalid", "the reply is empty"),
        (AgentResult(" \n"), "reply_invalid", "the reply is empty"),
    ],
)
@pytest.mark.parametrize("kind", [Client, Later])
def test_an_agent_that_does_not_come_to_an_end_is_an_error(
    kind: type[Client], reports: Any, reason: str, told: str
) -> None:
    said = AgentJudge(kind(reports), "{goal}").judge(CONTEXT)
    assert said == Judgment.errored(told, metadata={"reason": reason})


def test_a_blank_goal_is_not_pursued() -> None:
    client = Client()
    said = AgentJudge(client, "{error}").judge(CONTEXT)
    assert said == Judgment.abstained("there is nothing to look for", "nothing_to_ask")
    assert client.asked == []


def test_what_a_judge_cannot_be_made_of() -> None:
    wrong: Any = 3
    with pytest.raises(TypeError, match=r"^3 is neither a function nor an agent's client"):
        AgentJudge(wrong, "{goal}")
    with pytest.raises(ValueError, match=r"^the placeholder \{patch\} is none of"):
        AgentJudge(Client(), "{patch}")
    with pytest.raises(TypeError, match=r"^a template is text or a function, not 3$"):
        AgentJudge(Client(), wrong)
    with pytest.raises(TypeError, match=r"^audit classifies a reply as a int instead of a Judg"):
        AgentJudge(Client(), "{goal}", lambda _: wrong, "audit").judge(CONTEXT)


class Auditor:
    """An agent that really looks: for secrets and for statements put together from values."""

    SIGNS = (("hard-coded secret", "password ="), ("SQL injection", "execute(f"))

    async def run(self, goal: str, workspace: Path | None) -> AgentResult:
        if workspace is None:
            return AgentResult("", ExecutionStatus.FAILED, "there is no workspace")
        findings = await asyncio.to_thread(self._findings, workspace)
        report = {
            "status": "fail" if findings else "pass",
            "score": 0.0 if findings else 1.0,
            "rationale": f"{len(findings)} holes found by request: {goal.partition(chr(10))[0]}",
            "findings": findings,
        }
        return AgentResult(json.dumps(report), metadata={"holes": len(findings)})

    def _findings(self, workspace: Path) -> list[dict[str, object]]:
        return [
            {"name": name, "message": f"{name} in {path.name}", "path": path.name, "line": number}
            for path in sorted(workspace.glob("*.py"))
            for number, line in enumerate(path.read_text().splitlines(), start=1)
            for name, sign in self.SIGNS
            if sign in line
        ]


def audit() -> AgentJudge[JudgmentContext]:
    return AgentJudge(
        Auditor(),
        f"Audit the work on: {{goal}}\n{ASSESSMENT_FORM}",
        assessment,
        "security",
        "an agent's security audit of the workspace",
    )


def test_a_security_audit_by_an_agent(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text('import db\n\ndb.execute(f"select {name}")\n')
    (tmp_path / "config.py").write_text('password = "hunter2"\n')
    said = audit().judge(JudgmentContext("add a search", tmp_path))
    assert said == Judgment(
        Status.FAIL,
        "2 holes found by request: Audit the work on: add a search",
        NumericalScore(0.0),
        checks=(
            Check("SQL injection", False, "SQL injection in app.py", Location("app.py", 3)),
            Check(
                "hard-coded secret",
                False,
                "hard-coded secret in config.py",
                Location("config.py", 1),
            ),
        ),
        metadata={"agent": {"holes": 2}},
    )
