"""One request to a provider, from prompt to reply, with every foreign failure given our name.

This module and those that it alone imports load the clients, and only when a model is asked.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Literal, TypeAlias, TypeVar, cast

import anyio.lowlevel
import httpx2
from genai_prices import Usage, calc_price
from msgspec import Struct
from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import (
    AgentRunError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelServerError,
    ModelTimeoutError,
    ModelUnavailableError,
    UserError,
)
from pydantic_ai.messages import (
    InstructionPart,
    ModelRequest,
    ModelResponse,
    TextPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings

from prjury.deadline import Deadline
from prjury.models.choose import HOSTED, ModelChoice, Provider
from prjury.models.providers import make_http_client, make_model
from prjury.models.wrappers import (
    BusyError,
    SchemaRefusedError,
    UnansweredError,
    late,
    refuse_no_answer,
)
from prjury.ports.messages import ModelError, ModelReason, Prompt, Reply


def price_of(
    choice: ModelChoice,
    input_tokens: int,
    output_tokens: int,
    *,
    cache_read: int = 0,
    cache_written: int = 0,
) -> float | None:
    """Return US dollars, None where no price is known; cached tokens are input tokens too."""
    usage = Usage(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cache_read_tokens=cache_read,
        cache_write_tokens=cache_written,
    )
    try:
        if choice.base_url:
            cost = calc_price(usage, choice.name, provider_api_url=choice.base_url)
        else:
            cost = calc_price(usage, choice.name, provider_id=choice.provider)
    except (LookupError, ValueError):
        return None
    return float(cost.total_price)


_FILTERED = frozenset({"content_filter", "content_policy_violation"})
_FIRST_CLIENT_ERROR = 400
_FIRST_SERVER_ERROR = 500
#: Statuses that pass by waiting although they are no server errors: too slow, too early.
_PASSING = frozenset({408, 425})
#: What servers answer to a request whose form they do not take.
_FORM_REFUSED = frozenset({400, 415, 422})


class _Words(Struct, frozen=True):
    """How a kind of failure is worded; ``{status}`` becomes `` (status 503)`` or nothing."""

    reason: ModelReason
    what: str
    why: str = ""
    remedy: str = ""
    busy: bool = False


_FAILING = _Words("provider_error", "The model server fails{status}", busy=True)

#: From the particular to the general: the first that fits is taken.
_TABLE: Mapping[type[ModelAPIError], _Words] = {
    ModelAuthenticationError: _Words(
        "unauthorized",
        "The model server does not accept the key{status}",
        "The key is wrong, expired, or may not use this model",
        "Check the key and the model's name",
    ),
    ModelQuotaExceededError: _Words(
        "rate_limited", "The account's quota is used up{status}", "", "Check the billing"
    ),
    ModelNotFoundError: _Words(
        "provider_error",
        "The model server knows no such model or address{status}",
        "",
        "Check the model's name and the base URL",
    ),
    ModelContextWindowExceededError: _Words(
        "provider_error", "The prompt is longer than the model can read"
    ),
    ModelRateLimitError: _Words(
        "rate_limited", "The model server takes no more requests{status}", busy=True
    ),
    ModelUnavailableError: _FAILING,
    ModelServerError: _FAILING,
    ModelTimeoutError: _Words("timeout", "The model did not answer in time"),
    ModelConnectionError: _Words(
        "unreachable",
        "The model server cannot be reached",
        "There is no network, or the address is wrong; proxies of the environment are not used",
        "Check the network and the address",
    ),
}
_FILTER = _Words("content_filter", "The provider's content filter stopped the request")
_REFUSED = _Words("provider_error", "The model server refused the request{status}")
_STRANGE = _Words("provider_error", "The model server did not answer as a chat model does")
_ELSEWHERE = _Words(
    "provider_error",
    "The model server sends elsewhere, and that is not followed",
    "",
    "Name the final address as the base URL",
)


def translate_error(error: Exception, *, with_schema: bool) -> ModelError:
    for link in _chain(error):
        if isinstance(link, ModelError):
            return link
    if isinstance(error, UserError) and with_schema:
        # The library knows without asking that this server or model takes no such schema.
        return SchemaRefusedError(_REFUSED.what.format(status=""), _REFUSED.reason)
    if not isinstance(error, ModelAPIError):
        return ModelError(_STRANGE.what, _STRANGE.reason)
    status = error.status_code if isinstance(error, ModelHTTPError) else None
    words = _choose_error_words(error, status)
    what = words.what.format(status=f" (status {status})" if status else "")
    if words.busy:
        busy = BusyError(what, words.reason)
        busy.status = status
        busy.after = error.retry_after
        return busy
    if words is _REFUSED and with_schema and status in (None, *_FORM_REFUSED):
        return SchemaRefusedError(what, words.reason)
    kind = ModelError if status is None else UnansweredError
    return kind(what, words.reason, why=words.why, remedy=words.remedy)


def _choose_error_words(error: ModelAPIError, status: int | None) -> _Words:
    if error.provider_error_code in _FILTERED:
        return _FILTER
    for kind, words in _TABLE.items():
        if isinstance(error, kind):
            return words
    if isinstance(error, ModelRequestRejectedError) and status is None:
        return _REFUSED  # by the library, which knows what the server would say
    if status is None:
        statuses = [getattr(link, "status_code", None) for link in _chain(error)]
        redirected = any(isinstance(it, int) and it < _FIRST_CLIENT_ERROR for it in statuses)
        return _ELSEWHERE if redirected else _STRANGE
    passing = status >= _FIRST_SERVER_ERROR or status in _PASSING
    return _FAILING if passing else _REFUSED


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


T = TypeVar("T")

#: How a reply's shape is asked for: a JSON Schema that binds, or JSON with the schema in words.
Mode: TypeAlias = Literal["schema", "json"]

#: Seconds beyond the deadline in which a cancelled request may close its connection.
_GRACE = 0.25

#: Settings that only one provider wants. Anthropic caches what it is asked to: the instructions
#: up to the end of their stable part. And it wants a limit for an answer with the thinking before
#: it; from about 21,000 tokens on its library streams the answer.
_OF_PROVIDER: Mapping[str, Mapping[str, object]] = {
    "anthropic": {"anthropic_cache_instructions": True, "max_tokens": 20_000}
}

#: What a library knows of models that take no temperature.
_NO_TEMPERATURE = (
    "thinking_always_enabled",
    "thinking_enabled_by_default",
    "openai_supports_reasoning",
    "anthropic_disallows_sampling_settings",
)


def request_reply(choice: ModelChoice, prompt: Prompt, mode: Mode, deadline: Deadline) -> Reply:
    try:
        response = run_until(lambda: _send_request(choice, prompt, mode, deadline), deadline)
    except (AgentRunError, UserError, httpx2.HTTPError, ModelError) as error:
        # The chain is cut: the foreign error holds headers and the body of the response.
        raise translate_error(error, with_schema=mode == "schema") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        # The libraries build their values without checking what came over the wire.
        raise ModelError("The model server's answer cannot be read", "provider_error") from None
    return _read_reply(response, choice)


def load(providers: Iterable[Provider]) -> None:
    """Build a model and sleep once, which loads whatever the libraries put off until then."""
    asyncio.run(anyio.lowlevel.checkpoint())
    for provider in providers:
        choice = ModelChoice(provider, HOSTED[provider].model)
        with suppress(ModelError):  # the first question reports which library is missing
            make_model(choice, make_http_client(1.0))


def run_until(work: Callable[[], Awaitable[T]], deadline: Deadline) -> T:
    """Return the result of the work, in a thread of its own: name resolution cannot be ended."""
    finished: list[asyncio.Task[T]] = []

    async def run() -> None:
        task = asyncio.ensure_future(work())
        await asyncio.wait({task}, timeout=deadline.remaining)
        if task.done():
            finished.append(task)

    thread = threading.Thread(target=lambda: asyncio.run(run()), name="model", daemon=True)
    thread.start()
    thread.join(deadline.remaining + _GRACE)
    if not finished:
        raise late()
    return finished[0].result()


async def _send_request(
    choice: ModelChoice, prompt: Prompt, mode: Mode, deadline: Deadline
) -> ModelResponse:
    async with make_http_client(deadline.remaining) as client:
        model = make_model(choice, client)
        return await model_request(
            model,
            [ModelRequest(parts=[UserPromptPart(prompt.user)])],
            model_settings=_make_settings(model, choice),
            model_request_parameters=_make_parameters(model, prompt, mode),
        )


def _make_settings(model: Model, choice: ModelChoice) -> ModelSettings:
    """Return settings: retries are ours; the temperature is 0 wherever the model has one."""
    settings: dict[str, object] = {"max_retries": 0, **_OF_PROVIDER.get(choice.provider, {})}
    if choice.max_output_tokens:
        settings["max_tokens"] = choice.max_output_tokens
    knows = model.profile.get("supports_thinking", False)
    if choice.thinking and knows:
        settings["thinking"] = False if choice.thinking == "off" else choice.thinking
    elif choice.thinking not in {None, "off"} and choice.provider == "openai":
        # The library does not know the models of other servers; the operator does.
        settings["openai_reasoning_effort"] = choice.thinking
    thinks = knows and choice.thinking not in {None, "off"}
    if not thinks and not any(model.profile.get(key) for key in _NO_TEMPERATURE):
        settings["temperature"] = choice.temperature or 0.0
    return cast("ModelSettings", settings)


def _make_parameters(model: Model, prompt: Prompt, mode: Mode) -> ModelRequestParameters:
    binding = mode == "schema" and model.profile.get("supports_json_schema_output", False)
    # What is the same in every run comes first, so that providers need not read it again.
    instructions = [InstructionPart(prompt.system)] if prompt.system else []
    if prompt.run:
        instructions.append(InstructionPart(prompt.run, dynamic=True))
    if not prompt.schema:
        return ModelRequestParameters(instruction_parts=instructions or None, output_mode="text")
    return ModelRequestParameters(
        instruction_parts=instructions,
        output_mode="native" if binding else "prompted",
        output_object=OutputObjectDefinition(
            json_schema=dict(prompt.schema), name="reply", strict=True
        ),
    )


def _read_reply(response: ModelResponse, choice: ModelChoice) -> Reply:
    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    used = response.usage
    tokens_in, tokens_out = max(0, used.input_tokens), max(0, used.output_tokens)
    # Tokens from the provider's cache are input tokens too.
    read = min(max(0, used.cache_read_tokens), tokens_in)
    written = min(max(0, used.cache_write_tokens), tokens_in - read)
    # A server that does not say what it used did not work for nothing.
    price = price_of(choice, tokens_in, tokens_out, cache_read=read, cache_written=written)
    usd = price if tokens_in else None
    reply = Reply(text, response.model_name or choice.name, tokens_in, tokens_out, usd)
    details = response.provider_details or {}
    refused = "refusal" in details or details.get("finish_reason") == "refusal"
    if response.finish_reason == "content_filter" and refused:
        raise ModelError("The model refused to answer", "refused", spent=reply)
    if response.finish_reason == "content_filter":
        raise ModelError(
            "The provider's content filter stopped the reply", "content_filter", spent=reply
        )
    if response.finish_reason == "length":
        raise ModelError("The model's reply is cut off", "truncated", spent=reply)
    refuse_no_answer(text, reply)
    return reply
