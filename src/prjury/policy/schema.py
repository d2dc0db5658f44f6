"""The configuration file as models: names, types, defaults and allowed values in one place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    field_validator,
    model_validator,
)

from prjury.jury.verdicts import TierPolicy
from prjury.policy.agents import FixConfig
from prjury.policy.fields import (
    LONGEST_LABEL,
    BranchName,
    Duration,
    Glob,
    InsidePath,
    Label,
    PolicySection,
    Share,
    Version,
    complete,
    empty,
)
from prjury.policy.models import ModelsConfig
from prjury.policy.patterns import RuleName, RuleSelection
from prjury.policy.tiers import (
    ARTIFACTS,
    CHECKS,
    FROM,
    ArtifactNames,
    BuildChoices,
    BuildOptions,
    BuildSource,
    CheckNamesOption,
    Command,
    JudgeEntry,
    TierConfig,
    extend_tiers,
)


def keep_reports(tiers: list[TierConfig], more: Sequence[str] = ()) -> list[TierConfig]:
    """The tiers, in which builds and commands keep the reports that later tiers read.

    Args:
        more: globs of reports that are kept in any case.

    Raises:
        ValueError: for a judge that reads a report before anything is run.
    """
    globs = sorted({path for tier in tiers for one in tier.judges for path in one.reports})
    globs += [glob for glob in more if glob not in globs]
    ran = False
    for tier in tiers:
        reading = next((one.name for one in tier.judges if one.reports), None)
        if reading and not ran:
            raise ValueError(
                f"{reading} in the tier {tier.name} reads a report, and no tier before it has a "
                "`build` or a `command` that could write it"
            )
        ran = ran or any(one.runs for one in tier.judges)
    return [
        tier.model_copy(update={"judges": [_keeping(one, tiers, globs) for one in tier.judges]})
        for tier in tiers
    ]


def _keeping(entry: JudgeEntry, tiers: Sequence[TierConfig], wanted: Sequence[str]) -> JudgeEntry:
    if entry.runs is None or not wanted:
        return entry
    new: dict[str, object] = {"keep": [*dict.fromkeys([*entry.runs.keep, *wanted])]}
    if entry.build:
        new |= _choose_measures(entry.build, tiers)
    runs = entry.runs.model_copy(update=new)
    return entry.model_copy(update={entry.name: runs})


def _choose_measures(build: BuildOptions, tiers: Sequence[TierConfig]) -> dict[str, object]:
    seats = [one.coverage for tier in tiers for one in tier.judges if one.coverage]
    compared = sorted({seat.report for seat in seats if seat.baseline == "base"})
    new: dict[str, object] = {"keep_of_base": [*dict.fromkeys([*build.keep_of_base, *compared])]}
    if any(seat.whole for seat in seats) and "affected" not in build.model_fields_set:
        new["affected"] = False
    return new


def _auto_or_list(value: object) -> object:
    if value != "auto" and not isinstance(value, list):
        raise ValueError("auto or a list of names and globs is expected here")
    return value


def _label_of_branch(pattern: str) -> str:
    text, rest = pattern.strip(), pattern.replace("{branch}", "", 1)
    if rest == pattern:
        raise ValueError("the label has to hold {branch}")
    if set(rest) & set("{},\r\n") or text != pattern or len(rest) > LONGEST_LABEL:
        raise ValueError(
            f"a label has {{branch}} once and up to {LONGEST_LABEL} other characters, with no "
            "comma, brace or line break, and no blank at its ends"
        )
    return pattern


#: What is wrong in a list is said of its entry, not of the other form as well.
Branches: TypeAlias = Annotated[
    Annotated[Literal["auto"], Tag("auto")] | Annotated[list[BranchName], Tag("list")],
    Discriminator(lambda value: "list" if isinstance(value, list) else "auto"),
    BeforeValidator(_auto_or_list),
]
BranchLabel: TypeAlias = Annotated[str, AfterValidator(_label_of_branch)]


class OpenConfig(PolicySection):
    """Whether pull requests are opened for backports once the change is merged.

    Nothing is ever pushed to a release branch.
    """

    enabled: bool = Field(default=False, description="whether they are opened at all")
    conflicts: Literal["nothing", "draft"] = Field(
        "nothing", description="what is opened where the pick conflicts; a draft lists them"
    )
    labels: list[Label] = Field(default_factory=empty, description="what is opened gets these")


class BackportConfig(PolicySection):
    """Which release branches a change is judged for."""

    branches: Branches = Field(
        "auto", description="names or globs; auto takes the newest release branches"
    )
    default: Literal["ask", "yes", "no"] = Field(
        "ask", description="the verdict for a branch that nothing asks for"
    )
    merge: Literal["squash", "merge", "rebase"] = Field(
        "squash", description="how changes arrive in the branch that they are merged into"
    )
    build: bool = Field(
        default=False,
        description="whether the picked tree is built as well",
    )
    locked: list[BranchName] = Field(
        default_factory=empty, description="closed branches, as names or globs"
    )
    labels: list[BranchLabel] = Field(
        default_factory=empty,
        description="labels that ask for a backport, beside those that common tools know",
    )
    open: OpenConfig = OpenConfig()


class GateConfig(PolicySection):
    """What closes the merge gate."""

    block_on: list[Literal["fail", "error", "abstain"]] = Field(
        default=["fail", "error", "abstain"], description="the verdicts that close it"
    )
    not_configured: Literal["pass", "block"] = Field(
        "pass", description="what a model judge without a key does to it"
    )
    coverage_floor: Share = Field(
        0.95, description="the share of added lines that a judge has to have read"
    )


#: What the labels that a run sets may stand for: the verdict's status, and suitable branches.
LabelKey: TypeAlias = Literal["pass", "fail", "abstain", "error", "backport"]


class PublishConfig(PolicySection):
    """Where the report is published."""

    comment: bool = Field(default=True, description="the one comment below the pull request")
    check: bool = Field(default=True, description="a check run with the report")
    annotations: bool = Field(default=True, description="findings beside the lines, by the check")
    summary: bool = Field(default=True, description="the summary of the job")
    review: bool = Field(default=False, description="findings as review comments")
    sarif: bool = Field(default=False, description="a SARIF file for code scanning")
    labels: dict[LabelKey, Label] = Field(
        default_factory=dict,
        description='labels by verdict and for branches, such as `{fail: "prjury:fail"}`',
    )

    @field_validator("labels")
    @classmethod
    def _names_the_branch(cls, labels: dict[LabelKey, Label]) -> dict[LabelKey, Label]:
        if "backport" in labels and "{branch}" not in labels["backport"]:
            raise ValueError("backport: the label has to hold {branch}")
        return labels


class ReviewConfig(PolicySection):
    """How judges that ask models come to their findings."""

    confirm: bool = Field(
        default=True,
        description="whether a second question has to confirm each error before it counts; "
        "what is not confirmed is told as a warning",
    )
    passes: int = Field(
        1, ge=1, le=5, description="how often a model is asked independently; all findings count"
    )


class LimitsConfig(PolicySection):
    """How much money, text and time a run may take."""

    usd: float = Field(1.0, ge=0.0, allow_inf_nan=False, description="dollars for models")
    input_tokens: int = Field(200_000, ge=0, description="tokens that models may read")
    wall: Duration = Field(2700.0, description="the time of all judges together")


#: Files with credentials, such as those of a private package index.
Lent: TypeAlias = Literal["maven-settings", "npmrc", "pip-conf", "cargo-credentials", "netrc"]


class SandboxConfig(PolicySection):
    """How builds are contained."""

    level: Literal["auto", "L0", "L1", "L2"] = Field(
        "auto", description="the containment that is needed; `auto` is the highest that works here"
    )
    network: bool = Field(default=True, description="whether a build may use the network")
    env: list[str] = Field(default_factory=empty, description="variables that a build may see")
    lend: list[Lent] = Field(
        default_factory=empty,
        description="your credentials that a build may read; never in the build job for forks",
    )

    @field_validator("network", mode="before")
    @classmethod
    def _no_hosts_yet(cls, network: object) -> object:
        if isinstance(network, list):
            raise complete("a list of hosts is not supported yet; write true or false")
        return network


class CoverageConfig(PolicySection):
    """Which files of a change have to be read."""

    exempt: list[Glob] = Field(
        default_factory=empty,
        description="globs of files that need no judge: none is asked about their lines, "
        "and `gate.coverage_floor` leaves them out. `*` stays in a directory, `**` crosses them; "
        "a glob without a slash holds in every directory",
    )


class SuppressionsConfig(PolicySection):
    """Whether comments in the code may suppress findings: ours, and those for other tools."""

    allow: bool = Field(
        default=True, description="whether `prjury-ignore` and comments such as `noqa` count"
    )


class PullsConfig(PolicySection):
    """What is done with drafts and with the pull requests of bots."""

    drafts: bool = Field(default=False, description="whether models are asked about drafts")
    bots: list[str] = Field(
        default=["dependabot", "renovate"],
        description="accounts, without their [bot], about whose changes no model is asked",
    )


class BuildConfig(BuildChoices):
    """The options of every judge `build` that does not say them itself."""

    command: Command | None = Field(None, description="one shell command, or steps")
    from_: BuildSource | None = Field(None, alias="from", description=FROM)
    checks: CheckNamesOption | None = Field(None, description=CHECKS)
    artifacts: ArtifactNames | None = Field(None, description=ARTIFACTS)
    coverage: list[Glob] = Field(
        default_factory=empty, description="the coverage reports that it writes, as globs"
    )

    @model_validator(mode="after")
    def _checks_are_read(self) -> Self:
        if self.from_ != "checks" and {self.checks is None, self.artifacts is None} != {True}:
            raise ValueError("`checks` and `artifacts` are for `from: checks`; set that as well")
        return self

    @property
    def said(self) -> Mapping[str, Any]:
        """The options of the judge that are set, be it to their default."""
        options = {key: getattr(self, key) for key in self.model_fields_set - {"coverage"}}
        return {key: value for key, value in options.items() if value is not None}


def _with_build(tier: TierConfig, said: Mapping[str, Any], commit: str | None) -> TierConfig:
    judges = [_with_options(entry, said, commit) for entry in tier.judges]
    return tier.model_copy(update={"judges": judges})


def _with_options(entry: JudgeEntry, said: Mapping[str, Any], commit: str | None) -> JudgeEntry:
    if entry.build is None:
        return entry
    new = {key: value for key, value in said.items() if key not in entry.build.model_fields_set}
    build = entry.build.model_copy(update=new).at(commit)
    return entry.model_copy(update={"build": build})


class PathsConfig(PolicySection):
    """Paths that only some tiers judge."""

    match: list[Glob] = Field(
        min_length=1, max_length=100, description="globs; the first entry that matches counts"
    )
    tiers: list[str] = Field(min_length=1, description="the names of tiers")


def _default_tiers() -> list[TierConfig]:
    return [TierConfig.model_validate(tier) for tier in Config.DEFAULT_TIERS]


class Config(PolicySection):
    """The whole policy; every part has a default, so that it works without a file."""

    DEFAULT_TIERS: ClassVar[list[dict[str, Any]]] = [
        {"name": "build", "policy": "reject_on_any_fail", "judges": ["merge", "build"]},
        {
            "name": "version-patterns",
            "policy": "reject_on_any_fail",
            "continue_on_reject": True,
            "judges": ["patterns"],
        },
        {
            "name": "quality",
            "policy": "final_tier",
            "voting": {"weighted_average": {"threshold": 0.7}},
            "judges": ["quality"],
        },
    ]

    version: Version = Field(1, description="the version of this file's form")
    build: BuildConfig = BuildConfig()
    extend: list[JudgeEntry] = Field(
        default_factory=empty,
        max_length=50,
        description="judges besides those of the tiers: programs in a tier `rules` after the "
        "build, judges that ask models in the last tier",
    )
    ignore: list[RuleName] = Field(
        default_factory=empty,
        max_length=500,
        description="rules or packs of version patterns that this repository does not want",
    )
    per_file_ignores: dict[Glob, list[RuleName]] = Field(
        default_factory=dict, description="the same for the files that a glob names"
    )
    suppressions: SuppressionsConfig = SuppressionsConfig()
    tiers: list[TierConfig] = Field(
        default_factory=_default_tiers,
        min_length=1,
        validate_default=True,
        description="the tiers, asked one after the other; they replace the default ones",
    )
    backport: BackportConfig = BackportConfig()
    gate: GateConfig = GateConfig()
    publish: PublishConfig = PublishConfig()
    models: ModelsConfig = ModelsConfig()
    review: ReviewConfig = ReviewConfig()
    limits: LimitsConfig = LimitsConfig()
    sandbox: SandboxConfig = SandboxConfig()
    coverage: CoverageConfig = CoverageConfig()
    fix: FixConfig = FixConfig()
    paths: list[PathsConfig] = Field(
        default_factory=empty,
        max_length=100,
        description="which tiers judge which paths; what no entry matches is judged by all",
    )
    pulls: PullsConfig = PullsConfig()
    calibration: InsidePath = Field(
        ".github/prjury-calibration.yml",
        description="the record by which models earn the gate, if it is in the base commit",
    )

    def on(self, branch: str) -> Config:
        """The policy as it is for changes to a branch."""
        return self.model_copy(update={"tiers": [tier.on(branch) for tier in self.tiers]})

    @field_validator("tiers")
    @classmethod
    def _extend(cls, tiers: list[TierConfig], info: ValidationInfo) -> list[TierConfig]:
        return extend_tiers(tiers, info.data.get("extend", ()))

    @field_validator("tiers")
    @classmethod
    def _select_rules(cls, tiers: list[TierConfig], info: ValidationInfo) -> list[TierConfig]:
        suppressions = info.data.get("suppressions", SuppressionsConfig())
        selection = RuleSelection(
            suppressions.allow,
            tuple(info.data.get("ignore", ())),
            {glob: tuple(names) for glob, names in info.data.get("per_file_ignores", {}).items()},
        )
        return [tier.with_rules(selection) for tier in tiers]

    @field_validator("tiers")
    @classmethod
    def _sound_cascade(cls, tiers: list[TierConfig]) -> list[TierConfig]:
        names = [tier.name for tier in tiers]
        if len(set(names)) != len(names):
            raise ValueError(f"tier names must be unique, not {', '.join(names)}")
        if tiers[-1].policy is not TierPolicy.FINAL_TIER:
            raise ValueError(f"the last tier, {names[-1]}, must have the policy final_tier")
        return tiers

    @field_validator("tiers")
    @classmethod
    def _build_as_said(cls, tiers: list[TierConfig], info: ValidationInfo) -> list[TierConfig]:
        build: BuildConfig = info.data.get("build", BuildConfig())
        said, usual = build.said, BuildConfig()
        idle = sorted(key for key, value in said.items() if value != getattr(usual, key))
        if idle and not any(entry.build for tier in tiers for entry in tier.judges):
            key = idle[0].rstrip("_")
            raise ValueError(f"build.{key} is set, and no tier has the judge `build`")
        commit = (info.context or {}).get("commit")
        return [_with_build(tier, said, commit) for tier in tiers]

    @field_validator("tiers")
    @classmethod
    def _reports_are_kept(cls, tiers: list[TierConfig], info: ValidationInfo) -> list[TierConfig]:
        build: BuildConfig = info.data.get("build", BuildConfig())
        return keep_reports(tiers, build.coverage)

    @field_validator("paths")
    @classmethod
    def _name_tiers(cls, paths: list[PathsConfig], info: ValidationInfo) -> list[PathsConfig]:
        names = [tier.name for tier in info.data.get("tiers", ())]
        for name in (name for entry in paths for name in entry.tiers):
            if names and name not in names:
                raise complete(f"there is no tier {name}, only {', '.join(names)}")
        return paths

    @field_validator("publish")
    @classmethod
    def _asks_nothing_itself(cls, publish: PublishConfig, info: ValidationInfo) -> PublishConfig:
        backport: BackportConfig = info.data.get("backport", BackportConfig())
        own = publish.labels.get("backport")
        if own and own.casefold() in map(str.casefold, backport.labels):
            raise ValueError("labels: a run cannot give the label that asks for a backport")
        return publish
