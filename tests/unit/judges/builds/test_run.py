"""One plan on two trees: what is run when, and what is made of it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from fakes.both_sides import PLAN, run_both, says
from fakes.shell import Scripted, ScriptedShell, SilentProgress
from fakes.trees import TreeRepository
from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.judges.builds.compare import Comparison
from prjury.judges.builds.decide import decide
from prjury.judges.builds.plan import BuildPlan, BuildStep, LeftOutStep, PlanSource
from prjury.judges.builds.workplace import REPOSITORY, Builder
from prjury.jury.judgment import Judgment, Status
from prjury.ports import Ports, Progress
from prjury.ports.types import Completed, ShellCommand

STEP = PLAN.steps[0]
GOING_ON = replace(PLAN, steps=(replace(STEP, all_ran=0),))
PYTEST = replace(PLAN, env={"PYTEST_ADDOPTS": "-q"})
MERGED = {"t.py": "", "part/t.py": ""}


def replace_files(script: Scripted, files: dict[str, str]) -> Scripted:
    return Scripted(script.exit_code, script.output, script.stopped, files)


def run(
    scripts: Sequence[Scripted], plan: BuildPlan = PLAN, **options: Any
) -> tuple[Comparison, list[str]]:
    """Run the plan; the base first."""
    base = {"t.py": "", **({"test_t.py": ""} if options.pop("files", False) else {})}
    return run_both(scripts, plan, MERGED, {"base": base}, **options)


def judge(scripts: Sequence[Scripted], plan: BuildPlan = PLAN, **options: Any) -> Judgment:
    return decide(run(scripts, plan, **options)[0])


def states(judgment: Judgment) -> dict[str, str]:
    return {
        failure["id"].rpartition("#")[2]: failure["state"]
        for failure in judgment.metadata["failures"]
    }


def test_a_build_that_passes_is_tried_once_where_the_base_is_not_asked_for() -> None:
    comparison, commands = run([says(0, "t")], compare="on_failure")
    assert (comparison.base, commands) == (None, ["tool"])


def test_the_base_is_built_first() -> None:
    judgment = judge([says(1, "!t", "u"), says(0, "t", "u")])
    assert judgment.status is Status.PASS, judgment.reasoning


def test_failures_that_end_well_are_read_from_reports() -> None:
    comparison, commands = run([says(0, "!t", "u"), says(0, "!t", "u")], GOING_ON)
    assert commands == ["tool", "tool"]
    judgment = decide(comparison)
    assert (judgment.status, judgment.metadata["note"]) == (Status.PASS, "pre_existing")
    assert states(judgment) == {"t": "pre_existing"}


@pytest.mark.parametrize(
    ("system", "line", "source"),
    [
        ("npm", "mocha --bail", "ci"),
        ("tox", "a && b", "ci"),
        ("make", "make test", "ci"),
        ("make", "make test", "recipe"),
        ("pytest", "pytest -x", "ci"),
    ],
)
def test_lines_that_may_stop_at_an_old_failure_excuse_it_only_by_their_exit_code(
    system: str, line: str, source: PlanSource
) -> None:
    step = BuildStep("test", line)
    plan = BuildPlan(system, (step,), source=source)
    judgment = judge([says(1, "!t", "u")] * 2, plan)
    assert (judgment.status, judgment.metadata["reason"]) == (Status.FAIL, "base_broken")
    shown = judge([says(1, "!t", "u")] * 2, replace(plan, steps=(replace(step, all_ran=1),)))
    assert (shown.status, shown.metadata["note"]) == (Status.PASS, "pre_existing")


@pytest.mark.parametrize(
    ("words", "reason"), [("redis-server: not found", "environment"), ("1 != 2", "base_broken")]
)
def test_tests_that_all_fail_on_both_sides_show_nothing(words: str, reason: str) -> None:
    step = BuildStep("test", "tool", all_ran=1)
    said = says(1, "!t", output=f"./test.sh: 17: {words}\n")
    judgment = judge([said, said], BuildPlan("make", (step,), source="ci"))
    assert (judgment.status, judgment.metadata["reason"]) == (Status.ERROR, reason)
    assert judgment.reasoning.startswith("nothing is known of this change: no test passes")
    one_passes = judge([says(1, "!t"), says(1, "!t", "u")], BuildPlan("make", (step,), source="ci"))
    assert one_passes.status is not Status.ERROR


def test_an_old_failure_hides_no_new_one() -> None:
    broken = says(0, "!t", "!u")
    judgment = judge([says(0, "!t", "u"), broken, broken], GOING_ON)
    assert judgment.status is Status.FAIL
    assert states(judgment) == {"t": "pre_existing", "u": "new"}


def test_a_test_that_no_longer_runs_is_missed() -> None:
    judgment = judge([says(0, "!t", "u"), says(0, "!t")], GOING_ON)
    assert (judgment.status, judgment.reason) == (Status.ABSTAIN, "tests_vanished")


def test_another_exit_code_than_that_of_a_run_to_the_end_proves_nothing() -> None:
    judgment = judge([says(3, "!t", "u"), says(3, "!t", "u")], GOING_ON)
    assert (judgment.status, judgment.reason) == (Status.FAIL, "base_broken")


class TestOtherwise:
    PLAN = replace(PLAN, otherwise=replace(PLAN, steps=(BuildStep("test", ("recipe",)),)))

    def test_it_does_not_pass_a_change_that_breaks_the_build_of_the_base(self) -> None:
        scripts = [Scripted(1, "broken"), says(0, "t"), says(0, "t")]
        comparison, commands = run(scripts, self.PLAN, compare="on_failure")
        assert (decide(comparison).status, commands) == (Status.FAIL, ["tool", "tool"])

    def test_it_stands_in_where_the_base_shows_that_nothing_is_tested(self) -> None:
        scripts = [Scripted(1, "broken"), Scripted(1, "broken"), says(0, "t"), says(0, "t")]
        comparison, commands = run(scripts, self.PLAN, compare="on_failure")
        assert decide(comparison).status is Status.PASS
        assert commands == ["tool", "tool", "recipe", "recipe"]

    def test_it_stands_in_for_no_tests_that_are_only_counted(self) -> None:
        output = "Tests:       1 failed, 2 passed, 3 total\n"
        scripts = [Scripted(1, output), Scripted(1, output), Scripted(1, output)]
        assert "recipe" not in run(scripts, self.PLAN)[1]


def test_old_failures_block_when_told_to_and_the_base_is_left_alone() -> None:
    comparison, commands = run(
        [says(1, "!t")], pre_existing="block", flaky="block", compare="on_failure"
    )
    assert (decide(comparison).status, commands) == (Status.FAIL, ["tool", "tool"])
    assert states(decide(comparison)) == {"t": "new"}


class TestAgain:
    """New failures are run once more, by the runner's own option or all."""

    @pytest.mark.parametrize(
        ("plan", "env"), [(PYTEST, "-q --last-failed --last-failed-no-failures=none"), (PLAN, None)]
    )
    def test_what_passes_then_is_flaky(self, plan: BuildPlan, env: str | None) -> None:
        scripts = [says(0, "t", "u"), says(1, "!t", "u"), says(0, "t", "u")]
        comparison, commands = run(scripts, plan)
        assert (commands, comparison.run.whole) == (["tool"] * 3, env is None)
        judgment = decide(comparison)
        assert judgment.status is Status.PASS, judgment.reasoning
        assert (states(judgment), judgment.metadata["note"]) == ({"t": "flaky"}, "flaky")
        check = next(check for check in judgment.checks if check.name == "test")
        assert check.severity == "warning"

    def test_it_blocks_where_the_policy_says_so(self) -> None:
        scripts = [says(0, "t", "u"), says(1, "!t", "u"), says(0, "t", "u")]
        judgment = judge(scripts, flaky="block")
        assert (judgment.status, states(judgment)) == (Status.FAIL, {"t": "flaky"})

    @pytest.mark.parametrize("plan", [PLAN, PYTEST])
    def test_what_fails_again_is_new(self, plan: BuildPlan) -> None:
        judgment = judge([says(0, "t", "u"), says(1, "!t", "u"), says(1, "!t", "u")], plan)
        assert (judgment.status, states(judgment)) == (Status.FAIL, {"t": "new"})

    def test_another_test_that_fails_then_has_passed_once(self) -> None:
        judgment = judge([says(0, "t", "u"), says(1, "!t", "u"), says(1, "t", "!u")])
        assert states(judgment) == {"t": "flaky", "u": "flaky"}

    @pytest.mark.parametrize(
        "again",
        [says(0), says(0, "other"), Scripted(0), Scripted(-9, stopped="timeout")],
        ids=["silent", "another", "no-report", "stopped"],
    )
    def test_silence_is_no_pass(self, again: Scripted) -> None:
        judgment = judge([says(0, "t", "u"), says(1, "!t", "u"), again])
        assert judgment.status is not Status.PASS, judgment.reasoning

    @pytest.mark.parametrize("again", [says(0), says(0, "other")])
    def test_silence_of_what_was_run_alone_is_followed_by_a_run_of_everything(
        self, again: Scripted
    ) -> None:
        comparison, commands = run([says(0, "t"), says(1, "!t"), again, says(1, "!t")], PYTEST)
        assert (len(commands), comparison.run.whole) == (4, True)
        assert decide(comparison).status is Status.FAIL

    def test_a_compile_error_is_never_a_matter_of_luck(self) -> None:
        broken = says(1, "!t", output="t.py:1: error: bad\na.c:1:1: error: bad\n")
        comparison, commands = run([says(0, "t"), broken])
        assert (decide(comparison).status, len(commands)) == (Status.FAIL, 2)

    def test_many_failing_tests_are_not_run_again(self) -> None:
        many = [f"!t{n}" for n in range(21)]
        assert len(run([says(0, "t"), says(1, *many)])[1]) == 2

    def test_a_tool_that_is_gone_for_it_changes_nothing(self) -> None:
        gone = Scripted(error=CannotJudgeError("gone", reason="tool_missing"))
        judgment = judge([says(0, "t"), says(1, "!t"), gone])
        assert (judgment.status, states(judgment)) == (Status.FAIL, {"t": "new"})

    def test_what_a_flaky_test_hid_is_found(self) -> None:
        steps = (BuildStep("build", "one", all_ran=1), BuildStep("test", "two", all_ran=1))
        plan = BuildPlan("tool", steps)
        scripts = [says(0, "t"), says(0, "v"), says(1, "!t"), says(0, "t"), says(1, "v", "!u")]
        judgment = judge(scripts, plan)
        assert judgment.status is Status.FAIL, judgment.reasoning
        assert states(judgment) == {"t": "flaky", "u": "new"}


