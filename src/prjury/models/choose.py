"""Which model is asked: a decision about configuration, flag and environment. Pure and light."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from prjury.config.schema import ModelsConfig
from prjury.errors import ConfigError
from prjury.models.address import checked

Provider: TypeAlias = Literal["openai", "anthropic", "google", "scripted"]

#: The environment variable of each provider's key, in the order in which `auto` looks at them.
KEYS: Mapping[Provider, str] = {
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "google": "GEMINI_API_KEY",
}

#: The model of each provider where none is named: neither its smallest nor its most expensive one.
DEFAULT_NAMES: Mapping[Provider, str] = {
    "openai": "gpt-6.1-terra",
    "anthropic": "claude-sonnet-5-5",
    "google": "gemini-3.8-flash",
}

_PROVIDERS: Mapping[str, Provider] = {
    "openai": "openai",
    "anthropic": "anthropic",
    "google": "google",
    "gemini": "google",
}
_AUTO = "auto"


@dataclass(frozen=True)
class ModelChoice:
    """A model of a provider and how it is reached.

    Attributes:
        name: the provider's name for the model; the path of the file for ``scripted``.
        key: the credential, None for a server that wants none. It is not part of the repr.
        base_url: where an OpenAI-compatible server is, None for the provider's own address.
    """

    provider: Provider
    name: str
    key: str | None = field(default=None, repr=False)
    base_url: str | None = None

    def __str__(self) -> str:
        return f"{self.provider}:{self.name}"


@dataclass(frozen=True)
class _Wish:
    """What was asked for: by the flag, or else by the configuration.

    Attributes:
        key: where it was written, for messages.
    """

    provider: str
    name: str | None
    key: str

    @classmethod
    def of(cls, models: ModelsConfig, flag: str | None) -> _Wish:
        if not flag or flag == _AUTO:
            return cls(models.default.provider, models.default.name, "models.default.provider")
        provider, colon, name = flag.partition(":")
        if not colon:
            return cls(_AUTO, flag, "--model")
        return cls(provider, name or None, "--model")


def choose(
    models: ModelsConfig,
    environment: Mapping[str, str],
    *,
    flag: str | None = None,
    offline: bool = False,
) -> ModelChoice | str:
    """The model to ask, or the sentence that says why there is none.

    Args:
        models: the ``models`` section of the configuration.
        environment: the operator's environment variables; empty values do not count.
        flag: ``provider:name``, a name alone, ``scripted:FILE`` or ``auto``.
        offline: whether nothing may be contacted; only a scripted model is left then.

    Raises:
        ConfigError: for a provider that is not known, or a base URL that must not be used.
    """
    wish = _Wish.of(models, flag)
    if wish.provider == "scripted" and wish.key == "--model":
        if wish.name is None:
            raise ConfigError("--model scripted: names no file", remedy="Write scripted:FILE")
        return ModelChoice("scripted", wish.name)
    provider = _provider(wish, environment, configured=models.base_url is not None)
    if offline:
        return "no model is asked with --offline"
    if provider is None:
        return f"no model key is set ({', '.join(KEYS.values())})"
    base_url = _base_url(models, environment) if provider == "openai" else None
    key = environment.get(KEYS[provider], "").strip()
    if not key and base_url is None:
        return f"no key for {provider} is set ({KEYS[provider]})"
    return ModelChoice(provider, wish.name or DEFAULT_NAMES[provider], key or None, base_url)


def _provider(wish: _Wish, environment: Mapping[str, str], *, configured: bool) -> Provider | None:
    """The provider that was named, or the first whose key is there; None where no key is."""
    provider: Provider | None
    if wish.provider == _AUTO:
        present = (name for name, variable in KEYS.items() if environment.get(variable, "").strip())
        provider = "openai" if configured else next(present, None)
    elif wish.provider in _PROVIDERS:
        provider = _PROVIDERS[wish.provider]
    else:
        raise ConfigError(
            f"{wish.key} names the provider {wish.provider!r}, which is not known",
            remedy=f"Use one of {', '.join((_AUTO, *_PROVIDERS))}, or --model scripted:FILE",
        )
    if configured and provider != "openai":
        raise ConfigError(
            f"models.base_url is set, but {wish.key} names {provider}",
            why="A base URL belongs to OpenAI-compatible servers; it would be passed over silently",
            remedy="Remove models.base_url or name the provider openai",
        )
    return provider


def _base_url(models: ModelsConfig, environment: Mapping[str, str]) -> str | None:
    if models.base_url is not None:
        return checked(models.base_url, "models.base_url")
    variable = environment.get("OPENAI_BASE_URL", "").strip()
    return checked(variable, "OPENAI_BASE_URL") if variable else None
