"""Is the change good? Correct, tested, in keeping with its surroundings, free of needless risk."""

from __future__ import annotations

from prjury.config.questions import QualityOptions
from prjury.judges.context import PullRequestContext
from prjury.judges.llm.asking.prompts import Instructions
from prjury.judges.llm.judge import Inquiry, ModelBackedJudge
from prjury.judges.llm.kinds.criteria import chosen
from prjury.judges.llm.kinds.reading import ChangeReader, own_texts, time_of
from prjury.ports import Doors

NAME = "quality"


def make(options: QualityOptions, doors: Doors) -> ModelBackedJudge[PullRequestContext]:
    """The quality judge. It is blind: it knows the change and no word of its author's.

    Raises:
        ConfigError: for criteria that cannot be asked about, or a model that is not known.
    """
    panel, criteria = doors.models.panel(options.model), chosen(options)

    def instruct(context: PullRequestContext) -> Instructions:
        own = own_texts(doors, context)
        guidelines = own.guidelines(doors.redact) if options.guidelines else ""
        values = {"criteria": dict(criteria), "guidelines": guidelines}
        return own.prompts().render(NAME, values)

    about = "asks a model about the quality of the change"
    inquiry = Inquiry(
        NAME, about, criteria, options.threshold, ChangeReader.of(doors, panel), instruct
    )
    return ModelBackedJudge(inquiry, panel, options.runs, doors.memory, time_of)