class TestNoComparison:
    """A base that shows nothing cannot say that no test is lost."""

    @pytest.mark.parametrize(
        "base",
        [
            Scripted(2, "flag is not there\n"),
            says(2, "!t", output="a.c:1:1: error: bad\n"),
            Scripted(-9, stopped="timeout"),
            Scripted(error=CannotJudgeError("no tool", reason="tool_missing")),
            Scripted(1, "npm error code E503\n"),
        ],
        ids=["failed", "partly", "stopped", "no-tool", "environment"],
    )
    @pytest.mark.parametrize(
        ("vanished", "status"),
        [("ask", Status.ABSTAIN), ("fail", Status.FAIL), ("warn", Status.PASS)],
    )
    def test_the_policy_answers(self, base: Scripted, vanished: str, status: Status) -> None:
        retries = [base] if base.exit_code == 1 else []
        judgment = judge([base, *retries, says(0, "t")], vanished=vanished)
        assert judgment.status is status, judgment.reasoning
        assert judgment.reasoning.startswith("tests not compared: ")
        assert judgment.metadata["note" if status is Status.PASS else "reason"] == "no_comparison"
        (check,) = [check for check in judgment.failed_checks if check.name == "comparison"]
        assert check.severity == ("error" if status is Status.FAIL else "warning")
        assert judgment.metadata["tests"]["vanished"] is None

    def test_a_command_that_may_stop_at_a_failure_shows_not_all(self) -> None:
        plan = BuildPlan("command", (BuildStep("test", "sh check.sh"),), source="policy")
        judgment = judge([says(1, "!t"), says(0, "t")], plan)
        assert judgment.reason == "no_comparison"

    def test_a_project_without_tests_has_none_to_lose(self) -> None:
        assert judge([Scripted(0), says(0, "t")]).status is Status.PASS
        assert judge([Scripted(2, "no flag\n"), Scripted(0)]).status is Status.PASS
        nothing = Scripted(5, "no tests ran in 0.01s\n")
        assert judge([nothing, says(0, "t")]).status is Status.PASS

    def test_a_project_that_the_change_brings_has_no_base(self) -> None:
        plan = replace(PLAN, directory="part")
        assert judge([says(0, "t")], plan).status is Status.PASS
        assert judge([says(1, "!t")], plan).status is Status.FAIL


