"""What the words of ``--model`` or of a judge's ``model`` option mean. Pure."""

from __future__ import annotations

import re
import shlex

from prjury.errors import ConfigError
from prjury.models.choose import AUTO, WantedModel
from prjury.policy.models import ModelConfig, ModelsConfig

#: A command and all that follows it, for its arguments may hold commas.
_COMMAND = re.compile(r"(?:^|,)\s*command:(.*)", re.DOTALL)


def names_a_program(text: str) -> bool:
    """Whether a wish is for a program to be run."""
    return _COMMAND.search(text) is not None


def parse_model_spec(
    text: str, place: str, models: ModelsConfig, *, script: bool = False
) -> list[WantedModel]:
    """The models that are named, one seat each.

    Args:
        text: ``provider:name``, a name alone, ``command:PROGRAM ARGS``, ``scripted:FILE`` or
            ``auto``; several are parted by commas, a command comes last.
        place: where it was written, for messages.
        models: whose options hold for a model that is named there, and else the default's.
        script: whether ``scripted:FILE`` may be meant.

    Raises:
        ConfigError: when nothing is named, or a command cannot be read.
    """
    command = _COMMAND.search(text)
    names = (text[: command.start()] if command else text).split(",")
    configs = [_config(name.strip(), models) for name in names if name.strip()]
    if command:
        configs.append(_command(command[1], place, models.default))
    if not configs:
        raise ConfigError(f"{place} names no model", remedy="Write provider:name, or auto")
    return [WantedModel(config, place, script) for config in configs]


def _config(text: str, models: ModelsConfig) -> ModelConfig:
    """A listed model as it is listed; any other with the default's options.

    Address and key go with the provider that they were written down for, and with no other. A name
    alone means a model at the default's address, where it has one.
    """
    if text == AUTO:
        return models.default
    provider, colon, name = text.partition(":")
    if not colon:
        provider, name = (models.default.provider if models.default.base_url else AUTO), text
    for listed in (models.default, *models.fallback, *models.panel):
        if (listed.provider, listed.name) == (provider, name or None):
            return listed
    changes: dict[str, object] = {"provider": provider, "name": name or None}
    if provider != models.default.provider:
        changes |= {"base_url": None, "key_env": None}
    return models.default.model_copy(update={**changes, "command": None, "answer": None})


def _command(text: str, place: str, default: ModelConfig) -> ModelConfig:
    try:
        argv = shlex.split(text)
    except ValueError as error:
        raise ConfigError(f"{place} holds a command that cannot be read: {error}") from None
    if not argv:
        raise ConfigError(f"{place} command: names no program", remedy="Write command:PROGRAM ARGS")
    changes = {"provider": "command", "name": None, "command": argv, "answer": None}
    return default.model_copy(update={**changes, "base_url": None, "key_env": None})
