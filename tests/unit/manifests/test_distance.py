"""How far it is from one version to another."""

from __future__ import annotations

import pytest

from prjury.manifests.distance import Distance, VersionStep, distance

SAME = Distance(VersionStep.SAME)


def up(step: VersionStep, count: int = 1) -> Distance:
    return Distance(step, up=True, count=count)


@pytest.mark.parametrize(
    ("one", "other", "between"),
    [
        ("2.17.1", "2.17.1", SAME),
        ("2.17.1", "2.17.2", up(VersionStep.PATCH)),
        ("2.15.4", "2.17.2", up(VersionStep.MINOR, 2)),
        ("1.9", "2.0.0", up(VersionStep.MAJOR)),
        ("1.0", "1.0.0", SAME),
        (">=1.0,<2", "<2,>=1.0", SAME),
        (">=1.20", ">=1.20,<2", None),
        ("1.0.0.1", "1.0.0.3", up(VersionStep.PATCH, 2)),
        ("v3", "v4", up(VersionStep.MAJOR)),
        ("v3", "v3.1", up(VersionStep.MINOR)),
        ("^18.1.0", "^18.2.0", up(VersionStep.MINOR)),
        ("~=1.4", ">=1.5", up(VersionStep.MINOR)),
        (">=1.20", ">=1.21,<2", up(VersionStep.MINOR)),
        (">=1.20,<2", ">=1.20,<3", up(VersionStep.MAJOR)),
        ("<2", "<3", up(VersionStep.MAJOR)),
        ("1.0-rc1", "1.0", up(VersionStep.PATCH)),
        ("1.0.RELEASE", "1.1.RELEASE", up(VersionStep.MINOR)),
        ("33.0-jre", "33.1-jre", up(VersionStep.MINOR)),
        ("33.0-jre", "33.1-android", None),
        ("1.0-rc1", "1.0-rc2", None),
        ("1.0", "latest", None),
        ("", "1.0", None),
        ("^1.0 || ^2.0", "^3.0", None),
        ("a" * 40, "b" * 40, None),
    ],
)
def test_the_first_number_that_differs_tells_how_far_it_is(
    one: str, other: str, between: Distance | None
) -> None:
    assert distance(one, other) == between
