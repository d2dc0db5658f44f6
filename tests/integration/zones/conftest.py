"""The four jobs of a fork's pull request, over a real repository and a GitHub that remembers."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from fakes.github import Account, FakeGitHub, running, side_payload
from fakes.github.payloads import issue_payload
from fakes.history import History, script
from fakes.jobs import connect
from prjury.action import main
from prjury.action.dependencies import make_dependencies
from prjury.action.job import GitAccess
from prjury.report.sanitise import Redactor

FORK = "stranger/shop"
BOT = "github-actions[bot]"
#: The permissions of each job in the example workflows.
READS = {
    "contents": "read",
    "actions": "read",
    "checks": "read",
    "pull_requests": "read",
}
WRITES = {
    "statuses": "write",
    "checks": "write",
    "pull_requests": "write",
    "issues": "write",
    "actions": "read",
}
BUILD_WORKFLOW = ".github/workflows/prjury-build.yml"
POLICY = """\
version: 1
tiers:
  - name: build
    policy: reject_on_any_fail
    judges: [merge, {build: {command: ./check.sh}}]
  - name: version-patterns
    policy: reject_on_any_fail
    continue_on_reject: true
    judges: [patterns]
  - name: quality
    policy: final_tier
    voting: {weighted_average: {threshold: 0.7}}
    judges: [quality]
