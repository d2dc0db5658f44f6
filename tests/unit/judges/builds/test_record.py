"""From a case to its record and back, and the records that no build can have left behind."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from prjury.errors import CannotJudgeError
from prjury.judges.builds.decide import decide
from prjury.judges.builds.failure import Failure, Results, make_failure
from prjury.judges.builds.fault import comparable, compared
from prjury.judges.builds.kept_reports import packed, unpacked
from prjury.judges.builds.outcome import BuildResult, PlanOutcome, StepResult
from prjury.judges.builds.plan import BuildPlan, BuildStep
from prjury.judges.builds.record import BuildJson, CaseJson, EvidenceReader, EvidenceRecorder
from prjury.jury.judgment import Status
from prjury.policy.schema import BuildOptions
from prjury.ports.types import Completed

STEPS = (
    BuildStep("setup", "npm ci"),
    BuildStep("build", ("make", "it all")),
    BuildStep("test", "make test"),
)


def alone(_failures: Sequence[Failure]) -> tuple[BuildStep, ...]:
    return (BuildStep("test", "make one"),)


THOROUGH = BuildPlan(
    "npm", (*STEPS[:2], BuildStep("test", "make -k test")), reported=True, rerun_failed=alone
)
PLAN = replace(THOROUGH, steps=STEPS, keep_going=THOROUGH, all_ran=1)
KNOWN = frozenset({"a.py", "b/c.py"})

texts = st.text(max_size=12)
failures = st.builds(
    make_failure,
    st.sampled_from(["compile", "test", "goal", "error"]),
    st.sampled_from(["no", "1 != 2"]) | texts,
    st.none() | st.sampled_from(["a.py", "b/c.py", "gone.py", "../x", "/etc/passwd"]),
    st.none() | st.integers(0, 99),
    st.none() | st.sampled_from(["t1", "t2"]) | texts,
    st.none() | st.sampled_from(["a.py", "s.xml"]),
)


@st.composite
def outcomes(draw: st.DrawFn, plan: BuildPlan, *, stopped: bool = True) -> PlanOutcome:
    """What `Workplace.run` may come back with."""
    count = draw(st.integers(1, len(plan.steps)))
    good = count == len(plan.steps) and draw(st.booleans())
    results = [_result(draw, step, good=True) for step in plan.steps[: count - 1]]
    results.append(_result(draw, plan.steps[count - 1], good=good, stopped=stopped))
    reported = tuple(draw(st.lists(failures, max_size=3)))
    logged = () if good else tuple(draw(st.lists(failures, max_size=2)))
    ran = tuple(draw(st.lists(st.sampled_from(["test:a.py:t1", "test:a.py:t2"]), max_size=3)))
    reports = Results(
        draw(st.integers(0, 3)),
        draw(st.integers(0, 9)),
        reported,
        tuple(draw(st.lists(texts, max_size=1))),
        ran,
        draw(st.integers(0, 3)),
        draw(st.dictionaries(st.sampled_from(["", "jest"]), st.integers(0, 3))),
    )
    return PlanOutcome(tuple(results), draw(st.floats(0, 1e6)), (*reported, *logged), reports)


def _result(draw: st.DrawFn, step: BuildStep, *, good: bool, stopped: bool = True) -> StepResult:
    limit = draw(st.sampled_from([None, "timeout", "memory_limit"])) if stopped else None
    code = 0 if good else draw(st.integers(-15, 127).filter(lambda code: bool(code or limit)))
    done = Completed(code, Path("/tmp/x.log"), draw(st.floats(0, 1e5)), None if good else limit)
    return StepResult(step, done, draw(texts))


@st.composite
def cases(draw: st.DrawFn) -> BuildResult:
    """What `Trial.case` may come to."""
    policy: Any = {
        "flaky": draw(st.sampled_from(["warn", "block"])),
        "pre_existing": draw(st.sampled_from(["warn", "block"])),
    }
    outcome = draw(outcomes(PLAN))
    case = BuildResult(PLAN, outcome, KNOWN, BuildOptions(**policy))
    if not comparable(outcome) or draw(st.booleans()):
        return case
    base = draw(outcomes(PLAN, stopped=False))
    case = replace(case, outcome=compared(outcome, base, KNOWN), base=base)
    if draw(st.booleans()):
        return replace(case, base=None, base_unknown="its own build was stopped (timeout)")
    if outcome.failed and draw(st.booleans()):
        base = draw(outcomes(THOROUGH, stopped=False))
        case = case.to_the_end(compared(draw(outcomes(THOROUGH)), base, KNOWN), base)
    return _with_luck(case) if draw(st.booleans()) else case


def _with_luck(case: BuildResult) -> BuildResult:
    found = case.outcome.failures
    lucky = {one.id for one in found if one.kind == "test" and one.state == "new"}
    marked = tuple(
        structs.replace(one, state="flaky") if one.id in lucky and one.kind == "test" else one
        for one in found
    )
    return replace(case, outcome=replace(case.outcome, failures=marked), ran_again=len(found))


def recorded(case: BuildResult) -> dict[str, Any]:
    """The record as it comes out of a file."""
    build: dict[str, Any] = json.loads(json.dumps(EvidenceRecorder().build(PLAN, case)))
    BuildJson.model_validate(build)
    record: dict[str, Any] = build["case"]
    return record


def read(record: dict[str, Any], plan: BuildPlan = PLAN, **policy: Any) -> BuildResult:
    return EvidenceReader(plan, KNOWN, BuildOptions(**policy)).case(CaseJson.model_validate(record))


@given(cases())
def test_there_and_back(case: BuildResult) -> None:
    again = read(recorded(case), flaky=case.options.flaky, pre_existing=case.options.pre_existing)
    assert again == case
    assert decide(again) == decide(case)


@given(cases(), st.sampled_from(["new", "pre_existing", "flaky"]))
def test_what_a_record_calls_its_failures_lifts_nothing(case: BuildResult, claim: str) -> None:
    told = recorded(replace(case, ran_again=99 if case.ran_again else 0))
    for failure in told["merged"]["failures"]:
        failure["state"] = claim
    try:
        again = read(told)
    except ValueError as error:
        assert "flaky" in str(error)  # noqa: PT017 - most of them can be read
        return
    if decide(again).status is Status.PASS and case.outcome.failed:
        assert case.base is not None
        there = Counter(failure.id for failure in case.base.failures)
        assert Counter(failure.id for failure in case.outcome.failures) <= there


def test_everything_is_recorded() -> None:
    """A field that is new here has to find its way into the record."""
    values = (BuildResult, PlanOutcome)
    names: dict[type, set[str]] = {kind: {one.name for one in fields(kind)} for kind in values}
    names |= {Results: {*Results.__struct_fields__}, Failure: {*Failure.__struct_fields__}}
    assert names == {
        BuildResult: {
            "plan", "outcome", "known", "options", "base", "base_unknown", "first", "ran_again",
            "versions", "kept", "kept_of_base",
        },
        PlanOutcome: {"results", "allowed", "failures", "reports"},
        Results: {
            "files", "tests", "failures", "problems", "ran", "counted", "skipped", "by_runner",
            "ignored", "within",
        },
        Failure: {"kind", "message", "path", "line", "name", "suite", "state", "details"},
    }  # fmt: skip
    assert {one.name for one in fields(StepResult)} == {"step", "completed", "tail"}
    assert {one.name for one in fields(Completed)} == {"exit_code", "log", "seconds", "stopped"}


def failing(name: str, **more: Any) -> dict[str, Any]:
    told = {
        "kind": "test", "message": "no", "path": "a.py", "line": 3, "name": name, "suite": "a.py",
        "state": "new",
    }  # fmt: skip
    return {**told, **more}


def step(number: int, exit_code: int = 0, **more: Any) -> dict[str, Any]:
    done = {
        "name": STEPS[number].name,
        "command": STEPS[number].text,
        "exit_code": exit_code,
        "stopped": None,
        "seconds": 1.0,
        "tail": "…",
        "log": "/tmp/1.log",
    }
    return {**done, **more}


def outcome(*failed: dict[str, Any], code: int | None = None, **more: Any) -> dict[str, Any]:
    """All steps ran; the tests, of which there are three, failed if any of these did."""
    return {
        "allowed": 60.0,
        "steps": [step(0), step(1), step(2, int(bool(failed)) if code is None else code)],
        "failures": list(failed),
        "reports": {
            "files": 1,
            "tests": 3,
            "counted": 0,
            "by_runner": {"pytest": 3},
            "ran": ["test:a.py:t1", "test:a.py:t2", "test:a.py:t3"],
            "failures": list(failed),
            "problems": [],
        },
        **more,
    }


def record(merged: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "thorough": False,
        "merged": merged,
        "base": None,
        "base_unknown": "",
        "first": None,
        "ran_again": 0,
        **more,
    }


GREEN = outcome()
RED = outcome(failing("t1"))


def test_a_green_record_passes() -> None:
    assert decide(read(record(GREEN))).status is Status.PASS


def test_what_the_base_fails_as_well_is_told_by_the_base_alone() -> None:
    claimed = outcome(failing("t1", state="pre_existing"), failing("t2", state="pre_existing"))
    judgment = decide(read(record(claimed, base=RED)))
    assert judgment.status is Status.FAIL
    states = [failure["state"] for failure in judgment.metadata["failures"]]
    assert states == ["new", "pre_existing"]
    once = replace(PLAN, keep_going=None)
    assert decide(read(record(RED, base=RED), once)).status is Status.PASS
    assert decide(read(record(RED, base=RED))).metadata["reason"] == "base_broken"
    excused = failing("t1", state="pre_existing")
    assert decide(read(record(outcome(excused)))).status is Status.FAIL
    gone = record(outcome(excused), base_unknown="it was not there")
    assert decide(read(gone)).status is Status.FAIL


def test_what_is_no_test_is_told_once() -> None:
    error = failing("x", kind="compile")
    told = outcome(error, error)
    assert decide(read(record({**told, "failures": [error]}))).status is Status.FAIL


def test_a_green_base_excuses_nothing() -> None:
    claimed = outcome(failing("t1", state="pre_existing"))
    assert decide(read(record(claimed, base=GREEN))).status is Status.FAIL


def test_a_claim_of_flaky_tests_counts_as_the_policy_says() -> None:
    once = replace(PLAN, keep_going=None)
    flaky = outcome(failing("t1", state="flaky"))
    claimed = record(flaky, base=GREEN, ran_again=1)
    assert decide(read(claimed, once)).status is Status.FAIL
    assert decide(read(claimed, once, flaky="warn")).status is Status.PASS
    assert decide(read(claimed, flaky="warn")).metadata["reason"] == "base_broken"
    compile_error = failing("t1", kind="compile", state="flaky")
    hidden = record(outcome(compile_error), base=GREEN, ran_again=1)
    assert decide(read(hidden, flaky="warn")).status is Status.FAIL


def test_a_whole_second_run_after_flaky_tests() -> None:
    passed = {**GREEN, "failures": outcome(failing("t1", state="flaky"))["failures"]}
    once = replace(PLAN, keep_going=None)
    told = record(passed, base=GREEN, first=RED, ran_again=1)
    assert decide(read(told, once, flaky="warn")).status is Status.PASS
    assert decide(read(told, once)).status is Status.FAIL
    with pytest.raises(ValueError, match="same is run once more after tests were run alone"):
        read(record(GREEN, base=GREEN, first=RED), once)
    afresh = replace(once, rerun=THOROUGH)
    again = record(thorough(passed), thorough=True, base=GREEN, first=RED, ran_again=1)
    assert read(again, afresh, flaky="warn").plan is THOROUGH


def test_a_place_outside_of_the_tree_is_no_place() -> None:
    told = outcome(*(failing("t", path=path) for path in ("../a.py", "/a.py", "a.py", "no.py")))
    judgment = decide(read(record(told)))
    assert [failure["path"] for failure in judgment.metadata["failures"]] == [
        None, None, "a.py", "no.py",
    ]  # fmt: skip
    assert [failure["line"] for failure in judgment.metadata["failures"]] == [None, None, 3, 3]
    places = [str(check.location) for check in judgment.checks if check.name == "test"]
    assert places == ["None", "None", "a.py:3", "None"]


@pytest.mark.parametrize(
    ("told", "why"),
    [
        (record({**GREEN, "steps": [step(0), step(1)]}), "the steps after step 2 are left out"),
        (record({**GREEN, "steps": [step(2)]}), "step 1 is not the plan's `npm ci`"),
        (record({**GREEN, "steps": [step(0), step(2)]}), "step 2 is not the plan's"),
        (
            record({**GREEN, "steps": [step(0, command="true"), step(1), step(2)]}),
            "step 1 is not the plan's `npm ci`",
        ),
        (
            record({**GREEN, "steps": [step(0, name="test"), step(1), step(2)]}),
            "step 1 is not the plan's",
        ),
        (
            record({**GREEN, "steps": [step(0), step(1, 1), step(2)]}),
            "step 2 failed, and yet the next one ran",
        ),
        (
            record({**GREEN, "steps": [step(0, stopped="timeout"), step(1), step(2)]}),
            "step 1 failed, and yet the next one ran",
        ),
        (record({**GREEN, "steps": [*GREEN["steps"], step(2)]}), "it has more steps than the plan"),
        (
            record({**GREEN, "failures": [failing("t1")]}),
            "it lists failures, though its steps and its reports know of none",
        ),
        (
            record(outcome(failing("t1"), failures=[])),
            "a failure of the reports is not among the failures",
        ),
        (
            record(outcome(failing("t1"), failing("t1"), failures=[failing("t1")]), base=RED),
            "a failure of the reports is not among the failures",
        ),
        (record(RED, base={**RED, "steps": [step(0)]}), "the steps after step 1 are left out"),
        (
            record(RED, base={**RED, "steps": [step(0, 1, stopped="timeout")]}),
            "a base that was stopped is nothing to compare with",
        ),
        (
            record({**RED, "steps": [step(0), step(1), step(2, 1, stopped="timeout")]}, base=RED),
            "the base is not built for an outcome of this kind",
        ),
        (record(outcome(failing("t1"), code=-9), base=RED), "the base is not built for an outcome"),
        (
            record(outcome(failing("t1", state="flaky")), base=GREEN),
            "more tests are flaky than were run again",
        ),
        (record(RED, ran_again=1), "tests are run again after the base was tried, and not before"),
        (record(GREEN, first=GREEN), "the thorough form is run after a first run"),
        (record(GREEN, thorough=True), "step 3 is not the plan's `make -k test`"),
    ],
)
def test_records_that_contradict_themselves(told: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(why)}"):
        read(told)


def thorough(of: dict[str, Any]) -> dict[str, Any]:
    return {**of, "steps": [*of["steps"][:2], {**of["steps"][2], "command": "make -k test"}]}


@pytest.mark.parametrize(
    ("told", "why"),
    [
        (record(thorough(GREEN), thorough=True), "the thorough form is run after a first run"),
        (
            record(thorough(GREEN), thorough=True, first=GREEN, base=thorough(RED)),
            "the thorough form is run after a failure",
        ),
        (record(thorough(GREEN), thorough=True, first=RED), "the thorough form is run after a"),
        (record(thorough(GREEN), thorough=True, first=thorough(RED)), "step 3 is not the plan's"),
        (
            record(thorough(RED), thorough=True, first=RED, base=RED),
            "the base is run in the same form",
        ),
    ],
)
def test_records_of_the_thorough_form(told: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(why)}"):
        read(told)


def test_a_record_of_the_thorough_form() -> None:
    told = record(thorough(RED), thorough=True, first=RED, base=thorough(RED))
    case = read(told)
    assert case.plan is THOROUGH
    assert case.first is not None
    assert case.first.results[2].step is STEPS[2]
    assert decide(case).status is Status.PASS
    with pytest.raises(ValueError, match="this build has no thorough form"):
        read(told, replace(PLAN, keep_going=None))


def test_a_build_that_cannot_run_single_tests_again() -> None:
    told = record(outcome(failing("t1", state="flaky")), base=GREEN, ran_again=1)
    plain = replace(PLAN, rerun_failed=None, keep_going=None)
    with pytest.raises(ValueError, match="this build cannot run single tests again"):
        read(told, plain)


def test_a_base_that_the_policy_wants_always() -> None:
    assert decide(read(record(GREEN, base=RED), compare="always")).status is Status.PASS
    with pytest.raises(ValueError, match="the base is not built for an outcome of this kind"):
        read(record(GREEN, base=RED), compare="on_failure")
    stopped = {**RED, "steps": [step(0, 1, stopped="timeout")]}
    with pytest.raises(ValueError, match="a base that was stopped"):
        read(record(stopped, base=stopped), compare="always")


@pytest.mark.parametrize(
    "twist",
    [
        lambda told: told["merged"]["steps"][2].update(seconds=-1.0),
        lambda told: told["merged"]["steps"][2].update(seconds=True),
        lambda told: told["merged"]["steps"][2].update(exit_code="0"),
        lambda told: told["merged"]["steps"][2].update(exit_code=False),
        lambda told: told["merged"]["steps"][2].update(exit_code=0.0),
        lambda told: told["merged"]["steps"][2].update(stopped="time out"),
        lambda told: told["merged"]["steps"][2].pop("exit_code"),
        lambda told: told["merged"].update(steps=[]),
        lambda told: told["merged"].update(steps=None),
        lambda told: told["merged"].update(allowed=-1),
        lambda told: told["merged"]["reports"].update(tests=-1),
        lambda told: told["merged"]["reports"].update(ran=["\ud800"]),
        lambda told: told["merged"]["reports"].update(ran=[1]),
        lambda told: told["merged"]["failures"][0].update(state="old"),
        lambda told: told["merged"]["failures"][0].update(kind="warning"),
        lambda told: told["merged"]["failures"][0].update(line=0),
        lambda told: told["merged"]["failures"][0].update(message="x" * 10_001),
        lambda told: told["merged"]["failures"][0].update(verdict="pass"),
        lambda told: told.update(status="pass"),
        lambda told: told.update(ran_again=-1),
        lambda told: told.update(thorough=1),
        lambda told: told.pop("base"),
    ],
)
def test_what_is_no_record(twist: Callable[[dict[str, Any]], object]) -> None:
    told: dict[str, Any] = json.loads(json.dumps(record(RED)))
    twist(told)
    with pytest.raises(ValueError, match="validation error"):
        CaseJson.model_validate(told)


def test_what_leaves_this_machine_is_cleaned() -> None:
    case = read(record(outcome(failing("SECRET", suite="SECRET", path="SECRET/a.py"))))
    case = replace(case, base_unknown="SECRET", outcome=_secretive(case.outcome))
    recorder = EvidenceRecorder(lambda text: text.replace("SECRET", "***"))
    told = json.dumps(recorder.build(PLAN, case))
    assert "SECRET" not in told
    assert told.count("***") == 11
    error = recorder.build(PLAN, CannotJudgeError("SECRET", reason="tool_missing"))
    assert error["error"] == {"reason": "tool_missing", "message": "***."}


def _secretive(outcome: PlanOutcome) -> PlanOutcome:
    done = replace(outcome.last.completed, log=Path("/tmp/SECRET"))
    last = replace(outcome.last, tail="a SECRET", completed=done)
    reports = structs.replace(outcome.reports, problems=("SECRET",), ran=("SECRET",))
    return replace(outcome, results=(*outcome.results[:-1], last), reports=reports)


def test_what_identifies_a_build_stays_as_it_is() -> None:
    told = EvidenceRecorder(lambda _text: "***").build(PLAN, read(record(GREEN)))
    assert (told["system"], told["directory"]) == ("npm", "")
    assert told["command"] == "npm ci && make 'it all' && make test"
    assert [one["command"] for one in told["case"]["merged"]["steps"]] == [
        "npm ci", "make 'it all'", "make test",
    ]  # fmt: skip


def test_very_long_texts_are_cut_so_that_they_can_be_read_again() -> None:
    case = read(record(GREEN))
    last = replace(case.outcome.last, tail="x" * 300_000 + "end")
    reports = structs.replace(case.outcome.reports, ran=("y" * 20_000,))
    results = (*case.outcome.results[:-1], last)
    told = recorded(replace(case, outcome=replace(case.outcome, results=results, reports=reports)))
    assert told["merged"]["steps"][2]["tail"].endswith("end")
    assert len(told["merged"]["steps"][2]["tail"]) == 200_000
    assert len(told["merged"]["reports"]["ran"][0]) == 10_000


def test_kept_reports_are_taken_along_as_far_as_they_are_asked_for() -> None:
    text = packed("<checkstyle/>")
    assert unpacked(text) == b"<checkstyle/>"
    bomb = packed("a" * (20 * 1024**2 + 1))
    for broken in (bomb, "!", text[:8], ""):
        with pytest.raises(ValueError, match="a kept report is damaged"):
            unpacked(broken)
