"""A judge that asks models: it gathers, lays out, asks every seat, and counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic

from msgspec import structs

from prjury.deadline import Deadline
from prjury.judges.quality.interview import CallContext, confirming_instructions, random_word
from prjury.judges.quality.model_seat import Chair, Forecast, InquiryInput, ModelSeat
from prjury.judges.quality.prompt_input import Material, digest_of, sizes
from prjury.judges.quality.question import CHARACTERS_PER_TOKEN, Form, Instructions
from prjury.judges.quality.votes import PassMark, join_ballots, prose, withhold_pass
from prjury.jury.judge import ContextT, JudgeType
from prjury.jury.judgment import Check, Judgment, Status
from prjury.jury.jury import Seat
from prjury.jury.library.retry import JuryWithRetry
from prjury.jury.verdicts import JuryVerdict
from prjury.jury.voting import NOT_APPLICABLE, Ballot
from prjury.ports import Memory, NoMemory, Panel
from prjury.report.judge_facts import LeftOut, ModelSetup, ScopeFacts

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
    """What a judge wants to know; to each question work that is in order is answered with yes."""

    name: str
    about: str
    criteria: Mapping[str, str]
    mark: PassMark
    gather: Callable[[ContextT, Deadline], Material | Judgment]
    instruct: Callable[[ContextT], Instructions]
    lowers_only: bool = False
    inapplicable: Callable[[ContextT], Mapping[str, str]] = lambda _: {}


@dataclass(frozen=True)
class ModelBackedJudge(Generic[ContextT]):
    """Asks every seat of a panel, ``runs`` of each model, the same questions, each by itself."""

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
        return self.inquiry.name

    @property
    def description(self) -> str:
        return self.inquiry.about

    @property
    def lowers_only(self) -> bool:
        return self.inquiry.lowers_only

    def judge(self, context: ContextT, /) -> Judgment:
        """Count the seats' answers; ABSTAIN with a reason where there are none to count."""
        about: dict[str, Any] = {"subject": ", ".join(self.inquiry.criteria)}
        if not self.panel.models:
            return Judgment.abstained(self.panel.missing, self.panel.label, metadata=about)
        case, warnings = self.prepare_case(context)
        if isinstance(case, Judgment):
            return _add(case, warnings, about)
        about["basis"] = self._describe_model_setup(case.form).to_metadata()
        # A round that the budget does not allow as a whole would be paid for nothing.
        if refusal := self._forecast_inquiry(case).refusal:
            return _add(_abstain_unread(case, refusal, "budget"), warnings, about)
        calls = CallContext(
            memory=self.memory,
            word=self.word,
            parallel=self.parallel,
            passes=self.panel.passes,
            confirmers=self.panel.models if self.panel.confirm else (),
        )
        model_seats = self._model_seats(calls)
        verdict = self._vote(model_seats, case)
        ballots = [_word_timeout(ballot, case) for ballot in verdict.ballots]
        chair = verdict.aggregated if self.panel.chair is not None else None
        judgment = _refuse_flips(join_ballots(ballots, chair), verdict)
        if calls.leaks:  # one answer that was steered from outside is enough not to approve
            judgment = withhold_pass(judgment, str(calls.leaks[0]), calls.leaks[0].reason)
        if case.inapplicable:
            message = f"{judgment.reasoning}; {_list_inapplicable(case.inapplicable)}"
            judgment = replace(judgment, reasoning=message)
            judgment = judgment.with_metadata(not_applicable=dict(case.inapplicable))
        layout = model_seats[0].plan(case)
        log, round_facts = calls.usage_log, verdict.aggregated.metadata
        about |= {
            "answered_by": prose(log.answered_by)[:200],
            "prompt": case.form.fill(layout.chunks[0], layout, self.word).identity,
            "usage": log.usage,
        }
        if round_facts.get("iterations", 1) > 1:
            about |= {key: round_facts[key] for key in ("iterations", "retry")}
        return _add(judgment, warnings, about)

    def _describe_model_setup(self, form: Form) -> ModelSetup:
        """Return on what its answers depend: a record of their rightness holds for these."""
        panel = self.panel
        models = (*panel.models, *((panel.chair,) if panel.chair else ()))
        confirmation = confirming_instructions().digest if panel.confirm else None
        ways = [self.runs, panel.passes, panel.trigger, panel.rounds, confirmation]
        digest = digest_of([form.name, form.instructions.digest, dict(form.criteria), ways])
        return ModelSetup(tuple(sorted({model.name for model in models})), {self.name: digest})

    def prepare_case(self, context: ContextT) -> tuple[InquiryInput | Judgment, tuple[Check, ...]]:
        """Return what the seats are asked about, or why nobody is; and what the program noticed."""
        inquiry = self.inquiry
        deadline = self.time(context).within(ALL_CALLS)
        # A little before the time is over, so that the reason can still be reported.
        early = min(_HEAD_START, deadline.remaining * _HEAD_SHARE)
        deadline = Deadline(deadline.at - early)
        material = inquiry.gather(context, deadline)
        if isinstance(material, Judgment):
            return material, ()
        inapplicable = inquiry.inapplicable(context)
        if not inquiry.criteria.keys() - inapplicable.keys():
            message = _list_inapplicable(inapplicable)
            return Judgment.abstained(message, NOT_APPLICABLE), ()
        beside = sizes(material.always)
        room = min(model.room for model in self.panel.models) * CHARACTERS_PER_TOKEN
        if beside * 2 > room:
            names = ", ".join(section.path.removeprefix("/") for section in material.always)
            message = f"{beside:,} characters of {names} take more than half of a model's room"
            return Judgment.abstained(message, "too_large"), material.warnings
        if not material.sections:
            unread = tuple(LeftOut(file.path, file.reason) for file in material.left_out)
            scope = ScopeFacts(unread=unread).to_metadata()
            message = "nothing of it can be laid before a model"
            return Judgment.abstained(message, "too_large", metadata=scope), material.warnings
        instructions, always = inquiry.instruct(context), material.always
        case = InquiryInput(
            inquiry.about,
            form=Form(inquiry.name, instructions, inquiry.criteria, always, material.facts),
            material=material,
            deadline=deadline,
            mark=inquiry.mark,
            inapplicable=inapplicable,
        )
        return case, material.warnings

    def forecast(self, context: ContextT) -> Forecast:
        """Return what would be asked; nothing is."""
        if not self.panel.models:
            return Forecast(self.name, nothing_because=self.panel.missing)
        case, _ = self.prepare_case(context)
        if isinstance(case, Judgment):
            return Forecast(self.name, nothing_because=case.reasoning)
        return self._forecast_inquiry(case)

    def _forecast_inquiry(self, case: InquiryInput) -> Forecast:
        panel = self.panel
        cases = (case, case.flipped()) if panel.trigger == "flip" else (case,)
        calls = [
            call
            for model_seat in self._model_seats(CallContext(memory=self.memory))
            if model_seat.model.name not in panel.absent
            for it in cases
            for call in model_seat.price_calls_by_chunk(it)
        ]
        forecast = Forecast(self.name, tuple(calls), panel.rounds, absent=dict(panel.absent))
        refusal = panel.refusal(forecast.input_tokens, forecast.usd)
        return structs.replace(forecast, refusal=refusal)

    def _model_seats(self, calls: CallContext) -> list[ModelSeat]:
        numbers: Counter[str] = Counter()
        model_seats = []
        for model in (model for model in self.panel.models for _ in range(self.runs)):
            model_seats.append(ModelSeat(model, calls, numbers[model.identity]))
            numbers[model.identity] += 1
        return model_seats

    def _vote(self, model_seats: Sequence[ModelSeat], case: InquiryInput) -> JuryVerdict:
        trigger, chair = self.panel.trigger, self.panel.chair
        confidence = share_of_true_quotes if trigger == "evidence" else trigger
        jury: JuryWithRetry[InquiryInput] = JuryWithRetry(
            [Seat(model_seat, confidence=confidence) for model_seat in model_seats],
            None if chair is None else Chair(chair, model_seats[0].calls, case.deadline),
            self.panel.confidence,
            self.panel.rounds,
            name=self.name,
            parallel=self.parallel,
        )
        seconds = case.deadline.remaining
        if chair is not None:
            case = replace(case, deadline=case.deadline.within(seconds * _SEATS_SHARE))
        return jury.vote(case, timeout=seconds + _GRACE)


