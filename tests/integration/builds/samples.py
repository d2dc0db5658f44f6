"""All fixture projects, and how tests are run over them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

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

#: Whose builds take so long that CI has no time for more of them than the four states; the slowest
#: are not part of CI at all.
_SLOW = {"cargo", "maven", "npm", "pnpm", "two", "uv"}
_SLOWEST = {"gradle", "tox"}


def each(
    *, thorough: bool = False, having: Callable[[Sample], object] = lambda sample: True
) -> Sequence[object]:
    """The samples as parameters of a test.

    Args:
        thorough: whether the test is one for which slow builds have no time in CI.
        having: which of the samples are meant.
    """
    meant = filter(having, SAMPLES)
    return [pytest.param(s, marks=_mark(s, thorough=thorough), id=s.name) for s in meant]


def _mark(sample: Sample, *, thorough: bool) -> pytest.MarkDecorator:
    nightly = sample.name in _SLOWEST or (thorough and sample.name in _SLOW)
    return pytest.mark.nightly if nightly else pytest.mark.slow
