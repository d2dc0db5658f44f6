"""Whatever fails, at whichever moment: right in the end, once, and never green by mistake."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path

import pytest

from fakes.github import running
from fakes.github.faults import Moment
from fakes.writing import connected
from integration.faults.page import Page
from integration.faults.script import (
    ANYWHERE,
    BAD_GATEWAY,
    KINDS,
    MOMENTS,
    PLACES,
    TIMES,
    Kind,
    Place,
    prepare,
    wait,
)
from integration.faults.stage import REPO, Handed, Stage, falsely_green, furnish, wrong
from prjury.errors import CannotJudgeError, ExitCode
from prjury.github.artifacts import BuildArtifact

Cell = tuple[Place, Kind, Moment, str, str, str]
#: One request each, answered by a bad gateway; and each kind of failure, of any write.
ROWS = [(place, BAD_GATEWAY) for place in PLACES] + [(ANYWHERE, kind) for kind in KINDS]


def _cells(rows: list[tuple[Place, Kind]]) -> Iterator[Cell]:
    for (place, kind), moment, times in product(rows, MOMENTS, TIMES):
        for mode, verdict in product(place.modes, place.verdicts):
            yield place, kind, moment, times, mode, verdict


def _is_quick(cell: Cell) -> bool:
    """One verdict and mode for each cell and number of times, each of them in turn."""
    place, kind, moment, times, mode, verdict = cell
    turns = list(product(place.modes, place.verdicts))
    turn = MOMENTS.index(moment) + 2 * list(TIMES).index(times) + ROWS.index((place, kind))
    return (mode, verdict) == turns[turn % len(turns)]


def _named(cells: list[Cell]) -> list[object]:
    return [
        pytest.param(cell, id="-".join([cell[0].name, cell[1].name, *cell[2:]])) for cell in cells
    ]


EVERY = list(_cells(ROWS))
QUICK = [cell for cell in EVERY if _is_quick(cell)][::2]
SLOW = [cell for cell in EVERY if cell not in QUICK]
#: What the collecting job reads; what it cannot read is judged as a build without evidence.
ARTIFACTS = {
    "artifact: list": r"/runs/500/artifacts",
    "artifact: address": r"/artifacts/\d+/zip",
    "artifact: download": r"/_blobs/",
}
#: A review that is refused is posted without its remarks, which no later run makes up for.
REFUSED = {("review: create", "422"), ("review: create", "409")}
CROSS = [
    cell
    for cell in _cells(list(product(PLACES, KINDS[1:])))
    if (cell[0].name, cell[1].name) not in REFUSED
][::3]


@pytest.fixture(scope="session")
def page() -> Iterator[Page]:
    page = Page.read([*ARTIFACTS, *(_row(place, kind) for place, kind in ROWS)])
    yield page
    if os.environ.get("PRJURY_UPDATE_GOLDEN"):
        page.write()


def _row(place: Place, kind: Kind) -> str:
    return place.name if kind is BAD_GATEWAY and place is not ANYWHERE else kind.name


def play(cell: Cell, cases: dict[str, Handed], directory: Path) -> str:
    """What becomes of a job in which this fails, and of the next one, in which nothing does."""
    place, kind, moment, times, mode, verdict = cell
    case = cases[verdict]
    with running() as fake:
        furnish(fake, case.head)
        place.furnish(fake, case)
        prepare(fake, place, kind, moment, times)
        stage = Stage(directory, fake.url, mode, partial(wait, fake, times))
        code = stage.run(case)
        assert not fake.faults or any(one.times < TIMES[times] for one in fake.faults)
        told, first = wrong(fake, case, mode), stage.logs[-1]
        assert code in {case.code, ExitCode.NOT_PUBLISHED, ExitCode.SOURCE}, first
        assert stage.on_disk() == (None if code == ExitCode.SOURCE else verdict), first
        assert code or not told, told
        if code == ExitCode.SOURCE and mode == "publish":
            # Where GitHub takes nothing at all there is no status, which opens no gate either.
            states = {"error", None} if kind.whole else {"error"}
            assert fake.latest_status(case.head, "prjury") in states
        fake.faults, fake.skew = [], 0.0
        if told or "::error" in first:
            again = stage.run(case, attempt=2)
            assert (again, wrong(fake, case, mode, (12, 2))) == (case.code, []), stage.logs
        if verdict == "fail":
            assert falsely_green(fake, case) == []
    complained = "::error" in first
    return outcome(code, complete=not told, complained=complained)


def outcome(code: int, *, complete: bool, complained: bool) -> str:
    if code == ExitCode.SOURCE:
        return "exit 4"
    if complete:
        return "posted, exit 5" if complained else "posted"
    return "exit 5"


@pytest.mark.parametrize("cell", _named(QUICK))
def test_it_ends_as_the_page_says(
    cell: Cell, cases: dict[str, Handed], page: Page, tmp_path: Path
) -> None:
    place, kind, moment, times, *_ = cell
    page.compare(_row(place, kind), moment, times, play(cell, cases, tmp_path))


@pytest.mark.parametrize(("moment", "times"), list(product(MOMENTS, TIMES)))
@pytest.mark.parametrize("row", ARTIFACTS)
def test_evidence_is_read_whole_or_not_at_all(
    row: str, moment: Moment, times: str, page: Page
) -> None:
    content = b'{"evidence": "of a build"}' * 1_000
    with running() as fake:
        fake.add_workflow_run("PR Jury build", "success", id=500)
        fake.add_artifact("build-evidence", {"build-evidence.json": content}, run=500)
        fake.faults = [BAD_GATEWAY.make("GET", ARTIFACTS[row], times=TIMES[times], moment=moment)]
        with connected(fake) as hub:
            artifact = BuildArtifact(hub, REPO, 500)
            try:
                outcome = "read" if artifact.read_evidence_bytes() == content else "something else"
            except CannotJudgeError as error:
                outcome = f"exit {error.exit_code}"
    page.compare(row, moment, times, outcome)


@pytest.mark.nightly
@pytest.mark.parametrize("cell", _named(SLOW))
def test_with_the_other_verdict_and_in_the_other_mode(
    cell: Cell, cases: dict[str, Handed], page: Page, tmp_path: Path
) -> None:
    place, kind, moment, times, *_ = cell
    page.compare(_row(place, kind), moment, times, play(cell, cases, tmp_path))


@pytest.mark.nightly
@pytest.mark.parametrize("cell", _named(CROSS))
def test_every_failure_of_every_request(
    cell: Cell, cases: dict[str, Handed], tmp_path: Path
) -> None:
    play(cell, cases, tmp_path)
