"""One model, asked about every chunk of a case by itself: as a seat, or as the chair of a panel."""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct, structs

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.judges.quality.evidence import Answers, Lines, Opinion, join_passes, speaks
from prjury.judges.quality.interview import CallContext, TaintedError, double_check_errors
from prjury.judges.quality.prompt_input import Chunk, Material, Plan, make_document, plan_chunks
from prjury.judges.quality.question import CHARACTERS_PER_TOKEN, Form, Prompts, Question
from prjury.judges.quality.votes import NO_OPINION, PassMark, decide, list_failures, prose
from prjury.jury.context import JudgmentContext
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment, Status
from prjury.jury.library.retry import RoundContext
from prjury.jury.threads import run_in_thread
from prjury.jury.voting import Ballot
from prjury.ports import ChatModel
from prjury.report.judge_facts import LeftOut, ScopeFacts


@dataclass(frozen=True)
class InquiryInput(JudgmentContext):
    """A question and all its material, as every seat of a panel gets it."""

    form: Form = field(kw_only=True)
    material: Material = field(kw_only=True)
    deadline: Deadline = field(kw_only=True)
    mark: PassMark = field(kw_only=True)
    inapplicable: Mapping[str, str] = field(default_factory=dict)
    is_flipped: bool = False
    #: By a model's identity and room: for a large change a layout takes seconds.
    plans: dict[tuple[str, int], Plan] = field(default_factory=dict, compare=False, repr=False)

    def flipped(self) -> InquiryInput:
        return replace(self, is_flipped=not self.is_flipped)


#: Chunks that are asked about at once; how many calls there are at once is the model's business.
_AT_ONCE = 32
#: Equal questions of one seat; the next seat's begin after them, those of a flipped case half-way.
_TURNS = 1000
#: Rounds of one pass; the next pass's begin after them. There are at most five passes.
_PASSES = 100


class SeatAnswer(Struct, frozen=True):
    """What became of one chunk: answers, or the reason why there are none."""

    chunk: Chunk
    answers: Answers | None = None
    trouble: CannotJudgeError | None = None


@dataclass(frozen=True)
class ModelSeat:
    """A seat, counted from 0 for each model: it reads all of a case and forms its own opinion."""

    model: ChatModel
    calls: CallContext
    seat: int = 0
    type: JudgeType = JudgeType.LLM_POWERED
    _turns: dict[bool, itertools.count[int]] = field(
        default_factory=lambda: {flipped: itertools.count() for flipped in (False, True)},
        repr=False,
        compare=False,
    )
    _votes: list[Judgment] = field(default_factory=list, repr=False, compare=False)

    @property
    def name(self) -> str:
        return f"{self.model.name}#{self.seat + 1}" if self.seat else self.model.name

    def plan(self, case: InquiryInput) -> Plan:
        whose = (self.model.identity, self.model.room)
        if whose not in case.plans:
            budget = self.model.room * CHARACTERS_PER_TOKEN - case.form.size
            case.plans[whose] = plan_chunks(case.material, max(budget, 1))
        layout = case.plans[whose]
        if case.is_flipped:
            return structs.replace(layout, chunks=tuple(chunk.reverse() for chunk in layout.chunks))
        return layout

    def judge(self, case: InquiryInput, /) -> Judgment:
        """Return the opinion on the whole case; ABSTAIN with a reason without all answers."""
        layout = self.plan(case)
        outcomes = self._ask_about_chunks(case, layout, next(self._turns[case.is_flipped]))
        lines = Lines((*layout.sections, *case.form.always))
        judgment = _decide_seat(outcomes, lines, case.mark)
        facts = _describe_scope(layout, outcomes, judgment)
        judgment = judgment.with_metadata(model=self.model.name, **facts)
        return judgment if case.is_flipped else self._vote_or_keep_failure(judgment, outcomes)

    def _vote_or_keep_failure(self, judgment: Judgment, outcomes: Sequence[SeatAnswer]) -> Judgment:
        """Return the judgment, or the failure before if a later round has no answer."""
        troubles = [outcome.trouble for outcome in outcomes if outcome.trouble is not None]
        leaked = any(isinstance(trouble, TaintedError) for trouble in troubles)
        if judgment.status is not Status.ABSTAIN or not troubles or leaked:
            self._votes.append(judgment)
            return judgment
        if not self._votes or self._votes[-1].status is not Status.FAIL:
            return judgment
        return self._votes[-1].with_metadata(no_answer_again=troubles[0].reason)

    def number_sample(self, case: InquiryInput, turn: int) -> int:
        """Return which of all equal questions to this model it is."""
        return self.seat * _TURNS + turn + case.is_flipped * _TURNS // 2

    def price_calls_by_chunk(self, case: InquiryInput) -> Iterator[PlannedCall]:
        """Iterate over what would be asked in the first round, as the budget counts it."""
        layout, turn = self.plan(case), self.number_sample(case, 0)
        for chunk in layout.chunks:
            question = case.form.fill(chunk, layout, self.calls.word)
            is_known = self.calls.recall(self.model, question, turn) is not None
            prompt = question.prompt
            tokens, answer = prompt.tokens, prompt.answer_tokens
            price = self.model.price(tokens, answer)
            yield PlannedCall(self.name, chunk.paths, prompt.size, tokens, answer, price, is_known)

    def _ask_about_chunks(self, case: InquiryInput, layout: Plan, turn: int) -> list[SeatAnswer]:
        slots = threading.Semaphore(_AT_ONCE)

        def ask_about(chunk: Chunk) -> SeatAnswer:
            question = case.form.fill(chunk, layout, self.calls.word)
            with slots:
                try:
                    answers = self._ask_and_double_check(case, question, turn)
                except CannotJudgeError as error:
                    return SeatAnswer(chunk, trouble=error)
            counting = {n: it for n, it in answers.items() if n not in case.inapplicable}
            return SeatAnswer(chunk, counting)

        if not self.calls.parallel or len(layout.chunks) == 1:
            return [ask_about(chunk) for chunk in layout.chunks]
        # The threads are daemons: a model that hangs keeps no program alive.
        waiting = [run_in_thread(partial(ask_about, chunk)) for chunk in layout.chunks]
        return [outcome.result() for outcome in waiting]

    def _ask_and_double_check(self, case: InquiryInput, question: Question, turn: int) -> Answers:
        first = self.number_sample(case, turn)
        passes = [
            self.calls.recall_or_ask(self.model, question, first + number * _PASSES, case.deadline)
            for number in range(self.calls.passes)
        ]
        answers = join_passes(passes)
        return double_check_errors(answers, question, self.model, self.calls, case.deadline)


