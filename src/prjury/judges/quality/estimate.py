"""What would be asked of models, and what it would cost, before anything is spent."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from prjury.judges.quality.known_answers import remembered
from prjury.judges.quality.model_seat import InquiryInput, ModelSeat
from prjury.judges.quality.prompt_input import Chunk
from prjury.ports.messages import Prompt


@dataclass(frozen=True)
class PlannedCall:
    """One question that would be put to a model.

    Attributes:
        characters: of instructions and material.
        usd: US dollars; None where the price is not known.
        cached: whether the answer is known already, so that nobody is asked.
    """

    model: str
    paths: tuple[str, ...]
    characters: int
    input_tokens: int
    output_tokens: int
    usd: float | None
    cached: bool = False


@dataclass(frozen=True)
class Forecast:
    """What one judge would ask.

    Attributes:
        rounds: how often every question would be asked at most, repairs and a chair not counted.
        nothing_because: why nobody would be asked, None where somebody would.
        refusal: why the budget does not allow it, None where it does.
        absent: the seats that would not answer, by name, and why.
    """

    judge: str
    calls: tuple[PlannedCall, ...] = ()
    rounds: int = 1
    nothing_because: str | None = None
    refusal: str | None = None
    absent: Mapping[str, str] = field(default_factory=dict)

    @property
    def paid(self) -> tuple[PlannedCall, ...]:
        """The calls whose answers are not known."""
        return tuple(call for call in self.calls if not call.cached)

    @property
    def characters(self) -> int:
        """What would be sent, in one round."""
        return sum(call.characters for call in self.paid)

    @property
    def input_tokens(self) -> int:
        """The same in tokens, estimated."""
        return sum(call.input_tokens for call in self.paid)

    @property
    def usd(self) -> float | None:
        """What one round would cost; None where a price is not known."""
        prices = [call.usd for call in self.paid]
        known = [price for price in prices if price is not None]
        return math.fsum(known) if len(known) == len(prices) else None


def planned_calls(model_seat: ModelSeat, case: InquiryInput) -> Iterator[PlannedCall]:
    """What this seat would be asked about the case, in the first round."""
    made = model_seat.plan(case)
    for chunk in made.chunks:
        question = model_seat.question(case, made, chunk)
        key = model_seat.key(question, chunk, model_seat.turn(0, case))
        known = _is_known(model_seat, case, key, chunk)
        yield planned_call(model_seat, question.prompt, chunk.paths, cached=known)


def planned_call(
    model_seat: ModelSeat, prompt: Prompt, paths: tuple[str, ...], *, cached: bool = False
) -> PlannedCall:
    """One question to a seat, as the budget would count it."""
    tokens, answer = prompt.tokens, prompt.answer_tokens
    price = model_seat.model.price(tokens, answer)
    return PlannedCall(model_seat.name, paths, prompt.size, tokens, answer, price, cached)


def _is_known(model_seat: ModelSeat, case: InquiryInput, key: str, chunk: Chunk) -> bool:
    shown = case.shown(chunk.sections)
    return remembered(model_seat.call_context.memory, key, shown, case.form.criteria) is not None
