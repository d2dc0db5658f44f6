"""Tiers in the configuration file: the judges, their options, and how their votes are counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal, Self, TypeAlias

from msgspec import Meta, field
from msgspec.structs import replace

from prjury.jury.verdicts import TierPolicy
from prjury.policy.fields import (
    Amount,
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
    Question,
    Share,
    seconds,
    to_plain,
)
from prjury.policy.options import (
    AgentOptions,
    BranchCase,
    CommandOptions,
    CoverageOptions,
    FileContentOptions,
    FileExistsOptions,
    FindingsOptions,
    FunctionOptions,
    PatternsOptions,
    VotingEntry,
)


def plain_name(name: str) -> str:
    """The name of a criterion, in which a hyphen is as good as an underscore."""
    return name.replace("-", "_")


class MergeOptions(PolicySection, frozen=True):
    """The way in which the project brings changes onto the base."""

    strategy: Annotated[
        Literal["auto", "merge", "rebase", "squash"], "`auto`: as the base's commits"
    ] = "auto"


class Steps(PolicySection, frozen=True):
    """Your commands, each one line for ``/bin/sh``; steps that are left out are not run."""

    setup: Annotated[CommandLine | None, "what has to be there before"] = None
    build: Annotated[CommandLine | None, "what compiles"] = None
    test: Annotated[CommandLine | None, "what tests"] = None
    lint: Annotated[CommandLine | None, "what else has to pass"] = None

    def __post_init__(self) -> None:
        if not self.build and not self.test:
            raise ValueError("name at least one of `build` and `test`; other steps are not judged")


System: TypeAlias = Literal[
    "maven", "gradle", "node", "python", "cargo", "go", "cmake", "meson", "autotools", "dotnet",
    "composer", "bundler", "mix", "swiftpm", "sbt", "deno", "perl", "busted", "make",
    "just", "task", "bazel",
]  # fmt: skip


#: A check's name, or ``app:name``; see `prjury.judges.builds.external_checks`.
CheckName: TypeAlias = Annotated[str, Meta(pattern=r"^\S(.*\S)?$(?!\n)", max_length=200)]


class BuildOptions(FilesOfPolicy, frozen=True):
    """How the merged tree is built."""

    command: Annotated[CommandLine | Steps, "`auto`, one shell command, or steps"] = "auto"
    systems: Annotated[
        Literal["auto"] | Annotated[list[System], Meta(min_length=1)],
        "the build systems; bazel only if it is named",
    ] = "auto"
    recipes: Annotated[list[InsidePath], "your own build systems: files with recipes"] = []
    junit: Annotated[list[Glob], Meta(max_length=100), "where the tests leave JUnit files"] = []
    affected: Annotated[bool, "build only what the change can affect"] = True
    pre_existing: Annotated[Literal["warn", "block"], "what old failures do"] = "warn"
    compare: Annotated[
        Literal["always", "on_failure"],
        "when the base's result is asked for; `always` also tells which tests no longer run",
    ] = "always"
    vanished: Annotated[Literal["ask", "fail", "warn"], "where tests of the base are gone"] = "ask"
    flaky: Annotated[Literal["block", "warn"], "where a failed test passes again"] = "warn"
    timeout: Annotated[Duration, "for the build of one side"] = seconds(1800)
    keep: Annotated[
        list[Glob], "reports that it writes, besides those that judges of the policy name"
    ] = []
    keep_of_base: Annotated[list[Glob], "the same of the base's build"] = []
    from_: Annotated[
        Literal["run", "checks", "evidence"],
        "where the outcome comes from: a `run` here, the head's `checks`, or `evidence`",
    ] = field(default="run", name="from")
    checks: Annotated[
        Literal["auto", "all"] | Annotated[list[CheckName], Meta(min_length=1, max_length=100)],
        "with `from: checks`, the names that count; `auto`: all that may build",
    ] = "auto"
    artifacts: Annotated[
        Literal["auto"] | Annotated[list[CheckName], Meta(max_length=100)],
        "with `from: checks`, the names of artifacts with JUnit reports",
    ] = "auto"

    def __post_init__(self) -> None:
        for key, value in (("checks", self.checks), ("artifacts", self.artifacts)):
            if isinstance(value, list) and self.from_ != "checks":
                raise ValueError(f"`{key}` names what `from: checks` reads; set that as well")


class BuildSection(NamedEntry):
    """The options of every judge `build` that does not say them itself; null says nothing."""

    name = "build"

    def __init__(
        self,
        options: BuildOptions | None = None,
        keys: Iterable[str] = (),
        coverage: Sequence[str] = (),
    ) -> None:
        self.options: BuildOptions = options or BuildOptions()
        self.keys = frozenset(keys)
        self.coverage = list(coverage)

    @classmethod
    def read(cls, value: object, convert: Convert) -> Self:
        written = cls.spell_out(value)
        coverage = convert(written.pop("coverage", []), list[Glob])
        return cls(convert(written, BuildOptions), written, coverage)

    @classmethod
    def forms(cls) -> Mapping[str, Any]:
        return {**BuildOptions.forms(), "coverage": list[Glob]}

    @classmethod
    def spell_out(cls, value: object) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise TypeError("a mapping of keys to values is expected here")
        return {key: item for key, item in value.items() if item is not None}

    @property
    def plain(self) -> Mapping[str, Any]:
        command = self.options.command if "command" in self.keys else None
        return {**to_plain(self.options), "command": command, "coverage": self.coverage}

    def complete(self, entry: JudgeEntry) -> JudgeEntry:
        """A judge `build` with the options that it does not say itself."""
        values = {field_name(key): key for key in self.keys - entry.keys}
        changes = {name: getattr(self.options, name) for name in values}
        return entry.with_options(entry.options.with_changes(**changes))


def field_name(key: str) -> str:
    """The name of the attribute of a key, which may be a word of Python."""
    return "from_" if key == "from" else key


class QuestionOptions(FilesOfPolicy, frozen=True):
    """The options that all judges that ask models share."""

    model: Annotated[str, "`provider:name`; several, between commas, have a seat each"] = "auto"
    runs: Annotated[int, Meta(ge=1, le=9), "how often each model is asked"] = 1
    threshold: Annotated[Share, "the share of criteria at which the judge passes"] = 0.7


_MUST = ("correctness", "risk")


class QualityOptions(QuestionOptions, frozen=True):
    """What the quality judge asks about."""

    criteria: Annotated[
        Annotated[list[str], Meta(min_length=1)]
        | Annotated[dict[Name, Question], Meta(min_length=1)],
        "names of criteria, or your own as name: question",
    ] = field(default_factory=lambda: ["correctness", "tests", "conventions", "risk"])
    must: Annotated[
        list[str], "criteria of which none may fail; `threshold` is for the others alone"
    ] = field(default_factory=lambda: list(_MUST))
    guidelines: Annotated[bool, "whether the base's guidelines are asked about"] = True

    def __post_init__(self) -> None:
        """The default ones need not be asked, also where a resolved policy names them."""
        names = {plain_name(name) for name in self.criteria}
        for name in self.must if self.must != list(_MUST) else ():
            if plain_name(name) not in names:
                text = f"{name} is not one of the criteria: {', '.join(sorted(names))}"
                raise MisfitError("must", text)

    def musts(self, criteria: Iterable[str]) -> frozenset[str]:
        """Those of these criteria that have to pass."""
        must = {plain_name(name) for name in self.must}
        return frozenset(name for name in criteria if plain_name(name) in must)


class SuitabilityOptions(QuestionOptions, frozen=True):
    """When a change is suitable for a release branch."""

    threshold: Annotated[Share, "the share of criteria at which it passes"] = 0.6


class PromptOptions(QuestionOptions, frozen=True, kw_only=True):
    """A custom judge: a text that says what matters, and questions."""

    name: Annotated[Name, "its name in the report"]
    file: Annotated[str | None, "the text, by its path in the base commit"] = None
    text: Annotated[str | None, "the text itself"] = None
    criteria: Annotated[
        dict[Name, Question], Meta(min_length=1, max_length=20), "YES or NO questions, by name"
    ]
    sees_description: Annotated[bool, "whether it reads the pull request's title and text"] = False

    def __post_init__(self) -> None:
        if self.name in {*OPTIONS, "chair"}:
            raise MisfitError("name", f"{self.name} is the name of another judge")
        if (self.file is None) == (self.text is None):
            raise ValueError("give one of `file` and `text`")


#: Judges that have no seat any more, each with what to use.
SEATS = {
    "semantic": "use `prjury judge semantic`, the library, or `file-content`",
    "superset-diff": "use `prjury judge superset-diff`, the library, or `file-content`",
    "class-version": "use `prjury judge class-version` or the library",
}
#: The options of our own judges, by their names.
OPTIONS: Mapping[str, type[PolicySection]] = {
    "merge": MergeOptions,
    "build": BuildOptions,
    "patterns": PatternsOptions,
    "quality": QualityOptions,
    "tests-exercise-behaviour": QuestionOptions,
    "description-matches-change": QuestionOptions,
    "backport-suitability": SuitabilityOptions,
    "prompt": PromptOptions,
    "command": CommandOptions,
    "file-exists": FileExistsOptions,
    "file-content": FileContentOptions,
    "coverage": CoverageOptions,
    "agent": AgentOptions,
    "python": FunctionOptions,
    "findings": FindingsOptions,
}


class JudgeEntry(NamedEntry):
    """One judge of a tier: its name, or its name with options, optionally with a weight."""

    FORMS = {**OPTIONS, "weight": Amount}
    OPEN = True

    def __init__(
        self,
        name: str,
        options: Any,  # noqa: ANN401 - a section for our own judges, a mapping for those of others
        weight: float = 1.0,
        keys: Iterable[str] = (),
    ) -> None:
        self.name, self.options, self.weight = name, options, weight
        self.keys = frozenset(keys)  # which the file names

    @classmethod
    def read(cls, value: object, convert: Convert) -> Self:
        spelled = cls.spell_out(value)
        weight: float = convert(spelled.pop("weight", 1.0), Amount)
        for name in spelled:
            if name in SEATS:
                raise ValueError(f"the judge {name} has no seat any more; {SEATS[name]}")
        name, options = cls.take_only(spelled, "an entry names exactly one judge")
        section = convert(options, OPTIONS[name]) if name in OPTIONS else options
        if isinstance(section, FunctionOptions) and section.function in OPTIONS:
            raise ValueError(f"{section.function} is the name of another judge")
        return cls(name, section, weight, options if isinstance(options, dict) else ())

    @property
    def plain(self) -> Mapping[str, Any]:
        return {self.name: self.options, "weight": self.weight}

    def with_options(self, options: PolicySection) -> JudgeEntry:
        return JudgeEntry(self.name, options, self.weight, self.keys)

    @property
    def build(self) -> BuildOptions | None:
        return self.options if isinstance(self.options, BuildOptions) else None

    @property
    def command(self) -> CommandOptions | None:
        return self.options if isinstance(self.options, CommandOptions) else None

    @property
    def patterns(self) -> PatternsOptions | None:
        return self.options if isinstance(self.options, PatternsOptions) else None

    @property
    def title(self) -> str:
        """The name of the judge in reports: a rule's, a prompt's and an agent's own."""
        if isinstance(self.options, FunctionOptions):
            return self.options.function
        has_name = isinstance(self.options, PromptOptions | AgentOptions)
        return str(self.options.name) if has_name else self.name

    @property
    def asks_models(self) -> bool:
        return isinstance(self.options, QuestionOptions | AgentOptions)

    @property
    def report(self) -> str:
        """The report that the judge reads, which a build or a command has to leave behind."""
        reads = isinstance(self.options, FindingsOptions | CoverageOptions)
        return self.options.report if reads else ""


