"""The mode ``backport``: a merge opens pull requests."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from fakes.github import OCTOCAT, FakeGitHub, pull_payload, running, side_payload, user_payload
from fakes.github.payloads import label_payload
from fakes.history import History
from fakes.jobs import connect, job_environment
from fakes.picks import Line
from prjury.action import main
from prjury.action.dependencies import make_dependencies
from prjury.action.job import Dependencies, GitAccess
from prjury.app.backport import Picks
from prjury.errors import ExitCode, SourceError
from prjury.github.event import Event
from prjury.publishers.backport_pulls import Opening, is_proposable
from prjury.report.model import Backport
from prjury.report.render import Renderer
from prjury.report.sanitise import Redactor
from prjury.snapshot.model import Conflict, ConflictType
from prjury.snapshot.picked import Pick

REPO = "octo/shop"
CONFLICT = Conflict("a.py", ConflictType.CONTENT, False, "both sides change it")


@dataclass
class Job:
    """A job of the workflow for backports, and who judges in it."""

    directory: Path
    fake: FakeGitHub
    judged: list[Picks | SourceError] = field(default_factory=list)
    asked: list[tuple[Event, Sequence[str]]] = field(default_factory=list)
    environ: dict[str, str] = field(default_factory=dict)
    log: str = ""

    def __post_init__(self) -> None:
        mode = {"PRJURY_INPUT_MODE": "backport"}
        self.environ = job_environment(self.fake, self.directory, "pull_request_target", **mode)
        self.event("closed")

    def event(self, action: str, **more: Any) -> None:
        pull = pull_payload(self.fake.url, REPO, 7) | {"state": "closed", "merged": True}
        sender = user_payload(self.fake.url, OCTOCAT)
        payload = {"action": action, "pull_request": pull, "sender": sender, **more}
        (self.directory / "event.json").write_text(json.dumps(payload))

    def run(self) -> int:
        def nobody(*_: object) -> Any:
            raise AssertionError("nothing else is judged, and nothing is published")

        dependencies = Dependencies(
            judge=nobody, picks=self.pick, connect=connect, renderer=Renderer()
        )
        stream = io.StringIO()
        code = main(self.environ, stream, dependencies)
        self.log = stream.getvalue()
        return code

    def pick(self, _job: object, event: Event, branches: Sequence[str]) -> Picks:
        self.asked.append((event, branches))
        told = self.judged.pop(0)
        if isinstance(told, SourceError):
            raise told
        return told

    @property
    def summary(self) -> str:
        return (self.directory / "summary").read_text()

    @property
    def opened(self) -> list[tuple[str, str]]:
        pulls = sorted(self.fake.pulls.items())
        return [(p["base"]["ref"], p["head"]["ref"]) for (_, number), p in pulls if number != 7]


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Job]:
    with running() as fake:
        fake.add_pull(REPO, 7, state="closed", merged=True)
        fake.workflow_permissions["can_approve_pull_request_reviews"] = True
        yield Job(tmp_path, fake)


@pytest.fixture
def lines(tmp_path: Path, job: Job) -> dict[str, Line]:
    history = History(tmp_path / "repo")
    start = history.commit({"a.py": "x = 1\n"})
    for name in ("1.x", "2.x"):
        history.branch(name)
    history.commit({"b.py": "y = 1\n"}, "Fix")
    for name in ("main", "1.x", "2.x"):
        job.fake.branches[name] = history.sha(name)
    job.fake.objects.load(history.path, start)
    return {name: Line(history, name, start) for name in ("1.x", "2.x")}


def judge_picks(lines: dict[str, Line], *branches: str) -> tuple[Pick, ...]:
    return tuple(lines[name].pick(lines[name].history.sha("main")) for name in branches)


def test_a_merge_opens_one_for_each_branch_that_suits(job: Job, lines: dict[str, Line]) -> None:
    job.judged = [Picks(Opening(labels=("backport",)), picks=judge_picks(lines, "1.x", "2.x"))] * 2
    assert job.run() == ExitCode.OPEN
    assert job.opened == [("1.x", "backport/7-to-1.x"), ("2.x", "backport/7-to-2.x")]
    ((event, branches),) = job.asked
    assert (event.pull.merged, branches) == (True, ())
    assert "1.x: opened: https://github.com/octo/shop/pull/8" in job.log
    assert "* `2.x`: opened: <https://github.com/octo/shop/pull/9>" in job.summary
    assert job.run() == ExitCode.OPEN
    assert "2.x: there already" in job.log
    assert len(job.opened) == 2


@pytest.mark.parametrize(
    ("action", "pull", "said"),
    [
        ("closed", {"merged": False}, "is not merged"),
        ("labeled", {}, "it was not closed"),
        ("synchronize", {}, "it was not closed"),
    ],
)
def test_without_a_merge_nothing_is_judged(
    job: Job, action: str, pull: dict[str, Any], said: str
) -> None:
    job.fake.add_pull(REPO, 7, **{"state": "closed", "merged": True, **pull})
    job.event(action)
    assert job.run() == ExitCode.OPEN
    assert said in job.log
    assert job.asked == []


def test_a_strangers_branch_of_such_a_name_is_no_backport(job: Job) -> None:
    head = side_payload(job.fake.url, "mallory/shop", "backport/5-to-2.x", "b" * 40)
    job.fake.add_pull(REPO, 7, state="closed", merged=True, head=head)
    job.judged = [Picks(Opening())]
    assert job.run() == ExitCode.OPEN
    assert "nothing was opened" in job.log


def test_a_branch_that_keeps_moving_fails_the_job_and_no_other(
    job: Job, lines: dict[str, Line]
) -> None:
    both = judge_picks(lines, "2.x", "1.x")
    job.fake.branches["2.x"] = job.fake.branches["main"]
    job.judged = [Picks(Opening(), picks=both), Picks(Opening(), picks=both[:1])]
    assert job.run() == ExitCode.NOT_PUBLISHED
    assert [base for base, _ in job.opened] == ["1.x"]
    assert "the change was tried on" in job.log
    assert "`2.x`" in job.summary


def test_other_events_and_a_missing_token_are_refused(job: Job) -> None:
    job.environ["GITHUB_EVENT_NAME"] = "pull_request"
    assert job.run() == ExitCode.USAGE
    assert "does not run on pull_request" in job.log
    job.environ["GITHUB_EVENT_NAME"] = "pull_request_target"
    job.environ["PRJURY_INPUT_GITHUB_TOKEN"] = ""
    assert job.run() == ExitCode.USAGE
    assert "takes a token" in job.log


def test_a_branch_without_a_verdict_fails_the_job_and_no_other(
    job: Job, lines: dict[str, Line]
) -> None:
    unjudged = Backport("3.x", "error", None, reasons=("it cannot be fetched",))
    job.judged = [Picks(Opening(), (unjudged,), judge_picks(lines, "1.x"))]
    assert job.run() == ExitCode.NOT_PUBLISHED
    assert [base for base, _ in job.opened] == ["1.x"]
    assert "3.x: it cannot be fetched" in job.log
    assert "* `3.x`: it cannot be fetched" in job.summary


TREE = "f" * 40
CLEAN: dict[str, Any] = {"applies": True, "tree": TREE}
CLASH: dict[str, Any] = {"applies": False, "conflicts": (CONFLICT,)}


@pytest.mark.parametrize(
    ("backport", "alone", "with_drafts"),
    [
        (Backport("1.x", "suitable", **CLEAN), True, True),
        (Backport("1.x", "suitable_with_changes", **CLEAN), True, True),
        (Backport("1.x", "suitable_with_changes", **{**CLASH, "tree": TREE}), True, True),
        (Backport("1.x", "needs_human", **CLEAN), False, False),
        (Backport("1.x", "not_suitable", **CLEAN), False, False),
        (Backport("1.x", "already_present", **CLEAN), False, False),
        (Backport("1.x", "not_applicable", None), False, False),
        (Backport("1.x", "error", None), False, False),
        (Backport("1.x", "suitable_with_changes", **CLASH), False, True),
        (Backport("1.x", "needs_human", **CLASH), False, False),
        (Backport("1.x", "needs_human", **CLASH, asked="yes"), False, True),
        (Backport("1.x", "not_suitable", **CLASH, asked="yes"), False, False),
    ],
)
def test_which_verdicts_open_something(backport: Backport, alone: bool, with_drafts: bool) -> None:
    assert is_proposable(backport, Opening()) is alone
    assert is_proposable(backport, Opening(conflicts="draft")) is with_drafts


Step = tuple[dict[str, str], str]
OPENING = """\
version: 1
backport: {branches: ["[0-9].x"], merge: MERGE, open: {enabled: true, labels: [backport]}}
"""


@dataclass
class Merged:
    """A repository whose main branch has merged pull request 7, and the real judge of picks."""

    job: Job
    history: History

    def run(self) -> int:
        git = GitAccess("file", lambda _event: self.history.url)
        stream = io.StringIO()
        real = make_dependencies(self.job.environ, stream, Redactor(()), git)
        code = main(self.job.environ, stream, replace(real, connect=connect))
        self.job.log = stream.getvalue()
        return code

    def trees(self) -> dict[str, str]:
        objects = self.job.fake.objects
        refs = {name: sha for name, sha in self.job.fake.branches.items() if "backport" in name}
        return {name: objects.tree_of(sha) for name, sha in refs.items()}


def merged(job: Job, tmp_path: Path, way: str, *messages: str) -> Merged:
    history = History(tmp_path / "repo")
    policy = OPENING.replace("MERGE", way)
    start = history.commit({"a.py": TEXT, ".github/prjury.yml": policy, "docs.md": "d\n"})
    for name in ("1.x", "2.x"):
        history.branch(name)
    history.switch("change", create=True)
    for number, message in enumerate(messages, 1):
        history.commit({"a.py": TEXT.replace("x = 1\n", f"x = {number + 1}\n")}, message)
    history.pull_ref(7, "change")
    history.switch("main")
    history.commit({"other.py": "o = 1\n"})
    landed = history.merge("change")
    history.switch("2.x")
    history.commit({"a.py": TEXT.replace("x = 1\n", "x = 9\n")}, "Another fix")
    history.switch("main")
    for name in ("main", "1.x", "2.x"):
        job.fake.branches[name] = history.sha(name)
    job.fake.objects.load(history.path, start)
    job.event("closed")
    told = job.fake.pulls[REPO, 7]
    told |= {
        "merge_commit_sha": landed,
        "commits": len(messages),
        "labels": [label_payload(job.fake.url, REPO, "backport 1.x")],
    }
    told["head"] |= {"sha": history.sha("change"), "ref": "change"}
    told["base"] |= {"ref": "main", "sha": history.sha("main")}
    job.fake.roles = {"octocat": "write"}
    return Merged(job, history)


TEXT = "".join(f"{name} = 1\n" for name in "abcdefgxyz")


def test_a_merged_change_is_judged_picked_and_proposed(job: Job, tmp_path: Path) -> None:
    case = merged(job, tmp_path, "squash", "Fix x (once)", "Fix x again")
    assert case.run() == ExitCode.OPEN, job.log
    assert job.opened == [("1.x", "backport/7-to-1.x")], job.log
    case.history.git("checkout", "--quiet", "--detach", "1.x")
    case.history.git("cherry-pick", "-m", "1", job.fake.pulls[REPO, 7]["merge_commit_sha"])
    assert case.trees() == {"backport/7-to-1.x": case.history.sha("HEAD^{tree}")}
    assert case.run() == ExitCode.OPEN
    assert "1.x: there already" in job.log


def landed_otherwise(case: Merged, own: Sequence[Step], came: Sequence[Step], **told: Any) -> None:
    """The pull request has its own commits, and they came in as others, without a merge."""
    history = case.history
    history.git("reset", "--quiet", "--hard", "HEAD^1")
    history.switch("change", create=False)
    history.git("reset", "--quiet", "--hard", "1.x")
    for files, message in own:
        history.commit(files, message)
    history.pull_ref(7, "change")
    history.switch("main")
    for files, message in came:
        history.commit(files, message)
    case.job.fake.branches["main"] = history.sha("main")
    pull = case.job.fake.pulls[REPO, 7]
    pull |= {"merge_commit_sha": history.sha("main"), "commits": len(own), **told}
    pull["base"] |= {"sha": history.sha("main")}
    pull["head"] |= {"sha": history.sha("change")}


def proposed(case: Merged) -> list[str]:
    """The titles of the commits on the new branch, newest first."""
    sha, titles = case.job.fake.branches["backport/7-to-1.x"], []
    while sha != case.history.sha("1.x"):
        headers, message = case.job.fake.objects.commit(sha)
        titles.append(message.split("\n")[0])
        (sha,) = headers["parent"]
    return titles


ONE, TWO = ({"b.py": "b = 1\n"}, "One"), ({"c.py": "c = 1\n"}, "Two")
BOTH = {"b.py": "b = 1\n", "c.py": "c = 1\n"}
#: How two commits came in, after another change: what the policy says, and what is proposed.
LANDINGS: dict[str, tuple[str, list[Step], list[str]]] = {
    "squashed": ("squash", [(BOTH, "Both (#7)")], ["Both (#7)"]),
    "squashed, with a title of the merger's own": ("squash", [(BOTH, "Whatever")], ["Whatever"]),
    "rebased": ("rebase", [ONE, TWO], ["Two", "One"]),
    "rebased, the last with the title of all": (
        "rebase",
        [ONE, (TWO[0], "Both")],
        ["Both", "One"],
    ),
    "squashed, and something else beside it": (
        "squash",
        [({**BOTH, "evil.py": "e = 1\n"}, "Both (#7)")],
        [],
    ),
}


@pytest.mark.parametrize("name", LANDINGS)
def test_what_is_proposed_is_what_was_merged(job: Job, tmp_path: Path, name: str) -> None:
    way, came, titles = LANDINGS[name]
    case = merged(job, tmp_path, way, "Not this")
    landed_otherwise(case, [ONE, TWO], came, title="Both")
    case.run()
    if titles:
        assert proposed(case) == titles, job.log
    else:
        assert "It is not known which commits belong to #7" in job.log
        assert job.opened == []


def test_what_is_not_in_the_base_any_more_is_not_proposed(job: Job, tmp_path: Path) -> None:
    case = merged(job, tmp_path, "squash", "Not this")
    landed_otherwise(case, [ONE, TWO], [(BOTH, "Both (#7)")])
    case.history.git("reset", "--quiet", "--hard", "HEAD^")
    job.fake.branches["main"] = case.history.sha("main")
    case.run()
    assert "any more" in job.log
    assert job.opened == []


def test_what_the_author_writes_below_asks_for_nothing(job: Job, tmp_path: Path) -> None:
    case = merged(job, tmp_path, "squash", "Reword everything")
    told = job.fake.pulls[REPO, 7]
    told |= {"labels": [], "title": "Reword everything", "body": "Backport-to: 1.x\n"}
    assert case.run() == ExitCode.OPEN
    assert job.opened == []
