"""Whole stories of a pull request: what GitHub starts is played by a real runner, one by one."""

from __future__ import annotations

import pytest

from fakes.github import Account, Payload
from fakes.github.payloads import issue_payload
from runner.ran import Ran
from runner.shop import GREEN, NUMBER, REPAIRED, REPO, Shop
from runner.site import EXAMPLES, Site
from runner.triggers import Run, Triggers

pytestmark = pytest.mark.nightly

THEIRS = {"cart.sh": "# Another total.\ntotal() {\n  echo $(($1 + $2 + 0))\n}\n"}


class Story:
    """A site, and GitHub in front of its runner."""

    def __init__(self, site: Site, *names: str) -> None:
        self.site = site
        self.github = Triggers.of(*(EXAMPLES / name for name in names))

    def play(
        self, event: str, payload: Payload, *, conflicts: bool = False, no_quota: str = ""
    ) -> dict[str, Ran]:
        """What the event starts, each run to its end; what each has come to, by its file."""
        found = self.github.happens(event, payload, conflicts=conflicts)
        return {run.file: self._run(run, no_quota) for run in found}

    def _run(self, run: Run, no_quota: str) -> Ran:
        ran = self.site.run(run.file, run.event, run.payload, no_quota=no_quota)
        self.github.ends(run, "success" if ran.code == 0 else "failure")
        return ran

    def box(self, *, conflicts: bool = False) -> str:
        return self.github.merge_box(self.shop.head, conflicts=conflicts)

    @property
    def shop(self) -> Shop:
        return self.site.shop

    def is_about_now(self, headline: str, conclusion: str) -> bool:
        """Whether one comment and one check run tell the same of this very head."""
        ((_, comment),) = self.site.fake.comments.items()
        first, second = comment["body"].splitlines()[:2]
        checks = [one["conclusion"] for one in self.site.fake.checks(self.shop.head)]
        assert (checks, f"head={self.shop.head}" in first) == ([conclusion], True)
        return headline in second


def test_a_conflict_with_a_base_that_moved(site: Site) -> None:
    story = Story(site, "prjury.yml", "prjury-comment.yml")
    opened = story.play("pull_request", site.shop.push(GREEN, "opened"), no_quota="prjury-report")
    assert "Artifact storage quota" in opened["prjury.yml"].log
    assert opened["prjury.yml"].jobs == {"prjury": "success"}, opened["prjury.yml"].log[-6000:]
    assert (story.box(), story.is_about_now("Ready to merge", "success")) == ("ready", True)

    moved = story.play("push", site.shop.move_base(THEIRS, conflicts=True))
    assert moved["prjury-comment.yml"].jobs["conflicts"] == "success"
    assert story.is_about_now("merge conflicts in 1 file", "failure")
    assert story.box(conflicts=True) == "blocked: this branch has conflicts"


def test_a_push_into_a_conflict_and_its_repair(site: Site) -> None:
    story = Story(site, "prjury.yml", "prjury-comment.yml")
    story.play("pull_request", site.shop.push(GREEN, "opened"))
    site.shop.move_base(THEIRS, conflicts=True)
    pushed = site.shop.push({"README.md": "The shop.\n"})
    assert story.play("pull_request", pushed, conflicts=True) == {}
    story.play("pull_request_target", pushed, conflicts=True)
    assert story.is_about_now("merge conflicts in 1 file", "failure")
    site.fake.conflicting.clear()
    story.play("pull_request", site.shop.push(REPAIRED, force=True))
    assert (story.box(), story.is_about_now("Ready to merge", "success")) == ("ready", True)


def test_a_command_in_a_comment_is_answered_with_the_rights_of_its_job(site: Site) -> None:
    pull = site.shop.push(GREEN, "opened")
    said = site.fake.add_comment("/prjury help", Account("octocat", id=583_231))
    issue = issue_payload(site.fake.url, REPO, NUMBER)
    where = {key: pull[key] for key in ("repository", "sender")}
    payload = {"action": "created", "issue": issue, "comment": dict(said), **where}
    ran = site.run("prjury-comment.yml", "issue_comment", payload)
    assert ran.jobs["comment"] == "success", ran.log[-6_000:]
    _, answer = site.fake.bodies
    assert answer.startswith(f"<!-- prjury:v1 id=answer.{said['id']} ")
    assert "/prjury override REASON" in answer


def test_a_build_of_a_fork_that_was_cancelled_and_run_again(site: Site) -> None:
    site.shop.fork = "mallory/shop"
    opened, head = site.shop.push(GREEN, "opened"), site.shop.head
    site.shop.runs += 1
    cancelled = site.run("prjury-judge.yml", "workflow_run", site.shop.built("cancelled", None))
    assert cancelled.code == 0, cancelled.log[-6_000:]
    assert site.fake.latest_status(head, "prjury") == "pending"
    assert site.fake.bodies == []
    built = site.run("prjury-build.yml", "pull_request", opened, attempt=2)
    assert built.jobs == {"build": "success"}
    evidence = [one for one in site.artifacts if one.name == "build-evidence"][-1].content
    judged = site.run("prjury-judge.yml", "workflow_run", site.shop.built("success", evidence))
    assert judged.jobs["publish"] == "success", judged.log[-6_000:]
    assert site.fake.latest_status(head, "prjury") == "success"
