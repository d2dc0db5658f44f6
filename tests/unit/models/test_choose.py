from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from prjury.errors import ConfigError
from prjury.models.choose import (
    HOSTED,
    MissingModel,
    ModelChoice,
    WantedModel,
    choose_model,
    require_safe_url,
)
from prjury.policy.schema import ModelConfig, ModelsConfig

OPENAI = {"OPENAI_API_KEY": "sk-1"}
ANTHROPIC = {"ANTHROPIC_API_KEY": "ak-1"}
GEMINI = {"GEMINI_API_KEY": "gk-1"}
LOCAL = "http://127.0.0.1:11434/v1"


def chosen(
    environ: Mapping[str, str], *, offline: bool = False, shared: str | None = None, **config: Any
) -> ModelChoice | MissingModel:
    """What a model of the configuration comes to."""
    wanted = WantedModel(ModelConfig(**config), "models.default")
    return choose_model(wanted, ModelsConfig(base_url=shared), environ, offline=offline)


def found(environ: Mapping[str, str], **config: Any) -> ModelChoice:
    choice = chosen(environ, **config)
    assert isinstance(choice, ModelChoice)
    return choice


@pytest.mark.parametrize(
    ("environ", "provider", "key"),
    [
        ({**OPENAI, **ANTHROPIC, **GEMINI}, "openai", "sk-1"),
        ({**ANTHROPIC, **GEMINI}, "anthropic", "ak-1"),
        (GEMINI, "google", "gk-1"),
        ({**ANTHROPIC, "OPENAI_API_KEY": ""}, "anthropic", "ak-1"),
        ({**GEMINI, "OPENAI_API_KEY": "  "}, "google", "gk-1"),
    ],
)
def test_auto_takes_the_first_key_that_has_a_value(
    environ: dict[str, str], provider: str, key: str
) -> None:
    choice = found(environ)
    assert (choice.provider, choice.key, choice.base_url) == (provider, key, None)
    assert choice.name == HOSTED[choice.provider].model


def test_without_a_key_there_is_a_sentence() -> None:
    sentence = "no model key is set (OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY)"
    environ = {"OPENAI_BASE_URL": "https://example.org", "PATH": "/bin"}
    assert chosen(environ) == MissingModel("auto", sentence)


def test_a_named_provider_needs_its_own_key() -> None:
    sentence = "no key for anthropic is set (ANTHROPIC_API_KEY)"
    assert chosen(OPENAI, provider="anthropic", name="x") == MissingModel("anthropic:x", sentence)


@pytest.mark.parametrize("key", ["sk-1\nX-Evil: 1", "sk–1", "sk-\x7f"])
def test_what_is_no_key_is_not_sent(key: str) -> None:
    with pytest.raises(ConfigError, match="OPENAI_API_KEY holds characters"):
        chosen({"OPENAI_API_KEY": key})


@pytest.mark.parametrize("provider", ["openia", "scripted", "ollama", ""])
def test_an_unknown_provider_names_the_known_ones(provider: str) -> None:
    with pytest.raises(ConfigError, match="auto, openai, anthropic, google, gemini, command"):
        chosen(OPENAI, provider=provider)


def test_a_script_is_taken_only_where_one_may_be_meant_also_offline() -> None:
    script = WantedModel(
        ModelConfig(provider="scripted", name="a/b:c.jsonl"), "--model", script=True
    )
    choice = choose_model(script, ModelsConfig(), {}, offline=True)
    assert choice == ModelChoice("scripted", "a/b:c.jsonl")
    nameless = WantedModel(ModelConfig(provider="scripted"), "--model", script=True)
    with pytest.raises(ConfigError, match="names no file"):
        choose_model(nameless, ModelsConfig(), {})


@pytest.mark.parametrize(
    "config",
    [{}, {"provider": "openai", "base_url": LOCAL}, {"provider": "command", "command": ["x"]}],
)
def test_offline_asks_nobody(config: dict[str, Any]) -> None:
    absent = chosen(OPENAI, offline=True, **config)
    assert isinstance(absent, MissingModel)
    assert absent.why == "no model is asked with --offline"


def test_a_command_needs_no_key() -> None:
    choice = found({}, provider="command", command=["/opt/bin/judge", "-p"], answer="result")
    assert (str(choice), choice.command) == ("command:judge", ("/opt/bin/judge", "-p"))
    assert (choice.answer, choice.key) == ("result", None)
    assert str(found({}, provider="command", command=["x"], name="y")) == "command:y"


def test_the_base_url_of_the_environment_goes_with_the_key_of_its_provider() -> None:
    openai = {"OPENAI_BASE_URL": LOCAL + "/"}
    assert found({**OPENAI, **openai}).base_url == LOCAL
    assert found({**ANTHROPIC, **openai}).base_url is None
    anthropic = {"ANTHROPIC_BASE_URL": "https://gateway.example"}
    assert found({**ANTHROPIC, **anthropic}).base_url == "https://gateway.example"
    assert found({**OPENAI, **anthropic}).base_url is None


def test_a_configured_address_needs_no_key_and_means_an_openai_compatible_server() -> None:
    environ = {**ANTHROPIC, "OPENAI_BASE_URL": "https://other.example/v1"}
    expected = ModelChoice("openai", "llama", None, LOCAL)
    assert found(environ, shared=LOCAL, name="llama") == expected
    assert found(environ, base_url=LOCAL, name="llama") == expected


