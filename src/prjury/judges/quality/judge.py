"""A judge that asks models: it gathers, lays out, asks every seat, and counts.

What differs from judge to judge is the `Inquiry`: its questions, and what is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic

from prjury.deadline import Deadline
from prjury.judges.quality.confirm import Confirmer, confirming_instructions
from prjury.judges.quality.estimate import Forecast, planned_calls
from prjury.judges.quality.interview import TaintedError, UsageLog, random_word
from prjury.judges.quality.model_seat import CallContext, InquiryInput, Material, ModelSeat
from prjury.judges.quality.prompt_input import digest_of, document, sizes
from prjury.judges.quality.prompts import Instructions, Prompts
from prjury.judges.quality.question import CHARACTERS_PER_TOKEN, Form
from prjury.judges.quality.votes import PassMark, Poll, prose
from prjury.jury.confidence import ConfidenceStrategy
from prjury.jury.judge import ContextT, JudgeType
from prjury.jury.judgment import Check, Judgment, Status
from prjury.jury.jury import JuryVerdict, Seat
from prjury.jury.library.retry import JuryWithRetry, RoundContext
from prjury.jury.voting import NOT_APPLICABLE, Ballot
from prjury.ports import ChatModel, Memory, NoMemory, Panel
from prjury.report.judge_facts import AnswerBasis, LeftOut, ScopeFacts

_TEMPLATE = "chair"


@dataclass(frozen=True)
class Chair:
    """Reads the ballots of the last round and nothing else.

    It does not learn which model said what: a name is no argument.

    Attributes:
        deadline: until when it may take.
    """

    model: ChatModel
    call_context: CallContext
    deadline: Deadline
    name: str = "chair"
    type: JudgeType = JudgeType.LLM_POWERED

    def judge(self, context: RoundContext[InquiryInput], /) -> Judgment:
        """The chair's answer to the seats' questions; its evidence quotes the seats."""
        case = context.context
        instructions = Prompts().render(_TEMPLATE, {"criteria": dict(case.form.criteria)})
        form = Form(f"{case.form.name}-{_TEMPLATE}", instructions, case.form.criteria)
        opinions = [
            document(f"juror-{number}", "opinion", "\n".join(_lines(ballot)), str)
            for number, ballot in enumerate(context.ballots, start=1)
        ]
        asked = replace(
            case, form=form, sections=tuple(opinions), left_out=(), turned=False, plans={}
        )
        model_seat = ModelSeat(self.model, self.call_context)
        if len(model_seat.plan(asked).chunks) > 1:
            message = "the opinions of the seats are longer than the chair can read at once"
            return Judgment.abstained(message, "too_large")
        return model_seat.judge(asked.until(self.deadline))


def _lines(ballot: Ballot) -> Iterator[str]:
    """A seat's opinion: a line for each criterion, and each true quote below it."""
    judgment = ballot.judgment
    criteria: Mapping[str, Mapping[str, Any]] = judgment.metadata.get("criteria", {})
    if not criteria:
        yield f"no opinion: {judgment.label or judgment.metadata.get('reason') or 'no answer'}"
    for name, said in criteria.items():
        yield f"{name}: {said['verdict']} ({said['confidence']:.2f}). {said['reasoning']}"
        yield from _quotes(judgment, name)


def _quotes(judgment: Judgment, name: str) -> Sequence[str]:
    return [
        f"    {line}"
        for check in judgment.failed_checks
        if check.name == name and check.evidence
        for line in (f"{check.location or ''}: {check.message}", *check.evidence.split("\n"))
    ]


#: Seconds for all calls of one judgment.
ALL_CALLS = 600.0

#: Seconds, and share of the time, that seats stop before their jury does.
_HEAD_START, _HEAD_SHARE = 1.0, 0.25

#: Seconds after which a model is abandoned that does not keep to its deadline.
_GRACE = 0.5

#: The share of the time that the seats have where a chair is to read what they say.
_SEATS_SHARE = 0.7


