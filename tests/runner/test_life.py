"""The whole life of a pull request: what it shows at each moment, and what that costs."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple
from pathlib import Path

import pytest

from fakes.github import running
from prjury.cli.init import Situation, render_workflows_and_policy
from runner.git_server import serving
from runner.life import Bill, Life
from runner.shop import BROKEN, GREEN, REPAIRED, Shop
from runner.site import EXAMPLES
from runner.surroundings import ROOT
from runner.triggers import Ruleset, Triggers

pytestmark = pytest.mark.slow

BESIDE = ("prjury-comment.yml", "prjury-queue.yml")
APART = ("prjury-build.yml", "prjury-judge.yml")
THEIRS = {"cart.sh": "# Another total.\ntotal() {\n  echo $(($1 + $2 + 0))\n}\n"}
#: One job that does all of it at whatever happens, as without any care.
UNGATED = """
name: All
on:
  pull_request:
    types: [opened, synchronize, reopened, edited, labeled, unlabeled, converted_to_draft,
            ready_for_review]
  push: {}
  issue_comment:
    types: [created]
  merge_group:
    types: [checks_requested]
concurrency:
  group: all-${{ github.event.pull_request.number || github.ref }}
  cancel-in-progress: true
jobs:
  all:
    name: all
    steps: []
"""


@contextmanager
def living(place: Path, files: Sequence[str]) -> Iterator[Life]:
    """A pull request before these workflows."""
    with running() as fake, serving(place / "git", place / "certificates") as git:
        shop = Shop.founded(place / "git", fake, git)
        workflows = place / "workflows"
        shutil.copytree(EXAMPLES, workflows)
        if "prjury-judge.yml" in files:
            beside = workflows / "prjury-comment.yml"
            beside.write_text(beside.read_text().replace("GATE: job", "GATE: status"))
        github = Triggers.of(*(workflows / name for name in files))
        github.rules = Ruleset(queue=True)
        (place / "all.yml").write_text(UNGATED)
        ungated = Triggers.of(place / "all.yml")
        found = Life(place / "jobs", shop, github, ungated, workflows)
        github.statuses = found.statuses
        yield found


@pytest.fixture
def life(tmp_path: Path) -> Iterator[Life]:
    with living(tmp_path, ("prjury.yml", *BESIDE)) as found:
        yield found


#: As .github/docs/measured.md tells it.
MEASURED = {
    "prjury.yml": Bill(runs=8, jobs=8, builds=7, requests=68),
    "prjury-comment.yml": Bill(runs=8, jobs=8, builds=0, requests=34),
    "prjury-queue.yml": Bill(runs=1, jobs=1, builds=1, requests=8),
}
MEASURED_FORKS = {
    "prjury-build.yml": Bill(runs=6, jobs=6, builds=6, requests=0),
    "prjury-judge.yml": Bill(runs=7, jobs=14, builds=0, requests=93),
    "prjury-comment.yml": Bill(runs=8, jobs=8, builds=0, requests=51),
    "prjury-queue.yml": Bill(runs=1, jobs=1, builds=1, requests=7),
}
READY, BLOCKED, CONFLICT = "ready", "blocked: failure", "blocked: this branch has conflicts"
DRAFT = "blocked: this pull request is still a work in progress"
PASSES, FAILS, OVERRIDDEN = "Ready to merge", "Do not merge", "verridden by"


def title_edits(life: Life) -> tuple[dict[str, Callable[[], None]], list[object]]:
    """An edit of the title as soon as something is posted, and what was shown around each."""
    seen: list[object] = []

    def edited() -> None:
        seen.append((life.box(), life.shown()))
        changes = {"title": {"from": "Old"}}
        life.happens("pull_request", life.shop.event("edited", changes=changes))
        seen.append((life.box(), life.shown()))

    posts = ("statuses", "check-runs") if life.shop.fork else ("check-runs",)
    return dict.fromkeys(posts, edited), seen


def assert_fixed(life: Life) -> None:
    """A build that was repaired is said to be, though no model has a key."""
    verdict = max(life.fake.bodies, key=lambda body: "id=default" in body)
    assert re.search(r": fixed [1-9]\d*, open 0, new 0\.", verdict), verdict[:900]


def pushes(life: Life) -> Iterator[str]:
    """From the first push to the rebase and the base's new name; each stop is a moment."""
    shop = life.shop
    life.happens("pull_request", shop.push(GREEN, "opened"))
    yield life.check(PASSES, "success", READY)
    life.happens("pull_request", shop.labelled("dependencies", "renovate[bot]"))
    yield life.check(PASSES, "success", READY)
    edits, seen = title_edits(life)
    life.happens("pull_request", shop.push(BROKEN), meanwhile=edits)
    during: list[object] = [("blocked: in progress", ["in_progress"])]
    if shop.fork:
        during = [("blocked: pending", []), ("blocked: pending", ["failure"])]
    assert seen == [one for one in during for _ in range(2)]
    yield life.check(FAILS, "failure", BLOCKED)
    life.happens("pull_request", shop.push(REPAIRED, force=True))
    yield life.check(PASSES, "success", READY)
    assert_fixed(life)
    life.happens("push", shop.move_base(THEIRS, conflicts=True))
    yield life.check("merge conflicts in 1 file", "failure", CONFLICT, conflicts=True)
    shop.fake.conflicting.clear()
    life.happens("pull_request", shop.push(BROKEN, force=True))
    yield life.check(FAILS, "failure", BLOCKED)
    life.happens("pull_request", shop.rename_base("trunk"))
    yield life.check(FAILS, "failure", BLOCKED)


