"""`prjury.yml` of the examples, from the event to the comment, run by a real runner."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runner.ran import Ran
from runner.shop import BROKEN, GREEN, REPAIRED
from runner.site import Site

pytestmark = pytest.mark.slow

JOB = "prjury"


def comments(site: Site) -> list[tuple[int, str]]:
    return sorted((number, one["body"]) for number, one in site.fake.comments.items())


def kept(site: Site) -> dict[str, Any]:
    """The verdict in the report that the last run of the workflow has kept."""
    artifact = site.artifacts[-1]
    assert b"<html" in artifact.file("report.html")
    verdict: dict[str, Any] = json.loads(artifact.file("report.json"))["verdict"]
    return verdict


def agrees(site: Site, ran: Ran, verdict: str, gate: str) -> None:
    """Every place tells the same of the same commit."""
    outputs, told = ran.outputs("Review"), kept(site)
    assert (outputs["verdict"], outputs["gate"]) == (verdict, gate), ran.log
    assert (told["status"], told["gate"]) == (verdict, gate)
    assert outputs["headline"] == told["headline"]
    assert told["headline"] in ran.summary()
    assert ran.jobs == {JOB: "success" if gate == "success" else "failure"}
    assert ran.code == (gate != "success")


def is_checked(site: Site, conclusion: str) -> bool:
    """Whether one check run on the newest commit has come to that end."""
    checks = site.fake.checks(site.shop.head)
    return [(one["status"], one["conclusion"]) for one in checks] == [("completed", conclusion)]


def is_about_the_head(site: Site, text: str) -> bool:
    return site.shop.head[:12] in text


def test_one_comment_follows_the_pull_request(site: Site) -> None:
    opened = site.run("prjury.yml", "pull_request", site.shop.push(GREEN, "opened"))
    agrees(site, opened, "pass", "success")
    assert is_checked(site, "success")
    ((number, first),) = comments(site)
    assert opened.outputs("Review")["comment-url"].endswith(f"#issuecomment-{number}")
    assert is_about_the_head(site, first)

    pushed = site.run("prjury.yml", "pull_request", site.shop.push(BROKEN))
    agrees(site, pushed, "fail", "failure")
    assert is_checked(site, "failure")
    ((same, second),) = comments(site)
    assert same == number
    assert is_about_the_head(site, second)
    assert "make" in second

    forced = site.run("prjury.yml", "pull_request", site.shop.push(REPAIRED, force=True))
    agrees(site, forced, "pass", "success")
    assert is_checked(site, "success")
    ((same, third),) = comments(site)
    assert same == number
    assert is_about_the_head(site, third)
    assert "Ready to merge" in third


@pytest.mark.nightly
@pytest.mark.parametrize("site", ["/api/v3"], indirect=True)
def test_a_fork_gets_its_verdict_without_a_token_that_writes(site: Site) -> None:
    site.shop.fork = "mallory/shop"
    ran = site.run("prjury.yml", "pull_request", site.shop.push(BROKEN, "opened"))
    agrees(site, ran, "fail", "failure")
    assert is_about_the_head(site, ran.summary())
    assert "GitHub answers 403" in ran.summary()
    assert "The report is in the job summary and in the report files" in ran.summary()
    assert ran.outputs("Review")["comment-url"] == ""
    assert (comments(site), site.fake.check_runs, site.fake.statuses) == ([], [], [])


@pytest.mark.nightly  # tests/runner/test_life.py plays the queue in this process
def test_a_merge_queue_judges_its_own_commit(site: Site) -> None:
    site.shop.push(GREEN, "opened")
    event = site.shop.queued()
    ran = site.run("prjury-queue.yml", "merge_group", event)
    agrees(site, ran, "pass", "success")
    assert event["merge_group"]["head_sha"][:12] in ran.summary()
    assert comments(site) == []
