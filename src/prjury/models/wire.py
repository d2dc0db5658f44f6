"""One request to a provider, from prompt to reply, with every foreign failure given our name.

This module and those that it alone imports load the clients, and only when a model is asked.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Literal, TypeAlias, TypeVar

import httpx2
from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import AgentRunError, UserError
from pydantic_ai.messages import (
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings

from prjury.deadline import Deadline
from prjury.dialogue import ModelError, Prompt, Reply
from prjury.models import transport
from prjury.models.choose import ModelChoice
from prjury.models.failures import translated
from prjury.models.price import price
from prjury.models.providers import connect

T = TypeVar("T")

#: How a reply's shape is asked for: a JSON Schema that binds, or JSON with the schema in words.
Mode: TypeAlias = Literal["schema", "json"]

#: Bytes of a reply's text; more than this is not read as an answer.
REPLY_LIMIT = 64 * 1024

#: Seconds beyond the deadline in which a cancelled request may close its connection.
_GRACE = 0.25
_FIRST_SERVER_ERROR = 500
_FIRST_CLIENT_ERROR = 400
_FILTERED = frozenset({"content_filter", "content_policy_violation"})


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
        raise translated(error, binding=mode == "schema") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        # The libraries build their values without checking what came over the wire.
        raise ModelError("The model server's answer cannot be read", "provider_error") from None
    return _read(response, choice)


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
        parts: list[ModelRequestPart] = [
            SystemPromptPart(prompt.system),
            UserPromptPart(prompt.user),
        ]
        return await model_request(
            model,
            [ModelRequest(parts=parts)],
            model_settings=_settings(model),
            model_request_parameters=_parameters(model, prompt, mode),
        )


def _settings(model: Model) -> ModelSettings:
    """Retries are ours; the temperature is 0 wherever the model has one."""
    thinks = ("thinking_always_enabled", "thinking_enabled_by_default", "openai_supports_reasoning")
    if any(model.profile.get(key) for key in thinks):
        return ModelSettings(max_retries=0)
    return ModelSettings(max_retries=0, temperature=0.0)


def _parameters(model: Model, prompt: Prompt, mode: Mode) -> ModelRequestParameters:
    binding = mode == "schema" and model.profile.get("supports_json_schema_output", False)
    return ModelRequestParameters(
        output_mode="native" if binding else "prompted",
        output_object=OutputObjectDefinition(
            json_schema=dict(prompt.schema), name="reply", strict=True
        ),
    )


def _read(response: ModelResponse, choice: ModelChoice) -> Reply:
    """The reply of a response that came to its proper end."""
    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    used = response.usage
    tokens_in, tokens_out = max(0, used.input_tokens), max(0, used.output_tokens)
    reply = Reply(
        text,
        response.model_name or choice.name,
        tokens_in,
        tokens_out,
        # A server that does not say what it used did not work for nothing.
        price(choice, tokens_in, tokens_out) if tokens_in else None,
    )
    details = response.provider_details or {}
    if response.finish_reason == "content_filter" and "refusal" not in details:
        raise ModelError(
            "The provider's content filter stopped the reply", "content_filter", spent=reply
        )
    if response.finish_reason == "content_filter":
        raise ModelError("The model refused to answer", "refused", spent=reply)
    if response.finish_reason == "length":
        raise ModelError("The model's reply is cut off", "truncated", spent=reply)
    if len(text.encode(errors="replace")) > REPLY_LIMIT:
        raise transport.too_large(reply)
    if not text.strip():
        raise ModelError("The model's reply is empty", "refused", spent=reply)
    return reply
