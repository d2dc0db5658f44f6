"""The action's inputs and outputs, and the values of one run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from msgspec import Struct

from prjury.errors import UsageError

Mode = Literal[
    "review", "build", "collect", "decide", "publish", "backport", "conflicts", "comment"
]
FailOn = Literal["gate", "never"]

_PREFIX = "PRJURY_INPUT_"
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


class Inputs(Struct, frozen=True):
    """The inputs of one run; an empty text means that nothing was given."""

    mode: Mode = "review"
    github_token: str = ""
    config: str = ""
    model: str = ""
    model_api_key: str = ""
    model_base_url: str = ""
    build: bool = True
    base: str = ""
    head: str = ""
    fail_on: FailOn = "gate"
    junit: str = ""
    python_version: str = ""
    #: Whether the token is the job's own, whose account is known.
    is_job_token: bool = False

    def __repr__(self) -> str:
        return f"Inputs(mode={self.mode!r})"  # a token or a key is printed nowhere


#: The inputs that `action.yml` declares, each with the variable in which it hands the value over.
INPUTS: Mapping[str, str] = {
    name.replace("_", "-"): _PREFIX + name.upper() for name in Inputs.__struct_fields__[:-1]
}
#: The values of an input that is not free text.
ALLOWED: Mapping[str, tuple[str, ...]] = {
    "mode": get_args(Mode),
    "build": ("true", "false"),
    "fail-on": get_args(FailOn),
}


def read_inputs(environ: Mapping[str, str]) -> Inputs:
    """Read the inputs in the environment; refuse others, and values that they cannot have."""
    for variable in environ:
        if variable.startswith(_PREFIX) and variable not in INPUTS.values():
            raise UsageError(
                f"There is no input for {variable}",
                why="action.yml and the program are of different versions",
                remedy="Use one release of the action as a whole",
            )
    values: dict[str, Any] = {}
    for name, variable in INPUTS.items():
        text = environ.get(variable, "").strip()
        allowed = ALLOWED.get(name)
        if text and allowed and text not in allowed:
            raise UsageError(
                f"The input {name} cannot be {text[:60]!r}",
                remedy=f"Use one of: {', '.join(allowed)}",
            )
        if text:
            values[name.replace("-", "_")] = text == "true" if "true" in (allowed or ()) else text
    return Inputs(**values, is_job_token=environ.get("PRJURY_JOB_TOKEN") == "true")