class TestUntested:
    """Both sides fail alike before a test runs: nothing is known of the change."""

    def test_it_could_not_be_judged(self) -> None:
        fell = Scripted(1, "odd\nerror: no foo.conf\n")
        judgment = judge([fell, fell])
        assert (judgment.status, judgment.reason) == (Status.ERROR, "environment")
        assert set(states(judgment).values()) == {"environment"}
        assert "no foo.conf" in judgment.reasoning
        assert judgment.metadata["snippet"]["text"]
        assert judgment.metadata["remedy"] in judgment.reasoning

    def test_code_of_the_tree_that_breaks_both_is_the_bases(self) -> None:
        fell = Scripted(1, "t.py:1:1: error: bad\n", files={"t.c": ""})
        judgment = judge([fell, fell])
        assert judgment.status is Status.ERROR
        assert judgment.reason in {"environment", "base_broken"}

    def test_another_end_than_the_bases_is_new(self) -> None:
        judgment = judge([Scripted(1, "odd\n"), Scripted(2, "odd\n")])
        assert judgment.status is Status.FAIL

    def test_what_fails_where_the_base_passes_is_new(self) -> None:
        judgment = judge([says(0, "t"), Scripted(1, "No module named 'numpy'\n")])
        assert judgment.status is Status.FAIL

    def test_set_up_is_tried_again_from_the_step_that_failed(self) -> None:
        plan = BuildPlan("tool", (BuildStep("setup", "get"), BuildStep("test", "tool")))
        comparison, commands = run([Scripted(1), Scripted(0), says(0, "t")], plan)
        assert commands == ["get", "get", "tool", "get", "tool"]
        assert decide(comparison).status is Status.PASS


