"""The chair of a panel: a model that reads what the seats say and decides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from prjury.deadline import Deadline
from prjury.judges.quality.interview import CallContext
from prjury.judges.quality.model_seat import InquiryInput, ModelSeat
from prjury.judges.quality.prompt_input import document
from prjury.judges.quality.prompts import Prompts
from prjury.judges.quality.question import Form
from prjury.jury.judge import JudgeType
from prjury.jury.judgment import Judgment
from prjury.jury.library.retry import RoundContext
from prjury.jury.voting import Ballot
from prjury.ports import ChatModel

_TEMPLATE = "chair"


@dataclass(frozen=True)
class Chair:
    """Reads the last round's ballots without the models' names: a name is no argument."""

    model: ChatModel
    calls: CallContext
    deadline: Deadline
    name: str = "chair"
    type: JudgeType = JudgeType.LLM_POWERED

    def judge(self, context: RoundContext[InquiryInput], /) -> Judgment:
        """Return its answer to the seats' questions; its evidence quotes the seats."""
        case = context.context
        instructions = Prompts().render(_TEMPLATE, {"criteria": dict(case.form.criteria)})
        form = Form(f"{case.form.name}-{_TEMPLATE}", instructions, case.form.criteria)
        opinions = [
            document(f"juror-{number}", "opinion", "\n".join(_list_opinions(ballot)), str)
            for number, ballot in enumerate(context.ballots, start=1)
        ]
        question = replace(
            case,
            form=form,
            sections=tuple(opinions),
            deadline=self.deadline,
            left_out=(),
            is_flipped=False,
            plans={},
        )
        model_seat = ModelSeat(self.model, self.calls)
        if len(model_seat.plan(question).chunks) > 1:
            message = "the opinions of the seats are longer than the chair can read at once"
            return Judgment.abstained(message, "too_large")
        return model_seat.judge(question)


def _list_opinions(ballot: Ballot) -> Iterator[str]:
    """Iterate over a line for each criterion, and each true quote below it."""
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
