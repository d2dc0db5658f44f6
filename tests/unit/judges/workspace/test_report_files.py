from __future__ import annotations

import os
from pathlib import Path

import pytest

from prjury.errors import CannotJudgeError
from prjury.judges.workspace.files import (
    LARGEST_REPORT,
    find_reports,
    walk_elements,
)


def tags(path: Path) -> list[str]:
    return [
        "/".join(each.tag for each in [*above, element]) for element, above in walk_elements(path)
    ]


def written(place: Path, content: str | bytes) -> Path:
    file = place / "report.xml"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def refusal(path: Path) -> CannotJudgeError:
    with pytest.raises(CannotJudgeError) as refused:
        tags(path)
    return refused.value


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE a PUBLIC "-//JACOCO//DTD Report 1.1//EN" "report.dtd">',
        '<!DOCTYPE a SYSTEM "http://127.0.0.1:9/report.dtd">',
        '<!DOCTYPE a SYSTEM "file:///etc/passwd">',
    ],
)
def test_a_document_type_is_not_fetched(tmp_path: Path, doctype: str) -> None:
    assert tags(written(tmp_path, f'<?xml version="1.0"?>{doctype}<a/>')) == ["a"]


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE a [<!ENTITY b "b">]>',
        '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE a [<!ENTITY % b SYSTEM "http://127.0.0.1:9/"> %b;]>',
    ],
)
def test_entities_are_refused(tmp_path: Path, doctype: str) -> None:
    error = refusal(written(tmp_path, f"{doctype}<a>&b;</a>"))
    assert error.reason == "report_invalid"
    assert error.why == "It declares entities, which are refused"


def test_other_encodings_are_read(tmp_path: Path) -> None:
    assert tags(written(tmp_path, "<a/>".encode("utf-16"))) == ["a"]


def test_depth_is_bounded(tmp_path: Path) -> None:
    assert len(tags(written(tmp_path, "<a>" * 100 + "</a>" * 100))) == 100
    error = refusal(written(tmp_path, "<a>" * 101 + "</a>" * 101))
    assert error.reason == "report_invalid"
    assert error.why == "It is nested deeper than 100 levels"


def test_size_is_bounded(tmp_path: Path) -> None:
    file = written(tmp_path, "<a/>")
    with file.open("ab") as report:
        report.truncate(LARGEST_REPORT + 1)
    error = refusal(file)
    assert error.reason == "too_large"
    assert error.what == f"the report {file} is larger than 256 MiB"


def test_what_is_no_regular_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to(written(tmp_path, "<a/>"))
    for name, why in (
        ("fifo", "It is not a regular file"),
        (".", "It is not a regular file"),
        ("link", "It is a symbolic link"),
        ("report.xml/x", "Not a directory"),
    ):
        error = refusal(tmp_path / name)
        assert (error.reason, error.why) == ("unreadable", why)


def test_reports_are_found_in_order(tmp_path: Path) -> None:
    for path in ("b/r.xml", "a/r.xml", "r.xml", "a/b/q.xml", ".git/r.xml", "node_modules/x/r.xml"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    (tmp_path / "link").symlink_to(tmp_path / "a")
    paths = find_reports(tmp_path, "r.xml", "none/**")
    assert [str(path.relative_to(tmp_path)) for path in paths] == ["a/r.xml", "b/r.xml", "r.xml"]


def test_the_search_is_bounded(tmp_path: Path) -> None:
    tmp_path.joinpath(*["d"] * 201).mkdir(parents=True)
    with pytest.raises(CannotJudgeError, match="cannot be searched") as refused:
        find_reports(tmp_path, "r.xml")
    assert refused.value.reason == "too_large"
