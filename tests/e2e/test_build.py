"""`prjury build`, and `prjury review` of what was built elsewhere, as processes."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import Prjury, Run, started, wait_until
from fakes.github import FakeGitHub, running
from fakes.history import History
from prjury.app.request import LARGEST
from prjury.cli.build import write_and_print_evidence
from prjury.cli.output import Terminal
from prjury.errors import CannotJudgeError
from prjury.judges.builds.evidence import SCHEMA_NAME, BuildEvidence, BuildSandbox
from prjury.judges.builds.stage import BuiltEvidence
from prjury.jury.judgment import Judgment
from prjury.jury.voting import Ballot

CALC = "def add(a, b):\n    return a + b\n"
BROKEN = CALC.replace("a + b", "a - b")
TEST = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
POLICY = (
    "version: 1\ntiers:\n  - name: build\n    policy: final_tier\n"
    "    judges: [merge, {build: {from: %s}}]\n"
)


@pytest.fixture
def project(tmp_path: Path) -> History:
    history = History(tmp_path / "calc")
    history.commit(
        {
            "calc.py": CALC,
            "test_calc.py": TEST,
            "README.md": "# calc\n",
            ".github/prjury.yml": POLICY % "evidence",
        },
        "start",
    )
    history.switch("change", create=True)
    return history


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    return tmp_path / "e.json"


@pytest.fixture
def build(project: History, prjury: Prjury, evidence: Path) -> Callable[..., Run]:
    return lambda *args, **more: prjury(
        "build", "--repo", project.path, "--output", evidence, *args, **more
    )


@pytest.fixture
def review(project: History, prjury: Prjury, evidence: Path) -> Callable[..., Run]:
    def call(*args: str | Path, **more: Any) -> Run:
        files = ("--evidence", evidence) if evidence.exists() else ()
        return prjury("review", "--repo", project.path, "--format", "json", *files, *args, **more)

    return call


def told(evidence: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(evidence.read_text())
    return loaded


def test_a_green_change(
    project: History, build: Callable[..., Run], review: Callable[..., Run], evidence: Path
) -> None:
    head = project.commit({"calc.py": CALC + "\n\nONE = 1\n"}, "Add one")
    done = build()
    assert done.code == 0, done.err
    assert done.out.splitlines()[0].startswith("✅ pass: build: passed in ")
    assert done.out.splitlines()[-1] == f"evidence: {evidence}"
    record = told(evidence)
    assert record["schema"] == "prjury/build-evidence/v2"
    assert (record["base"], record["head"]) == (project.sha("main"), head)
    (built,) = record["builds"]
    assert built["command"] == "python3 -m pytest -q"
    assert [step["exit_code"] for step in built["run"]["head"]["steps"]] == [0]
    run = review()
    assert run.code == 0, run.err
    assert run.judgment("build")["status"] == "pass"
    assert "read from its evidence" in run.judgment("build")["reasoning"]
    assert run.judgment("build")["metadata"]["tests"]["run"] == 1


def test_the_base_is_built_once_for_all_its_changes(project: History, prjury: Prjury) -> None:
    review = ("review", "--repo", project.path, "--no-llm", "--format", "json")
    two = f"{TEST}\n\ndef test_zero():\n    assert add(0, 0) == 0\n"
    project.commit({".github/prjury.yml": POLICY % "run", "test_calc.py": two}, "Build here")
    project.git("branch", "-f", "main")
    for number, built in ((1, 2), (2, 1)):
        project.commit({"calc.py": CALC + f"\n\nONE = {number}\n"}, "Count")
        run = prjury(*review)
        assert (run.code, run.err.count("$ python3 -m pytest -q")) == (0, built), run.err
    project.commit({"test_calc.py": TEST}, "Lose a test")
    run = prjury(*review)
    assert run.err.count("$ python3 -m pytest -q") == 1
    judgment = run.judgment("build")
    vanished = judgment["metadata"]["tests"]["vanished"]
    assert (judgment["status"], vanished) == ("abstain", 1), run.out


def test_a_change_that_breaks_a_test(
    project: History, build: Callable[..., Run], review: Callable[..., Run], evidence: Path
) -> None:
    project.commit({"calc.py": BROKEN}, "Break it")
    done = build()
    assert done.code == 1
    assert done.complaint.startswith("prjury: build failed: failed with exit code 1: test_calc.py")
    case = told(evidence)["builds"][0]["run"]
    assert case["base"]["steps"][0]["exit_code"] == 0
    run = review()
    assert run.code == 1
    judgment = run.judgment("build")
    assert [(one["path"], one["state"]) for one in judgment["metadata"]["failures"]] == [
        ("test_calc.py", "new")
    ]
    places = [check["location"] for check in judgment["checks"] if check["name"] == "test"]
    assert [(place["path"], place["line"]) for place in places] == [("test_calc.py", 5)]


def test_a_claim_is_not_believed(
    project: History, build: Callable[..., Run], review: Callable[..., Run], evidence: Path
) -> None:
    project.commit({"calc.py": BROKEN}, "Break it")
    build()
    record = told(evidence)
    record["builds"][0]["run"]["head"]["steps"][0]["exit_code"] = 0
    evidence.write_text(json.dumps(record))
    run = review()
    assert run.code == 1
    assert "its test reports hold failures" in run.judgment("build")["reasoning"]
    record["builds"][0]["run"]["head"]["results"]["failures"] = []
    evidence.write_text(json.dumps(record))
    run = review()
    assert run.code == 1


def test_a_head_that_has_moved_on(
    project: History, build: Callable[..., Run], review: Callable[..., Run]
) -> None:
    project.commit({"calc.py": CALC + "\n\nONE = 1\n"}, "Add one")
    assert build().code == 0
    project.commit({"calc.py": BROKEN}, "Break it")
    run = review()
    assert run.code == 3
    assert run.judgment("build")["metadata"]["reason"] == "evidence_mismatch"


def test_without_evidence(project: History, review: Callable[..., Run]) -> None:
    project.commit({"calc.py": CALC + "\n\nONE = 1\n"}, "Add one")
    run = review()
    assert run.code == 3
    assert run.judgment("build")["metadata"]["reason"] == "evidence_missing"
    assert "`prjury build`" in run.judgment("build")["reasoning"]
    named = review("--evidence", "/nonexistent.json")
    assert named.code == 3
    assert "there is no evidence at /nonexistent.json" in named.judgment("build")["reasoning"]


def test_evidence_that_nobody_reads(
    project: History, review: Callable[..., Run], tmp_path: Path
) -> None:
    project.commit({"calc.py": CALC + "\n\nONE = 1\n"}, "Add one")
    own = tmp_path / "own.yml"
    own.write_text(POLICY % "run")
    run = review("--config", own, "--evidence", "e.json")
    assert (run.code, run.out) == (2, "")
    assert run.complaint == (
        "prjury: The evidence e.json is given, and no build judge of the policy reads it. "
        "Leave it out, or set `build: {from: evidence}` in the policy."
    )


def test_only_documentation(
    project: History, build: Callable[..., Run], review: Callable[..., Run], evidence: Path
) -> None:
    project.commit({"README.md": "# calc\n\nIt adds.\n"}, "Say what it does")
    done = build()
    assert done.code == 0
    assert "only documentation" in done.out
    assert told(evidence)["builds"] == []
    assert review().code == 0


def test_a_conflict_leaves_evidence_too(
    project: History, build: Callable[..., Run], evidence: Path
) -> None:
    project.commit({"calc.py": CALC.replace("a + b", "b + a")}, "Turn round")
    project.switch("main")
    project.commit({"calc.py": CALC.replace("a + b", "a + b + 0")}, "Add nothing")
    done = build("--base", "main", "--head", "change")
    assert done.code == 0, done.err
    assert "the merge has conflicts" in done.out
    assert told(evidence)["merged_tree"] is None


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ("[merge]", "the policy has no build judges, and this stage needs one"),
        ("[build, {build: {command: make}}]", "the policy has 2 build judges"),
    ],
)
def test_a_policy_without_one_build(
    project: History, build: Callable[..., Run], tmp_path: Path, policy: str, words: str
) -> None:
    own = tmp_path / "own.yml"
    own.write_text(f"tiers:\n  - {{name: all, policy: final_tier, judges: {policy}}}\n")
    project.commit({"calc.py": CALC + "\n"}, "Add a line")
    done = build("--config", own)
    assert done.code == 2
    assert words in done.complaint


def test_where_the_evidence_cannot_go(project: History, prjury: Prjury, tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "no" / "e.json"):
        done = prjury("build", "--repo", project.path, "--output", place)
        assert done.code == 2
        assert f"--output cannot write {place}" in done.complaint
    project.commit({"calc.py": CALC + "\n"}, "Add a line")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    done = prjury("build", "--repo", project.path, "--output", tmp_path / "link")
    assert done.code == 5
    assert not (tmp_path / "target").exists()


#: With it a build can write where a test sees it.
OPEN = "sandbox: {level: L1}\n"


def test_an_interrupted_build(project: History, evidence: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.yml"
    own.write_text(
        (POLICY % "run").replace("}}", f", command: 'touch {tmp_path}/on; sleep 99'}}}}") + OPEN
    )
    project.commit({"calc.py": CALC + "\n"}, "Add a line")
    with started(
        "build", f"--repo={project.path}", f"--config={own}", f"--output={evidence}"
    ) as process:
        wait_until((tmp_path / "on").exists)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.strip().splitlines()[-1].startswith("prjury: interrupted")
    assert not evidence.exists()


def test_evidence_that_nobody_would_take(
    evidence: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ballot = Ballot("build", Judgment.passed("fine"))
    large = BuildEvidence(
        SCHEMA_NAME, "a" * LARGEST, "b" * 40, "c" * 40, None, BuildSandbox("L1"), ()
    )
    with pytest.raises(CannotJudgeError, match="larger than 64 MiB and will be refused"):
        write_and_print_evidence(
            Terminal(),
            BuiltEvidence((ballot,), large),
            evidence,
        )
    assert evidence.stat().st_size > LARGEST
    assert capsys.readouterr().out.splitlines()[-1] == f"evidence: {evidence}"


@pytest.fixture
def fake() -> Iterator[FakeGitHub]:
    with running() as server:
        yield server


class TestChecks:
    @pytest.fixture
    def head(self, project: History) -> str:
        project.remote("https://github.com/octo/shop.git", head="main")
        return project.commit({"calc.py": BROKEN}, "What the checks say is what counts")

    @pytest.fixture
    def policy(self, tmp_path: Path) -> Path:
        own = tmp_path / "own.yml"
        own.write_text((POLICY % "checks").replace("}}", ", checks: [test]}}"))
        return own

    def review(
        self, fake: FakeGitHub, project: History, prjury: Prjury, policy: Path, *args: str
    ) -> Run:
        env = {"GITHUB_TOKEN": "ghs_actions", "GITHUB_API_URL": fake.url}
        options = ("--repo", project.path, "--config", policy, "--format", "json", *args)
        return prjury("review", *options, env=env)

    def test_green(
        self, fake: FakeGitHub, project: History, prjury: Prjury, policy: Path, head: str
    ) -> None:
        fake.add_check_run("test", "success", head_sha=head)
        fake.add_check_run("lint", "failure", head_sha=head)
        run = self.review(fake, project, prjury, policy)
        assert run.code == 0, run.err
        judgment = run.judgment("build")
        assert judgment["reasoning"].startswith(f"1 check of the head {head[:12]} passed elsewhere")
        assert {request.token for request in fake.requests} == {"ghs_actions"}

    def test_red(
        self, fake: FakeGitHub, project: History, prjury: Prjury, policy: Path, head: str
    ) -> None:
        fake.add_check_run("test", "failure", head_sha=head)
        run = self.review(fake, project, prjury, policy)
        assert run.code == 1, run.err
        assert "test (failure)" in run.report["verdict"]["headline"]
        assert run.judgment("build")["checks"][0]["fix"].startswith("See https://github.com/octo")

    def test_pending_when_the_time_is_over(
        self, fake: FakeGitHub, project: History, prjury: Prjury, policy: Path, head: str
    ) -> None:
        fake.add_check_run("test", head_sha=head)
        run = self.review(fake, project, prjury, policy, "--timeout", "4")
        assert run.code == 3, run.err
        assert run.judgment("build")["label"] == "checks_pending"
