"""From a choice to the model itself."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from prjury.models.budget import Budget, BudgetedModel
from prjury.models.choose import ModelChoice
from prjury.models.hosted import HostedModel
from prjury.models.rate_limit import RateLimit, RateLimitedModel
from prjury.models.retry import RetryingModel
from prjury.models.scripted import ScriptedModel
from prjury.ports import ChatModel

_NOTHING: Mapping[str, str] = {}


def connect(
    choice: ModelChoice,
    environ: Mapping[str, str] = _NOTHING,
    *,
    budget: Budget | None = None,
    pace: RateLimit | None = None,
) -> ChatModel:
    """The model that was chosen. Nothing is contacted and no client is loaded before it is asked.

    Each try of a hosted model waits for its turn and is counted; the pauses between them hold up
    nobody else.

    Args:
        choice: which model.
        environ: what a command may see of the operator's environment.
        budget: what may be spent; without one nothing is counted.
        pace: how fast it is asked; without one as fast as anybody asks.

    Raises:
        UsageError: when it is a script that cannot be read.
    """
    model = _bare(choice, environ)
    if budget is not None:
        model = BudgetedModel(model, budget, choice.max_output_tokens)
    if choice.provider == "scripted":
        return model
    if pace is not None:
        model = RateLimitedModel(model, pace)
    return RetryingModel(model)


def _bare(choice: ModelChoice, environ: Mapping[str, str]) -> ChatModel:
    if choice.provider == "scripted":
        return ScriptedModel.from_file(Path(choice.name), choice.room)
    if choice.provider == "command":
        from prjury.models.command import CommandModel  # noqa: PLC0415 - only where it is needed

        return CommandModel(choice, environ)
    return HostedModel(choice)
