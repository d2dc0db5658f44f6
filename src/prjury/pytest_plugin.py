"""A plugin of pytest: juries on what a test made, and verdicts that must be PASS.

pytest loads this module at its start; the names of `prjury` are imported when they are used.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import prjury

if TYPE_CHECKING:
    from prjury.jury.jury import Member


class JuryFixture:
    """Asks judges about the work of one test, by default in its ``tmp_path``."""

    def __init__(self, workspace: Callable[[], Path]) -> None:
        self._workspace = workspace

    def __call__(
        self,
        *judges: Member[prjury.JudgmentContext],
        goal: str = "",
        workspace: Path | None = None,
        voting: prjury.VotingStrategy | None = None,
        timeout: float | None = None,
        **facts: Any,  # noqa: ANN401 - fields of the context
    ) -> prjury.JuryVerdict:
        """The verdict of these judges, by a consensus; ``facts`` are fields of the context."""
        place = workspace or self._workspace()
        context = prjury.JudgmentContext(goal, workspace=place, **facts)
        jury = prjury.Jury.of(voting or prjury.ConsensusVoting(), *judges)
        return jury.vote(context, timeout=timeout)

    def evaluate(
        self,
        goal: str,
        call: Callable[..., Any],
        *judges: Member[prjury.JudgmentContext],
        workspace: Path | None = None,
        voting: prjury.VotingStrategy | None = None,
        timeout: float | None = None,
    ) -> tuple[Any, prjury.JuryVerdict]:
        """Make a call, such as an agent's, and judge what came of it (`prjury.evaluate`)."""
        jury = prjury.Jury.of(voting or prjury.ConsensusVoting(), *judges)
        return prjury.evaluate(goal, call, jury, workspace or self._workspace(), timeout=timeout)


@pytest.fixture
def jury(request: pytest.FixtureRequest) -> JuryFixture:
    """Asks judges about a directory: ``jury(judge, …, goal="…", workspace=…)`` is the verdict."""
    return JuryFixture(lambda: request.getfixturevalue("tmp_path"))


def assert_verdict(
    verdict: prjury.JuryVerdict | prjury.Verdict | prjury.Judgment, status: str = "pass"
) -> None:
    """Fail the test, with what to correct, unless the verdict has this status."""
    __tracebackhide__ = True
    if isinstance(verdict, prjury.Judgment):
        verdict = prjury.JuryVerdict(verdict, (prjury.Ballot("the judge", verdict),))
    expected, actual = prjury.Status(status), verdict.aggregated.status
    if actual is not expected:
        feedback = "" if actual is prjury.Status.PASS else f"\n\n{verdict.feedback()}"
        pytest.fail(f"the verdict is {actual.name}, not {expected.name}\n{verdict}{feedback}")


@pytest.fixture(name="assert_verdict")
def assert_verdict_fixture() -> Callable[..., None]:
    """`assert_verdict`, for tests that do not import it."""
    return assert_verdict
