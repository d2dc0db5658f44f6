"""Which of the things that are said of a commit count."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.github import Account, check_run_payload, status_payload, user_payload
from fakes.github import workflow_run_payload as run_payload
from prjury.github.check_results import CommitRuns, OwnRun, ReportedRun, read_check_run, read_status
from prjury.github.workflow_runs import WorkflowRun, read_workflow_run

ROOT = "http://127.0.0.1:1"


def job(
    number: int, name: str, conclusion: str | None = "success", suite: int = 1, **more: Any
) -> ReportedRun:
    return read_check_run(check_run_payload(ROOT, number, name, conclusion, suite) | more)


def flow(
    suite: int, conclusion: str | None = "success", name: str = "CI", **more: Any
) -> WorkflowRun:
    return read_workflow_run(run_payload(suite, name, conclusion, suite, suite) | more)


def status(number: int, context: str, state: str, login: str = "ci") -> ReportedRun:
    author = user_payload(ROOT, Account(login))
    return read_status(status_payload(number, context, state, author))


def said(*things: ReportedRun | WorkflowRun, own: OwnRun | None = None) -> list[str]:
    """``name: conclusion`` of what counts."""
    flows = [thing for thing in things if isinstance(thing, WorkflowRun)]
    reported = [thing for thing in things if isinstance(thing, ReportedRun)]
    runs = [one for one in reported if not one.run.app.startswith("@")]
    statuses = [one for one in reported if one.run.app.startswith("@")]
    commit = CommitRuns(flows, runs, statuses, own or OwnRun())
    return [f"{run.name}: {run.conclusion}" for run in commit.list_newest_foreign_results()]


class TestOurOwnWorkflows:
    """What only reports is no check of the change: neither waited for nor taken as evidence."""

    @pytest.mark.parametrize(
        ("path", "event", "name"),
        [
            ("prjury-conflicts.yml", "pull_request_target", "Conflicts"),
            ("prjury-conflicts.yml", "push", "Conflicts"),
            ("prjury-override.yml@refs/heads/main", "pull_request_target", "Override"),
            ("prjury-judge.yml", "workflow_run", "Publish"),
            ("prjury.yml", "pull_request", "Nothing to judge"),
            ("prjury.yml", "pull_request", "prjury / Nothing to judge"),
        ],
    )
    def test_they_are_left_out(self, path: str, event: str, name: str) -> None:
        run = flow(1, path=f".github/workflows/{path}", event=event)
        assert said(run, job(7, name), flow(2), job(8, "test", suite=2)) == ["test: success"]

    @pytest.mark.parametrize(
        ("path", "event", "name"),
        [
            ("prjury-tests.yml", "pull_request", "test"),
            ("prjury-tests.yml", "push", "test"),
            ("prjury.yml", "pull_request", "test"),
            ("prjurytests.yml", "pull_request_target", "test"),
            ("ci.yml", "pull_request_target", "Conflicts"),
        ],
    )
    def test_a_file_that_a_pull_request_brings_hides_nothing(
        self, path: str, event: str, name: str
    ) -> None:
        run = flow(1, path=f".github/workflows/{path}", event=event)
        assert said(run, job(7, name, "failure")) == [f"{name}: failure"]


class TestReading:
    @pytest.mark.parametrize("state", ["queued", "in_progress", "waiting", "requested", "pending"])
    def test_one_that_has_not_ended(self, state: str) -> None:
        assert job(7, "test", "success", status=state).run.conclusion is None

    @pytest.mark.parametrize(
        ("url", "shown"),
        [
            ("https://ci.example.org/7", "https://ci.example.org/7"),
            ("HTTP://ci/7", "HTTP://ci/7"),
            ("javascript:alert(1)", "https://page"),
            ("https://ci/ x", "https://page"),
            ("https://ci/\u202e", "https://page"),
            ("https://ci/" + "x" * 1_000, "https://page"),
            (None, "https://page"),
        ],
    )
    def test_only_plain_addresses_are_shown(self, url: object, shown: str) -> None:
        assert job(7, "test", details_url=url, html_url="https://page").run.url == shown

    def test_another_app_cannot_pass_for_a_workflow_by_its_address(self) -> None:
        page = "https://github.com/octo/shop/actions/runs/300/job/7"
        assert job(7, "test", details_url=page, app={"slug": "evil"}).of_run is None
        assert job(7, "test", details_url=page, app=None).run.app == ""

    @pytest.mark.parametrize("wrong", [{"name": ""}, {"name": None}, {"id": "7"}, {"id": True}])
    def test_what_is_no_check_run(self, wrong: dict[str, object]) -> None:
        with pytest.raises(ValueError, match=next(iter(wrong))):
            read_check_run(check_run_payload(ROOT, 7, "test", "success", 1) | wrong)

    @pytest.mark.parametrize(
        ("state", "conclusion"),
        [
            ("success", "success"),
            ("failure", "failure"),
            ("error", "error"),
            ("pending", None),
            ("", "unknown"),
            ("odd", "odd"),
        ],
    )
    def test_a_status(self, state: str, conclusion: str | None) -> None:
        run = status(7, "ci/jenkins", state, "jenkins").run
        assert (run.name, run.app, run.conclusion) == ("ci/jenkins", "@jenkins", conclusion)
        assert run.url == "https://ci.example.org/7"

    @pytest.mark.parametrize("key", ["id", "head_sha"])
    def test_what_is_no_workflow_run(self, key: str) -> None:
        with pytest.raises(ValueError, match=key):
            read_workflow_run(run_payload(3, "CI", "success", 3, 3) | {key: None})


class TestTheNewestWord:
    def test_whatever_the_order(self) -> None:
        runs = job(2, "test", suite=2), job(1, "test", "failure"), flow(2), flow(1, "failure")
        assert said(*runs) == ["test: success"]

    def test_where_workflows_are_not_known_every_suite_counts(self) -> None:
        runs = job(1, "test", "failure"), job(2, "test", suite=2)
        assert said(*runs) == ["test: failure", "test: success"]

    def test_one_that_runs_again_has_no_result(self) -> None:
        runs = flow(1), flow(2, None), job(1, "test"), job(2, "test", None, 2)
        assert said(*runs) == ["test: None"]

    def test_another_app_that_reports_again(self) -> None:
        app = {"slug": "circleci"}
        runs = job(2, "test", "success", app=app), job(1, "test", "failure", app=app)
        assert said(*runs) == ["test: success"]

    def test_another_app_does_not_speak_for_the_first(self) -> None:
        evil = job(2, "test", "success", app={"slug": "evil"})
        assert said(job(1, "test", "failure"), evil) == ["test: failure", "test: success"]

    def test_statuses(self) -> None:
        states = status(2, "ci", "success"), status(1, "ci", "failure"), status(3, "cd", "pending")
        assert said(*states) == ["ci: success", "cd: None"]

    def test_a_status_of_somebody_else_does_not_speak_for_the_first(self) -> None:
        states = status(1, "ci", "failure", "jenkins"), status(2, "ci", "success", "mallory")
        assert said(*states) == ["ci: failure", "ci: success"]


class TestWorkflowsThatSayMoreThanTheirJobs:
    @pytest.mark.parametrize(
        ("conclusion", "told"),
        [
            (None, "None"),
            ("action_required", "action_required"),
            ("startup_failure", "startup_failure"),
            ("failure", "failure"),
            ("success", "neutral"),
        ],
    )
    def test_one_without_jobs(self, conclusion: str | None, told: str) -> None:
        assert said(flow(1, conclusion)) == [f"CI: {told}"]

    def test_between_two_jobs_it_still_runs(self) -> None:
        assert said(flow(1, None), job(1, "test")) == ["test: success", "CI: None"]


class TestOurOwn:
    def test_also_where_the_workflow_is_not_listed(self) -> None:
        runs = job(1, "test", suite=3), job(2, "jury", None, 3)
        assert said(*runs, own=OwnRun(300)) == ["test: success"]

    def test_a_job_beside_it_that_runs_is_waited_for(self) -> None:
        runs = flow(3, None), job(1, "test", None, 3), job(2, "jury", None, 3)
        assert said(*runs, own=OwnRun(300, "jury")) == ["test: None"]

    @pytest.mark.parametrize("key", ["", "other"])
    def test_where_it_cannot_be_told_nothing_is_left_out(self, key: str) -> None:
        runs = flow(3, None), job(1, "test", None, 3), job(2, "jury", None, 3)
        assert said(*runs, own=OwnRun(300, key)) == ["test: None", "jury: None"]

    def test_the_same_job_of_other_runs_is_left_out(self) -> None:
        earlier = flow(1, "failure"), job(1, "jury", "failure", 1)
        push = flow(2, None, event="push"), job(2, "jury", None, 2)
        now = flow(3, None), job(3, "jury", None, 3), job(4, "test", suite=3)
        assert said(*earlier, *push, *now, own=OwnRun(300)) == ["test: success"]

    def test_a_job_of_that_name_in_another_workflow_counts(self) -> None:
        other = flow(2, "failure", workflow_id=71), job(2, "jury", "failure", 2)
        now = flow(3, None), job(3, "jury", None, 3)
        assert said(*other, *now, own=OwnRun(300)) == ["jury: failure"]

    def test_outside_of_a_run_everything_counts(self) -> None:
        assert said(flow(3, None), job(3, "jury", None, 3)) == ["jury: None"]

    @pytest.mark.parametrize("name", ["prjury", "prjury/gate", "PRJury", "prjury-gate"])
    def test_our_own_statuses_are_left_out(self, name: str) -> None:
        assert said(status(1, name, "pending")) == []

    def test_our_own_check_run_is_left_out(self) -> None:
        runs = job(1, "prjury", None), job(2, "PRJury", None), job(3, "prjury-tests", None)
        assert said(*runs) == ["prjury-tests: None"]
        ours = job(4, "PR Jury report", None, external_id="prjury:review:7")
        another = job(5, "PR Jury report", None, external_id="other")
        assert said(ours, another) == ["PR Jury report: None"]


def pull(base: str) -> dict[str, Any]:
    return {"base": {"ref": "main", "sha": base}}


@pytest.mark.parametrize(
    ("event", "pulls", "base"),
    [
        ("pull_request", [pull("b" * 40)], "b" * 40),
        ("pull_request", [pull("b" * 40), pull("c" * 40)], None),
        ("pull_request", [], None),
        ("pull_request", None, None),
        ("pull_request", [{"base": None}, "odd"], None),
        ("push", [pull("b" * 40)], ""),
    ],
)
def test_which_base_a_job_was_merged_with(event: str, pulls: object, base: str | None) -> None:
    runs = CommitRuns([flow(1, event=event, pull_requests=pulls)], [job(1, "test")])
    assert [run.base for run in runs.list_newest_foreign_results()] == [base]
