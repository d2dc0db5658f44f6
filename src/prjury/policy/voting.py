"""How the votes of a tier are counted, and what of that differs by branch."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, field_validator, model_validator

from prjury.jury.voting import ErrorPolicy, TiePolicy
from prjury.policy.fields import BranchName, PolicySection, Share


class NamedEntry(BaseModel):
    """A name, or a name with options; a name without a value has none."""

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, value: object) -> object:
        if isinstance(value, str):
            return {value: {}}
        if isinstance(value, dict):
            return {key: {} if item is None else item for key, item in value.items()}
        return value


_ON_ERROR = "what the error of a judge does to the vote"


class MajorityOptions(PolicySection):
    """Options of majority voting."""

    tie: TiePolicy = Field(TiePolicy.FAIL, strict=False, description="the outcome of a tie")
    on_error: ErrorPolicy = Field(ErrorPolicy.PROPAGATE, strict=False, description=_ON_ERROR)


class ScoreOptions(PolicySection):
    """Options of the strategies that read scores."""

    threshold: Share = Field(0.5, description="the result at which the tier passes")
    undecided: tuple[Share, Share] | None = Field(
        None, strict=False, description="a result inside of this band is an abstention"
    )
    on_error: ErrorPolicy = Field(ErrorPolicy.PROPAGATE, strict=False, description=_ON_ERROR)

    @field_validator("undecided")
    @classmethod
    def _check_band(cls, band: tuple[float, float] | None) -> tuple[float, float] | None:
        if band and band[0] > band[1]:
            raise ValueError("the lower end of the band comes first, such as [0.4, 0.6]")
        return band


class ConsensusOptions(PolicySection):
    """Options of voting by consensus."""

    on_disagreement: Literal["fail", "abstain", "error"] = Field(
        "fail", description="the outcome where they do not agree"
    )
    on_error: ErrorPolicy = Field(ErrorPolicy.PROPAGATE, strict=False, description=_ON_ERROR)


class VotingEntry(NamedEntry):
    """One voting strategy: its name, or its name with options."""

    model_config = PolicySection.model_config

    majority: MajorityOptions | None = None
    average: ScoreOptions | None = None
    weighted_average: ScoreOptions | None = None
    median: ScoreOptions | None = None
    consensus: ConsensusOptions | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> VotingEntry:
        if len(self.model_fields_set) != 1:
            alternatives = " and ".join(sorted(self.model_fields_set)) or "none"
            raise ValueError(f"name exactly one voting strategy, not {alternatives}")
        return self

    @property
    def name(self) -> str:
        """The strategy's name."""
        return next(iter(self.model_fields_set))

    @property
    def options(self) -> PolicySection:
        """The strategy's options."""
        options: PolicySection = getattr(self, self.name)
        return options


class BranchCase(PolicySection):
    """What a tier has for changes to some branches; its judges are the same for all."""

    branch: BranchName = Field(description="the branch that is merged into, by its name or a glob")
    voting: VotingEntry | None = None
    weights: dict[str, Annotated[float, Field(ge=0.0, allow_inf_nan=False)]] = Field(
        default_factory=dict, description="weights of judges of the tier, by their names"
    )
    min_confidence: Share | None = Field(None, description="in place of the tier's own")

    @model_validator(mode="after")
    def _changes_something(self) -> BranchCase:
        if not self.weights and not self.settings:
            raise ValueError("name what differs: `voting`, `weights` or `min_confidence`")
        return self

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the tier that it replaces."""
        options = {"voting": self.voting, "min_confidence": self.min_confidence}
        return {key: value for key, value in options.items() if value is not None}
