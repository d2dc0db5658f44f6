"""Ways to a green gate, or to a key, that somebody tried who meant no good."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from fakes.github import Account, Fault, side_payload
from integration.zones.conftest import FORK, POLICY, Zones
from prjury.app.evidence import Files, RecordedFiles
from prjury.errors import ExitCode, SourceError
from prjury.ports.types import TreeEntry

KEY = "the-organisations-key-123"
CHANGE = {"cart.py": "def total(items):\n    return sum(items) + 1\n"}
COST = {"usd": None, "llm_calls": 1, "cached_calls": 0, "input_tokens": 1, "output_tokens": 1}
PASS = {"status": "pass", "reasoning": "fine", "score": None, "confidence": 1.0}
ACCEPTING = """\
version: 1
tiers:
  - name: quick
    policy: accept_on_all_pass
    judges: [quality]
  - name: build
    policy: final_tier
    judges: [merge, {build: {command: ./check.sh}}]
"""


def base(zones: Zones, branch: str, policy: str) -> str:
    """Pull request 7 goes onto a branch with this policy."""
    zones.shop.switch("main")
    zones.shop.switch(branch, create=branch != "main")
    sha = zones.shop.commit({".github/prjury.yml": policy})
    side = side_payload(zones.fake.url, "octo/shop", branch, sha)
    zones.fake.pulls["octo/shop", 7]["base"] = side
    return sha


def forge(zones: Zones, name: str, change: dict[str, Any]) -> None:
    """Another verdict, which the judge's job vouches for."""
    file = zones.report("publish", "verdict.json")
    value = json.loads(file.read_text())
    value["opinions"] |= change
    file.write_text(json.dumps(value))
    zones.digests["PRJURY_VERDICT_SHA256"] = zones.hand_over(name, "publish")


class TestTwins:
    """A status hangs on a commit, and a commit may be the head of several pull requests."""

    @pytest.mark.parametrize("fork", [FORK, "another/shop"])
    def test_another_branch_of_the_same_commit_turns_nothing_green(
        self, zones: Zones, fork: str
    ) -> None:
        zones.push({"broken": "yes\n"})
        assert zones.all() == ExitCode.REJECTED
        twin = side_payload(zones.fake.url, fork, "cart-two", zones.head)
        onto = side_payload(zones.fake.url, "octo/shop", "legacy", zones.base)
        zones.fake.add_pull("octo/shop", 8, head=twin, base=onto)
        zones.run = 41
        payload = zones.workflow_run(
            id=501, head_branch="cart-two", head_repository={"full_name": fork}
        )
        file = zones.directory / "twin.json"
        file.write_text(json.dumps(payload))
        event = {"GITHUB_EVENT_PATH": str(file)}
        assert zones.act("collect", **event) == ExitCode.SOURCE
        assert "have the same head" in zones.log
        none = {"PRJURY_EVIDENCE_SHA256": "", "PRJURY_VERDICT_SHA256": ""}
        assert zones.act("publish", **event, **none) == ExitCode.SOURCE
        assert zones.status == "error"

    def test_in_one_job_neither(self, zones: Zones) -> None:
        twin = side_payload(zones.fake.url, FORK, "cart-two", zones.head)
        zones.fake.add_pull("octo/shop", 8, head=twin)
        event = zones.event("build")
        assert zones.act("review", **event) == ExitCode.SOURCE
        assert "have the same head" in zones.log

    def test_a_branch_of_the_repository_may_go_to_two_others(self, zones: Zones) -> None:
        own = side_payload(zones.fake.url, "octo/shop", "cart", zones.head)
        zones.fake.pulls["octo/shop", 7]["head"] = own
        zones.fake.add_pull("octo/shop", 8, head=own)
        assert zones.act("review", **zones.event("build")) == ExitCode.OPEN, zones.log
        assert "have the same head, and so the same check" in zones.log

    def test_a_token_that_may_not_look_says_so(self, zones: Zones) -> None:
        grants = {"contents": "read"}
        zones.fake.accounts["ghs_reads"] = Account("github-actions[bot]", "Bot", grants=grants)
        assert zones.act("review", **zones.event("build")) == ExitCode.OPEN, zones.log
        assert "Whether another pull request has this head is not known" in zones.log


class TestOtherBase:
    """What was judged against one base says nothing of another."""

    def test_a_pull_request_that_is_moved_waits_for_its_verdict(self, zones: Zones) -> None:
        assert zones.all() == ExitCode.OPEN
        changes = {"base": {"ref": {"from": "main"}, "sha": {"from": zones.base}}}
        assert zones.moves("edited", changes=changes) == 0, zones.log
        assert zones.status == "pending"

    def test_another_title_changes_nothing(self, zones: Zones) -> None:
        assert zones.all() == ExitCode.OPEN
        assert zones.moves("edited", changes={"title": {"from": "Old"}}) == 0
        assert zones.status == "success"

    @pytest.mark.parametrize("action", ["opened", "reopened", "synchronize"])
    def test_what_the_commit_has_from_elsewhere_does_not_count(
        self, zones: Zones, action: str
    ) -> None:
        """It was green for a lax branch, and is the head of a pull request onto another one now."""
        zones.all()
        assert zones.moves(action) == 0, zones.log
        assert zones.status == "pending"
        zones.run, zones.digests = 42, {}
        zones.fake.artifacts.clear()
        assert zones.all() == ExitCode.OPEN
        assert zones.moves(action) == 0
        assert zones.status == "success"

    def test_while_it_is_published_the_old_verdict_does_not_count(self, zones: Zones) -> None:
        assert zones.all() == ExitCode.OPEN
        zones.attempt = 2
        zones.judge()
        zones.fake.faults = [Fault("POST", "/issues/", times=99, status=None)]
        zones.publish()
        states = [one["state"] for one in zones.fake.statuses_of(zones.head, "prjury")]
        assert "pending" in states[:2]


