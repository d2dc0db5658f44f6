"""All fixture projects, and how tests are run over them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet

import pytest

from integration.builds import clang, golang, jvm, node, python, rust, two
from integration.builds.sample import Sample

SAMPLES = (
    jvm.MAVEN,
    jvm.GRADLE,
    node.NPM,
    node.PNPM,
    python.PYTEST,
    python.UV,
    python.TOX,
    rust.CARGO,
    golang.GO,
    clang.MAKE,
    two.TWO,
)

#: Whose builds take so long that CI has no time for more of them than the four states, or only for
#: two of these; the slowest are not part of CI at all.
_SLOW = frozenset({"cargo", "maven", "npm", "pnpm", "two", "uv"})
SLOWER = frozenset({"maven", "two"})
_SLOWEST = frozenset({"gradle", "pnpm", "tox"})


def each(
    *,
    thorough: bool = False,
    having: Callable[[Sample], object] = lambda sample: True,
    nightly: AbstractSet[str] = frozenset(),
) -> Sequence[object]:
    """The samples as parameters of a test.

    Args:
        thorough: whether the test is one for which slow builds have no time in CI.
        having: which of the samples are meant.
        nightly: those that CI has no time for.
    """
    late = _SLOWEST | nightly | (_SLOW if thorough else set())
    return [
        pytest.param(
            sample,
            marks=pytest.mark.nightly if sample.name in late else pytest.mark.slow,
            id=sample.name,
        )
        for sample in filter(having, SAMPLES)
    ]
