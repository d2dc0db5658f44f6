"""Every build system in four states: what the judge says, and where it says that it is.

With ``-o junit_family=xunit1 --junitxml=FILE`` the rows of the table are in the report, as the
property ``row`` of each test.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from integration.builds.court import Court, Judged
from integration.builds.sample import Sample
from integration.builds.samples import SLOWER, each
from prjury.jury.judgment import Status

#: pytest's ``record_property``.
Record: TypeAlias = Callable[[str, object], None]


def _row(sample: Sample, state: str, judged: Judged) -> str:
    told = (sample.name, state, judged.build.status, next(iter(judged.places), "-"))
    return f"{' | '.join(told)} | {judged.seconds:.1f} s"


@pytest.mark.parametrize("sample", each(nightly=SLOWER))
def test_a_green_change(sample: Sample, tmp_path: Path, record_property: Record) -> None:
    court = Court.at(tmp_path)
    court.needs(sample)
    judged = court.judge(court.locked(sample), sample.harmless)
    record_property("row", _row(sample, "green", judged))

    assert judged.build.status is Status.PASS, judged.build.reasoning
    assert judged.build.metadata["system"] == sample.system
    assert judged.build.metadata["modules"] == sample.modules
    assert judged.build.metadata["failures"] == ()
    assert judged.build.metadata["log"] is None
    assert judged.build.failed_checks == ()
    assert judged.report.verdict.aggregated.status is Status.PASS


@pytest.mark.parametrize("sample", each(nightly=frozenset({"two"})))
def test_a_change_that_does_not_compile(
    sample: Sample, tmp_path: Path, record_property: Record
) -> None:
    court = Court.at(tmp_path)
    court.needs(sample)
    judged = court.judge(court.locked(sample), sample.broken.files)
    record_property("row", _row(sample, "broken", judged))

    assert judged.build.status is Status.FAIL, judged.build.reasoning
    first = judged.causes[0]
    assert (first.name, str(first.location)) == (sample.broken.check, sample.broken.place)
    assert sample.broken.message in first.message
    assert first.severity == "error"
    assert sample.broken.place in judged.build.reasoning
    assert judged.states == {"new"}
    assert judged.report.verdict.aggregated.status is Status.FAIL


@pytest.mark.parametrize("sample", each())
def test_a_change_that_breaks_a_test(
    sample: Sample, tmp_path: Path, record_property: Record
) -> None:
    court = Court.at(tmp_path)
    court.needs(sample)
    judged = court.judge(court.locked(sample), sample.failing.files)
    record_property("row", _row(sample, "new", judged))

    assert judged.build.status is Status.FAIL, judged.build.reasoning
    first = judged.causes[0]
    assert (first.name, str(first.location)) == ("test", sample.failing.place)
    assert sample.failing.message in first.message
    assert judged.states == {"new"}
    assert Path(judged.build.metadata["log"]).is_file()


@pytest.mark.parametrize("sample", each(nightly=SLOWER, having=lambda sample: sample.goes_on))
def test_a_test_that_fails_on_the_base_already(
    sample: Sample, tmp_path: Path, record_property: Record
) -> None:
    court = Court.at(tmp_path)
    court.needs(sample)
    base = {**court.locked(sample), **sample.failing.files}
    judged = court.judge(base, sample.harmless)
    record_property("row", _row(sample, "old", judged))

    assert judged.build.status is Status.PASS, judged.build.reasoning
    assert judged.build.metadata["note"] == "pre_existing"
    assert judged.states == {"pre_existing"}
    first = judged.causes[0]
    assert (first.name, str(first.location)) == ("test", sample.failing.place)
    assert first.message.endswith("(on the base as well)")
    assert {check.severity for check in judged.causes} == {"warning"}
    assert "failed as on the base" in judged.build.reasoning


@pytest.mark.parametrize("sample", each(thorough=True, nightly=frozenset({"go"})))
def test_a_policy_that_does_not_care_whose_failure_it_is(sample: Sample, tmp_path: Path) -> None:
    court = Court.at(tmp_path)
    court.needs(sample)
    base = {**court.locked(sample), **sample.failing.files}
    judged = court.judge(base, sample.harmless, pre_existing="block")

    assert judged.build.status is Status.FAIL, judged.build.reasoning
    assert judged.places[0] == sample.failing.place
