"""The configuration file as models: names, types, defaults and allowed values in one place."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from prjury.jury.cascade import TierPolicy
from prjury.jury.voting import ErrorPolicy, TiePolicy

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h)")
_SECONDS = {"s": 1, "m": 60, "h": 3600}

Share: TypeAlias = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]


def _seconds(value: object) -> object:
    """``30m`` as 1800.0; numbers are seconds."""
    if isinstance(value, str):
        match = _DURATION.fullmatch(value.strip())
        if not match:
            raise ValueError("a duration is a number of seconds or such as 90s, 30m, 2h")
        value = float(match[1]) * _SECONDS[match[2]]
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise ValueError("a duration is more than 0 seconds, such as 90s, 30m, 2h")
    return float(value)


Duration: TypeAlias = Annotated[
    float,
    BeforeValidator(_seconds),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "exclusiveMinimum": 0},
                {"type": "string", "pattern": r"^\d+(\.\d+)?\s*(s|m|h)$"},
            ]
        }
    ),
]


def _whole(value: object) -> object:
    """Refuses ``true`` and ``1.0``, which Python holds to be equal to 1."""
    if type(value) is not int:
        raise ValueError("the version is 1")
    return value


Version: TypeAlias = Annotated[Literal[1], BeforeValidator(_whole)]


class Section(BaseModel):
    """A part of the configuration: unknown keys and wrong types are errors."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, use_enum_values=False)


class MergeOptions(Section):
    """The merge judge has nothing to configure yet."""


class Steps(Section):
    """Own commands, each one line for ``/bin/sh``; what is left out is not run."""

    setup: str | None = None
    build: str | None = None
    test: str | None = None
    lint: str | None = None


class BuildOptions(Section):
    """How the merged tree is built."""

    command: str | Steps = Field("auto", description="`auto`, one shell command, or steps")
    affected: bool = Field(True, description="build only what the change can affect")  # noqa: FBT003
    pre_existing: Literal["warn", "block"] = "warn"
    timeout: Duration = 1800.0
    from_: Literal["run", "checks", "evidence"] = Field("run", alias="from")


class PatternsOptions(Section):
    """Which version-pattern packs look at which files."""

    packs: Literal["auto"] | list[str] = "auto"
    paths: list[str] = Field(default_factory=list, description="own packs, files or directories")
    severity: Literal["error", "warning", "hint"] = Field(
        "error", description="findings at least as severe as this fail the judge"
    )
    baseline: str | None = None


class QualityOptions(Section):
    """What the quality judge asks the model about."""

    criteria: list[str] | dict[str, str] = Field(
        default=["correctness", "tests", "conventions", "risk"], min_length=1
    )
    model: str = "auto"
    runs: int = Field(1, ge=1, le=9)
    threshold: Share = 0.7


class JudgeEntry(BaseModel):
    """One judge of a tier: its name, or its name with options, optionally with a weight."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    merge: MergeOptions | None = None
    build: BuildOptions | None = None
    patterns: PatternsOptions | None = None
    quality: QualityOptions | None = None
    weight: float = Field(1.0, ge=0.0, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, value: object) -> object:
        if isinstance(value, str):
            return {value: {}}
        if isinstance(value, dict):
            return {key: {} if item is None else item for key, item in value.items()}
        return value

    @model_validator(mode="after")
    def _exactly_one(self) -> JudgeEntry:
        if len(self._named) != 1:
            named = " and ".join(sorted(self._named)) or "none"
            raise ValueError(f"an entry names exactly one judge, not {named}")
        return self

    @property
    def _named(self) -> dict[str, Any]:
        known = {name: getattr(self, name) for name in type(self).model_fields if name != "weight"}
        seated = {name: options for name, options in known.items() if options is not None}
        return {**seated, **(self.__pydantic_extra__ or {})}

    @property
    def name(self) -> str:
        """The judge's name."""
        return next(iter(self._named))

    @property
    def options(self) -> Any:  # noqa: ANN401 - a model for our own judges, a mapping for others
        """The judge's options: a model for our own judges, a mapping for those of others."""
        return self._named[self.name]


class MajorityOptions(Section):
    """Options of majority voting."""

    tie: TiePolicy = Field(TiePolicy.FAIL, strict=False)
    on_error: ErrorPolicy = Field(ErrorPolicy.PROPAGATE, strict=False)


class ScoreOptions(Section):
    """Options of the strategies that read scores."""

    threshold: Share = 0.5
    undecided: tuple[Share, Share] | None = Field(None, strict=False)
    on_error: ErrorPolicy = Field(ErrorPolicy.PROPAGATE, strict=False)

    @field_validator("undecided")
    @classmethod
    def _in_order(cls, band: tuple[float, float] | None) -> tuple[float, float] | None:
        if band and band[0] > band[1]:
            raise ValueError("the lower end of the band comes first, such as [0.4, 0.6]")
        return band


