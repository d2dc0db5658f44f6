"""A model of a named provider, for judges in a program of one's own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from prjury.deadline import Deadline
from prjury.ports.messages import Prompt, Reply

if TYPE_CHECKING:
    from prjury.ports import ChatModel


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
        given = {**options, "timeout": timeout}
        self._timeout = timeout
        self.model = _connected(name, given, os.environ if environ is None else environ)

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
        asked = Prompt("", prompt, {}, "text/1")
        return self.model.ask(asked, Deadline.after(self._timeout))


def _connected(name: str, options: Mapping[str, object], environ: Mapping[str, str]) -> ChatModel:
    from pydantic import ValidationError  # noqa: PLC0415 - importing the package costs nothing

    from prjury.errors import ConfigError, UsageError  # noqa: PLC0415 - as above
    from prjury.models.choose import MissingModel, choose_model  # noqa: PLC0415 - as above
    from prjury.models.connect import connect  # noqa: PLC0415 - as above
    from prjury.models.panel import parse_model_spec  # noqa: PLC0415 - as above
    from prjury.policy.models import ModelConfig, ModelsConfig  # noqa: PLC0415 - as above

    wanted = parse_model_spec(name, "ModelClient", ModelsConfig(), script=True)
    if len(wanted) != 1:
        raise UsageError(f"{name} names several models", remedy="Make a client for each")
    given = {**wanted[0].config.model_dump(exclude_none=True), **options}
    try:
        config = ModelConfig.model_validate(given)
    except ValidationError as error:
        what = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, what["loc"])) or name
        raise ConfigError(f"ModelClient: {place}: {what['msg']}") from None
    choice = choose_model(replace(wanted[0], config=config), ModelsConfig(), environ)
    if isinstance(choice, MissingModel):
        raise ConfigError(f"{name} cannot be asked: {choice.why}", remedy="Set the key")
    return connect(choice, environ)
