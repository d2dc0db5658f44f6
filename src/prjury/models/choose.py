"""Which model is asked: a decision about configuration, wish and environment. Pure and light."""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Literal, TypeAlias
from urllib.parse import SplitResult, urlsplit

from msgspec import Struct

from prjury.errors import ConfigError
from prjury.policy.schema import ModelConfig, ModelsConfig

_METADATA_NAMES = frozenset({"metadata", "metadata.google.internal", "metadata.goog"})
_METADATA_ADDRESSES = frozenset(
    map(ipaddress.ip_address, ("100.100.100.200", "168.63.129.16", "fd00:ec2::254"))
)
_HOST = re.compile(r"[A-Za-z0-9_.:-]+(%[A-Za-z0-9]+)?")
#: What the C library may read as an IPv4 address too: ``2852039166``, ``0xa9fea9fe``, ``0251.1``.
_ODD_NUMBER = re.compile(r"(0x[0-9a-f]*|\d+)", re.IGNORECASE)


def require_safe_url(url: str, setting: str) -> str:
    """Return the base URL without a slash at its end.

    Raises:
        ConfigError: for anything but a plain https address, or an http one of this machine.
    """
    problem = _find_url_problem(url)
    if problem is None:
        return url.rstrip("/")
    # The address may hold a password, so the message does not repeat it.
    raise ConfigError(
        f"{setting} {problem}",
        remedy="Use an https address, or http://127.0.0.1:PORT for a server on this machine",
    )


def _find_url_problem(url: str) -> str | None:
    if not url.isascii() or any(char <= " " or char in '\\"<>^`{|}\x7f' for char in url):
        return "holds characters that do not belong in an address"
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "is not an address"
    if parts.scheme not in {"http", "https"}:
        return "is not an http or https address"
    if "@" in parts.netloc:
        return "holds a user name or a password"
    if parts.query or parts.fragment or "?" in url or "#" in url:
        return "holds a query or a fragment"
    if not host or not _HOST.fullmatch(host):
        return "names no host"
    return _find_host_problem(parts, host.rstrip("."))


def _find_host_problem(parts: SplitResult, host: str) -> str | None:
    address: ipaddress.IPv4Address | ipaddress.IPv6Address | None = None
    with suppress(ValueError):
        address = ipaddress.ip_address(host)
    address = getattr(address, "ipv4_mapped", None) or address
    if address is None and _ODD_NUMBER.fullmatch(host.rpartition(".")[2]):
        return "names a host by an unusual number"
    if host in _METADATA_NAMES or (
        address is not None
        and (
            address.is_link_local
            or address.is_multicast
            or address.is_unspecified
            or address in _METADATA_ADDRESSES
        )
    ):
        return "points to a link-local, metadata or unusable address"
    local = address.is_loopback if address else host == "localhost" or host.endswith(".localhost")
    if parts.scheme == "http" and not local:
        return "is plain http to another machine: the key and the code would travel in the clear"
    return None


Provider: TypeAlias = Literal["openai", "anthropic", "google", "command", "scripted"]


class Wiring(Struct, frozen=True):
    """How a provider is reached: the variables of its key and address, and its usual model."""

    key: str
    address: str | None
    model: str