"""


@dataclass
class Zones:
    """Jobs of two workflows: the build of a fork's pull request 7, and what judges it."""

    directory: Path
    fake: FakeGitHub
    shop: History
    base: str = ""
    head: str = ""
    run: int = 40
    attempt: int = 1
    actor: str = "stranger"
    log: str = ""
    digests: dict[str, str] = field(default_factory=dict)

    def push(self, files: dict[str, Any]) -> str:
        """A commit of the fork's on top of pull request 7, which GitHub knows at once."""
        self.shop.switch("cart")
        self.head = self.shop.commit(files)
        self.shop.pull_ref(7)
        side = side_payload(self.fake.url, FORK, "cart", self.head)
        self.fake.pulls["octo/shop", 7]["head"] = side
        self.fake.workflow_runs.clear()
        self.fake.add_workflow_run("PR Jury build", "success", id=500, head_sha=self.head)
        return self.head

    def act(self, mode: str, job: str = "", **environ: str) -> int:
        """One job: a directory of its own, in which lies what was handed over to it."""
        place = self.place(job or mode)
        place.mkdir(parents=True, exist_ok=True)
        given = {
            **self.event(mode),
            "GITHUB_REPOSITORY": "octo/shop",
            "GITHUB_API_URL": self.fake.url,
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_RUN_ID": str(self.run),
            "GITHUB_RUN_ATTEMPT": str(self.attempt),
            "GITHUB_OUTPUT": str(place / "output"),
            "GITHUB_STEP_SUMMARY": str(place / "summary"),
            "RUNNER_TEMP": str(place),
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "XDG_CACHE_HOME": str(self.directory / "cache"),
            "PRJURY_INPUT_MODE": mode,
            "PRJURY_INPUT_GITHUB_TOKEN": {"publish": "ghs_writes", "decide": ""}.get(
                mode, "ghs_reads"
            ),
            **environ,
        }
        stream = io.StringIO()
        git = GitAccess("file", lambda event: f"file://{self.directory}/server/{event.repo}.git")
        dependencies = make_dependencies(given, stream, Redactor(), git)
        code = main(given, stream, replace(dependencies, connect=connect))
        self.log = stream.getvalue()
        return code

    def place(self, job: str) -> Path:
        return self.directory / f"{self.run}.{self.attempt}" / job

    def report(self, job: str, name: str) -> Path:
        return self.place(job) / "prjury-report" / name

    def say(self, body: str, by: str = "maintainer") -> int:
        """A comment below the pull request, and the job that this starts."""
        self.fake.number()  # time goes on
        comment = self.fake.add_comment(body, Account(by, id=31))
        issue = issue_payload(self.fake.url, "octo/shop", 7)
        payload = {
            "action": "created",
            "issue": issue,
            "comment": dict(comment),
            "repository": {"full_name": "octo/shop", "default_branch": "main"},
            "sender": {"login": by},
        }
        return self.happens("issue_comment", payload, "comment")

    def moves(self, action: str, run: int = 41, **more: Any) -> int:
        """An event of the pull request, and the job that closes the gate until it is judged."""
        pull = self.fake.pulls["octo/shop", 7] | {"mergeable": True}
        payload = {"action": action, "pull_request": pull, "sender": {"login": "stranger"}, **more}
        gate = {"PRJURY_GATE": "status", "GITHUB_RUN_ID": str(run)}
        return self.happens("pull_request_target", payload, "conflicts", **gate)

    def happens(self, name: str, payload: dict[str, Any], mode: str, **environ: str) -> int:
        file = self.directory / f"{mode}.json"
        file.write_text(json.dumps(payload))
        event = {"GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": str(file)}
        more = {"GITHUB_RUN_ID": "90", "PRJURY_INPUT_GITHUB_TOKEN": "ghs_writes"}
        return self.act(mode, mode, **event, **{**more, **environ})

    def keep_files(self) -> None:
        """What the jobs of the judging run have handed over stays with that run."""
        self.fake.add_workflow_run("PR Jury", "success", id=self.run, event="workflow_run")
        for name in ("evidence.json", "verdict.json"):
            content = self.report("publish", name).read_bytes()
            self.fake.add_artifact(name, content, run=self.run)

    def event(self, mode: str) -> dict[str, str]:
        name = "pull_request" if mode == "build" else "workflow_run"
        file = self.directory / f"{name}.json"
        payload = self.pull_request() if mode == "build" else self.workflow_run()
        payload["repository"] = {"full_name": "octo/shop", "default_branch": "main"}
        file.write_text(json.dumps(payload))
        return {"GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": str(file)}

    def pull_request(self) -> dict[str, Any]:
        return {"action": "synchronize", "pull_request": self.fake.pulls["octo/shop", 7]}

    def workflow_run(self, **more: Any) -> dict[str, Any]:
        run = {
            "id": 500,
            "run_attempt": self.attempt,
            "event": "pull_request",
            "head_sha": self.head,
            "head_branch": "cart",
            "head_repository": {"full_name": FORK},
            "path": BUILD_WORKFLOW,
            "pull_requests": [],
            "actor": {"login": self.actor},
            "conclusion": "success",
        }
        return {"action": "completed", "workflow_run": run | more}

    def upload(self) -> None:
        """What the build left behind, as the runner uploads it."""
        content = self.report("build", "build-evidence.json").read_bytes()
        self.fake.add_artifact("build-evidence", {"build-evidence.json": content}, run=500)

    def hand_over(self, name: str, source: str, *targets: str) -> str:
        """A file from job to job, and its digest, which the workflow tells by another way."""
        file = self.report(source, name)
        for target in targets:
            place = self.report(target, name)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, place)
        return hashlib.sha256(file.read_bytes()).hexdigest()

    def build(self) -> int:
        code = self.act("build")
        self.upload()
        return code

    def collect(self) -> int:
        code = self.act("collect")
        if code == 0:
            digest = self.hand_over("evidence.json", "collect", "decide", "publish")
            self.digests["PRJURY_EVIDENCE_SHA256"] = digest
        return code

    def decide(self, **environ: str) -> int:
        code = self.act("decide", **self.digests, **environ)
        if code == 0:
            digest = self.hand_over("verdict.json", "decide", "publish")
            self.digests["PRJURY_VERDICT_SHA256"] = digest
        return code

    def publish(self, **environ: str) -> int:
        none = {"PRJURY_EVIDENCE_SHA256": "", "PRJURY_VERDICT_SHA256": ""}
        return self.act("publish", **{**none, **self.digests, **environ})

    def judge(self, **environ: str) -> None:
        """Every job but the last in its turn; the variables are for the one that asks models."""
        assert self.build() in {0, 1}, self.log
        assert self.collect() == 0, self.log
        assert self.decide(**environ) == 0, self.log

    def all(self) -> int:
        """Every job in its turn; the exit code of the last one."""
        self.judge()
        return self.publish()

    @property
    def status(self) -> str | None:
        return self.fake.latest_status(self.head, "prjury")


@pytest.fixture
def zones(tmp_path: Path) -> Iterator[Zones]:
    """A project that `make` builds, and a pull request that adds a file to it."""
    with running() as fake:
        fake.accounts["ghs_reads"] = Account(BOT, "Bot", id=41_898_282, grants=READS)
        fake.accounts["ghs_writes"] = Account(BOT, "Bot", id=41_898_282, grants=WRITES)
        shop = History(tmp_path / "server" / "octo" / "shop.git", bare=True)
        zones = Zones(tmp_path, fake, shop)
        files: dict[str, Any] = {
            ".github/prjury.yml": POLICY,
            "check.sh": script("#!/bin/sh\n! test -e broken\n"),
            "cart.py": "def total(items):\n    return sum(items)\n",
            BUILD_WORKFLOW: "name: PR Jury build\non: pull_request\n",
        }
        zones.base = shop.commit(files)
        shop.switch("cart", create=True)
        base = side_payload(fake.url, "octo/shop", "main", zones.base)
        fake.add_pull("octo/shop", 7, base=base)
        zones.push({"till.py": "def open_till():\n    return 1\n"})
        yield zones
