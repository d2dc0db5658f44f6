"""`prjury judge patterns` as a process: exit codes, the one JSON value, a baseline."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from e2e.conftest import Prjury
from prjury.jury.codec import judgment_from_json
from prjury.jury.judgment import Status

PATH = "src/main/java/x/A.java"
POM = (
    "<project><parent><groupId>org.springframework.boot</groupId>"
    "<artifactId>spring-boot-starter-parent</artifactId><version>4.0.0</version></parent>"
    "<artifactId>app</artifactId></project>"
)
ENTITY = "package x;\nimport javax.persistence.Entity;\nclass A {}\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    place = tmp_path / "work"
    code = place / PATH
    code.parent.mkdir(parents=True)
    code.write_text(ENTITY)
    (place / "pom.xml").write_text(POM)
    return place


def test_a_finding_fails_with_one_clear_line(workspace: Path, prjury: Prjury) -> None:
    run = prjury("judge", "patterns", "--workspace", workspace)
    assert run.code == 1
    moved = "`javax.persistence` moved to jakarta.persistence"
    first, second, *_ = run.out.splitlines()
    assert first == f"❌ fail: patterns: 1 finding: {moved} ({PATH}:2)"
    assert second == (
        f"  ❌ {PATH}:2 jakarta/persistence: {moved}; pom.xml:1 declares "
        "org.springframework.boot:spring-boot-starter-parent 4.0.0. "
        "Write `jakarta.persistence.Entity`."
    )
    assert run.complaint.startswith(f"prjury: patterns failed: 1 finding: {moved}")


@pytest.mark.parametrize(
    ("options", "change", "code", "status"),
    [
        ([], "", 1, Status.FAIL),
        (["packs=jakarta,jackson-3", "severity=hint"], "", 1, Status.FAIL),
        (["packs=jackson-3"], "", 0, Status.PASS),
        ([], "pom", 0, Status.ABSTAIN),
        ([], "nul", 3, Status.ABSTAIN),
        (["baseline=none.json"], "", 3, Status.ERROR),
    ],
)
def test_json_and_exit_codes(
    workspace: Path,
    prjury: Prjury,
    options: list[str],
    change: str,
    code: int,
    status: Status,
) -> None:
    if change == "pom":
        (workspace / "pom.xml").write_text("<project><artifactId>app</artifactId></project>")
    elif change == "nul":
        (workspace / PATH).write_bytes(b"\0")
    words = [word for option in options for word in ("--option", option)]
    run = prjury("judge", "patterns", "--workspace", workspace, *words, "--format", "json")
    assert run.code == code, run.err
    judgment = judgment_from_json(json.loads(run.out))
    assert judgment.status is status
    if status is Status.ERROR:
        assert judgment.metadata["reason"] == "baseline_invalid"
        assert "there is no file none.json" in run.complaint


def test_a_baseline_is_written_and_obeyed(workspace: Path, prjury: Prjury) -> None:
    file = ".github/prjury-baseline.json"
    here = ("judge", "patterns", "--workspace", workspace)
    written = prjury(*here, "--option", f"write_baseline={file}")
    assert (written.code, written.out) == (
        0,
        f"✅ pass: patterns: 1 known finding written to {file}\n",
    )
    obeyed = prjury(*here, "--option", f"baseline={file}")
    assert obeyed.code == 0
    assert "nothing else found; 1 known from the baseline" in obeyed.out.splitlines()[0]
