"""A run in which nobody voted for the change is not green, whatever the policy says of the gate."""

from __future__ import annotations

from pathlib import Path

import pytest

from e2e.conftest import Prjury
from fakes.history import History

PROMPT = "{prompt: {name: docs, text: 'Read {{ change }}', criteria: {docs: 'Is it documented?'}}}"
ONLY_A_MODEL = f"version: 1\ntiers: [{{name: quality, policy: final_tier, judges: [{PROMPT}]}}]\n"
BLOCKING = ONLY_A_MODEL.replace("policy: final_tier", "policy: final_tier, advisory: false")
ONLY_ADVICE = (
    "version: 1\ntiers: [{name: build, policy: final_tier, advisory: true, judges: [merge]}]\n"
)
LENIENT = "gate: {block_on: [], not_configured: pass, coverage_floor: 0}\n"


@pytest.fixture
def project(tmp_path: Path) -> History:
    history = History(tmp_path / "calc")
    history.commit({"calc.py": "a = 1\n"}, "start")
    history.switch("change", create=True)
    history.commit({"calc.py": "a = 2\n"}, "Change a")
    return history


@pytest.mark.parametrize("gate", ["", LENIENT])
@pytest.mark.parametrize("policy", [ONLY_A_MODEL, BLOCKING, ONLY_ADVICE])
def test_a_jury_in_which_nobody_voted(
    project: History, prjury: Prjury, tmp_path: Path, policy: str, gate: str
) -> None:
    (tmp_path / "try.yml").write_text(policy + gate)
    sides = ("--repo", project.path, "--base", "main", "--head", "change")
    run = prjury("review", *sides, "--config", tmp_path / "try.yml", "--format", "json")
    assert run.code == 3, run.err
    verdict = run.report["verdict"]
    assert (verdict["gate"], verdict["decided_by"]) == ("action_required", None)
    assert "Ready" not in verdict["headline"]
    if policy is BLOCKING and gate:
        assert "docs: no model key is set (OPENAI_API_KEY" in verdict["headline"]
    if gate:
        assert verdict["status"] == "abstain"
        assert verdict["headline"].startswith("⚪ Could not be judged: nobody voted for it")


def test_beside_a_vote_a_missing_key_closes_nothing(project: History, prjury: Prjury) -> None:
    sides = ("--repo", project.path, "--base", "main", "--head", "change", "--no-build")
    run = prjury("review", *sides, "--format", "json")
    assert (run.code, run.report["verdict"]["decided_by"]) == (0, "version-patterns"), run.err


@pytest.mark.parametrize("command", ["review", "backport", "judge"])
def test_a_model_that_is_named_and_has_no_key_is_a_usage_error(
    project: History, prjury: Prjury, command: str
) -> None:
    model = "anthropic:claude-x"
    sides = ["--repo", project.path, "--base", "main", "--head", "change", "--model", model]
    args = {
        "review": sides,
        "backport": [*sides, "--onto", "main"],
        "judge": ["quality", "--workspace", project.path, "--option", f"model={model}"],
    }[command]
    run = prjury(command, *args, env={"OPENAI_API_KEY": "sk-another-providers"})
    assert run.code == 2, run.err
    assert "no key for anthropic is set (ANTHROPIC_API_KEY)" in run.complaint
    assert run.out == ""
