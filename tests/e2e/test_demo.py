"""`prjury demo`: five pull requests, the expected verdicts, no network, no key."""

from __future__ import annotations

import json
from pathlib import Path

from e2e.conftest import Prjury


def test_the_five_verdicts(prjury: Prjury, tmp_path: Path) -> None:
    keep = tmp_path / "demo"
    run = prjury("demo", "--keep", keep)
    assert run.code == 0, run.err
    reports = [json.loads((keep / f"report-{n}.json").read_text()) for n in range(1, 6)]
    told = [report["verdict"]["status"] for report in reports]
    assert told == ["pass", "fail", "fail", "fail", "pass"]
    decided = [report["verdict"]["decided_by"] for report in reports[1:4]]
    assert decided == ["build", "version-patterns", "build"]
    (backport,) = reports[4]["backports"]
    assert (backport["verdict"], backport["applies"], backport["asked"]) == (
        "suitable",
        True,
        "yes",
    )
    assert "a commit: Backport-to: 1.x" in backport["reasons"][0]
    assert (keep / "report-3.html").read_text().startswith("<!DOCTYPE html>")


def test_it_finds_the_moved_package_and_only_that(prjury: Prjury, tmp_path: Path) -> None:
    keep = tmp_path / "demo"
    prjury("demo", "--keep", keep)
    report = json.loads((keep / "report-3.json").read_text())
    failed = [
        (check["location"]["line"], check["evidence"])
        for tier in report["tiers"]
        for judgment in tier["judgments"]
        for check in judgment["checks"]
        if not check["passed"]
    ]
    assert failed == [
        (3, "import javax.persistence.Entity;"),
        (4, "import javax.persistence.Id;"),
    ]


def test_a_key_in_the_environment_is_not_used(prjury: Prjury) -> None:
    run = prjury("demo", env={"OPENAI_API_KEY": "sk-canary", "OPENAI_BASE_URL": "http://x.invalid"})
    assert run.code == 0, run.err


def test_a_directory_in_use_is_refused(prjury: Prjury, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep me")
    run = prjury("demo", "--keep", tmp_path)
    assert (run.code, (tmp_path / "mine.txt").read_text()) == (2, "keep me")
    assert "not empty" in run.complaint