def test_two_builds_that_are_killed_tell_nothing() -> None:
    killed = says(-9, "!t")
    assert judge([killed, killed]).status is not Status.PASS


def test_a_goal_that_gave_up_for_a_flaky_test_follows_from_it() -> None:
    goal = "[ERROR] Failed to execute goal a:b:1:test (default-test) on project p: no.\n"
    broken = says(1, "!t", "u", output=goal)
    judgment = judge([says(0, "t", "u"), broken, says(0, "t", "u")])
    assert (judgment.status, states(judgment)) == (Status.PASS, {"t": "flaky"})
    again = says(1, "t", "u", output=goal)
    assert judge([says(0, "t", "u"), broken, again]).status is Status.FAIL


@pytest.mark.parametrize(
    ("goal", "status"),
    [
        (
            "[ERROR] Failed to execute goal a:checkstyle-plugin:1:check (x) on project p: no.",
            "FAIL",
        ),
        ("* What went wrong:\nExecution failed for task ':checkstyleMain'.", "FAIL"),
        (
            "[ERROR] Failed to execute goal a:b:1:test (x) on project p: There are test failures.",
            "PASS",
        ),
    ],
)
def test_a_linter_that_fails_beside_a_flaky_test_is_no_matter_of_luck(
    goal: str, status: str
) -> None:
    broken = says(1, "!t", "u", output=f"{goal}\n")
    late = says(1, "t", "!u", output=f"{goal}\n")
    judgment = judge([says(0, "t", "u"), broken, late])
    assert judgment.status is Status[status], judgment.reasoning


