from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.bare_report import report
from fakes.render import to_comment
from prjury.errors import PublishError
from prjury.github.comments import PostedComment
from prjury.publishers.comment import Marker, StickyComment

ME = "github-actions[bot]"


def post(number: int, body: str, author: str = ME) -> PostedComment:
    return PostedComment(
        number, body, author, f"https://github.com/o/r/pull/7#issuecomment-{number}"
    )


@dataclass
class Thread:
    """A conversation in memory; `on_write` may raise, or write in the meantime."""

    posted: dict[int, PostedComment] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    meanwhile: list[PostedComment] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    asked_for_author: int = 0

    def add(self, *comments: PostedComment) -> None:
        self.posted.update({comment.id: comment for comment in comments})

    def author(self) -> str:
        self.asked_for_author += 1
        return ME

    def comments(self) -> list[PostedComment]:
        return list(self.posted.values())

    def create(self, body: str) -> PostedComment:
        self._before("create")
        self.add(*self.meanwhile)
        created = post(max(self.posted, default=100) + 1, body)
        self.add(created)
        self._after()
        return created

    def edit(self, comment: int, body: str) -> PostedComment:
        self._before(f"edit {comment}")
        if comment not in self.posted:
            raise PublishError("Could not edit", reason="not_found")
        self.add(replace(self.posted[comment], body=body))
        self._after()
        return self.posted[comment]

    def delete(self, comment: int) -> None:
        self._before(f"delete {comment}")
        if self.posted.pop(comment, None) is None:
            raise PublishError("Could not delete", reason="not_found")

    def _before(self, what: str) -> None:
        self.writes.append(what)
        if self.failures and not self.failures[0].startswith("after:"):
            raise PublishError("Could not write", reason=self.failures.pop(0))

    def _after(self) -> None:
        if self.failures:
            reason = self.failures.pop(0).removeprefix("after:")
            raise PublishError("Could not tell whether it was written", reason=reason)


def body(run: str = "5.1", text: str = "verdict", name: str = "default") -> str:
    return f"<!-- prjury:v1 key=k id={name} head={'b' * 40} run={run} config=c -->\n## {text}\n"


def sticky(thread: Thread, markdown: str) -> StickyComment:
    return StickyComment(thread, lambda _report: markdown, sleep=lambda _seconds: None)


def test_the_first_run_creates_the_comment() -> None:
    thread = Thread()
    assert sticky(thread, body()).publish(report()) == post(101, "").url
    assert thread.comments() == [post(101, body())]
    assert thread.asked_for_author == 1


def test_a_later_run_edits_it_in_place() -> None:
    thread = Thread()
    thread.add(post(50, body("4.1", "old")))
    sticky(thread, body("5.1", "new")).publish(report())
    assert thread.comments() == [post(50, body("5.1", "new"))]


def test_the_same_text_is_not_written_again() -> None:
    thread = Thread()
    thread.add(post(50, body().replace("\n", "\r\n")))
    sticky(thread, body()).publish(report())
    assert thread.writes == []


def test_nobody_elses_comment_is_touched() -> None:
    thread = Thread()
    foreign = [
        post(10, body("9.9"), "mallory"),
        post(11, f"look at this:\n{body('9.9')}"),
        post(12, body(name="other")),
        post(13, "thanks!", "octocat"),
        post(14, body("9.9"), ""),
    ]
    thread.add(*foreign)
    sticky(thread, body()).publish(report())
    assert thread.comments() == [*foreign, post(15, body())]


@pytest.mark.parametrize(("theirs", "ours"), [("6.1", "5.2"), ("5.3", "5.2"), ("10.1", "9.9")])
def test_an_older_run_overwrites_nothing(theirs: str, ours: str) -> None:
    thread = Thread()
    thread.add(post(50, body(theirs, "newer")))
    assert sticky(thread, body(ours, "older")).publish(report()) == post(50, "").url
    assert thread.comments() == [post(50, body(theirs, "newer"))]
    assert thread.writes == []


