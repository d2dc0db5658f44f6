"""One pull request with two verdicts ready, and jobs that publish them to a GitHub that fails."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from fakes.github import Account, FakeGitHub, pull_payload, running, side_payload
from fakes.history import History, script
from fakes.writing import no_sleep
from integration.zones.conftest import BOT, BUILD_WORKFLOW, FORK, READS, WRITES, Zones
from prjury.action import main
from prjury.action.job import Dependencies, Inputs, Job, PriorState
from prjury.app.backport import Picks
from prjury.app.evidence import StageEvidence, evidence_from_text, opinions_from_text, sha256
from prjury.app.stages import derive_report
from prjury.github.client import Connection, GitHub, RetryBudget
from prjury.github.event import Event
from prjury.jury.gate import Gate
from prjury.publishers.check_run import NAME
from prjury.publishers.races import find_run
from prjury.report.findings import findings
from prjury.report.model import Report
from prjury.report.render import Renderer

REPO, NUMBER, TOKEN = "octo/shop", 7, "ghs_writes"
#: As many as are usual, and more than go into one request of annotations or into one review.
FEW, MANY = 3, 52
_MOST_REMARKS = 30
LABELS = {"pass": "prjury:pass", "fail": "prjury:fail"}
#: The modes in which a report is published, and what the gate is there.
MODES = {"review": "exit code", "publish": "commit status"}
_BOT_ACCOUNT = Account(BOT, "Bot", id=41_898_282, grants=WRITES)
_POLICY = f"""\
version: 1
tiers:
  - name: build
    policy: reject_on_any_fail
    judges: [merge, {{build: {{command: ./check.sh}}}}]
  - name: version-patterns
    policy: final_tier
    advisory: false
    judges: [patterns]
