"""Two runs about one pull request at the same time: the newer one has the last word."""

from __future__ import annotations

import random
import threading
import time
from pathlib import Path

import pytest

from fakes.github import FakeGitHub, running
from fakes.github.faults import NO_FAULT, Fault
from integration.faults.stage import LABELS, MODES, NUMBER, Handed, Stage, furnish, move_to, wrong
from prjury.publishers.check_run import NAME
from prjury.publishers.idempotent import run_of

RACES = 50
OLDER, NEWER = 12, 13


def race(fake: FakeGitHub, stage: Stage, runs: dict[int, Handed], pause: float) -> dict[int, int]:
    """Both jobs from one start, the newer one a moment later; their exit codes."""
    codes: dict[int, int] = {}
    begin = threading.Barrier(len(runs))

    def job(run: int, case: Handed) -> None:
        begin.wait(20)
        if run == NEWER:
            threading.Event().wait(pause)
        codes[run] = stage.run(case, run)

    threads = [threading.Thread(target=job, args=each) for each in runs.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return codes


def stalls(number: int) -> Fault:
    """Any request may be held up for as long as others take several."""
    chosen = random.Random(number)  # noqa: S311 - nothing secret

    def stall() -> None:
        time.sleep(chosen.choice([0, 0, 0, 0, 0.01, 0.03, 0.06]))

    return Fault("*", "", 10_000, status=NO_FAULT, action=stall)


@pytest.mark.parametrize("number", range(RACES // 2))
def test_two_runs_of_one_head(number: int, cases: dict[str, Handed], tmp_path: Path) -> None:
    """The verdicts differ, as they may where the base has moved on in between."""
    mode = list(MODES)[number % len(MODES)]
    older, newer = cases["pass"], cases["fail"].at(cases["pass"].head)
    with running() as fake:
        furnish(fake, newer.head)
        runs = {OLDER: older, NEWER: newer}
        fake.faults = [stalls(number)]
        codes = race(fake, Stage(tmp_path, fake.url, mode), runs, number % 5 / 100)
        assert codes == {run: case.code for run, case in runs.items()}
        (comment,) = fake.bodies
        assert f"run={NEWER}.1" in comment.splitlines()[0]
        shown = [one for one in fake.checks(newer.head) if one["name"] == NAME][-1]
        assert shown["conclusion"] == "failure"
        assert shown["external_id"].endswith(f":{NEWER}.1")
        assert None not in {one["conclusion"] for one in fake.checks(newer.head)}
        if mode == "publish":
            latest = fake.statuses_of(newer.head, "prjury")[0]
            assert (latest["state"], run_of(latest["target_url"])) == ("failure", (NEWER, 1))
        assert fake.labels(NUMBER) == ["bug", LABELS["fail"]]


@pytest.mark.parametrize("number", range(RACES // 2))
def test_an_older_head_and_a_newer_one(
    number: int, cases: dict[str, Handed], tmp_path: Path
) -> None:
    """The pull request is pushed to while the older run is at work; the older one would pass."""
    mode = list(MODES)[number % len(MODES)]
    older, newer = cases["pass"], cases["fail"]
    with running() as fake:
        furnish(fake, older.head)
        pushed = lambda: move_to(fake, newer.head)  # noqa: E731 - an action of a script
        after = random.Random(number).choice(["check-runs", "comments", "labels"])  # noqa: S311
        fake.faults = [Fault("POST", after, moment="after", status=NO_FAULT, action=pushed)]
        stage = Stage(tmp_path, fake.url, mode)
        codes = race_of_heads(fake, stage, older, newer)
        assert codes == {OLDER: older.code, NEWER: newer.code}
        assert wrong(fake, newer, mode, (NEWER, 1)) == []
        own = [one for one in fake.checks(older.head) if one["name"] == NAME]
        assert [one["conclusion"] for one in own] == ["success"]
        if mode == "publish":
            assert fake.latest_status(older.head, "prjury") == "success"


def race_of_heads(fake: FakeGitHub, stage: Stage, older: Handed, newer: Handed) -> dict[int, int]:
    """The newer head's job begins with the push, as it does on GitHub."""
    codes: dict[int, int] = {}
    pushed = threading.Event()
    (script,) = fake.faults
    push = script.action
    script.action = lambda: (push(), pushed.set())[0]  # type: ignore[func-returns-value]
    fake.faults.append(stalls(0))

    def second() -> None:
        pushed.wait(20)
        codes[NEWER] = stage.run(newer, NEWER)

    thread = threading.Thread(target=second)
    thread.start()
    codes[OLDER] = stage.run(older, OLDER)
    thread.join(60)
    return codes
