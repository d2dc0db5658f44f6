from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from fakes.bare_report import report
from prjury.errors import PublishError
from prjury.publishers.summary import JobSummary, fitted

NOTE = "The summary ends here"
PIECES = [
    "# Title\n",
    "text äöü 🙂\n",
    "\n",
    "```\ncode\n\n# no title\n```\n",
    "````text\n```\nstill code\n````\n",
    "<details><summary>more</summary>\n\ninside\n\n</details>\n\n",
    "~~~\n<details>\n~~~\n",
]


def test_a_report_is_added_to_what_is_there(tmp_path: Path) -> None:
    file = tmp_path / "summary"
    file.write_text("earlier\n")
    assert JobSummary(file, lambda told: f"## {told.headline}").publish(report()) is None
    assert file.read_text() == "earlier\n## Ready to merge\n"


def test_the_limit_counts_what_is_there_already(tmp_path: Path) -> None:
    file = tmp_path / "summary"
    file.write_text("x" * 900)
    JobSummary(file, lambda _told: "line\n" * 100, limit=1_200).publish(report())
    assert file.stat().st_size <= 1_200
    assert NOTE in file.read_text()


def test_without_any_room_nothing_is_added(tmp_path: Path) -> None:
    file = tmp_path / "summary"
    file.write_text("x" * 900)
    JobSummary(file, lambda _told: "line\n" * 100, limit=900).publish(report())
    assert file.read_text() == "x" * 900


@given(st.lists(st.sampled_from(PIECES), max_size=30), st.integers(0, 600))
def test_a_cut_breaks_no_block(pieces: list[str], room: int) -> None:
    text = "".join(pieces)
    cut = fitted(text, room)
    assert len(cut.encode()) <= room
    if cut == text or not cut:
        return
    kept = cut[: cut.index("\n*The summary ends here")]
    assert text.startswith(kept)
    tokens = MarkdownIt("commonmark").parse(cut)
    inlines = [token.content for token in tokens if token.type == "inline"]
    assert NOTE in inlines[-1]
    assert kept.count("<details><") == kept.count("</details>")


def test_a_missing_directory_is_a_publish_error() -> None:
    with pytest.raises(PublishError):
        JobSummary(Path("/nowhere/summary"), lambda _told: "x").publish(report())
