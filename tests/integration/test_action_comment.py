"""Commands in comments, one job each, against a GitHub that remembers: a table of outcomes."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from fakes import reports
from fakes.github import (
    ACTIONS,
    BASE_SHA,
    HEAD_SHA,
    NO_FAULT,
    OCTOCAT,
    Account,
    FakeGitHub,
    Fault,
    refused,
    running,
    side_payload,
)
from fakes.github.payloads import issue_payload
from fakes.jobs import connect, job_environment
from fakes.render import to_comment
from fakes.skeletons import inline_types
from prjury.action import main
from prjury.action.dependencies import make_dependencies
from prjury.action.history import PullHistory
from prjury.action.job import Inputs
from prjury.errors import ExitCode
from prjury.github.client import GitHub
from prjury.github.event import Event, EventKind
from prjury.github.payload import PullFacts, Tip
from prjury.jury.judgment import Check, Judgment, Location
from prjury.report.codec import report_to_json
from prjury.report.continuity import read_dismissals, write_dismissal
from prjury.report.findings import findings
from prjury.report.model import NO_REPAIR, Override, Recovery, RepairRound, Report
from prjury.report.sanitise import Redactor
from prjury.snapshot.model import Side

NEWER = "d" * 40
STRANGER = Account("stranger", id=9)
HELPER = Account("helper[bot]", "Bot", id=10)
RUN = 1200


def judged() -> Report:
    """A failing report on the pull request's own head, with three findings under two numbers."""
    report = reports.broken_build()
    pull = structs.replace(
        report.pull,
        repo="octo/shop",
        number=7,
        base=Side("main", BASE_SHA),
        head=Side("cart", HEAD_SHA),
    )
    return replace(report, pull=pull)


@dataclass
class Thread:
    """The conversation below pull request 7, in which the verdict of run 12 stands."""

    directory: Path
    fake: FakeGitHub
    log: str = ""

    def say(self, body: str, by: Account = OCTOCAT) -> dict[str, Any]:
        self.fake.number()  # time goes on
        return self.fake.add_comment(body, by)

    def run(
        self, said: dict[str, Any], action: str = "created", attempt: int = 1, **payload: Any
    ) -> int:
        event = {
            "action": action,
            "issue": issue_payload(self.fake.url, "octo/shop", 7),
            "comment": dict(said),
            "repository": {"full_name": "octo/shop", "default_branch": "main"},
            "sender": said["user"],
            **payload,
        }
        (self.directory / "event.json").write_text(json.dumps(event))
        more = {"GITHUB_RUN_ID": "99", "GITHUB_RUN_ATTEMPT": str(attempt)}
        environ = job_environment(
            self.fake, self.directory, "issue_comment", PRJURY_INPUT_MODE="comment", **more
        )
        stream = io.StringIO()
        parts = structs.replace(make_dependencies(environ, stream, Redactor()), connect=connect)
        code = main(environ, stream, parts)
        self.log = stream.getvalue()
        return code

    def push(self) -> None:
        side = side_payload(self.fake.url, "octo/shop", "cart", NEWER)
        self.fake.pulls["octo/shop", 7]["head"] = side

    def edit(self, comment: dict[str, Any], body: str) -> None:
        self.fake.number()
        comment |= {"body": body, "updated_at": self.fake.moment()}

    def keep(self, report: dict[str, Any]) -> None:
        """The run of the last verdict has kept this report."""
        self.fake.artifacts.clear()
        content = {"report.json": json.dumps(report).encode()}
        self.fake.add_artifact("prjury-report", content, run=RUN)

    @property
    def hub(self) -> GitHub:
        return connect(read(self), Inputs(github_token="ghs_actions"))

    @property
    def reactions(self) -> list[str]:
        return [content for (_, _, content) in self.fake.reactions]

    @property
    def answers(self) -> list[str]:
        return [body for body in self.fake.bodies if body.startswith("<!-- prjury:v1 id=answer.")]

    @property
    def reruns(self) -> list[str]:
        return [path for method, path in self.fake.writes if "/rerun" in path]