def _decide_seat(outcomes: list[SeatAnswer], lines: Lines, mark: PassMark) -> Judgment:
    """Return a failure that is proven, whatever was not answered; a pass needs every answer."""
    answers = [outcome.answers for outcome in outcomes if outcome.answers is not None]
    troubles = [outcome.trouble for outcome in outcomes if outcome.trouble is not None]
    tainted = [trouble for trouble in troubles if isinstance(trouble, TaintedError)]
    opinion = Opinion(answers, lines) if answers and not tainted else None
    judgment = decide(opinion, mark) if opinion else None
    if judgment and (not troubles or judgment.status is Status.FAIL):
        return judgment
    trouble = (tainted or troubles)[0]
    review = (opinion or Opinion((), lines)).finding_counts
    message = prose(str(trouble))
    if len(outcomes) > 1:
        message = f"{len(troubles)} of {len(outcomes)} parts have no answer: {message}"
    checks = list_failures(opinion) if opinion else ()
    return Judgment.abstained(message, trouble.reason, checks=checks, metadata={"review": review})


def _describe_scope(layout: Plan, outcomes: list[SeatAnswer], judgment: Judgment) -> dict[str, Any]:
    silent: dict[str, str] = {}
    if judgment.score is None:
        sent = (path for outcome in outcomes for path in outcome.chunk.paths)
        silent = dict.fromkeys(sent, f"no answer: {judgment.label}")
    for outcome in outcomes:
        if outcome.trouble or not speaks(outcome.answers or {}):
            reason = outcome.trouble.reason if outcome.trouble else NO_OPINION
            silent |= dict.fromkeys(outcome.chunk.paths, f"no answer: {reason}")
    read = dict.fromkeys(section.path for section in layout.sections if section.path not in silent)
    unread = (
        *(LeftOut(path, reason) for path, reason in silent.items()),
        *(LeftOut(file.path, file.reason) for file in layout.left_out),
    )
    return {
        "sheets": {"asked": len(outcomes), "silent": sum(o.trouble is not None for o in outcomes)},
        **ScopeFacts(tuple(read), unread).to_metadata(),
    }


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
    absent: Mapping[str, str] = msgspec.field(default_factory=dict)

    @property
    def paid(self) -> tuple[PlannedCall, ...]:
        return tuple(call for call in self.calls if not call.cached)

    @property
    def characters(self) -> int:
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


@dataclass(frozen=True)
class Chair:
    """Answers the seats' questions from their ballots, without names: a name is no argument."""

    model: ChatModel
    calls: CallContext
    deadline: Deadline
    name: str = "chair"
    type: JudgeType = JudgeType.LLM_POWERED

    def judge(self, context: RoundContext[InquiryInput], /) -> Judgment:
        """Return the judgment that decides."""
        case = context.context
        instructions = Prompts().render("chair", {"criteria": dict(case.form.criteria)})
        opinions = [
            make_document(f"juror-{number}", "opinion", "\n".join(_list_opinion_lines(ballot)), str)
            for number, ballot in enumerate(context.ballots, start=1)
        ]
        question = replace(
            case,
            form=Form(f"{case.form.name}-chair", instructions, case.form.criteria),
            material=Material(tuple(opinions)),
            deadline=self.deadline,
            is_flipped=False,
            plans={},
        )
        model_seat = ModelSeat(self.model, self.calls)
        if len(model_seat.plan(question).chunks) > 1:
            message = "the opinions of the seats are longer than the chair can read at once"
            return Judgment.abstained(message, "too_large")
        return model_seat.judge(question)


def _list_opinion_lines(ballot: Ballot) -> Iterator[str]:
    judgment = ballot.judgment
    criteria: Mapping[str, Mapping[str, Any]] = judgment.metadata.get("criteria", {})
    if not criteria:
        yield f"no opinion: {judgment.label or judgment.metadata.get('reason') or 'no answer'}"
    for name, answer in criteria.items():
        yield f"{name}: {answer['verdict']} ({answer['confidence']:.2f}). {answer['reasoning']}"
        for check in judgment.failed_checks:
            if check.name == name and check.evidence:
                yield f"    {check.location or ''}: {check.message}"
                for line in check.evidence.split("\n"):
                    yield f"    {line}"
