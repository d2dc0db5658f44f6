from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from prjury.errors import ConfigError, UsageError
from prjury.models.panel import ModelPanel, parse_model_spec
from prjury.models.wrappers import Spent
from prjury.policy.fields import Duration
from prjury.policy.schema import LimitsConfig, ModelConfig, ModelsConfig
from prjury.ports import ChatModel, Panel
from prjury.ports.messages import ModelError
from unit.models.speakers import PROMPT, SOON

OPENAI = {"OPENAI_API_KEY": "sk-1"}
BOTH = {**OPENAI, "ANTHROPIC_API_KEY": "ak-1"}
CLAUDE = ModelConfig(provider="anthropic", name="claude-x")
GPT = ModelConfig(provider="openai", name="gpt-x")
GEMINI = ModelConfig(provider="google", name="gemini-x")


def seated(
    environ: dict[str, str] = OPENAI,
    flag: str | None = None,
    *,
    offline: bool = False,
    limits: LimitsConfig | None = None,
    **config: Any,
) -> ModelPanel:
    limits = limits or LimitsConfig()
    return ModelPanel(ModelsConfig(**config), limits, environ, flag=flag, offline=offline)


def names(panel: Panel) -> list[str]:
    return [model.name for model in panel.models]


def why(model: ChatModel) -> ModelError:
    with pytest.raises(ModelError) as told:
        model.ask(PROMPT, SOON)
    return told.value


def script(path: Path, *entries: dict[str, Any]) -> str:
    path.write_text(json.dumps(entries))
    return f"scripted:{path}"


def test_the_flag_wins_over_the_wish_and_the_wish_over_the_policy() -> None:
    policy: dict[str, Any] = {"default": GPT, "panel": [GPT, CLAUDE]}
    assert names(seated(BOTH, **policy).panel()) == ["openai:gpt-x", "anthropic:claude-x"]
    assert names(seated(BOTH, **policy).panel("openai:wish")) == ["openai:wish"]
    assert names(seated(BOTH, "openai:flag", **policy).panel("openai:wish")) == ["openai:flag"]
    assert names(seated(BOTH, "auto", **policy).panel("openai:wish")) == ["openai:wish"]


def test_judges_share_a_model() -> None:
    models = seated(default=GPT)
    requests = ("auto", "openai:gpt-x", "x")
    (one,), (other,), (third,) = (models.panel(request).models for request in requests)
    assert one is other
    assert one is not third


def test_a_panelist_without_a_key_keeps_its_seat() -> None:
    panel = seated(panel=[GPT, CLAUDE]).panel()
    assert names(panel) == ["openai:gpt-x", "anthropic:claude-x"]
    told = why(panel.models[1])
    assert told.reason == "unauthorized"
    assert "no key for anthropic is set (ANTHROPIC_API_KEY)" in str(told)
    assert panel.models[1].price(1_000, 1_000) == 0.0
    assert panel.models[1].room == 30_000


def test_the_chair_is_the_policys_and_the_flag_sends_it_away() -> None:
    panel = seated(BOTH, panel=[GPT, GPT], chair=CLAUDE).panel()
    assert panel.chair is not None
    assert panel.chair.name == "anthropic:claude-x"
    absent = seated(panel=[GPT, GPT], chair=CLAUDE).panel().chair
    assert absent is not None
    assert why(absent).reason == "unauthorized"
    assert seated(BOTH, "openai:a,openai:b", chair=CLAUDE).panel().chair is None
    assert seated(BOTH).panel().chair is None


@pytest.mark.parametrize("flag", [None, "openai:x", "command:true", "auto"])
def test_offline_nobody_is_asked_but_a_script(flag: str | None, tmp_path: Path) -> None:
    assert seated(flag=flag, offline=True).panel().missing == "no model is asked with --offline"
    recorded = script(tmp_path / "s.json", {"text": "yes"})
    (model,) = seated(flag=recorded, offline=True).panel().models
    assert model.ask(PROMPT, SOON).text == "yes"


