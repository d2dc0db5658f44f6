"""One plan on two trees: what is run when, and what is made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from fakes.shell import Scripted, ScriptedShell, SilentProgress
from fakes.trees import TreeRepository
from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.judges.builds.decide import decide
from prjury.judges.builds.failure import Failure
from prjury.judges.builds.outcome import BuildResult
from prjury.judges.builds.plan import BuildPlan, BuildStep
from prjury.judges.builds.run import Builder, BuildSide, ComparisonRun
from prjury.jury.judgment import Judgment, Status
from prjury.policy.schema import BuildOptions
from prjury.ports import Ports

THOROUGH = BuildPlan("tool", (BuildStep("test", ("tool", "--go-on")),), all_ran=0)


def alone(failures: Sequence[Failure]) -> tuple[BuildStep, ...]:
    return tuple(BuildStep("test", ("tool", str(failure.name))) for failure in failures)


PLAN = BuildPlan(
    "tool", (BuildStep("test", ("tool",)),), all_ran=1, keep_going=THOROUGH, rerun_failed=alone
)


def says(exit_code: int, *cases: str, name: str = "r") -> Scripted:
    """What the tool leaves behind: ``name`` for a passing test, ``!name`` for a failing one."""
    inner = {"!": '<failure message="no"/>'}
    text = "".join(
        f'<testcase classname="a" name="{case.strip("!")}" file="t.py">'
        f"{inner.get(case[0], '')}</testcase>"
        for case in cases
    )
    return Scripted(exit_code, files={f"../reports/{name}.xml": f"<testsuite>{text}</testsuite>"})


def tried(
    scripts: Sequence[Scripted], plan: BuildPlan = PLAN, **options: Any
) -> tuple[BuildResult, list[str]]:
    files = {"t.py": "", "part/t.py": ""}
    repository = TreeRepository({"merged": files, "base": {"t.py": ""}})
    shell = ScriptedShell(scripts)
    builder = Builder(Ports(repository, shell, SilentProgress()))
    merged, base = (BuildSide(name, repository.files(name)) for name in ("merged", "base"))
    case = ComparisonRun(builder, merged, base, BuildOptions(**options)).case(
        plan, Deadline.after(60)
    )
    return case, [command.text for command in shell.commands]


def judged(scripts: Sequence[Scripted], plan: BuildPlan = PLAN, **options: Any) -> Judgment:
    return decide(tried(scripts, plan, **options)[0])


def states(judgment: Judgment) -> dict[str, str]:
    return {
        found["id"].rpartition("#")[2]: found["state"] for found in judgment.metadata["failures"]
    }


def test_a_build_that_passes_is_tried_once_where_the_base_is_not_asked_for() -> None:
    case, commands = tried([says(0, "t")], compare="on_failure")
    assert commands == ["tool"]
    assert (case.base, case.ran_again) == (None, 0)


def test_the_base_can_be_built_in_any_case_and_tells_what_is_mended() -> None:
    judgment = judged([says(0, "t", "u"), says(1, "!t", "u")], compare="always")
    assert judgment.status is Status.PASS
    assert judgment.metadata["fixed"] == ("test:t.py:a#t",)
    assert "fixes a#t, which the base fails" in judgment.reasoning


def test_a_test_that_is_gone_is_not_mended() -> None:
    judgment = judged([says(0, "u"), says(1, "!t", "u")], compare="always")
    assert judgment.metadata["fixed"] == ()
    assert "fixes" not in judgment.reasoning


def test_old_failures_are_tried_again_without_stopping() -> None:
    scripts = [says(1, "!t"), says(1, "!t"), says(0, "!t", "u"), says(0, "!t", "u")]
    case, commands = tried(scripts)
    assert commands == ["tool", "tool", "tool --go-on", "tool --go-on"]
    assert case.first is not None
    judgment = decide(case)
    assert judgment.status is Status.PASS
    assert judgment.metadata["note"] == "pre_existing"
    assert states(judgment) == {"t": "pre_existing"}


def test_what_an_old_failure_hid_is_found_by_going_on() -> None:
    scripts = [says(1, "!t"), says(1, "!t"), says(0, "!t", "u"), says(0, "!t", "!u")]
    judgment = judged(scripts)
    assert judgment.status is Status.FAIL
    assert states(judgment) == {"t": "pre_existing", "u": "new"}
    assert ": t.py: no" in judgment.reasoning


def test_a_test_that_no_longer_runs_is_missed() -> None:
    scripts = [says(1, "!t"), says(1, "!t"), says(0, "!t", "u"), says(0, "!t")]
    judgment = judged(scripts)
    assert (judgment.status, judgment.metadata["reason"]) == (Status.ABSTAIN, "tests_vanished")
    assert "1 test that ran on the base did not run here, such as t.py a u" in judgment.reasoning


def test_another_exit_code_than_that_of_a_run_to_the_end_proves_nothing() -> None:
    scripts = [says(1, "!t"), says(1, "!t"), says(3, "!t", "u"), says(3, "!t", "u")]
    judgment = judged(scripts)
    assert (judgment.status, judgment.metadata["reason"]) == (Status.FAIL, "base_broken")
    assert "exit code 3 does not show that every test ran" in judgment.reasoning


def test_old_failures_block_when_told_to_and_the_base_is_left_alone() -> None:
    case, commands = tried([says(1, "!t")], pre_existing="block")
    assert (decide(case).status, commands) == (Status.FAIL, ["tool"])
    assert states(decide(case)) == {"t": "new"}


def test_a_test_that_passes_when_run_again_alone_is_flaky_and_still_fails() -> None:
    scripts = [says(1, "!t", "u"), says(0, "t", "u"), says(0, "t")]
    case, commands = tried(scripts)
    assert commands == ["tool", "tool", "tool a#t"]
    judgment = decide(case)
    assert judgment.status is Status.FAIL
    assert (states(judgment), judgment.metadata["ran_again"]) == ({"t": "flaky"}, 1)
    told = next(check for check in judgment.checks if check.name == "test")
    assert told.message == "a#t: no (flaky: it passed when it was run again alone)"
    assert told.severity == "error"


def test_a_flaky_test_is_a_warning_where_the_policy_says_so_and_nothing_else_fails() -> None:
    scripts = [says(1, "!t", "u"), says(0, "t", "u"), says(0, "t"), says(0, "t", "u")]
    case, commands = tried(scripts, flaky="warn")
    assert commands[-1] == "tool --go-on"
    judgment = decide(case)
    assert judgment.status is Status.PASS, judgment.reasoning
    assert (states(judgment), judgment.metadata["note"]) == ({"t": "flaky"}, "flaky")
    assert judgment.reasoning.startswith("1 flaky test passed when run again; every test")
    assert {check.severity for check in judgment.failed_checks} == {"warning", "error"}


@pytest.mark.parametrize(
    "plan", [PLAN, replace(PLAN, keep_going=None)], ids=["going-on", "as-it-is"]
)
def test_what_fails_again_with_the_others_is_no_matter_of_luck(plan: BuildPlan) -> None:
    scripts = [says(1, "!t", "u"), says(0, "t", "u"), says(0, "t"), says(1, "!t", "u")]
    judgment = judged(scripts, plan=plan, flaky="warn")
    assert (judgment.status, states(judgment)) == (Status.FAIL, {"t": "new"})
    told = next(check for check in judgment.checks if check.name == "test")
    assert told.message == "a#t: no (passes alone, fails again with the others)"


def test_what_a_flaky_test_hid_is_found_by_going_on() -> None:
    scripts = [says(1, "!t"), says(0, "t", "u"), says(0, "t"), says(0, "!t", "!u")]
    judgment = judged(scripts, flaky="warn")
    assert judgment.status is Status.FAIL
    assert states(judgment) == {"t": "new", "u": "new"}


@pytest.mark.parametrize(
    "again",
    [says(1, "!t"), says(0), says(0, "other"), Scripted(0), Scripted(-9, stopped="timeout")],
    ids=["fails", "silent", "another", "no-report", "stopped"],
)
def test_silence_is_no_pass(again: Scripted) -> None:
    scripts = [says(1, "!t", "u"), says(0, "t", "u"), again]
    judgment = judged(scripts, flaky="warn")
    assert (judgment.status, states(judgment)) == (Status.FAIL, {"t": "new"})


def test_a_compile_error_is_never_a_matter_of_luck() -> None:
    broken = Scripted(1, "a.c:1: error: bad\n", files=says(1, "!t").files)
    scripts = [broken, says(0, "t"), says(0, "t")]
    judgment = judged(scripts, flaky="warn")
    assert judgment.status is Status.FAIL


def test_a_tool_that_is_gone_for_the_second_run_changes_nothing() -> None:
    gone = Scripted(error=CannotJudgeError("gone", reason="tool_missing"))
    judgment = judged([says(1, "!t"), says(0, "t"), gone])
    assert (judgment.status, states(judgment)) == (Status.FAIL, {"t": "new"})


def test_many_failing_tests_are_not_run_again() -> None:
    many = [f"!t{n}" for n in range(21)]
    _, commands = tried([says(1, *many), says(0, "t")])
    assert commands == ["tool", "tool"]


def test_a_project_that_the_change_brings_has_no_base() -> None:
    plan = replace(PLAN, directory="part", rerun_failed=None, keep_going=None)
    judgment = judged([says(1, "!t")], plan)
    assert judgment.status is Status.FAIL
    assert "there is no directory `part` in this tree" in judgment.reasoning


def test_a_base_that_runs_out_of_time_tells_nothing() -> None:
    judgment = judged(
        [says(1, "!t"), Scripted(-9, stopped="timeout")], replace(PLAN, rerun_failed=None)
    )
    assert judgment.status is Status.FAIL
    assert "its own build was stopped (timeout)" in judgment.reasoning


def test_two_builds_that_are_killed_tell_nothing() -> None:
    scripts = [says(1, "!t", "u"), says(1, "!t", "u"), says(-9, "!t"), says(-9, "!t")]
    judgment = judged(scripts, replace(PLAN, keep_going=replace(THOROUGH, all_ran=None)))
    assert (judgment.status, judgment.metadata["reason"]) == (Status.FAIL, "base_broken")
    assert "the build of the merged tree was cut off" in judgment.reasoning


def test_a_base_that_runs_out_of_time_in_the_second_run_proves_nothing() -> None:
    scripts = [says(1, "!t"), says(1, "!t"), Scripted(-9, stopped="timeout", files=says(0).files)]
    judgment = judged(scripts)
    assert (judgment.status, states(judgment)) == (Status.FAIL, {"t": "pre_existing"})
    assert judgment.metadata["reason"] == "base_broken"
    assert "no time to run it again without stopping at failures" in judgment.reasoning


def test_a_change_that_runs_out_of_time_in_the_second_run_proves_nothing() -> None:
    late = Scripted(-9, stopped="timeout", files=says(0).files)
    judgment = judged([says(1, "!t"), says(1, "!t"), says(0, "!t"), late])
    assert (judgment.status, judgment.metadata["reason"]) == (Status.FAIL, "base_broken")


GOAL = (
    "[ERROR] Failed to execute goal a:b:1:test (default-test) on project p: "
    "There are test failures.\n"
)


def test_a_goal_that_gave_up_for_a_flaky_test_is_tried_once_more() -> None:
    plan = replace(PLAN, keep_going=None)
    broken = Scripted(1, GOAL, files=says(1, "!t", "u").files)
    case, commands = tried(
        [broken, says(0, "t", "u"), says(0, "t"), says(0, "t", "u")], plan, flaky="warn"
    )
    assert commands == ["tool", "tool", "tool a#t", "tool"]
    judgment = decide(case)
    assert judgment.status is Status.PASS, judgment.reasoning
    assert (states(judgment), judgment.metadata["note"]) == ({"t": "flaky"}, "flaky")


def test_what_fails_besides_is_not_excused_by_a_flaky_test() -> None:
    plan = replace(PLAN, keep_going=None)
    broken = Scripted(1, GOAL, files=says(1, "!t", "u").files)
    again = Scripted(1, GOAL, files=says(1, "t", "u").files)
    judgment = judged([broken, says(0, "t", "u"), says(0, "t"), again], plan, flaky="warn")
    assert judgment.status is Status.FAIL


def test_a_flaky_test_is_excused_by_another_run_of_everything() -> None:
    plan = replace(PLAN, keep_going=None)
    scripts = [says(1, "!t"), says(0, "t"), says(0, "t"), says(0, "t")]
    case, commands = tried(scripts, plan, flaky="warn")
    assert (decide(case).status, commands) == (Status.PASS, ["tool", "tool", "tool a#t", "tool"])


def test_a_second_run_may_have_a_form_of_its_own() -> None:
    afresh = replace(PLAN, keep_going=None, steps=(BuildStep("test", ("tool", "--afresh")),))
    plan = replace(PLAN, keep_going=None, rerun=afresh)
    scripts = [says(1, "!t"), says(0, "t"), says(0, "t"), says(0, "t")]
    assert tried(scripts, plan, flaky="warn")[1][-1] == "tool --afresh"


def test_new_failures_are_told_before_old_ones() -> None:
    old = [f"!t{number}" for number in range(250)]
    plan = replace(PLAN, keep_going=None, rerun_failed=None)
    judgment = judged([says(1, *old, "!u"), says(1, *old, "u")], plan)
    assert judgment.status is Status.FAIL
    told = [check for check in judgment.failed_checks if check.name in {"test", "more-failures"}]
    assert (told[0].message, told[0].severity) == ("a#u: no", "error")
    assert {check.severity for check in told[1:]} == {"warning"}
    assert (told[-1].name, told[-1].message) == ("more-failures", "51 more in the log")
    assert judgment.metadata["failures"][0]["state"] == "new"
    assert len(judgment.metadata["failures"]) == 200


class Tagged(TreeRepository):
    """Trees at a version; asking for it is noted."""

    asked: int = 0

    def nearest_tag(self, commit: str) -> str:
        Tagged.asked += 1
        return "v1.2.3" if commit == "base" else ""


@pytest.mark.parametrize(
    ("env", "told", "asked"), [({"V": "{version}"}, "1.2.3", 1), ({}, None, 0)]
)
def test_git_is_asked_for_a_version_where_a_plan_wants_it(
    env: dict[str, str], told: str | None, asked: int
) -> None:
    Tagged.asked = 0
    repository, shell = Tagged({"merged": {"t.py": ""}}), ScriptedShell([says(0, "t")])
    builder = Builder(Ports(repository, shell, SilentProgress()), base="base")
    with builder.opened("merged", repository.files("merged")) as place:
        place.run(replace(PLAN, env=env), Deadline.after(60))
        place.run(replace(PLAN, env=env), Deadline.after(60))
    assert {command.env.get("V") for command in shell.commands} == {told}
    assert Tagged.asked == asked
