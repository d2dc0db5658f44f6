from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from fakes.bare_report import report
from prjury.errors import PublishError
from prjury.github.check_runs import Origin
from prjury.jury.gate import Gate
from prjury.publishers.check_run import NAME, CheckRunReport, CheckRunsPort
from prjury.report.annotations import Annotation, Annotations

HEAD = "b" * 40
PAGE = "https://github.com/octo/shop/actions/runs/{}/attempts/{}"
OURS = PAGE.format(50, 1)
#: GitHub's own choice, whatever was given: the page of a run that may be newer than ours.
THEIRS = "https://github.com/octo/shop/actions/runs/99/job/4"


@dataclass(frozen=True)
class Posted:
    id: int
    app: str = "github-actions"
    external_id: str = "prjury:default:7:50.1"
    conclusion: str | None = None
    details_url: str = THEIRS
    name: str = NAME
    title: str = ""
    summary: str = ""
    text: str = ""

    @property
    def url(self) -> str:
        return f"https://github.com/octo/shop/runs/{self.id}"


@dataclass
class Checks:
    """Check runs in memory; a failure is ``before:reason`` or ``after:reason`` of a write."""

    runs: dict[int, Posted] = field(default_factory=dict)
    said: dict[int, list[Annotation]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    meanwhile: list[Posted] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    slug: str = "github-actions"
    refuses_annotations: bool = False
    opens_again: bool = True

    def app(self) -> str:
        return self.slug

    def add(self, *runs: Posted) -> None:
        self.runs.update({run.id: run for run in runs})

    def named(self, head_sha: str, name: str) -> list[Posted]:
        assert head_sha == HEAD
        return [run for _, run in sorted(self.runs.items()) if run.name == name]

    def annotations(self, check_run: int) -> list[Annotation]:
        return list(self.said.get(check_run, []))

    def create(
        self, head_sha: str, name: str, origin: Origin, *, title: str, summary: str
    ) -> Posted:
        assert head_sha == HEAD
        self._fails("before", "create")
        self.add(*self.meanwhile)
        self.meanwhile = []
        number = max(self.runs, default=100) + 1
        self.add(Posted(number, self.slug, origin.external_id, None, THEIRS, name, title, summary))
        self._fails("after")
        return self.runs[number]

    def update(
        self,
        check_run: int,
        origin: Origin,
        *,
        title: str,
        summary: str,
        text: str = "",
        annotations: Sequence[Annotation] = (),
        conclusion: str | None = None,
    ) -> Posted:
        assert len(annotations) <= 50
        self._fails("before", f"{check_run}: {conclusion} +{len(annotations)}")
        if annotations and self.refuses_annotations:
            raise PublishError("Could not update", why="422", reason="refused")
        self.said.setdefault(check_run, []).extend(annotations)
        changed: dict[str, Any] = {"title": title, "summary": summary, "text": text}
        changed |= {"conclusion": conclusion, "external_id": origin.external_id}
        if not self.opens_again:
            changed["conclusion"] = conclusion or self.runs[check_run].conclusion
        self.add(replace(self.runs[check_run], **changed))
        self._fails("after")
        return self.runs[check_run]

    def _fails(self, moment: str, what: str = "") -> None:
        if what:
            self.writes.append(what)
        if self.failures and self.failures[0].startswith(moment):
            reason = self.failures.pop(0).partition(":")[2]
            if reason == "killed":
                raise KeyboardInterrupt
            if reason:
                raise PublishError("Could not write", reason=reason)


def note(number: int) -> Annotation:
    return Annotation("a.py", number, number, "warning", "rule", f"message {number}", "line")


def publisher(
    checks: Checks, count: int = 0, page: str = OURS, notes: Annotations | None = None
) -> CheckRunReport:
    found = notes or Annotations(tuple(map(note, range(1, count + 1))))
    return CheckRunReport(
        cast("CheckRunsPort", checks),
        7,
        lambda _report: "the text",
        lambda _report: found,
        page=page,
        sleep=lambda _seconds: None,
    )


def test_it_is_in_progress_first_and_has_the_conclusion_in_the_end() -> None:
    checks = Checks()
    report_check = publisher(checks, 2)
    assert report_check.start(HEAD) == "https://github.com/octo/shop/runs/101"
    assert checks.runs[101].conclusion is None
    assert report_check.publish(report(headline="Ready to merge")) == checks.runs[101].url
    (run,) = checks.runs.values()
    assert (run.conclusion, run.title, run.text) == ("success", "Ready to merge", "the text")
    assert run.external_id == "prjury:default:7:50.1"
    assert checks.said[101] == [note(1), note(2)]
    assert report_check.notes == ()


@pytest.mark.parametrize("gate", list(Gate))
def test_the_conclusion_is_the_gate_and_never_neutral(gate: Gate) -> None:
    checks = Checks()
    publisher(checks).publish(report(gate=gate))
    assert [run.conclusion for run in checks.runs.values()] == [gate.value]


def test_our_own_is_adopted_and_nobody_elses() -> None:
    checks = Checks()
    foreign = [
        Posted(10, app="mallory", conclusion="success"),
        Posted(11, external_id="prjury:default:8"),
        Posted(12, external_id="prjury:other:7"),
        Posted(13, name="PR Jury"),
    ]
    checks.add(*foreign, Posted(14, conclusion="success"))
    publisher(checks).start(HEAD)
    assert [checks.runs[14].conclusion] == [None]
    publisher(checks).publish(report(gate=Gate.FAILURE))
    assert [*checks.runs.values()][:4] == foreign
    assert checks.runs[14].conclusion == "failure"
    assert len(checks.runs) == 5


def test_one_that_cannot_be_opened_again_gets_a_successor() -> None:
    checks = Checks(opens_again=False)
    checks.add(Posted(20, conclusion="success"))
    assert publisher(checks).start(HEAD) == checks.runs[21].url
    assert checks.runs[21].conclusion is None


def test_annotations_go_in_batches_of_fifty_and_the_last_with_the_conclusion() -> None:
    checks = Checks()
    publisher(checks, 120).publish(report())
    assert checks.writes == ["create", "101: None +50", "101: None +50", "101: success +20"]
    assert checks.said[101] == [note(n) for n in range(1, 121)]


def test_what_is_there_is_not_sent_again() -> None:
    checks = Checks()
    checks.add(Posted(20))
    checks.said[20] = [note(n) for n in range(1, 51)]
    publisher(checks, 60).publish(report())
    assert checks.writes == ["20: success +10"]
    assert checks.said[20] == [note(n) for n in range(1, 61)]


def test_stale_annotations_make_a_new_check_run_and_the_old_one_agrees() -> None:
    checks = Checks()
    checks.add(Posted(20, conclusion="success"))
    checks.said[20] = [note(99)]
    publisher(checks, 2).publish(report(gate=Gate.FAILURE))
    assert checks.writes == ["create", "21: failure +2", "20: failure +0"]
    assert [run.conclusion for run in checks.runs.values()] == ["failure", "failure"]
    assert checks.said == {20: [note(99)], 21: [note(1), note(2)]}
    publisher(checks, 2).publish(report(gate=Gate.FAILURE))
    assert len(checks.runs) == 2


@pytest.mark.parametrize("reason", ["unreachable", "server_error", "bad_response"])
@pytest.mark.parametrize("before", range(4))
def test_an_unclear_write_is_looked_up_before_it_is_repeated(reason: str, before: int) -> None:
    checks = Checks(failures=[*["after:"] * before, f"after:{reason}"])
    publisher(checks, 120).publish(report())
    (run,) = checks.runs.values()
    assert run.conclusion == "success"
    assert checks.said[run.id] == [note(n) for n in range(1, 121)]


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("writes", range(6))
def test_a_run_that_is_killed_and_a_second_one_leave_the_same(moment: str, writes: int) -> None:
    checks = Checks(failures=[*[f"{moment}:"] * writes, f"{moment}:killed"])
    checks.add(Posted(20, conclusion="success"))
    checks.said[20] = [note(999)]
    first = publisher(checks, 120)
    with suppress(KeyboardInterrupt):
        first.start(HEAD)
        first.publish(report(gate=Gate.FAILURE))
    assert not checks.failures
    assert "success" not in {run.conclusion for run in checks.runs.values()} or writes == 0
    publisher(checks, 120).publish(report(gate=Gate.FAILURE))
    assert [run.conclusion for run in checks.runs.values()] == ["failure", "failure"]
    assert checks.said[21] == [note(n) for n in range(1, 121)]


def test_a_write_that_failed_is_repeated_and_given_up_some_time() -> None:
    checks = Checks(failures=["before:server_error"] * 3)
    publisher(checks).publish(report())
    assert [run.conclusion for run in checks.runs.values()] == ["success"]
    checks = Checks(failures=["before:server_error"] * 9)
    with pytest.raises(PublishError):
        publisher(checks).publish(report())
    assert checks.writes == ["create"] * 4


def test_refused_annotations_do_not_cost_the_conclusion() -> None:
    checks = Checks(refuses_annotations=True)
    report_check = publisher(checks, 60)
    report_check.publish(report(gate=Gate.FAILURE))
    (run,) = checks.runs.values()
    assert run.conclusion == "failure"
    assert "GitHub refused annotations" in run.summary
    assert "GitHub refused annotations" in report_check.notes[0]


def test_annotations_that_were_left_out_are_told() -> None:
    checks = Checks()
    notes = Annotations((note(1),), left_out=3, unplaceable=2)
    publisher(checks, notes=notes).publish(report())
    assert "in the report: 3 findings" in checks.runs[101].summary
    assert "cannot be sent to GitHub: 2 findings" in checks.runs[101].summary


@pytest.mark.parametrize("newer", ["prjury:default:7:50.2", "prjury:default:7:51.1"])
def test_an_older_run_changes_nothing_of_a_newer_one(newer: str) -> None:
    checks = Checks()
    checks.add(Posted(20, external_id=newer, conclusion="failure"))
    report_check = publisher(checks)
    assert report_check.start(HEAD) == checks.runs[20].url
    report_check.publish(report())
    report_check.abandon("it broke", HEAD)
    assert checks.writes == []


@pytest.mark.parametrize("conclusion", [None, "success", "failure"])
def test_a_run_without_a_verdict_leaves_nothing_green_and_nothing_hanging(
    conclusion: str | None,
) -> None:
    checks = Checks()
    checks.add(Posted(20, conclusion=conclusion, external_id="prjury:default:7:50.1"))
    publisher(checks, page=PAGE.format(50, 2)).abandon("git failed: <b>@all</b>", HEAD)
    assert checks.runs[20].conclusion == "action_required"
    assert "git failed" in checks.runs[20].summary
    assert "<b>" not in checks.runs[20].summary


def test_a_run_that_never_began_says_so_as_well() -> None:
    checks = Checks()
    publisher(checks).abandon("it broke", HEAD)
    assert [run.conclusion for run in checks.runs.values()] == ["action_required"]


def test_a_verdict_that_was_published_is_not_given_up_afterwards() -> None:
    checks = Checks()
    report_check = publisher(checks)
    report_check.publish(report())
    report_check.abandon("too late", HEAD)
    publisher(checks).abandon("another job of the same run", HEAD)
    assert [run.conclusion for run in checks.runs.values()] == ["success"]


@pytest.mark.parametrize(
    "action",
    [
        lambda check: check.start(HEAD),
        lambda check: check.publish(report()),
        lambda check: check.abandon("why", HEAD),
    ],
)
def test_a_users_token_is_told_that_it_takes_an_app(
    action: Callable[[CheckRunReport], object],
) -> None:
    checks = Checks(slug="", failures=["before:permission"])
    with pytest.raises(PublishError, match="from apps only") as caught:
        action(publisher(checks))
    assert caught.value.reason == "permission"


def test_a_read_only_token_is_told_what_it_lacks() -> None:
    checks = Checks(failures=["before:permission"])
    with pytest.raises(PublishError) as caught:
        publisher(checks).start(HEAD)
    assert caught.value.reason == "permission"
    assert checks.writes == ["create"]


def test_a_long_headline_fits() -> None:
    checks = Checks()
    publisher(checks).publish(report(headline="❌ " + "x" * 9_000))
    assert len(checks.runs[101].title) <= 255