@pytest.mark.parametrize("flag", ["anthropic:x", "openai:x,anthropic:y", "gemini:x"])
def test_a_model_that_the_operator_names_has_a_key(flag: str) -> None:
    with pytest.raises(ConfigError, match=r"--model .* cannot be asked: no key for \w+ is set"):
        seated(flag=flag)
    with pytest.raises(ConfigError, match="no model key is set"):
        seated({}, flag="some-name")
    assert seated({"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}, flag="openai:x").panel().models
    assert seated({}, panel=[GPT, CLAUDE]).panel().models == ()


def test_a_script_is_the_operators_alone(tmp_path: Path) -> None:
    recorded = script(tmp_path / "s.json", {"text": "yes"})
    with pytest.raises(ConfigError, match="a judge's `model` names the provider 'scripted'"):
        seated().panel(recorded)
    with pytest.raises(UsageError, match="cannot be read"):
        seated(flag=f"{recorded}.not").panel()


def test_what_is_spent_is_counted_over_all_models(tmp_path: Path) -> None:
    one = script(tmp_path / "1.json", {"text": "a", "input_tokens": 100, "output_tokens": 5})
    two = script(tmp_path / "2.json", {"text": "b", "input_tokens": 10, "usd": 0.5})
    models = seated(flag=f"{one},{two}")
    assert models.spent == Spent()
    for model in models.panel().models:
        model.ask(PROMPT, SOON)
    assert models.spent == Spent(2, 110, 5, 0.5)


def test_the_limits_hold_for_all_models_together(tmp_path: Path) -> None:
    told = {"text": "a", "input_tokens": 700, "usd": 0.1}
    one, two = (script(tmp_path / f"{n}.json", told) for n in "12")
    limits = LimitsConfig(input_tokens=700)
    first, second = seated(flag=f"{one},{two}", limits=limits).panel().models
    first.ask(PROMPT, SOON)
    assert why(second).reason == "budget"


def test_to_warm_without_a_hosted_model_loads_nothing(tmp_path: Path) -> None:
    models = seated(flag=script(tmp_path / "s.json", {"text": "yes"}))
    models.panel()
    models.start_loading_clients()
    assert "models" not in {thread.name for thread in threading.enumerate()}


FOREIGN = [
    ModelsConfig(base_url="https://models.example.org/v1"),
    ModelsConfig(default=ModelConfig(provider="openai", key_env="MY_KEY")),
    ModelsConfig(default=ModelConfig(provider="command", command=["sh", "-c", "touch x"])),
    ModelsConfig(chair=ModelConfig(provider="openai", name="m", base_url="https://x.org/v1")),
]


@pytest.mark.parametrize("config", FOREIGN, ids=["address", "key", "program", "chair"])
def test_a_policy_that_is_not_trusted_says_not_where_a_key_goes(config: ModelsConfig) -> None:
    made = ModelPanel(
        config, LimitsConfig(), {"OPENAI_API_KEY": "sk", "MY_KEY": "k"}, untrusted=True
    )
    panel = made.panel()
    assert (panel.models, panel.label) == ((), "policy_not_trusted")
    assert "--trust-policy" in panel.missing


def test_nor_may_a_judge_of_it_name_a_program() -> None:
    made = ModelPanel(ModelsConfig(), LimitsConfig(), {"OPENAI_API_KEY": "sk"}, untrusted=True)
    assert made.panel("command:touch x").label == "policy_not_trusted"
    assert made.panel("openai:m, command:touch x").models == ()
    assert [model.name for model in made.panel("openai:m").models] == ["openai:m"]


def test_what_the_operator_names_goes_to_the_operators_own_address() -> None:
    made = ModelPanel(
        ModelsConfig(base_url="https://models.example.org/v1"),
        LimitsConfig(),
        {"OPENAI_API_KEY": "sk"},
        flag="openai:m",
        untrusted=True,
    )
    (model,) = made.panel().models
    assert "example.org" not in model.identity


def test_the_secret_is_made_of_every_key_that_could_be_used() -> None:
    config = ModelsConfig(chair=ModelConfig(provider="openai", name="m", key_env="MY_KEY"))
    secrets = {
        ModelPanel(config, LimitsConfig(), environ).keys_digest
        for environ in ({}, {"MY_KEY": "a"}, {"MY_KEY": "b"}, {"OPENAI_API_KEY": "a"})
    }
    assert len(secrets) == 4
    assert b"" in secrets


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
