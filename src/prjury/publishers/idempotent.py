"""Writing so that the outcome is the same however often it is tried, and by how many at once.

An attempt starts by looking what is there. Where a write ends so that nobody knows whether it went
through, a new attempt starts with a look; nothing is written a second time unseen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from prjury.errors import PublishError

Result = TypeVar("Result")

_UNCLEAR = frozenset({"unreachable", "server_error", "bad_response"})
_ATTEMPTS = 4
_RUN_PAGE = re.compile(r"/actions/runs/(\d{1,18})(?:/attempts/(\d{1,9}))?(?=[/?#]|$)", re.ASCII)


class LookAgainError(Exception):
    """What is there may have changed; a new attempt starts with a look."""

    def __init__(self, error: PublishError) -> None:
        super().__init__(str(error))
        self.error = error


@contextmanager
def written_once() -> Iterator[None]:
    """Around a write that must not be carried out twice.

    Raises:
        LookAgainError: when nobody knows whether it was carried out.
        PublishError: when it certainly was not.
    """
    try:
        yield
    except PublishError as error:
        if error.reason in _UNCLEAR:
            raise LookAgainError(error) from error
        raise


def write_converging(attempt: Callable[[], Result], sleep: Callable[[float], None]) -> Result:
    """The result of the attempt, which is begun again, up to four times, where it is unclear.

    Args:
        sleep: waits so many seconds between attempts.

    Raises:
        PublishError: when it remains unclear, or was refused.
    """
    number = 1
    while True:
        try:
            return attempt()
        except LookAgainError as unclear:
            if number == _ATTEMPTS:
                raise unclear.error from unclear
        sleep(2.0 ** (number - 1))
        number += 1


def run_of(url: str | None) -> tuple[int, int] | None:
    """The workflow run and its attempt that a web address leads to; later ones are greater."""
    match = _RUN_PAGE.search(url or "")
    return (int(match[1]), int(match[2] or 1)) if match else None


def is_newer(theirs: str | None, ours: str | None) -> bool:
    """Whether the first address leads to a later run, or attempt, of the same repository."""
    other, own = run_of(theirs), run_of(ours)
    return bool(other and own and other > own) and _place(theirs) == _place(ours)


def _place(url: str | None) -> str:
    return (url or "").partition("/actions/runs/")[0]
