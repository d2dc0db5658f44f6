"""Tiers in the configuration file: the judges, their options, and how their votes are counted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from prjury.jury.verdicts import TierPolicy
from prjury.policy.agents import AgentOptions
from prjury.policy.fields import (
    Duration,
    FilesOfPolicy,
    Glob,
    InsidePath,
    PolicySection,
    Share,
    complete,
    empty,
)
from prjury.policy.gone import SEATS
from prjury.policy.patterns import PatternsOptions, RuleSelection
from prjury.policy.seats import (
    CommandOptions,
    CoverageOptions,
    FileContentOptions,
    FileExistsOptions,
    FindingsOptions,
    FunctionOptions,
)
from prjury.policy.voting import BranchCase, ConsensusOptions, NamedEntry, VotingEntry

_MOST_RUNS = 9

#: Names become keys of the reply, and providers take no others there.
CRITERION_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,59}")


def plain_name(name: str) -> str:
    """The name of a criterion, in which a hyphen is as good as an underscore."""
    return name.replace("-", "_")


class MergeOptions(PolicySection):
    """The way in which the project brings changes onto the base."""

    strategy: Literal["auto", "merge", "rebase", "squash"] = Field(
        "auto", description="`auto` takes it from the newest commits of the base"
    )


class Steps(PolicySection):
    """Your commands, each one line for ``/bin/sh``; steps that are left out are not run."""

    setup: str | None = Field(None, description="what has to be there before")
    build: str | None = Field(None, description="what compiles")
    test: str | None = Field(None, description="what tests")
    lint: str | None = Field(None, description="what else has to pass")

    @model_validator(mode="after")
    def _says_something(self) -> Steps:
        steps = (self.setup, self.build, self.test, self.lint)
        if any(step is not None and not step.strip() for step in steps):
            raise ValueError("a step is a command; leave out what should not run")
        if not self.build and not self.test:
            raise ValueError("name at least one of `build` and `test`; other steps are not judged")
        return self


System: TypeAlias = Literal[
    "maven", "gradle", "node", "python", "cargo", "go", "cmake", "meson", "autotools", "dotnet",
    "composer", "bundler", "mix", "swiftpm", "sbt", "deno", "perl", "busted", "make",
    "just", "task", "bazel",
]  # fmt: skip


#: A check's name, or ``app:name``; see `prjury.judges.builds.external_checks`.
CheckName: TypeAlias = Annotated[str, Field(pattern=r"^\S(.*\S)?$", max_length=200)]

CheckNamesOption: TypeAlias = (
    Literal["auto", "all"] | Annotated[list[CheckName], Field(min_length=1, max_length=100)]
)
ArtifactNames: TypeAlias = Literal["auto"] | Annotated[list[CheckName], Field(max_length=100)]
BuildSource: TypeAlias = Literal["run", "checks", "evidence"]


def _says_something(command: str | Steps) -> str | Steps:
    if isinstance(command, str) and not command.strip():
        raise ValueError("a command is needed: `auto`, one shell command, or steps")
    return command


Command: TypeAlias = Annotated[str | Steps, AfterValidator(_says_something)]


class BuildChoices(FilesOfPolicy):
    """How the merged tree is built, apart from the command and from building it elsewhere."""

    systems: Literal["auto"] | Annotated[list[System], Field(min_length=1)] = Field(
        "auto", description="the build systems that are looked for; bazel only if it is named"
    )
    recipes: list[InsidePath] = Field(
        default_factory=empty, description="your own build systems: files like those of the recipes"
    )
    junit: list[Glob] = Field(
        default_factory=empty,
        max_length=100,
        description="where the tests leave JUnit files; with a command of your own, they have to",
    )
    affected: bool = Field(default=True, description="build only what the change can affect")
    pre_existing: Literal["warn", "block"] = Field(
        "warn", description="what failures do that the base has as well"
    )
    compare: Literal["always", "on_failure"] = Field(
        "always",
        description="when the base's result is asked for: to tell which tests no longer run, or "
        "only to tell old failures from new",
    )
    vanished: Literal["ask", "fail", "warn"] = Field(
        "ask", description="what to do if tests that ran on the base did not run"
    )
    flaky: Literal["block", "warn"] = Field(
        "warn", description="whether a test that passes when it is run again still fails the judge"
    )
    timeout: Duration = Field(1800.0, description="for the build of one side")
    keep: list[Glob] = Field(
        default_factory=empty,
        description="reports that the build writes and other judges read; those that judges of the "
        "policy name are kept anyway",
    )
    keep_of_base: list[Glob] = Field(
        default_factory=empty,
        description="the same of the base's build; `coverage` with `baseline: base` needs no word",
    )


FROM = "where the outcome comes from: `run` it here, the head's other `checks`, or `evidence`"
CHECKS = (
    "with `from: checks`, the names that count, `*` for any text; `auto`: all but those of bots "
    "that build nothing"
)
ARTIFACTS = (
    "with `from: checks`, the names of artifacts with JUnit reports, `*` for any text; `auto`: "
    "those that are usual"
)


class BuildOptions(BuildChoices):
    """How the merged tree is built."""

    command: Command = Field("auto", description="`auto`, one shell command, or steps")
    from_: BuildSource = Field("run", alias="from", description=FROM)
    checks: CheckNamesOption = Field("auto", description=CHECKS)
    artifacts: ArtifactNames = Field("auto", description=ARTIFACTS)

    @model_validator(mode="after")
    def _checks_are_read(self) -> Self:
        lists = {"checks": self.checks, "artifacts": self.artifacts}
        idle = next((key for key, value in lists.items() if isinstance(value, list)), None)
        if idle and self.from_ != "checks":
            raise ValueError(f"`{idle}` names what `from: checks` reads; set that as well")
        return self


class QuestionOptions(PolicySection):
    """The options that all judges that ask models share."""

    model: str = Field(
        "auto", description="`provider:name`; several with commas between them have a seat each"
    )
    runs: int = Field(1, ge=1, le=_MOST_RUNS, description="how often each model is asked")
    threshold: Share = Field(0.7, description="the share of criteria at which the judge passes")


class QualityOptions(QuestionOptions):
    """What the quality judge asks about."""

    criteria: list[str] | dict[str, str] = Field(
        default=["correctness", "tests", "conventions", "risk"],
        min_length=1,
        description="names of criteria, or your own as name: question",
    )
    must: list[str] = Field(
        default=["correctness", "risk"],
        description="criteria of which none may fail; `threshold` is for the others alone",
    )
    guidelines: bool = Field(
        default=True,
        description="whether the base's guidelines or CONTRIBUTING are part of the instructions",
    )

    @field_validator("must")
    @classmethod
    def _are_criteria(cls, must: list[str], info: ValidationInfo) -> list[str]:
        """The default ones need not be asked, also where a resolved policy names them."""
        if must == cls.model_fields["must"].default:
            return must
        names = {plain_name(name) for name in info.data.get("criteria", must)}
        for name in must:
            if plain_name(name) not in names:
                raise ValueError(f"{name} is not one of the criteria: {', '.join(sorted(names))}")
        return must

    def musts(self, criteria: Iterable[str]) -> frozenset[str]:
        """Those of these criteria that have to pass."""
        must = {plain_name(name) for name in self.must}
        return frozenset(name for name in criteria if plain_name(name) in must)


class SuitabilityOptions(QuestionOptions):
    """When a change is suitable for a release branch."""

    threshold: Share = Field(0.6, description="the share of criteria at which it passes")


class PromptOptions(QuestionOptions, FilesOfPolicy):
    """A custom judge: a text that says what matters, and questions."""

    name: str = Field(
        pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,59}$", description="its name in the report"
    )
    file: str | None = Field(None, description="the text, by its path in the base commit")
    text: str | None = Field(None, description="the text itself")
    criteria: dict[str, str] = Field(
        min_length=1, max_length=20, description="questions that YES or NO answers, by name"
    )
    sees_description: bool = Field(
        default=False, description="whether it reads the title and the text of the pull request"
    )

    @field_validator("name")
    @classmethod
    def _is_free(cls, name: str) -> str:
        if name in {*JudgeEntry.known(), "chair"}:
            raise ValueError(f"{name} is the name of another judge")
        return name

    @field_validator("criteria")
    @classmethod
    def _questions(cls, criteria: dict[str, str]) -> dict[str, str]:
        for name, question in criteria.items():
            if not CRITERION_NAME.fullmatch(name):
                raise ValueError(
                    f"{name!r} is not a name; a name has up to 60 letters, digits, dots, hyphens "
                    "and underscores, and a letter first"
                )
            if not question.strip():
                raise ValueError(f"{name} has no question")
        return criteria

    @model_validator(mode="after")
    def _says_what_matters(self) -> PromptOptions:
        if (self.file is None) == (self.text is None):
            raise ValueError("give one of `file` and `text`")
        return self


class JudgeEntry(NamedEntry):
    """One judge of a tier: its name, or its name with options, optionally with a weight."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    merge: MergeOptions | None = None
    build: BuildOptions | None = None
    patterns: PatternsOptions | None = None
    quality: QualityOptions | None = None
    tests: QuestionOptions | None = Field(None, alias="tests-exercise-behaviour")
    description: QuestionOptions | None = Field(None, alias="description-matches-change")
    suitability: SuitabilityOptions | None = Field(None, alias="backport-suitability")
    prompt: PromptOptions | None = None
    command: CommandOptions | None = None
    file_exists: FileExistsOptions | None = Field(None, alias="file-exists")
    file_content: FileContentOptions | None = Field(None, alias="file-content")
    coverage: CoverageOptions | None = None
    agent: AgentOptions | None = None
    python: FunctionOptions | None = None
    findings: FindingsOptions | None = None
    weight: float = Field(
        1.0, ge=0.0, allow_inf_nan=False, description="of its vote, where votes are weighed"
    )

    @model_validator(mode="after")
    def _exactly_one(self) -> JudgeEntry:
        for name in self._named:
            if name in SEATS:
                raise complete(f"the judge {name} has no seat in a policy any more; {SEATS[name]}")
        if self.python and self.python.function in self.known():
            raise ValueError(f"{self.python.function} is the name of another judge")
        if len(self._named) != 1:
            alternatives = " and ".join(sorted(self._named)) or "none"
            raise ValueError(f"an entry names exactly one judge, not {alternatives}")
        return self

    @classmethod
    def known(cls) -> dict[str, str]:
        """Our own judges' names, each with the field of its options."""
        fields = {field.alias or name: name for name, field in cls.model_fields.items()}
        return {name: attribute for name, attribute in fields.items() if name != "weight"}

    @property
    def _named(self) -> dict[str, Any]:
        own = {name: getattr(self, attribute) for name, attribute in self.known().items()}
        seated = {name: options for name, options in own.items() if options is not None}
        return {**seated, **(self.__pydantic_extra__ or {})}

    @property
    def name(self) -> str:
        """The judge's name."""
        return next(iter(self._named))

    @property
    def title(self) -> str:
        """The name of the judge in reports: a rule's, a prompt's and an agent's own."""
        if self.python:
            return self.python.function
        asking = self.prompt or self.agent
        return (asking.name if asking else None) or self.name

    @property
    def asks_models(self) -> bool:
        """Whether the judge is a model or an agent."""
        return bool(
            self.quality
            or self.tests
            or self.description
            or self.suitability
            or self.prompt
            or self.agent
        )

    @property
    def reports(self) -> tuple[str, ...]:
        """The reports that the judge reads, which a build or a command has to leave behind."""
        reading = self.findings or self.coverage
        return (reading.report,) if reading else ()

    @property
    def runs(self) -> BuildOptions | CommandOptions | None:
        """The options of a judge that runs the change, or reads what became of such a run."""
        return self.build or self.command

    @property
    def options(self) -> Any:  # noqa: ANN401 - a model for our own judges, a mapping for others
        """The judge's options: a model for our own judges, a mapping for those of others."""
        return self._named[self.name]


