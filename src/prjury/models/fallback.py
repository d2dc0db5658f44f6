"""Models that stand in for one another."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from prjury.deadline import Deadline
from prjury.models.wrapped import WrappedModel
from prjury.ports import ChatModel
from prjury.ports.messages import ModelError, Prompt, Reply

#: Failures of the way to a model, after which another may do better. A refusal, a cut-off reply
#: and a spent budget are answers: to ask around until somebody says yes would be no judgment.
_OF_THE_WAY = frozenset(
    {
        "rate_limited",
        "unreachable",
        "unauthorized",
        "timeout",
        "provider_error",
        "not_installed",
    }
)


class FallbackModel(WrappedModel):
    """Asks the first model, and the next one where there was no way to the one before.

    It goes by the name of the first, and by the price of the first; its room is that of the
    smallest.

    Args:
        models: at least one, in the order in which they are asked.
    """

    def __init__(self, models: Sequence[ChatModel]) -> None:
        super().__init__(models[0])
        self._models = tuple(models)

    @property
    def identity(self) -> str:
        """The identities of all, for each of them may have answered."""
        return json.dumps([model.identity for model in self._models])

    @property
    def room(self) -> int:
        """Tokens of material that fit before each of them."""
        return min(model.room for model in self._models)

    def ask(self, prompt: Prompt, deadline: Deadline) -> Reply:
        """The first reply that can be had.

        Each model gets an equal share of the time that is left, so that one that hangs leaves time
        for those after it.

        Raises:
            ModelError: the last failure, with those before it, when nobody can be asked, or the
                first one that is no failure of the way.
        """
        failed: list[tuple[str, ModelError]] = []
        for place, model in enumerate(self._models):
            share = deadline.remaining / (len(self._models) - place)
            try:
                reply = model.ask(prompt, deadline.within(share))
            except ModelError as error:
                if error.reason not in _OF_THE_WAY:
                    raise
                failed.append((model.name, error))
                if not deadline.remaining:
                    break
            else:
                return replace(reply, stand_in=place > 0 or reply.stand_in)
        raise _told(failed)


def _told(failed: Sequence[tuple[str, ModelError]]) -> ModelError:
    """The last failure; where others came before it, they are named."""
    *before, (_, last) = failed
    if not before:
        return last
    tried = ", ".join(f"{name} ({error.reason})" for name, error in before)
    last.what = f"{last.what.rstrip('.')}; {len(failed)} models were asked, before it {tried}"
    return last
