"""Options of the judges that ask models."""

from __future__ import annotations

import re
from typing import Any

from pydantic import Field, PrivateAttr, field_validator, model_validator

from prjury.config.fields import Section, Share

_MOST_RUNS = 9

#: Names become keys of the reply, and providers take no others there.
CRITERION_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,59}")


#: Names by which reports know other judges.
_TAKEN = frozenset(
    "merge build patterns quality tests-exercise-behaviour description-matches-change "
    "backport-suitability prompt chair".split()
)


class QuestionOptions(Section):
    """What all judges that ask models have in common."""

    model: str = Field(
        "auto", description="`provider:name`; several with commas between them have a seat each"
    )
    runs: int = Field(1, ge=1, le=_MOST_RUNS, description="how often each model is asked")
    threshold: Share = Field(0.7, description="the share of criteria at which the judge passes")


class QualityOptions(QuestionOptions):
    """What the quality judge asks about."""

    criteria: list[str] | dict[str, str] = Field(
        default=["correctness", "tests", "conventions", "risk"],
        min_length=1,
        description="names of criteria, or own ones as name: question",
    )
    guidelines: bool = Field(
        True,  # noqa: FBT003 - pydantic takes the default by position
        description="whether the base's guidelines or CONTRIBUTING are part of the instructions",
    )


class SuitabilityOptions(QuestionOptions):
    """When a change is suitable for a release branch."""

    threshold: Share = 0.6


class PromptOptions(QuestionOptions):
    """A judge of one's own: a text that says what matters, and questions."""

    name: str = Field(pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,59}$")
    file: str | None = Field(None, description="the text, by its path in the base commit")
    text: str | None = Field(None, description="the text itself")
    criteria: dict[str, str] = Field(min_length=1, max_length=20)
    sees_description: bool = False

    _commit: str | None = PrivateAttr(None)

    @field_validator("name")
    @classmethod
    def _is_free(cls, name: str) -> str:
        if name in _TAKEN:
            raise ValueError(f"{name} is the name of another judge")
        return name

    @field_validator("criteria")
    @classmethod
    def _questions(cls, criteria: dict[str, str]) -> dict[str, str]:
        for name, question in criteria.items():
            if not CRITERION_NAME.fullmatch(name):
                raise ValueError(
                    f"{name!r} is no name; one has up to 60 letters, digits, dots, hyphens and "
                    "underscores, and a letter first"
                )
            if not question.strip():
                raise ValueError(f"{name} asks nothing")
        return criteria

    @model_validator(mode="after")
    def _says_what_matters(self) -> PromptOptions:
        if (self.file is None) == (self.text is None):
            raise ValueError("give one of `file` and `text`")
        return self

    def model_post_init(self, context: Any, /) -> None:  # noqa: ANN401 - as pydantic has it
        """Takes the commit from the context of the validation: no text may claim one."""
        self._commit = (context or {}).get("commit")

    @property
    def commit(self) -> str | None:
        """The commit in which ``file`` is, because the policy is; None for the operator's file."""
        return self._commit
