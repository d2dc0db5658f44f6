"""Tests that another CI ran: its JUnit reports of head and base, read as a build's result."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from prjury.errors import CannotJudgeError
from prjury.judges.builds.compare import compare
from prjury.judges.builds.decide import decide
from prjury.judges.builds.external_builds import (
    make_reported_run,
    parse_ci_reports,
    require_reports_at,
)
from prjury.judges.builds.failure import Results
from prjury.jury.judgment import Judgment, Status
from prjury.policy.tiers import BuildOptions

KNOWN = frozenset({"src/shop/cart.py", "tests/test_cart.py", "README.md"})
PLACE = "/home/runner/work/shop/shop"


def case(name: str, problem: str = "") -> str:
    failure = f'<failure message="{problem}">tests/test_cart.py:3: Error</failure>' * bool(problem)
    return f'<testcase classname="tests.test_cart" name="{name}">{failure}</testcase>'


def suite(*cases: str) -> bytes:
    return f'<testsuite name="pytest">{"".join(cases)}</testsuite>'.encode()


def read(*cases: str) -> Results:
    return parse_ci_reports({"junit.xml": suite(*cases)}, KNOWN)


GREEN = read(case("a"), case("b"), case("c"))
RED = read(case("a"), case("b", "assert 1 == 2"), case("c"))


#: As gotestsum and others list a test that failed first and then passed.
LUCKY = read(case("a"), case("b", "assert 1 == 2"), case("b"), case("c"))


@dataclass(frozen=True)
class Trial:
    """Reports of both sides, and what they come to."""

    head: Results
    base: Results | None = None
    good: bool | None = None
    options: BuildOptions = field(default_factory=BuildOptions)

    def judge(self) -> Judgment:
        tests = make_reported_run(self.head, self.base, passed=self.good)
        return decide(compare(*tests, KNOWN, self.options))


@pytest.mark.parametrize(
    ("trial", "status", "label"),
    [
        (Trial(GREEN, GREEN), Status.PASS, None),
        (Trial(GREEN, good=True), Status.PASS, None),
        (Trial(LUCKY, GREEN, good=True), Status.PASS, None),
        (Trial(LUCKY, good=True), Status.PASS, None),
        (Trial(LUCKY, GREEN, good=False), Status.FAIL, None),
        (Trial(LUCKY, GREEN), Status.FAIL, None),
        (Trial(RED, LUCKY), Status.FAIL, None),
        (Trial(GREEN), Status.ABSTAIN, "reports_alone"),
        (Trial(RED, GREEN), Status.FAIL, None),
        (Trial(RED), Status.FAIL, None),
        (Trial(RED, RED), Status.FAIL, None),  # what would have run after it is not known
        (Trial(RED, RED, options=BuildOptions(pre_existing="block")), Status.FAIL, None),
        (Trial(GREEN, RED), Status.PASS, None),
        (Trial(GREEN, GREEN, good=False), Status.FAIL, None),
        (Trial(read(case("a")), GREEN), Status.ABSTAIN, "tests_vanished"),
        (Trial(read(case("a")), GREEN, good=True), Status.ABSTAIN, "tests_vanished"),
        (Trial(read(), GREEN), Status.ERROR, None),
        (Trial(GREEN, read()), Status.ABSTAIN, "reports_alone"),
    ],
    ids=[
        "both green", "green and succeeded", "flaky", "flaky alone", "attempts of a red job",
        "attempts of an unknown job", "an attempt excuses nothing", "green alone",
        "new failure", "red alone",
        "old failure", "old failure that blocks", "fixed", "red without a failing test",
        "lost tests", "lost tests of a job that succeeded", "no test", "no test of the base",
    ],
)  # fmt: skip
def test_the_judgment(trial: Trial, status: Status, label: str | None) -> None:
    judgment = trial.judge()
    assert (judgment.status, judgment.label) == (status, label), judgment.reasoning


def test_failures_have_their_place_and_state() -> None:
    (failure,) = Trial(RED, GREEN).judge().metadata["failures"]
    assert (failure["path"], failure["line"], failure["state"]) == ("tests/test_cart.py", 3, "new")
    (failure,) = Trial(RED, RED).judge().metadata["failures"]
    assert failure["state"] == "pre_existing"


def test_what_stops_at_its_first_failure_excuses_nothing() -> None:
    stopped = read(case("a"), case("b", "assert 1 == 2"))
    judgment = Trial(stopped, stopped).judge()
    assert judgment.status is Status.FAIL
    assert judgment.metadata["reason"] == "base_broken"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<testsuite>",
        b"<!DOCTYPE x [<!ENTITY a 'b'>]><x/>",
        b'<testsuite name="shop" failures="9">' + case("a").encode() + b"</testsuite>",
    ],
)
def test_a_report_that_cannot_be_read_or_contradicts_itself_is_an_error(content: bytes) -> None:
    reports = parse_ci_reports({"a.xml": suite(case("a")), "b.xml": content}, KNOWN)
    judgment = Trial(reports, reports, good=True).judge()
    assert (judgment.status, judgment.metadata["reason"]) == (Status.ERROR, "report_invalid")


def test_the_place_of_the_tree_there_is_taken_out() -> None:
    text = f"{PLACE}/tests/test_cart.py:7: AssertionError&#10;{PLACE}/src/shop/cart.py:2: x"
    content = f'<testsuite><testcase classname="x" name="y" file="{PLACE}/tests/test_cart.py">'
    content += f'<failure message="no">{text}</failure></testcase></testsuite>'
    (failure,) = parse_ci_reports({"j.xml": content.encode()}, KNOWN).failures
    assert failure.path in KNOWN
    assert failure.suite == "tests/test_cart.py"
    assert PLACE not in failure.details


@pytest.mark.parametrize(
    "place",
    [
        "/__w/shop/shop", "/Users/runner/work/shop/shop", "/home/vsts/work/1/s",
        "/home/circleci/project", "/var/lib/jenkins/workspace/shop_PR-7@2", "/builds/a/b/c", "/app",
    ],
)  # fmt: skip
@pytest.mark.parametrize("before", ["", "file://"])
def test_a_failure_is_the_same_wherever_its_tree_lay(place: str, before: str) -> None:
    def build(tree: str) -> Results:
        file = f"{before}{tree}/tests/test_cart.py"
        content = f'<testsuite><testcase classname="x" name="y" file="{file}">'
        content += f'<failure message="no">at z ({file}:7:1)</failure></testcase></testsuite>'
        return parse_ci_reports({"j.xml": content.encode()}, KNOWN)

    (failure,) = Trial(build(place), build("/tmp/main")).judge().metadata["failures"]
    assert (failure["path"], failure["line"]) == ("tests/test_cart.py", 7)
    assert failure["state"] == "pre_existing"


def test_directories_of_the_tree_are_no_place_of_it() -> None:
    known = frozenset({"src/builds/a/b/w.test.js", "src/builds/c/d/w.test.js", "w.test.js"})
    cases = [
        f'<testcase name="x" file="{file}"><failure message="no">/builds/{file}:1:1</failure>'
        for file in sorted(known)
    ]
    content = f"<testsuite>{'</testcase>'.join(cases)}</testcase></testsuite>".encode()
    failures = parse_ci_reports({"j.xml": content}, known).failures
    assert {failure.suite for failure in failures} == known
    assert {failure.path for failure in failures} == known


def test_a_file_elsewhere_of_the_same_name_is_not_taken_for_the_tree() -> None:
    paths = "/usr/share/doc/README.md /opt/README.md" * 3 + f" {PLACE}/tests/test_cart.py" * 4
    content = f'<testsuite><testcase classname="x" name="y"><failure message="no">{paths}</failure>'
    files = {"j.xml": f"{content}</testcase></testsuite>".encode()}
    (failure,) = parse_ci_reports(files, KNOWN).failures
    assert failure.path is None


def test_directories_and_files(tmp_path: Path) -> None:
    for name in ("core/target/surefire-reports/TEST-A.xml", "app/junit.xml", "app/notes.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(suite(case(name)))
    assert require_reports_at([tmp_path], KNOWN).files == 2
    some = require_reports_at([tmp_path / "app/junit.xml", tmp_path / "core"], KNOWN)
    assert (some.files, some.tests, some.problems) == (2, 2, ())


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "real.xml").write_bytes(suite(case("a")))
    (tmp_path / "link.xml").symlink_to(tmp_path / "real.xml")
    assert require_reports_at([tmp_path / "link.xml"], KNOWN).problems


@pytest.mark.parametrize(("name", "where"), [("reports", "at"), ("empty", "below")])
def test_a_place_where_there_is_nothing(tmp_path: Path, name: str, where: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "some").mkdir()
    (tmp_path / "some" / "a.xml").write_bytes(suite(case("a")))
    words = rf"there is no report \(\*\.xml\) {where} .*/{name}"
    with pytest.raises(CannotJudgeError, match=words) as caught:
        require_reports_at([tmp_path / "some", tmp_path / name], KNOWN)
    assert caught.value.reason == "report_missing"
