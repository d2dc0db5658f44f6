"""Options of the judges that look at the merged tree: its files, and commands that run in it."""

from __future__ import annotations

from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field, field_validator, model_validator

from prjury.policy.fields import Duration, FilesOfPolicy, Glob, InsidePath, PolicySection, empty


class FileExistsOptions(PolicySection):
    """Which file has to be there."""

    path: InsidePath = Field(description="its path in the merged tree")


class FileContentOptions(PolicySection):
    """What the text of a file has to be."""

    path: InsidePath = Field(description="its path in the merged tree")
    exact: str | None = Field(None, description="the whole text")
    contains: str | None = Field(None, min_length=1, description="what stands somewhere in it")
    regex: str | None = Field(None, min_length=1, description="an RE2 expression that matches")

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if [self.exact, self.contains, self.regex].count(None) != 2:  # noqa: PLR2004 - of three
            raise ValueError("give one of `exact`, `contains` and `regex`")
        return self


class CommandOptions(PolicySection):
    """A command, and how it has to end."""

    run: Annotated[str, Field(max_length=10_000)] = Field(description="one line for /bin/sh")
    exit_code: int = Field(0, ge=0, le=255, description="how it has to end")
    timeout: Duration = Field(600.0, description="how long it may take")
    keep: list[Glob] = Field(
        default_factory=empty,
        description="reports that it writes and other judges read; those that judges of the policy "
        "name are kept anyway",
    )
    from_: Literal["run", "evidence"] = Field(
        "run", alias="from", description="`evidence` takes the outcome from `prjury build`"
    )

    @field_validator("run")
    @classmethod
    def _says_something(cls, run: str) -> str:
        if not run.strip() or "\0" in run:
            raise ValueError("a command is needed")
        return run


Percent: TypeAlias = Annotated[float, Field(ge=0.0, le=100.0, allow_inf_nan=False)]


class CoverageOptions(PolicySection):
    """How much of the code the tests of a build have to cover."""

    report: Glob = Field(description="the report that a build or a command writes, as a glob")
    minimum: Percent | None = Field(None, description="percent")
    metric: Literal["line", "branch", "method", "instruction", "complexity", "class"] = Field(
        "line", description="what is counted"
    )
    baseline: Literal["base"] | Percent | None = Field(
        None, description="percent; `base` takes what the build of the base has measured"
    )
    max_drop: Percent | None = Field(None, description="points below the baseline")
    mode: Literal["floor", "preserved", "improved", "added_lines"] | None = Field(
        None, description="what is asked; if not set, whatever else is named"
    )

    @model_validator(mode="after")
    def _asks_something(self) -> Self:
        if self.minimum is None and (self.mode in {"floor", "added_lines"} or not self._compares):
            raise ValueError("name the `minimum`, in percent, or a `baseline`")
        if self._compares and self.mode in {"floor", "added_lines"}:
            raise ValueError(f"the mode {self.mode} compares with no baseline")
        if self.baseline is None and (self.mode in {"preserved", "improved"} or self.max_drop):
            raise ValueError("name the `baseline`: `base`, or percent")
        return self

    @property
    def _compares(self) -> bool:
        return self.baseline is not None or self.max_drop is not None

    @property
    def whole(self) -> bool:
        """Whether all of the code is judged, also what the change cannot affect."""
        return self.mode != "added_lines"


class FunctionOptions(FilesOfPolicy):
    """A rule of one's own: a Python function."""

    file: InsidePath = Field(
        description="a file of the base commit, or of this machine with --config"
    )
    function: str = Field(
        pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,59}$", description="the function in it"
    )
    timeout: Duration = Field(60.0, description="how long it may take")


class FindingsOptions(PolicySection):
    """The report of another tool."""

    sarif: Glob | None = Field(None, description="a SARIF report, as a glob")
    checkstyle: Glob | None = Field(None, description="a Checkstyle report, as a glob")
    junit: Glob | None = Field(None, description="a JUnit report, as a glob")
    severity: Literal["error", "warning", "hint"] = Field(
        "warning", description="findings at least as severe as this fail the judge"
    )

    @model_validator(mode="after")
    def _names_one_report(self) -> Self:
        if [self.sarif, self.checkstyle, self.junit].count(None) != 2:  # noqa: PLR2004 - of three
            raise ValueError("give one of `sarif`, `checkstyle` and `junit`")
        return self

    @property
    def report(self) -> str:
        """Where the report is, as a glob."""
        return self.sarif or self.checkstyle or self.junit or ""
