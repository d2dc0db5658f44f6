"""Makes the sample repository: one ``git fast-import``, the same commits on every machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from prjury.git.command import Git
from prjury.jury.judgment import Status

_SAMPLE = Path(__file__).resolve().parent / "sample"
_COMMITTER = "committer Sample <sample@example.org> 1700000000 +0000"

_BASE_MARK, _MAIN_MARK = 1, 2


class SamplePull(Struct, frozen=True):
    """One pull request of the sample, and what the jury is expected to say of it."""

    number: int
    folder: str
    title: str
    shows: str
    expected: Status
    parent: int = _MAIN_MARK
    trailer: str = ""


PULLS = (
    SamplePull(1, "1-restock", "Add restocking", "a green change with a test", Status.PASS),
    SamplePull(2, "2-reserve", "Respect reservations", "a change that breaks a test", Status.FAIL),
    SamplePull(3, "3-entity", "Add the Item entity", "javax.persistence on Boot 4", Status.FAIL),
    SamplePull(
        4,
        "4-currency",
        "Sell in dollars",
        "a conflict with main",
        Status.FAIL,
        parent=_BASE_MARK,
    ),
    SamplePull(
        5,
        "5-rounding",
        "Fix rounding of discounts",
        "a fix that asks for 1.x too",
        Status.PASS,
        trailer="Backport-to: 1.x",
    ),
)


def make_repository(directory: Path) -> None:
    """A bare repository with ``main``, ``1.x`` and the heads of the five pull requests."""
    git = Git(directory)
    git("init", "--quiet", "--bare", "--initial-branch=main", str(directory))
    git("fast-import", "--quiet", "--done", stdin=b"".join(_make_import_stream()))


def _make_import_stream() -> Iterator[bytes]:
    yield from _commit("refs/heads/1.x", _BASE_MARK, "Keep stock", "base", None)
    yield from _commit("refs/heads/main", _MAIN_MARK, "Sell in francs", "later", _BASE_MARK)
    for pull in PULLS:
        ref = f"refs/pull/{pull.number}/head"
        mark = _MAIN_MARK + pull.number
        message = f"{pull.title}\n\n{pull.trailer}\n" if pull.trailer else pull.title
        yield from _commit(ref, mark, message, pull.folder, pull.parent)
    yield b"done\n"


def _commit(ref: str, mark: int, message: str, folder: str, parent: int | None) -> Iterator[bytes]:
    yield f"commit {ref}\nmark :{mark}\n{_COMMITTER}\n".encode() + _data(message.encode())
    if parent:
        yield f"from :{parent}\n".encode()
    for file in sorted((_SAMPLE / folder).rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            path = file.relative_to(_SAMPLE / folder).as_posix()
            yield f"M 100644 inline {path}\n".encode() + _data(file.read_bytes())


def _data(content: bytes) -> bytes:
    return b"data %d\n" % len(content) + content + b"\n"
