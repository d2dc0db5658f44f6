from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from prjury.errors import CannotJudgeError
from prjury.judges.workspace.files import (
    LARGEST_REPORT,
    LARGEST_TEXT,
    Workspace,
    find_files,
    require_text_path,
    walk_elements,
)
from prjury.jury.context import JudgmentContext


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
    paths = find_files(tmp_path, "r.xml", "none/**")
    assert [str(path.relative_to(tmp_path)) for path in paths] == ["a/r.xml", "b/r.xml", "r.xml"]


def test_the_search_is_bounded(tmp_path: Path) -> None:
    tmp_path.joinpath(*["d"] * 201).mkdir(parents=True)
    with pytest.raises(CannotJudgeError, match="cannot be searched") as refused:
        find_files(tmp_path, "r.xml")
    assert refused.value.reason == "too_large"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A workspace with a neighbour that is none of its business."""
    workspace = tmp_path / "work"
    (workspace / "sub").mkdir(parents=True)
    (workspace / "a.txt").write_text("a\n")
    (workspace / "sub" / "b.txt").write_text("b\n")
    (tmp_path / "secret.txt").write_text("s\n")
    (tmp_path / "work-2").mkdir()
    (tmp_path / "work-2" / "c.txt").write_text("c\n")
    return workspace


def workspace_of(place: Path | None) -> Workspace:
    return Workspace.require(JudgmentContext("goal", workspace=place))


@pytest.mark.parametrize("name", ["a.txt", "nowhere"])
def test_a_workspace_that_is_no_directory(place: Path, name: str) -> None:
    with pytest.raises(CannotJudgeError) as refusal:
        workspace_of(place / name)
    assert refusal.value.reason == "no_workspace"
    assert refusal.value.what == f"the workspace {place / name} is not a directory"


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("a.txt", "file"),
        ("./a.txt", "file"),
        ("sub/../a.txt", "file"),
        ("sub/b.txt", "file"),
        ("sub", "directory"),
        ("sub/", "directory"),
        (".", "directory"),
        ("c.txt", "missing"),
        ("a.txt/b", "missing"),
        ("no/such/file", "missing"),
        ("\udcff", "missing"),
    ],
)
def test_kinds(place: Path, path: str, kind: str) -> None:
    assert workspace_of(place).kind(path) == kind


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("../secret.txt", "It climbs out with `..`"),
        ("..", "It climbs out with `..`"),
        ("sub/../../secret.txt", "It climbs out with `..`"),
        ("../work/a.txt", "It climbs out with `..`"),
        ("/etc/passwd", "It is absolute"),
    ],
)
def test_paths_that_leave_the_workspace(place: Path, path: str, why: str) -> None:
    for look in (workspace_of(place).kind, workspace_of(place).text):
        with pytest.raises(CannotJudgeError) as refusal:
            look(path)
        assert refusal.value.reason == "outside_workspace"
        assert refusal.value.what == f"{path} leaves the workspace"
        assert refusal.value.why == why
        assert refusal.value.remedy == "Name a path inside the workspace, relative to it"


@pytest.mark.parametrize(
    ("link", "target", "path"),
    [
        ("out", "../secret.txt", "out"),
        ("out", "/etc/passwd", "out"),
        ("sub/up", "../..", "sub/up/secret.txt"),
        ("near", "../work-2", "near/c.txt"),
        ("gone", "../nowhere", "gone"),
    ],
)
def test_links_that_leave_the_workspace(place: Path, link: str, target: str, path: str) -> None:
    (place / link).symlink_to(target)
    real = os.path.realpath(place / path)
    with pytest.raises(CannotJudgeError) as refusal:
        workspace_of(place).kind(path)
    assert refusal.value.reason == "outside_workspace"
    assert refusal.value.why == f"A symbolic link leads to {real}"


def test_links_that_go_round(place: Path) -> None:
    (place / "one").symlink_to("two")
    (place / "two").symlink_to("one")
    with pytest.raises(CannotJudgeError) as refusal:
        workspace_of(place).kind("one")
    assert refusal.value.reason == "unreadable"
    assert str(refusal.value) == (
        "one cannot be read. Too many levels of symbolic links. "
        "Check its permissions, and that it is a regular file."
    )


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", ""),
        (b"\xef\xbb\xbfa\r\nb\r\n", "a\nb\n"),
        (b"a\rb\r\r\n", "a\rb\r\n"),
        ("é\u2028\0".encode(), "é\u2028\0"),
    ],
)
def test_texts(place: Path, content: bytes, text: str) -> None:
    (place / "a.txt").write_bytes(content)
    assert workspace_of(place).text("a.txt") == text


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"a\nb\xe9\n", "a.txt is not UTF-8 text: byte 0xe9 in line 2"),
        ("a".encode("utf-16"), "a.txt is not UTF-8 text: byte 0xff in line 1"),
    ],
)
def test_what_is_no_text(place: Path, content: bytes, what: str) -> None:
    (place / "a.txt").write_bytes(content)
    with pytest.raises(CannotJudgeError) as refusal:
        workspace_of(place).text("a.txt")
    assert refusal.value.reason == "not_utf8"
    assert refusal.value.what == what


@pytest.mark.parametrize(
    ("path", "why"),
    [("fifo", "It is a special file"), ("sub", "It is a directory"), ("no", "It is not there")],
)
def test_what_cannot_be_read(place: Path, path: str, why: str) -> None:
    os.mkfifo(place / "fifo")
    with pytest.raises(CannotJudgeError) as refusal:
        workspace_of(place).text(path)
    assert (refusal.value.reason, refusal.value.why) == ("unreadable", why)


def test_devices_are_not_opened() -> None:
    with pytest.raises(CannotJudgeError, match=r"zero cannot be read\. It is a special file"):
        Workspace(Path("/dev")).text("zero")


@contextmanager
def unprivileged() -> Iterator[None]:
    """Root may read everything, so that it is nobody meanwhile."""
    mine = os.geteuid()
    os.seteuid(mine or 65_534)
    try:
        yield
    finally:
        os.seteuid(mine)


def test_a_file_without_permissions() -> None:
    with TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        Path(place, "a.txt").touch(mode=0)
        with unprivileged(), pytest.raises(CannotJudgeError) as refusal:
            workspace_of(Path(place)).text("a.txt")
    assert (refusal.value.reason, refusal.value.why) == ("unreadable", "Permission denied")


def test_a_file_that_is_too_large(place: Path) -> None:
    with (place / "big").open("wb") as file:
        file.truncate(LARGEST_TEXT)
    assert len(workspace_of(place).text("big")) == 16 * 1024**2
    with (place / "big").open("ab") as file:
        file.write(b"\0")
    with pytest.raises(CannotJudgeError) as refusal:
        workspace_of(place).text("big")
    assert refusal.value.reason == "too_large"
    assert str(refusal.value) == "big is larger than 16 MiB. Judge it by a command, such as grep."


def test_nothing_in_a_message_controls_a_terminal(place: Path) -> None:
    with pytest.raises(CannotJudgeError) as refusal:
        workspace_of(place).kind("../\x1b[2J\n")
    assert refusal.value.what == "../\\x1b[2J\\n leaves the workspace"


@pytest.mark.parametrize("path", ["", "  ", "a\0b"])
def test_what_is_no_path(path: str) -> None:
    with pytest.raises(ValueError, match="is not a path"):
        require_text_path(path)
