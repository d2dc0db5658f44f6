"""The ``models`` section: who answers the model-backed judges, and how they are reached."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from msgspec import Meta, field

from prjury.policy.fields import Duration, PolicySection, Share, Variable, seconds

#: Credentials of the runner itself, which no model's server is ever shown.
_NOT_FOR_MODELS = re.compile(r"GITHUB_TOKEN|GH_TOKEN|INPUT_GITHUB.TOKEN|ACTIONS_\w+", re.IGNORECASE)


class ModelConfig(PolicySection, frozen=True):
    """One model: a provider (`auto`: by the key that is present), a model's name, and its options.

    A provider `command` is a program that reads the prompt from its standard input and prints the
    answer.
    """

    provider: Annotated[
        str, "`auto`, `openai` (or a server like it), `anthropic`, `google`, `command`"
    ] = "auto"
    name: Annotated[str | None, "the provider's name for it; else our default"] = None
    base_url: Annotated[
        str | None,
        "the address of the server, if not the provider's own: with its `/v1` for `openai`, "
        "without for the others",
    ] = None
    key_env: Annotated[Variable | None, "the variable with the key, if not the usual one"] = None
    command: Annotated[
        Annotated[list[str], Meta(min_length=1)] | None,
        "program and arguments, for the provider `command`",
    ] = None
    answer: Annotated[str | None, "where in a command's JSON the answer is, such as `result`"] = (
        None
    )
    temperature: Annotated[
        Annotated[float, Meta(ge=0.0, le=2.0)] | None,
        "0 if not set; not sent to a model that takes none, such as one that thinks",
    ] = None
    thinking: Annotated[
        Literal["off", "low", "medium", "high"] | None,
        "how much it thinks first, where it can; else as it does by default",
    ] = None
    max_output_tokens: Annotated[
        Annotated[int, Meta(ge=256, le=1_000_000)] | None,
        "for one answer, with the thinking before it",
    ] = None
    timeout: Annotated[Duration, "for one call"] = seconds(120)
    room: Annotated[
        int,
        Meta(ge=2_000, le=2_000_000),
        "tokens of material in one prompt; lists of other files may take 2,000 more",
    ] = 30_000

    def __post_init__(self) -> None:
        if self.key_env and _NOT_FOR_MODELS.fullmatch(self.key_env):
            raise ValueError(f"{self.key_env} is a credential of the runner; no model may see it")
        if (self.provider == "command") != (self.command is not None):
            raise ValueError("`command` and `provider: command` belong together")
        if self.answer is not None and self.command is None:
            raise ValueError("`answer` says where the answer of a command is; there is no command")
        if self.command is not None and (self.key_env or self.base_url):
            raise ValueError("a command has neither `key_env` nor `base_url`")
        if self.provider == "auto" and self.key_env and not self.base_url:
            raise ValueError("`key_env` names a key without its provider: name `provider` as well")


class RetryConfig(PolicySection, frozen=True):
    """When all models are asked again, and how often."""

    confidence: Annotated[Share, "mean confidence below which all are asked again"] = 0.7
    iterations: Annotated[int, Meta(ge=1, le=5), "rounds at most"] = 2
    trigger: Annotated[
        Literal["evidence", "flip"],
        "what confidence is: the share of true quotes, or the same answer with the files in "
        "another order (asks twice)",
    ] = "evidence"


class RateConfig(PolicySection, frozen=True):
    """How many requests a provider gets at a time, from all judges together."""

    requests_per_minute: Annotated[
        Annotated[int, Meta(ge=1, le=10_000)] | None, "started in any 60 seconds; further ones wait"
    ] = None
    max_parallel: Annotated[int, Meta(ge=1, le=64), "under way at the same time"] = 8


class ModelsConfig(PolicySection, frozen=True):
    """The models behind model-backed judges."""

    default: ModelConfig = field(default_factory=ModelConfig)
    panel: Annotated[list[ModelConfig], Meta(max_length=9), "asked instead of the default"] = []
    chair: Annotated[ModelConfig | None, "reads what the panel says, and decides"] = None
    base_url: Annotated[str | None, "the address of `openai` models that name none"] = None
    retry: RetryConfig = RetryConfig()
    rate: RateConfig = RateConfig()

    @property
    def reaches_out(self) -> bool:
        """Whether it says where models are reached, with which key, or by which program."""
        configs = [self.default, *self.panel, *filter(None, [self.chair])]
        own = any(model.base_url or model.key_env or model.command for model in configs)
        return own or self.base_url is not None

    @property
    def without_addresses(self) -> ModelsConfig:
        """The same where it does not say how models are reached, for models that others name."""
        return ModelsConfig(retry=self.retry, rate=self.rate)