def test_duplicates_of_a_race_go_and_the_oldest_stays() -> None:
    thread = Thread(meanwhile=[post(60, body("4.1", "theirs"))])
    assert sticky(thread, body("5.1", "ours")).publish(report()) == post(60, "").url
    assert thread.comments() == [post(60, body("5.1", "ours"))]


def test_a_race_against_a_newer_run_keeps_the_newer_text() -> None:
    thread = Thread(meanwhile=[post(60, body("6.1", "newer"))])
    sticky(thread, body("5.1", "ours")).publish(report())
    assert thread.comments() == [post(60, body("6.1", "newer"))]


def test_the_newest_of_several_leftovers_wins() -> None:
    thread = Thread()
    thread.add(post(50, body("1.1", "a")), post(51, body("8.1", "b")), post(52, body("3.1")))
    sticky(thread, body("5.1", "ours")).publish(report())
    assert thread.comments() == [post(50, body("8.1", "b"))]
    assert thread.writes == ["edit 50", "delete 51", "delete 52"]


@pytest.mark.parametrize("reason", ["unreachable", "server_error", "bad_response"])
def test_an_unclear_creation_is_looked_up_before_it_is_repeated(reason: str) -> None:
    thread = Thread(failures=[f"after:{reason}"])
    sticky(thread, body()).publish(report())
    assert thread.comments() == [post(101, body())]
    assert thread.writes == ["create"]


def test_a_creation_that_failed_is_repeated() -> None:
    thread = Thread(failures=["server_error", "unreachable"])
    sticky(thread, body()).publish(report())
    assert thread.comments() == [post(101, body())]
    assert thread.writes == ["create"] * 3


def test_it_gives_up_some_time() -> None:
    thread = Thread(failures=["server_error"] * 9)
    with pytest.raises(PublishError):
        sticky(thread, body()).publish(report())
    assert thread.writes == ["create"] * 4


def test_a_refusal_is_not_repeated() -> None:
    thread = Thread(failures=["permission"])
    with pytest.raises(PublishError) as caught:
        sticky(thread, body()).publish(report())
    assert caught.value.reason == "permission"
    assert thread.writes == ["create"]


def test_a_comment_that_vanishes_is_created_anew() -> None:
    thread = Thread(failures=["not_found"])
    thread.add(post(50, body("4.1")))
    sticky(thread, body("5.1")).publish(report())
    assert thread.comments() == [post(50, body("5.1"))]
    assert thread.writes == ["edit 50", "edit 50"]


def test_a_duplicate_that_vanishes_is_no_failure() -> None:
    thread = Thread()
    thread.add(post(50, body()), post(51, body()))
    thread.failures = ["not_found"]
    sticky(thread, body()).publish(report())
    assert thread.writes == ["delete 51"]


@given(st.permutations([("3.1", "a"), ("4.1", "b"), ("4.2", "c"), ("11.1", "d")]))
def test_runs_in_any_order_end_with_the_newest(order: list[tuple[str, str]]) -> None:
    thread = Thread()
    for run, text in order:
        sticky(thread, body(run, text)).publish(report())
    assert [comment.body for comment in thread.comments()] == [body("11.1", "d")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (body("5.2"), Marker("default", (5, 2), head="b" * 40)),
        ("<!-- prjury:v1 -->", Marker("default")),
        ("<!-- prjury:v1 id=x run=5 -->\r\n", Marker("x")),
        ("<!-- prjury:v1 id=x run=٣.1 -->", Marker("x")),
        ("<!-- prjury:v2 id=x -->", None),
        (" <!-- prjury:v1 id=x -->", None),
        ("> <!-- prjury:v1 id=x -->", None),
        ("<!-- prjury:v1 id=x --> more", None),
        ("", None),
    ],
)
def test_markers(text: str, expected: Marker | None) -> None:
    assert Marker.of(text) == expected


@given(st.text())
def test_any_text_has_a_marker_or_none(text: str) -> None:
    assert Marker.of(text) is None or text.startswith("<!-- prjury:v1")


def test_the_marker_of_a_real_comment_is_understood() -> None:
    expected = Marker("x", (12, 3), head="b" * 40, base="a" * 40)
    assert Marker.of(to_comment(report(), id="x", run="12.3")) == expected