@dataclass(frozen=True)
class Inquiry(Generic[ContextT]):
    """What a judge wants to know.

    Attributes:
        name: the judge's name.
        about: what it does, in words.
        criteria: the questions by name, each answered with yes by work that is in order.
        threshold: the share of criteria, 0..1, at which it passes.
        gather: what there is to read; or the abstention, where there is nothing to ask.
        instruct: the instructions, for a context.
        lowers_only: whether its approval must not lift what others say.
        must: the criteria that have to pass; the threshold is for the others alone.
        inapplicable: criteria that do not count for a context, and why.
        quorum: the share of the criteria that need an answer for a pass.
    """

    name: str
    about: str
    criteria: Mapping[str, str]
    threshold: float
    gather: Callable[[ContextT, Deadline], Material | Judgment]
    instruct: Callable[[ContextT], Instructions]
    lowers_only: bool = False
    must: frozenset[str] = frozenset()
    inapplicable: Callable[[ContextT], Mapping[str, str]] = lambda _: {}
    quorum: float = 0.5


@dataclass(frozen=True)
class ModelBackedJudge(Generic[ContextT]):
    """Asks every seat of a panel the same questions, each by itself.

    Attributes:
        inquiry: what it wants to know.
        panel: whom it asks.
        runs: seats of each model.
        time: how long everything may take, for a context.
        parallel: whether seats and chunks are asked at once.
    """

    inquiry: Inquiry[ContextT]
    panel: Panel
    runs: int = 1
    memory: Memory = field(default_factory=NoMemory)
    time: Callable[[ContextT], Deadline] = lambda _: Deadline.after(ALL_CALLS)
    word: Callable[[], str] = random_word
    parallel: bool = True
    type: JudgeType = JudgeType.LLM_POWERED

    @property
    def name(self) -> str:
        """The judge's name."""
        return self.inquiry.name

    @property
    def description(self) -> str:
        """Return what it does."""
        return self.inquiry.about

    @property
    def lowers_only(self) -> bool:
        """Tell whether its approval must not lift what others say."""
        return self.inquiry.lowers_only

    def judge(self, context: ContextT, /) -> Judgment:
        """The seats' answers, counted; ABSTAIN with a reason where there are none to count."""
        subject: dict[str, Any] = {"subject": ", ".join(self.inquiry.criteria)}
        if not self.panel.models:
            return Judgment.abstained(self.panel.missing, self.panel.label, metadata=subject)
        case, warnings = self.case(context)
        if isinstance(case, Judgment):
            return _add(case, warnings, subject)
        subject |= {"basis": self._basis(case.form).to_metadata()}
        # A round that the budget does not allow as a whole would be paid for nothing.
        if refusal := self._plan_calls(case).refusal:
            return _add(_abstain_unread(case, refusal, "budget"), warnings, subject)
        call_context = self._call_context()
        model_seats = self._model_seats(call_context)
        verdict = self._vote(model_seats, case)
        ballots = [_word_timeout(ballot, case) for ballot in verdict.ballots]
        judgment = Poll(ballots, self._chairs_word(verdict)).judgment()
        judgment = _refuse_leaks(_refuse_flips(judgment, verdict), call_context.leaks)
        judgment = _name_inapplicable(case.inapplicable, judgment)
        about = {
            **subject,
            "answered_by": prose(call_context.usage_log.answered_by)[:200],
            **({"stand_ins": stand_ins} if (stand_ins := call_context.usage_log.stand_ins) else {}),
            "prompt": model_seats[0].about(case),
            "usage": call_context.usage_log.usage,
            **_rounds(verdict),
        }
        return _add(judgment, warnings, about)

    def _basis(self, form: Form) -> AnswerBasis:
        """On what its answers depend: a record of how often they were right holds for these."""
        panel = self.panel
        asked = (*panel.models, *((panel.chair,) if panel.chair else ()))
        confirmation = confirming_instructions().digest if panel.confirm else None
        ways = [self.runs, panel.passes, panel.trigger, panel.rounds, confirmation]
        digest = digest_of([form.name, form.instructions.digest, dict(form.criteria), ways])
        return AnswerBasis(tuple(sorted({model.name for model in asked})), {self.name: digest})

    def _call_context(self) -> CallContext:
        plain = CallContext(
            UsageLog(), self.memory, self.word, self.parallel, [], self.panel.passes
        )
        if not self.panel.confirm:
            return plain
        confirmer = Confirmer(
            self.panel.models, plain.usage_log, self.memory, self.word, plain.leaks
        )
        return replace(plain, confirmer=confirmer)

    def case(self, context: ContextT) -> tuple[InquiryInput | Judgment, tuple[Check, ...]]:
        """Return what the seats are asked about, or why nobody is; and what the program noticed."""
        deadline = _shorten(self.time(context).within(ALL_CALLS))
        gathered = self.inquiry.gather(context, deadline)
        if isinstance(gathered, Judgment):
            return gathered, ()
        inapplicable = self.inquiry.inapplicable(context)
        if not self.inquiry.criteria.keys() - inapplicable.keys():
            return Judgment.abstained(_reasons(inapplicable), NOT_APPLICABLE), ()
        case = InquiryInput(
            self.inquiry.about,
            form=self._form(context, gathered),
            sections=gathered.sections,
            deadline=deadline,
            mark=PassMark(self.inquiry.threshold, self.inquiry.must, self.inquiry.quorum),
            inapplicable=inapplicable,
            left_out=gathered.left_out,
        )
        if message := self._find_crowding(gathered):
            return Judgment.abstained(message, "too_large"), gathered.warnings
        if gathered.sections:
            return case, gathered.warnings
        unread = tuple(LeftOut(file.path, file.reason) for file in gathered.left_out)
        message = "nothing of it can be laid before a model"
        metadata = ScopeFacts(unread=unread).to_metadata()
        return Judgment.abstained(message, "too_large", metadata=metadata), gathered.warnings

    def _find_crowding(self, material: Material) -> str | None:
        """Return why the texts beside the work leave too little room for it; None if they do not.

        Nobody must be able to make one question of every line by writing much.
        """
        beside = sizes(material.always)
        room = min(model.room for model in self.panel.models) * CHARACTERS_PER_TOKEN
        if beside * 2 <= room:
            return None
        names = ", ".join(section.path.removeprefix("/") for section in material.always)
        return f"{beside:,} characters of {names} take more than half of a model's room"

    def forecast(self, context: ContextT) -> Forecast:
        """Return what would be asked; nothing is."""
        if not self.panel.models:
            return Forecast(self.name, nothing_because=self.panel.missing)
        case, _ = self.case(context)
        if isinstance(case, Judgment):
            return Forecast(self.name, nothing_because=case.reasoning)
        return self._plan_calls(case)

    def _form(self, context: ContextT, material: Material) -> Form:
        inquiry = self.inquiry
        instructions, always = inquiry.instruct(context), material.always
        return Form(inquiry.name, instructions, inquiry.criteria, always, material.facts)

    def _model_seats(self, call_context: CallContext) -> list[ModelSeat]:
        seated: Counter[str] = Counter()
        model_seats = []
        for model in (model for model in self.panel.models for _ in range(self.runs)):
            model_seats.append(ModelSeat(model, call_context, seated[model.identity]))
            seated[model.identity] += 1
        return model_seats

    def _most_rounds(self) -> int:
        alone = len(self.panel.models) * self.runs == 1 and self.panel.trigger == "agreement"
        return 1 if alone else self.panel.rounds

    def _plan_calls(self, case: InquiryInput) -> Forecast:
        seats = self._model_seats(CallContext(memory=self.memory))
        model_seats = [
            model_seat for model_seat in seats if model_seat.model.name not in self.panel.absent
        ]
        cases = (case, case.flipped()) if self.panel.trigger == "flip" else (case,)
        calls = [
            call
            for model_seat in model_seats
            for it in cases
            for call in planned_calls(model_seat, it)
        ]
        planned = Forecast(self.name, tuple(calls), self._most_rounds())
        refusal = self.panel.refusal(planned.input_tokens, planned.usd)
        return replace(planned, refusal=refusal, absent=dict(self.panel.absent))

    def _vote(self, model_seats: Sequence[ModelSeat], case: InquiryInput) -> JuryVerdict:
        confidence = _confidence(self.panel.trigger)
        chair = self.panel.chair
        jury: JuryWithRetry[InquiryInput] = JuryWithRetry(
            [Seat(model_seat, confidence=confidence) for model_seat in model_seats],
            None if chair is None else Chair(chair, model_seats[0].call_context, case.deadline),
            self.panel.confidence,
            self._most_rounds(),
            name=self.name,
            parallel=self.parallel,
        )
        left = case.deadline.remaining
        seats = case if chair is None else case.until(case.deadline.within(left * _SEATS_SHARE))
        return jury.vote(seats, timeout=left + _GRACE)

    def _chairs_word(self, verdict: JuryVerdict) -> Judgment | None:
        return verdict.aggregated if self.panel.chair is not None else None


