"""A model of a named provider, for judges in a program of one's own."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from concurrent.futures import TimeoutError as LateError
from itertools import count
from typing import TYPE_CHECKING

from msgspec.structs import asdict, replace

from prjury.deadline import Deadline
from prjury.jury.context import ExecutionStatus
from prjury.jury.library.execution import output_of, perform, usage_of
from prjury.jury.threads import run_in_thread
from prjury.models.wrappers import late, refuse_no_answer
from prjury.ports.messages import ModelError, Prompt, Reply

if TYPE_CHECKING:
    from prjury.ports import ChatModel

_NUMBERS = count(1)


class TextModel:
    """Asks a function from text to text; what it returns may be awaitable, or a response."""

    def __init__(self, function: Callable[[str], object], room: int = 30_000) -> None:
        self._function = function
        self.name = "model"
        self.identity = f"function {next(_NUMBERS)}"  # its answers are nobody else's
        self.room = room

    def price(self, input_tokens: int, output_tokens: int) -> float | None:  # noqa: ARG002
        """Return nothing known."""
        return None

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:
        """Return the reply, with the tokens that the response names."""
        try:
            done = run_in_thread(lambda: perform(lambda: self._function(prompt.text))).result(
                deadline.remaining
            )
        except LateError:
            raise late() from None
        if done.status is ExecutionStatus.TIMEOUT:
            raise late()
        if done.status is not ExecutionStatus.SUCCESS:
            raise ModelError(f"The model failed: {done.error}", "provider_error")
        text = output_of(done.result)
        if text is None:
            kind = type(done.result).__name__
            raise ModelError(f"The model returned a {kind} without a text", "provider_error")
        refuse_no_answer(text)
        usage = usage_of(done.result)
        sent, received = (int(usage.get(key, 0)) for key in ("input_tokens", "output_tokens"))
        return Reply(text, self.name, sent, received, usage.get("usd"))


class ModelClient:
    """A model by name: ``ModelClient("anthropic:claude-sonnet-5-5")``.

    Each member of a jury may have its own. The client library is an extra of the package, and is
    loaded when the model is asked. A busy server is asked again, three times in all.

    Args:
        name: ``provider:model``, ``provider`` alone for its default model, ``auto`` for the
            provider whose key is there, ``command:PROGRAM ARGS``, or ``scripted:FILE``.
        timeout: seconds for one answer.
        options: more of a model's options in the policy, such as ``temperature``, ``thinking``,
            ``base_url`` and ``key_env``.
        environ: the environment that holds the keys, unless it is this process's own.

    Raises:
        ConfigError: for a provider that is not known, an option that does not fit, or a key that is
            not set.
        UsageError: for several models, or a script that cannot be read.
    """

    def __init__(
        self,
        name: str,
        *,
        timeout: float = 120.0,
        environ: Mapping[str, str] | None = None,
        **options: object,
    ) -> None:
        arguments = {**options, "timeout": timeout}
        self._timeout = timeout
        self.model = _make_model(name, arguments, os.environ if environ is None else environ)

    @property
    def name(self) -> str:
        """``provider:model``."""
        return self.model.name

    def __repr__(self) -> str:
        return f"ModelClient({self.name!r})"

    def ask(self, prompt: str, /) -> Reply:
        """The model's answer, with its tokens and its price in US dollars, if that is known.

        Raises:
            ModelError: unreachable, out of time, not authorised, or without a reply.
        """
        question = Prompt("", prompt, {}, "text/1")
        return self.model.ask(question, Deadline.after(self._timeout))


def _make_model(name: str, options: Mapping[str, object], environ: Mapping[str, str]) -> ChatModel:
    from prjury.errors import ConfigError, UsageError  # noqa: PLC0415 - importing the package costs nothing
    from prjury.models.choose import MissingModel, choose_model  # noqa: PLC0415 - as above
    from prjury.models.panel import make_chat_model, parse_model_spec  # noqa: PLC0415 - as above
    from prjury.policy.load import read_options  # noqa: PLC0415 - as above
    from prjury.policy.schema import ModelConfig, ModelsConfig  # noqa: PLC0415 - as above

    specs = parse_model_spec(name, "ModelClient", ModelsConfig(), allow_script=True)
    if len(specs) != 1:
        raise UsageError(f"{name} names several models", remedy="Make a client for each")
    try:
        config = read_options({**asdict(specs[0].config), **options}, ModelConfig)
    except ValueError as error:
        raise ConfigError(f"ModelClient: {error}") from None
    choice = choose_model(replace(specs[0], config=config), ModelsConfig(), environ)
    if isinstance(choice, MissingModel):
        raise ConfigError(f"{name} cannot be asked: {choice.why}", remedy="Set the key")
    return make_chat_model(choice, environ)
