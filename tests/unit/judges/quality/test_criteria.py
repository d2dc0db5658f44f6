from __future__ import annotations

import pytest

from prjury.config.schema import QualityOptions
from prjury.errors import ConfigError
from prjury.judges.quality.criteria import KNOWN, chosen


def test_the_defaults_have_questions() -> None:
    assert dict(chosen(QualityOptions())) == dict(KNOWN)
    assert all(question.endswith("?") for question in KNOWN.values())


def test_names_are_chosen_in_their_order() -> None:
    assert list(chosen(QualityOptions(criteria=["risk", "tests"]))) == ["risk", "tests"]


def test_own_questions_are_taken_as_they_are() -> None:
    own = {"api-stability": "Is the API stable? {{ canary }}"}
    assert dict(chosen(QualityOptions(criteria=own))) == own


@pytest.mark.parametrize(
    ("criteria", "message"),
    [
        (["beauty"], "'beauty'.*correctness, tests, conventions, risk"),
        (["risk", "risk"], "twice"),
        ({"a b": "?"}, "'a b'"),
        ({"": "?"}, "letter"),
        ({"x" * 61: "?"}, "60 letters"),
        ({"a": "  "}, "asks nothing"),
    ],
)
def test_what_cannot_be_asked_is_a_configuration_error(
    criteria: list[str] | dict[str, str], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        chosen(QualityOptions(criteria=criteria))
