"""BUILD, COLLECT, JUDGE and PUBLISH as jobs of their own."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from fakes import llm
from fakes.github import Account, Fault, side_payload
from fakes.github.payloads import user_payload
from integration.zones.conftest import BUILD_WORKFLOW, FORK, POLICY, READS, Zones
from prjury.errors import ExitCode

BOT_USER = user_payload("http://127.0.0.1", Account("dependabot[bot]", "Bot", id=49_699_333))


def told(zones: Zones, job: str = "publish") -> dict[str, Any]:
    value: dict[str, Any] = json.loads(zones.report(job, "report.json").read_text())
    return value


def test_a_green_change_of_a_fork_goes_through_four_jobs(zones: Zones) -> None:
    assert zones.all() == ExitCode.OPEN, zones.log
    assert zones.status == "success"
    (comment,) = zones.fake.bodies
    assert "Ready to merge" in comment
    assert "run=40.1" in comment.splitlines()[0]
    (check,) = zones.fake.checks(zones.head)
    assert (check["name"], check["conclusion"]) == ("PR Jury report", "success")
    report = told(zones)
    assert report["verdict"]["status"] == "pass"
    assert report["pull"]["head"]["sha"] == zones.head
    judges = {j["judge"]: j["status"] for tier in report["tiers"] for j in tier["judgments"]}
    assert judges == {"merge": "pass", "build": "pass", "patterns": "pass", "quality": "abstain"}


def test_a_second_push_edits_the_comment(zones: Zones) -> None:
    zones.all()
    first = zones.head
    zones.push({"broken": "yes\n"})
    zones.run = 41
    zones.fake.artifacts.clear()
    assert zones.all() == ExitCode.REJECTED
    (comment,) = zones.fake.bodies
    assert "Do not merge" in comment
    assert zones.fake.latest_status(first, "prjury") == "success"
    assert zones.status == "failure"


def test_the_report_is_that_of_a_review_in_one_job(zones: Zones) -> None:
    """But for where the build ran, and how long everything took."""
    zones.all()
    event = zones.event("build")
    assert zones.act("review", **event, PRJURY_INPUT_GITHUB_TOKEN="ghs_writes") == 0, zones.log
    apart, whole = told(zones), told(zones, "review")
    for report in (apart, whole):
        report.pop("elapsed_ms")
        report.pop("policy")
        report["verdict"].pop("headline")
        for tier in report["tiers"]:
            tier.pop("elapsed_ms")
            for judgment in tier["judgments"]:
                judgment.pop("elapsed_ms")
        report["tiers"][0]["judgments"] = [
            (j["judge"], j["status"]) for j in report["tiers"][0]["judgments"]
        ]
    assert apart == whole


class TestModels:
    """The judge's job holds the model's key and asks; programs say again what they said."""

    CHANGE: ClassVar = {"cart.py": "def total(items):\n    return sum(items) + 1\n"}

    def script(self, zones: Zones, **answers: Any) -> dict[str, str]:
        file = zones.directory / "script.json"
        document = llm.document(**answers)
        second = llm.document(["holds"])
        entries = [
            {"prompt": "confirm", "text": second, "input_tokens": 100},
            {"prompt": "*", "text": document, "input_tokens": 900},
        ]
        file.write_text(json.dumps(entries))
        return {"PRJURY_INPUT_MODEL": f"scripted:{file}"}

    @pytest.mark.parametrize("status", ["pass", "fail"])
    def test_a_model_is_asked_in_its_own_job(self, zones: Zones, status: str) -> None:
        zones.push(self.CHANGE)
        quoted = llm.quote("cart.py", 2, "return sum(items) + 1")
        findings = [quoted] if status == "fail" else []
        model = self.script(zones, correctness=llm.answer(status, findings))
        zones.judge(**model)
        assert zones.publish() == ExitCode.OPEN, zones.log
        report = told(zones)
        (judgment,) = report["tiers"][2]["judgments"]
        assert (judgment["judge"], judgment["status"]) == ("quality", status)
        calls = 1 + 3 * len(findings)  # until three more confirm
        assert report["cost"]["llm_calls"] == calls
        advises = "advises against" in zones.fake.bodies[0]
        assert advises == (status == "fail")

    def test_who_waits_is_known_before(self, zones: Zones) -> None:
        zones.build()
        zones.collect()
        evidence = json.loads(zones.report("collect", "evidence.json").read_text())
        waiting = [place["name"] for place, r in evidence["records"] if r["judgment"] is None]
        assert waiting == ["quality"]

    def test_what_the_model_reads_comes_along(self, zones: Zones) -> None:
        zones.push(self.CHANGE)
        zones.build()
        zones.collect()
        evidence = json.loads(zones.report("collect", "evidence.json").read_text())
        texts = [base64.b64decode(text or "") for text in evidence["files"]["blobs"].values()]
        assert any(b"sum(items) + 1" in text for text in texts)

    @pytest.mark.parametrize("linked", [True, False])
    def test_the_issue_that_is_closed_comes_along(self, zones: Zones, linked: bool) -> None:
        policy = POLICY.replace("[quality]", "[description-matches-change]")
        zones.shop.switch("main")
        zones.base = zones.shop.commit({".github/prjury.yml": policy if linked else POLICY})
        pull = zones.fake.pulls["octo/shop", 7]
        pull |= {
            "body": "Fixes #12",
            "base": side_payload(zones.fake.url, "octo/shop", "main", zones.base),
        }
        zones.fake.add_issue(12, "Sums", "Count the empty carts as well.")
        zones.fake.accounts["ghs_reads"] = replace(
            zones.fake.accounts["ghs_reads"], grants={**READS, "issues": "read"}
        )
        zones.push(self.CHANGE)
        zones.build()
        assert zones.collect() == 0, zones.log
        evidence = json.loads(zones.report("collect", "evidence.json").read_text())
        assert ["Count the empty carts" in each["text"] for each in evidence["issues"]] == [
            True
        ] * linked
        asked = [request for request in zones.fake.requests if request.path.endswith("/issues/12")]
        assert len(asked) == linked
        names = ["kept", "told"] if linked else list(llm.FOUR)
        file = zones.directory / "script.json"
        file.write_text(json.dumps([{"prompt": "*", "text": llm.document(names)}]))
        assert zones.decide(PRJURY_INPUT_MODEL=f"scripted:{file}") == 0, zones.log
        assert zones.publish() == ExitCode.OPEN, zones.log
        (judgment,) = told(zones)["tiers"][2]["judgments"]
        assert judgment["status"] == "pass"

    @pytest.mark.parametrize(
        ("pull", "label"),
        [({"draft": True}, "draft"), ({"user": BOT_USER}, "not_applicable")],
        ids=["draft", "bot"],
    )
    def test_drafts_and_bots_are_judged_by_programs(
        self, zones: Zones, pull: dict[str, Any], label: str
    ) -> None:
        zones.push(self.CHANGE)
        zones.fake.pulls["octo/shop", 7] |= pull
        model = self.script(zones)
        zones.actor = "dependabot[bot]"
        zones.judge(**model)
        assert zones.publish() == ExitCode.OPEN
        report = told(zones)
        assert report["tiers"][2]["judgments"][0]["label"] == label
        assert report["cost"]["llm_calls"] == 0

    def test_a_bots_change_that_a_person_pushed_to_is_asked_about(self, zones: Zones) -> None:
        zones.push(self.CHANGE)
        zones.fake.pulls["octo/shop", 7]["user"] = BOT_USER
        model = self.script(zones)
        zones.actor = "stranger"
        zones.judge(**model)
        zones.publish()
        assert told(zones)["cost"]["llm_calls"] == 1


class TestMissing:
    """What a job before has not handed over is an error, never a green or a hanging gate."""

    @pytest.mark.parametrize("expired", [True, False])
    def test_no_build_evidence_is_an_error_of_the_build(
        self, zones: Zones, *, expired: bool
    ) -> None:
        if expired:
            zones.build()
        for artifact in zones.fake.artifacts.values():
            artifact["expired"] = True
        assert zones.collect() == 0
        zones.decide()
        assert zones.publish() == ExitCode.NOT_JUDGED
        assert zones.status == "error"
        assert "evidence" in zones.fake.bodies[0]

    def test_a_job_that_collected_nothing_leaves_an_error(self, zones: Zones) -> None:
        assert zones.publish() == ExitCode.SOURCE
        assert zones.status == "error"
        assert zones.fake.bodies == []

    def test_a_judge_that_failed_leaves_an_error(self, zones: Zones) -> None:
        zones.build()
        zones.collect()
        assert zones.publish() == ExitCode.SOURCE
        assert zones.status == "error"

    def test_a_workflow_that_tells_no_digest_is_refused(self, zones: Zones) -> None:
        zones.build()
        zones.collect()
        assert zones.act("decide") == ExitCode.USAGE
        assert "PRJURY_EVIDENCE_SHA256 is not set" in zones.log


class TestForged:
    """What was handed over is believed of its own pull request alone, and only unchanged."""

    @pytest.mark.parametrize("name", ["evidence.json", "verdict.json"])
    def test_another_file_than_the_one_that_was_made(self, zones: Zones, name: str) -> None:
        zones.judge()
        file = zones.report("publish", name)
        file.write_text(file.read_text().replace('"fail"', '"pass"') + " ")
        assert zones.publish() == ExitCode.SOURCE
        assert zones.status == "error"
        assert zones.fake.bodies == []

    def test_art_01_evidence_of_another_pull_request(self, zones: Zones) -> None:
        zones.judge()
        for job in ("publish", "decide"):
            file = zones.report(job, "evidence.json")
            value = json.loads(file.read_text())
            value["pull"]["number"] = 1
            file.write_text(json.dumps(value))
        zones.digests["PRJURY_EVIDENCE_SHA256"] = zones.hand_over("evidence.json", "publish")
        assert zones.publish() == ExitCode.SOURCE
        assert "about #1" in zones.log
        assert zones.status == "error"
        assert zones.fake.bodies == []

    def test_opinions_cannot_change_what_programs_said(self, zones: Zones) -> None:
        zones.push({"broken": "yes\n"})
        zones.judge()
        file = zones.report("publish", "verdict.json")
        value = json.loads(file.read_text())
        value["verdict"] |= {"status": "pass", "gate": "success"}
        for tier in value["tiers"]:
            tier["status"] = "pass"
        evidence = json.loads(zones.report("publish", "evidence.json").read_text())
        said = {"status": "pass", "reasoning": "fine", "score": None}
        forged = [[place, {**one, "judgment": said}] for place, one in evidence["records"]]
        value["opinions"]["records"] = forged
        file.write_text(json.dumps(value))
        zones.digests["PRJURY_VERDICT_SHA256"] = zones.hand_over("verdict.json", "publish")
        assert zones.publish() == ExitCode.REJECTED
        assert zones.status == "failure"

    def test_art_14_a_change_of_the_build_workflow_proves_nothing(self, zones: Zones) -> None:
        zones.push({BUILD_WORKFLOW: "name: PR Jury build\non: push\n"})
        assert zones.all() == ExitCode.NOT_JUDGED
        assert zones.status == "error"
        judged = {j["judge"]: j for tier in told(zones)["tiers"] for j in tier["judgments"]}
        assert judged["build"]["metadata"]["reason"] == "evidence_untrusted"

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"schema": "prjury/evidence/v2"}, "of another version"),
            ({"schema": "other/v1"}, "is no prjury/evidence/v1"),
            ({"pull": None}, "pull"),
            ({"seconds": -1.0}, "seconds"),
            ({"policy": {"source": "default", "hash": "0" * 64, "resolved": {}}}, "hash"),
        ],
    )
    def test_evidence_of_another_form(
        self, zones: Zones, change: dict[str, Any], words: str
    ) -> None:
        zones.build()
        zones.collect()
        file = zones.report("decide", "evidence.json")
        file.write_text(json.dumps(json.loads(file.read_text()) | change))
        zones.digests["PRJURY_EVIDENCE_SHA256"] = zones.hand_over("evidence.json", "decide")
        assert zones.decide() == ExitCode.SOURCE
        assert words in zones.log
        assert "Traceback" not in zones.log


class TestBinding:
    """Which pull request a run belongs to, GitHub says and nobody else."""

    def test_art_04_two_pull_requests_with_one_head(self, zones: Zones) -> None:
        twin = dict(zones.fake.pulls["octo/shop", 7])
        zones.fake.add_pull("octo/shop", 8, head=twin["head"], base=twin["base"])
        assert zones.collect() == ExitCode.SOURCE
        assert "#8, #7 have the same head" in zones.log
        assert zones.publish() == ExitCode.SOURCE
        assert zones.status == "error"

    @pytest.mark.parametrize("state", ["closed", "newer"])
    def test_art_05_a_pull_request_that_has_moved_on(self, zones: Zones, state: str) -> None:
        zones.judge()
        pull = zones.fake.pulls["octo/shop", 7]
        if state == "closed":
            pull["state"] = "closed"
        else:
            pull["head"] = side_payload(zones.fake.url, FORK, "cart", "d" * 40)
        assert zones.publish() == ExitCode.OPEN
        assert "Superseded" in zones.log
        assert zones.fake.bodies == []
        assert zones.status is None

    def test_a_pull_request_that_was_moved_to_another_base(self, zones: Zones) -> None:
        zones.judge()
        zones.fake.pulls["octo/shop", 7]["base"]["ref"] = "1.x"
        assert zones.publish() == ExitCode.SOURCE
        assert "was judged against main, and its base is another one now" in zones.log
        assert zones.status == "error"
        assert zones.fake.bodies == []

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"event": "push"}, "started by push"),
            ({"head_repository": None}, "was deleted"),
        ],
    )
    def test_art_15_runs_of_no_pull_request(
        self, zones: Zones, change: dict[str, Any], words: str
    ) -> None:
        payload = zones.workflow_run(**change)
        file = zones.directory / "other.json"
        file.write_text(json.dumps(payload))
        assert zones.act("collect", GITHUB_EVENT_PATH=str(file)) == ExitCode.SOURCE
        assert words in zones.log

    def test_a_build_that_was_cancelled_is_no_evidence_and_no_error(self, zones: Zones) -> None:
        file = zones.directory / "cancelled.json"
        file.write_text(json.dumps(zones.workflow_run(conclusion="cancelled")))
        assert zones.publish(GITHUB_EVENT_PATH=str(file)) == 0, zones.log
        (pending,) = zones.fake.statuses_of(zones.head, "prjury")
        told = pending["state"], pending["description"]
        assert told == ("pending", "The build was cancelled: run it again")
        assert zones.fake.bodies == []
        zones.fake.add_workflow_run(
            "PR Jury build", None, id=501, head_sha=zones.head, path=BUILD_WORKFLOW
        )
        assert zones.publish(GITHUB_EVENT_PATH=str(file)) == 0, zones.log
        assert "there is a newer one" in zones.log
        assert len(zones.fake.statuses_of(zones.head, "prjury")) == 1

    def test_art_17_an_older_attempt_changes_nothing(self, zones: Zones) -> None:
        zones.attempt = 2
        zones.all()
        before = list(zones.fake.bodies), zones.status
        zones.attempt = 1
        zones.judge()
        zones.publish()
        assert (zones.fake.bodies, zones.status) == before


def test_a_head_that_the_base_holds_opens_the_gate(zones: Zones) -> None:
    zones.shop.switch("main")
    zones.shop.git("update-ref", "refs/heads/main", zones.head)
    assert zones.collect() == 0, zones.log
    assert zones.act("decide", **zones.digests) == 0
    assert zones.publish() == ExitCode.OPEN
    assert zones.status == "success"


def test_a_status_that_cannot_be_written_is_no_success(zones: Zones) -> None:
    zones.judge()
    zones.fake.faults = [Fault("POST", "/statuses/", times=99)]
    assert zones.publish() == ExitCode.NOT_PUBLISHED
    assert zones.status is None


class TestOverride:
    """A maintainer's comment opens the gate for one head, and says whose word that was."""

    @pytest.fixture
    def closed(self, zones: Zones) -> Zones:
        zones.fake.roles["maintainer"] = "write"
        zones.push({"broken": "yes\n"})
        assert zones.all() == ExitCode.REJECTED
        zones.keep_files()
        return zones

    def test_it_opens_the_gate_and_is_told(self, closed: Zones) -> None:
        assert closed.say("/prjury override tomorrow") == ExitCode.OPEN, closed.log
        assert closed.status == "failure"
        assert closed.publish() == ExitCode.OPEN, closed.log  # the run is started again
        assert closed.status == "success"
        verdict = closed.fake.bodies[0]
        assert "Overridden by" in verdict.splitlines()[1]
        assert [check["conclusion"] for check in closed.fake.checks(closed.head)] == ["success"]
        report = told(closed, "publish")
        assert report["verdict"]["override"] == {"by": "maintainer", "reason": "tomorrow"}
        assert (report["verdict"]["status"], report["verdict"]["gate"]) == ("fail", "success")

    def test_it_is_bound_to_the_head(self, closed: Zones) -> None:
        closed.say("/prjury override tomorrow")
        closed.push({"broken": "still\n"})
        closed.run = 91
        closed.fake.artifacts.clear()
        assert closed.all() == ExitCode.REJECTED
        assert closed.status == "failure"
        assert "Overridden" not in closed.fake.bodies[0]


