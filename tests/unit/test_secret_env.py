from __future__ import annotations

import pytest

from prjury.secret_env import SECRET_VARIABLES, secrets_in

VALUE = "0123456789abcdef"


@pytest.mark.parametrize(
    "name",
    [
        *SECRET_VARIABLES,
        "OPENROUTER_API_KEY",
        "AZURE_OPENAI_KEY",
        "COMPANY_APIKEY",
        "NPM_TOKEN",
        "client_secret",
        "DB_PASSWORD",
        "AWS_SECRET_ACCESS_KEY",
    ],
)
def test_what_is_called_like_a_secret_is_one(name: str) -> None:
    assert secrets_in({name: f" {VALUE} "}) == (VALUE,)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PATH", VALUE),
        ("MONKEY", VALUE),
        ("KEYBOARD_LAYOUT", VALUE),
        ("TOKENIZERS_PARALLELISM", "false"),
        ("NPM_TOKEN", "none"),
        ("OPENAI_API_KEY", ""),
    ],
)
def test_what_is_not_or_could_stand_anywhere_is_none(name: str, value: str) -> None:
    assert secrets_in({name: value}) == ()


def test_the_names_that_are_known_hold_secrets_of_any_length() -> None:
    assert secrets_in({"OPENAI_API_KEY": "none"}) == ("none",)