def _abstain_unread(case: InquiryInput, because: str, label: str) -> Judgment:
    paths = dict.fromkeys(section.path for section in case.sections)
    unread = tuple(LeftOut(path, f"no answer: {label}") for path in paths)
    return Judgment.abstained(because, label, metadata=ScopeFacts(unread=unread).to_metadata())


def _word_timeout(ballot: Ballot, case: InquiryInput) -> Ballot:
    """A seat that was abandoned, because it did not keep to its time, has not answered in time."""
    said = ballot.judgment
    if said.status is not Status.ERROR or said.metadata.get("reason") != "timeout":
        return ballot
    message = "The model did not answer in time"
    return replace(ballot, judgment=_abstain_unread(case, message, "timeout"))


def _shorten(deadline: Deadline) -> Deadline:
    """A little before the time is over, so that the reason can still be reported."""
    left = deadline.remaining
    return Deadline(deadline.at - min(_HEAD_START, left * _HEAD_SHARE))


def _confidence(trigger: str) -> ConfidenceStrategy:
    return share_of_true_quotes if trigger == "evidence" else trigger


def share_of_true_quotes(judgment: Judgment) -> float | None:
    """The share, 0..1, of a judgment's findings that stand in the change; 1 if it has none."""
    review = judgment.metadata.get("review")
    if review is None:
        return None
    dropped = sum(review["dropped"].values())
    return 1 - dropped / review["reported"] if review["reported"] else 1.0


