"""What a policy says of agents: as judges, and as repairers of tests."""

from __future__ import annotations

import re
from typing import Annotated, Self, TypeAlias

from pydantic import AfterValidator, Field, model_validator

from prjury.policy.fields import Duration, Glob, PolicySection, empty
from prjury.secret_env import JOB_CREDENTIALS

#: Credentials of the job, and what would make a program another one.
_NEVER = re.compile(
    JOB_CREDENTIALS + r"|PRJURY_.*|PATH|HOME|TMPDIR|LD_.*|PYTHON.*", re.IGNORECASE | re.DOTALL
)


def is_kept_from_agents(name: str) -> bool:
    """Whether a variable of this name is never handed to an agent."""
    return _NEVER.fullmatch(name) is not None


def _one_line(command: str) -> str:
    if not command.strip() or "\0" in command:
        raise ValueError("a command is needed, such as `claude -p --output-format json`")
    return command


def _is_an_agents(name: str) -> str:
    if is_kept_from_agents(name):
        raise ValueError(f"{name} is a credential of the job; no agent may see it")
    return name


AgentCommand: TypeAlias = Annotated[str, AfterValidator(_one_line)]
AgentVariable: TypeAlias = Annotated[
    str, Field(pattern=r"^[A-Za-z_]\w*$"), AfterValidator(_is_an_agents)
]


class AgentOptions(PolicySection):
    """An agent that looks at the merged tree; it can lower a result, never lift one."""

    command: AgentCommand = Field(description="reads the goal from its standard input")
    goal: str = Field(min_length=1, description="a question that YES or NO answers; NO fails")
    env: list[AgentVariable] = Field(
        default_factory=empty, description="variables that it gets, such as its key"
    )
    timeout: Duration = 600.0


class FixConfig(PolicySection):
    """A command that tries to repair tests, in a copy, when the build fails with new failures."""

    enabled: bool = False
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
