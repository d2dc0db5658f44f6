"""One request to a provider, from prompt to reply, with every foreign failure given our name.

This module and those that it alone imports load the clients, and only when a model is asked.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Literal, TypeAlias, TypeVar, cast

import anyio.lowlevel
import httpx2
from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import AgentRunError, UserError
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
from pydantic_ai.usage import RequestUsage

from prjury.deadline import Deadline
from prjury.models import transport
from prjury.models.choose import DEFAULT_NAMES, ModelChoice, Provider
from prjury.models.failures import translate_error
from prjury.models.price import price
from prjury.models.providers import connect
from prjury.ports.messages import ModelError, Prompt, Reply

T = TypeVar("T")

#: How a reply's shape is asked for: a JSON Schema that binds, or JSON with the schema in words.
Mode: TypeAlias = Literal["schema", "json"]

#: Bytes of a reply's text; more than this is not read as an answer.
REPLY_LIMIT = 64 * 1024

#: Seconds beyond the deadline in which a cancelled request may close its connection.
_GRACE = 0.25

#: What one provider alone wants to be told. Anthropic caches what it is asked to: the instructions
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


def converse(choice: ModelChoice, prompt: Prompt, mode: Mode, deadline: Deadline) -> Reply:
    """The model's reply.

    Raises:
        BusyError: when the server asks to come back later.
        SchemaRefusedError: when it does not take a JSON Schema.
        ModelError: when there is no reply, or none that may be read as an answer.
    """
    try:
        response = in_time(lambda: _request(choice, prompt, mode, deadline), deadline)
    except (AgentRunError, UserError, httpx2.HTTPError, ModelError) as error:
        # The chain is cut: the foreign error holds headers and the body of the response.
        raise translate_error(error, binding=mode == "schema") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        # The libraries build their values without checking what came over the wire.
        raise ModelError("The model server's answer cannot be read", "provider_error") from None
    return _read(response, choice)


def load(providers: Iterable[Provider]) -> None:
    """Gets ready for the first question to these providers; nothing is sent.

    To build a model once, and to sleep, loads whatever the libraries put off until then.
    """
    asyncio.run(anyio.lowlevel.checkpoint())
    for provider in providers:
        choice = ModelChoice(provider, DEFAULT_NAMES[provider])
        with suppress(ModelError):  # whoever asks is told which library is missing
            connect(choice, transport.client(1.0))


def in_time(work: Callable[[], Awaitable[T]], deadline: Deadline) -> T:
    """The result of the work; whatever it hangs in, nobody waits beyond the deadline.

    The work runs in a thread of its own, a daemon: name resolution cannot be cancelled.

    Raises:
        ModelError: when the time is over.
    """
    finished: list[asyncio.Task[T]] = []

    async def bounded() -> None:
        task = asyncio.ensure_future(_awaited(work))
        await asyncio.wait({task}, timeout=deadline.remaining)
        if task.done():
            finished.append(task)

    thread = threading.Thread(target=lambda: asyncio.run(bounded()), name="model", daemon=True)
    thread.start()
    thread.join(deadline.remaining + _GRACE)
    if not finished:
        raise ModelError("The model did not answer in time", "timeout")
    return finished[0].result()


async def _awaited(work: Callable[[], Awaitable[T]]) -> T:
    return await work()


async def _request(
    choice: ModelChoice, prompt: Prompt, mode: Mode, deadline: Deadline
) -> ModelResponse:
    async with transport.client(deadline.remaining) as client:
        model = connect(choice, client)
        return await model_request(
            model,
            [ModelRequest(parts=[UserPromptPart(prompt.user)])],
            model_settings=_settings(model, choice),
            model_request_parameters=_parameters(model, prompt, mode),
        )


def _settings(model: Model, choice: ModelChoice) -> ModelSettings:
    """Retries are ours; the temperature is 0 wherever the model has one."""
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


def _parameters(model: Model, prompt: Prompt, mode: Mode) -> ModelRequestParameters:
    binding = mode == "schema" and model.profile.get("supports_json_schema_output", False)
    # What is the same in every run comes first, so that providers need not read it again.
    instructions = [InstructionPart(prompt.system)]
    if prompt.run:
        instructions.append(InstructionPart(prompt.run, dynamic=True))
    return ModelRequestParameters(
        instruction_parts=instructions,
        output_mode="native" if binding else "prompted",
        output_object=OutputObjectDefinition(
            json_schema=dict(prompt.schema), name="reply", strict=True
        ),
    )


def _counted(reply: Reply, used: RequestUsage, choice: ModelChoice) -> Reply:
    """The reply with what it cost; tokens from the provider's cache are input tokens too."""
    tokens_in, tokens_out = max(0, used.input_tokens), max(0, used.output_tokens)
    read = min(max(0, used.cache_read_tokens), tokens_in)
    written = min(max(0, used.cache_write_tokens), tokens_in - read)
    # A server that does not say what it used did not work for nothing.
    usd = price(choice, tokens_in, tokens_out, read=read, written=written) if tokens_in else None
    return replace(reply, input_tokens=tokens_in, output_tokens=tokens_out, usd=usd)


def _read(response: ModelResponse, choice: ModelChoice) -> Reply:
    """The reply of a response that came to its proper end."""
    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    reply = _counted(Reply(text, response.model_name or choice.name), response.usage, choice)
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
    if len(text.encode(errors="replace")) > REPLY_LIMIT:
        raise transport.too_large(reply)
    if not text.strip():
        raise ModelError("The model's reply is empty", "refused", spent=reply)
    return reply