def test_a_shared_address_for_another_provider_is_an_error_not_a_silence() -> None:
    with pytest.raises(ConfigError, match=r"models\.base_url is set, but models\.default"):
        chosen(ANTHROPIC, provider="anthropic", shared="https://gateway.example/v1")


@pytest.mark.parametrize("url", ["http://169.254.169.254/", "https://u:p@h.example/", "file:///x"])
def test_a_dangerous_base_url_is_refused_wherever_it_comes_from(url: str) -> None:
    with pytest.raises(ConfigError, match=r"models\.base_url"):
        chosen(OPENAI, shared=url)
    with pytest.raises(ConfigError, match=r"models\.default\.base_url"):
        chosen(OPENAI, base_url=url)
    for name, environ in (("OPENAI", OPENAI), ("ANTHROPIC", ANTHROPIC)):
        with pytest.raises(ConfigError, match=f"{name}_BASE_URL"):
            chosen({**environ, f"{name}_BASE_URL": url})


def test_variables_that_nobody_named_are_not_looked_at() -> None:
    environ = {
        **OPENAI,
        "ANTHROPIC_BASE_URL": "https://evil.example",
        "OPENAI_API_BASE": "https://evil.example",
        "HTTPS_PROXY": "http://evil.example",
    }
    assert found(environ).base_url is None
    google = {**GEMINI, "GOOGLE_GEMINI_BASE_URL": "https://evil.example", "GOOGLE_API_KEY": "x"}
    assert (found(google).base_url, found(google).key) == (None, "gk-1")


def test_the_key_is_not_part_of_what_is_printed() -> None:
    choice = found(OPENAI)
    assert "sk-1" not in f"{choice!r} {choice} {choice.identity}"


def test_the_identity_is_everything_but_the_key_and_the_timeout() -> None:
    choice = ModelChoice("openai", "x", "sk-1", LOCAL, temperature=0.0)
    assert json.loads(choice.identity) == {
        "provider": "openai",
        "name": "x",
        "base_url": LOCAL,
        "temperature": 0.0,
        "room": 30_000,
    }
    assert replace(choice, key=None, timeout=1.0).identity == choice.identity
    assert replace(choice, thinking="off").identity != choice.identity


def test_choosing_loads_no_client() -> None:
    program = "import prjury.models.panel"
    command = [sys.executable, "-X", "importtime", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = {
        line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()
    }
    assert "prjury" in loaded
    assert loaded.isdisjoint(
        {
            "pydantic_ai",
            "openai",
            "anthropic",
            "google",
            "httpx2",
            "httpcore2",
            "genai_prices",
            "jinja2",
        }
    )


GOOD = [
    "https://api.openai.com/v1",
    "https://openrouter.ai/api/v1",
    "https://my-name.openai.azure.com/openai/v1",
    "https://10.0.0.7:8443/v1",
    "http://127.0.0.1:11434/v1",
    "http://localhost:8000/v1",
    "http://[::1]:8000/v1",
    "http://127.8.9.1",
    "http://llm.localhost/v1",
    "https://xn--bcher-kva.example/v1",
]

BAD = {
    "file:///etc/passwd": "not an http",
    "ftp://example.org": "not an http",
    "api.openai.com/v1": "not an http",
    "": "not an http",
    "https://": "no host",
    "https:///v1": "no host",
    "https://user:pw@example.org/v1": "user name",
    "https://token@example.org/v1": "user name",
    "https://@example.org/v1": "user name",
    "http://169.254.169.254/latest": "metadata",
    "https://169.254.169.254/latest": "metadata",
    "https://169.254.169.254./latest": "metadata",
    "https://[fe80::1%25eth0]/": "characters|link-local|host",
    "https://[fe80::1]/": "link-local",
    "https://[::ffff:169.254.169.254]/": "metadata",
    "https://[fd00:ec2::254]/": "metadata",
    "https://100.100.100.200/": "metadata",
    "https://metadata.google.internal/": "metadata",
    "https://METADATA.google.internal./": "metadata",
    "https://0.0.0.0/": "unusable",
    "https://[::]/": "unusable",
    "https://224.0.0.1/": "unusable",
    "https://2852039166/": "unusual number",
    "https://0xa9fea9fe/": "unusual number",
    "https://0251.0376.0251.0376/": "unusual number",
    "https://169.254.43518/": "unusual number",
    "http://example.org/v1": "plain http",
    "http://10.0.0.7/v1": "plain http",
    "http://127.0.0.1.example.org/": "plain http",
    "http://notlocalhost/": "plain http",
    "https://аpi.openai.com/v1": "characters",
    "https://api.openai.com\\@evil.example/": "characters",
    "https://api.openai.com /v1": "characters",
    "https://api.openai.com\n.evil.example/": "characters",
    "https://example.org/v1?key=1": "query",
    "https://example.org/v1#x": "fragment",
    "https://example.org:99999/": "not an address",
    "https://example.org:port/": "not an address",
    "https://[::1": "not an address",
}


@pytest.mark.parametrize("url", GOOD)
def test_an_operators_server_is_accepted(url: str) -> None:
    assert require_safe_url(url + "/", "models.base_url") == url


@pytest.mark.parametrize(("url", "problem"), BAD.items())
def test_anything_odd_is_refused(url: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        require_safe_url(url, "OPENAI_BASE_URL")


def test_the_message_names_the_key_and_repeats_no_password() -> None:
    with pytest.raises(ConfigError) as error:
        require_safe_url("https://user:hunter22@example.org", "OPENAI_BASE_URL")
    assert str(error.value).startswith("OPENAI_BASE_URL holds a user name")
    assert "hunter22" not in str(error.value)
