from __future__ import annotations

import pytest

from prjury.config.pending import PENDING, not_in_force, pending_note
from prjury.config.schema import Config


def test_the_default_leaves_nothing_to_tell() -> None:
    assert not_in_force(Config()) == ()
    assert list(pending_note(Config())) == []


@pytest.mark.parametrize(
    ("section", "told"),
    [
        ({"limits": {"usd": 0.0, "wall": "1m"}}, ()),
        ({"models": {"retry": {"iterations": 3}}}, ()),
        ({"backport": {"build": True, "default": "yes", "merge": "rebase"}}, ()),
        ({"fix": {"enabled": True}}, ("fix",)),
        (
            {"sandbox": {"mounts": ["/opt"]}, "publish": {"comment": False}},
            ("sandbox.mounts",),
        ),
        ({"gate": {"coverage_floor": 0.5}}, ()),
    ],
)
def test_what_is_set_and_changes_nothing_is_told(
    section: dict[str, object], told: tuple[str, ...]
) -> None:
    config = Config.model_validate(section)
    assert not_in_force(config) == told
    assert [all(name in note for name in told) for note in pending_note(config)] == [True] * bool(
        told
    )


def test_every_path_exists() -> None:
    assert len(set(PENDING)) == len(PENDING)
    not_in_force(Config())