publish: {{review: true, labels: {json.dumps(LABELS)}}}
"""


def _old_code(findings: int) -> str:
    return "import numpy as np\n" + "".join(f"x{n} = np.float_({n})\n" for n in range(findings))


@dataclass(frozen=True)
class Handed:
    """What the jobs before have left behind for one verdict, and the report that it comes to."""

    status: str
    head: str
    evidence: bytes
    verdict: bytes
    report: Report

    @property
    def findings(self) -> int:
        return len(findings(self.report.verdict))

    @property
    def code(self) -> int:
        return self.report.gate.exit_code

    def at(self, head: str) -> Handed:
        """The same verdict on another head."""
        evidence = self.evidence.replace(self.head.encode(), head.encode())
        verdict = self.verdict.replace(
            sha256(self.evidence).encode(), sha256(evidence).encode()
        ).replace(self.head.encode(), head.encode())
        return handed(self.status, head, evidence, verdict)


def handed(status: str, head: str, evidence: bytes, verdict: bytes) -> Handed:
    read = evidence_from_text(evidence)
    assert isinstance(read, StageEvidence)
    report = derive_report(read, sha256(evidence), opinions_from_text(verdict))
    assert report.verdict.status.value == status, report.headline
    return Handed(status, head, evidence, verdict, report)


def judged(directory: Path) -> dict[str, Handed]:
    """Three heads through the jobs of the other zones: one passes, and two fail."""
    changes = {
        "pass": {"till.py": "def open_till():\n    return 1\n"},
        "fail": {"totals.py": _old_code(FEW)},
        "many": {"totals.py": _old_code(MANY)},
    }
    made = {}
    for name, files in changes.items():
        status = "pass" if name == "pass" else "fail"
        made[name] = _judged(directory / name, status, files)
    return made


def _judged(directory: Path, status: str, files: Mapping[str, Any]) -> Handed:
    with running() as fake:
        fake.accounts["ghs_reads"] = Account(BOT, "Bot", id=41_898_282, grants=READS)
        shop = History(directory / "server" / "octo" / "shop.git", bare=True)
        zones = Zones(directory, fake, shop)
        ground: dict[str, Any] = {
            ".github/prjury.yml": _POLICY,
            "check.sh": script("#!/bin/sh\ntrue\n"),
            "requirements.txt": "numpy>=2.0\n",
            BUILD_WORKFLOW: "name: PR Jury build\non: pull_request\n",
        }
        zones.base = shop.commit(ground)
        shop.switch("cart", create=True)
        fake.add_pull(REPO, NUMBER, base=side_payload(fake.url, REPO, "main", zones.base))
        zones.push(dict(files))
        assert zones.act("build") == 0, zones.log
        zones.upload()
        assert zones.collect() == 0, zones.log
        assert zones.decide() == 0, zones.log
        names = ("evidence.json", "verdict.json")
        evidence, verdict = (zones.report("publish", name).read_bytes() for name in names)
        return handed(status, zones.head, evidence, verdict)


class KeptRenderer(Renderer, frozen=True):
    """The real texts, each rendered once; all reports of one headline and head are the same."""

    made: dict[tuple[str | None, ...], str] = msgspec.field(default_factory=dict)

    def comment(self, report: Report, *, run: str | None = None) -> str:
        return self._made("comment", report, run, lambda: Renderer.comment(self, report, run=run))

    def check(self, report: Report) -> str:
        return self._made("check", report, None, lambda: Renderer.check(self, report))

    def json(self, report: Report) -> str:
        return self._made("json", report, None, lambda: Renderer.json(self, report))

    def summary(self, report: Report) -> str:
        return f"## {report.headline}"

    def html(self, report: Report) -> str:
        return f"<h1>{report.gate}</h1>"

    def _made(self, kind: str, report: Report, run: str | None, make: Callable[[], str]) -> str:
        key = (kind, report.pull.head.sha, report.headline, run)
        if key not in self.made:
            self.made[key] = make()
        return self.made[key]


@cache
def _texts() -> KeptRenderer:
    return KeptRenderer()


def furnish(fake: FakeGitHub, head: str) -> None:
    """The pull request, its base and its head, and the token that may write."""
    fake.accounts[TOKEN] = _BOT_ACCOUNT
    fake.add_pull(REPO, NUMBER)
    fake.set_diff(NUMBER, {"totals.py": range(1, MANY + 2)})
    move_to(fake, head)


def move_to(fake: FakeGitHub, head: str) -> None:
    """The pull request is pushed to."""
    fake.pulls[REPO, NUMBER]["head"] = side_payload(fake.url, FORK, "cart", head)


@dataclass
class Stage:
    """A runner's jobs that publish, each with a directory of its own.

    Attributes:
        sleep: what happens where a job waits so many seconds.
    """

    directory: Path
    api_url: str
    mode: str
    sleep: Callable[[float], None] = no_sleep
    logs: list[str] = field(default_factory=list)

    def run(self, case: Handed, run: int = 12, attempt: int = 1) -> int:
        """One job to its end, and its exit code."""
        stream = io.StringIO()
        environ = self.environ(case, run, attempt)
        code = main(environ, stream, self.dependencies(case))
        self.logs.append(stream.getvalue())
        return code

    def place(self, run: int, attempt: int) -> Path:
        return self.directory / f"{run}.{attempt}"

    def environ(self, case: Handed, run: int, attempt: int) -> dict[str, str]:
        """The job's variables; its files lie where they say."""
        place = self.place(run, attempt)
        reports = place / "prjury-report"
        reports.mkdir(parents=True, exist_ok=True)
        name, event = _event(self.mode, self.api_url, case.head)
        (place / "event.json").write_text(json.dumps(event))
        (reports / "evidence.json").write_bytes(case.evidence)
        (reports / "verdict.json").write_bytes(case.verdict)
        return {
            "GITHUB_EVENT_NAME": name,
            "GITHUB_EVENT_PATH": str(place / "event.json"),
            "GITHUB_REPOSITORY": REPO,
            "GITHUB_API_URL": self.api_url,
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_RUN_ID": str(run),
            "GITHUB_RUN_ATTEMPT": str(attempt),
            "GITHUB_OUTPUT": str(place / "output"),
            "GITHUB_STEP_SUMMARY": str(place / "summary"),
            "RUNNER_TEMP": str(place),
            "PRJURY_INPUT_MODE": self.mode,
            "PRJURY_INPUT_GITHUB_TOKEN": TOKEN,
            "PRJURY_EVIDENCE_SHA256": sha256(case.evidence),
            "PRJURY_VERDICT_SHA256": sha256(case.verdict),
        }

    def dependencies(self, case: Handed) -> Dependencies:
        def judge(_job: Job, _event: Event, known: PriorState) -> Report:
            read = evidence_from_text(case.evidence)
            assert isinstance(read, StageEvidence)
            known.begun(read.policy)
            return case.report

        return dependencies(judge, self.sleep)

    def on_disk(self, run: int = 12, attempt: int = 1) -> str | None:
        """The verdict in the report file of a job; None where there is no file."""
        file = self.place(run, attempt) / "prjury-report" / "report.json"
        return json.loads(file.read_text())["verdict"]["status"] if file.exists() else None