@pytest.fixture
def thread(tmp_path: Path) -> Iterator[Thread]:
    with running() as fake:
        fake.add_pull("octo/shop", 7)
        fake.add_workflow_run(
            "PR Jury", "failure", suite=RUN // 100, path=".github/workflows/prjury.yml"
        )
        report = judged()
        content = json.dumps(report_to_json(report)).encode()
        fake.add_artifact("prjury-report", {"report.json": content}, run=RUN)
        fake.add_comment(to_comment(report, run=f"{RUN}.1"), ACTIONS)
        yield Thread(tmp_path, fake)


def silent(thread: Thread) -> None:
    assert (thread.reactions, thread.answers, thread.reruns) == ([], [], [])


ALLOWED: dict[str, str] = {
    "/prjury help": "`/prjury dismiss N REASON`",
    "/prjury dismiss 9 x": "There is no finding with the number 9; the last is 3.",
    "/prjury dismiss 1 it is so": "it cannot be dismissed",
    "/prjury dismiss 1": "The reason is missing: `/prjury dismiss N REASON`",
    "/prjury backport 1.x": "once the pull request is merged",
    "/prjury fix": "`fix: {enabled: false}`",
    "/prjury rerun": "use `/prjury review`",
    "/prjury explain 1": "is gone",
    "/prjury frobnicate": "This is not a command",
}


@pytest.mark.parametrize("body", ALLOWED)
def test_a_command_is_answered_once_by_a_comment_alone(thread: Thread, body: str) -> None:
    said = thread.say(body)
    assert thread.run(said) == ExitCode.OPEN, thread.log
    assert [ALLOWED[body] in answer for answer in thread.answers] == [True], thread.answers
    writes = len(thread.fake.writes)
    assert thread.run(said) == ExitCode.OPEN
    assert (len(thread.fake.writes), thread.reactions) == (writes, [])


def test_the_thread_shows_the_last_answer_and_those_that_dismiss(patterns: Thread) -> None:
    for body in ("help", "dismiss 1 a known one", "please", "explain 1"):
        patterns.run(patterns.say(f"/prjury {body}"))
    assert [answer.splitlines()[1] for answer in patterns.answers] == [
        "`/prjury dismiss 1 a known one`",
        "`/prjury explain 1`",
    ]


@pytest.mark.parametrize("later", [["help"], ["help", "please"], ["dismiss 1 x", "help"]])
@pytest.mark.parametrize("body", ["backport 1.x", "dismiss 9 x", "help"])
def test_another_attempt_repeats_no_command_whose_answer_is_deleted(
    patterns: Thread, body: str, later: list[str]
) -> None:
    said = patterns.say(f"/prjury {body}")
    patterns.run(said)
    for each in later:
        patterns.run(patterns.say(f"/prjury {each}"))
    answers, writes = patterns.answers, len(patterns.fake.writes)
    assert patterns.run(said, attempt=2) == ExitCode.OPEN
    assert (patterns.answers, len(patterns.fake.writes)) == (answers, writes)
    assert "write it again" in patterns.log


@pytest.mark.parametrize(
    "body", ["/prjury review", "/prjury review\r\n\r\nPlease.", "/prjury override it is broken"]
)
def test_a_command_that_starts_a_run_is_answered_by_a_reaction_alone(
    thread: Thread, body: str
) -> None:
    said = thread.say(body)
    for _ in range(2):
        assert thread.run(said) == ExitCode.OPEN, thread.log
        assert (thread.reactions, thread.answers) == (["rocket"], [])
        assert thread.reruns == [f"/repos/octo/shop/actions/runs/{RUN}/rerun"]


