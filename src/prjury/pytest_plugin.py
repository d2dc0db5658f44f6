"""A plugin of pytest: juries on what a test made, and verdicts that must be PASS.

pytest loads this module at its start, so nothing is imported before a test asks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from prjury.jury.context import JudgmentContext
    from prjury.jury.judgment import Judgment
    from prjury.jury.jury import Jury, Member
    from prjury.jury.verdicts import JuryVerdict, Verdict
    from prjury.jury.voting import VotingStrategy


class JuryFixture:
    """Asks judges about the work of one test, by default in its ``tmp_path``."""

    def __init__(self, workspace: Callable[[], Path]) -> None:
        self._workspace = workspace

    def __call__(
        self,
        *judges: Member[JudgmentContext],
        goal: str = "",
        workspace: Path | None = None,
        voting: VotingStrategy | None = None,
        timeout: float | None = None,
        **facts: Any,  # noqa: ANN401 - fields of the context
    ) -> JuryVerdict:
        """The verdict of these judges, by a consensus; ``facts`` are fields of the context."""
        from prjury.jury.context import JudgmentContext  # noqa: PLC0415 - see above

        context = JudgmentContext(goal, workspace=workspace or self._workspace(), **facts)
        return self._seat(judges, voting).vote(context, timeout=timeout)

    def evaluate(
        self,
        goal: str,
        call: Callable[..., Any],
        *judges: Member[JudgmentContext],
        workspace: Path | None = None,
        voting: VotingStrategy | None = None,
        timeout: float | None = None,
    ) -> tuple[Any, JuryVerdict]:
        """Make a call, such as an agent's, and judge what came of it (`prjury.evaluate`)."""
        from prjury.jury.library.evaluation import evaluate  # noqa: PLC0415 - see above

        place = workspace or self._workspace()
        jury = self._seat(judges, voting)
        return evaluate(goal, call, jury, place, timeout=timeout)

    def _seat(
        self, judges: tuple[Member[JudgmentContext], ...], voting: VotingStrategy | None
    ) -> Jury[JudgmentContext]:
        from prjury.jury.jury import Jury  # noqa: PLC0415 - see above
        from prjury.jury.voting import ConsensusVoting  # noqa: PLC0415 - see above

        return Jury.of(voting or ConsensusVoting(), *judges)


@pytest.fixture
def jury(request: pytest.FixtureRequest) -> JuryFixture:
    """Asks judges about a directory: ``jury(judge, …, goal="…", workspace=…)`` is the verdict."""
    return JuryFixture(lambda: request.getfixturevalue("tmp_path"))


def assert_verdict(verdict: JuryVerdict | Verdict | Judgment, status: str = "pass") -> None:
    """Fail the test, with what to correct, unless the verdict has this status."""
    __tracebackhide__ = True
    from prjury.jury.judgment import Judgment, Status  # noqa: PLC0415 - see above
    from prjury.jury.verdicts import JuryVerdict  # noqa: PLC0415 - see above
    from prjury.jury.voting import Ballot  # noqa: PLC0415 - see above

    if isinstance(verdict, Judgment):
        verdict = JuryVerdict(verdict, (Ballot("the judge", verdict),))
    expected, actual = Status(status), verdict.aggregated.status
    if actual is not expected:
        feedback = "" if actual is Status.PASS else f"\n\n{verdict.feedback()}"
        pytest.fail(f"the verdict is {actual.name}, not {expected.name}\n{verdict}{feedback}")


@pytest.fixture(name="assert_verdict")
def assert_verdict_fixture() -> Callable[..., None]:
    """`assert_verdict`, for tests that do not import it."""
    return assert_verdict