#: The providers with a server of their own, in the order in which `auto` looks for their keys.
HOSTED: Mapping[Provider, Wiring] = {
    "openai": Wiring("OPENAI_API_KEY", "OPENAI_BASE_URL", "gpt-6.1-terra"),
    "anthropic": Wiring("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "claude-sonnet-5-5"),
    "google": Wiring("GEMINI_API_KEY", None, "gemini-3.8-flash"),
}
_PROVIDERS: Mapping[str, Provider] = {
    **{name: name for name in HOSTED},
    "gemini": "google",
    "command": "command",
    "scripted": "scripted",
}

AUTO = "auto"
OFFLINE = "no model is asked with --offline"


@dataclass(frozen=True)
class ModelChoice:
    """A model of a provider, how it is reached, and with which options (`ModelConfig`).

    Its name is the path of the file for ``scripted``; a server that wants no key has None.
    """

    provider: Provider
    name: str
    key: str | None = field(default=None, repr=False)
    base_url: str | None = None
    temperature: float | None = None
    thinking: Literal["off", "low", "medium", "high"] | None = None
    max_output_tokens: int | None = None
    timeout: float = 120.0
    room: int = 30_000
    command: tuple[str, ...] = ()
    answer: str | None = None

    def __str__(self) -> str:
        return f"{self.provider}:{self.name}"

    @property
    def identity(self) -> str:
        """Return a line of JSON: all that answers depend on, without key and timeout."""
        parts = {name: value for name, value in asdict(self).items() if value not in (None, ())}
        for name in ("key", "timeout"):
            parts.pop(name, None)
        return json.dumps(parts, sort_keys=True)


class MissingModel(Struct, frozen=True):
    """A model that somebody wants and that cannot be had; why is a clause without a full stop."""

    name: str
    why: str


class WantedModel(Struct, frozen=True):
    """One model that somebody wants, where that was written, and whether it may be a script."""

    config: ModelConfig
    place: str
    script: bool = False


def choose_model(
    wanted: WantedModel, models: ModelsConfig, environ: Mapping[str, str], *, offline: bool = False
) -> ModelChoice | MissingModel:
    """Return the model that is meant, or the reason why it cannot be had."""
    config = wanted.config
    provider = _find_provider(wanted, models, environ)
    if provider == "scripted":
        if config.name is None:
            raise ConfigError("--model scripted: names no file", remedy="Write scripted:FILE")
        return ModelChoice("scripted", config.name, room=config.room)
    if offline:
        return MissingModel(f"{provider or AUTO}:{config.name or AUTO}", OFFLINE)
    if provider is None:
        return MissingModel(
            AUTO, f"no model key is set ({', '.join(it.key for it in HOSTED.values())})"
        )
    if provider == "command":
        program = (config.command or [""])[0].rpartition("/")[2]
        return _choice(config, provider, config.name or program, None, None)
    name = config.name or HOSTED[provider].model
    variable = config.key_env or HOSTED[provider].key
    base_url = _choose_base_url(wanted, provider, models, environ)
    key = _read_key(environ, variable)
    if not key and (config.key_env or base_url is None):
        return MissingModel(f"{provider}:{name}", f"no key for {provider} is set ({variable})")
    return _choice(config, provider, name, key or None, base_url)


def _choice(
    config: ModelConfig, provider: Provider, name: str, key: str | None, base_url: str | None
) -> ModelChoice:
    command = tuple(config.command or ())
    same = ("temperature", "thinking", "max_output_tokens", "timeout", "room", "answer")
    options = {one: getattr(config, one) for one in same}
    return ModelChoice(provider, name, key, base_url, command=command, **options)


def _find_provider(
    wanted: WantedModel, models: ModelsConfig, environ: Mapping[str, str]
) -> Provider | None:
    name = wanted.config.provider
    if name == AUTO:
        if wanted.config.base_url or models.base_url:
            return "openai"
        return next((it for it, wiring in HOSTED.items() if _read_key(environ, wiring.key)), None)
    provider = _PROVIDERS.get(name)
    if provider is None or (provider == "scripted" and not wanted.script):
        names = [it for it in (AUTO, *_PROVIDERS) if it != "scripted"]
        raise ConfigError(
            f"{wanted.place} names the provider {name!r}, which is not known",
            remedy=f"Use one of {', '.join(names)}, or --model scripted:FILE",
        )
    return provider


def _choose_base_url(
    wanted: WantedModel, provider: Provider, models: ModelsConfig, environ: Mapping[str, str]
) -> str | None:
    """Return the model's own address, or that of the section, or that of the environment."""
    if wanted.config.base_url is not None:
        return require_safe_url(wanted.config.base_url, f"{wanted.place}.base_url")
    if models.base_url is not None and provider == "openai":
        return require_safe_url(models.base_url, "models.base_url")
    if models.base_url is not None and wanted.place == "models.default":
        raise ConfigError(
            f"models.base_url is set, but models.default.provider names {provider}",
            why="It is the address of OpenAI-compatible models and would be passed over silently",
            remedy="Name the address as models.default.base_url, or the provider openai",
        )
    variable = HOSTED[provider].address or ""
    address = environ.get(variable, "").strip()
    return require_safe_url(address, variable) if address else None


def _read_key(environ: Mapping[str, str], variable: str) -> str:
    key = environ.get(variable, "").strip()
    if key and not (key.isascii() and key.isprintable()):
        raise ConfigError(
            f"{variable} holds characters that no key has",
            why="It was copied with a line break or a typographic character",
            remedy="Set it again",
        )
    return key


class ChosenModel:
    """Goes by its choice; how it is asked, and what that costs, is what differs."""

    def __init__(self, choice: ModelChoice) -> None:
        self._choice = choice
        self.name = str(choice)
        self.identity = choice.identity
        self.room = choice.room