def _refuse_leaks(judgment: Judgment, leaks: Sequence[TaintedError]) -> Judgment:
    """One answer that was steered from outside is enough not to approve."""
    if not leaks or judgment.status is not Status.PASS:
        return judgment
    return _withhold(judgment, str(leaks[0]), leaks[0].reason)


def _refuse_flips(judgment: Judgment, verdict: JuryVerdict) -> Judgment:
    """An approval that a seat takes back when the files come in another order is none."""
    flipped = any(said.metadata.get("flipped") for said in verdict.individual)
    met = verdict.aggregated.metadata.get("met_threshold")
    if judgment.status is not Status.PASS or met or not flipped:
        return judgment
    message = "it says otherwise, or nothing, with the files in another order"
    return _withhold(judgment, message, "unsure")


def _withhold(judgment: Judgment, because: str, label: str) -> Judgment:
    """An approval that does not count; nothing was read that was not judged."""
    scope = ScopeFacts.of(judgment) or ScopeFacts()
    unread = (*(LeftOut(path, f"no answer: {label}") for path in scope.read), *scope.unread)
    message = {"reason": label, **ScopeFacts(unread=unread).to_metadata()}
    metadata = {**judgment.metadata, **message}
    return Judgment.abstained(because, label, checks=judgment.failed_checks, metadata=metadata)


def _name_inapplicable(inapplicable: Mapping[str, str], judgment: Judgment) -> Judgment:
    if not inapplicable:
        return judgment
    message = f"{judgment.reasoning}; {_reasons(inapplicable)}"
    return replace(judgment, reasoning=message).with_metadata(not_applicable=dict(inapplicable))


def _reasons(inapplicable: Mapping[str, str]) -> str:
    return "; ".join(f"not applicable: {name} ({why})" for name, why in inapplicable.items())


def _rounds(verdict: JuryVerdict) -> dict[str, Any]:
    message = verdict.aggregated.metadata
    if message.get("iterations", 1) == 1:
        return {}
    return {"iterations": message["iterations"], "retry": message["retry"]}


def _add(judgment: Judgment, checks: tuple[Check, ...], more: Mapping[str, Any]) -> Judgment:
    added = replace(judgment, checks=(*judgment.checks, *checks))
    return added.with_metadata(**more)
