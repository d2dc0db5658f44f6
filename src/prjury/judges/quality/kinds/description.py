"""Does the change do what its description says? The one judge that reads the description."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from prjury.deadline import Deadline
from prjury.judges.context import PullRequestContext
from prjury.judges.quality.judge import ModelBackedJudge
from prjury.judges.quality.kinds.reading import ChangeReader, judge_of, with_description
from prjury.judges.quality.model_seat import Material
from prjury.jury.judgment import Judgment
from prjury.jury.voting import NOT_APPLICABLE
from prjury.policy.tiers import QuestionOptions
from prjury.ports import Ports

NAME = "description-matches-change"

CRITERIA: Mapping[str, str] = MappingProxyType(
    {
        "kept": "Is every effect that the description claims visible in the change? No if a claim "
        "can be quoted that the change contradicts, or that it plainly leaves undone.",
        "told": "Does the description mention every effect of the change that a reviewer would "
        "want to know of? No if a line of the change can be quoted with an effect on behaviour, "
        "security, dependencies or interfaces that the description neither names nor implies.",
    }
)


def make(options: QuestionOptions, ports: Ports) -> ModelBackedJudge[PullRequestContext]:
    """The judge that compares a change with its description.

    What an author writes sways its reader, so this judge can lower a verdict and never lift
    it, and no other judge of the change reads the description.

    Raises:
        ConfigError: for a model that is not known.
    """
    panel = ports.models.panel(options.model)
    read = with_description(ChangeReader.of(ports, panel), ports.redact)

    def gather(context: PullRequestContext, deadline: Deadline) -> Material | Judgment:
        if not (context.pull.title.strip() or context.pull.body.strip()):
            return Judgment.abstained("there is no description", NOT_APPLICABLE)
        return read(context, deadline)

    about = "asks a model whether the change does what its description says"
    return judge_of(
        NAME,
        about,
        CRITERIA,
        options,
        ports,
        panel,
        gather,
        template="description",
        lowers_only=True,
    )