class TierConfig(PolicySection, frozen=True):
    """One tier: judges, how their votes are counted, and when the tier decides."""

    name: Annotated[str, Meta(min_length=1, max_length=60), "its name in reports"]
    judges: Annotated[list[JudgeEntry], Meta(min_length=1), "who sits on it"]
    policy: Annotated[TierPolicy, "when the tier decides"] = TierPolicy.REJECT_ON_ANY_FAIL
    voting: Annotated[VotingEntry, "how votes are counted"] = field(default_factory=VotingEntry)
    continue_on_reject: Annotated[bool, "whether later tiers are asked after a rejection"] = False
    on_error: Annotated[Literal["block", "continue"], "whether later tiers are asked"] = "block"
    min_confidence: Annotated[Share | None, "what accept_on_all_pass asks for"] = None
    advisory: Annotated[
        bool | Literal["auto"], "whether it is only reported; `auto`: if only models judge"
    ] = "auto"
    when: Annotated[list[BranchCase], "what differs by the branch that is merged into"] = []

    def __post_init__(self) -> None:
        accepts = self.policy is TierPolicy.ACCEPT_ON_ALL_PASS
        rejects = self.policy is TierPolicy.REJECT_ON_ANY_FAIL
        if not rejects and (self.continue_on_reject or self.on_error == "continue"):
            text = "continue_on_reject and on_error: continue are for the policy"
            raise ValueError(f"{text} reject_on_any_fail")
        if self.min_confidence is not None and not accepts:
            raise ValueError("min_confidence is for the policy accept_on_all_pass")
        titles = {entry.title for entry in self.judges}
        for case in self.when:
            if strange := sorted(case.weights.keys() - titles):
                raise MisfitError("when", f"{strange[0]} is no judge of this tier")
            if case.min_confidence is not None and not accepts:
                raise MisfitError("when", "min_confidence is for the policy accept_on_all_pass")

    def with_judges(self, judges: Iterable[JudgeEntry]) -> TierConfig:
        return replace(self, judges=list(judges))

    def adapt_to_branch(self, branch: str) -> TierConfig:
        """The tier as it is for changes to a branch; the first case that names it counts."""
        for case in self.when:
            if fnmatchcase(branch, case.branch):
                judges = []
                for entry in self.judges:
                    weight = case.weights.get(entry.title, entry.weight)
                    judges.append(JudgeEntry(entry.name, entry.options, weight, entry.keys))
                return replace(self, **case.settings, judges=judges, when=[])
        return replace(self, when=[])
