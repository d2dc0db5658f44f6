"""One model, asked about every chunk of a case by itself."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from prjury.deadline import Deadline
from prjury.errors import CannotJudgeError
from prjury.judges.quality.confirm import Confirmer
from prjury.judges.quality.evidence import (
    Answers,
    Lines,
    Opinion,
    join_passes,
    speaks,
    verify,
)
from prjury.judges.quality.facts import Fact
from prjury.judges.quality.interview import TaintedError, UsageLog, interview, random_word
from prjury.judges.quality.known_answers import keep, key_of, remembered
from prjury.judges.quality.prompt_input import Chunk, NotSent, Plan, Section, plan
from prjury.judges.quality.question import CHARACTERS_PER_TOKEN, Form, Question
from prjury.judges.quality.votes import NO_OPINION, PassMark, decide, failures, prose
from prjury.jury.context import JudgmentContext
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Check, Judgment, Status
from prjury.jury.threads import aside
from prjury.ports import ChatModel, Memory, NoMemory
from prjury.report.judge_facts import LeftOut, ScopeFacts


@dataclass(frozen=True)
class Material:
    """What there is to read.

    Attributes:
        sections: files, in the order in which they are to be read.
        left_out: files that nobody is shown, and why.
        always: documents that every question needs.
        facts: what programs know of the work.
        warnings: what the program itself noticed in the material.
    """

    sections: tuple[Section, ...]
    left_out: tuple[NotSent, ...] = ()
    always: tuple[Section, ...] = ()
    facts: tuple[Fact, ...] = ()
    warnings: tuple[Check, ...] = ()


@dataclass(frozen=True)
class InquiryInput(JudgmentContext):
    """A question and all its material, as every seat of a panel gets it.

    Attributes:
        mark: what it takes to pass.
        inapplicable: criteria whose answers do not count here, and why.
        turned: whether the files are shown in the opposite order.
        plans: how the sections are laid out, by a model's identity and room, once known: for
            a large change it takes seconds.
    """

    form: Form = field(kw_only=True)
    sections: tuple[Section, ...] = field(kw_only=True)
    deadline: Deadline = field(kw_only=True)
    mark: PassMark = field(kw_only=True)
    inapplicable: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[NotSent, ...] = ()
    turned: bool = False
    plans: dict[tuple[str, int], Plan] = field(default_factory=dict, compare=False, repr=False)

    def shown(self, sections: Sequence[Section]) -> Chunk:
        """These sections and what stands beside them in every question."""
        return Chunk((*sections, *self.form.always))

    def until(self, deadline: Deadline) -> InquiryInput:
        """The same case with another deadline."""
        return replace(self, deadline=deadline)

    def flipped(self) -> InquiryInput:
        """The same case with its files in the opposite order."""
        return replace(self, turned=not self.turned)


#: Chunks that are asked about at once; how many calls there are at once is the model's business.
_AT_ONCE = 32

#: Equal questions of one seat; the next seat's begin after them.
_TURNS = 1000
#: Rounds of one pass; the next pass's begin after them. There are at most five passes.
_PASSES = 100


@dataclass(frozen=True)
class CallContext:
    """What all seats of one judgment work with.

    Attributes:
        usage_log: where their calls are entered.
        memory: what was answered before.
        word: a new random word at every call.
        parallel: whether several chunks are asked about at once.
        leaks: replies that repeated the instructions, in whatever round.
        passes: how often each seat is asked independently; all that it finds is joined.
        confirmer: who is asked once more about each error; None for nobody.
    """

    usage_log: UsageLog = field(default_factory=UsageLog)
    memory: Memory = field(default_factory=NoMemory)
    word: Callable[[], str] = random_word
    parallel: bool = True
    leaks: list[TaintedError] = field(default_factory=list)
    passes: int = 1
    confirmer: Confirmer | None = None


@dataclass(frozen=True)
class SeatAnswer:
    """What became of one chunk: answers, or the reason why there are none."""

    chunk: Chunk
    answers: Answers | None = None
    trouble: CannotJudgeError | None = None

    @property
    def silence(self) -> str | None:
        """Return why nothing that counts is said of it; None where something is."""
        if self.trouble is not None:
            return self.trouble.reason
        return None if speaks(self.answers or {}) else NO_OPINION


@dataclass(frozen=True)
class ModelSeat:
    """A seat: one model that reads all of a case and forms its own opinion.

    Attributes:
        seat: which of several seats of the same model it is, from 0.
    """

    model: ChatModel
    call_context: CallContext
    seat: int = 0
    type: JudgeType = JudgeType.LLM_POWERED
    _turns: dict[bool, itertools.count[int]] = field(
        default_factory=lambda: {turned: itertools.count() for turned in (False, True)},
        repr=False,
        compare=False,
    )
    _votes: list[Judgment] = field(default_factory=list, repr=False, compare=False)
    _turning: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    @property
    def name(self) -> str:
        """The model, and which seat of its it is."""
        return f"{self.model.name}#{self.seat + 1}" if self.seat else self.model.name

    def plan(self, case: InquiryInput) -> Plan:
        """The chunks that this model is asked about."""
        whose = (self.model.identity, self.model.room)
        made = case.plans.get(whose)
        if made is None:
            budget = self.model.room * CHARACTERS_PER_TOKEN - case.form.size
            made = plan(case.sections, case.left_out, max(budget, 1))
            case.plans[whose] = made
        if not case.turned:
            return made
        return replace(made, chunks=tuple(chunk.turned() for chunk in made.chunks))

    def judge(self, case: InquiryInput, /) -> Judgment:
        """The opinion on the whole case; ABSTAIN with a reason where a chunk has no answer."""
        made = self.plan(case)
        with self._turning:
            turn = self.turn(next(self._turns[case.turned]), case)
        outcomes = self._ask_all(case, made, turn)
        judgment = _decide(outcomes, Lines(case.shown(made.sections).sections), case.mark)
        message = judgment.with_metadata(**_describe_reading(self.model, made, outcomes, judgment))
        return message if case.turned else self._keep_failure(message, outcomes)

    def _keep_failure(self, judgment: Judgment, outcomes: Sequence[SeatAnswer]) -> Judgment:
        """The judgment; where a later round has no answer, a failure of the one before stands.

        An approval does not: everybody was asked again because it was in doubt.
        """
        troubles = [outcome.trouble for outcome in outcomes if outcome.trouble is not None]
        leaked = any(isinstance(trouble, TaintedError) for trouble in troubles)
        if judgment.status is not Status.ABSTAIN or not troubles or leaked:
            self._votes.append(judgment)
            return judgment
        if not self._votes or self._votes[-1].status is not Status.FAIL:
            return judgment
        return self._votes[-1].with_metadata(no_answer_again=troubles[0].reason)

    def about(self, case: InquiryInput) -> dict[str, str]:
        """The prompt in a judgment's metadata: that of the first chunk."""
        made = self.plan(case)
        return self.question(case, made, made.chunks[0]).about

    def question(self, case: InquiryInput, made: Plan, chunk: Chunk) -> Question:
        """Return what it is asked about one chunk."""
        return case.form.ask(chunk, made, self.call_context.word)

    def key(self, question: Question, chunk: Chunk, turn: int = 0) -> str:
        """Under which key the answer to this seat's question is kept.

        Args:
            turn: how often it has been asked before.
        """
        return key_of(self.model.identity, question, chunk, self.seat * _TURNS + turn)

    @staticmethod
    def turn(number: int, case: InquiryInput) -> int:
        """Return which of its equal questions it is; a turned case has its own numbers."""
        return number + case.turned * _TURNS // 2

    def _ask_all(self, case: InquiryInput, made: Plan, turn: int) -> list[SeatAnswer]:
        def work(chunk: Chunk) -> SeatAnswer:
            try:
                answers = self._ask_passes(case, made, chunk, turn)
                counting = {n: it for n, it in answers.items() if n not in case.inapplicable}
                return SeatAnswer(chunk, counting)
            except CannotJudgeError as error:
                if isinstance(error, TaintedError):
                    self.call_context.leaks.append(error)
                return SeatAnswer(chunk, trouble=error)

        if not self.call_context.parallel or len(made.chunks) == 1:
            return [work(chunk) for chunk in made.chunks]
        return _at_once(work, made.chunks)

    def _ask_passes(self, case: InquiryInput, made: Plan, chunk: Chunk, turn: int) -> Answers:
        """The joined answers of all passes, with each error confirmed or not."""
        numbers = range(self.call_context.passes)
        passes = [self._ask(case, made, chunk, turn + number * _PASSES) for number in numbers]
        answers = join_passes(passes)
        confirmer = self.call_context.confirmer
        if confirmer is None:
            return answers
        shown = case.shown(chunk.sections)
        return confirmer.confirm(answers, shown, case.form.facts, self.model, case.deadline)

    def _ask(self, case: InquiryInput, made: Plan, chunk: Chunk, turn: int) -> Answers:
        question, memory = self.question(case, made, chunk), self.call_context.memory
        key, criteria = self.key(question, chunk, turn), case.form.criteria
        shown = case.shown(chunk.sections)
        known = remembered(memory, key, shown, criteria)
        if known is not None:
            self.call_context.usage_log.recalled()
            return known
        deadline: Deadline = case.deadline
        replies, lasting = interview(
            self.model, question, criteria, self.call_context.usage_log, deadline
        )
        answers = verify(replies, Lines(shown.sections))
        if lasting:
            keep(memory, key, shown, answers)
        return answers


