"""Jobs that end badly, and a newer run that does all of its work while an older one writes."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from fakes.github import NO_FAULT, FakeGitHub, Fault, running
from integration.faults.runner import Runner
from integration.faults.stage import MODES, Handed, Stage, furnish, wrong
from prjury.errors import ExitCode
from prjury.publishers.check_run import NAME
from prjury.publishers.races import find_run

ALWAYS = 10_000
MOMENTS_OF_BOTH = [
    ("GET", "/check-runs"),
    ("POST", "/check-runs$"),
    ("GET", "/pulls/7$"),
    ("GET", "/issues/7/comments"),
    ("POST", "/issues/7/comments"),
]


def broken(case: Handed) -> Handed:
    """What the judging job has handed over cannot be read."""
    return replace(case, verdict=b"{}")


@pytest.mark.parametrize(("method", "path"), [("GET", "/statuses"), ("POST", "/statuses/")])
def test_a_status_that_cannot_be_set_leaves_no_check_in_progress(
    method: str, path: str, cases: dict[str, Handed], tmp_path: Path
) -> None:
    with running() as fake:
        furnish(fake, cases["pass"].head)
        fake.faults = [Fault(method, path, ALWAYS, status=404, body="{}")]
        assert Stage(tmp_path, fake.url, "publish").run(broken(cases["pass"])) == ExitCode.SOURCE
        assert fake.checks(cases["pass"].head) == []


def test_a_check_run_that_cannot_be_ended_leaves_no_green_status(
    cases: dict[str, Handed], tmp_path: Path
) -> None:
    with running() as fake:
        furnish(fake, cases["pass"].head)
        fake.faults = [Fault("PATCH", "/check-runs/", ALWAYS)]
        assert Stage(tmp_path, fake.url, "publish").run(broken(cases["pass"])) == ExitCode.SOURCE
        assert fake.latest_status(cases["pass"].head, "prjury") == "error"


def test_a_check_run_that_could_not_be_begun_is_ended_all_the_same(
    cases: dict[str, Handed], tmp_path: Path
) -> None:
    with running() as fake:
        furnish(fake, cases["pass"].head)
        fake.faults = [Fault("POST", "/check-runs", 1, status=422, body="{}")]
        stage = Stage(tmp_path, fake.url, "review")
        assert stage.run(cases["pass"]) == ExitCode.OPEN, stage.logs
        (check,) = fake.checks(cases["pass"].head)
    assert check["conclusion"] == "success"


@pytest.mark.parametrize(
    ("mode", "method", "path"),
    [
        *(
            (mode, *moment)
            for mode in MODES
            for moment in MOMENTS_OF_BOTH
            if (mode, moment[1]) != ("publish", "/pulls/7$")
        ),
        ("publish", "GET", "/statuses"),
        ("publish", "POST", "/statuses/"),
    ],
)
def test_a_newer_run_while_an_older_one_is_about_to_write(
    mode: str,
    method: str,
    path: str,
    cases: dict[str, Handed],
    runner: Runner,
    tmp_path: Path,
) -> None:
    older, newer = cases["pass"], cases["newer"]
    with running() as fake:
        furnish(fake, newer.head)
        stage = Stage(tmp_path, fake.url, mode)
        ended = []

        def overtake() -> None:
            runner.start(fake, tmp_path.name, mode, "newer", run=13)
            ended.append(runner.end())

        fake.faults = [Fault(method, path, 1, status=NO_FAULT, action=overtake)]
        assert stage.run(older, 12) == older.code
        assert ended == [newer.code]
        assert said(fake, newer.head, mode) == (1, "failure", "failure")


def said(fake: FakeGitHub, head: str, mode: str) -> tuple[int, str | None, str | None]:
    """How many comments there are, and what check run and status say; of the newer run alone."""
    assert all("run=13.1" in body for body in fake.bodies)
    shown = [one for one in fake.checks(head) if one["name"] == NAME][-1]
    status = fake.latest_status(head, "prjury") if mode == "publish" else "failure"
    if mode == "publish":
        assert find_run(fake.statuses_of(head, "prjury")[0]["target_url"]) == (13, 1)
    return len(fake.bodies), shown["conclusion"], status


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("left", [0, 3, 7, 11])
def test_when_the_hour_s_requests_are_used_up_nothing_is_green_and_another_attempt_ends_it(
    mode: str, left: int, cases: dict[str, Handed], tmp_path: Path
) -> None:
    case = cases["pass"]
    with running() as fake:
        furnish(fake, case.head)
        stage = Stage(tmp_path, fake.url, mode)
        fake.hourly, fake.over = left, 429 if left % 2 else 403
        assert stage.run(case) not in {ExitCode.OPEN, ExitCode.BUG}
        assert re.search(r"rate limit is used up for another \d+ s", stage.logs[0])
        assert fake.latest_status(case.head, "prjury") in {None, "pending"}
        fake.hourly = 1_000
        fake.next_hour()
        assert stage.run(case, attempt=2) == case.code, stage.logs
        assert wrong(fake, case, mode, (12, 2)) == []
