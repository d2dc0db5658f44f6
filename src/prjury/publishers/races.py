"""Writing that ends the same however often it is tried, and by how many of our runs at once.

An attempt looks what is there, writes once, and looks again. Where a write ends so that nobody
knows whether it went through, a new attempt starts with a look; nothing is written a second time
unseen, and the word of a later run stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeAlias, TypeVar

from prjury.errors import PublishError

Result = TypeVar("Result")
Entry = TypeVar("Entry")
#: A workflow run and its attempt; later ones are greater.
Run: TypeAlias = tuple[int, int]
#: The address of what was posted.
Url: TypeAlias = str

_UNCLEAR = frozenset({"unreachable", "server_error", "bad_response"})
_ATTEMPTS = 4
_RUN = re.compile(r"(\d{1,18})\.(\d{1,9})", re.ASCII)
_RUN_PAGE = re.compile(r"/actions/runs/(\d{1,18})(?:/attempts/(\d{1,9}))?(?=[/?#]|$)", re.ASCII)


class LookAgainError(Exception):
    """What is there may have changed; a new attempt starts with a look."""

    def __init__(self, error: PublishError) -> None:
        super().__init__(str(error))
        self.error = error


@contextmanager
def raise_if_unclear() -> Iterator[None]:
    """Guard a write that must not be carried out twice."""
    try:
        yield
    except PublishError as error:
        if error.reason in _UNCLEAR:
            raise LookAgainError(error) from error
        raise


def retry_unclear(attempt: Callable[[], Result], sleep: Callable[[float], None]) -> Result:
    """Return the result of an attempt; up to four are made while it is unclear what came of it."""
    number = 1
    while True:
        try:
            return attempt()
        except LookAgainError as unclear:
            if number == _ATTEMPTS:
                raise unclear.error from unclear
        sleep(2.0 ** (number - 1))
        number += 1


def read_run(words: str) -> Run | None:
    match = _RUN.fullmatch(words)
    return (int(match[1]), int(match[2])) if match else None


def find_run(url: str | None) -> Run | None:
    match = _RUN_PAGE.search(url or "")
    return (int(match[1]), int(match[2] or 1)) if match else None


def find_newest_after(
    entries: Iterable[Entry], run: Run | None, read_writer: Callable[[Entry], Run | None]
) -> Entry | None:
    """Return the entry that the latest run after ours has written; None if there is none."""
    newest = None
    for entry in entries:
        other = read_writer(entry)
        if run and other and other > run:
            newest, run = entry, other
    return newest
