"""A connection for publishers under test: no pauses, and no waiting but what is counted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fakes.github import FakeGitHub
from prjury.github.client import Connection, GitHub, RetryBudget


@contextmanager
def connected(fake: FakeGitHub, token: str = "ghs_actions") -> Iterator[GitHub]:  # noqa: S107 - the fake's
    """A connection that is closed at the end."""
    connection = Connection(
        fake.url, token, timeout=5, seconds_between_requests=0, seconds_between_writes=0
    )
    with GitHub(connection, RetryBudget(sleep=lambda _seconds: None)) as hub:
        yield hub


def no_sleep(_seconds: float) -> None:
    """Waits for nothing."""
