from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from prjury.errors import PublishError
from prjury.publishers.files import add_markdown, append, write_atomically


def test_a_file_is_written_as_a_whole(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    write_atomically(target, "äöü\n")
    assert target.read_bytes() == "äöü\n".encode()
    assert stat.S_IMODE(target.stat().st_mode) == 0o644
    write_atomically(target, b"\x00")
    assert target.read_bytes() == b"\x00"
    assert os.listdir(tmp_path) == ["report.json"]  # noqa: PTH208 - no temporary file is left


def test_a_link_is_neither_followed_nor_replaced(tmp_path: Path) -> None:
    other = tmp_path / "precious"
    other.write_text("precious")
    link = tmp_path / "report.json"
    link.symlink_to(other)
    with pytest.raises(PublishError):
        write_atomically(link, "x")
    with pytest.raises(PublishError):
        append(link, b"x")
    assert link.is_symlink()
    assert other.read_text() == "precious"


@pytest.mark.parametrize("path", ["/dev/null", "/", "/nowhere/report.json"])
def test_what_cannot_be_replaced_is_left_alone(path: str) -> None:
    with pytest.raises(PublishError) as caught:
        write_atomically(Path(path), "x")
    assert path in str(caught.value)
    assert caught.value.reason == "unwritable"


def test_the_summary_keeps_what_is_there_and_its_limit(tmp_path: Path) -> None:
    file = tmp_path / "summary"
    file.write_text("earlier\n")
    add_markdown(file, "## Title\n\n<details>" + "x" * 500, limit=1_000)
    assert file.read_text().startswith("earlier\n## Title\n\n<details>xxx")
    add_markdown(file, "## Again\n\n<details>" + "x" * 900, limit=1_000)
    assert "## Again\n\n*The summary ends here" in file.read_text()
    size = file.stat().st_size
    add_markdown(file, "line\n" * 100, limit=size)
    assert file.stat().st_size == size
