"""The log of a build that failed lies beside the report files, without secrets."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from prjury.action.job import JobDirectories, copy_logs
from prjury.jury.judgment import Judgment


def said(log: Path, **more: Any) -> Judgment:
    metadata: Mapping[str, Any] = {"log": str(log), **more}
    return Judgment.failed("failed", metadata=metadata)


def kept(tmp_path: Path, *judgments: Judgment) -> list[str]:
    places = JobDirectories(tmp_path / "report")
    copies = copy_logs(judgments, places, lambda text: text.replace("s3cret", "***"))
    assert [copy.name for copy in copies] == [f"build-{n + 1}.log" for n in range(len(copies))]
    return [copy.read_text() for copy in copies]


def log_at(tmp_path: Path, text: str, place: str = "prjury-logs-x") -> Path:
    log = tmp_path / place / "01-mvn.log"
    log.parent.mkdir()
    log.write_text(text)
    return log


def test_a_log_is_kept_without_secrets(tmp_path: Path) -> None:
    log = log_at(tmp_path, "broke s3cret\n")
    assert kept(tmp_path, said(log), Judgment.passed("fine")) == ["broke ***\n"]


def test_what_is_no_log_of_this_run_is_not_kept(tmp_path: Path) -> None:
    own, other = log_at(tmp_path, "elsewhere"), log_at(tmp_path, "secret", "home")
    link = own.parent / "02-mvn.log"
    link.symlink_to(other)
    gone = own.parent / "03-mvn.log"
    assert (
        kept(tmp_path, said(own, **{"from": "evidence"}), said(other), said(link), said(gone)) == []
    )
