"""Reviews and labels, written to a server that speaks as GitHub does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest
from msgspec import structs

from fakes.github import ACTIONS, HEAD_SHA, READ_ONLY_ACTIONS, FakeGitHub, running
from fakes.reports import ballot, pull, report, tier
from fakes.writing import connected
from prjury.errors import PublishError
from prjury.github.client import GitHub
from prjury.github.repo_client import RepoClient
from prjury.jury.judgment import Check, Judgment, Location
from prjury.publishers.labels import Labels
from prjury.publishers.review import LineReview
from prjury.report.model import Backport, Dismissal, Report
from prjury.snapshot.model import FileChange, FileKind, FileStatus, Hunk, Line, Side

PATH = "src/a b.py"
MAPPING = {"fail": "prjury:fail", "pass": "prjury:pass", "backport": "backport:{branch}"}


@pytest.fixture
def fake() -> Iterator[FakeGitHub]:
    with running() as server:
        server.add_pull("octo/shop", 7)
        server.set_diff(7, {PATH: range(1, 60)})
        yield server


def judged(*lines: int, head: str = HEAD_SHA, fix: str | None = None) -> Report:
    checks = [Check("rule", False, f"wrong {n}", Location(PATH, n), fix=fix) for n in lines]
    checks.append(Check("elsewhere", False, "in no file", severity="warning"))
    details = [
        {"rule": "rule", "path": PATH, "line": n, "applicability": "maybe-incorrect"} for n in lines
    ]
    judgment = Judgment.failed("no", checks=checks, metadata={"findings": details})
    added = tuple(Line("+", None, number, "x") for number in range(1, 60))
    hunk = Hunk(0, 0, 1, 59, "", added)
    files = [FileChange(PATH, FileStatus.ADDED, FileKind.SOURCE, 59, hunks=(hunk,))]
    made = report(tier("t", ballot("patterns", judgment)), pull_request=pull(files))
    return replace(made, pull=structs.replace(made.pull, head=Side("cart", head)))


def review(hub: GitHub) -> LineReview:
    return LineReview(RepoClient(hub, "octo/shop"), 7)


def labels(hub: GitHub, mapping: Mapping[str, str] = MAPPING) -> Labels:
    return Labels(RepoClient(hub, "octo/shop"), 7, mapping)


def test_threads_of_findings_that_are_gone_are_resolved(fake: FakeGitHub) -> None:
    with connected(fake) as hub:
        review(hub).publish(judged(3, 5, 7))
        fake.add_pull("octo/shop", 7)["head"]["sha"] = "c" * 40
        later = judged(3, 5, head="c" * 40)
        gone = later.verdict.attempts[0].verdict
        assert gone is not None
        print_ = gone.ballots[0].judgment.checks[0].fingerprint
        review(hub).publish(replace(later, dismissals=(Dismissal(print_, "octocat", "so"),)))
    first, second, third = (one["id"] for one in fake.review_comment_list)
    assert fake.resolved == {first, third}, second


def test_without_the_permission_threads_stay_open_and_that_is_said(fake: FakeGitHub) -> None:
    grants = {"pull_requests": "write", "contents": "read"}
    fake.accounts["ghs_actions"] = replace(ACTIONS, grants=grants)
    with connected(fake) as hub:
        review(hub).publish(judged(3, 5))
        told = review(hub)
        told.publish(judged(3))
    assert fake.resolved == set()
    assert ["`contents: write`" in note for note in told.notes] == [True]


def test_what_was_not_judged_again_is_not_resolved(fake: FakeGitHub) -> None:
    with connected(fake) as hub:
        review(hub).publish(judged(3, 5))
        erred = report(tier("t", ballot("patterns", Judgment.errored("no answer"))))
        review(hub).publish(erred)
    assert fake.resolved == set()


def test_one_review_on_the_head_with_suggestions(fake: FakeGitHub) -> None:
    with connected(fake) as hub:
        address = review(hub).publish(judged(3, 5, fix="y = '```'"))
    (posted,) = fake.reviews(7)
    assert (posted["state"], posted["commit_id"], posted["html_url"]) == (
        "COMMENTED",
        HEAD_SHA,
        address,
    )
    assert [(one["path"], one["line"], one["side"]) for one in posted["comments"]] == [
        (PATH, 3, "RIGHT"),
        (PATH, 5, "RIGHT"),
    ]
    assert "````suggestion\ny = '```'\n````" in posted["comments"][0]["body"]
    assert "2 comments on lines that this change adds" in posted["body"]


def test_a_second_run_says_nothing_and_a_later_push_what_is_new(fake: FakeGitHub) -> None:
    later = "c" * 40
    with connected(fake) as hub:
        review(hub).publish(judged(*range(1, 25)))
        review(hub).publish(judged(*range(1, 25)))
        assert [len(one["comments"]) for one in fake.reviews(7)] == [24]
        fake.pulls["octo/shop", 7]["head"]["sha"] = later
        review(hub).publish(judged(*range(1, 25), head=later))
        assert len(fake.reviews(7)) == 1
        review(hub).publish(judged(*range(1, 41), head=later))
        review(hub).publish(judged(*range(1, 41), head=later))
    posted = [[one["line"] for one in it["comments"]] for it in fake.reviews(7)]
    assert posted[1:] == [[25, 26, 27, 28, 29, 30]]


def test_a_label_that_is_to_be_created_takes_another_permission(fake: FakeGitHub) -> None:
    fake.accounts["ghs_job"] = replace(ACTIONS, grants={"pull_requests": "write"})
    made = judged(3)
    with connected(fake, "ghs_job") as hub:
        publisher = labels(hub)
        with pytest.raises(PublishError, match="`issues: write`, or create the label"):
            publisher.publish(made)
        fake.known_labels.add("prjury:fail")
        publisher.publish(made)
    assert fake.labels(7) == ["bug", "prjury:fail"]


def test_labels_with_colons_and_slashes(fake: FakeGitHub) -> None:
    for name in ("prjury:pass", "backport:release/1.0 ä", "backport:other"):
        fake.add_label(7, name)
    branches = (
        Backport("release/1.0 ä", "not_suitable", applies=False),
        Backport("release/1.1", "suitable", applies=True),
    )
    made = replace(judged(3), backports=branches)
    with connected(fake) as hub:
        publisher = labels(hub)
        publisher.publish(made)
        publisher.publish(made)
    assert sorted(fake.labels(7)) == [
        "backport:other",
        "backport:release/1.1",
        "bug",
        "prjury:fail",
    ]
    assert [method for method, _ in fake.writes] == ["POST", "DELETE", "DELETE"]


def test_a_read_only_token_is_told_what_it_lacks(fake: FakeGitHub) -> None:
    fake.accounts["ghs_actions"] = READ_ONLY_ACTIONS
    with connected(fake) as hub:
        for publisher in (review(hub), labels(hub)):
            with pytest.raises(PublishError) as caught:
                publisher.publish(judged(3))
            assert caught.value.reason == "permission"
            assert "pull-requests: write" in caught.value.remedy


@pytest.mark.parametrize(
    ("mapping", "there", "left"),
    [
        ({"fail": "PRJury:Fail"}, ["prjury:fail"], ["prjury:fail"]),
        ({"pass": "ok"}, ["ok", "other"], ["other"]),
        ({"pass": "seen", "fail": "seen"}, ["seen"], ["seen"]),
        ({}, ["prjury:pass"], ["prjury:pass"]),
    ],
)
def test_which_labels_are_there_afterwards(
    fake: FakeGitHub, mapping: dict[str, str], there: list[str], left: list[str]
) -> None:
    for name in there:
        fake.add_label(7, name)
    with connected(fake) as hub:
        labels(hub, mapping).publish(judged(3))
    assert fake.labels(7) == ["bug", *left]
    assert "POST" not in {method for method, _ in fake.writes}
