"""The providers' own libraries, each imported when it is first needed and each optional."""

from __future__ import annotations

import httpx2
from pydantic_ai.models import Model

from prjury.models.choose import ModelChoice
from prjury.models.transport import trusted
from prjury.ports.messages import ModelError, UnsentError

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
    return UnsentError(
        f"The client library for {provider} is not installed",
        "not_installed",
        why="Model clients are optional",
        remedy=f"Install it: pip install 'prjury[{provider}]'",
    )


# Addresses and keys are always handed over: what is left out, the libraries read from variables of
# the environment that we did not look at. A server that wants no key still gets a header, for the
# libraries insist on one.
_NO_KEY = "none"


def _openai(choice: ModelChoice, client: httpx2.AsyncClient) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415 - optional
    from pydantic_ai.profiles.openai import OpenAIModelProfile  # noqa: PLC0415
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415
    from pydantic_ai.providers.openai_compatible import (  # noqa: PLC0415
        OpenAICompatibleProvider,
    )

    key = choice.key or _NO_KEY
    # The chat templates of many local models refuse a second system message.
    profile = OpenAIModelProfile(openai_chat_supports_multiple_system_messages=False)
    if choice.base_url in {None, _OPENAI}:
        official = OpenAIProvider(base_url=_OPENAI, api_key=key, http_client=client)
        return OpenAIChatModel(choice.name, provider=official, profile=profile)
    url = choice.base_url or _OPENAI
    # Most servers know the limit of an answer by its older name only; Azure is the exception.
    profile["openai_chat_supports_max_completion_tokens"] = ".azure.com/" in f"{url}/"
    other = OpenAICompatibleProvider("openai", base_url=url, api_key=key, http_client=client)
    return OpenAIChatModel(choice.name, provider=other, profile=profile)


def _anthropic(choice: ModelChoice, client: httpx2.AsyncClient) -> Model:
    from pydantic_ai.models.anthropic import AnthropicModel  # noqa: PLC0415 - optional
    from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: PLC0415

    url, key = choice.base_url or _ANTHROPIC, choice.key or _NO_KEY
    provider = AnthropicProvider(api_key=key, base_url=url, http_client=client)
    return AnthropicModel(choice.name, provider=provider)


def _google(choice: ModelChoice, client: httpx2.AsyncClient) -> Model:
    from google.genai.client import Client  # noqa: PLC0415 - optional
    from google.genai.types import HttpOptions  # noqa: PLC0415
    from pydantic_ai.models.google import GoogleModel  # noqa: PLC0415
    from pydantic_ai.providers.google import GoogleProvider  # noqa: PLC0415

    # Given none, the library reads all certificates twice for clients of its own, unused here.
    trust = {"verify": trusted(), "ssl": trusted()}
    options = HttpOptions(
        base_url=choice.base_url or _GOOGLE,
        httpx_async_client=client,
        timeout=round((client.timeout.read or 1.0) * 1000),
        client_args=trust,
        async_client_args=trust,
    )
    google = Client(vertexai=False, api_key=choice.key or _NO_KEY, http_options=options)
    return GoogleModel(choice.name, provider=GoogleProvider(client=google))
