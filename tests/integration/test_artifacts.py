"""Archives that somebody has packed who means no good, and a store that sends elsewhere."""

from __future__ import annotations

import io
import stat
import warnings
import zipfile
from collections.abc import Iterator

import pytest

from fakes.github import FakeGitHub, Fault, running
from prjury.errors import CannotJudgeError
from prjury.github.artifacts import FILE, BuildArtifact, extract_file
from prjury.github.client import Connection, GitHub, RetryBudget

FINE = b'{"schema": "prjury/build-evidence/v1"}'


def archive(
    *entries: tuple[str, bytes], mode: int = 0, method: int = zipfile.ZIP_DEFLATED
) -> bytes:
    content = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(content, "w", method) as file:
        warnings.simplefilter("ignore")  # names that stand twice
        for name, text in entries:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            file.writestr(info, text, method)
    return content.getvalue()


@pytest.fixture
def fake() -> Iterator[FakeGitHub]:
    with running() as fake:
        fake.add_workflow_run("build", "success", id=500)
        yield fake


def evidence(fake: FakeGitHub) -> BuildArtifact:
    connection = Connection(
        fake.url, "ghs_actions", seconds_between_requests=0, seconds_between_writes=0, timeout=5
    )
    return BuildArtifact(GitHub(connection, RetryBudget(sleep=lambda _s: None)), "octo/shop", 500)


def test_the_newest_counts_and_others_do_not(fake: FakeGitHub) -> None:
    fake.add_artifact("build-evidence", archive((FILE, b"old")), run=500)
    fake.add_artifact("build-evidence", archive((FILE, FINE)), run=500)
    fake.add_artifact("build-evidence", archive((FILE, b"other run")), run=501)
    fake.add_artifact("build-evidence-2", archive((FILE, b"other name")), run=500)
    assert evidence(fake).read_evidence_bytes() == FINE


def test_the_newest_is_the_one_created_last_whatever_its_number(fake: FakeGitHub) -> None:
    """A later attempt of a run may leave an artifact with a lower number."""
    fake.add_artifact(
        "build-evidence", archive((FILE, FINE)), run=500, created_at="2026-01-02T04:00:00Z"
    )
    fake.add_artifact("build-evidence", archive((FILE, b"first attempt")), run=500)
    assert evidence(fake).read_evidence_bytes() == FINE


ODD = {
    "above": archive(("../../evil", b"x")),
    "absolute": archive(("/etc/passwd", b"x")),
    "beside it": archive((FILE, FINE), ("more.txt", b"x")),
    "twice": archive((FILE, FINE), (FILE, b"other")),
    "link": archive((FILE, b"/etc/passwd"), mode=stat.S_IFLNK | 0o777),
    "device": archive((FILE, b""), mode=stat.S_IFBLK | 0o666),
    "directory": archive((f"{FILE}/", b"")),
    "many": archive(*[(f"{number}", b"") for number in range(5_000)]),
    "empty": archive(),
    "no archive": b"PK\x03\x04 and nothing",
    "text": b"hello",
    "nothing": b"",
    "cut": archive((FILE, FINE))[:-30],
    "damaged": archive((FILE, b"a" * 4000)).replace(b"build", b"buiLd", 1),
}


@pytest.mark.parametrize("content", ODD.values(), ids=ODD)
def test_art_06_odd_archives_are_refused(content: bytes) -> None:
    with pytest.raises(CannotJudgeError) as refused:
        extract_file(content, FILE)
    assert refused.value.reason == "evidence_invalid"


def test_art_06_a_bomb_is_refused_before_it_goes_off() -> None:
    bomb = archive((FILE, b"\0" * (65 * 1024**2)))
    assert len(bomb) < 100_000
    with pytest.raises(CannotJudgeError, match="unpacks to more than 64 MiB"):
        extract_file(bomb, FILE)


def test_a_bomb_that_lies_about_its_size_is_cut() -> None:
    size = 65 * 1024**2
    bomb = archive((FILE, b"\0" * size)).replace(size.to_bytes(4, "little"), b"\x10\0\0\0")
    with pytest.raises(CannotJudgeError) as refused:
        extract_file(bomb, FILE)
    assert refused.value.reason == "evidence_invalid"


def test_the_token_stays_with_github(fake: FakeGitHub) -> None:
    fake.add_artifact("build-evidence", archive((FILE, FINE)), run=500)
    evidence(fake).read_evidence_bytes()
    tokens = {request.path.split("?")[0]: request.token for request in fake.requests}
    assert [token for path, token in tokens.items() if path.endswith(".zip")] == [None]
    assert "ghs_actions" in tokens.values()


@pytest.mark.parametrize(
    "where", ["http://example.org/a.zip", "file:///etc/passwd", "", "ftp://x/y"]
)
def test_an_archive_elsewhere_must_be_at_a_safe_address(fake: FakeGitHub, where: str) -> None:
    fake.add_artifact("build-evidence", archive((FILE, FINE)), run=500)
    fake.faults = [Fault("GET", "/zip", status=302, headers={"Location": where}, body="", times=9)]
    with pytest.raises(CannotJudgeError) as refused:
        evidence(fake).read_evidence_bytes()
    assert refused.value.reason == "bad_response"


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"expired": True}, "evidence_missing"),
        ({"digest": "sha256:" + "0" * 64}, "evidence_invalid"),
        ({"size_in_bytes": 33 * 1024**2}, "evidence_invalid"),
    ],
)
def test_what_github_says_of_it_counts(
    fake: FakeGitHub, more: dict[str, object], reason: str
) -> None:
    fake.add_artifact("build-evidence", archive((FILE, FINE)), run=500, **more)
    with pytest.raises(CannotJudgeError) as refused:
        evidence(fake).read_evidence_bytes()
    assert refused.value.reason == reason


def test_a_store_that_fails_is_asked_again(fake: FakeGitHub) -> None:
    fake.add_artifact("build-evidence", archive((FILE, FINE)), run=500)
    fake.faults = [Fault("GET", r"\.zip", status=503), Fault("GET", "/artifacts", status=None)]
    assert evidence(fake).read_evidence_bytes() == FINE