class TestOpinions:
    """Whoever holds the model's key can say what a model said, and nothing else."""

    @pytest.mark.parametrize(
        "more", [{"type": "deterministic"}, {"title": "other"}, {"lowers_only": True}]
    )
    def test_a_forged_seat_accepts_nothing(self, zones: Zones, more: dict[str, Any]) -> None:
        base(zones, "main", ACCEPTING)
        zones.push({"broken": "yes\n"})
        zones.judge()
        value = json.loads(zones.report("publish", "verdict.json").read_text())
        records = [
            [place, {**one, "judgment": PASS, **more}]
            for place, one in value["opinions"]["records"]
        ]
        forge(zones, "verdict.json", {"records": records})
        assert zones.publish() == ExitCode.REJECTED
        assert zones.status == "failure"

    @pytest.mark.parametrize(
        "cost",
        [
            {**COST, "usd": -1.0},
            {**COST, "llm_calls": -1},
            {"usd": "much"},
        ],
    )
    def test_forged_costs_are_refused(self, zones: Zones, cost: dict[str, Any]) -> None:
        zones.judge()
        forge(zones, "verdict.json", {"cost": cost})
        assert zones.publish() == ExitCode.SOURCE
        assert zones.status == "error"


class TestKeys:
    """Where a key goes is the word of the default branch alone."""

    @pytest.mark.parametrize("branch", ["main", "scratch"])
    def test_no_side_branchs_policy_is_followed_to_its_server(
        self, zones: Zones, branch: str
    ) -> None:
        with listening() as (address, seen):
            models = f"models: {{default: {{provider: openai, name: m, base_url: '{address}'}}}}\n"
            base(zones, branch, POLICY + models)
            zones.push(CHANGE)
            zones.judge(PRJURY_INPUT_MODEL_API_KEY=KEY)
        value = json.loads(zones.report("decide", "verdict.json").read_text())
        label = value["tiers"][2]["judgments"][0]["label"]
        if branch == "main":
            assert f"Bearer {KEY}" in seen
        else:
            assert (seen, label) == ([], "policy_not_trusted")

    def test_a_program_for_models_sees_neither_token_nor_inputs(self, zones: Zones) -> None:
        out = zones.directory / "env.txt"
        command = f"[/bin/sh, -c, 'env > {out}']"
        models = f"models: {{default: {{provider: command, command: {command}}}}}\n"
        base(zones, "main", POLICY + models)
        zones.push(CHANGE)
        event = zones.event("build")
        zones.act("review", **event, PRJURY_INPUT_GITHUB_TOKEN="ghs_writes")
        assert out.exists()
        assert "ghs_" not in out.read_text()
        assert "PRJURY_" not in out.read_text()


@contextmanager
def listening() -> Iterator[tuple[str, list[str | None]]]:
    """A server that notes which keys it is given, and refuses them all."""
    seen: list[str | None] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append(self.headers.get("Authorization"))
            self.send_response(401)
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


class TestStatuses:
    """A status that leads elsewhere is nobody's later word."""

    @pytest.mark.parametrize(
        "page",
        [
            "https://evil.example/octo/shop/actions/runs/999999999999/attempts/1",
            "https://github.com/another/shop/actions/runs/999999999999/attempts/1",
        ],
    )
    def test_a_page_of_another_place(self, zones: Zones, page: str) -> None:
        zones.push({"broken": "yes\n"})
        account = Account("github-actions[bot]", "Bot", id=41_898_282)
        zones.fake.add_status("prjury", "success", account, zones.head, target_url=page)
        assert zones.all() == ExitCode.REJECTED
        assert zones.status == "failure"


def test_a_word_on_one_of_two_with_the_same_head_opens_neither(zones: Zones) -> None:
    zones.fake.roles["maintainer"] = "write"
    zones.push({"broken": "yes\n"})
    zones.all()
    zones.keep_files()
    twin = side_payload(zones.fake.url, FORK, "cart-two", zones.head)
    zones.fake.add_pull("octo/shop", 8, head=twin)
    assert zones.say("/prjury override x") == ExitCode.OPEN
    assert zones.publish() == ExitCode.SOURCE  # the run is started again
    assert zones.status != "success"


class TestFiles:
    """What was not taken along is not there, which is not the same as being empty."""

    def test_what_was_not_read_is_an_error(self) -> None:
        entry = TreeEntry("a.py", "100644", "c" * 40)
        taken = RecordedFiles(Files("a" * 40, (entry,), {"c" * 40: b"x"}))
        assert taken.read(["c" * 40]) == {"c" * 40: b"x"}
        assert [entry.path for entry in taken.files("a" * 40)] == ["a.py"]
        with pytest.raises(SourceError, match="the repository is not here"):
            taken.files("b" * 40)
        with pytest.raises(SourceError, match="the repository is not here"):
            taken.read(["d" * 40])


def test_every_seat_is_told_with_who_sits_there(zones: Zones) -> None:
    zones.build()
    zones.collect()
    evidence = json.loads(zones.report("collect", "evidence.json").read_text())
    told = {place["name"]: (one["type"], one["waits"]) for place, one in evidence["records"]}
    assert told["quality"] == ("llm_powered", True)
    assert told["build"] == ("deterministic", False)