class TierConfig(PolicySection):
    """One tier: judges, how their votes are counted, and when the tier decides."""

    name: str = Field(min_length=1, max_length=60, description="its name in reports")
    policy: TierPolicy = Field(
        TierPolicy.REJECT_ON_ANY_FAIL, strict=False, description="when the tier decides"
    )
    judges: list[JudgeEntry] = Field(min_length=1, description="who sits on it")
    voting: VotingEntry = Field(
        default_factory=lambda: VotingEntry(consensus=ConsensusOptions()),
        description="how their votes are counted",
    )
    continue_on_reject: bool = Field(
        default=False, description="whether later tiers are asked after a rejection"
    )
    on_error: Literal["block", "continue"] = Field(
        "block", description="whether later tiers are asked after an error"
    )
    min_confidence: Share | None = Field(
        None, description="with accept_on_all_pass, the confidence that it asks for"
    )
    advisory: bool | Literal["auto"] = Field(
        "auto",
        description="whether it is only reported; `auto`: a tier in which only models judge is",
    )
    when: list[BranchCase] = Field(
        default_factory=empty, description="what differs by the branch that is merged into"
    )

    @model_validator(mode="after")
    def _cases_are_sound(self) -> TierConfig:
        titles = {entry.title for entry in self.judges}
        for case in self.when:
            if strange := sorted(case.weights.keys() - titles):
                raise ValueError(f"when: {strange[0]} is no judge of this tier")
            if case.min_confidence is not None and not self._accepts:
                raise ValueError("when: min_confidence is for the policy accept_on_all_pass")
        return self

    def with_rules(self, rules: RuleSelection) -> TierConfig:
        """The tier whose version patterns do without the rules that the policy ignores."""
        judges = [
            entry.model_copy(update={"patterns": entry.patterns.with_rules(rules)})
            if entry.patterns
            else entry
            for entry in self.judges
        ]
        return self.model_copy(update={"judges": judges})

    @property
    def _accepts(self) -> bool:
        return self.policy is TierPolicy.ACCEPT_ON_ALL_PASS

    def on(self, branch: str) -> TierConfig:
        """The tier as it is for changes to a branch; the first case that names it counts."""
        case = next((one for one in self.when if fnmatchcase(branch, one.branch)), None)
        if case is None:
            return self.model_copy(update={"when": []})
        judges = [
            one.model_copy(update={"weight": case.weights.get(one.title, one.weight)})
            for one in self.judges
        ]
        return self.model_copy(update={**case.settings, "judges": judges, "when": []})

    @model_validator(mode="after")
    def _obeys_what_it_says(self) -> TierConfig:
        rejects = self.policy is TierPolicy.REJECT_ON_ANY_FAIL
        if not rejects and (self.continue_on_reject or self.on_error == "continue"):
            raise ValueError(
                "continue_on_reject and on_error: continue are for the policy reject_on_any_fail"
            )
        if self.min_confidence is not None and not self._accepts:
            raise ValueError("min_confidence is for the policy accept_on_all_pass")
        return self


#: The tier of programs that `extend` adds.
RULES_TIER = "rules"


def extend_tiers(tiers: Sequence[TierConfig], extend: Sequence[JudgeEntry]) -> list[TierConfig]:
    """The tiers with further judges: programs after the build, models in the last tier."""
    programs = [entry for entry in extend if not entry.asks_models]
    models = [entry for entry in extend if entry.asks_models]
    extended = list(tiers)
    if models:
        last = extended[-1]
        extended[-1] = last.model_copy(update={"judges": [*last.judges, *models]})
    if not programs:
        return extended
    for index, tier in enumerate(extended):
        if tier.name == RULES_TIER:
            extended[index] = tier.model_copy(update={"judges": [*tier.judges, *programs]})
            return extended
    builds = [i for i, tier in enumerate(extended[:-1]) if any(one.build for one in tier.judges)]
    rules = TierConfig(name=RULES_TIER, judges=programs, continue_on_reject=True)
    extended.insert(builds[-1] + 1 if builds else 0, rules)
    return extended
