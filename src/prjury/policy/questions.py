"""Options of the judges that ask models."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from pydantic import Field, PrivateAttr, ValidationInfo, field_validator, model_validator

from prjury.policy.fields import PolicySection, Share

_MOST_RUNS = 9

#: Names become keys of the reply, and providers take no others there.
CRITERION_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,59}")


def plain_name(name: str) -> str:
    """The name of a criterion, in which a hyphen is as good as an underscore."""
    return name.replace("-", "_")


#: Names by which reports know other judges.
_TAKEN = frozenset(
    "merge build patterns quality tests-exercise-behaviour description-matches-change "
    "backport-suitability prompt chair".split()
)


class QuestionOptions(PolicySection):
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
    must: list[str] = Field(
        default=["correctness", "risk"],
        description="criteria of which none may fail; `threshold` is for the others alone",
    )
    guidelines: bool = Field(
        True,  # noqa: FBT003 - pydantic takes the default by position
        description="whether the base's guidelines or CONTRIBUTING are part of the instructions",
    )

    @field_validator("must")
    @classmethod
    def _are_criteria(cls, must: list[str], info: ValidationInfo) -> list[str]:
        """Only names that the policy gives are checked: the default ones need not be asked."""
        known = {plain_name(name) for name in info.data.get("criteria", must)}
        for name in must:
            if plain_name(name) not in known:
                raise ValueError(f"{name} is none of the criteria: {', '.join(sorted(known))}")
        return must

    def musts(self, criteria: Iterable[str]) -> frozenset[str]:
        """Those of these criteria that have to pass."""
        must = {plain_name(name) for name in self.must}
        return frozenset(name for name in criteria if plain_name(name) in must)


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
