"""The work of an agent: does it reach its goal?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from prjury.deadline import Deadline
from prjury.judges.quality.judge import Inquiry
from prjury.judges.quality.model_seat import Material
from prjury.judges.quality.prompt_input import document, pieces_of
from prjury.judges.quality.prompts import Prompts
from prjury.jury.context import JudgmentContext
from prjury.jury.judgment import Judgment
from prjury.jury.voting import NOT_APPLICABLE
from prjury.report.sanitise import Redact
from prjury.snapshot.model import FileChange

NAME = "correctness"

#: The files of a context's work.
Files = Callable[[JudgmentContext], tuple[FileChange, ...]]

CRITERIA: Mapping[str, str] = MappingProxyType(
    {
        "reached": "Does the work do everything that the goal asks for? No if a part of the goal "
        "can be quoted that the work leaves undone or does otherwise.",
        "works": "Would the work run as it stands, also at its edges? No if a line of it can be "
        "quoted that fails, is left as a stub, or contradicts another one.",
        "contained": "Does the work keep to the goal? No if a line can be quoted that does harm, "
        "or changes what the goal plainly does not ask for.",
        "honest": "Is what the worker says of the work true? No if a statement of the output can "
        "be quoted that the work contradicts. Abstain if there is no output.",
    }
)


def correctness(
    files: Files | None, redact: Redact, threshold: float = 1.0
) -> Inquiry[JudgmentContext]:
    """Ask whether the work, files or the output with its diff, reaches the context's goal."""

    def gather(context: JudgmentContext, _: Deadline) -> Material | Judgment:
        if not context.goal.strip():
            return Judgment.abstained("there is no goal to compare with", NOT_APPLICABLE)
        goal = document("/goal", "goal", context.goal, redact)
        texts = {"output": context.agent_output, "diff": context.diff if files is None else ""}
        words = tuple(document(f"/{k}", k, text, redact) for k, text in texts.items() if text)
        if files is not None:
            return Material(*pieces_of(files(context), redact), (goal, *words))
        if not words:
            return Judgment.abstained("there is no work to judge", NOT_APPLICABLE)
        return Material(words, always=(goal,))

    template = "output" if files is None else NAME
    instructions = Prompts().render(template, {"criteria": dict(CRITERIA)})
    about = "asks a model whether the work reaches its goal"
    return Inquiry(NAME, about, CRITERIA, threshold, gather, lambda _: instructions)
