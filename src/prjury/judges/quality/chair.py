"""The chair of a panel: a model that reads what the seats said, and decides each question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from prjury.deadline import Deadline
from prjury.judges.quality.inquiry_input import InquiryInput
from prjury.judges.quality.model_seat import CallContext, ModelSeat
from prjury.judges.quality.prompt_input.documents import document
from prjury.judges.quality.query.prompts import Prompts
from prjury.judges.quality.query.question import Form
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment
from prjury.jury.library.rounds import RoundContext
from prjury.jury.population import Ballot
from prjury.ports import ChatModel

_TEMPLATE = "chair"


@dataclass(frozen=True)
class Chair:
    """Reads the ballots of the last round and nothing else.

    It is not told which model said what: a name is no argument.

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
            told = "the opinions of the seats are longer than the chair can read at once"
            return Judgment.abstained(told, "too_large")
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
        f"    {check.location or ''}: {line}"
        for check in judgment.checks
        if check.name == name and check.evidence
        for line in check.evidence.split("\n")
    ]