def words(life: Life) -> Iterator[str]:
    """What maintainers say of it, until the queue takes it."""
    shop = life.shop
    life.says("/prjury dismiss 1 the till multiplies")
    yield life.check(FAILS, "failure", BLOCKED)
    life.says("/prjury override the till is repaired tomorrow")
    yield life.check(OVERRIDDEN, "success", READY)
    shop.draft = True
    life.happens("pull_request", shop.event("converted_to_draft"))
    yield life.check(OVERRIDDEN, "success", DRAFT, draft=True)
    shop.draft = False
    life.happens("pull_request", shop.event("ready_for_review"))
    yield life.check(OVERRIDDEN, "success", READY)
    assert life.is_merged_by_the_queue()
    yield life.check(OVERRIDDEN, "success", READY)


def assert_told(measured: Mapping[str, Bill]) -> None:
    page = (ROOT / ".github" / "docs" / "measured.md").read_text()
    rows = [(f"`{file}`", bill) for file, bill in measured.items()]
    counts = [sum(column) for column in zip(*map(astuple, measured.values()), strict=True)]
    for name, bill in [*rows, ("all", Bill(*counts))]:
        row = f"| {name} | {bill.runs} | {bill.jobs} | {bill.builds} | {bill.requests} |"
        assert row in page


def played(life: Life) -> int:
    """How many moments there were, at each of which what was shown was true."""
    moments = [*pushes(life), *words(life)]
    red = {run.file for run in life.github.runs if run.conclusion == "failure"}
    assert red <= {"prjury.yml", "prjury-build.yml", "prjury-judge.yml"}  # as build and gate are
    return len(moments)


def answers(life: Life) -> list[list[str]]:
    """What the answers to commands say of what has become of them."""
    said = ("cannot be dismissed", "started again")
    found = [body for body in life.fake.bodies if "id=answer." in body]
    return [[words for words in said if words in one] for one in found]


def test_at_each_moment_of_twelve_events_what_is_shown_is_true(life: Life) -> None:
    assert life.wrong(PASSES, "success", READY) != []
    assert played(life) == 12  # the edit of the title is one of its own, draft and back is one
    assert answers(life) == [["cannot be dismissed"]]
    assert life.bills == MEASURED
    ended = [run.conclusion for run in life.ungated.runs]
    assert (len(ended), ended.count("cancelled")) == (13, 1)
    assert_told(MEASURED)


@pytest.mark.parametrize(
    "builds_first", [False, pytest.param(True, marks=pytest.mark.nightly)], ids=["closed", "built"]
)
def test_at_each_moment_of_a_fork_what_is_shown_is_true(builds_first: bool, tmp_path: Path) -> None:
    """Whether the gate of a new head is closed before its build has ended, or late."""
    with living(tmp_path, (*APART, *BESIDE)) as life:
        life.shop.fork, life.builds_first = "mallory/shop", builds_first
        assert played(life) == 12
        assert answers(life) == [["cannot be dismissed"]]
        if not builds_first:
            assert life.bills == MEASURED_FORKS
            assert_told(MEASURED_FORKS)