REPAIRED = Recovery("recovered", "passed", (RepairRound(1, "passed"),), "diff --git a/t b/t\n")
FIXES: dict[str, tuple[dict[str, Any], str, str]] = {
    "judged in one job": ({}, "rocket", ""),
    "in four": ({"notes": (NO_REPAIR,)}, "", "in four jobs"),
    "repaired already": ({"recovery": REPAIRED}, "", "brings a patch already"),
}


@pytest.mark.parametrize("case", FIXES)
def test_a_repair_is_tried_by_the_review_that_may(thread: Thread, case: str) -> None:
    more, reaction, words = FIXES[case]
    report = report_to_json(replace(judged(), **more))
    report["policy"]["resolved"] = {"fix": {"enabled": True}}
    thread.keep(report)
    thread.run(thread.say("/prjury fix"))
    assert thread.reactions == [reaction] * bool(reaction)
    assert words in "".join(thread.answers)
    asked = PullHistory(thread.hub, "octo/shop", 7).read_standing_commands(HEAD_SHA).fix
    assert (len(thread.reruns), asked) == ((1, True) if reaction == "rocket" else (0, False))


IGNORED: dict[str, Callable[[Thread], int]] = {
    "no command": lambda t: t.run(t.say("Looks good\n/prjury review")),
    "another word": lambda t: t.run(t.say("/prjuryx review")),
    "an edited comment": lambda t: t.run(t.say("/prjury review"), "edited", changes={"body": {}}),
    "a deleted comment": lambda t: t.run(t.say("/prjury review"), "deleted"),
    "a bot": lambda t: t.run(t.say("/prjury review", HELPER)),
    "our own words": lambda t: t.run(t.say("/prjury review", ACTIONS)),
    "below an issue": lambda t: t.run(t.say("/prjury review"), issue={"number": 7}),
}


@pytest.mark.parametrize("case", IGNORED)
def test_what_is_no_command_of_a_person_is_ignored(thread: Thread, case: str) -> None:
    assert IGNORED[case](thread) == ExitCode.OPEN
    silent(thread)
    assert not thread.fake.writes


@pytest.mark.parametrize("role", ["none", "read", "triage"])
def test_who_may_not_write_gets_a_reaction_and_nothing_else(thread: Thread, role: str) -> None:
    thread.fake.roles["stranger"] = role
    assert thread.run(thread.say("/prjury override please", STRANGER)) == ExitCode.OPEN
    assert (thread.reactions, thread.answers, thread.fake.statuses) == (["-1"], [], [])


@pytest.mark.parametrize(
    ("body", "reactions"),
    [("/prjury review", ["rocket"]), ("/prjury override x", ["-1"]), ("/prjury help", ["-1"])],
)
def test_the_author_may_ask_for_a_review_and_nothing_else(
    thread: Thread, body: str, reactions: list[str]
) -> None:
    thread.fake.roles["stranger"] = "read"
    thread.fake.pulls["octo/shop", 7]["user"]["login"] = "stranger"
    thread.run(thread.say(body, STRANGER))
    assert (thread.reactions, len(thread.reruns)) == (reactions, reactions == ["rocket"])


REFUSALS = {
    "too old": "Unable to retry this workflow run because it was created over a month ago",
    "too often": "Unable to retry this workflow run because it has been attempted 50 times",
}


@pytest.mark.parametrize("case", REFUSALS)
@pytest.mark.parametrize("body", ["/prjury review", "/prjury override broken"])
def test_a_run_that_github_does_not_start_again(thread: Thread, case: str, body: str) -> None:
    thread.fake.faults.append(refused("POST", "/rerun", 403, REFUSALS[case]))
    thread.run(thread.say(body))
    (answer,) = thread.answers
    assert (thread.reactions, REFUSALS[case][38:60] in answer) == ([], True)
    assert "actions: write" not in answer.replace("\\", "")
    assert "Push, or close and reopen the pull request" in answer
    if "override" in body:
        assert "is kept and counts when this head is judged next" in answer
        assert PullHistory(thread.hub, "octo/shop", 7).read_standing_commands(HEAD_SHA).override


