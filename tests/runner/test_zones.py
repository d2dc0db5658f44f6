"""`prjury-build.yml` and `prjury-judge.yml` of the examples: each zone with its own event."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fakes.github import Payload, zipped
from fakes.history import Files
from runner.ran import Ran
from runner.shop import BROKEN, GREEN
from runner.site import Site

pytestmark = pytest.mark.slow

STATUS = "prjury"
EVIDENCE = "build-evidence.json"


@pytest.fixture
def fork(site: Site) -> Site:
    """A site whose pull request comes from a fork, so that nobody trusts what it says."""
    site.shop.fork = "mallory/shop"
    return site


def build(site: Site, files: Files) -> Payload:
    """Runs the zone that runs the fork's code; the event that its end makes."""
    ran = site.run("prjury-build.yml", "pull_request", site.shop.push(files, "opened"))
    kept = next(one for one in site.artifacts if one.name == "build-evidence")
    assert list(ran.jobs) == ["build"], ran.log
    return site.shop.built(ran.jobs["build"], kept.content)


def judge(site: Site, event: Payload, *, corrupted: str = "", lost: str = "") -> Ran:
    """Runs the zones that read, ask and write."""
    ran = site.run("prjury-judge.yml", "workflow_run", event, corrupted=corrupted, lost=lost)
    assert site.fake.writes, ran.log
    return ran


def agrees(site: Site, ran: Ran, verdict: str, gate: str, state: str) -> None:
    """The status is the gate; the check run, the outputs and the summary tell the same."""
    head = site.shop.head
    outputs = ran.outputs("Publish")
    assert (outputs["verdict"], outputs["gate"]) == (verdict, gate), ran.log
    assert site.fake.latest_status(head, STATUS) == state
    assert [(one["status"], one["conclusion"]) for one in site.fake.checks(head)] in (
        [("completed", gate)],
        [],  # where it is not known what the policy wants
    )
    assert outputs["headline"].partition("`")[0][:60] in ran.summary("publish")
    assert ran.jobs["publish"] == ("success" if gate == "success" else "failure")


@pytest.mark.parametrize(
    ("files", "verdict", "gate", "said"),
    [
        pytest.param(GREEN, "pass", "success", "Ready to merge", id="green"),
        pytest.param(
            BROKEN, "fail", "failure", "build fails", id="broken", marks=pytest.mark.nightly
        ),
    ],
)
@pytest.mark.nightly
def test_what_a_fork_builds_is_judged_without_its_code(
    fork: Site, files: Files, verdict: str, gate: str, said: str
) -> None:
    ran = judge(fork, build(fork, files))
    agrees(fork, ran, verdict, gate, gate)
    assert ran.jobs["collect"] == "success"
    assert "judge" not in ran.jobs  # there is no key
    assert fork.fake.checks(fork.shop.head)
    ((number, comment),) = fork.fake.comments.items()
    assert fork.shop.head[:12] in comment["body"]
    assert said in comment["body"]
    assert ran.outputs("Publish")["comment-url"].endswith(f"#issuecomment-{number}")
    names = [one.name for one in fork.artifacts]
    assert ("prjury-build-log" in names) == (verdict == "fail")
    assert [name for name in names if name != "prjury-build-log"] == [
        "build-evidence",
        "evidence.json",
        "prjury-packages",
        "prjury-report",
    ]


@pytest.mark.nightly
def test_a_build_without_evidence_opens_nothing(fork: Site) -> None:
    fork.shop.push(GREEN, "opened")
    ran = judge(fork, fork.shop.built("success", None))
    agrees(fork, ran, "error", "action_required", "error")
    assert "Ready to merge" not in "".join(fork.fake.bodies)


@pytest.mark.nightly
def test_a_job_that_fails_leaves_an_error_behind(fork: Site) -> None:
    fork.shop.push(GREEN, "opened")
    ran = judge(fork, fork.shop.built("success", None), lost="evidence.json")
    assert ran.jobs["collect"] == "success", ran.log
    agrees(fork, ran, "error", "action_required", "error")
    assert "Ready to merge" not in "".join(fork.fake.bodies)


@pytest.mark.nightly
def test_what_changes_on_its_way_opens_nothing(fork: Site) -> None:
    ran = judge(fork, build(fork, GREEN), corrupted="evidence.json")
    agrees(fork, ran, "error", "action_required", "error")
    assert fork.fake.bodies == []


def other_tree(said: Any) -> Any:
    return {**said, "merged_tree": "1" * 40}


def other_format(said: Any) -> Any:
    return {**said, "builds": "all of them passed"}


@pytest.mark.nightly
@pytest.mark.parametrize("forge", [other_tree, other_format])
def test_forged_evidence_opens_nothing(fork: Site, forge: Any) -> None:
    build(fork, GREEN)
    said = forge(json.loads(fork.artifacts[-1].file(EVIDENCE)))
    evidence = zipped({EVIDENCE: json.dumps(said).encode()})
    ran = judge(fork, fork.shop.built("success", evidence))
    agrees(fork, ran, "error", "action_required", "error")
    assert "Ready to merge" not in "".join(fork.fake.bodies)


@pytest.mark.nightly
def test_a_run_about_an_older_commit_leaves_the_newer_one_alone(fork: Site) -> None:
    event = build(fork, GREEN)
    old = fork.shop.head
    fork.shop.push(BROKEN)
    ran = fork.run("prjury-judge.yml", "workflow_run", event)
    assert ran.outputs("Publish")["gate"] == "action_required", ran.log
    assert fork.fake.statuses_of(fork.shop.head) == []
    assert fork.fake.latest_status(old, STATUS) != "success"
    assert fork.fake.bodies == []