@pytest.mark.nightly
@pytest.mark.parametrize("same_head", [False, True])
def test_a_build_that_another_one_cancels_says_nothing(same_head: bool, tmp_path: Path) -> None:
    with living(tmp_path, (*APART, *BESIDE)) as life:
        shop, life.shop.fork = life.shop, "mallory/shop"

        def again() -> None:
            event = shop.event("ready_for_review") if same_head else shop.push(GREEN)
            life.happens("pull_request", event)

        opened = shop.push(GREEN if same_head else BROKEN, "opened")
        life.happens("pull_request", opened, meanwhile={"statuses": again})
        life.check(PASSES, "success", READY)
        builds = [run.conclusion for run in life.github.runs if run.file == "prjury-build.yml"]
        assert builds == ["cancelled", "success"]
        said = "there is a newer one" if same_head else "Superseded"
        assert said in list(life.logs.values())[-1]


#: What the same pull request took before: requests by the way of judging, and our own comments.
BEFORE = {"one workflow": 291, "forks": 377}
COMMENTS_BEFORE = 11
#: The ten things that maintainers write, one of them no command and two of an earlier release.
ASKED = (
    *("help", "explain 1", "dismiss 1", "dismiss 1 the till multiplies", "fix", "backport 1.x"),
    *("please", "rerun", "review", "override the till is repaired tomorrow"),
)


def play_eighteen(life: Life) -> None:
    """Open, label, push four times, rename, make it conflict once, and give ten commands."""
    shop = life.shop
    life.happens("pull_request", shop.push(GREEN, "opened"))
    life.happens("pull_request", shop.labelled("dependencies", "renovate[bot]"))
    life.happens("pull_request", shop.push(BROKEN))
    life.happens("pull_request", shop.event("edited", changes={"title": {"from": "Old"}}))
    life.happens("pull_request", shop.push(REPAIRED, force=True))
    life.happens("push", shop.move_base(THEIRS, conflicts=True))
    shop.fake.conflicting.clear()
    life.happens("pull_request", shop.push(GREEN, force=True))
    life.happens("pull_request", shop.push(BROKEN))
    for words in ASKED:
        life.says(f"/prjury {words}")


@pytest.mark.parametrize("way", BEFORE)
def test_eighteen_events_take_half_of_what_they_took(way: str, tmp_path: Path) -> None:
    files = APART if way == "forks" else ("prjury.yml",)
    with living(tmp_path, (*files, *BESIDE)) as life:
        if way == "forks":
            life.shop.fork = "mallory/shop"
        play_eighteen(life)
        life.check(OVERRIDDEN, "success", READY)
        requests = sum(bill.requests for bill in life.bills.values())
        comments = [body for body in life.fake.bodies if not body.startswith("/prjury ")]
        assert requests <= BEFORE[way] / 2
        assert len(comments) <= COMMENTS_BEFORE / 2
        page = (ROOT / ".github" / "docs" / "measured.md").read_text()
        assert f"{way} | {BEFORE[way]} | {requests} | {len(comments)} |" in page


CHECKS = """\
version: 1
tiers:
  - name: build
    policy: final_tier
    judges: [merge, {build: {from: checks}}]
"""


def test_checks_that_are_read_hold_neither_the_running_job_nor_its_report(
    life: Life, tmp_path: Path
) -> None:
    """GitHub lists both on the head, the report of the run before as well."""
    shop = life.shop
    file = life.workflows / "prjury.yml"
    written = render_workflows_and_policy(Situation(), from_checks=True)
    file.write_text(written[".github/workflows/prjury.yml"])
    shop.move_base({".github/prjury.yml": CHECKS})
    opened = shop.push(GREEN, "opened", force=True)
    test = life.fake.add_check_run("test", "failure", suite=7, head_sha=shop.head)
    life.happens("pull_request", opened)
    life.check(FAILS, "failure", BLOCKED)
    test["conclusion"] = "success"
    life.says("/prjury review")
    life.check(PASSES, "success", READY)
    names = [one["name"] for one in life.fake.checks(shop.head)]
    assert sorted(set(names)) == ["Conflicts", "PR Jury report", "prjury", "test"]
    assert {log.count("waiting for") for log in life.logs.values()} == {0}
