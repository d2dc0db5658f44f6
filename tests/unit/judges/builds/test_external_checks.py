"""What the judge says where the checks of the head are read, and which of them count."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.repository import FakeRepository
from fakes.shell import ScriptedShell, SilentProgress
from fakes.trees import pull_context
from prjury.deadline import Deadline
from prjury.errors import SourceError
from prjury.judges.builds import make
from prjury.judges.builds.external_checks import (
    CheckSummary,
    decide_by_checks,
    matches_check,
    may_stop_waiting,
)
from prjury.judges.context import PullRequestContext
from prjury.jury.judge import ask
from prjury.jury.judgment import Judgment, Status
from prjury.jury.voting import is_benign
from prjury.policy.load import read_options
from prjury.policy.tiers import BuildOptions
from prjury.ports import Ports
from prjury.ports.types import CheckResult, FetchedReports

CI = "github-actions"
Look = Sequence[CheckResult]


def run(name: str, conclusion: str | None = "success", app: str = CI) -> CheckResult:
    return CheckResult(name, app, conclusion, f"https://ci.example.org/{name}")


@pytest.mark.parametrize(
    ("pattern", "app", "name", "fits"),
    [
        ("ci / test", CI, "ci / test", True),
        ("ci / test", CI, "ci / test 2", False),
        ("ci / test", CI, "CI / test", False),
        ("ci / *", CI, "ci / test", True),
        ("*", CI, "anything: at all", True),
        ("test (3.11, [linux])", CI, "test (3.11, [linux])", True),
        ("test [a]", CI, "test a", False),
        ("te?t", CI, "test", False),
        ("github-actions:ci / test", CI, "ci / test", True),
        ("github-actions:ci / test", "evil", "ci / test", False),
        ("github-actions:ci / test", "evil", "github-actions:ci / test", False),
        ("github-actions:*", CI, "ci / test", True),
        ("*:build:linux", CI, "build:linux", True),
        ("build:linux", CI, "build:linux", False),
        ("ci: test", CI, "ci: test", True),
        ("ci/circleci: build", "@circleci", "ci/circleci: build", True),
        ("@jenkins:ci", "@jenkins", "ci", True),
        ("@jenkins:ci", "jenkins", "ci", False),
        ("jenkins:ci", "@jenkins", "ci", False),
        ("@ci[bot]:ci", "@ci[bot]", "ci", True),
        ("a*b*c", CI, "axxbxxc", True),
        ("a*b*c", CI, "ac", False),
        ("ab*bc", CI, "abc", False),
    ],
)
def test_names(pattern: str, app: str, name: str, *, fits: bool) -> None:
    assert matches_check(pattern, CheckResult(name, app)) is fits


@given(st.text("ab*", max_size=6), st.text("ab", max_size=6))
def test_stars_stand_for_any_text(pattern: str, text: str) -> None:
    expected = re.fullmatch(pattern.replace("*", ".*"), text) is not None
    assert matches_check(pattern, CheckResult(text, CI)) is expected


def test_a_long_pattern_takes_no_time() -> None:
    assert not matches_check("a*" * 100 + "b", CheckResult("a" * 255, CI))


def test_only_what_is_named_counts_and_nothing_is_never_complete() -> None:
    runs = [run("test", "success"), run("lint", "failure")]
    tally = CheckSummary.of(runs, ["test", "docs"])
    assert (tally.runs, tally.complete) == ((runs[0],), False)
    assert tally.missing == tally.unproved == ("docs",)
    assert not CheckSummary.of([]).complete
    assert CheckSummary.of([run("a", "failure")]).complete


@pytest.mark.parametrize(
    ("app", "name"),
    [
        ("codecov", "anything"),
        ("@codecov-io", "codecov/patch"),
        ("@coveralls", "coverage/coveralls"),
        ("sonarqubecloud", "SonarCloud Code Analysis"),
        ("@CLAassistant", "license/cla"),
        ("dco", "DCO"),
        ("@netlify", "deploy/netlify/site"),
    ],
)
def test_what_builds_nothing_is_left_out_unless_all_are_wanted(app: str, name: str) -> None:
    one = CheckResult(name, app, "failure")
    assert not CheckSummary.of([one], "auto").runs
    assert CheckSummary.of([one], "all").runs
    assert CheckSummary.of([one], [name]).runs


@pytest.mark.parametrize("name", ["test", "coverage", "build (codecov)", "docs", "lint / DCOs"])
def test_what_may_build_counts(name: str) -> None:
    assert CheckSummary.of([CheckResult(name, CI, "failure")], "auto").runs


GREEN = (run("test"), run("lint"))


@dataclass
class ScriptedChecks:
    """Shows one look after the other, the last one as often as ``times`` says."""

    looks: Sequence[Look]
    times: int = 1
    error: SourceError | None = None
    asked: list[str] = field(default_factory=list)
    taken: int = 0

    def reports(self, commit: str, names: Sequence[str], deadline: Deadline) -> FetchedReports:
        """There are none."""
        return FetchedReports()

    def poll(self, commit: str, deadline: Deadline) -> Iterator[Look]:
        self.asked.append(commit)
        if self.error:
            raise self.error
        if commit == "base":
            yield GREEN
            return
        for look in [*self.looks, *[self.looks[-1]] * (self.times - 1)]:
            self.taken += 1
            yield look


def judged(
    *looks: Look,
    times: int = 2,
    error: SourceError | None = None,
    context: PullRequestContext | None = None,
    said: list[str] | None = None,
    missing: str = "",
    **options: Any,
) -> Judgment:
    ports = Ports(
        FakeRepository({"merged": {}, "base": {}}),
        ScriptedShell(),
        SilentProgress(said=[] if said is None else said),
        checks=None if missing else ScriptedChecks(looks, times, error),
        checks_missing=missing,
    )
    options = {"from": "checks", **options}
    judgment = ask(make(read_options(options, BuildOptions), ports), context or pull_context())
    assert isinstance(ports.shell, ScriptedShell)
    assert ports.shell.commands == []
    return judgment


class TestPass:
    @pytest.mark.parametrize(
        ("bases", "tested"),
        [
            (("base", "base"), "base"),
            (("old", "old"), "old"),
            (("base", "old"), None),
            (("base", ""), ""),
            (("base", None), None),
        ],
    )
    def test_which_base_was_merged(self, bases: Sequence[str | None], tested: str | None) -> None:
        look = [replace(each, base=base) for each, base in zip(GREEN, bases, strict=True)]
        judgment = judged(look)
        assert judgment.status is Status.PASS
        assert judgment.metadata.get("tested_base") == tested

    def test_what_was_skipped_beside_a_success_is_told(self) -> None:
        judgment = judged((run("test"), run("deploy", "skipped"), run("docs", "neutral")))
        assert judgment.status is Status.PASS
        assert "2 other checks skipped or neutral" in judgment.reasoning

    @pytest.mark.parametrize(("app", "named"), [("codecov", True), ("github-actions", False)])
    def test_what_builds_nothing_is_left_out_and_told(self, app: str, named: bool) -> None:
        judgment = judged((*GREEN, CheckResult("patch", app, "success")), checks="auto")
        assert judgment.status is Status.PASS
        assert ("left out, since they build nothing: patch" in judgment.reasoning) is named


class TestFail:
    @pytest.mark.parametrize("word", ["failure", "timed_out", "startup_failure", "error"])
    def test_one_that_failed(self, word: str) -> None:
        judgment = judged((run("test"), run("lint", word)))
        assert judgment.status is Status.FAIL
        assert judgment.reasoning == f"1 check of the head failed: lint ({word})"
        (failed,) = judgment.failed_checks
        assert failed.name == "check-passed"
        assert failed.message == f"lint (github-actions): {word}"
        assert failed.severity == "error"
        assert failed.evidence == "https://ci.example.org/lint"
        assert failed.fix == "See https://ci.example.org/lint, and make it succeed."
        assert judgment.checks[0] is failed

    def test_it_is_waited_for_the_others(self) -> None:
        judgment = judged((run("a", "failure"), run("b", None)), (run("a", "failure"), run("b")))
        assert judgment.status is Status.FAIL
        assert [check.passed for check in judgment.checks] == [False, True]

    def test_a_failure_outweighs_all_else_when_the_time_is_over(self) -> None:
        look = (run("a", "failure"), run("b", None), run("c", "cancelled"), run("d"))
        assert judged(look, checks=["a", "b", "c", "d", "e"]).status is Status.FAIL

    def test_many_are_counted(self) -> None:
        judgment = judged([run(f"t{number}", "failure") for number in range(60)])
        assert judgment.reasoning == (
            "60 checks of the head failed: t0 (failure), t1 (failure), t2 (failure), t3 (failure), "
            "t4 (failure) and 55 more"
        )
        assert len(judgment.checks) == 51
        assert judgment.checks[-1].message == "10 more"
        assert not judgment.checks[-1].passed
        passed = judged([run(f"t{number}") for number in range(300)])
        assert (passed.checks[-1].message, passed.checks[-1].passed) == ("250 more", True)


_NOTHING = "`a`, `b` of the head head did not succeed: what is skipped or neutral proves nothing"


class TestAbstain:
    def check(self, judgment: Judgment, label: str) -> str:
        assert judgment.status is Status.ABSTAIN
        assert (judgment.label, judgment.metadata["reason"]) == (label, label)
        assert not is_benign(judgment)
        assert judgment.metadata.get("snippet") or label == "build_changed"
        return judgment.reasoning

    def test_still_running_at_the_deadline(self) -> None:
        judgment = judged((run("test"), run("lint", None)), times=5)
        words = self.check(judgment, "checks_pending")
        assert words.startswith("after ")
        assert words.partition(" s ")[2] == "1 check of the head head still ran: lint"
        assert judgment.failed_checks[0].message == "lint (github-actions): has not ended"
        assert judgment.failed_checks[0].severity == "warning"

    @pytest.mark.parametrize(
        ("look", "names", "label", "words"),
        [
            ((run("lint", None),), ["lint", "test"], "checks_pending", "lint; missing: `test`"),
            ((run("a", "skipped"), run("b", "neutral")), "all", "checks_incomplete", _NOTHING),
            ((run("a", "skipped"), run("b")), ["a", "b"], "checks_incomplete", "`a` of the head"),
            ((), "all", "no_checks", "See why nothing ran on it, or build it here."),
            (GREEN, ["test", "evil:lint"], "no_checks", "no check called `evil:lint`. Correct"),
        ],
    )
    def test_what_does_not_show_that_all_is_well(
        self, look: Look, names: Any, label: str, words: str
    ) -> None:
        assert words in self.check(judged(look, times=20, checks=names), label)

    @pytest.mark.parametrize("word", ["cancelled", "stale", "action_required", "unknown", "odd"])
    def test_one_that_came_to_nothing(self, word: str) -> None:
        words = self.check(judged((run("test"), run("lint", word))), "checks_incomplete")
        assert words == (
            f"1 check of the head head came to no result: lint ({word}). Run them again."
        )

    @pytest.mark.parametrize(
        "path",
        [
            ".github/workflows/ci.yml",
            ".github/workflows/a\nb.yml",
            ".github/actions/setup/index.js",
            "tools/action.yaml",
            "Jenkinsfile",
            "ci/Jenkinsfile.release",
            ".gitlab-ci.yml",
            ".circleci/config.yml",
            "azure-pipelines.yml",
            ".travis.yml",
            ".cirrus.star",
        ],
    )
    def test_a_change_that_says_itself_what_is_checked(self, path: str) -> None:
        context = pull_context(changed=["src/a.py", path])
        words = self.check(judged(GREEN, context=context), "build_changed")
        assert "which says what is run elsewhere. All passed there" in words

    def test_such_a_change_may_fail_all_the_same(self) -> None:
        context = pull_context(changed=[".github/workflows/ci.yml"])
        assert judged((run("a", "failure"),), context=context).status is Status.FAIL


class TestNobodyToAsk:
    def test_without_a_source(self) -> None:
        judgment = judged(missing="there is no token. Set GITHUB_TOKEN")
        assert (judgment.status, judgment.metadata["reason"]) == (Status.ERROR, "no_checks_source")
        assert judgment.reasoning == (
            "the checks of the head cannot be read: there is no token. Set GITHUB_TOKEN"
        )

    def test_github_does_not_answer(self) -> None:
        error = SourceError("Could not read", why="502", reason="server_error")
        judgment = judged(GREEN, error=error)
        assert (judgment.status, judgment.metadata["reason"]) == (Status.ERROR, "server_error")
        assert judgment.reasoning == "Could not read. 502."


class TestWaiting:
    @pytest.mark.parametrize(
        ("looks", "names", "waits"),
        [
            (((), (run("a"), run("b", None)), GREEN), "all", ["more checks", "b", "more checks"]),
            (((), GREEN), ["lint"], ["`lint`"]),
            (
                ((run("a\n\u202eb" + "x" * 200, None),),),
                "all",
                ["a\\n\\u202eb" + "x" * 96 + "…"] * 2,
            ),
        ],
    )
    def test_what_is_waited_for_is_told(
        self, looks: Sequence[Look], names: Any, waits: list[str]
    ) -> None:
        said: list[str] = []
        judged(*looks, said=said, checks=names)
        assert said == [f"waiting for {name} of head" for name in waits]


class TestSettled:
    def test_everything_has_to_have_ended_twice(self) -> None:
        assert not may_stop_waiting([GREEN])
        ended = tuple(replace(one, ended=100.0) for one in GREEN)
        assert may_stop_waiting([ended], "all", 200.0)
        assert not may_stop_waiting([ended], "all", 150.0)
        assert not may_stop_waiting([(*ended, run("unknown"))], "all", 200.0)
        assert not may_stop_waiting([(*ended, run("begun", None))], "all", 200.0)
        assert may_stop_waiting([GREEN, GREEN])
        assert not may_stop_waiting([(run("test", None),), GREEN])
        assert may_stop_waiting([(run("test", None),), GREEN, (*GREEN, run("more"))])
        assert not may_stop_waiting([(), GREEN])

    def test_named_ones_have_to_have_ended_once(self) -> None:
        assert may_stop_waiting([GREEN], ["test"])
        assert may_stop_waiting([(), GREEN], ["test"])
        assert not may_stop_waiting([GREEN], ["te*"])
        assert may_stop_waiting([GREEN, GREEN], ["te*"])
        assert not may_stop_waiting([(run("test", None),)], ["test"])
        assert not may_stop_waiting([GREEN], ["test", "docs"])

    @pytest.mark.parametrize("names", ["all", ["docs"]])
    def test_what_never_comes_is_not_waited_for_for_ever(self, names: Any) -> None:
        look = () if names == "all" else GREEN
        assert not may_stop_waiting([look] * 7, names)
        assert may_stop_waiting([look] * 8, names)


@given(
    st.lists(
        st.builds(
            run,
            st.sampled_from(["a", "b", "c"]),
            st.sampled_from(
                ["success", "failure", "error", "skipped", "neutral", "cancelled", "x", None]
            ),
        ),
        max_size=5,
    ),
    st.sampled_from(["all", ["a"], ["a", "b*"], ["github-actions:*"], ["evil:*"]]),
)
def test_it_passes_only_where_every_check_that_counts_is_in_order(
    runs: list[CheckResult], option: Any
) -> None:
    summary = CheckSummary.of(runs, option)
    judgment = decide_by_checks(pull_context().pull, summary, 1)
    counting = summary.runs
    endings = {one.conclusion for one in counting}
    if judgment.status is Status.PASS:
        assert "success" in endings
        assert endings <= {"success", "skipped", "neutral"}
        for name in summary.names:
            assert any(matches_check(name, one) and one.conclusion == "success" for one in counting)
    if judgment.status is Status.FAIL:
        assert endings & {"failure", "error"}
    else:
        assert not endings & {"failure", "error"}
    assert judgment.status is not Status.ERROR
