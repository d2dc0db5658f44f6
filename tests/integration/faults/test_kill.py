"""A runner that dies at any moment, and one that is told to stop."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from pathlib import Path

import pytest

from fakes.github import FakeGitHub, running
from integration.faults.runner import Runner
from integration.faults.stage import MODES, NUMBER, Handed, Stage, falsely_green, furnish, wrong
from prjury.errors import ExitCode

POINTS = 30
SIGNALLED = 6
#: Seconds that each answer takes.
_DELAY = 0.004


def until(fake: FakeGitHub, requests: int, process: int) -> None:
    """Waits for so many requests, or until the process is gone."""
    limit = time.monotonic() + 30
    while len(fake.requests) < requests and time.monotonic() < limit and is_there(process):
        time.sleep(0.0005)


def is_there(process: int) -> bool:
    try:
        return b") Z " not in Path(f"/proc/{process}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False


def send(process: int, *signals: int) -> None:
    for one in signals:
        try:
            os.kill(process, one)
        except ProcessLookupError:
            return
        time.sleep(_DELAY)


def whole_files(place: Path) -> bool:
    """Whether each file of a job, as far as it is there, is there as a whole."""
    report, page = place / "prjury-report" / "report.json", place / "prjury-report" / "report.html"
    if report.exists():
        json.loads(report.read_text())
    return not page.exists() or page.read_text().endswith("</h1>")


def moment(seed: str, requests: int) -> tuple[int, float]:
    """A random point of a job: after so many requests, and so many seconds."""
    chosen = random.Random(seed)  # noqa: S311 - the same points in every run
    return chosen.randint(0, requests), chosen.uniform(0, 2 * _DELAY)


@pytest.fixture(scope="module")
def lengths(cases: dict[str, Handed], tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """How many requests a job sends, by mode."""
    found = {}
    for mode in MODES:
        with running() as fake:
            case = cases["many"]
            furnish(fake, case.head)
            assert Stage(tmp_path_factory.mktemp(mode), fake.url, mode).run(case) == case.code
            found[mode] = len(fake.requests)
    return found


@pytest.mark.parametrize("point", range(POINTS))
def test_killed_anywhere_and_run_again(
    point: int, runner: Runner, cases: dict[str, Handed], lengths: dict[str, int]
) -> None:
    mode = list(MODES)[point // 2 % len(MODES)]
    requests, seconds = moment(f"killed {mode} {point}", lengths[mode])
    verdict = "many" if point % 2 else "pass"
    case, name = cases[verdict], f"{mode}-{point}"
    with running(strict=False) as fake:
        furnish(fake, case.head)
        fake.delay = _DELAY
        process = runner.start(fake, name, mode, verdict)
        until(fake, requests, process)
        time.sleep(seconds)
        send(process, signal.SIGKILL)
        assert runner.end() in {-signal.SIGKILL, case.code}
        time.sleep(10 * _DELAY)  # what was on its way arrives
        if case.status == "fail":
            assert falsely_green(fake, case) == []
        assert whole_files(runner.directory / name / "12.1")
        fake.delay = 0
        runner.start(fake, name, mode, verdict, attempt=2)
        assert runner.end() == case.code
        assert wrong(fake, case, mode, (12, 2)) == []
        if case.status == "fail":
            assert falsely_green(fake, case) == []


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("signals", [(signal.SIGTERM,), (signal.SIGINT, signal.SIGTERM)])
@pytest.mark.parametrize("point", range(SIGNALLED))
def test_told_to_stop_anywhere(
    mode: str,
    signals: tuple[int, ...],
    point: int,
    runner: Runner,
    cases: dict[str, Handed],
    lengths: dict[str, int],
) -> None:
    requests, seconds = moment(f"stopped {mode} {point}", lengths[mode])
    verdict = "pass"
    case, name = cases[verdict], f"{mode}-{point}-{len(signals)}"
    with running(strict=False) as fake:
        furnish(fake, case.head)
        fake.delay = _DELAY
        process = runner.start(fake, name, mode, verdict)
        until(fake, max(requests, 1), process)
        time.sleep(seconds)
        send(process, *signals)
        assert runner.end() in {ExitCode.INTERRUPTED, case.code}
        time.sleep(10 * _DELAY)
        assert [one for one in fake.checks(case.head) if one["conclusion"] is None] == []
        if wrong(fake, case, mode):  # it was stopped before all of it was said
            assert fake.latest_status(case.head, "prjury") != "success"
        fake.delay = 0
        runner.start(fake, name, mode, verdict, attempt=2)
        assert runner.end() == case.code
        assert wrong(fake, case, mode, (12, 2)) == []
    assert fake.labels(NUMBER)
