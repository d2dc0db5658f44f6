"""The providers' own libraries, each imported when it is first needed and each optional."""

from __future__ import annotations

import httpx2
from pydantic_ai.models import Model

from prjury.dialogue import ModelError
from prjury.models.choose import ModelChoice

_OPENAI = "https://api.openai.com/v1"
_ANTHROPIC = "https://api.anthropic.com"
_GOOGLE = "https://generativelanguage.googleapis.com"


def connect(choice: ModelChoice, client: httpx2.AsyncClient) -> Model:
    """The provider's model, spoken to through this client only.

    Raises:
        ModelError: when the provider's library is not installed.
    """
    known = {"openai": _openai, "anthropic": _anthropic, "google": _google}
    try:
        return known[choice.provider](choice, client)
    except ImportError:
        raise not_installed(choice.provider) from None


def not_installed(provider: str) -> ModelError:
    """The error for a provider whose library is missing."""
    return ModelError(
        f"The client library for {provider} is not installed",
        "not_installed",
        why="Model clients are optional",
        remedy=f"Install it: pip install 'prjury[{provider}]'",
    )


# Addresses and keys are always handed over: what is left out, the libraries read from variables of
# the environment that we did not look at.


def _openai(choice: ModelChoice, client: httpx2.AsyncClient) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415 - optional
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415
    from pydantic_ai.providers.openai_compatible import (  # noqa: PLC0415
        OpenAICompatibleProvider,
    )

    # A server that wants no key still gets a header: the library insists on one.
    key = choice.key or "none"
    if choice.base_url in {None, _OPENAI}:
        official = OpenAIProvider(base_url=_OPENAI, api_key=key, http_client=client)
        return OpenAIChatModel(choice.name, provider=official)
    url = choice.base_url or _OPENAI
    other = OpenAICompatibleProvider("openai", base_url=url, api_key=key, http_client=client)
    return OpenAIChatModel(choice.name, provider=other)


def _anthropic(choice: ModelChoice, client: httpx2.AsyncClient) -> Model:
    from pydantic_ai.models.anthropic import AnthropicModel  # noqa: PLC0415 - optional
    from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: PLC0415

    provider = AnthropicProvider(api_key=choice.key, base_url=_ANTHROPIC, http_client=client)
    return AnthropicModel(choice.name, provider=provider)


def _google(choice: ModelChoice, client: httpx2.AsyncClient) -> Model:
    from pydantic_ai.models.google import GoogleModel  # noqa: PLC0415 - optional
    from pydantic_ai.providers.google import GoogleProvider  # noqa: PLC0415

    provider = GoogleProvider(api_key=choice.key, base_url=_GOOGLE, http_client=client)
    return GoogleModel(choice.name, provider=provider)
