"""Check runs and statuses, written to a server that speaks as GitHub does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from fakes.github import HEAD_SHA, READ_ONLY_ACTIONS, Account, FakeGitHub, Fault, running
from fakes.reports import broken_build, with_findings
from fakes.writing import connected
from prjury.errors import PublishError
from prjury.github.client import GitHub
from prjury.github.repo_client import RepoClient
from prjury.jury.gate import Gate
from prjury.publishers.check_run import NAME, CheckRunReport
from prjury.publishers.status import CommitStatus
from prjury.report.model import Report
from prjury.report.render import Renderer
from prjury.snapshot.model import Side

PAGE = "https://github.com/octo/shop/actions/runs/{}/attempts/{}"
OURS = PAGE.format(50, 1)


@pytest.fixture
def fake() -> Iterator[FakeGitHub]:
    with running() as server:
        server.add_pull("octo/shop", 7)
        yield server


def of_head(made: Report, **more: Any) -> Report:
    return replace(made, pull=structs.replace(made.pull, head=Side("cart", HEAD_SHA)), **more)


def check_run(hub: GitHub, page: str = OURS) -> CheckRunReport:
    return CheckRunReport(RepoClient(hub, "octo/shop"), 7, Renderer().check, page=page)


def status(hub: GitHub, page: str = OURS) -> CommitStatus:
    return CommitStatus(RepoClient(hub, "octo/shop"), page)


def test_from_in_progress_to_the_conclusion(fake: FakeGitHub) -> None:
    with connected(fake) as hub:
        check_run(hub).start(HEAD_SHA)
        (begun,) = fake.checks()
        assert (begun["status"], begun["conclusion"]) == ("in_progress", None)
        address = check_run(hub).publish(of_head(broken_build()))
    (run,) = fake.checks()
    assert (run["name"], run["conclusion"], run["html_url"]) == (NAME, "failure", address)
    assert run["external_id"] == "prjury:default:7:50.1"
    assert run["output"]["title"].startswith("❌ Do not merge")
    assert "Must fix: 3" in run["output"]["summary"]
    assert "cannot find symbol" in run["output"]["text"]
    assert len(fake.annotations_of(NAME)) == 4


def test_a_second_run_changes_the_first_ones_and_sends_no_annotation_twice(
    fake: FakeGitHub,
) -> None:
    made = of_head(with_findings(120))
    for attempt in (1, 2, 3):
        with connected(fake) as hub:
            page = PAGE.format(50, attempt)
            check_run(hub, page).start(HEAD_SHA)
            check_run(hub, page).publish(made)
    assert [run["conclusion"] for run in fake.checks()] == ["failure"]
    assert len(fake.annotations_of(NAME)) == 120


def test_an_unclear_answer_midway_sends_no_annotation_twice(fake: FakeGitHub) -> None:
    fake.faults = [Fault("PATCH", "check-runs", moment="after")]
    with connected(fake) as hub:
        check_run(hub).publish(of_head(with_findings(120)))
    assert [run["conclusion"] for run in fake.checks()] == ["failure"]
    assert len(fake.annotations_of(NAME)) == 120


def test_stale_annotations_make_a_new_check_run(fake: FakeGitHub) -> None:
    with connected(fake) as hub:
        check_run(hub).publish(of_head(broken_build()))
        check_run(hub).publish(of_head(with_findings(2)))
    assert [run["conclusion"] for run in fake.checks()] == ["failure", "failure"]
    newest = fake.checks()[-1]["id"]
    assert len(fake.annotations[newest]) == 2


def test_a_foreign_check_run_of_that_name_is_left_alone(fake: FakeGitHub) -> None:
    fake.accounts["mallory"] = Account("mallory[bot]", "Bot", id=666, app=666)
    with connected(fake, "mallory") as hub:
        check_run(hub).publish(of_head(broken_build(), gate=Gate.SUCCESS))
    before = dict(fake.checks()[0])
    with connected(fake) as hub:
        check_run(hub).publish(of_head(broken_build()))
    assert fake.checks()[0] == before
    assert [run["conclusion"] for run in fake.checks()] == ["success", "failure"]


@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_refused_annotations_do_not_cost_the_conclusion(fake: FakeGitHub, method: str) -> None:
    with connected(fake) as hub:
        report_check = check_run(hub)
        if method == "PATCH":
            report_check.start(HEAD_SHA)
        fake.faults = [Fault(method, "check-runs", status=422, body='{"message": "Invalid."}')]
        report_check.publish(of_head(broken_build()))
    (run,) = fake.checks()
    assert run["conclusion"] == "failure"
    assert "GitHub refused annotations" in run["output"]["summary"]
    assert report_check.notes


@pytest.mark.parametrize("there", [None, "success", "failure"])
def test_a_run_that_broke_leaves_nothing_green_and_nothing_pending(
    fake: FakeGitHub, there: str | None
) -> None:
    fake.add_check_run(NAME, there, suite=9, external_id="prjury:default:7:50.1")
    with connected(fake) as hub:
        check_run(hub, PAGE.format(50, 2)).abandon("git failed: <b>@all</b>", HEAD_SHA)
    (run,) = fake.checks()
    assert run["conclusion"] == "action_required"
    assert "<b>" not in run["output"]["summary"]


def test_a_verdict_that_was_published_is_not_given_up_afterwards(fake: FakeGitHub) -> None:
    with connected(fake) as hub:
        first = check_run(hub)
        first.publish(of_head(broken_build(), gate=Gate.SUCCESS))
        first.abandon("too late", HEAD_SHA)
        check_run(hub).abandon("another job of the same run", HEAD_SHA)
    assert [run["conclusion"] for run in fake.checks()] == ["success"]


@pytest.mark.parametrize("newer", ["prjury:default:7:50.2", "prjury:default:7:51.1"])
def test_an_older_run_changes_nothing_of_a_newer_one(fake: FakeGitHub, newer: str) -> None:
    there = fake.add_check_run(NAME, "failure", suite=9, external_id=newer)
    with connected(fake) as hub:
        ours = check_run(hub)
        assert ours.start(HEAD_SHA) == there["html_url"]
        ours.publish(of_head(broken_build(), gate=Gate.SUCCESS))
        ours.abandon("it broke", HEAD_SHA)
    assert fake.writes == []


@pytest.mark.parametrize("external_id", ["prjury:default:8", "prjury:other:7:5.1", "5.1", ""])
def test_a_check_run_of_something_else_is_left_alone(fake: FakeGitHub, external_id: str) -> None:
    there = dict(fake.add_check_run(NAME, "success", suite=9, external_id=external_id))
    with connected(fake) as hub:
        check_run(hub).publish(of_head(broken_build()))
    assert fake.checks()[0] == there
    assert [run["conclusion"] for run in fake.checks()] == ["success", "failure"]


@pytest.mark.parametrize(
    "there",
    [
        {"state": "success", "target_url": PAGE.format(49, 9)},
        {"state": "success", "target_url": OURS.replace("octo/shop", "eve/shop")},
        {"state": "failure", "target_url": PAGE.format(99, 1), "author": "mallory"},
    ],
)
def test_another_status_is_no_reason_to_say_nothing(
    fake: FakeGitHub, there: dict[str, Any]
) -> None:
    fake.add_status("prjury", **there)
    with connected(fake) as hub:
        status(hub).publish(of_head(broken_build()))
    assert [one["state"] for one in fake.statuses] == [there["state"], "failure"]


def test_a_users_token_is_told_that_it_takes_an_app(fake: FakeGitHub) -> None:
    with connected(fake, "ghp_octocat") as hub, pytest.raises(PublishError) as caught:
        check_run(hub).publish(of_head(broken_build()))
    assert caught.value.reason == "permission"
    assert "from apps only" in str(caught.value)


def test_a_read_only_token_is_told_what_it_lacks(fake: FakeGitHub) -> None:
    fake.accounts["ghs_actions"] = READ_ONLY_ACTIONS
    with connected(fake) as hub:
        for act in (check_run(hub).publish, status(hub).publish):
            with pytest.raises(PublishError) as caught:
                act(of_head(broken_build()))
            assert caught.value.reason == "permission"
            assert "write" in caught.value.remedy


def test_the_status_is_set_once_and_by_the_newest_run(fake: FakeGitHub) -> None:
    made = of_head(broken_build())
    with connected(fake) as hub:
        status(hub).set(HEAD_SHA, "pending")
        status(hub).publish(made)
        status(hub).publish(made)
        status(hub, PAGE.format(50, 2)).publish(replace(made, gate=Gate.ACTION_REQUIRED))
        status(hub).publish(made)
        status(hub, PAGE.format(49, 7)).set(HEAD_SHA, "error", "late")
    assert [one["state"] for one in fake.statuses] == ["pending", "failure", "error"]
    assert fake.statuses[-1]["description"].startswith("❌ Do not merge")
    assert fake.statuses[-1]["target_url"] == PAGE.format(50, 2)


def test_an_address_that_github_chose_says_nothing_of_the_run(fake: FakeGitHub) -> None:
    """It leads to the run of the suite that the check was put into, which may be a newer one."""
    with connected(fake) as hub:
        check_run(hub).start(HEAD_SHA)
        assert "/actions/runs/100/" in fake.checks()[0]["details_url"]
        check_run(hub).publish(of_head(broken_build()))
        check_run(hub, PAGE.format(49, 1)).publish(of_head(broken_build(), gate=Gate.SUCCESS))
    assert [run["conclusion"] for run in fake.checks()] == ["failure"]
