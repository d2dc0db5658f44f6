"""Whose failure it is: hidden behind an old one, mended by the change, or a matter of luck."""

from __future__ import annotations

from pathlib import Path

import pytest

from integration.builds.clang import MAKE
from integration.builds.court import Court
from integration.builds.sample import Sample, Tree
from integration.builds.samples import each
from prjury.jury.gate import Gate
from prjury.jury.judgment import Status

#: What Go tells here it tells by other tests as well.
GO = frozenset({"go"})


@pytest.mark.parametrize("sample", each(thorough=True, having=lambda sample: sample.goes_on))
def test_an_old_failure_does_not_hide_a_new_one(sample: Sample, tmp_path: Path) -> None:
    court = Court.at(tmp_path)
    court.needs(sample)
    base = {**court.locked(sample), **sample.failing.files}
    judged = court.judge(base, {**sample.harmless, **sample.worse.files})

    assert judged.build.status is Status.FAIL, judged.build.reasoning
    first = judged.causes[0]
    assert (str(first.location), first.severity) == (sample.worse.place, "error")
    assert sample.worse.message in first.message
    assert sample.worse.place in judged.build.reasoning
    assert judged.states == {"new", "pre_existing"}


@pytest.mark.parametrize("change", [MAKE.harmless, {**MAKE.harmless, **MAKE.worse.files}])
def test_no_old_failure_is_excused_where_it_keeps_tests_from_running(
    change: Tree, tmp_path: Path
) -> None:
    court = Court.at(tmp_path)
    court.needs(MAKE)
    judged = court.judge({**MAKE.tree, **MAKE.failing.files}, change)

    assert judged.build.status is Status.FAIL, judged.build.reasoning
    assert judged.build.metadata["reason"] == "base_broken"
    assert judged.report.gate is Gate.FAILURE


@pytest.mark.parametrize("sample", each(thorough=True, nightly=GO))
def test_what_does_not_compile_does_not_hide_behind_an_old_failure(
    sample: Sample, tmp_path: Path
) -> None:
    court = Court.at(tmp_path)
    court.needs(sample)
    base = {**court.locked(sample), **sample.worse.files}
    judged = court.judge(base, sample.broken.files)

    assert judged.build.status is Status.FAIL, judged.build.reasoning
    assert judged.causes[0].name == "compiles"
    assert str(judged.causes[0].location) == sample.broken.place


@pytest.mark.parametrize(
    "sample", each(thorough=True, having=lambda sample: sample.goes_on, nightly=GO)
)
def test_a_change_that_mends_a_test(sample: Sample, tmp_path: Path) -> None:
    court = Court.at(tmp_path)
    court.needs(sample)
    tree = court.locked(sample)
    mended = {path: tree.get(path) for path in sample.failing.files}
    judged = court.judge({**tree, **sample.failing.files}, mended, compare="always")

    assert judged.build.status is Status.PASS, judged.build.reasoning
    assert judged.build.metadata["failures"] == ()


@pytest.mark.parametrize(
    "sample", each(thorough=True, having=lambda sample: sample.luck, nightly=GO)
)
def test_a_test_that_passes_when_it_runs_again_alone(sample: Sample, tmp_path: Path) -> None:
    court = Court.at(tmp_path)
    court.needs(sample)
    judged = court.judge(court.locked(sample), sample.luck or {}, flaky="block")

    assert judged.build.status is Status.FAIL, judged.build.reasoning
    assert judged.build.metadata["ran_again"]
    assert judged.states == {"flaky"}
    assert judged.causes[0].message.endswith("(flaky: it failed, and passed when run again)")


@pytest.mark.parametrize("sample", each(thorough=True, having=lambda sample: sample.luck))
def test_flaky_tests_fail_nothing(sample: Sample, tmp_path: Path) -> None:
    court = Court.at(tmp_path)
    court.needs(sample)
    judged = court.judge(court.locked(sample), sample.luck or {})

    assert judged.build.status is Status.PASS, judged.build.reasoning
    assert judged.build.metadata["note"] == "flaky"
    assert judged.states == {"flaky"}
    assert {check.severity for check in judged.causes} == {"warning"}


@pytest.mark.parametrize("sample", each(thorough=True, having=lambda sample: sample.deadly))
def test_a_test_that_ends_its_process(sample: Sample, tmp_path: Path) -> None:
    court = Court.at(tmp_path)
    court.needs(sample)
    judged = court.judge(court.locked(sample), sample.deadly or {})

    assert judged.build.status is Status.FAIL, judged.build.reasoning


@pytest.mark.parametrize(
    "sample", each(thorough=True, having=lambda sample: sample.deadly, nightly=GO)
)
def test_a_process_that_ends_on_the_base_as_well_proves_nothing(
    sample: Sample, tmp_path: Path
) -> None:
    court = Court.at(tmp_path)
    court.needs(sample)
    judged = court.judge({**court.locked(sample), **(sample.deadly or {})}, sample.harmless)

    assert judged.build.status is not Status.PASS, judged.build.reasoning
    assert judged.report.gate in {Gate.FAILURE, Gate.ACTION_REQUIRED}


@pytest.mark.parametrize("sample", each(thorough=True, having=lambda sample: sample.aside))
def test_what_the_change_cannot_affect_is_not_run(sample: Sample, tmp_path: Path) -> None:
    court = Court.at(tmp_path)
    court.needs(sample)
    base = {**court.locked(sample), **(sample.aside or {})}
    judged = court.judge(base, sample.harmless)

    assert judged.build.status is Status.PASS, judged.build.reasoning
    assert judged.build.metadata["failures"] == ()
    assert judged.build.metadata["modules"] == sample.modules
    assert "only what the change affects: " in judged.build.reasoning


@pytest.mark.parametrize("sample", each(thorough=True, having=lambda sample: sample.aside))
def test_everything_is_run_where_the_policy_says_so(sample: Sample, tmp_path: Path) -> None:
    court = Court.at(tmp_path)
    court.needs(sample)
    base = {**court.locked(sample), **(sample.aside or {})}
    judged = court.judge(base, sample.harmless, affected=False, pre_existing="block")

    assert judged.build.status is Status.FAIL, judged.build.reasoning
    assert judged.build.metadata["modules"] == ()