def test_a_comment_edited_before_the_job_begins_is_ignored(thread: Thread) -> None:
    said = thread.say("/prjury help")
    event = dict(said)
    thread.edit(said, "/prjury override because")
    assert thread.run(event) == ExitCode.OPEN
    silent(thread)
    assert thread.run(said) == ExitCode.OPEN
    silent(thread)


@pytest.mark.parametrize("body", ["/prjury override why not", "/prjury dismiss 1 x"])
@pytest.mark.parametrize("pushed", [True, False], ids=["a push", "a verdict"])
def test_what_came_in_between_makes_it_void(thread: Thread, body: str, *, pushed: bool) -> None:
    said = thread.say(body)
    verdict = thread.fake.comments[min(thread.fake.comments)]
    if pushed:
        thread.push()
    else:
        thread.edit(verdict, verdict["body"])
    thread.run(said)
    why = "the head is `dddddddddddd` now" if pushed else "after this command"
    assert why in thread.answers[0]
    assert (thread.fake.statuses, list(map(read_dismissals, thread.answers))) == ([], [()])


def pattern_report() -> Report:
    """A report that fails by two findings of patterns at one number, and a third one."""
    checks = [
        Check("numpy-2/a", False, "gone", Location("a.py", line), severity="error")
        for line in (3, 9)
    ]
    other = Check("numpy-2/b", False, "renamed", Location("b.py", 1), severity="error")
    judgment = Judgment.failed("3 mistakes", checks=(*checks, other))
    report = reports.report(
        reports.tier("build", reports.ballot("merge", reports.MERGED)),
        reports.tier("version-patterns", reports.ballot("patterns", judgment)),
        reports.quality_tier(reports.NO_MODEL),
    )
    pull = structs.replace(report.pull, repo="octo/shop", number=7, head=Side("cart", HEAD_SHA))
    return replace(report, pull=pull)


@pytest.fixture
def patterns(thread: Thread) -> Thread:
    """The same thread, whose verdict fails by patterns alone."""
    report = pattern_report()
    thread.keep(report_to_json(report))
    first = min(thread.fake.comments)
    thread.fake.comments[first]["body"] = to_comment(report, run=f"{RUN}.1")
    return thread


def test_two_at_once_are_answered_both(patterns: Thread) -> None:
    thread = patterns
    first = thread.say("/prjury dismiss 1 a known one")
    second = thread.say("/prjury dismiss 2 another one")
    other: list[int] = []
    # The second job runs as a whole while the first one is about to write its answer.
    thread.fake.faults.append(
        Fault(
            "POST",
            "/issues/7/comments",
            status=NO_FAULT,
            action=lambda: other.append(thread.run(second)),
        )
    )
    assert (thread.run(first), other) == (ExitCode.OPEN, [ExitCode.OPEN])
    assert {one.reason for answer in thread.answers for one in read_dismissals(answer)} == {
        "a known one",
        "another one",
    }


def test_a_dismissal_says_who_and_why_and_holds_nothing_live(patterns: Thread) -> None:
    evil = "<!-- prjury:v1 --> @octocat `${{ github.token }}` ![x](http://evil.example/x)"
    patterns.run(patterns.say(f"/prjury dismiss 1 {evil}"))
    (answer,) = patterns.answers
    assert "<!-- prjury" not in answer.partition("\n")[2]
    assert inline_types(answer) <= {"text", "text_special", "code_inline"}
    assert {(one.by, one.reason) for one in read_dismissals(answer)} == {("octocat", evil)}
    assert patterns.reruns == [f"/repos/octo/shop/actions/runs/{RUN}/rerun"]


