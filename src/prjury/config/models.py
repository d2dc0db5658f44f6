"""The ``models`` section: who answers the model-backed judges, and how they are reached."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from prjury.config.fields import Duration, Section, Share

_MINUTE = 10_000
_PARALLEL = 64


class ModelConfig(Section):
    """One model: a provider (`auto`: by the key that is present), a model's name, and its options.

    A provider `command` is a program that reads the prompt from its standard input and prints the
    answer.
    """

    provider: str = "auto"
    name: str | None = None
    base_url: str | None = Field(None, description="the address of the server, if not its own")
    key_env: str | None = Field(
        None, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", description="the variable that holds the key"
    )
    command: Annotated[list[str], Field(min_length=1)] | None = Field(
        None, description="program and arguments, for the provider `command`"
    )
    answer: str | None = Field(
        None, description="where in a command's JSON output the answer is, such as `result`"
    )
    temperature: float | None = Field(None, ge=0.0, le=2.0, allow_inf_nan=False)
    thinking: Literal["off", "low", "medium", "high"] | None = None
    max_output_tokens: int | None = Field(None, ge=256, le=1_000_000)
    timeout: Duration = Field(120.0, description="for one call")
    room: int = Field(
        30_000, ge=2_000, le=2_000_000, description="tokens of material in one prompt"
    )

    @model_validator(mode="after")
    def _command_belongs_to_its_provider(self) -> ModelConfig:
        if (self.provider == "command") != (self.command is not None):
            raise ValueError("`command` and `provider: command` belong together")
        if self.answer is not None and self.command is None:
            raise ValueError("`answer` says where the answer of a command is; there is no command")
        return self


class RetryConfig(Section):
    """When everybody is asked again, and how often."""

    confidence: Share = Field(0.7, description="mean confidence below which all are asked again")
    iterations: int = Field(2, ge=1, le=5, description="rounds at most")
    trigger: Literal["evidence", "flip", "agreement", "self_report"] = Field(
        "evidence",
        description="what confidence is: the share of true quotes, the same answer with the files "
        "in another order (asks twice), the same answer as the other models, or its own word",
    )


class RateConfig(Section):
    """How much a provider is asked at a time, by all judges together."""

    requests_per_minute: int | None = Field(None, ge=1, le=_MINUTE)
    max_parallel: int = Field(8, ge=1, le=_PARALLEL)


class ModelsConfig(Section):
    """The models behind model-backed judges."""

    default: ModelConfig = ModelConfig()
    fallback: list[ModelConfig] = Field(
        default_factory=list, description="asked in turn where the one before has no answer"
    )
    panel: list[ModelConfig] = Field(
        default_factory=list, description="asked instead of the default, each of them every time"
    )
    chair: ModelConfig | None = Field(
        None, description="reads what the panel says and decides; without one, votes are counted"
    )
    base_url: str | None = None
    retry: RetryConfig = RetryConfig()
    rate: RateConfig = RateConfig()

    @field_validator("panel")
    @classmethod
    def _few(cls, panel: list[ModelConfig]) -> list[ModelConfig]:
        if len(panel) > 9:  # noqa: PLR2004 - as many as `runs`
            raise ValueError("a panel has at most nine models")
        return panel
