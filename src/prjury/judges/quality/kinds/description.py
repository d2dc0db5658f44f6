"""Does the change do what its description, and the issue that it closes, say?"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from prjury.judges.context import PullRequestContext
from prjury.judges.quality.judge import ModelBackedJudge
from prjury.judges.quality.kinds.reading import judge_of
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
    """The judge that compares a change with its description, which no other judge of it reads."""
    return judge_of(
        NAME,
        CRITERIA,
        options,
        ports,
        about="asks a model whether the change does what its description says",
        aside=lambda it: None if f"{it.title}{it.body}".strip() else "there is no description",
        described=True,
        linked=True,
        template="description",
    )