def dependencies(
    judge: Callable[[Job, Event, PriorState], Report],
    sleep: Callable[[float], None],
) -> Dependencies:
    """The real texts, but for those that nobody posts; no pauses, and waiting as it is said."""

    def connect(event: Event, inputs: Inputs) -> GitHub:
        connection = Connection(
            event.api_url,
            inputs.github_token,
            timeout=120,  # a whole run may happen while another one waits for its answer
            seconds_between_requests=0,
            seconds_between_writes=0,
        )
        return GitHub(connection, RetryBudget(sleep=sleep))

    return Dependencies(
        judge=judge, picks=lambda *_: Picks(None), connect=connect, renderer=_texts()
    )


def _event(mode: str, api_url: str, head: str) -> tuple[str, dict[str, Any]]:
    if mode == "review":
        pull = pull_payload(api_url, REPO, NUMBER)
        pull["head"] = side_payload(api_url, FORK, "cart", head)
        return "pull_request", {"action": "synchronize", "pull_request": pull}
    run = {
        "id": 500,
        "run_attempt": 1,
        "event": "pull_request",
        "head_sha": head,
        "head_branch": "cart",
        "head_repository": {"full_name": FORK},
        "path": BUILD_WORKFLOW,
        "conclusion": "success",
    }
    return "workflow_run", {"action": "completed", "workflow_run": run}


def wrong(fake: FakeGitHub, case: Handed, mode: str, run: tuple[int, int] = (12, 1)) -> list[str]:
    """What is not as one run on a quiet day leaves it: empty where all of it is there once."""
    failing = case.status == "fail"
    told = [
        *_wrong_comment(fake, case, run),
        *_wrong_check(fake, case, run),
        *_wrong_status(fake, case, mode, run),
    ]
    reviews = fake.reviews(NUMBER)
    if len(reviews) != failing:
        told.append(f"{len(reviews)} reviews")
    remarks = [(one["path"], one["line"]) for review in reviews for one in review["comments"]]
    if len(remarks) != len(set(remarks)) or len(remarks) != min(case.findings, _MOST_REMARKS):
        told.append(f"{len(remarks)} remarks")
    if fake.labels(NUMBER) != ["bug", LABELS[case.status]]:
        told.append(f"labels {fake.labels(NUMBER)}")
    return told


def _wrong_comment(fake: FakeGitHub, case: Handed, run: tuple[int, int]) -> list[str]:
    if len(fake.bodies) != 1:
        return [f"{len(fake.bodies)} comments"]
    first, second = fake.bodies[0].splitlines()[:2]
    told = [] if f"run={run[0]}.{run[1]}" in first else [f"a comment of another run: {first}"]
    return told if case.report.headline in second else [*told, f"the comment says {second}"]


def _wrong_check(fake: FakeGitHub, case: Handed, run: tuple[int, int]) -> list[str]:
    checks = [one for one in fake.checks(case.head) if one["name"] == NAME]
    if len(checks) != 1:
        return [f"{len(checks)} check runs"]
    (check,) = checks
    told = []
    if check["conclusion"] != case.report.gate.value:
        told.append(f"check run: {check['conclusion']}")
    if not check["external_id"].endswith(":{}.{}".format(*run)):
        told.append(f"check run of {check['external_id']}")
    lines = [(one["path"], one["start_line"]) for one in fake.annotations.get(check["id"], [])]
    if len(lines) != len(set(lines)) or len(lines) != case.findings:
        told.append(f"{len(lines)} annotations, {len(set(lines))} of them different")
    return told


def _wrong_status(fake: FakeGitHub, case: Handed, mode: str, run: tuple[int, int]) -> list[str]:
    statuses = fake.statuses_of(case.head, "prjury")
    if mode == "review":
        return [f"{len(statuses)} statuses"] if statuses else []
    wanted = {Gate.SUCCESS: "success", Gate.FAILURE: "failure"}[case.report.gate]
    if not statuses or statuses[0]["state"] != wanted:
        return [f"status: {[one['state'] for one in statuses]}"]
    if find_run(statuses[0]["target_url"]) != run:
        return [f"a status of {statuses[0]['target_url']}"]
    twice = len(statuses) != len({(one["state"], one["target_url"]) for one in statuses})
    return ["one status twice"] if twice else []


def falsely_green(fake: FakeGitHub, failing: Handed) -> list[str]:
    """Whether anything has ever been asked to say that this head may be merged."""
    said = [
        f"{one.method} {one.path}"
        for one in fake.requests
        if one.is_write and any(sign in one.body for sign in _GREEN)
    ]
    state = fake.latest_status(failing.head, "prjury")
    return [*said, "the status"] if state == "success" else said


_GREEN = ('"conclusion": "success"', '"state": "success"')
