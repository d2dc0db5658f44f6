from __future__ import annotations

import pytest

from prjury.errors import ConfigError
from prjury.models.panel import parse_model_spec
from prjury.policy.fields import Duration
from prjury.policy.models import ModelConfig, ModelsConfig

LISTED = ModelConfig(provider="anthropic", name="claude-x", key_env="TEAM_KEY", timeout=Duration(9))
MODELS = ModelsConfig(
    default=ModelConfig(provider="openai", name="d", base_url="https://d.example", room=5_000),
    panel=[LISTED],
)


def read(text: str, models: ModelsConfig = MODELS) -> list[tuple[str, str | None]]:
    return [
        (one.config.provider, one.config.name) for one in parse_model_spec(text, "--model", models)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("openai:gpt-x", [("openai", "gpt-x")]),
        ("openai:qwen3:8b", [("openai", "qwen3:8b")]),
        ("google:", [("google", None)]),
        ("gpt-x", [("openai", "gpt-x")]),
        ("scripted:a/b:c.json", [("scripted", "a/b:c.json")]),
        ("openai:a, google:b,c", [("openai", "a"), ("google", "b"), ("openai", "c")]),
        ("openai:a,openai:a", [("openai", "a"), ("openai", "a")]),
        ("openai:a,,", [("openai", "a")]),
    ],
)
def test_each_name_is_a_seat(text: str, expected: list[tuple[str, str | None]]) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "argv", "before"),
    [
        ("command:judge", ["judge"], []),
        ("command: judge -p 'a b' --json", ["judge", "-p", "a b", "--json"], []),
        ("command:judge --only a,b", ["judge", "--only", "a,b"], []),
        ("openai:a, command:judge x,y", ["judge", "x,y"], [("openai", "a")]),
    ],
)
def test_a_command_comes_last_and_takes_the_rest(
    text: str, argv: list[str], before: list[tuple[str, str]]
) -> None:
    *others, last = parse_model_spec(text, "--model", MODELS)
    assert last.config.command == argv
    assert last.config.base_url is None
    assert [(one.config.provider, one.config.name) for one in others] == before


@pytest.mark.parametrize("text", [",", " ", "command:", "command:  ", "command:'open"])
def test_what_names_nobody_is_an_error(text: str) -> None:
    with pytest.raises(ConfigError, match="--model"):
        parse_model_spec(text, "--model", MODELS)


def test_a_listed_model_comes_with_its_options() -> None:
    (one,) = parse_model_spec("anthropic:claude-x", "--model", MODELS)
    assert one.config == LISTED


@pytest.mark.parametrize("provider", ["auto", "anthropic"])
def test_a_name_alone_goes_by_the_keys_where_the_default_has_no_address(provider: str) -> None:
    models = ModelsConfig(default=ModelConfig(provider=provider, name="d"))
    assert read("gpt-x", models) == [("auto", "gpt-x")]
    assert read("auto", ModelsConfig()) == [("auto", None)]
