"""Agents as judges, and agents that are judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from prjury import (
    AgentJudge,
    AgentResult,
    CascadedJury,
    CommandJudge,
    ConsensusVoting,
    ExecutionStatus,
    FileExistsJudge,
    Judgment,
    JudgmentContext,
    Jury,
    ModelJudge,
    Status,
    Tier,
    TierPolicy,
    evaluate,
    judge,
)

PASS, FAIL, ABSTAIN, ERROR = Status


# A security audit by an agent: it may look around in the workspace, and its report is classified.


class Auditor:
    """Stands for an agent of any framework: it reads the files and reports."""

    def run(self, goal: str, workspace: Path | None) -> AgentResult:
        assert workspace
        leaks = sorted(
            path.name for path in workspace.rglob("*.py") if "password =" in path.read_text()
        )
        if leaks:
            return AgentResult(f"Answer: NO\nReasoning: a password in {', '.join(leaks)}")
        return AgentResult("Answer: YES\nReasoning: no secrets in the code")


AUDIT = AgentJudge(
    Auditor(), "Is the code in {workspace} free of secrets? Answer YES or NO.", name="audit"
)


@pytest.mark.parametrize(
    ("code", "expected", "reasoning"),
    [
        ("import os\n", PASS, "no secrets in the code"),
        ('password = "hunter2"\n', FAIL, "a password in app.py"),
    ],
)
def test_a_security_audit_by_an_agent(
    tmp_path: Path, code: str, expected: Status, reasoning: str
) -> None:
    (tmp_path / "app.py").write_text(code)
    said = AUDIT.judge(JudgmentContext("build an app", tmp_path))
    assert (said.status, said.reasoning) == (expected, reasoning)


def test_an_agent_that_gives_up_has_judged_nothing(tmp_path: Path) -> None:
    class Stuck:
        async def run(self, goal: str, workspace: Path | None) -> AgentResult:
            return AgentResult("", ExecutionStatus.FAILED, error="out of tokens")

    said = AgentJudge(Stuck(), "Audit {workspace}").judge(JudgmentContext("build", tmp_path))
    assert (said.status, said.reasoning) == (ERROR, "the agent failed: out of tokens")


# evaluate(): an agent's work, and the verdict on it.


class Programmer:
    """Stands for an agent that writes code; how well depends on the goal."""

    def run(self, goal: str, workspace: Path | None) -> AgentResult:
        assert workspace
        code = "print('hello, world')" if "greet" in goal else "print(1 / 0)"
        (workspace / "program.py").write_text(f"{code}\n")
        return AgentResult("program.py is written", metadata={"tokens": 512})


def cascade(asked: list[str]) -> CascadedJury[JudgmentContext]:
    """What costs nothing first: the file, the program, and only then the model."""

    def model(prompt: str) -> str:
        asked.append(prompt)
        return "Answer: YES\nReasoning: the program greets."

    correctness = ModelJudge("{goal}: {agent_output}. Is the goal reached?", model=model)
    return CascadedJury[JudgmentContext](
        [
            Tier("files", Jury.of(ConsensusVoting(), FileExistsJudge("program.py"))),
            Tier("run", Jury.of(ConsensusVoting(), CommandJudge("python3 program.py"))),
            Tier("model", Jury.of(ConsensusVoting(), correctness), TierPolicy.FINAL_TIER),
        ]
    )


def test_an_agent_is_evaluated_by_a_cascade(tmp_path: Path) -> None:
    asked: list[str] = []
    result, verdict = evaluate("greet the world", Programmer(), cascade(asked), tmp_path)
    assert result == AgentResult("program.py is written", metadata={"tokens": 512})
    assert (verdict.status, verdict.decided_by) == (PASS, "model")
    assert asked == ["greet the world: program.py is written. Is the goal reached?"]


def test_a_model_is_not_asked_about_a_program_that_does_not_run(tmp_path: Path) -> None:
    asked: list[str] = []
    _, verdict = evaluate("divide by zero", Programmer(), cascade(asked), tmp_path)
    assert (verdict.status, verdict.decided_by) == (FAIL, "run")
    assert asked == []


def test_any_call_can_be_evaluated() -> None:
    @judge(name="polite")
    def polite(context: JudgmentContext) -> Judgment:
        said = context.agent_output or ""
        return Judgment.passed("polite") if "please" in said else Judgment.failed("no please")

    result, verdict = evaluate("ask for tea", lambda: "tea, please", polite)
    assert (result, verdict.status) == ("tea, please", PASS)


def test_a_call_that_raises_is_evaluated_too() -> None:
    def breaks(goal: str) -> str:
        raise TimeoutError("the agent took too long")

    @judge(name="ended well")
    def ended_well(context: JudgmentContext) -> Judgment:
        done = context.execution_status is ExecutionStatus.SUCCESS
        return Judgment.passed("done") if done else Judgment.failed(str(context.error))

    result, verdict = evaluate("make tea", breaks, ended_well)
    assert (result, verdict.status) == (None, FAIL)
    assert verdict.aggregated.reasoning == "TimeoutError: the agent took too long"
    assert verdict.aggregated.metadata["execution"]["status"] == "timeout"
