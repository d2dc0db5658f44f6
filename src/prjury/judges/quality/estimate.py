"""What would be asked of models, and what it would cost, before anything is spent."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from prjury.judges.quality.known_answers import remembered
from prjury.judges.quality.model_seat import InquiryInput, ModelSeat


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
        """Return what would be sent, in one round."""
        return sum(call.characters for call in self.paid)

    @property
    def input_tokens(self) -> int:
        """The same in tokens, estimated."""
        return sum(call.input_tokens for call in self.paid)

    @property
    def usd(self) -> float | None:
        """Return what one round would cost; None where a price is not known."""
        prices = [call.usd for call in self.paid]
        known = [price for price in prices if price is not None]
        return math.fsum(known) if len(known) == len(prices) else None


def planned_calls(model_seat: ModelSeat, case: InquiryInput) -> Iterator[PlannedCall]:
    """Return what this seat would be asked in the first round, as the budget counts it."""
    made = model_seat.plan(case)
    memory = model_seat.call_context.memory
    for chunk in made.chunks:
        question = model_seat.question(case, made, chunk)
        key = model_seat.key(question, chunk, model_seat.turn(0, case))
        known = remembered(memory, key, case.shown(chunk.sections), case.form.criteria)
        prompt = question.prompt
        tokens, answer = prompt.tokens, prompt.answer_tokens
        yield PlannedCall(
            model_seat.name,
            chunk.paths,
            prompt.size,
            tokens,
            answer,
            model_seat.model.price(tokens, answer),
            known is not None,
        )