def _abstain_unread(case: InquiryInput, because: str, label: str) -> Judgment:
    paths = dict.fromkeys(section.path for section in case.material.sections)
    unread = tuple(LeftOut(path, f"no answer: {label}") for path in paths)
    return Judgment.abstained(because, label, metadata=ScopeFacts(unread=unread).to_metadata())


def _word_timeout(ballot: Ballot, case: InquiryInput) -> Ballot:
    """Have a seat that was abandoned abstain: it has not answered in time."""
    judgment = ballot.judgment
    if judgment.status is not Status.ERROR or judgment.metadata.get("reason") != "timeout":
        return ballot
    message = "The model did not answer in time"
    return replace(ballot, judgment=_abstain_unread(case, message, "timeout"))


def share_of_true_quotes(judgment: Judgment) -> float | None:
    """Return the share, 0..1, of a judgment's findings that stand in the change; 1 without any."""
    review = judgment.metadata.get("review")
    if review is None:
        return None
    dropped = sum(review["dropped"].values())
    return 1 - dropped / review["reported"] if review["reported"] else 1.0


def _refuse_flips(judgment: Judgment, verdict: JuryVerdict) -> Judgment:
    """Withhold an approval that a seat takes back when the files come in another order."""
    flipped = any(vote.metadata.get("flipped") for vote in verdict.individual)
    if verdict.aggregated.metadata.get("met_threshold") or not flipped:
        return judgment
    message = "it says otherwise, or nothing, with the files in another order"
    return withhold_pass(judgment, message, "unsure")


def _list_inapplicable(inapplicable: Mapping[str, str]) -> str:
    return "; ".join(f"not applicable: {name} ({why})" for name, why in inapplicable.items())


def _add(judgment: Judgment, checks: tuple[Check, ...], metadata: Mapping[str, Any]) -> Judgment:
    return replace(judgment, checks=(*judgment.checks, *checks)).with_metadata(**metadata)