class TestSeveralTestSteps:
    """A failing test step stops no other one; each has to show by its end that all of it ran."""

    STEPS = tuple(BuildStep("test", name, all_ran=1) for name in ("one", "two"))
    PLAN = BuildPlan("tool", (BuildStep("setup", "get"), *STEPS), source="ci")

    @staticmethod
    def script(exit_code: int, step: str, *cases: str) -> Scripted:
        script = says(exit_code, *cases)
        return replace_files(script, {f"../reports/{step}.xml": script.files["../reports/r.xml"]})

    def run(self, base: Sequence[Scripted], head: Sequence[Scripted]) -> Judgment:
        again = [*head] if any(one.exit_code for one in head) else []
        scripts = [Scripted(0), *base, Scripted(0), *head, Scripted(0), *again]
        comparison, commands = run(scripts, self.PLAN)
        assert commands[:6] == ["get", "one", "two"] * 2
        return decide(comparison)

    def test_an_old_failure_in_one_hides_no_new_one_in_another(self) -> None:
        old, good = self.script(1, "one", "!t", "u"), self.script(0, "two", "v")
        judgment = self.run([old, good], [old, self.script(1, "two", "!v")])
        assert judgment.status is Status.FAIL
        assert states(judgment) == {"t": "pre_existing", "v": "new"}
        assert self.run([old, good], [old, good]).status is Status.PASS

    def test_a_step_that_fails_without_a_cause_is_new(self) -> None:
        old, good = self.script(1, "one", "!t", "u"), self.script(0, "two", "v")
        judgment = self.run([old, good], [old, Scripted(3, "odd\n")])
        assert judgment.status is Status.FAIL

    def test_each_step_has_to_show_that_all_of_it_ran(self) -> None:
        old, cut = self.script(1, "one", "!t", "u"), self.script(2, "two", "!v")
        judgment = self.run([old, cut], [old, cut])
        assert (judgment.status, judgment.reason) == (Status.FAIL, "base_broken")

    def test_what_takes_too_long_ends_the_run(self) -> None:
        late = Scripted(-9, stopped="timeout")
        comparison, _ = run([Scripted(0), says(1, "!t"), late], self.PLAN, compare="on_failure")
        outcome = comparison.outcome
        assert (len(outcome.steps), outcome.deciding_step.stopped) == (3, "timeout")

    @pytest.mark.parametrize("code", [1, None])
    def test_one_that_may_fail_and_always_does_makes_no_change_red(self, code: int | None) -> None:
        may = BuildStep("test", "one", may_fail=True, all_ran=code)
        plan = replace(self.PLAN, steps=(may, BuildStep("test", "two", all_ran=code)))
        old, good = self.script(1, "one", "!t", "u"), self.script(0, "two", "v")
        judgment = judge([old, good, old, good], plan)
        assert judgment.status is Status.PASS, judgment.reasoning
        worse = self.script(1, "one", "!t", "!u")
        judgment = judge([old, good, worse, good, worse, good], plan)
        assert (judgment.status, states(judgment)["u"]) == (Status.FAIL, "new")

    def test_set_up_that_fails_is_not_gone_on_after(self) -> None:
        assert run([Scripted(1)], self.PLAN, compare="on_failure")[1] == ["get"] * 4


def test_tests_of_the_ci_that_cannot_run_here_are_in_the_verdict() -> None:
    steps = [
        LeftOutStep("make e2e", "it wants a secret", tests=True),
        LeftOutStep("sudo apt install x", "it wants rights", "packages"),
    ]
    judgment = judge([says(0, "t")], replace(PLAN, left_out=tuple(steps)))
    assert "`make e2e` (it wants a secret)" in judgment.reasoning
    assert "apt" not in judgment.reasoning


def test_a_base_for_which_there_was_no_time_is_told_how_to_get_more() -> None:
    judgment = judge([Scripted(-9, stopped="timeout"), says(0, "t")])
    assert judgment.metadata["snippet"]["text"] == "limits: {wall: 90m}"


