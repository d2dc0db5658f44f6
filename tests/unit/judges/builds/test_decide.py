"""What a build's judgment rests on: checks, and metadata for programs."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec import structs

from prjury.judges.builds import decide
from prjury.judges.builds.compare import Comparison
from prjury.judges.builds.decide import decide_untried, make_checks, make_metadata
from prjury.judges.builds.environment import Snippet, make_reason_facts
from prjury.judges.builds.evidence import Run, StepRun, TreeRun
from prjury.judges.builds.failure import Failure, Results, make_failure
from prjury.judges.builds.plan import BuildPlan, BuildStep
from prjury.judges.builds.toolchains import WantedVersion
from prjury.judges.builds.wording import say_passed
from prjury.jury.judgment import Check, Location
from prjury.policy.tiers import BuildOptions

STEP = BuildStep("test", ("make", "test"))
PLAN = BuildPlan("make", (STEP,), ("Makefile has the target test",))


def outcome(
    failures: Sequence[Failure] = (),
    results: Results | None = None,
    exit_code: int | None = 1,
    stopped: str | None = None,
    tail: str = "the end",
) -> TreeRun:
    step = StepRun("test", "make test", exit_code, stopped, 1.25, tail, "/logs/1.log")
    return TreeRun((step,), 60.0, tuple(failures), results or Results())


def compared(
    of: TreeRun,
    plan: BuildPlan = PLAN,
    known: str = "",
    options: BuildOptions | None = None,
    **run: object,
) -> Comparison:
    ran = Run(of, **run)  # type: ignore[arg-type] # fields of a run
    return Comparison(plan, ran, of, frozenset(known.split()), options or BuildOptions())


def checks(of: TreeRun, plan: BuildPlan = PLAN, known: str = "") -> dict[str, list[Check]]:
    named: dict[str, list[Check]] = {}
    for check in make_checks(compared(of, plan, known)):
        named.setdefault(check.name, []).append(check)
    return named


def failing(number: int) -> list[Failure]:
    return [make_failure("test", "no", "t.py", n + 1, f"t{n}", "t.py") for n in range(number)]


def test_the_command_with_how_it_ended_and_its_last_lines() -> None:
    (check,) = checks(outcome())["build-executed"]
    assert (check.passed, check.message) == (False, "`make test`: exit code 1, 1.2 s")
    assert check.evidence == "the end"
    (check,) = checks(outcome(stopped="timeout", tail=""))["build-executed"]
    assert (check.message, check.evidence) == ("`make test`: stopped: timeout, 1.2 s", None)
    assert checks(outcome(exit_code=0))["build-executed"][0].passed


def test_each_failing_test_is_a_check_up_to_two_hundred() -> None:
    found = checks(outcome(failing(210)))
    assert [check.message for check in found["test"]] == [f"t{n}: no" for n in range(200)]
    assert [check.message for check in found["more-failures"]] == ["10 more in the log"]
    assert "more-failures" not in checks(outcome(failing(200)))


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        ("compile", "compiles", "bad"),
        ("test", "test", "it: bad"),
        ("error", "build-error", "bad"),
        ("goal", "build-goal", "bad"),
    ],
)
def test_each_kind_has_its_check(kind: str, name: str, message: str) -> None:
    failure = Failure(kind, "bad", "a.c", 3, "it")  # type: ignore[arg-type]  # one of the four
    (check,) = checks(outcome([failure]), known="a.c")[name]
    assert (check.passed, check.message, check.evidence) == (False, message, "bad")
    assert check.location == Location("a.c", 3)
    assert check.severity == "error"


@pytest.mark.parametrize(
    ("reports", "failures", "exit_code", "passed", "message"),
    [
        (Results(2, 12), 0, 0, True, "12 tests in 2 reports, 0 failed"),
        (Results(2, 12), 3, 1, False, "12 tests in 2 reports, 3 failed"),
        (Results(2, 12), 0, 1, False, "12 tests in 2 reports, but the build failed"),
        (Results(tests=5), 1, 1, False, "5 tests named in the log, 1 failed"),
        (Results(counted=7), 2, 1, False, "7 tests counted in the log, 2 failed"),
        (
            Results(1, 5, counted=7),
            0,
            0,
            True,
            "5 tests in 1 report and 7 tests counted in the log, 0 failed",
        ),
        (Results(), 2, 1, False, "2 failed"),
        (Results(), 0, 0, True, "no test reports; the exit code says so"),
    ],
)
def test_whether_tests_passed_and_who_says_so(
    reports: Results, failures: int, exit_code: int, passed: bool, message: str
) -> None:
    (check,) = checks(outcome(failing(failures), reports, exit_code))["tests-passed"]
    assert (check.passed, check.message) == (passed, message)


def test_tests_that_were_not_reached_or_are_not_part_of_it_are_not_spoken_of() -> None:
    compile_error = make_failure("compile", "bad", "a.c", 1)
    assert "tests-passed" not in checks(outcome([compile_error]))
    plan = BuildPlan("make", (BuildStep("build", ("make", "all")),))
    assert "tests-passed" not in checks(outcome(exit_code=0), plan)


def test_what_programs_may_want_to_know() -> None:
    failures = failing(250)
    metadata = make_metadata(compared(outcome(failures, Results(counted=300))))
    assert metadata["tests"] == {
        "run": 300, "failed": 250, "skipped": 0, "vanished": None, "base": None,
    }  # fmt: skip
    assert metadata["failure_counts"] == {"new": {"test": 250}}
    assert metadata["exit_code"] == 1
    assert metadata["seconds"] == 1.2
    assert metadata["log"] == "/logs/1.log"
    assert metadata["recognised_by"] == ["Makefile has the target test"]
    assert len(metadata["failures"]) == 200
    assert metadata["failures"][0] == {
        "id": "test:t.py:t0",
        "kind": "test",
        "path": "t.py",
        "line": 1,
        "message": "no",
        "state": "new",
    }


@pytest.mark.parametrize("kept", [False, True])
def test_the_time_of_a_base_is_told_where_it_was_built(*, kept: bool) -> None:
    green = outcome(exit_code=0)
    words = say_passed(compared(green, base=green, base_kept=kept))
    assert ("the base in 1.2 s" in words) is not kept


def test_no_exit_code_is_made_up_where_none_is_known() -> None:
    (check,) = checks(outcome(exit_code=None))["build-executed"]
    assert "exit code" not in check.message
    assert make_metadata(compared(outcome(exit_code=None)))["exit_code"] is None


def test_tests_that_lack_a_service_are_one_finding() -> None:
    failures = [structs.replace(one, state="environment") for one in failing(201)]
    named = checks(outcome(failures))
    assert [check.severity for check in named["environment"]] == ["warning"]
    assert "test" not in named


#: What says nothing of a judgment's end: it is caught, or the review was stopped.
CAUGHT = {"no_such_directory", "interrupted", "report_invalid"}


def test_whatever_keeps_a_build_from_being_judged_ends_with_lines_to_paste() -> None:
    folder = Path(decide.__file__).parent
    raised = {
        str(keyword.value.value)
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "CannotJudgeError"
        for keyword in node.keywords
        if keyword.arg == "reason" and isinstance(keyword.value, ast.Constant)
    }
    assert {"tool_missing", "object_missing"} <= raised
    for reason in {*raised, "build_changed", "reports_alone", "sandbox_unavailable"} - CAUGHT:
        judgment = decide_untried(PLAN, "it could not be tried", reason)
        assert judgment.metadata["snippet"]["text"], reason


@pytest.mark.parametrize(
    ("tool", "version", "line"),
    [
        ("node", "^22.13.0 || >=24", 'with: {node-version: "22.13"}'),
        ("java", "21", 'with: {distribution: temurin, java-version: "21"}'),
    ],
)
def test_a_version_that_is_missing_is_set_up_by_the_workflow(
    tool: str, version: str, line: str
) -> None:
    wanted = WantedVersion(tool, version, "package.json", "needs")
    judgment = decide_untried(structs.replace(PLAN, wants=(wanted,)), "too old", "environment")
    assert judgment.metadata["snippet"]["text"].splitlines()[-1].strip() == line
    assert judgment.metadata["snippet"]["where"] == "the workflow"


def test_lines_that_are_given_stand_before_those_of_the_table() -> None:
    own = make_reason_facts("build_changed", Snippet(text="build: {command: make}"))
    assert own["snippet"]["text"] == "build: {command: make}"
    assert "override" in make_reason_facts("build_changed")["snippet"]["text"]


@pytest.mark.parametrize(("code", "nothing"), [(5, True), (1, False)])
def test_pytest_says_by_its_exit_code_that_it_found_no_test(code: int, *, nothing: bool) -> None:
    step = outcome(exit_code=code, tail="no tests ran in 0.01s").deciding_step
    assert step.collects_nothing is nothing
