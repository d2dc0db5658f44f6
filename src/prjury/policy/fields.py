"""What every part of the configuration is made of: strict sections, durations, shares, labels."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationInfo,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h)")
_SECONDS = {"s": 1, "m": 60, "h": 3600}

#: Bytes.
_LONGEST_BRANCH = 255
#: Characters that GitHub takes for a label.
LONGEST_LABEL = 50

Share: TypeAlias = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]


def complete(sentence: str) -> PydanticCustomError:
    """An error that says everything, after which the value is not repeated."""
    return PydanticCustomError("complete", "{sentence}", {"sentence": sentence})


def parse_duration(text: str) -> float:
    """Read ``30m`` as 1800.0 seconds.

    Raises:
        ValueError: for another form.
    """
    match = _DURATION.fullmatch(text.strip())
    if not match:
        raise ValueError("a duration is a number with a unit, such as 90s, 30m, 2h")
    return float(match[1]) * _SECONDS[match[2]]


def _seconds(value: object, info: ValidationInfo) -> object:
    """Read a duration; numbers are seconds, and in a hand-written file must have a unit."""
    text = value
    if isinstance(value, str):
        value = parse_duration(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise ValueError("a duration is more than 0 seconds, such as 90s, 30m, 2h")
    if not isinstance(text, str) and (info.context or {}).get("written"):
        raise complete(f"{text} has no unit; write {text}s or {text}m")
    return float(value)


Duration: TypeAlias = Annotated[
    float,
    BeforeValidator(_seconds),
    WithJsonSchema(
        {"type": "string", "pattern": r"^\d+(\.\d+)?\s*(s|m|h)$"},
    ),
]


def _check_version(value: object) -> object:
    """Refuses ``true`` and ``1.0``, which Python holds to be equal to 1."""
    if type(value) is not int:
        raise ValueError("the version is 1")
    return value


def is_inside(path: str) -> bool:
    """Tell whether a path stays inside the directory that it is relative to."""
    parts = path.split("/")
    return not any(part in {"", ".", ".."} for part in parts)


def _inside(path: str) -> str:
    if not is_inside(path):
        raise ValueError("a path inside the repository, such as .github/recipes/waf.yml")
    return path


#: A file of the repository.
InsidePath: TypeAlias = Annotated[str, AfterValidator(_inside)]


Version: TypeAlias = Annotated[Literal[1], BeforeValidator(_check_version)]


def _label(name: str) -> str:
    if not name.strip() or len(name) > LONGEST_LABEL or set(name) & set(",\r\n"):
        raise ValueError(
            f"a label has 1 to {LONGEST_LABEL} characters, and neither a comma nor a line break"
        )
    return name


Label: TypeAlias = Annotated[str, AfterValidator(_label)]


def _glob(pattern: str) -> str:
    outside = pattern.startswith("/") or ".." in pattern.split("/")
    if not pattern.strip() or outside or "\\" in pattern:
        raise ValueError("a glob is relative to the root of the repository, such as `gen/**`")
    return pattern


Glob: TypeAlias = Annotated[str, AfterValidator(_glob)]


def _branch(name: str) -> str:
    length = len(name.encode("utf-8", "surrogatepass"))
    if not name.isprintable() or set(name) & set(" ~^:\\") or not 1 <= length <= _LONGEST_BRANCH:
        raise ValueError("a branch is a name such as 1.0.x, or a glob such as release/*")
    return name


BranchName: TypeAlias = Annotated[str, AfterValidator(_branch)]


def empty() -> list[Any]:
    """The default of a list: for `list` itself pydantic loads a tokeniser, which takes 20 ms."""
    return []


class PolicySection(BaseModel):
    """A part of the configuration: unknown keys and wrong types are errors."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


class FilesOfPolicy(PolicySection):
    """Options that name files: of the commit that the policy is from, or of this machine."""

    _commit: str | None = PrivateAttr(None)

    def model_post_init(self, context: Any, /) -> None:  # noqa: ANN401 - as pydantic has it
        """Takes the commit from the context of the validation: no text may claim one."""
        self._commit = (context or {}).get("commit")

    def at(self, commit: str | None) -> Self:
        """The same options with files of this commit."""
        copy = self.model_copy()
        copy._commit = commit  # noqa: SLF001 - its own copy
        return copy

    @property
    def commit(self) -> str | None:
        """The commit that holds the files, because it holds the policy; None for this machine."""
        return self._commit
