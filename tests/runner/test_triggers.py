"""Our workflows before GitHub's habits: what starts, what is ended, what the merge box says."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.github import pull_payload, side_payload
from runner.site import EXAMPLES
from runner.triggers import Run, Triggers, started

ROOT = "https://api.github.com"
ALONE = ("prjury.yml", "prjury-comment.yml")
APART = ("prjury-build.yml", "prjury-judge.yml", "prjury-comment.yml")
HEAD, NEXT = "b" * 40, "c" * 40
#: As the workflow was before: one group by number, and whatever comes ends what is there.
BEFORE = """
on:
  pull_request:
    types: [opened, synchronize, reopened, ready_for_review, edited, labeled, unlabeled]
concurrency:
  group: prjury-${{ github.event.pull_request.number }}
  cancel-in-progress: true
jobs:
  prjury:
    name: prjury
    steps: []
"""


def triggers(names: tuple[str, ...]) -> Triggers:
    return Triggers.of(*(EXAMPLES / name for name in names))


def pull_event(
    action: str, head: str = HEAD, *, fork: str = "octo/shop", **more: Any
) -> dict[str, Any]:
    pull = pull_payload(ROOT, "octo/shop", 7) | {"head": side_payload(ROOT, fork, "cart", head)}
    event = {"action": action, "number": 7, "pull_request": pull, "sender": {"login": "octocat"}}
    after = {"after": head} if action == "synchronize" else {}
    return {**event, **after, **more}


def review(found: list[Run]) -> Run:
    (run,) = [one for one in found if one.file == "prjury.yml"]
    return run


IRRELEVANT = [
    pytest.param("edited", {"changes": {"title": {"from": "Old"}}}, id="title"),
    pytest.param("edited", {"changes": {"body": {"from": None}}}, id="text"),
]


class TestOneWorkflow:
    @pytest.mark.parametrize(("action", "more"), IRRELEVANT)
    @pytest.mark.parametrize("end", ["success", "failure"])
    def test_what_changes_nothing_leaves_the_run_and_its_check_alone(
        self, action: str, more: dict[str, Any], end: str
    ) -> None:
        github = triggers(ALONE)
        first = review(github.happens("pull_request", pull_event("opened")))
        other = review(github.happens("pull_request", pull_event(action, **more)))
        assert first.status == "in_progress"
        assert github.newest(HEAD, "prjury") == "in progress"
        assert other.jobs["prjury"].name == "Nothing to judge"
        github.ends(other, "success")
        assert github.merge_box(HEAD) == "blocked: in progress"
        github.ends(first, end)
        github.ends(review(github.happens("pull_request", pull_event(action, **more))), "success")
        assert github.merge_box(HEAD) == ("ready" if end == "success" else "blocked: failure")

    def test_a_new_head_ends_the_run_of_the_old_one(self) -> None:
        github = triggers(ALONE)
        first = review(github.happens("pull_request", pull_event("opened")))
        second = review(github.happens("pull_request", pull_event("synchronize", NEXT)))
        assert (first.conclusion, second.status) == ("cancelled", "in_progress")
        assert github.newest(NEXT, "prjury") == "in progress"

    @pytest.mark.parametrize("action", ["labeled", "unlabeled"])
    @pytest.mark.parametrize("names", [ALONE, APART])
    def test_a_label_starts_nothing(self, names: tuple[str, ...], action: str) -> None:
        event = pull_event(action, label={"name": "prjury:override"})
        for name in ("pull_request", "pull_request_target"):
            assert triggers(names).happens(name, event) == []

    def test_a_draft_that_is_ready_waits_for_the_run_that_is_there(self) -> None:
        github = triggers(ALONE)
        first = review(github.happens("pull_request", pull_event("opened")))
        ready = review(github.happens("pull_request", pull_event("ready_for_review")))
        assert (first.status, ready.status, ready.jobs) == ("in_progress", "pending", {})
        github.ends(first, "failure")
        assert ready.status == "in_progress"
        assert "cancelled" not in {one.conclusion for one in github.checks}

    def test_another_base_is_judged_beside_the_earlier_one(self) -> None:
        github = triggers(ALONE)
        first = review(github.happens("pull_request", pull_event("opened")))
        moved = pull_event("edited", changes={"base": {"ref": {"from": "main"}, "sha": {}}})
        moved["pull_request"]["base"] = side_payload(ROOT, "octo/shop", "1.x", "d" * 40)
        second = review(github.happens("pull_request", moved))
        github.ends(first, "success")
        assert (second.status, github.merge_box(HEAD)) == ("in_progress", "blocked: in progress")

    def test_a_run_that_is_repeated_is_the_newest_check(self) -> None:
        github = triggers(ALONE)
        run = review(github.happens("pull_request", pull_event("opened")))
        github.ends(run, "failure")
        assert github.again(run).attempt == 2
        assert github.merge_box(HEAD) == "blocked: in progress"
        github.ends(run, "success")
        assert github.merge_box(HEAD) == "ready"

    def test_what_a_job_does_with_its_own_token_starts_nothing(self) -> None:
        assert triggers(ALONE).happens("pull_request", pull_event("opened"), by_job=True) == []

    @pytest.mark.parametrize(
        ("fork", "by", "reads"),
        [
            ("octo/shop", "octocat", False),
            ("mallory/shop", "mallory", True),
            ("octo/shop", "dependabot[bot]", True),
        ],
    )
    def test_whose_token_only_reads(self, fork: str, by: str, reads: bool) -> None:
        event = pull_event("opened", fork=fork) | {"sender": {"login": by}}
        assert review(triggers(ALONE).happens("pull_request", event)).reads_only is reads


class TestConflicts:
    @pytest.mark.parametrize("names", [ALONE, APART])
    def test_only_what_starts_from_the_default_branch_runs(self, names: tuple[str, ...]) -> None:
        github, event = triggers(names), pull_event("synchronize")
        assert github.happens("pull_request", event, conflicts=True) == []
        found = github.happens("pull_request_target", event, conflicts=True)
        assert set(started(found)) == {"prjury-comment.yml"}
        assert github.merge_box(HEAD, conflicts=True) == "blocked: this branch has conflicts"
        assert github.newest(HEAD, "prjury") is None

    def test_a_base_that_moves_is_looked_at_and_a_tag_is_not(self) -> None:
        github = triggers(ALONE)
        push = {"ref": "refs/heads/main", "after": "d" * 40}
        assert len(github.happens("push", push)) == 1
        assert github.happens("push", {"ref": "refs/tags/v1", "after": "d" * 40}) == []

    def test_a_title_ends_no_look(self) -> None:
        github = triggers(ALONE)
        (run,) = github.happens("pull_request_target", pull_event("opened"))
        title = pull_event("edited", changes={"title": {"from": "Old"}})
        assert list(started(github.happens("pull_request_target", title))) == []
        assert run.status == "in_progress"


class TestForks:
    def test_a_title_during_the_build_ends_neither_it_nor_the_judge(self) -> None:
        github, title = triggers(APART), pull_event("edited", changes={"title": {"from": "x"}})
        (build,) = github.happens("pull_request", pull_event("opened"))
        (skipped,) = github.happens("pull_request", title)
        assert (build.status, skipped.conclusion) == ("in_progress", "skipped")
        (judge,) = github.ends(build, "success")
        (skipped,) = github.happens("pull_request", title)
        (other,) = github.ends(skipped, "skipped")
        assert {name: one.conclusion for name, one in other.jobs.items()}["collect"] == "skipped"
        assert judge.status == "in_progress"

    @pytest.mark.parametrize(
        "conclusion", ["cancelled", "action_required", "startup_failure", "stale", "skipped"]
    )
    def test_a_build_that_did_not_run_collects_nothing(self, conclusion: str) -> None:
        """One that waits for an approval is told of as completed before anybody approves."""
        github = triggers(APART)
        (build,) = github.happens("pull_request", pull_event("opened"))
        (judge,) = github.ends(build, conclusion)
        assert judge.jobs["collect"].conclusion == "skipped"

    def test_a_build_that_was_cancelled_ends_no_judge(self) -> None:
        github = triggers(APART)
        (build,) = github.happens("pull_request", pull_event("opened"))
        (judge,) = github.ends(build, "success")
        (second,) = github.happens("pull_request", pull_event("ready_for_review"))
        github.ends(second, "cancelled")
        assert judge.status == "in_progress"

    def test_a_title_does_not_keep_the_gate_of_a_new_head_open(self) -> None:
        github = triggers(APART)
        (closing,) = github.happens("pull_request_target", pull_event("synchronize", NEXT))
        title = pull_event("edited", NEXT, changes={"title": {"from": "Old"}})
        assert list(started(github.happens("pull_request_target", title))) == []
        assert closing.status == "in_progress"
