from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prjury.models.wrappers import TRIES, pause

seconds = st.floats(min_value=-10, max_value=1e6)


@pytest.mark.parametrize(
    ("tried", "after", "remaining", "expected"),
    [
        (1, None, 60, 1.0),
        (2, None, 60, 2.0),
        (3, None, 60, None),
        (1, 7.0, 60, 7.0),
        (1, 0.0, 60, 0.0),
        (1, -5.0, 60, 0.0),
        (1, 86_400.0, 60, None),
        (1, None, 0.5, None),
        (1, 0.0, 0.0, None),
    ],
)
def test_the_pause(
    tried: int, after: float | None, remaining: float, expected: float | None
) -> None:
    assert pause(tried, after, remaining, chance=1.0) == expected


@given(st.integers(1, 10), st.none() | seconds, seconds, st.floats(0, 1))
def test_nobody_waits_beyond_the_deadline_or_tries_for_ever(
    tried: int, after: float | None, remaining: float, chance: float
) -> None:
    wait = pause(tried, after, remaining, chance)
    assert wait is None or (tried < TRIES and 0 <= wait < remaining)
