"""The checks of a commit, read from a server that speaks as GitHub does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice

import pytest

from fakes.github import HEAD_SHA, FakeGitHub, Fault, running
from prjury.deadline import Deadline
from prjury.errors import SourceError
from prjury.github.check_results import OwnRun
from prjury.github.checks import CommitChecks
from prjury.github.client import Connection
from prjury.ports.types import CheckResult

TOKEN = "ghs_actions"


@pytest.fixture
def fake() -> Iterator[FakeGitHub]:
    with running() as server:
        yield server


@dataclass
class Clock:
    """Notes the pauses, and lets something happen in the first ones."""

    events: list[Callable[[], object]] = field(default_factory=list)
    pauses: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        if self.events:
            self.events.pop(0)()


def looks(
    fake: FakeGitHub,
    number: int = 1,
    clock: Clock | None = None,
    own: OwnRun | None = None,
    seconds: float = 1_000,
) -> list[list[CheckResult]]:
    connection = Connection(fake.url, TOKEN, timeout=5, seconds_between_requests=0)
    checks = CommitChecks(connection, "octo/shop", own or OwnRun(), sleep=(clock or Clock()).sleep)
    seen = checks.poll(HEAD_SHA, Deadline.after(seconds))
    return [list(look) for look in islice(seen, number)]


def told(fake: FakeGitHub, own: OwnRun | None = None) -> list[tuple[str, str, str | None]]:
    (look,) = looks(fake, own=own)
    return [(run.app, run.name, run.conclusion) for run in look]


def test_nothing_at_all(fake: FakeGitHub) -> None:
    assert told(fake) == []
    assert [request.path for request in fake.requests] == [
        f"/repos/octo/shop/actions/runs?head_sha={HEAD_SHA}&page=1&per_page=100",
        f"/repos/octo/shop/commits/{HEAD_SHA}/check-runs?filter=latest&page=1&per_page=100",
        f"/repos/octo/shop/commits/{HEAD_SHA}/statuses?page=1&per_page=100",
    ]


def test_check_runs_statuses_and_workflows(fake: FakeGitHub) -> None:
    fake.add_workflow_run("CI", "success", suite=1)
    fake.add_check_run("test", "success", suite=1)
    fake.add_status("ci/jenkins", "pending", "jenkins")
    fake.add_workflow_run("Docs", suite=2, workflow_id=71)
    assert told(fake) == [
        ("github-actions", "test", "success"),
        ("@jenkins", "ci/jenkins", None),
        ("github-actions", "Docs", None),
    ]


def test_every_page_is_read(fake: FakeGitHub) -> None:
    for number in range(250):
        fake.add_check_run(f"test {number}", "success" if number else "failure")
        fake.add_status(f"ci/{number}", "success")
    (look,) = looks(fake)
    assert len(look) == 500
    assert {run.name for run in look if run.conclusion == "failure"} == {"test 0"}
    assert [path.split("&")[1] for path in paths(fake, "/check-runs")] == [
        "page=1",
        "page=2",
        "page=3",
    ]


def paths(fake: FakeGitHub, part: str) -> list[str]:
    return [request.path for request in fake.requests if part in request.path]


def test_it_looks_again_and_waits_longer_each_time(fake: FakeGitHub) -> None:
    run = fake.add_check_run("test")
    clock = Clock([lambda: None, lambda: run.update(status="completed", conclusion="success")])
    seen = looks(fake, 7, clock)
    assert [look[0].conclusion for look in seen] == [None, None, *["success"] * 5]
    assert clock.pauses == [15.0, 22.5, 33.75, 50.625, 60.0, 60.0]


def test_what_has_not_changed_is_not_sent_again(fake: FakeGitHub) -> None:
    fake.add_check_run("test")
    first, second, third = looks(fake, 3, Clock([lambda: fake.add_status("ci", "success")]))
    assert first == second[:1]
    assert [run.name for run in third] == ["test", "ci"]
    conditional = [bool(request.etag) for request in fake.requests]
    assert conditional == [False] * 3 + [True] * 6


def test_the_last_look_is_at_the_deadline(fake: FakeGitHub) -> None:
    fake.add_check_run("test")
    clock = Clock()
    assert len(looks(fake, 9, clock, seconds=0)) == 1
    assert clock.pauses == []


@pytest.mark.parametrize(
    ("path", "permission"),
    [
        ("/check-runs", "checks: read"),
        ("/statuses", "statuses: read"),
        ("/actions/runs", "actions: read"),
    ],
)
def test_a_permission_that_is_missing_is_named(
    fake: FakeGitHub, path: str, permission: str
) -> None:
    body = '{"message": "Resource not accessible by integration"}'
    fake.faults = [Fault("GET", path, status=403, body=body)]
    with pytest.raises(SourceError, match=f"`{permission}`") as caught:
        looks(fake)
    assert caught.value.reason == "permission"


@pytest.mark.parametrize(
    "body",
    [
        "[]",
        "{}",
        '{"check_runs": 1}',
        '{"check_runs": [1]}',
        '{"check_runs": [{"id": 1}]}',
        '{"check_runs": [{"id": 0, "name": "x"}]}',
        '{"check_runs": [{"id": 1, "name": "x", "check_suite": {"id": "y"}}]}',
    ],
)
def test_what_is_not_githubs_answer(fake: FakeGitHub, body: str) -> None:
    fake.faults = [Fault("GET", "/check-runs", status=200, body=body)]
    with pytest.raises(SourceError) as caught:
        looks(fake)
    assert caught.value.reason == "bad_response"


def test_this_very_job_is_not_waited_for(fake: FakeGitHub) -> None:
    fake.add_workflow_run("CI", suite=3)
    fake.add_check_run("test", "success", suite=3)
    fake.add_check_run("jury", suite=3)
    assert told(fake, OwnRun(300, "jury")) == [("github-actions", "test", "success")]
    assert (None, "jury") in [(run[2], run[1]) for run in told(fake)]


def asked(fake: FakeGitHub) -> CommitChecks:
    connection = Connection(fake.url, TOKEN, timeout=5, seconds_between_requests=0)
    return CommitChecks(connection, "octo/shop", OwnRun(), sleep=Clock().sleep)


class TestWhatChecksLeave:
    """The reports in artifacts of the commit's workflow runs."""

    soon = Deadline.after(1_000)

    def test_reports_of_the_newest_ended_runs(self, fake: FakeGitHub) -> None:
        old = fake.add_workflow_run("CI", "failure", suite=1, workflow_id=70)
        new = fake.add_workflow_run("CI", "failure", suite=2, workflow_id=70)
        running_still = fake.add_workflow_run("Docs", suite=3, workflow_id=71)
        for run, name in ((old, "old"), (new, "new"), (running_still, "docs")):
            report = f'<testsuite name="{name}" tests="1"><testcase name="t"/></testsuite>'
            files = {"TEST-shop.xml": report.encode(), "log.txt": b"no report"}
            fake.add_artifact("junit-linux", files, run["id"])
        fake.add_artifact("site", {"index.html": b"<html/>"}, new["id"])
        left = asked(fake).reports(HEAD_SHA, ["*junit*"], self.soon)
        assert [*left.files] == ["junit-linux/TEST-shop.xml"]
        assert b'name="new"' in left.files["junit-linux/TEST-shop.xml"]
        assert left.problems == ()

    def test_an_archive_that_is_none_is_a_problem_and_no_crash(self, fake: FakeGitHub) -> None:
        run = fake.add_workflow_run("CI", "success", suite=1)
        fake.add_artifact("junit", b"PK\x03\x04 nothing behind it", run["id"])
        left = asked(fake).reports(HEAD_SHA, ["*junit*"], self.soon)
        assert left.files == {}
        assert [problem.split(":")[0] for problem in left.problems] == [
            "the artifact junit is refused"
        ]
