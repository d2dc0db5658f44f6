"""Options of the judges that look at the merged tree: its files, and commands that run in it."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, field

from prjury.policy.fields import (
    CommandLine,
    Duration,
    FilesOfPolicy,
    Glob,
    InsidePath,
    PolicySection,
    seconds,
)

_Text: TypeAlias = Annotated[str, Meta(min_length=1)]


class FileExistsOptions(PolicySection, frozen=True):
    """Which file has to be there."""

    path: Annotated[InsidePath, "its path in the merged tree"]


class FileContentOptions(PolicySection, frozen=True):
    """What the text of a file has to be."""

    path: Annotated[InsidePath, "its path in the merged tree"]
    exact: Annotated[str | None, "the whole text"] = None
    contains: Annotated[_Text | None, "what stands somewhere in it"] = None
    regex: Annotated[_Text | None, "an RE2 expression that matches"] = None

    def __post_init__(self) -> None:
        if [self.exact, self.contains, self.regex].count(None) != 2:  # noqa: PLR2004 - of three
            raise ValueError("give one of `exact`, `contains` and `regex`")


class CommandOptions(PolicySection, frozen=True):
    """A command, and how it has to end."""

    run: Annotated[CommandLine, "one line for /bin/sh"]
    exit_code: Annotated[int, Meta(ge=0, le=255), "how it has to end"] = 0
    timeout: Annotated[Duration, "how long it may take"] = seconds(600)
    keep: Annotated[
        list[Glob],
        "reports that it writes and other judges read; those that judges of the policy name are "
        "kept anyway",
    ] = []
    from_: Annotated[
        Literal["run", "evidence"], "`evidence` takes the outcome from `prjury build`"
    ] = field(default="run", name="from")


Percent: TypeAlias = Annotated[float, Meta(ge=0.0, le=100.0)]


class CoverageOptions(PolicySection, frozen=True):
    """How much of the code the tests of a build have to cover."""

    report: Annotated[Glob, "the report that a build or a command writes, as a glob"]
    minimum: Annotated[Percent | None, "percent"] = None
    metric: Annotated[
        Literal["line", "branch", "method", "instruction", "complexity", "class"], "what is counted"
    ] = "line"
    baseline: Annotated[Literal["base"] | Percent | None, "percent, or the base's own"] = None
    max_drop: Annotated[Percent | None, "points below the baseline"] = None
    mode: Annotated[
        Literal["floor", "preserved", "improved", "added_lines"] | None,
        "what is asked; if not set, whatever else is named",
    ] = None

    def __post_init__(self) -> None:
        compares = self.baseline is not None or self.max_drop is not None
        alone = self.mode in {"floor", "added_lines"}
        if self.minimum is None and (alone or not compares):
            raise ValueError("name the `minimum`, in percent, or a `baseline`")
        if compares and alone:
            raise ValueError(f"the mode {self.mode} compares with no baseline")
        if self.baseline is None and (self.mode in {"preserved", "improved"} or self.max_drop):
            raise ValueError("name the `baseline`: `base`, or percent")

    @property
    def whole(self) -> bool:
        """Whether all of the code is judged, also what the change cannot affect."""
        return self.mode != "added_lines"


class FunctionOptions(FilesOfPolicy, frozen=True):
    """A rule of one's own: a Python function."""

    file: Annotated[InsidePath, "a file of the base commit, or of this machine with --config"]
    function: Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,59}$(?!\n)"), "its name"]
    timeout: Annotated[Duration, "how long it may take"] = seconds(60)


class FindingsOptions(PolicySection, frozen=True):
    """The report of another tool."""

    sarif: Annotated[Glob | None, "a SARIF report, as a glob"] = None
    checkstyle: Annotated[Glob | None, "a Checkstyle report, as a glob"] = None
    junit: Annotated[Glob | None, "a JUnit report, as a glob"] = None
    severity: Annotated[Literal["error", "warning", "hint"], "the mildest that fails it"] = (
        "warning"
    )

    def __post_init__(self) -> None:
        if [self.sarif, self.checkstyle, self.junit].count(None) != 2:  # noqa: PLR2004 - of three
            raise ValueError("give one of `sarif`, `checkstyle` and `junit`")

    @property
    def report(self) -> str:
        """Where the report is, as a glob."""
        return self.sarif or self.checkstyle or self.junit or ""
