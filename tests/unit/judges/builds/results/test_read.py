"""Reports and logs together."""

from __future__ import annotations

from prjury.judges.builds.failure import Results, make_failure
from prjury.judges.builds.results.read import LogResults, merge_results
from prjury.judges.builds.results.runner_output import RunnerOutput

TEST = make_failure("test", "no", "t.py", 1, "t#a", "t.py")
GOAL = make_failure("goal", "py: exit 1", name="py")


def test_a_goal_gives_up_for_a_test_that_a_report_tells_of() -> None:
    log = LogResults(by_runner={"pytest": RunnerOutput([(1, TEST)], [TEST.id])}, others=[(2, GOAL)])
    reports = Results(files=1, tests=1, failures=(TEST,), ran=(TEST.id,), by_runner={"pytest": 1})
    failures, _ = merge_results([log], reports, reported=False)
    assert [(failure.kind, failure.message) for failure in failures] == [
        ("test", "no"),
        ("goal", "py: exit 1"),
    ]


def test_a_goal_without_any_cause_stands_for_itself() -> None:
    failures, _ = merge_results([LogResults(others=[(2, GOAL)])], Results(), reported=False)
    assert [failure.kind for failure in failures] == ["error"]
