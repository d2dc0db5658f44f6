from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec.structs import replace

from fakes import llm
from fakes.bare_report import report
from fakes.derivation import gate_from_report
from fakes.github import (
    ACTIONS,
    READ_ONLY_ACTIONS,
    Account,
    FakeGitHub,
    Fault,
    pull_payload,
    running,
    side_payload,
)
from fakes.history import History
from fakes.jobs import connect, job_environment
from prjury.action import main
from prjury.action.dependencies import make_dependencies
from prjury.action.job import Dependencies, GitAccess, Inputs, PriorState
from prjury.action.job import Job as ActionJob
from prjury.app.backport import Picks
from prjury.errors import CannotJudgeError, ExitCode
from prjury.git.open_snapshot import NothingToReview
from prjury.github.event import Event, EventKind
from prjury.github.payload import PullFacts, Tip
from prjury.journal.read import read_journal
from prjury.journal.write import journal_files
from prjury.jury.gate import Gate
from prjury.jury.judgment import Status
from prjury.policy.load import default_policy
from prjury.report.model import Report
from prjury.report.render import Renderer
from prjury.report.sanitise import Redactor
from prjury.secret_env import SECRET_VARIABLES

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "ghs_actions"


class PlainRenderer(Renderer, frozen=True):
    """Few words in each place."""

    def comment(self, report: Report, *, run: str | None = None) -> str:
        return f"<!-- prjury:v1 id=default run={run} -->\n{report.headline}"

    def check(self, report: Report) -> str:
        return report.headline

    def summary(self, report: Report) -> str:
        return f"## {report.headline}"

    def html(self, report: Report) -> str:
        return f"<h1>{report.gate}</h1>"


def _pick_nothing(*_: object) -> Picks:
    return Picks(None)


@dataclass
class Job:
    """A job on a runner: its files, its environment, its log."""

    directory: Path
    fake: FakeGitHub
    judged: Report | Exception = field(default_factory=report)
    asked: list[tuple[Event, Inputs]] = field(default_factory=list)
    known: list[PriorState] = field(default_factory=list)
    environ: dict[str, str] = field(default_factory=dict)
    log: str = ""

    def __post_init__(self) -> None:
        self.environ = job_environment(self.fake, self.directory, "pull_request")
        self.event(pull_request=pull_payload(self.fake.url, "octo/shop", 7))

    def event(self, **payload: Any) -> None:
        (self.directory / "event.json").write_text(json.dumps(payload))

    def run(self, **inputs: str) -> int:
        given = {f"PRJURY_INPUT_{name.upper()}": value for name, value in inputs.items()}
        stream = io.StringIO()
        code = main({**self.environ, **given}, stream, self.dependencies)
        self.log = stream.getvalue()
        return code

    @property
    def dependencies(self) -> Dependencies:
        return Dependencies(
            judge=self.judge, picks=_pick_nothing, connect=connect, renderer=PlainRenderer()
        )

    def judge(self, job: ActionJob, event: Event, known: PriorState) -> Report:
        self.asked.append((event, job.inputs))
        self.known.append(known)
        if isinstance(self.judged, Exception):
            raise self.judged
        known.begun(default_policy())
        return self.judged

    @property
    def outputs(self) -> dict[str, str]:
        lines = iter((self.directory / "output").read_text().split("\n"))
        values = {}
        for line in lines:
            if line:
                name, _, end = line.partition("<<")
                values[name] = "\n".join(iter(lambda end=end: next(lines), end))  # type: ignore[misc]
        return values

    @property
    def summary(self) -> str:
        return (self.directory / "summary").read_text()


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Job]:
    with running() as fake:
        fake.add_pull("octo/shop", 7)
        yield Job(tmp_path, fake)


def test_a_verdict_is_hung_up_everywhere(job: Job) -> None:
    assert job.run() == ExitCode.OPEN
    assert job.fake.bodies == ["<!-- prjury:v1 id=default run=12.1 -->\nReady to merge"]
    assert job.summary == "## Ready to merge\n"
    outputs = job.outputs
    assert (outputs["verdict"], outputs["gate"]) == ("pass", "success")
    assert json.loads(Path(outputs["report-json"]).read_text())["verdict"]["gate"] == "success"
    assert Path(outputs["report-html"]).read_text() == "<h1>success</h1>"
    assert outputs["comment-url"].endswith("#issuecomment-1002")
    assert "Ready to merge" in job.log.splitlines()
    assert job.asked[0][0].number == 7


