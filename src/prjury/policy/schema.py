"""The configuration file as models: names, types, defaults and allowed values in one place."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

from pydantic import Field, ValidationInfo, field_validator, model_validator

from prjury.jury.cascade import TierPolicy
from prjury.policy.backports import BackportConfig
from prjury.policy.fields import (
    NOT_YET,
    Duration,
    Glob,
    Label,
    PolicySection,
    Share,
    Version,
    complete,
)
from prjury.policy.models import ModelConfig, ModelsConfig
from prjury.policy.questions import (
    PromptOptions,
    QualityOptions,
    QuestionOptions,
    SuitabilityOptions,
)
from prjury.policy.tiers import (
    BuildOptions,
    JudgeEntry,
    MergeOptions,
    PatternsOptions,
    Steps,
    TierConfig,
    VotingEntry,
)

__all__ = [
    "BackportConfig",
    "BuildOptions",
    "Config",
    "CoverageConfig",
    "GateConfig",
    "JudgeEntry",
    "LimitsConfig",
    "MergeOptions",
    "ModelConfig",
    "ModelsConfig",
    "PatternsOptions",
    "PolicySection",
    "PromptOptions",
    "PublishConfig",
    "QualityOptions",
    "QuestionOptions",
    "SandboxConfig",
    "Steps",
    "SuitabilityOptions",
    "TierConfig",
    "VotingEntry",
]


class OverrideConfig(PolicySection):
    """How a maintainer overrules the gate."""

    label: str | None = Field(
        "prjury:override", min_length=1, max_length=50, description="null: nobody can"
    )


class GateConfig(PolicySection):
    """What closes the merge gate."""

    block_on: list[Literal["fail", "error", "abstain"]] = Field(
        default=["fail", "error", "abstain"]
    )
    not_configured: Literal["pass", "block"] = "pass"
    coverage_floor: Share = 0.95
    override: OverrideConfig = OverrideConfig()


#: What the labels that a run sets may stand for: the verdict's status, and suitable branches.
LabelKey: TypeAlias = Literal["pass", "fail", "abstain", "error", "backport"]


class PublishConfig(PolicySection):
    """Where the report is hung up."""

    comment: bool = True
    check: bool = True
    annotations: bool = True
    summary: bool = True
    review: bool = False
    sarif: bool = False
    labels: dict[LabelKey, Label] = Field(default_factory=dict)

    @field_validator("labels")
    @classmethod
    def _names_the_branch(cls, labels: dict[LabelKey, Label]) -> dict[LabelKey, Label]:
        if "backport" in labels and "{branch}" not in labels["backport"]:
            raise ValueError("backport: the label has to hold {branch}")
        return labels


class LimitsConfig(PolicySection):
    """How much money, text and time a run may take."""

    usd: float = Field(1.0, ge=0.0, allow_inf_nan=False)
    input_tokens: int = Field(200_000, ge=0)
    wall: Duration = 2700.0


class SandboxConfig(PolicySection):
    """How builds are kept in."""

    level: Literal["auto", "L0", "L1", "L2", "L3"] = "auto"
    network: bool = True
    env: list[str] = Field(default_factory=list)
    mounts: Annotated[list[str], NOT_YET] = Field(
        default_factory=list, description="not supported yet", json_schema_extra={"maxItems": 0}
    )

    @field_validator("network", mode="before")
    @classmethod
    def _no_hosts_yet(cls, network: object) -> object:
        if isinstance(network, list):
            raise complete("a list of hosts is not supported yet; write true or false")
        return network


class CoverageConfig(PolicySection):
    """What of a change has to be read."""

    exempt: list[Glob] = Field(
        default_factory=list,
        description="globs of files that nobody has to read: no judge is asked about their lines, "
        "and `gate.coverage_floor` leaves them out. `*` stays in a directory, `**` crosses them; "
        "a glob without a slash holds in every directory",
    )


class SuppressionsConfig(PolicySection):
    """Whether comments in the code may silence findings: ours, and those of other tools."""

    allow: bool = True
    ecosystem: bool = True


class FixConfig(PolicySection):
    """Whether a repair command is tried when tests fail: not supported yet."""

    enabled: Annotated[bool, NOT_YET] = Field(
        False,  # noqa: FBT003 - pydantic takes the default by position
        json_schema_extra={"const": False},
    )
    command: str | None = None
    paths: list[str] = Field(default=["**/test/**", "tests/**"])
    rounds: int = Field(2, ge=1, le=9)


class PullsConfig(PolicySection):
    """What is done with drafts and with the pull requests of bots."""

    drafts: bool = False
    bots: list[str] = Field(default=["dependabot", "renovate"])


class BuildConfig(PolicySection):
    """What the judge `build` runs, said once, without restating the tiers."""

    command: str | Steps | None = Field(
        None, description="one shell command, or steps, for every judge `build` that names none"
    )
    junit: Annotated[list[str], NOT_YET] = Field(
        default_factory=list, description="not supported yet", json_schema_extra={"maxItems": 0}
    )
    recipes: Annotated[list[str], NOT_YET] = Field(
        default_factory=list, description="not supported yet", json_schema_extra={"maxItems": 0}
    )
    coverage: Annotated[list[str], NOT_YET] = Field(
        default_factory=list, description="not supported yet", json_schema_extra={"maxItems": 0}
    )

    @model_validator(mode="after")
    def _is_a_command(self) -> Self:
        BuildOptions(command=self.command or "auto")
        return self


def _with_command(tier: TierConfig, command: str | Steps) -> TierConfig:
    return tier.model_copy(update={"judges": [_commanded(entry, command) for entry in tier.judges]})


def _commanded(entry: JudgeEntry, command: str | Steps) -> JudgeEntry:
    if entry.build is None or "command" in entry.build.model_fields_set:
        return entry
    build = entry.build.model_copy(update={"command": command})
    return entry.model_copy(update={"build": build})


def _default_tiers() -> list[TierConfig]:
    return [TierConfig.model_validate(tier) for tier in Config.DEFAULT_TIERS]


class Config(PolicySection):
    """The whole policy; every part has a default, so that no file at all works."""

    DEFAULT_TIERS: ClassVar[list[dict[str, Any]]] = [
        {"name": "build", "policy": "reject_on_any_fail", "judges": ["merge", "build"]},
        {
            "name": "version-patterns",
            "policy": "reject_on_any_fail",
            "continue_on_reject": True,
            "judges": ["patterns"],
        },
        {
            "name": "quality",
            "policy": "final_tier",
            "voting": {"weighted_average": {"threshold": 0.7}},
            "judges": ["quality"],
        },
    ]

    version: Version = 1
    build: BuildConfig = BuildConfig()
    tiers: list[TierConfig] = Field(
        default_factory=_default_tiers, min_length=1, validate_default=True
    )
    backport: BackportConfig = BackportConfig()
    gate: GateConfig = GateConfig()
    publish: PublishConfig = PublishConfig()
    models: ModelsConfig = ModelsConfig()
    limits: LimitsConfig = LimitsConfig()
    sandbox: SandboxConfig = SandboxConfig()
    coverage: CoverageConfig = CoverageConfig()
    suppressions: SuppressionsConfig = SuppressionsConfig()
    fix: FixConfig = FixConfig()
    calibration: Annotated[dict[str, str], NOT_YET] = Field(
        default_factory=dict,
        description="not supported yet; `advisory: false` makes a tier of models block",
        json_schema_extra={"maxProperties": 0},
    )
    paths: Annotated[list[dict[str, Any]], NOT_YET] = Field(
        default_factory=list,
        description="not supported yet: all tiers judge all paths",
        json_schema_extra={"maxItems": 0},
    )
    pulls: PullsConfig = PullsConfig()

    @field_validator("tiers")
    @classmethod
    def _sound_cascade(cls, tiers: list[TierConfig]) -> list[TierConfig]:
        names = [tier.name for tier in tiers]
        if len(set(names)) != len(names):
            raise ValueError(f"tier names must be unique, not {', '.join(names)}")
        if tiers[-1].policy is not TierPolicy.FINAL_TIER:
            raise ValueError(f"the last tier, {names[-1]}, must have the policy final_tier")
        return tiers

    @field_validator("tiers")
    @classmethod
    def _build_as_said(cls, tiers: list[TierConfig], info: ValidationInfo) -> list[TierConfig]:
        command = info.data["build"].command if "build" in info.data else None
        if command is None:
            return tiers
        if not any(entry.build for tier in tiers for entry in tier.judges):
            raise ValueError("build.command is set, and no tier has the judge `build`")
        return [_with_command(tier, command) for tier in tiers]

    @model_validator(mode="after")
    def _overrules_nothing_itself(self) -> Self:
        names = [name.casefold() for name in self.publish.labels.values()]
        label = self.gate.override.label
        if label and label.casefold() in names:
            raise ValueError("publish.labels: a run cannot give the label that overrules the gate")
        return self

    @model_validator(mode="after")
    def _asks_nothing_itself(self) -> Self:
        own = self.publish.labels.get("backport")
        asking = [*self.backport.labels, *filter(None, [self.backport.override])]
        if own and own.casefold() in map(str.casefold, asking):
            raise ValueError("publish.labels: a run cannot give the label that asks for a backport")
        return self
