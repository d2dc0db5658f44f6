"""The whole life of a pull request: what it shows at each moment, and what that costs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.github import running
from prjury.cli.init import POLICY, by_checks
from runner.git_server import serving
from runner.life import Bill, Life
from runner.shop import BROKEN, GREEN, REPAIRED, Shop
from runner.site import EXAMPLES
from runner.surroundings import ROOT
from runner.triggers import Ruleset, Triggers

pytestmark = pytest.mark.slow

FILES = ("prjury.yml", "prjury-conflicts.yml", "prjury-comment.yml", "prjury-queue.yml")
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


@pytest.fixture
def life(tmp_path: Path) -> Iterator[Life]:
    with running() as fake, serving(tmp_path / "git", tmp_path / "certificates") as git:
        shop = Shop.founded(tmp_path / "git", fake, git)
        github = Triggers.of(*(EXAMPLES / name for name in FILES))
        github.rules = Ruleset(queue=True)
        (tmp_path / "all.yml").write_text(UNGATED)
        ungated = Triggers.of(tmp_path / "all.yml")
        yield Life(tmp_path / "jobs", shop, github, ungated)


#: As .github/docs/github.md tells it.
MEASURED = {
    "prjury.yml": Bill(runs=9, jobs=9, builds=7, requests=134),
    "prjury-conflicts.yml": Bill(runs=6, jobs=6, builds=0, requests=24),
    "prjury-comment.yml": Bill(runs=2, jobs=2, builds=0, requests=29),
    "prjury-queue.yml": Bill(runs=1, jobs=1, builds=1, requests=11),
}
READY, BLOCKED, CONFLICT = "ready", "blocked: failure", "blocked: this branch has conflicts"
DRAFT = "blocked: this pull request is still a work in progress"
PASSES, FAILS, OVERRIDDEN = "Ready to merge", "Do not merge", "verridden by"


def title_edited(life: Life) -> None:
    """While the build of a new head is running."""
    running_now = ("blocked: in progress", ["in_progress"])
    assert (life.box(), life.shown()) == running_now
    changes = {"title": {"from": "Old"}}
    (idle, _) = life.happens("pull_request", life.shop.event("edited", changes=changes))
    assert idle.jobs["prjury"].name == "Nothing to judge"
    assert (life.box(), life.shown()) == running_now


def pushes(life: Life) -> Iterator[str]:
    """From the first push to the rebase and the base's new name; each stop is a moment."""
    shop = life.shop
    life.happens("pull_request", shop.push(GREEN, "opened"))
    yield life.check(PASSES, "success", READY)
    life.happens("pull_request", shop.labelled("dependencies", "renovate[bot]"))
    yield life.check(PASSES, "success", READY)
    life.happens("pull_request", shop.push(BROKEN), meanwhile=lambda: title_edited(life))
    yield life.check(FAILS, "failure", BLOCKED)
    life.happens("pull_request", shop.push(REPAIRED, force=True))
    yield life.check(PASSES, "success", READY)
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


def test_at_each_moment_of_twelve_events_what_is_shown_is_true(life: Life) -> None:
    assert life.wrong(PASSES, "success", READY) != []
    moments = [*pushes(life), *words(life)]
    assert len(moments) == 12  # the edit of the title is one of its own, draft and back is one
    answers = [body for body in life.fake.bodies if "id=answer." in body]
    assert [("is dismissed" in one, "started again" in one) for one in answers] == [
        (True, False),
        (False, True),
    ]
    assert life.bills == MEASURED
    ended = [run.conclusion for run in life.ungated.runs]
    assert (len(ended), ended.count("cancelled")) == (13, 1)
    page = (ROOT / ".github" / "docs" / "github.md").read_text()
    for file, bill in MEASURED.items():
        assert f"| `{file}` | {bill.runs} | {bill.builds} | {bill.requests} |" in page
    every = MEASURED.values()
    counts = [sum(getattr(one, name) for one in every) for name in ("runs", "builds", "requests")]
    assert "| all | {} | {} | {} |".format(*counts) in page


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
    shop, life.workflows = life.shop, tmp_path / "workflows"
    shutil.copytree(EXAMPLES, life.workflows)
    file = life.workflows / "prjury.yml"
    (_, text), *_ = by_checks({"prjury.yml": file.read_text(), POLICY: ""}).items()
    file.write_text(text)
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
