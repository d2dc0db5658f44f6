"""What a policy says of agents: as judges, and as repairers of tests."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import AfterValidator, Field, model_validator

from prjury.policy.fields import Duration, FilesOfPolicy, Glob, PolicySection, empty
from prjury.secret_env import JOB_CREDENTIALS

#: Credentials of the job, and what would make a program another one.
_NEVER = re.compile(
    JOB_CREDENTIALS + r"|PRJURY_.*|PATH|HOME|TMPDIR|LD_.*|PYTHON.*", re.IGNORECASE | re.DOTALL
)


def is_kept_from_agents(name: str) -> bool:
    """Tell whether a variable of this name is never handed to an agent."""
    return _NEVER.fullmatch(name) is not None


def _check_command(command: str) -> str:
    if not command.strip() or "\0" in command:
        raise ValueError("a command is needed, such as `claude -p --output-format json`")
    return command


def _is_an_agents(name: str) -> str:
    if is_kept_from_agents(name):
        raise ValueError(f"{name} is a credential of the job; no agent may see it")
    return name


AgentCommand: TypeAlias = Annotated[str, AfterValidator(_check_command)]
AgentVariable: TypeAlias = Annotated[
    str, Field(pattern=r"^[A-Za-z_]\w*$"), AfterValidator(_is_an_agents)
]


class AgentOptions(FilesOfPolicy):
    """An agent that looks at the merged tree; it can lower a result, never lift one."""

    name: str = Field(
        "agent", pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,59}$", description="its name in the report"
    )
    command: AgentCommand = Field(description="reads the goal from its standard input")
    goal: str | None = Field(
        None, min_length=1, description="a question that YES or NO answers; NO fails"
    )
    file: str | None = Field(
        None, min_length=1, description="the question, by its path in the base commit"
    )
    env: list[AgentVariable] = Field(
        default_factory=empty, description="variables that it gets, such as its key"
    )
    timeout: Duration = Field(600.0, description="how long it may take")

    @model_validator(mode="after")
    def _asks_one_question(self) -> Self:
        if (self.file is None) == (self.goal is None):
            raise ValueError("give one of `goal` and `file`")
        return self


class FixConfig(PolicySection):
    """A command that tries to repair tests, in a copy, when the build fails with new failures."""

    enabled: bool = Field(default=False, description="whether it is tried at all")
    when: Literal["asked", "always"] = Field(
        "asked",
        description="in GitHub Actions, only when `/prjury fix` asks for it, or at every run",
    )
    command: AgentCommand | None = Field(
        None, description="reads the feedback from its standard input and edits its directory"
    )
    paths: list[Glob] = Field(
        default=["**/test/**", "tests/**"], min_length=1, description="what it may change"
    )
    rounds: int = Field(2, ge=1, le=9, description="how often it is tried")
    env: list[AgentVariable] = Field(
        default_factory=empty, description="variables that it gets, such as its key"
    )
    timeout: Duration = Field(600.0, description="for one round of the command")
    usd: float = Field(
        1.0, ge=0.0, allow_inf_nan=False, description="no further round once it says to have spent"
    )

    @model_validator(mode="after")
    def _has_a_command(self) -> Self:
        if self.enabled and self.command is None:
            raise ValueError("`enabled: true` needs a `command`")
        return self