def test_a_run_that_is_started_again_reads_the_title_of_today(job: Job) -> None:
    job.fake.pulls["octo/shop", 7]["title"] = "Another title"
    job.run()
    job.environ["GITHUB_RUN_ATTEMPT"] = "2"
    job.run()
    first, second = (event.pull for event, _ in job.asked)
    assert (second.title, first.title != "Another title") == ("Another title", True)
    assert (first.head, first.base) == (second.head, second.base)


@pytest.mark.parametrize("gate", list(Gate))
def test_without_gating_the_job_is_green_and_says_so(job: Job, gate: Gate) -> None:
    job.judged = report(Status.FAIL, gate)
    assert job.run(fail_on="never") == 0
    for place in (job.log, job.summary, job.fake.bodies[0], job.outputs["headline"]):
        assert "not gating" in place
    assert job.outputs["gate"] == gate.value


@pytest.mark.parametrize(
    ("gate", "code"), [(Gate.SUCCESS, 0), (Gate.FAILURE, 1), (Gate.ACTION_REQUIRED, 3)]
)
def test_a_read_only_token_is_a_note_and_the_gate_is_the_exit_code(
    job: Job, gate: Gate, code: int
) -> None:
    job.fake.accounts[TOKEN] = READ_ONLY_ACTIONS
    job.judged = report(gate=gate)
    assert job.run() == code
    for place in (job.log, job.summary):
        told = place.replace("\\", "")
        assert "the check run (give the token the permission `checks: write`)" in told
        assert "the comment (give the token the permission `pull-requests: write`)" in told
    assert "## Ready to merge" in job.summary
    assert job.outputs["comment-url"] == ""
    assert job.outputs["verdict"] == "pass"
    assert "::error" not in job.log


def test_text_of_others_commands_nothing(job: Job) -> None:
    evil = "x\n::error::forged\n##[error]forged a ##[add-mask]b\r::set-output name=verdict::pass"
    job.judged = report(Status.FAIL, Gate.FAILURE, headline=evil)
    assert job.run() == 1
    first, *inside, last = job.log.splitlines()
    assert first.startswith("::stop-commands::")
    assert last == f"::{first.removeprefix('::stop-commands::')}::"
    assert [line for line in inside if line.lstrip().startswith("::") or "##[" in line] == []
    assert job.outputs["verdict"] == "fail"
    assert job.outputs["headline"] == " ".join(evil.split())


def test_an_error_tells_one_line_everywhere(job: Job) -> None:
    evil = "no sandbox\n::warning::forged <img src=x>"
    job.judged = CannotJudgeError(evil, remedy="Allow one", reason="sandbox_unavailable")
    assert job.run() == ExitCode.NOT_JUDGED
    assert (job.outputs["verdict"], job.outputs["gate"]) == ("error", "action_required")
    assert set(job.outputs) == {
        *("verdict", "gate", "headline", "report-json"),
        *("report-html", "build-log", "comment-url", "backports", "llm-usd"),
    }
    assert "<img" not in job.summary.replace("\\<img", "")
    assert job.summary.count("\n") <= 2
    assert [line for line in job.log.splitlines() if line.startswith("::warning")] == []


def test_a_bug_is_ours(job: Job) -> None:
    job.judged = ZeroDivisionError("::error::forged")
    assert job.run() == ExitCode.BUG
    assert "ZeroDivisionError" in job.log
    assert (job.outputs["verdict"], job.outputs["gate"]) == ("error", "action_required")
    assert [line for line in job.log.splitlines() if line.startswith("::error::")] == []


def test_an_interruption_has_its_own_code(job: Job) -> None:
    job.judged = ZeroDivisionError()

    def interrupted(_job: ActionJob, _event: Event, known: PriorState) -> Report:
        known.begun(default_policy())
        raise KeyboardInterrupt

    dependencies = replace(job.dependencies, judge=interrupted)
    assert main(job.environ, io.StringIO(), dependencies) == ExitCode.INTERRUPTED
    (check,) = job.fake.check_runs
    assert check["conclusion"] == "action_required"


def test_secrets_are_not_logged(job: Job) -> None:
    values = {name: f"canary-{name}-0123456789" for name in SECRET_VARIABLES}
    key = "sk-canary-0123456789"
    job.environ |= values | {"PRJURY_INPUT_GITHUB_TOKEN": TOKEN}
    job.judged = CannotJudgeError(" ".join([*values.values(), TOKEN, key]))
    job.run(model_api_key=key)
    everything = job.log + job.summary + json.dumps(job.outputs)
    told = {value for value in (*values.values(), TOKEN, key) if value in everything}
    # Of two variables the inputs have taken the place.
    assert told == {values["PRJURY_INPUT_GITHUB_TOKEN"], values["PRJURY_INPUT_MODEL_API_KEY"]}


