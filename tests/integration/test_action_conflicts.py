"""The mode ``conflicts``: what GitHub starts no run for is told all the same."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from fakes.github import OCTOCAT, FakeGitHub, running, side_payload
from fakes.history import History
from fakes.jobs import connect, job_environment
from prjury.action import main
from prjury.action.dependencies import make_dependencies
from prjury.action.job import GitAccess
from prjury.errors import ExitCode
from prjury.publishers.check_run import NAME
from prjury.publishers.comment import Marker
from prjury.report.sanitise import Redactor

REPO = "octo/shop"
VERDICT = """\
<!-- prjury:v1 id=default head={head} base={base} run=9.1 -->
## ✅ Ready to merge
**Why:** it does
"""


@dataclass
class Shop:
    """A repository whose branch ``main`` has moved, and pull requests onto what it was."""

    directory: Path
    fake: FakeGitHub
    history: History
    waits: list[float] = field(default_factory=list)
    run_id: int = 20
    log: str = ""
    environ: dict[str, str] = field(default_factory=dict)

    def open_pull(
        self,
        number: int,
        files: dict[str, str],
        *,
        fork: str = REPO,
        message: str = "Change it",
    ) -> str:
        """A pull request that has left from the first commit, and its head."""
        branch = f"cart-{number}"
        self.history.switch(branch, create=True, at="start")
        head = self.history.commit(files, message)
        self.history.pull_ref(number)
        self.history.switch("main")
        self.fake.add_pull(
            REPO,
            number,
            base=side_payload(self.fake.url, REPO, "main", self.history.sha("main")),
            head=side_payload(self.fake.url, fork, branch, head),
        )
        if "cart.txt" in files:
            self.fake.conflicting.add(number)
        return head

    def run(self, name: str, payload: dict[str, Any]) -> int:
        """A job of the mode; the run's number is greater than that of any before."""
        self.run_id += 1
        (self.directory / "event.json").write_text(json.dumps(payload))
        more = {"PRJURY_INPUT_MODE": "conflicts", "GITHUB_RUN_ID": str(self.run_id), **self.environ}
        environ = job_environment(self.fake, self.directory, name, **more)
        stream = io.StringIO()
        git = GitAccess("file", lambda event: f"file://{self.directory}/server/{event.repo}.git")
        parts = replace(
            make_dependencies(environ, stream, Redactor(), git),
            connect=partial(connect, sleep=self.waits.append),
        )
        code = main(environ, stream, parts)
        self.log = stream.getvalue()
        return code

    def about(self, number: int, action: str = "synchronize") -> int:
        """The event of one pull request."""
        pull = self.fake.pulls[REPO, number]
        return self.run("pull_request_target", {"action": action, "pull_request": dict(pull)})

    def pushed(self) -> int:
        """The event of the branch that has moved, after which GitHub has to try merges anew."""
        for pull in self.fake.pulls.values():
            pull["mergeable"] = None
        return self.run("push", {"ref": "refs/heads/main", "after": self.history.sha("main")})

    def checks(self, number: int) -> list[str | None]:
        head = self.fake.pulls[REPO, number]["head"]["sha"]
        return [one["conclusion"] for one in self.fake.checks(head) if one["name"] == NAME]


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    history = History(tmp_path / "server" / "octo" / "shop.git", bare=True)
    history.commit({"cart.txt": "one\n", "README.md": "A shop.\n"}, "A shop")
    history.branch("start")
    history.commit({"cart.txt": "two\n"}, "Two")
    with running() as fake:
        yield Shop(tmp_path, fake, history)


@pytest.mark.parametrize("fork", [REPO, "mallory/shop"])
def test_a_conflict_is_told_where_github_starts_no_run(shop: Shop, fork: str) -> None:
    head = shop.open_pull(
        7, {"cart.txt": "three\n", "Makefile": "all:\n\ttouch /tmp/x\n"}, fork=fork
    )
    assert shop.about(7) == ExitCode.OPEN, shop.log
    (comment,) = shop.fake.bodies
    assert "Do not merge: merge conflicts in 1 file" in comment
    marker = Marker.of(comment)
    assert marker is not None
    assert (marker.head, marker.files) == (head, "conflict")
    assert shop.checks(7) == ["failure"]
    assert shop.fake.statuses == []  # the gate is a job, and there is none
    assert shop.about(7, "reopened") == ExitCode.OPEN, shop.log
    assert (len(shop.fake.bodies), shop.checks(7)) == (1, ["failure"])


@pytest.mark.parametrize(
    ("message", "state"),
    [
        ("Change it", "pending"),
        ("Change it [skip ci]", "error"),
        ("Change it\n\nskip-checks: true", "error"),
        ("Say what `skip-checks: true` does", "pending"),
    ],
)
def test_a_head_for_which_nothing_starts_has_no_status_that_waits(
    shop: Shop, message: str, state: str
) -> None:
    shop.environ["PRJURY_GATE"] = "status"
    head = shop.open_pull(7, {"bread.txt": "one\n"}, message=message)
    shop.fake.objects.load(shop.history.path, "--all")

    assert shop.about(7) == ExitCode.OPEN, shop.log
    assert shop.fake.latest_status(head, "prjury") == state


def test_where_the_gate_is_a_status_it_says_so_too(shop: Shop) -> None:
    head = shop.open_pull(7, {"cart.txt": "three\n"})
    shop.fake.add_status("prjury", "pending", shop.fake.accounts["ghs_actions"], sha=head)
    assert shop.about(7) == ExitCode.OPEN, shop.log
    assert shop.fake.latest_status(head, "prjury") == "failure"


def test_a_push_to_the_base_speaks_only_where_our_comment_stands(shop: Shop) -> None:
    start = shop.history.sha("start")
    for number in range(7, 47):
        shop.open_pull(number, {"cart.txt": f"{number}\n"})
    head = shop.fake.pulls[REPO, 7]["head"]["sha"]
    shop.fake.add_comment(VERDICT.format(head=head, base=start), number=7)
    forged = VERDICT.format(head=shop.fake.pulls[REPO, 8]["head"]["sha"], base=start)
    shop.fake.add_comment(forged, OCTOCAT, number=8)
    before = len(shop.fake.requests)
    assert shop.pushed() == ExitCode.OPEN, shop.log
    conflict, untouched = shop.fake.bodies
    assert ("merge conflicts in 1 file" in conflict, untouched) == (True, forged)
    assert (shop.checks(7), shop.checks(9)) == (["failure"], [])
    assert len(shop.fake.requests) - before < 70  # one look at each that conflicts, one verdict
    written = len(shop.fake.writes)
    assert shop.pushed() == ExitCode.OPEN, shop.log
    assert len(shop.fake.writes) == written


def test_what_still_merges_is_not_told_of(shop: Shop) -> None:
    head = shop.open_pull(7, {"till.txt": "one\n"})
    shop.fake.add_comment(VERDICT.format(head=head, base=shop.history.sha("start")), number=7)
    assert shop.pushed() == ExitCode.OPEN, shop.log
    assert shop.fake.writes == []
