"""Options of judges that are programs, of agents, and of voting."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, Self, TypeAlias

from msgspec import Meta, Struct, field

from prjury.errors import did_you_mean
from prjury.jury.voting import ErrorPolicy, TiePolicy
from prjury.policy.fields import (
    Amount,
    BranchName,
    CommandLine,
    Convert,
    Duration,
    FilesOfPolicy,
    Glob,
    InsidePath,
    MisfitError,
    Name,
    NamedEntry,
    PolicySection,
    Share,
    Variable,
    seconds,
)
from prjury.secret_env import JOB_CREDENTIALS
from prjury.snapshot.exempt import matches

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
        list[Glob], "reports that it writes, besides those that judges of the policy name"
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
        "what is asked; else whatever is named",
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
    severity: Annotated[Literal["error", "warning", "hint"], "the mildest to fail"] = "warning"

    def __post_init__(self) -> None:
        if [self.sarif, self.checkstyle, self.junit].count(None) != 2:  # noqa: PLR2004 - of three
            raise ValueError("give one of `sarif`, `checkstyle` and `junit`")

    @property
    def report(self) -> str:
        return self.sarif or self.checkstyle or self.junit or ""


class RuleSelection(Struct, frozen=True):
    """The rules of version patterns that a policy does without."""

    suppressions: bool = True
    #: Packs, and rules as ``pack/rule``.
    ignore: tuple[str, ...] = ()
    per_file: Mapping[str, tuple[str, ...]] = {}

    def is_ignored(self, rule: str, path: str | None = None) -> bool:
        """Tell whether a rule, as ``pack/rule``, is ignored everywhere, or in a file."""
        names = {rule, rule.partition("/")[0]}
        if names & set(self.ignore):
            return True
        return path is not None and any(
            names & set(ignored) and matches(path, glob) for glob, ignored in self.per_file.items()
        )


class PatternsOptions(FilesOfPolicy, frozen=True):
    """Which version-pattern packs look at which files."""

    packs: Annotated[Literal["auto"] | list[str], "names; `auto`: by languages"] = "auto"
    paths: Annotated[list[str], "your own packs: files or directories"] = []
    severity: Annotated[Literal["error", "warning", "hint"], "the mildest that fails it"] = "error"
    baseline: Annotated[InsidePath | None, "file of known findings, as the base has it"] = None

    @property
    def rules(self) -> RuleSelection:
        rules: RuleSelection | None = vars(self).get("_rules")
        return rules or RuleSelection()

    def with_rules(self, rules: RuleSelection) -> Self:
        """The same options without the rules that the policy ignores."""
        return self.with_changes({"_rules": rules})


#: Credentials of the job, and what would make a program another one.
_NEVER = re.compile(
    JOB_CREDENTIALS + r"|PRJURY_.*|PATH|HOME|TMPDIR|LD_.*|PYTHON.*", re.IGNORECASE | re.DOTALL
)


def is_kept_from_agents(name: str) -> bool:
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
    when: Annotated[Literal["asked", "always"], "by `/prjury fix`, or at every run"] = "asked"
    command: Annotated[CommandLine | None, "reads feedback and edits its directory"] = None
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


OnError: TypeAlias = Annotated[ErrorPolicy, "what a judge's error does to the vote"]


class MajorityOptions(PolicySection, frozen=True):
    """Options of majority voting."""

    tie: Annotated[TiePolicy, "the outcome of a tie"] = TiePolicy.FAIL
    on_error: OnError = ErrorPolicy.PROPAGATE


class ScoreOptions(PolicySection, frozen=True):
    """Options of the strategies that read scores."""

    threshold: Annotated[Share, "the result at which the tier passes"] = 0.5
    undecided: Annotated[tuple[Share, Share] | None, "a result in this band abstains"] = None
    on_error: OnError = ErrorPolicy.PROPAGATE

    def __post_init__(self) -> None:
        if self.undecided and self.undecided[0] > self.undecided[1]:
            raise MisfitError("undecided", "the lower end comes first, such as [0.4, 0.6]")


class ConsensusOptions(PolicySection, frozen=True):
    """Options of voting by consensus."""

    on_disagreement: Annotated[Literal["fail", "abstain", "error"], "where they disagree"] = "fail"
    on_error: OnError = ErrorPolicy.PROPAGATE


class VotingEntry(NamedEntry):
    """One voting strategy: its name, or its name with options."""

    FORMS = {
        "majority": MajorityOptions,
        "average": ScoreOptions,
        "weighted_average": ScoreOptions,
        "median": ScoreOptions,
        "consensus": ConsensusOptions,
    }

    def __init__(self, name: str = "consensus", options: Any = None) -> None:  # noqa: ANN401 - of its form
        self.name = name
        self.options = self.FORMS[name]() if options is None else options

    @classmethod
    def read(cls, value: object, convert: Convert) -> Self:
        spelled = cls.spell_out(value)
        for name in spelled:
            if name not in cls.FORMS:
                meant = did_you_mean(name, cls.FORMS) or f"Allowed are {', '.join(cls.FORMS)}"
                raise ValueError(f"{name} is not known; {meant[:1].lower()}{meant[1:]}")
        name, options = cls.take_only(spelled, "name exactly one voting strategy")
        return cls(name, convert(options, cls.FORMS[name]))


class BranchCase(PolicySection, frozen=True, kw_only=True):
    """What a tier has for changes to some branches; its judges are the same for all."""

    branch: Annotated[BranchName, "the branch that is merged into, by its name or a glob"]
    voting: Annotated[VotingEntry | None, "in place of the tier's own"] = None
    weights: Annotated[dict[str, Amount], "weights of judges of the tier, by their names"] = {}
    min_confidence: Annotated[Share | None, "in place of the tier's own"] = None

    def __post_init__(self) -> None:
        if not self.weights and not self.settings:
            raise ValueError("name what differs: `voting`, `weights` or `min_confidence`")

    @property
    def settings(self) -> dict[str, Any]:
        options = {"voting": self.voting, "min_confidence": self.min_confidence}
        return {key: value for key, value in options.items() if value is not None}
