from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

import pytest

from fakes.bare_report import report
from prjury.errors import PublishError
from prjury.jury.gate import Gate
from prjury.publishers.status import CommitStatus, StatusesPort

HEAD = "b" * 40
PAGE = "https://github.com/octo/shop/actions/runs/{}/attempts/{}"
OURS = PAGE.format(50, 1)
ME = "github-actions[bot]"


@dataclass(frozen=True)
class Posted:
    state: str
    description: str = "Ready to merge"
    target_url: str = OURS
    creator: str = ME
    id: int = field(default=0, compare=False)


@dataclass
class Statuses:
    """Statuses in memory, the latest last."""

    posted: list[Posted] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    writes: int = 0
    between: Callable[[], None] = lambda: None

    def account(self) -> str:
        return ME

    def latest(self, sha: str, context: str) -> Posted | None:
        assert (sha, context) == (HEAD, "prjury")
        return self.posted[-1] if self.posted else None

    def recent(self, sha: str, context: str) -> list[Posted]:
        assert (sha, context) == (HEAD, "prjury")
        return self.posted[::-1]

    def create(
        self, sha: str, context: str, *, state: str, description: str, target_url: str
    ) -> Posted:
        assert (sha, context) == (HEAD, "prjury")
        self.writes += 1
        moment, _, reason = (self.failures.pop(0) if self.failures else "").partition(":")
        if moment != "before":
            self.between()
            number = len(self.posted) + 1
            self.posted.append(Posted(state, description, target_url, id=number))
        if reason:
            raise PublishError("Could not write", reason=reason)
        return self.posted[-1]


def publisher(statuses: Statuses, page: str = OURS) -> CommitStatus:
    return CommitStatus(cast("StatusesPort", statuses), page, sleep=lambda _seconds: None)


@pytest.mark.parametrize(
    ("gate", "state"),
    [(Gate.SUCCESS, "success"), (Gate.FAILURE, "failure"), (Gate.ACTION_REQUIRED, "error")],
)
def test_the_state_is_the_gates(gate: Gate, state: str) -> None:
    statuses = Statuses()
    publisher(statuses).publish(report(gate=gate))
    assert statuses.posted == [Posted(state)]


def test_a_character_that_a_description_cannot_hold_is_replaced() -> None:
    statuses = Statuses()
    publisher(statuses).fail("No answer from the judge \N{PARTY POPPER}: é, 語, ⚪", HEAD)
    said = statuses.posted[0].description
    assert said == "No answer from the judge \N{REPLACEMENT CHARACTER}: é, 語, ⚪"


def test_a_status_of_that_page_by_somebody_else_is_not_repeated() -> None:
    statuses = Statuses([Posted("failure", "no", PAGE.format(51, 1), "mallory", 70)])
    publisher(statuses).publish(report())
    assert [one.state for one in statuses.posted] == ["failure", "success"]


def test_the_same_content_is_not_set_again() -> None:
    statuses = Statuses()
    publisher(statuses).publish(report())
    publisher(statuses).publish(report())
    assert statuses.writes == 1


@pytest.mark.parametrize(
    "there",
    [
        Posted("pending"),
        Posted("success", "Something else"),
        Posted("success", target_url=PAGE.format(49, 9)),
        Posted("success", target_url=""),
        Posted("success", creator="mallory"),
        Posted("failure", target_url=PAGE.format(99, 1), creator="mallory"),
        Posted("success", creator=""),
    ],
)
def test_anything_else_is_set_anew(there: Posted) -> None:
    statuses = Statuses([there])
    publisher(statuses).publish(report())
    assert statuses.posted == [there, Posted("success")]


@pytest.mark.parametrize("newer", [PAGE.format(50, 2), PAGE.format(51, 1)])
@pytest.mark.parametrize(
    "action",
    [
        lambda status: status.publish(report()),
        lambda status: status.fail("it broke", HEAD),
        lambda status: status.pending(HEAD),
    ],
)
def test_a_newer_run_has_the_last_word(
    newer: str, action: Callable[[CommitStatus], object]
) -> None:
    statuses = Statuses([Posted("failure", target_url=newer)])
    action(publisher(statuses))
    assert statuses.writes == 0


def test_outside_of_a_workflow_the_last_one_to_speak_counts() -> None:
    statuses = Statuses([Posted("failure")])
    publisher(statuses, page="").publish(report())
    assert statuses.posted[-1] == Posted("success", target_url="")


def test_a_run_without_a_report_says_so() -> None:
    statuses = Statuses()
    publisher(statuses).pending(HEAD)
    publisher(statuses).fail("git failed:\n\x1b[1mfatal\x1b[0m", HEAD)
    assert [one.state for one in statuses.posted] == ["pending", "error"]
    assert statuses.posted[-1].description == "git failed: \\u{1b}[1mfatal\\u{1b}[0m"


def test_nothing_to_judge_opens_the_gate_and_says_why() -> None:
    statuses = Statuses([Posted("pending")])
    publisher(statuses).open("Only documentation changes", HEAD)
    assert statuses.posted[-1] == Posted("success", "Only documentation changes")


def test_a_long_headline_fits() -> None:
    statuses = Statuses()
    publisher(statuses).publish(report(headline="❌ " + "x" * 90_000))
    assert len(statuses.posted[0].description) <= 140


@pytest.mark.parametrize("failure", ["before:server_error", "after:unreachable"])
def test_an_unclear_write_is_looked_up_before_it_is_repeated(failure: str) -> None:
    statuses = Statuses(failures=[failure])
    publisher(statuses).publish(report())
    assert statuses.posted == [Posted("success")]
    assert statuses.writes == (2 if failure.startswith("before") else 1)


def test_a_refusal_is_not_repeated() -> None:
    statuses = Statuses(failures=["before:permission"])
    with pytest.raises(PublishError) as caught:
        publisher(statuses).publish(report())
    assert caught.value.reason == "permission"
    assert statuses.writes == 1
