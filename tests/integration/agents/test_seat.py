"""Agents as judges of a policy, on a real repository."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from integration.agents.places import repository, review
from prjury.jury.judgment import Judgment, Status
from prjury.report.model import Report


def seated(agent: dict[str, Any], *others: Any, **tier: Any) -> dict[str, Any]:
    judges = ["merge", *others, {"agent": {"goal": "Is it fine?", **agent}}]
    return {"tiers": [{"name": "only", "policy": "final_tier", "judges": judges, **tier}]}


def said(report: Report) -> Judgment:
    assert report.verdict.attempts[0].verdict
    return report.verdict.attempts[0].verdict.by_name["agent"]


def test_an_agent_lowers_what_programs_say(tmp_path: Path) -> None:
    looks = "cat > goal.txt; grep -q sum_of shop/price.py && grep -q shop/price.py goal.txt"
    agent = {"command": f"{looks} && echo 'Answer: NO\nReasoning: renamed'"}
    report = review(repository(tmp_path), seated(agent))
    assert (said(report).status, report.verdict.status) == (Status.FAIL, Status.FAIL)
    assert said(report).reasoning == "renamed (the agent changed 1 file: undone)"


def test_an_agent_lifts_nothing(tmp_path: Path) -> None:
    voting = {"majority": {"tie": "fail"}}
    broken = {"build": {"command": "! grep -q sum_of shop/price.py"}}
    policy = seated({"command": "echo 'Answer: YES'"}, broken, voting=voting)
    report = review(repository(tmp_path), policy)
    assert said(report).status is Status.PASS
    assert report.verdict.status is Status.FAIL


def test_it_gets_no_secret_but_its_own(tmp_path: Path) -> None:
    command = 'echo "Answer: NO"; echo "Reasoning: $AGENT_API_KEY,$OPENAI_API_KEY,$GITHUB_TOKEN"'
    report = review(
        repository(tmp_path),
        seated({"command": command, "env": ["AGENT_API_KEY"]}),
        AGENT_API_KEY="mine",
        GITHUB_TOKEN="a-token",
        OPENAI_API_KEY="other",
    )
    assert said(report).reasoning == "mine,,"


def test_an_agent_that_breaks_or_is_not_there_is_no_verdict(tmp_path: Path) -> None:
    place = repository(tmp_path)
    broken = said(review(place, seated({"command": "exit 7"})))
    assert (broken.status, broken.metadata["reason"]) == (Status.ERROR, "agent_failed")
    keyless = said(review(place, seated({"command": "true", "env": ["AGENT_API_KEY"]})))
    assert (keyless.status, keyless.label) == (Status.ABSTAIN, "not_configured")