@pytest.mark.parametrize(
    "lines", ["paste: not found\nmvn: not found\n", "mvn: not found\npaste: not found\n"]
)
def test_the_tool_that_is_missing_is_that_of_the_plan(lines: str) -> None:
    step = BuildStep("test", "mvn -pl $(paste -sd, modules) verify")
    plan = BuildPlan("maven", (step,), programs=("mvn",))
    with pytest.raises(CannotJudgeError, match="`mvn` is not installed"):
        run([Scripted(127, lines)], plan)


class TestEmptiedTests:
    """The base fails before a test runs, and the change passes without one."""

    @pytest.mark.parametrize(
        "base",
        [Scripted(2, "flag is not there\n"), Scripted(-9, stopped="timeout")],
        ids=["failed", "stopped"],
    )
    def test_nobody_can_say_which_tests_are_lost(self, base: Scripted) -> None:
        judgment = judge([base, Scripted(0)], files=True)
        assert (judgment.status, judgment.reason) == (Status.ABSTAIN, "no_comparison")


def test_a_step_that_may_fail_is_carried_on_after() -> None:
    steps = (BuildStep("setup", "lint", may_fail=True), BuildStep("test", "tool", all_ran=1))
    plan = BuildPlan("tool", steps)
    comparison, commands = run([Scripted(1, "a.c:1:1: error: x\n"), says(0, "t")] * 2, plan)
    assert commands == ["lint", "tool"] * 2
    assert decide(comparison).status is Status.PASS
    judgment = judge([Scripted(0), says(0, "t"), Scripted(1), says(0, "t")], plan)
    assert (judgment.status, judgment.metadata["failures"][0]["kind"]) == (Status.FAIL, "goal")


def test_the_recipe_is_taken_where_the_plan_of_the_ci_runs_no_test_on_the_base() -> None:
    recipe = replace(PLAN, steps=(BuildStep("test", "recipe"),))
    plan = replace(PLAN, otherwise=recipe)
    comparison, commands = run([Scripted(1, "x\n"), says(0, "t"), says(0, "t")], plan)
    assert commands == ["tool", "recipe", "recipe"]
    assert decide(comparison).status is Status.PASS


def test_new_failures_are_told_before_old_ones() -> None:
    old = [f"!t{number}" for number in range(250)]
    judgment = judge([says(1, *old, "u"), says(1, *old, "!u")])
    assert judgment.status is Status.FAIL
    told = [check for check in judgment.failed_checks if check.name in {"test", "more-failures"}]
    assert (told[0].message, told[0].severity) == ("a#u: no", "error")
    assert {check.severity for check in told[1:]} == {"warning"}
    assert (told[-1].name, told[-1].message) == ("more-failures", "51 more in the log")
    assert len(judgment.metadata["failures"]) == 200


def test_a_tree_is_a_repository_with_a_tag() -> None:
    class Noting(ScriptedShell):
        def run(self, command: ShellCommand, deadline: Deadline, progress: Progress) -> Completed:
            noted.append((command.argv, command.env.get("PRJURY_TAG")))
            return super().run(command, deadline, progress)

    noted = list[tuple[object, str | None]]()
    repository, shell = TreeRepository({"merged": {"t.py": ""}}), Noting([says(0, "t")])
    builder = Builder(Ports(repository, shell, SilentProgress()), tag="v1.2")
    deadline = Deadline.after(60)
    with builder.open_tree("merged", deadline) as place:
        place.run_with_retry_and_pack(PLAN, deadline)
    assert noted == [(REPOSITORY, "v1.2"), (("tool",), None)]


@pytest.mark.parametrize(("tag", "told"), [("v1.4.2", "v1.4.2"), ("", "")])
def test_the_repository_knows_the_tag_and_nothing_else(tmp_path: Path, tag: str, told: str) -> None:
    (tmp_path / ".gitignore").write_text("a\n")
    (tmp_path / "a").write_text("1")
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PRJURY_TAG": tag}

    def printed(command: str) -> str:
        argv = ["/bin/sh", "-c", command]
        done = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, check=False)
        return done.stdout.decode().strip()

    printed(REPOSITORY)
    assert printed("git describe --tags --dirty") == told
    assert printed("git ls-files") == ".gitignore\na"
    assert printed("git rev-list --count HEAD") == "1"
    assert printed("git remote; cat .git/objects/info/alternates") == ""
