from __future__ import annotations

from pathlib import Path

import pytest

from fakes.bare_report import report
from prjury.errors import PublishError
from prjury.publishers.summary import JobSummary, fit_markdown

NOTE = "The summary ends here"


def test_a_report_is_added_to_what_is_there(tmp_path: Path) -> None:
    file = tmp_path / "summary"
    file.write_text("earlier\n")
    assert JobSummary(file, lambda told: f"## {told.headline}").publish(report()) is None
    assert file.read_text() == "earlier\n## Ready to merge\n"


def test_the_limit_counts_what_is_there_already(tmp_path: Path) -> None:
    file = tmp_path / "summary"
    file.write_text("x" * 900)
    text = "line\n\n<details>" + "x" * 500
    JobSummary(file, lambda _told: text, limit=1_200).publish(report())
    assert file.stat().st_size <= 1_200
    assert NOTE in file.read_text()


def test_without_any_room_nothing_is_added(tmp_path: Path) -> None:
    file = tmp_path / "summary"
    file.write_text("x" * 900)
    JobSummary(file, lambda _told: "line\n" * 100, limit=900).publish(report())
    assert file.read_text() == "x" * 900


def test_what_does_not_fit_is_cut_before_its_first_block() -> None:
    text = "# Title\n\nwhy\n\n<details><summary>more</summary>\n" + "x" * 900
    assert fit_markdown(text, 2_000) == text
    assert fit_markdown(text, 200).startswith("# Title\n\nwhy\n\n*The summary ends here")
    assert fit_markdown(text, 9) == ""


def test_a_missing_directory_is_a_publish_error() -> None:
    with pytest.raises(PublishError):
        JobSummary(Path("/nowhere/summary"), lambda _told: "x").publish(report())
