"""From a choice to the model itself."""

from __future__ import annotations

from pathlib import Path

from prjury.models.choose import ModelChoice
from prjury.models.hosted import HostedModel
from prjury.models.scripted import ScriptedModel
from prjury.ports import ChatModel


def connect(choice: ModelChoice) -> ChatModel:
    """The model that was chosen. Nothing is contacted and no client is loaded before it is asked.

    Raises:
        UsageError: when it is a script that cannot be read.
    """
    if choice.provider == "scripted":
        return ScriptedModel.from_file(Path(choice.name))
    return HostedModel(choice)
