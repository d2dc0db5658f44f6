"""What a CI says beside the checks of the head: the base's checks, annotations, test reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from fakes.repository import FakeRepository
from fakes.shell import ScriptedShell, SilentProgress
from fakes.trees import pull_context
from prjury.deadline import Deadline
from prjury.errors import SourceError
from prjury.judges.builds import make
from prjury.jury.judge import ask
from prjury.jury.judgment import Judgment, Status
from prjury.policy.load import read_options
from prjury.policy.tiers import BuildOptions
from prjury.ports import Ports
from prjury.ports.types import CheckResult, FetchedReports

CI = "github-actions"
FILES = {"src/cart.py": "", "tests/test_cart.py": ""}


def run(name: str, conclusion: str = "success", number: int = 0) -> CheckResult:
    return CheckResult(name, CI, conclusion, None, number)


def report(*failing: str, tests: Sequence[str] = ("a", "b", "c")) -> Mapping[str, bytes]:
    cases = "".join(
        f'<testcase classname="tests.test_cart" name="{name}">'
        + '<failure message="no">tests/test_cart.py:3: E</failure>' * (name in failing)
        + "</testcase>"
        for name in tests
    )
    return {"junit/r.xml": f'<testsuite name="pytest">{cases}</testsuite>'.encode()}


@dataclass
class SaidByCi:
    """A CI's word on both sides (`prjury.ports.Checks`)."""

    head: Sequence[CheckResult]
    base: Sequence[CheckResult] | SourceError = (run("test"), run("lint"))
    left: Mapping[str, FetchedReports] = field(default_factory=dict)
    error: SourceError | None = None
    asked: list[str] = field(default_factory=list)

    def poll(self, commit: str, deadline: Deadline) -> Iterator[Sequence[CheckResult]]:
        looks = self.head if commit == "head" else self.base
        if isinstance(looks, SourceError):
            raise looks
        yield looks
        yield looks

    def reports(self, commit: str, names: Sequence[str], deadline: Deadline) -> FetchedReports:
        self.asked += names
        if self.error:
            raise self.error
        return self.left.get(commit, FetchedReports())

    def judge(self, **options: Any) -> Judgment:
        repository = FakeRepository({"merged": FILES, "base": FILES})
        ports = Ports(repository, ScriptedShell(), SilentProgress(), checks=self)
        judge = make(read_options({"from": "checks", **options}, BuildOptions), ports)
        return ask(judge, pull_context())


def reports(head: Mapping[str, bytes], base: Mapping[str, bytes]) -> dict[str, FetchedReports]:
    return {"head": FetchedReports(head), "base": FetchedReports(base)}


GREEN, RED = (run("test"), run("lint")), (run("test", "failure", 1), run("lint"))
OLD = (run("test", "failure", 2), run("lint"))


class TestBase:
    def test_red_on_both_sides_excuses_nothing_by_itself(self) -> None:
        judgment = SaidByCi(RED, OLD).judge()
        assert (judgment.status, judgment.reason) == (Status.FAIL, "base_broken")
        assert "and so did the base. A check that fails may have left out" in judgment.reasoning

    def test_one_old_and_one_new(self) -> None:
        head = (run("test", "failure"), run("lint", "failure"))
        judgment = SaidByCi(head, OLD).judge()
        assert (judgment.status, judgment.reason) == (Status.FAIL, "")
        assert "1 of them failed on the base as well" in judgment.reasoning

    def test_a_name_that_also_succeeded_on_the_base_is_not_old(self) -> None:
        judgment = SaidByCi(RED, (*OLD, run("test"))).judge()
        assert judgment.reason == ""

    @pytest.mark.parametrize("base", [(), SourceError("no answer", reason="server_error")])
    def test_an_unknown_base_excuses_nothing(self, base: Sequence[CheckResult]) -> None:
        judgment = SaidByCi(RED, base).judge()
        assert (judgment.status, judgment.reason) == (Status.FAIL, "")
        assert "the base could not be compared with" in judgment.reasoning


class TestReports:
    def test_old_failures_of_both_sides_excuse_nothing(self) -> None:
        """What a job would have run after its tests is not known."""
        judgment = SaidByCi(RED, OLD, left=reports(report("b"), report("b"))).judge()
        assert (judgment.status, judgment.reason) == (Status.FAIL, "base_broken")
        assert judgment.metadata["from"] == "checks"

    def test_unless_the_policy_blocks_them(self) -> None:
        said = SaidByCi(RED, OLD, left=reports(report("b"), report("b")))
        assert said.judge(pre_existing="block").status is Status.FAIL

    def test_a_new_failure_beside_an_old_one(self) -> None:
        judgment = SaidByCi(RED, OLD, left=reports(report("a", "b"), report("b"))).judge()
        assert (judgment.status, judgment.reason) == (Status.FAIL, "")
        assert judgment.metadata["failure_counts"] == {
            "new": {"test": 1},
            "pre_existing": {"test": 1},
        }

    def test_two_jobs_that_fail_on_both_sides_are_not_shown_by_one_report(self) -> None:
        both = (run("test", "failure", 1), run("lint", "failure", 2))
        judgment = SaidByCi(both, both, left=reports(report("b"), report("b"))).judge()
        assert (judgment.status, judgment.reason) == (Status.FAIL, "base_broken")

    def test_vanished_tests_of_a_green_head(self) -> None:
        left = reports(report(tests=["a"]), report())
        judgment = SaidByCi(GREEN, left=left).judge()
        assert (judgment.status, judgment.label) == (Status.ABSTAIN, "tests_vanished")
        assert SaidByCi(GREEN, left=left).judge(vanished="fail").status is Status.FAIL

    def test_a_failing_test_that_the_job_ignores(self) -> None:
        judgment = SaidByCi(GREEN, left=reports(report("b"), report())).judge()
        assert judgment.status is Status.FAIL

    def test_counts_of_a_green_head(self) -> None:
        judgment = SaidByCi(GREEN, left=reports(report(), report())).judge()
        assert judgment.status is Status.PASS
        assert judgment.metadata["tests"]["run"] == 3
        assert judgment.metadata["tests"]["base"]["run"] == 3

    def test_a_damaged_report_closes_a_green_head(self) -> None:
        broken = {"junit/r.xml": b"<testsuite><testcase"}
        judgment = SaidByCi(GREEN, left=reports(broken, report())).judge()
        assert (judgment.status, judgment.reason) == (Status.ERROR, "report_invalid")

    def test_an_artifact_that_is_refused_counts_where_it_was_named(self) -> None:
        left = {"head": FetchedReports({}, ("the artifact junit is refused: odd",))}
        assert SaidByCi(GREEN, left=left).judge().status is Status.PASS
        assert SaidByCi(GREEN, left=left).judge(artifacts=["junit"]).status is Status.ERROR

    def test_names_of_the_policy_and_none(self) -> None:
        said = SaidByCi(GREEN)
        said.judge(artifacts=["tests-*"])
        said.judge(artifacts=[])
        assert said.asked == ["tests-*"]

    def test_reports_that_cannot_be_asked_for_are_noted(self) -> None:
        judgment = SaidByCi(GREEN, error=SourceError("no answer", reason="server_error")).judge()
        assert judgment.status is Status.PASS
        assert "the test reports cannot be read: no answer" in judgment.reasoning
