from __future__ import annotations

import os
from pathlib import Path

import pytest

from prjury.app.request import LARGEST, EvidenceFile
from prjury.errors import CannotJudgeError


def refusal(path: Path) -> CannotJudgeError:
    with pytest.raises(CannotJudgeError) as caught:
        EvidenceFile(path).read_evidence_bytes()
    return caught.value


def test_a_missing_one(tmp_path: Path) -> None:
    error = refusal(tmp_path / "no\u202e.json")
    assert error.reason == "evidence_missing"
    assert error.what == f"there is no evidence at {tmp_path}/no\\u202e.json"
    assert "`prjury build`" in error.remedy


@pytest.mark.parametrize("kind", ["link", "dangling", "fifo", "directory", "in the way"])
def test_what_is_no_regular_file(tmp_path: Path, kind: str) -> None:
    file, other = tmp_path / "e.json", tmp_path / "other"
    if kind == "in the way":
        other.touch()
        file = other / "e.json"
    elif kind == "fifo":
        os.mkfifo(file)
    elif kind == "directory":
        file.mkdir()
    else:
        file.symlink_to(other)
    if kind == "link":
        other.write_text("{}")
    error = refusal(file)
    assert error.reason == "evidence_invalid"
    assert error.what == f"the evidence {file} is refused"
    whys = dict.fromkeys(("link", "dangling"), "it is a link") | {"in the way": "Not a directory"}
    assert error.why == whys.get(kind, "it is not a regular file")


@pytest.mark.parametrize(("size", "refused"), [(LARGEST, False), (LARGEST + 1, True)])
def test_the_largest(tmp_path: Path, size: int, *, refused: bool) -> None:
    file = tmp_path / "e.json"
    file.touch()
    os.truncate(file, size)
    if refused:
        assert refusal(file).why == "it is larger than 64 MiB"
    else:
        assert len(EvidenceFile(file).read_evidence_bytes()) == size
