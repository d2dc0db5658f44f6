"""The action's inputs: one table, and the values of one run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from prjury.errors import UsageError

Mode = Literal[
    "review", "build", "collect", "decide", "publish", "backport", "conflicts", "comment"
]
FailOn = Literal["gate", "never"]

_PREFIX = "PRJURY_INPUT_"
#: The values of an input that is on or off.
SWITCH = ("true", "false")


@dataclass(frozen=True, slots=True)
class Input:
    """An input as `action.yml` declares it.

    Attributes:
        default: what an empty value means.
        allowed: the values that there are; empty for free text.
    """

    name: str
    default: str = ""
    allowed: tuple[str, ...] = ()

    @property
    def variable(self) -> str:
        """The environment variable in which `action.yml` hands the value over."""
        return _PREFIX + self.name.upper().replace("-", "_")


INPUTS = (
    Input(
        "mode",
        "review",
        ("review", "build", "collect", "decide", "publish", "backport", "conflicts", "comment"),
    ),
    Input("github-token"),
    Input("config"),
    Input("model"),
    Input("model-api-key"),
    Input("model-base-url"),
    Input("build", "true", SWITCH),
    Input("base"),
    Input("head"),
    Input("fail-on", "gate", ("gate", "never")),
    Input("junit"),
    Input("python-version"),
)

#: What later steps can read; see `prjury.publishers.files`.
OUTPUTS = (
    "verdict",
    "gate",
    "headline",
    "report-json",
    "report-html",
    "build-log",
    "comment-url",
    "backports",
    "llm-usd",
)


@dataclass(frozen=True)
class Inputs:
    """The inputs of one run; an empty text means that nothing was given.

    Attributes:
        config: the policy's path at the base commit.
        junit: where another CI's reports are; see `prjury.action.junit`.
        is_job_token: whether the token is the job's own, whose account is known.
    """

    mode: Mode = "review"
    github_token: str = field(default="", repr=False)
    config: str = ""
    model: str = ""
    model_api_key: str = field(default="", repr=False)
    model_base_url: str = ""
    build: bool = True
    base: str = ""
    head: str = ""
    fail_on: FailOn = "gate"
    junit: str = ""
    python_version: str = ""
    is_job_token: bool = False


def read_inputs(environ: Mapping[str, str]) -> Inputs:
    """The inputs in the environment.

    Raises:
        UsageError: for an input that there is not, or a value that it cannot have.
    """
    variables = {entry.variable for entry in INPUTS}
    for variable in environ:
        if variable.startswith(_PREFIX) and variable not in variables:
            raise UsageError(
                f"There is no input for {variable}",
                why="action.yml and the program are of different versions",
                remedy="Use one release of the action as a whole",
            )
    values = {entry.name.replace("-", "_"): _value(entry, environ) for entry in INPUTS}
    switches = {e.name for e in INPUTS if e.allowed == SWITCH}
    typed = {
        name: value == "true" if name.replace("_", "-") in switches else value
        for name, value in values.items()
    }
    typed["is_job_token"] = environ.get("PRJURY_JOB_TOKEN") == "true"
    return Inputs(**typed)  # type: ignore[arg-type] # checked against the table's words


def _value(entry: Input, environ: Mapping[str, str]) -> str:
    value = environ.get(entry.variable, "").strip() or entry.default
    if entry.allowed and value not in entry.allowed:
        raise UsageError(
            f"The input {entry.name} cannot be {value[:60]!r}",
            remedy=f"Use one of: {', '.join(entry.allowed)}",
        )
    return value