@pytest.mark.parametrize("asked", [True, False])
def test_without_a_key_no_job_asks_models(zones: Zones, asked: bool) -> None:
    """Where no job has asked them, the report says the same as where one without a key has."""
    zones.build()
    zones.collect()
    if asked:
        zones.decide()
    code = zones.publish(PRJURY_MODELS_ASKED=str(asked).lower())
    assert (code, zones.status) == (0, "success"), zones.log
    (quality,) = told(zones)["tiers"][2]["judgments"]
    assert quality["label"] == "not_configured"
    assert "no model asked" in zones.fake.bodies[0].splitlines()[1]


@pytest.mark.parametrize("conclusion", ["action_required", "startup_failure", "stale", "skipped"])
def test_a_run_that_did_not_run_is_no_verdict(zones: Zones, conclusion: str) -> None:
    """One that waits for an approval is delivered as completed before anybody approves."""
    file = zones.directory / "waiting.json"
    file.write_text(json.dumps(zones.workflow_run(conclusion=conclusion)))
    for mode in ("collect", "publish"):
        assert zones.act(mode, GITHUB_EVENT_PATH=str(file)) == 0, zones.log
        assert "Nothing to do" in zones.log
    assert (zones.fake.bodies, zones.fake.writes) == ([], [])
    assert not zones.report("collect", "evidence.json").exists()


def test_the_check_of_the_build_is_red_where_it_fails(zones: Zones) -> None:
    assert zones.act("build") == 0
    zones.push({"broken": "yes\n"})
    assert zones.act("build") == ExitCode.REJECTED
    assert zones.report("build", "build-evidence.json").exists()