def _at_once(work: Callable[[Chunk], SeatAnswer], chunks: tuple[Chunk, ...]) -> list[SeatAnswer]:
    """Every outcome. The threads are daemons: a model that hangs keeps no program alive."""
    turns = threading.Semaphore(_AT_ONCE)

    def work_in_turn(chunk: Chunk) -> SeatAnswer:
        with turns:
            return work(chunk)

    waiting = [aside(partial(work_in_turn, chunk)) for chunk in chunks]
    return [outcome.result() for outcome in waiting]


def _decide(outcomes: list[SeatAnswer], lines: Lines, mark: PassMark) -> Judgment:
    """A failure that is proven counts, whatever was not answered; a pass needs every answer."""
    answered = [outcome.answers for outcome in outcomes if outcome.answers is not None]
    troubles = [outcome.trouble for outcome in outcomes if outcome.trouble is not None]
    tainted = [trouble for trouble in troubles if isinstance(trouble, TaintedError)]
    opinion = Opinion(answered, lines) if answered and not tainted else None
    judgment = decide(opinion, mark) if opinion else None
    if judgment and (not troubles or judgment.status is Status.FAIL):
        return judgment
    trouble = (tainted or troubles)[0]
    review = (opinion or Opinion((), lines)).review
    message = prose(str(trouble))
    if len(outcomes) > 1:
        message = f"{len(troubles)} of {len(outcomes)} parts have no answer: {message}"
    checks = failures(opinion) if opinion else ()
    return Judgment.abstained(message, trouble.reason, checks=checks, metadata={"review": review})


def _describe_reading(
    model: ChatModel, made: Plan, outcomes: list[SeatAnswer], judgment: Judgment
) -> Mapping[str, Any]:
    """The model, how many chunks it had, and which files it has read."""
    silent = {
        path: f"no answer: {outcome.silence}"
        for outcome in outcomes
        if outcome.silence
        for path in outcome.chunk.paths
    }
    if judgment.score is None:
        sent = (path for outcome in outcomes for path in outcome.chunk.paths)
        silent = {**dict.fromkeys(sent, f"no answer: {judgment.label}"), **silent}
    read = dict.fromkeys(section.path for section in made.sections if section.path not in silent)
    unread = (
        *(LeftOut(path, reason) for path, reason in silent.items()),
        *(LeftOut(file.path, file.reason) for file in made.left_out),
    )
    return {
        "model": model.name,
        "sheets": {"asked": len(outcomes), "silent": sum(o.trouble is not None for o in outcomes)},
        **ScopeFacts(tuple(read), unread).to_metadata(),
    }
