from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from fakes.reports import ballot, file, pull, report, tier
from prjury.errors import PublishError
from prjury.github.comments import PostedText
from prjury.jury.judgment import Check, Judgment, Location
from prjury.publishers.review import LineReview
from prjury.report.inline import Remark, markers
from prjury.report.model import Report
from prjury.snapshot.model import FileChange, FileKind, FileStatus, Hunk, Line, Side

ME = "github-actions[bot]"
OLD, NEW = "1" * 40, "2" * 40


def post(body: str, author: str = ME) -> PostedText:
    return PostedText(body, author, "https://github.com/octo/shop/pull/7#pullrequestreview-1")


@dataclass
class Reviews:
    """Reviews in memory; a failure is ``before:reason`` or ``after:reason`` of a creation."""

    said: list[PostedText] = field(default_factory=list)
    at_lines: list[PostedText] = field(default_factory=list)
    sent: list[tuple[str, list[Remark]]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    refuses_lines: bool = False

    def author(self) -> str:
        return ME

    def bodies(self) -> list[PostedText]:
        return list(self.said)

    def remarks(self) -> list[PostedText]:
        return list(self.at_lines)

    def create(self, head_sha: str, body: str, remarks: Sequence[Remark]) -> PostedText:
        moment, _, reason = (self.failures.pop(0) if self.failures else "").partition(":")
        if moment == "before":
            raise PublishError("Could not review", reason=reason)
        self.sent.append((head_sha, list(remarks)))
        if remarks and self.refuses_lines:
            raise PublishError("Could not review", reason="refused")
        self.said.append(post(body))
        self.at_lines += [post(remark.body) for remark in remarks]
        if reason:
            raise PublishError("Could not review", reason=reason)
        return self.said[-1]


def changed(path: str, lines: range) -> FileChange:
    added = tuple(Line("+", None, number, f"line {number}") for number in lines)
    hunk = Hunk(0, 0, lines.start, len(lines), "", added)
    return FileChange(path, FileStatus.ADDED, FileKind.SOURCE, len(lines), hunks=(hunk,))


def failed(line: int, words: str = "") -> Check:
    return Check("rule", False, words or f"wrong at {line}", Location("a.py", line))


def judged(*checks: Check, head: str = OLD) -> Report:
    made = report(
        tier("t", ballot("patterns", Judgment.failed("no", checks=checks))),
        pull_request=pull([changed("a.py", range(1, 50))]),
    )
    return replace(made, pull=replace(made.pull, head=Side("topic", head)))


def publisher(reviews: Reviews) -> LineReview:
    return LineReview(reviews, run="50.1", sleep=lambda _seconds: None)


def test_one_review_with_remarks_at_its_lines() -> None:
    reviews = Reviews()
    assert publisher(reviews).publish(judged(failed(3), failed(9), failed(99))) == post("").url
    ((head, remarks),) = reviews.sent
    assert head == OLD
    assert [(one.path, one.line) for one in remarks] == [("a.py", 3), ("a.py", 9)]
    values = markers(reviews.said[0].body) or {}
    assert (values["head"], values["run"]) == (OLD, "50.1")


def test_nothing_to_say_is_no_review() -> None:
    reviews = Reviews()
    made = report(
        tier("t", ballot("merge", Judgment.passed("fine"))), pull_request=pull([file("a")])
    )
    assert publisher(reviews).publish(made) is None
    assert reviews.sent == []


def test_the_same_head_is_reviewed_once() -> None:
    reviews = Reviews()
    publisher(reviews).publish(judged(failed(3)))
    assert publisher(reviews).publish(judged(failed(4), failed(99))) == post("").url
    assert len(reviews.sent) == 1


def test_a_later_head_gets_what_is_new() -> None:
    reviews = Reviews()
    publisher(reviews).publish(judged(failed(3, "one"), failed(99, "two")))
    moved = (failed(13, "one"), failed(98, "two"))
    assert publisher(reviews).publish(judged(*moved, head=NEW)) is None
    publisher(reviews).publish(judged(*moved, failed(20, "three"), head=NEW))
    assert [[one.line for one in remarks] for _, remarks in reviews.sent] == [[3], [20]]


@pytest.mark.parametrize(
    "foreign", [post("", "mallory"), post("", ""), post("quoted:\n", ME), post("id=other", ME)]
)
def test_nobody_elses_words_count(foreign: PostedText) -> None:
    ours = Reviews()
    publisher(ours).publish(judged(failed(3)))
    copied = ours.said[0].body
    body = (
        copied.replace("id=default", foreign.body) if "=" in foreign.body else foreign.body + copied
    )
    reviews = Reviews([replace(foreign, body=body)])
    publisher(reviews).publish(judged(failed(3)))
    assert len(reviews.sent) == 1


def test_refused_lines_are_told_in_the_body() -> None:
    reviews = Reviews(refuses_lines=True)
    publisher(reviews).publish(judged(failed(3), failed(99)))
    assert [len(remarks) for _, remarks in reviews.sent] == [1, 0]
    assert "2 findings:" in reviews.said[0].body
    assert publisher(reviews).publish(judged(failed(3), failed(99), head=NEW)) is None


def test_a_review_that_is_refused_as_a_whole_is_a_failure() -> None:
    reviews = Reviews(failures=["before:refused", "before:refused"])
    with pytest.raises(PublishError):
        publisher(reviews).publish(judged(failed(3)))


@pytest.mark.parametrize(
    "failures",
    [
        ["after:unreachable"],
        ["after:server_error"],
        ["before:server_error", "after:bad_response"],
        ["before:unreachable"] * 3,
        ["before:refused", "after:server_error"],
    ],
)
def test_an_unclear_write_is_looked_up_before_it_is_repeated(failures: list[str]) -> None:
    reviews = Reviews(failures=failures)
    publisher(reviews).publish(judged(failed(3)))
    assert len(reviews.said) == 1


def test_a_read_only_token_is_told() -> None:
    reviews = Reviews(failures=["before:permission"])
    with pytest.raises(PublishError) as caught:
        publisher(reviews).publish(judged(failed(3)))
    assert caught.value.reason == "permission"
