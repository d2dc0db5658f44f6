"""The providers' own libraries, each imported when it is first needed and each optional."""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import Mapping
from functools import cache

import httpx2
from pydantic_ai.models import Model

from prjury.models.choose import ModelChoice
from prjury.models.wrappers import not_installed, refuse_size
from prjury.ports.messages import ModelError

_OK = 200
_FIRST_ERROR, _LAST_ERROR = 400, 599

#: What the ``type``, ``code`` or ``status`` of an error means, in lower case.
_MEANING: Mapping[str, int] = {
    "overloaded": 503,
    "overloaded_error": 529,
    "server_is_overloaded": 503,
    "service_unavailable": 503,
    "unavailable": 503,
    "server_error": 500,
    "internal_server_error": 500,
    "api_error": 500,
    "internal": 500,
    "timeout_error": 504,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "too_many_requests": 429,
    "resource_exhausted": 429,
    "insufficient_quota": 429,
    "authentication_error": 401,
    "invalid_api_key": 401,
}


def find_real_status(status: int, body: bytes) -> int:
    """Return the status that a response means: an error's in the body of a 200, else its own."""
    if status != _OK or b'"error"' not in body:
        return status
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return status
    error = value.get("error") if isinstance(value, dict) else None
    words = (
        [error.get(key) for key in ("code", "status", "type")] if isinstance(error, dict) else []
    )
    for word in [error, *words]:
        code = _MEANING.get(word.lower(), word) if isinstance(word, str) else word
        text = str(code)
        number = int(text) if re.fullmatch("[1-9][0-9][0-9]", text) else 0
        if _FIRST_ERROR <= number <= _LAST_ERROR:
            return number
    return status


#: Bytes of a response. JSON escapes and a provider's envelope take more room than the reply itself.
BODY_LIMIT = 1024 * 1024


def make_http_client(seconds: float) -> httpx2.AsyncClient:
    """Make a client for one conversation; each phase of a request may take so many seconds."""
    return httpx2.AsyncClient(
        transport=UncompressedCappedTransport(
            httpx2.AsyncHTTPTransport(verify=load_certificates(), trust_env=False)
        ),
        timeout=max(seconds, 0.001),
        follow_redirects=False,
        trust_env=False,
    )


@cache
def load_certificates() -> ssl.SSLContext:
    """Load the certificates that servers are checked by, which takes a while."""
    return httpx2.create_ssl_context(trust_env=False)


class UncompressedCappedTransport(httpx2.AsyncBaseTransport):
    """Stops reading a response that is longer than `BODY_LIMIT`, and unmasks errors."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        request.headers["accept-encoding"] = "identity"
        request.headers.pop("cookie", None)
        response = await self._inner.handle_async_request(request)
        if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
            await response.aclose()
            raise ModelError(
                "The model server sent a compressed reply although it was told not to",
                "provider_error",
            )
        length = response.headers.get("content-length", "")
        if length.isdecimal() and int(length[:20]) > BODY_LIMIT:
            await response.aclose()
            raise refuse_size()
        body = await _read_capped_body(response)
        return httpx2.Response(
            find_real_status(response.status_code, body),
            headers=response.headers,
            stream=httpx2.ByteStream(body),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        await self._inner.aclose()


async def _read_capped_body(response: httpx2.Response) -> bytes:
    """Return the whole body; raise for one that is too long."""
    body = bytearray()
    try:
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) > BODY_LIMIT:
                raise refuse_size()
    finally:
        await response.aclose()
    return bytes(body)


_OPENAI = "https://api.openai.com/v1"
_ANTHROPIC = "https://api.anthropic.com"
_GOOGLE = "https://generativelanguage.googleapis.com"


def make_model(choice: ModelChoice, client: httpx2.AsyncClient) -> Model:
    """The provider's model, spoken to through this client only.

    Raises:
        ModelError: when the provider's library is not installed.
    """
    makers = {"openai": _make_openai, "anthropic": _anthropic, "google": _make_google}
    try:
        return makers[choice.provider](choice, client)
    except ImportError:
        raise not_installed(choice.provider) from None


# Addresses and keys are always handed over: what is left out, the libraries read from variables of
# the environment that we did not look at. A server that wants no key still gets a header, for the
# libraries insist on one.
_NO_KEY = "none"


def _make_openai(choice: ModelChoice, client: httpx2.AsyncClient) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415 - optional
    from pydantic_ai.profiles.openai import OpenAIModelProfile  # noqa: PLC0415
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider  # noqa: PLC0415

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


def _make_google(choice: ModelChoice, client: httpx2.AsyncClient) -> Model:
    from google.genai.client import Client  # noqa: PLC0415 - optional
    from google.genai.types import HttpOptions  # noqa: PLC0415
    from pydantic_ai.models.google import GoogleModel  # noqa: PLC0415
    from pydantic_ai.providers.google import GoogleProvider  # noqa: PLC0415

    # Given none, the library reads all certificates twice for clients of its own, unused here.
    trust = {"verify": load_certificates(), "ssl": load_certificates()}
    options = HttpOptions(
        base_url=choice.base_url or _GOOGLE,
        httpx_async_client=client,
        timeout=round((client.timeout.read or 1.0) * 1000),
        client_args=trust,
        async_client_args=trust,
    )
    google = Client(vertexai=False, api_key=choice.key or _NO_KEY, http_options=options)
    return GoogleModel(choice.name, provider=GoogleProvider(client=google))