@pytest.mark.parametrize("name", ["collect", "publish"])
def test_what_may_not_be_reached_by_a_pull_request_says_so(job: Job, name: str) -> None:
    assert job.run(mode=name) == ExitCode.USAGE
    assert "runs on workflow_run, not on pull_request" in job.log
    assert job.asked == []


@pytest.mark.parametrize(
    "inputs", [{"mode": "revue"}, {"build": "yes"}, {"fail_on": "always"}, {"fail_onn": "gate"}]
)
def test_a_wrong_input_is_a_usage_error_in_one_line(job: Job, inputs: dict[str, str]) -> None:
    assert job.run(**inputs) == ExitCode.USAGE
    assert len(job.log.splitlines()) == 3
    assert job.asked == []


def test_nothing_to_review_opens_the_gate(job: Job) -> None:
    job.judged = NothingToReview("Nothing to review: level with main.")
    assert job.run() == 0
    assert (job.outputs["verdict"], job.outputs["gate"]) == ("abstain", "success")
    assert job.fake.bodies == []


def test_a_closed_pull_request_is_not_reviewed(job: Job) -> None:
    closed = pull_payload(job.fake.url, "octo/shop", 7) | {"state": "closed"}
    job.event(action="closed", pull_request=closed)
    assert job.run() == 0
    assert job.asked == []
    assert "closed" in job.log


def test_a_number_alone_is_completed_by_github(job: Job) -> None:
    job.environ["GITHUB_EVENT_NAME"] = "workflow_dispatch"
    job.event(inputs={"number": "7", "base": "release"})
    assert job.run() == 0
    pull = job.asked[0][0].pull
    assert (pull.title, pull.base, pull.head) == ("Move the cart", Tip("release"), Tip())
    assert len(job.fake.bodies) == 1


@pytest.mark.parametrize("name", ["workflow_dispatch", "pull_request_target"])
def test_a_fork_is_not_built_beside_the_base_repositorys_token(job: Job, name: str) -> None:
    head = side_payload(job.fake.url, "stranger/shop", "cart", "d" * 40)
    job.fake.add_pull("octo/shop", 8, head=head)
    job.environ["GITHUB_EVENT_NAME"] = name
    payload = pull_payload(job.fake.url, "octo/shop", 8) | {"head": head}
    number = {"inputs": {"number": "8"}}
    job.event(**(number if name == "workflow_dispatch" else {"pull_request": payload}))
    assert job.run() == ExitCode.USAGE
    assert f"not built under {name}" in job.log
    assert job.asked == []
    assert job.run(build="false") == 0


@pytest.mark.parametrize(
    "wrong",
    [{"GITHUB_API_URL": "http://ghe.test"}, {"PRJURY_INPUT_GITHUB_TOKEN": "ghs_x\r\nEvil: 1"}],
)
def test_an_address_or_token_that_cannot_be_is_told_before_any_work(
    job: Job, wrong: dict[str, str]
) -> None:
    job.environ |= wrong
    assert job.run() == ExitCode.USAGE
    assert job.asked == []


def test_an_unreachable_github_is_a_failure_to_publish(job: Job) -> None:
    job.fake.faults = [Fault("GET", "comments", times=99)]
    assert job.run() == ExitCode.NOT_PUBLISHED
    assert job.outputs["verdict"] == "pass"


MERGE_ALONE = json.dumps(
    {
        "version": 1,
        "tiers": [
            {"name": "merge", "policy": "final_tier", "judges": ["merge"], "advisory": False}
        ],
    }
)


