from __future__ import annotations

import subprocess
import sys

import pytest

from prjury.config.schema import ModelConfig, ModelsConfig
from prjury.errors import ConfigError
from prjury.models.choose import DEFAULT_NAMES, ModelChoice, choose

OPENAI = {"OPENAI_API_KEY": "sk-1"}
ANTHROPIC = {"ANTHROPIC_API_KEY": "ak-1"}
GEMINI = {"GEMINI_API_KEY": "gk-1"}
AUTO = ModelsConfig()


def configured(
    provider: str = "auto", name: str | None = None, url: str | None = None
) -> ModelsConfig:
    return ModelsConfig(default=ModelConfig(provider=provider, name=name), base_url=url)


@pytest.mark.parametrize(
    ("environment", "provider", "key"),
    [
        ({**OPENAI, **ANTHROPIC, **GEMINI}, "openai", "sk-1"),
        ({**ANTHROPIC, **GEMINI}, "anthropic", "ak-1"),
        (GEMINI, "google", "gk-1"),
        ({**ANTHROPIC, "OPENAI_API_KEY": ""}, "anthropic", "ak-1"),
        ({**GEMINI, "OPENAI_API_KEY": "  "}, "google", "gk-1"),
    ],
)
def test_auto_takes_the_first_key_that_has_a_value(
    environment: dict[str, str], provider: str, key: str
) -> None:
    choice = choose(AUTO, environment)
    assert isinstance(choice, ModelChoice)
    assert (choice.provider, choice.key, choice.base_url) == (provider, key, None)
    assert choice.name == DEFAULT_NAMES[choice.provider]


def test_without_a_key_there_is_a_sentence() -> None:
    sentence = "no model key is set (OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY)"
    assert choose(AUTO, {"OPENAI_BASE_URL": "https://example.org", "PATH": "/bin"}) == sentence


def test_a_named_provider_needs_its_own_key() -> None:
    assert choose(AUTO, OPENAI, flag="anthropic:x") == (
        "no key for anthropic is set (ANTHROPIC_API_KEY)"
    )


@pytest.mark.parametrize(
    ("flag", "expected"),
    [
        ("openai:gpt-x", "openai:gpt-x"),
        ("openai:qwen3:8b", "openai:qwen3:8b"),
        ("gemini:flash", "google:flash"),
        ("google:", f"google:{DEFAULT_NAMES['google']}"),
        ("gpt-x", "openai:gpt-x"),
        ("auto", f"openai:{DEFAULT_NAMES['openai']}"),
        ("", f"openai:{DEFAULT_NAMES['openai']}"),
    ],
)
def test_the_flag_names_a_model(flag: str, expected: str) -> None:
    assert str(choose(AUTO, {**OPENAI, **GEMINI}, flag=flag)) == expected


def test_the_flag_wins_over_the_configuration() -> None:
    models = configured("anthropic", "claude-x")
    assert str(choose(models, {**OPENAI, **ANTHROPIC})) == "anthropic:claude-x"
    assert str(choose(models, {**OPENAI, **ANTHROPIC}, flag="openai:o")) == "openai:o"


@pytest.mark.parametrize("provider", ["openia", "scripted", "ollama", ""])
def test_an_unknown_provider_names_the_known_ones(provider: str) -> None:
    with pytest.raises(ConfigError, match="auto, openai, anthropic, google, gemini"):
        choose(configured(provider), OPENAI)


def test_a_script_is_taken_from_the_flag_alone_also_offline() -> None:
    choice = choose(AUTO, {}, flag="scripted:a/b:c.jsonl", offline=True)
    assert choice == ModelChoice("scripted", "a/b:c.jsonl")
    with pytest.raises(ConfigError, match="names no file"):
        choose(AUTO, {}, flag="scripted:")


@pytest.mark.parametrize("flag", [None, "openai:gpt-x", "auto"])
def test_offline_asks_nobody(flag: str | None) -> None:
    assert choose(AUTO, OPENAI, flag=flag, offline=True) == "no model is asked with --offline"


def test_the_base_url_of_the_environment_goes_with_the_openai_key() -> None:
    url = "http://127.0.0.1:8000/v1"
    choice = choose(AUTO, {**OPENAI, "OPENAI_BASE_URL": url + "/"})
    assert isinstance(choice, ModelChoice)
    assert choice.base_url == url
    other = choose(AUTO, {**ANTHROPIC, "OPENAI_BASE_URL": url})
    assert isinstance(other, ModelChoice)
    assert (other.provider, other.base_url) == ("anthropic", None)


def test_the_configured_base_url_needs_no_key_and_means_an_openai_compatible_server() -> None:
    models = configured(url="http://127.0.0.1:11434/v1", name="llama")
    choice = choose(models, {**ANTHROPIC, "OPENAI_BASE_URL": "https://other.example/v1"})
    assert choice == ModelChoice("openai", "llama", None, "http://127.0.0.1:11434/v1")


def test_a_base_url_for_another_provider_is_an_error_not_a_silence() -> None:
    models = configured("anthropic", url="https://gateway.example/v1")
    with pytest.raises(ConfigError, match=r"models\.base_url is set, but models\.default"):
        choose(models, ANTHROPIC)


@pytest.mark.parametrize("url", ["http://169.254.169.254/", "https://u:p@h.example/", "file:///x"])
def test_a_dangerous_base_url_is_refused_wherever_it_comes_from(url: str) -> None:
    with pytest.raises(ConfigError, match=r"models\.base_url"):
        choose(configured(url=url), OPENAI)
    with pytest.raises(ConfigError, match="OPENAI_BASE_URL"):
        choose(AUTO, {**OPENAI, "OPENAI_BASE_URL": url})


def test_variables_that_nobody_named_are_not_looked_at() -> None:
    environment = {
        **OPENAI,
        "ANTHROPIC_BASE_URL": "https://evil.example",
        "OPENAI_API_BASE": "https://evil.example",
        "HTTPS_PROXY": "http://evil.example",
    }
    choice = choose(AUTO, environment)
    assert isinstance(choice, ModelChoice)
    assert choice.base_url is None


def test_the_key_is_not_part_of_what_is_printed() -> None:
    choice = choose(AUTO, OPENAI)
    assert "sk-1" not in repr(choice)
    assert "sk-1" not in str(choice)


def test_choosing_loads_no_client() -> None:
    program = "import prjury.models.choose, prjury.models.hosted, prjury.models.scripted"
    command = [sys.executable, "-X", "importtime", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = {
        line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()
    }
    assert "prjury" in loaded
    assert loaded.isdisjoint(
        {"pydantic_ai", "openai", "httpx2", "httpcore2", "genai_prices", "jinja2"}
    )
