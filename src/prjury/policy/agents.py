"""What a policy says of agents: as judges, and as repairers of tests."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Literal

from msgspec import Meta, field

from prjury.policy.fields import (
    Amount,
    CommandLine,
    Duration,
    FilesOfPolicy,
    Glob,
    MisfitError,
    Name,
    PolicySection,
    Variable,
    seconds,
)
from prjury.secret_env import JOB_CREDENTIALS

#: Credentials of the job, and what would make a program another one.
_NEVER = re.compile(
    JOB_CREDENTIALS + r"|PRJURY_.*|PATH|HOME|TMPDIR|LD_.*|PYTHON.*", re.IGNORECASE | re.DOTALL
)


def is_kept_from_agents(name: str) -> bool:
    """Tell whether a variable of this name is never handed to an agent."""
    return _NEVER.fullmatch(name) is not None


def _refuse_credentials(names: Iterable[str]) -> None:
    for name in names:
        if is_kept_from_agents(name):
            raise MisfitError("env", f"{name} is a credential of the job; no agent may see it")


class AgentOptions(FilesOfPolicy, frozen=True, kw_only=True):
    """An agent that looks at the merged tree; it can lower a result, never lift one."""

    name: Annotated[Name, "its name in the report"] = "agent"
    command: Annotated[CommandLine, "reads the goal from its standard input"]
    goal: Annotated[str | None, "a question that YES or NO answers; NO fails"] = None
    file: Annotated[str | None, "the question, by its path in the base commit"] = None
    env: Annotated[list[Variable], "variables that it gets, such as its key"] = []
    timeout: Annotated[Duration, "how long it may take"] = seconds(600)

    def __post_init__(self) -> None:
        if bool(self.file) == bool(self.goal):
            raise ValueError("give one of `goal` and `file`")
        _refuse_credentials(self.env)


class FixConfig(PolicySection, frozen=True):
    """A command that tries to repair tests, in a copy, when the build fails with new failures."""

    enabled: Annotated[bool, "whether it is tried at all"] = False
    when: Annotated[
        Literal["asked", "always"],
        "in GitHub Actions, only when `/prjury fix` asks for it, or at every run",
    ] = "asked"
    command: Annotated[
        CommandLine | None, "reads feedback from its input and edits its directory"
    ] = None
    paths: Annotated[list[Glob], Meta(min_length=1), "what it may change"] = field(
        default_factory=lambda: ["**/test/**", "tests/**"]
    )
    rounds: Annotated[int, Meta(ge=1, le=9), "how often it is tried"] = 2
    env: Annotated[list[Variable], "variables that it gets, such as its key"] = []
    timeout: Annotated[Duration, "for one round of the command"] = seconds(600)
    usd: Annotated[Amount, "no further round once it says to have spent"] = 1.0

    def __post_init__(self) -> None:
        if self.enabled and self.command is None:
            raise ValueError("`enabled: true` needs a `command`")
        _refuse_credentials(self.env)
