"""The ``models`` section: who answers the model-backed judges, and how they are reached."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from prjury.policy.fields import Duration, PolicySection, Share, empty

_MINUTE = 10_000
_PARALLEL = 64
_LARGEST_PANEL = 9  # as many as `runs`

#: Credentials of the runner itself, which no model's server is ever shown.
_NOT_FOR_MODELS = re.compile(r"GITHUB_TOKEN|GH_TOKEN|INPUT_GITHUB.TOKEN|ACTIONS_\w+", re.IGNORECASE)


class ModelConfig(PolicySection):
    """One model: a provider (`auto`: by the key that is present), a model's name, and its options.

    A provider `command` is a program that reads the prompt from its standard input and prints the
    answer.
    """

    provider: str = Field(
        "auto",
        description="`auto`, `openai` (or any server like it), `anthropic`, `google`, `command`",
    )
    name: str | None = Field(None, description="the provider's name for it; else our default")
    base_url: str | None = Field(
        None,
        description="the address of the server, if not the provider's own: with its `/v1` for "
        "`openai`, without for the others",
    )
    key_env: str | None = Field(
        None,
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
        description="the variable that holds the key, if not the provider's usual one",
    )
    command: Annotated[list[str], Field(min_length=1)] | None = Field(
        None, description="program and arguments, for the provider `command`"
    )
    answer: str | None = Field(
        None, description="where in a command's JSON output the answer is, such as `result`"
    )
    temperature: float | None = Field(
        None,
        ge=0.0,
        le=2.0,
        allow_inf_nan=False,
        description="0 if not set; not sent to a model that takes none, such as one that thinks",
    )
    thinking: Literal["off", "low", "medium", "high"] | None = Field(
        None, description="how much it thinks first, where it can; else as it does by default"
    )
    max_output_tokens: int | None = Field(
        None, ge=256, le=1_000_000, description="for one answer, with the thinking before it"
    )
    timeout: Duration = Field(120.0, description="for one call")
    room: int = Field(
        30_000,
        ge=2_000,
        le=2_000_000,
        description="tokens of material in one prompt; lists of other files may take 2,000 more",
    )

    @field_validator("key_env")
    @classmethod
    def _is_a_key_for_models(cls, key_env: str | None) -> str | None:
        if key_env and _NOT_FOR_MODELS.fullmatch(key_env):
            raise ValueError(f"{key_env} is a credential of the runner; no model may see it")
        return key_env

    @model_validator(mode="after")
    def _command_belongs_to_its_provider(self) -> ModelConfig:
        if (self.provider == "command") != (self.command is not None):
            raise ValueError("`command` and `provider: command` belong together")
        if self.answer is not None and self.command is None:
            raise ValueError("`answer` says where the answer of a command is; there is no command")
        return self

    @model_validator(mode="after")
    def _a_key_belongs_to_a_server(self) -> ModelConfig:
        if self.command is not None and (self.key_env or self.base_url):
            raise ValueError("a command has neither `key_env` nor `base_url`")
        if self.provider == "auto" and self.key_env and not self.base_url:
            raise ValueError("`key_env` names a key without its provider: name `provider` as well")
        return self


class RetryConfig(PolicySection):
    """When all models are asked again, and how often."""

    confidence: Share = Field(0.7, description="mean confidence below which all are asked again")
    iterations: int = Field(2, ge=1, le=5, description="rounds at most")
    trigger: Literal["evidence", "flip", "agreement", "self_report"] = Field(
        "evidence",
        description="what confidence is: the share of true quotes, the same answer with the files "
        "in another order (asks twice), the same answer as the other models, or its own word",
    )


class RateConfig(PolicySection):
    """How many requests a provider gets at a time, from all judges together."""

    requests_per_minute: int | None = Field(
        None, ge=1, le=_MINUTE, description="started in any 60 seconds; further ones wait"
    )
    max_parallel: int = Field(8, ge=1, le=_PARALLEL, description="under way at the same time")


class ModelsConfig(PolicySection):
    """The models behind model-backed judges."""

    default: ModelConfig = ModelConfig()
    fallback: list[ModelConfig] = Field(
        default_factory=empty, description="asked in turn if the one before has no answer"
    )
    panel: list[ModelConfig] = Field(
        default_factory=empty, description="asked instead of the default, each of them every time"
    )
    chair: ModelConfig | None = Field(
        None, description="reads what the panel says and decides; without one, votes are counted"
    )
    base_url: str | None = Field(
        None, description="the address of every `openai` model that names none of its own"
    )
    retry: RetryConfig = RetryConfig()
    rate: RateConfig = RateConfig()

    @property
    def reaches_out(self) -> bool:
        """Whether it says where models are reached, with which key, or by which program."""
        configs = [self.default, *self.fallback, *self.panel, *filter(None, [self.chair])]
        own = any(model.base_url or model.key_env or model.command for model in configs)
        return own or self.base_url is not None

    @property
    def without_addresses(self) -> ModelsConfig:
        """The same where it does not say how models are reached, for models that others name."""
        return ModelsConfig(retry=self.retry, rate=self.rate)

    @field_validator("panel")
    @classmethod
    def _few(cls, panel: list[ModelConfig]) -> list[ModelConfig]:
        if len(panel) > _LARGEST_PANEL:
            raise ValueError("a panel has at most nine models")
        return panel