@dataclass
class Server:
    """A server with a repository, and a job whose workspace is not to be trusted."""

    job: Job
    shop: History
    base: str
    bad: str
    good: str

    def run(self, **environ: str) -> int:
        given = {"GITHUB_SERVER_URL": "https://github.com", **environ}
        stream = io.StringIO()
        everything = {**self.job.environ, **given}
        dependencies = replace(
            make_dependencies(everything, stream, Redactor(), self.git), connect=connect
        )
        code = main(everything, stream, dependencies)
        self.job.log = stream.getvalue()
        return code

    def event(self, head: str, action: str = "synchronize", **more: Any) -> None:
        payload = pull_payload(self.job.fake.url, "octo/shop", 7) | more
        payload["base"]["sha"], payload["head"]["sha"] = self.base, head
        self.job.event(action=action, pull_request=payload)
        self.told_head(head)

    def queue(self, head: str) -> int:
        """A run for the merge group of the pull request at a commit."""
        ref = f"refs/heads/gh-readonly-queue/main/pr-7-{self.base}"
        group = {"base_ref": "refs/heads/main", "head_ref": ref}
        group |= {"base_sha": self.base, "head_sha": head}
        self.job.event(action="checks_requested", merge_group=group)
        return self.run(GITHUB_EVENT_NAME="merge_group")

    def told_head(self, head: str) -> None:
        """What GitHub's API calls the head of the pull request."""
        side = side_payload(self.job.fake.url, "octo/shop", "cart", head)
        self.job.fake.add_pull("octo/shop", 7, head=side)

    @property
    def git(self) -> GitAccess:
        return GitAccess(
            "file", lambda event: f"file://{self.job.directory}/server/{event.repo}.git"
        )

    @property
    def judged(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(Path(self.job.outputs["report-json"]).read_text())
        return told

    @property
    def outcome(self) -> tuple[str, str]:
        return self.job.outputs["verdict"], self.job.outputs["gate"]


@pytest.fixture
def server(job: Job) -> Server:
    """Pull request 7 is at a head that conflicts; a second head merges."""
    shop = History(job.directory / "server" / "octo" / "shop.git", bare=True)
    fork = shop.commit({".github/prjury.yml": MERGE_ALONE, "cart.txt": "one\n"})
    base = shop.commit({"cart.txt": "two\n"})
    shop.switch("bad", create=True, at=fork)
    bad = shop.commit({"cart.txt": "three\n"})
    shop.pull_ref(7)
    shop.switch("good", create=True, at=fork)
    good = shop.commit({"till.txt": "one\n"})
    shop.switch("main")
    server = Server(job, shop, base, bad, good)
    server.event(bad)
    return server


def test_the_real_parts_judge_a_real_repository(server: Server) -> None:
    server.shop.git("update-ref", "refs/pull/7/head", server.good)
    server.event(server.good)
    assert server.run(PRJURY_INPUT_FAIL_ON="never") == 0, server.job.log
    told = server.judged
    assert (told["verdict"]["status"], told["pull"]["head"]["sha"]) == ("pass", server.good)
    assert told["pull"]["base"] == {"ref": "main", "sha": server.base}
    assert "</html>" in Path(server.job.outputs["report-html"]).read_text()
    (comment,) = server.job.fake.bodies
    assert comment.startswith("<!-- prjury:v1 ")
    assert "run=12.1" in comment.splitlines()[0]
    assert "not gating" in comment.splitlines()[1]
    place = Path(server.job.outputs["report-json"]).parent / "prjury"
    (file,) = journal_files(place)
    kinds = [event.kind for event in read_journal(file).events]
    assert (kinds[:2], kinds[-2:]) == (["start", "change"], ["verdict", "end"])


@pytest.mark.parametrize("newer", ["good", "main"])
def test_a_head_that_is_superseded_is_never_a_success(server: Server, newer: str) -> None:
    server.shop.git("update-ref", "refs/pull/7/head", newer)
    server.told_head(server.shop.sha(newer))
    assert server.run() == ExitCode.OPEN
    assert server.outcome == ("abstain", "action_required")
    assert "Superseded: #7 is at" in server.job.log
    assert server.job.fake.bodies == []


@pytest.mark.parametrize(
    ("ref", "outcome"),
    [
        ("refs/pull/7/merge", ("abstain", "action_required")),
        ("refs/heads/main", ("pass", "success")),  # a workflow that is the base's own
    ],
)
def test_a_change_of_the_workflow_that_runs_this_needs_a_human(
    server: Server, ref: str, outcome: tuple[str, str]
) -> None:
    path = ".github/workflows/prjury.yml"
    server.shop.switch("good")
    head = server.shop.commit({path: "on: pull_request\njobs: {}\n"})
    server.shop.git("update-ref", "refs/pull/7/head", head)
    server.event(head)
    server.run(GITHUB_WORKFLOW_REF=f"octo/shop/{path}@{ref}")
    assert server.outcome == outcome, server.job.log


def test_no_comment_where_the_head_has_moved_on_during_the_review(server: Server) -> None:
    server.told_head(server.good)
    assert server.run() == ExitCode.REJECTED
    assert server.judged["pull"]["head"]["sha"] == server.bad
    assert server.job.fake.bodies == []
    assert "nothing was posted to it" in server.job.log


def test_a_head_that_the_base_holds_is_nothing_to_review(server: Server) -> None:
    server.shop.git("update-ref", "refs/pull/7/head", "main")
    server.event(server.base)
    assert server.run() == ExitCode.OPEN
    assert server.outcome == ("abstain", "success")


def test_nothing_in_the_workspace_passes_for_a_side(server: Server) -> None:
    workspace = server.shop.clone(server.job.directory / "workspace")
    lax = workspace.commit({".github/prjury.yml": "version: 1\ngate: {block_on: []}\n"})
    for ref in ("refs/heads/main", "refs/remotes/origin/main", "refs/pull/7/head"):
        workspace.git("update-ref", ref, lax)
    assert server.run(GITHUB_WORKSPACE=str(workspace.path)) == ExitCode.REJECTED
    told = server.judged
    assert (told["pull"]["base"]["sha"], told["pull"]["head"]["sha"]) == (server.base, server.bad)
    assert told["pull"]["labels"] == ["bug"]
    assert told["policy"]["source"] == f"base:{server.base}:.github/prjury.yml"


@pytest.mark.parametrize("side", ["bad", "good"])
def test_a_merge_group_is_judged_by_its_commits(server: Server, side: str) -> None:
    sha = getattr(server, side)
    server.shop.commit({"later.txt": "moved on\n"})
    expected = ExitCode.REJECTED if side == "bad" else ExitCode.OPEN
    assert server.queue(sha) == expected, server.job.log
    pull = server.judged["pull"]
    assert (pull["number"], pull["base"]["sha"], pull["head"]["sha"]) == (None, server.base, sha)


@pytest.mark.parametrize(
    ("server", "protocols"),
    [
        ("https://github.com", "https"),
        ("http://127.0.0.1:8080", "http"),
        ("http://ghe.example.com", "https"),
        ("https://127.0.0.1:8443", "https"),
    ],
)
def test_what_git_speaks_to_which_server(server: str, protocols: str) -> None:
    event = Event(EventKind.PULL_REQUEST, PullFacts("o/r", Tip(), Tip()), server_url=server)
    assert GitAccess().transport(event, {}, TOKEN).protocols == protocols


class TestQueue:
    """A group is judged anew; what models said of its pull request counts again."""

    POLICY = json.dumps(
        {
            "version": 1,
            "tiers": [
                {"name": "build", "judges": ["merge"]},
                {"name": "quality", "policy": "final_tier", "judges": ["quality"]},
            ],
        }
    )

    @pytest.fixture
    def queued(self, server: Server) -> Server:
        """Pull request 7 has been judged with a model, and its group is on a newer base."""
        shop = server.shop
        shop.switch("main")
        fork = shop.commit({".github/prjury.yml": self.POLICY, "till.py": "a = 1\nb = 2\n"})
        shop.switch("queued", create=True, at=fork)
        head = shop.commit({"till.py": "a = 1\nb = 3\n"})
        shop.git("update-ref", "refs/pull/7/head", head)
        server.base = fork
        server.event(head)
        script = server.job.directory / "script.json"
        script.write_text(json.dumps([{"prompt": "*", "text": llm.document()}]))
        assert server.run(PRJURY_INPUT_MODEL=f"scripted:{script}") == 0, server.job.log
        assert server.judged["cost"]["llm_calls"] == 1
        self.keep(server, head)
        shop.switch("main")
        server.base = shop.commit({"other.txt": "newer\n"})
        shop.switch("group", create=True)
        return server

    def keep(self, server: Server, head: str, **run: Any) -> None:
        server.job.fake.add_workflow_run("PR Jury", "success", id=12, head_sha=head, **run)
        report = Path(server.job.outputs["report-json"]).read_bytes()
        files = {"report.json": report, "report.html": b"<html>"}
        server.job.fake.add_artifact("prjury-report", files, run=12)

    def judge_group(self, server: Server, **change: Any) -> dict[str, Any]:
        head = server.shop.commit({"till.py": "a = 1\nb = 3\n"} | change)
        assert server.queue(head) == 0, server.job.log
        judged: dict[str, Any] = server.judged["tiers"][-1]["judgments"][0]
        return judged

    def test_the_same_change_is_asked_about_once(self, queued: Server) -> None:
        assert self.judge_group(queued)["status"] == "pass"
        assert queued.judged["cost"]["llm_calls"] == 0
        assert "is taken over if the change is the same" in queued.job.log

    def test_another_change_is_not(self, queued: Server) -> None:
        judged = self.judge_group(queued, **{"more.py": "c = 4\n"})
        assert judged["label"] == "not_configured"

    def test_what_a_fork_has_left_behind_is_not_looked_at(self, queued: Server) -> None:
        for run in queued.job.fake.workflow_runs:
            run["head_repository"] = {**run["head_repository"], "full_name": "stranger/shop"}
        assert self.judge_group(queued)["label"] == "not_configured"
        assert "was not kept" in queued.job.log


class TestOverride:
    """A maintainer's comment opens the gate for one head, also in the queue."""

    def override(
        self, server: Server, words: str = "/prjury override the machine is broken"
    ) -> int:
        """A comment, and the status that the answer to it has left on the head."""
        fake = server.job.fake
        comment = fake.add_comment(words, Account("maintainer", id=8))
        page = f"https://github.com/octo/shop/pull/7#issuecomment-{comment['id']}"
        fake.add_status("prjury/override", "success", ACTIONS, server.bad, target_url=page)
        return int(comment["id"])

    @pytest.mark.parametrize(
        ("role", "words", "code"),
        [
            ("write", "/prjury override broken", 0),
            ("triage", "/prjury override broken", 1),
            ("write", "/prjury override", 1),
            ("write", "never mind", 1),
        ],
    )
    def test_it_counts_while_the_comment_of_a_writer_stands(
        self, server: Server, role: str, words: str, code: int
    ) -> None:
        server.job.fake.roles["maintainer"] = role
        self.override(server, words)
        assert server.run() == code, server.job.log
        verdict = server.judged["verdict"]
        assert verdict["status"] == "fail"
        assert verdict["override"] == (
            {"by": "maintainer", "reason": "broken"} if code == 0 else None
        )
        assert gate_from_report(server.judged) is (Gate.SUCCESS if code == 0 else Gate.FAILURE)

    @pytest.mark.parametrize(
        ("role", "case", "code"),
        [("write", "", 0), ("write", "no report", 0), ("write", "forged", 1), ("triage", "", 1)],
    )
    def test_in_the_queue_it_counts_as_long_as_the_comment_does(
        self, server: Server, role: str, case: str, code: int
    ) -> None:
        """Another workflow's run of the head may have left a report behind that says anything."""
        fake = server.job.fake
        assert server.run() == ExitCode.REJECTED
        report = server.judged
        if case == "forged":
            report["verdict"]["override"] = {"by": "maintainer", "reason": "x"}
        else:
            self.override(server)
        fake.add_workflow_run("PR Jury", "failure", id=12, head_sha=server.bad)
        kept = {"report.json": json.dumps(report).encode()}
        if case != "no report":
            fake.add_artifact("prjury-report", kept, run=12)
        fake.roles["maintainer"] = role
        assert server.queue(server.bad) == code, server.job.log
        assert (server.judged["verdict"]["override"] is not None) is (code == 0)


class TestProcess:
    """The entry point as a process of its own."""

    def start(self, job: Job, **environ: str) -> subprocess.CompletedProcess[str]:
        own = {"PATH": os.environ["PATH"], "HOME": str(job.directory), **job.environ, **environ}
        return subprocess.run(
            [sys.executable, "-I", "-m", "prjury.action"],
            env=own,
            cwd=job.directory,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def test_it_starts_over_without_a_module_beside_it_and_ends_with_our_exit_code(
        self, job: Job
    ) -> None:
        for name in ("json.py", "yaml.py", "prjury.py", "sitecustomize.py"):
            (job.directory / name).write_text("raise SystemExit('imported')")
        (job.directory / "startup").write_text("raise SystemExit('imported')")
        done = self.start(
            job,
            PRJURY_INPUT_MODE="collect",
            PYTHONPATH=str(job.directory),
            PYTHONSTARTUP=str(job.directory / "startup"),
        )
        assert (done.returncode, done.stderr) == (ExitCode.USAGE, "")
        assert "runs on workflow_run" in done.stdout
        assert "imported" not in done.stdout

    @pytest.mark.skipif(sys.platform != "linux", reason="Linux alone has this switch")
    def test_its_memory_is_closed_to_other_processes(self, job: Job) -> None:
        program = (
            "import ctypes; from prjury.secret_env import forbid_dumps\n"
            "forbid_dumps(); print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))\n"
        )
        command = [sys.executable, "-I", "-c", program]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        assert done.stdout == "0\n"

    def test_no_secret_is_left_in_the_environment_of_the_process(self, job: Job) -> None:
        program = (
            "import os, sys; from prjury.secret_env import *\n"
            "command = [sys.executable, '-I', '-c', os.environ['ME']]\n"
            "told = hide_secrets_by_reexec(os.environ, command)['PRJURY_INPUT_GITHUB_TOKEN']\n"
            "block = open('/proc/self/environ').read()\n"
            "print(told, told in block, told in str(os.environ), os.environ['HOME'])\n"
        )
        own = {"PATH": os.environ["PATH"], "HOME": "/", "ME": program, **job.environ}
        done = subprocess.run(
            [sys.executable, "-I", "-c", program],
            env=own,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        assert done.stdout == f"{TOKEN} False False /\n"


class TestSteps:
    """The scripts of action.yml under bash, with a stub in the place of Python."""

    @pytest.fixture
    def steps(self) -> list[dict[str, Any]]:
        steps: list[dict[str, Any]] = yaml.safe_load((ROOT / "action.yml").read_text())["runs"][
            "steps"
        ]
        return steps

    @pytest.fixture
    def stub(self, tmp_path: Path) -> Callable[[str], Path]:
        uv = tmp_path / "temp dir" / "prjury" / "uv" / "bin"  # where pip puts uv

        def make(path: str) -> Path:
            file = tmp_path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(
                f'#!/bin/sh\necho "{file.name} $* [$PWD] [$UV_PYTHON]" >>{tmp_path}/calls\n'
                f"[ {file.name} != uv ] || mkdir -p venv/lib/python3.12/site-packages\n"
                'case "$*" in *"${REFUSED:-nothing}"*) exit 1 ;; esac\n'
                f'case "$*" in *--target*) mkdir -p "{uv}" && cp {tmp_path}/uv "{uv}" ;; esac\n'
            )
            file.chmod(0o755)
            return file

        return make

    def bash(self, step: dict[str, Any], tmp_path: Path, **environ: str) -> int:
        own = {
            "PATH": f"{tmp_path}/bin:{os.environ['PATH']}",
            "RUNNER_TEMP": str(tmp_path / "temp dir"),
            "GITHUB_ACTION_PATH": "/action path",
            "MODE": "review",
        }
        given = {name: value for name, value in step["env"].items() if "${{" not in value}
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        (tmp_path / "temp dir").mkdir(exist_ok=True)
        evil = tmp_path / "evil.sh"
        evil.write_text("exit 99\n")
        done = subprocess.run(
            command,
            env={"BASH_ENV": str(evil), **own, **given, **environ},
            cwd=tmp_path,
            check=False,
            timeout=60,
        )
        return done.returncode

    @pytest.mark.parametrize("mode", ["review", "build", "collect", "decide", "publish"])
    def test_the_models_clients_are_installed_where_one_may_be_asked(
        self,
        steps: list[dict[str, Any]],
        stub: Callable[[str], Path],
        tmp_path: Path,
        mode: str,
    ) -> None:
        stub("bin/python3")
        stub("uv")
        assert self.bash(steps[0], tmp_path, WANTED_PYTHON="", MODE=mode) == 0
        (export,) = (call for call in self.calls(tmp_path) if call.startswith("uv export"))
        assert ("--extra openai" in export) == (mode in {"review", "collect", "decide"})

    @pytest.mark.parametrize("handed", ["nothing", "wheels", "altered wheels"])
    def test_packages_are_what_collect_hands_over_or_come_from_the_index(
        self,
        steps: list[dict[str, Any]],
        stub: Callable[[str], Path],
        tmp_path: Path,
        handed: str,
    ) -> None:
        stub("bin/python3")
        stub("uv")
        wheels = tmp_path / "temp dir" / "prjury-report"
        wheels.mkdir(parents=True)
        if handed != "nothing":
            (wheels / "uv-1-py3-none-any.whl").touch()
        refused = "--no-index" if handed == "altered wheels" else "nothing"
        more = {"WANTED_PYTHON": "", "MODE": "publish", "REFUSED": refused}
        assert self.bash(steps[0], tmp_path, **more) == 0
        installs = [call for call in self.calls(tmp_path) if "--require-hashes" in call]
        ways = ["--no-index --find-links" in call for call in installs]
        assert (
            ways
            == {
                "nothing": [False, False],
                "wheels": [True, True],
                "altered wheels": [True, False, True, False],
            }[handed]
        )
        (link,) = (tmp_path / "temp dir" / "prjury" / "venv").rglob("prjury.pth")
        assert link.read_text() == "/action path/src\n"

    def calls(self, tmp_path: Path) -> list[str]:
        return (tmp_path / "calls").read_text().splitlines()

    def test_f4_what_installs_us_is_nothing_that_a_build_could_have_written(
        self, steps: list[dict[str, Any]], stub: Callable[[str], Path], tmp_path: Path
    ) -> None:
        stub("bin/python3")
        uv = stub("uv")
        uv.write_text(
            f"#!/bin/sh\n[ -e {tmp_path}/seen ] || {{ env | grep ^UV_; ls; }} >{tmp_path}/seen\n"
            "mkdir -p venv/lib/python3.12/site-packages\n"
        )
        home = tmp_path / "temp dir" / "prjury"
        for laid in ("cache", "interpreter", "venv"):
            (home / laid).mkdir(parents=True)
        builds = {"UV_CACHE_DIR": "/builds/cache", "UV_PYTHON_INSTALL_DIR": "/builds/python"}
        assert self.bash(steps[0], tmp_path, WANTED_PYTHON="3.13", **builds) == 0
        seen = (tmp_path / "seen").read_text().splitlines()
        assert f"UV_CACHE_DIR={home}/cache" in seen
        assert f"UV_PYTHON_INSTALL_DIR={home}/interpreter" in seen
        assert {"cache", "interpreter", "venv"}.isdisjoint(seen)
        assert not any("UV_" in line for line in steps[1]["env"])
        assert "UV_" not in steps[1]["run"]
        assert "GITHUB_ENV" not in steps[0]["run"]

    def test_windows_is_refused(self, steps: list[dict[str, Any]], tmp_path: Path) -> None:
        assert self.bash(steps[0], tmp_path, WANTED_PYTHON="", RUNNER_OS="Windows") == 2


class TestJunit:
    """The input ``junit``: another CI has tested the change, and its reports are here."""

    inputs = "head: reports\nbase: before\nresult: {}"

    @pytest.fixture
    def tested(self, server: Server, tmp_path: Path) -> Server:
        judges = ["merge", {"build": {"from": "evidence"}}]
        tier = {"name": "build", "policy": "final_tier", "judges": judges}
        policy = json.dumps({"version": 1, "tiers": [tier]})
        server.base = server.shop.commit({".github/prjury.yml": policy})
        server.shop.switch("tested", create=True, at="main")
        head = server.shop.commit({"cart.py": "count = 1\n"})
        server.shop.switch("main")
        server.shop.git("update-ref", "refs/pull/7/head", head)
        server.event(head)
        self.leave(tmp_path / "before", "test_count", "test_price")
        server.job.environ["GITHUB_WORKSPACE"] = str(tmp_path)
        return server

    @staticmethod
    def leave(place: Path, *names: str, broken: str = "") -> None:
        place.mkdir()
        cases = "".join(f'<testcase classname="cart" name="{name}"/>' for name in names)
        bad = f'<testcase classname="cart" name="{broken}"><failure message="2 != 1"/></testcase>'
        suite = f'<testsuite name="cart" tests="{len(names) + bool(broken)}"'
        text = f'{suite} failures="{int(bool(broken))}">{cases}{bad * bool(broken)}</testsuite>'
        (place / "junit.xml").write_text(text)

    @pytest.mark.parametrize(
        ("names", "broken", "result", "outcome"),
        [
            (("test_count", "test_price"), "", "success", ("pass", "success")),
            (("test_price",), "test_count", "failure", ("fail", "failure")),
            (("test_price",), "", "success", ("abstain", "action_required")),
            (("test_count", "test_price"), "", "failure", ("fail", "failure")),
            (("test_count", "test_price"), "", "cancelled", ("error", "action_required")),
        ],
        ids=["all pass", "one is broken", "one has vanished", "the job failed", "cancelled"],
    )
    def test_reports_take_the_place_of_a_build(
        self,
        tested: Server,
        tmp_path: Path,
        names: tuple[str, ...],
        broken: str,
        result: str,
        outcome: tuple[str, str],
    ) -> None:
        self.leave(tmp_path / "reports", *names, broken=broken)
        tested.run(PRJURY_INPUT_JUNIT=self.inputs.format(result))
        assert tested.outcome == outcome, tested.job.log

    def test_reports_that_are_not_there_are_an_error(self, tested: Server) -> None:
        tested.run(PRJURY_INPUT_JUNIT=self.inputs.format("success"))
        assert tested.outcome == ("error", "action_required")
        assert "reports" in tested.judged["verdict"]["reasoning"]

    def test_the_stage_that_builds_leaves_evidence_of_them(
        self, tested: Server, tmp_path: Path
    ) -> None:
        self.leave(tmp_path / "reports", "test_count", "test_price")
        given = {"PRJURY_INPUT_MODE": "build", "PRJURY_INPUT_JUNIT": "reports"}
        assert tested.run(**given) == 0, tested.job.log
        left = json.loads((tested.job.directory / "prjury-report/build-evidence.json").read_text())
        assert left["schema"] == "prjury/build-evidence/v2"
