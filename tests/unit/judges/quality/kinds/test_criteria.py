from __future__ import annotations

import pytest

from prjury.errors import ConfigError
from prjury.judges.quality.kinds import find_criteria
from prjury.jury.library.presets import CRITERIA
from prjury.policy.tiers import QualityOptions


@pytest.mark.parametrize("name", CRITERIA)
def test_every_preset_can_be_named(name: str) -> None:
    expected = {name: CRITERIA[name].text}
    assert dict(find_criteria(QualityOptions(criteria=[name]))) == expected
    assert dict(find_criteria(QualityOptions(criteria=[name.replace("_", "-")]))) == expected


@pytest.mark.parametrize(
    ("criteria", "message"),
    [
        (["beauty"], "'beauty'.*correctness, tests, conventions, risk"),
        (["risk", "risk"], "twice"),
        (["hard-coded-secrets", "hard_coded_secrets"], "twice"),
        (["SQL-injection"], "'SQL-injection', which has no question of its own"),
        ({"a b": "?"}, "'a b'"),
        ({"": "?"}, "letter"),
        ({"x" * 61: "?"}, "60 letters"),
        ({"a": "  "}, "has no question"),
    ],
)
def test_what_cannot_be_asked_is_a_configuration_error(
    criteria: list[str] | dict[str, str], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        find_criteria(QualityOptions(criteria=criteria))