class ConsensusOptions(Section):
    """Options of voting by consensus."""

    on_disagreement: Literal["fail", "abstain", "error"] = "fail"
    on_error: ErrorPolicy = Field(ErrorPolicy.PROPAGATE, strict=False)


class VotingEntry(Section):
    """One voting strategy: its name, or its name with options."""

    majority: MajorityOptions | None = None
    average: ScoreOptions | None = None
    weighted_average: ScoreOptions | None = None
    median: ScoreOptions | None = None
    consensus: ConsensusOptions | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, value: object) -> object:
        return {value: {}} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _exactly_one(self) -> VotingEntry:
        if len(self.model_fields_set) != 1:
            named = " and ".join(sorted(self.model_fields_set)) or "none"
            raise ValueError(f"name exactly one voting strategy, not {named}")
        return self

    @property
    def name(self) -> str:
        """The strategy's name."""
        return next(iter(self.model_fields_set))

    @property
    def options(self) -> Section:
        """The strategy's options."""
        options: Section = getattr(self, self.name)
        return options


class TierConfig(Section):
    """One tier: judges, how their votes are counted, and when the tier ends the matter."""

    name: str = Field(min_length=1, max_length=60)
    policy: TierPolicy = Field(TierPolicy.REJECT_ON_ANY_FAIL, strict=False)
    judges: list[JudgeEntry] = Field(min_length=1)
    voting: VotingEntry = Field(default_factory=lambda: VotingEntry(consensus=ConsensusOptions()))
    continue_on_reject: bool = False
    on_error: Literal["block", "continue"] = "block"
    min_confidence: Share | None = None
    advisory: bool | Literal["auto"] = "auto"


class BackportConfig(Section):
    """Which release branches a change is judged for."""

    branches: Literal["auto"] | list[str] = "auto"
    default: Literal["ask", "yes", "no"] = "ask"
    merge: Literal["squash", "merge", "rebase"] = "squash"
    build: bool = False


class OverrideConfig(Section):
    """How a maintainer overrules the gate."""

    label: str = "prjury:override"


class GateConfig(Section):
    """What closes the merge gate."""

    block_on: list[Literal["fail", "error", "abstain"]] = Field(
        default=["fail", "error", "abstain"]
    )
    not_configured: Literal["pass", "block"] = "pass"
    coverage_floor: Share = 0.95
    override: OverrideConfig = OverrideConfig()


class PublishConfig(Section):
    """Where the report is hung up."""

    comment: bool = True
    check: bool = True
    annotations: bool = True
    summary: bool = True
    review: bool = False
    sarif: bool = False
    labels: dict[str, str] = Field(default_factory=dict)


class ModelConfig(Section):
    """One model: a provider (`auto`: by the key that is present) and a model's name."""

    provider: str = "auto"
    name: str | None = None


class RetryConfig(Section):
    """When an unsure panel is asked again."""

    confidence: Share = 0.7
    iterations: int = Field(2, ge=1, le=5)


class ModelsConfig(Section):
    """The models behind model-backed judges."""

    default: ModelConfig = ModelConfig()
    panel: list[ModelConfig] = Field(default_factory=list)
    base_url: str | None = None
    retry: RetryConfig = RetryConfig()


class LimitsConfig(Section):
    """How much money, text and time a run may take."""

    usd: float = Field(1.0, ge=0.0, allow_inf_nan=False)
    input_tokens: int = Field(200_000, ge=0)
    wall: Duration = 2700.0


class SandboxConfig(Section):
    """How builds are kept in."""

    level: Literal["auto", "L0", "L1", "L2", "L3"] = "auto"
    network: bool = True
    env: list[str] = Field(default_factory=list)
    mounts: list[str] = Field(default_factory=list)


class SuppressionsConfig(Section):
    """Whether comments in the code may silence findings."""

    allow: bool = True


class FixConfig(Section):
    """Whether a repair command is tried when tests fail."""

    enabled: bool = False
    command: str | None = None
    paths: list[str] = Field(default=["**/test/**", "tests/**"])
    rounds: int = Field(2, ge=1, le=9)


class PullsConfig(Section):
    """What is done with drafts and with the pull requests of bots."""

    drafts: bool = False
    bots: list[str] = Field(default=["dependabot", "renovate"])


def _default_tiers() -> list[TierConfig]:
    return [TierConfig.model_validate(tier) for tier in Config.DEFAULT_TIERS]


class Config(Section):
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
    tiers: list[TierConfig] = Field(default_factory=_default_tiers, min_length=1)
    backport: BackportConfig = BackportConfig()
    gate: GateConfig = GateConfig()
    publish: PublishConfig = PublishConfig()
    models: ModelsConfig = ModelsConfig()
    limits: LimitsConfig = LimitsConfig()
    sandbox: SandboxConfig = SandboxConfig()
    suppressions: SuppressionsConfig = SuppressionsConfig()
    fix: FixConfig = FixConfig()
    calibration: dict[str, str] = Field(default_factory=dict)
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
