from __future__ import annotations

from pathlib import Path

import pytest

from prjury.jury.context import JudgmentContext
from prjury.jury.judgment import Check, Judgment
from prjury.jury.library.agent import AgentResult
from prjury.jury.library.improvement import improve


def wants_a_changelog(context: JudgmentContext) -> Judgment:
    assert context.workspace is not None
    if (context.workspace / "CHANGELOG.md").exists():
        return Judgment.passed("there is one")
    check = Check.bad("changelog", "no entry", fix="write CHANGELOG.md")
    return Judgment.failed("no changelog", checks=[check])


def test_feedback_alone_takes_an_agent_to_a_pass(tmp_path: Path) -> None:
    asked: list[str] = []

    def agent(goal: str, workspace: Path) -> str:
        asked.append(goal)
        if "write CHANGELOG.md" in goal:
            (workspace / "CHANGELOG.md").write_text("- it works")
        return f"attempt {len(asked)}"

    done = improve("release it", agent, wants_a_changelog, 3, tmp_path)
    assert (done.passed, done.stopped, len(done.rounds)) == (True, "passed", 2)
    assert done.result == "attempt 2"
    assert asked[0] == "release it"
    assert asked[1].startswith("release it\n\nThis is attempt 2.")
    assert done.rounds[0].feedback in asked[1]
    assert done.rounds[1].feedback == ""


def test_it_stops_when_nothing_changes(tmp_path: Path) -> None:
    done = improve("g", lambda goal: "no", wants_a_changelog, 9, tmp_path)
    assert (done.passed, done.stopped, len(done.rounds)) == (False, "no_progress", 2)


def test_it_stops_after_the_last_round(tmp_path: Path) -> None:
    def count(context: JudgmentContext) -> Judgment:
        return Judgment.failed(f"round {context.metadata['round']} is not enough")

    done = improve("g", lambda: "x", count, 3, tmp_path)
    assert (done.stopped, len(done.rounds)) == ("max_rounds", 3)
    assert done.verdict.ballots[0].judgment.reasoning == "round 3 is not enough"  # type: ignore[union-attr]


def test_it_stops_where_nobody_can_judge() -> None:
    done = improve("g", lambda: "x", lambda _: Judgment.errored("no JDK"))
    assert (done.stopped, len(done.rounds)) == ("not_judged", 1)


def test_judges_see_the_goal_as_it_was_given() -> None:
    def judge(context: JudgmentContext) -> Judgment:
        assert context.goal == "g"
        assert context.metadata["baseline"] == 50
        return Judgment.failed(f"{context.metadata['round']}")

    done = improve("g", lambda goal: AgentResult("x"), judge, 2, metadata={"baseline": 50})
    assert [one.verdict.aggregated.reasoning[-1] for one in done.rounds] == ["1", "2"]


def test_there_is_at_least_one_round() -> None:
    with pytest.raises(ValueError, match=r"^there is at least one round, not 0$"):
        improve("g", lambda: "x", wants_a_changelog, 0)
