"""What would be asked of models, and what it would cost, before anything is spent."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from msgspec import Struct, field

from prjury.judges.quality.known_answers import key_of, recall
from prjury.judges.quality.model_seat import InquiryInput, ModelSeat


class PlannedCall(Struct, frozen=True):
    """One question that would be put to a model; ``usd`` is None where the price is not known."""

    model: str
    paths: tuple[str, ...]
    characters: int
    input_tokens: int
    output_tokens: int
    usd: float | None
    cached: bool = False


class Forecast(Struct, frozen=True):
    """What one judge would ask, in so many rounds at most, repairs and a chair not counted."""

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
        """The characters that would be sent, in one round."""
        return sum(call.characters for call in self.paid)

    @property
    def input_tokens(self) -> int:
        """The same in tokens, estimated."""
        return sum(call.input_tokens for call in self.paid)

    @property
    def usd(self) -> float | None:
        """US dollars for one round; None where a price is not known."""
        prices = [call.usd for call in self.paid if call.usd is not None]
        return math.fsum(prices) if len(prices) == len(self.paid) else None


def plan_calls(model_seat: ModelSeat, case: InquiryInput) -> Iterator[PlannedCall]:
    """Iterate over what this seat would be asked in the first round, as the budget counts it."""
    layout, model = model_seat.plan(case), model_seat.model
    turn = model_seat.number_turn(case, 0)
    for chunk in layout.chunks:
        question = case.form.ask(chunk, layout, model_seat.calls.word)
        key = key_of(model.identity, question, turn)
        answers = recall(model_seat.calls.memory, key, question.shown, case.form.criteria)
        prompt = question.prompt
        tokens, answer = prompt.tokens, prompt.answer_tokens
        price = model.price(tokens, answer)
        yield PlannedCall(
            model_seat.name, chunk.paths, prompt.size, tokens, answer, price, answers is not None
        )
