"""Refusals to the letter: a person reads them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def refused(kind: type[Exception], words: str) -> Iterator[None]:
    """What is done inside is refused with exactly these words."""
    with pytest.raises(kind) as refusal:
        yield
    assert str(refusal.value) == words