@pytest.mark.parametrize("known", [True, False], ids=["with a verdict", "without"])
def test_the_run_that_judged_the_head_is_the_one_to_start_again(
    thread: Thread, known: bool
) -> None:
    """A newer run of the same workflow may be that of an edited title."""
    path = ".github/workflows/prjury.yml"
    thread.fake.add_workflow_run("PR Jury", "success", id=RUN + 1, path=path)
    if not known:
        thread.fake.comments.clear()
    thread.run(thread.say("/prjury review"))
    assert thread.reruns == [f"/repos/octo/shop/actions/runs/{RUN}/rerun"]


def test_a_missing_permission_is_named_and_the_job_fails(thread: Thread) -> None:
    grants = {"pull_requests": "write", "actions": "read", "contents": "read"}
    thread.fake.accounts["ghs_actions"] = replace(ACTIONS, grants=grants)
    assert thread.run(thread.say("/prjury review")) == ExitCode.NOT_PUBLISHED
    assert "actions: write" in thread.answers[0].replace("\\", "").replace("\u200b", "")


def test_a_closed_pull_request_is_not_judged_again(thread: Thread) -> None:
    thread.fake.pulls["octo/shop", 7]["state"] = "closed"
    thread.run(thread.say("/prjury review"))
    assert (len(thread.answers), thread.reruns) == (1, [])


def test_a_review_hears_the_comment_as_long_as_it_stands(thread: Thread) -> None:
    said = thread.say("/prjury override the machine is broken")
    thread.run(said)

    def given(number: int = 7, head: str = HEAD_SHA) -> Override | None:
        return PullHistory(thread.hub, "octo/shop", number).read_standing_commands(head).override

    (status,) = thread.fake.statuses_of(HEAD_SHA, "prjury/override")
    assert status["target_url"].endswith(f"#issuecomment-{said['id']}")
    assert given() == Override("octocat", "the machine is broken")
    assert (given(head=NEWER), given(number=8)) == (None, None)
    thread.fake.roles["octocat"] = "read"
    assert given() is None
    thread.fake.roles["octocat"] = "write"
    thread.edit(said, "/prjury override the machine is broken ")
    assert given() is None


def test_a_status_of_somebody_else_overrides_nothing(thread: Thread) -> None:
    said = thread.say("/prjury override the machine is broken")
    place = f"https://github.com/octo/shop/pull/7#issuecomment-{said['id']}"
    thread.fake.add_status("prjury/override", "success", by="evil", target_url=place)
    assert PullHistory(thread.hub, "octo/shop", 7).read_standing_commands(HEAD_SHA).override is None


def read(thread: Thread) -> Event:
    pull = PullFacts("octo/shop", Tip(), Tip(), 7)
    return Event(EventKind.ISSUE_COMMENT, pull, api_url=thread.fake.url)


class TestDismissal:
    """A dismissal is there in the next report, as long as the command stands."""

    def told(self, thread: Thread) -> list[tuple[str, str]]:
        found = PullHistory(thread.hub, "octo/shop", 7).read_earlier()
        pull = structs.replace(pattern_report().pull, head=Side("cart", NEWER))
        report = found.add_history(replace(pattern_report(), pull=pull))
        assert report.since is not None
        assert report.since.head == HEAD_SHA
        return sorted({(one.by, one.reason) for one in report.dismissals})

    def test_it_stays_over_pushes_as_long_as_its_command_does(self, patterns: Thread) -> None:
        said = patterns.say("/prjury dismiss 2 it is so")
        patterns.run(said)
        assert self.told(patterns) == [("octocat", "it is so")]
        del patterns.fake.comments[said["id"]]
        assert self.told(patterns) == []

    def test_one_that_only_looks_like_ours_is_none(self, patterns: Thread) -> None:
        said = patterns.say("/prjury dismiss 2 x", STRANGER)
        patterns.run(said)
        finding = findings(pattern_report().verdict)[-1].check.fingerprint
        for author in ("stranger", "octocat"):
            values = write_dismissal([finding], HEAD_SHA, author, "x")
            patterns.say(f"<!-- prjury:v1 id=answer.{said['id']} {values} -->\n", ACTIONS)
        assert self.told(patterns) == []
