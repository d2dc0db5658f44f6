"""The configuration file as values: names, types, defaults and allowed values in one place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, field
from msgspec.structs import replace

from prjury.jury.verdicts import TierPolicy
from prjury.policy.fields import (
    Amount,
    BranchLabel,
    BranchName,
    Duration,
    FilesOfPolicy,
    Glob,
    InsidePath,
    Label,
    MisfitError,
    PolicySection,
    RuleName,
    Share,
    Variable,
    Version,
    convert_section,
    seconds,
)
from prjury.policy.options import (
    CommandOptions,
    CoverageOptions,
    FixConfig,
    PatternsOptions,
    RuleSelection,
)
from prjury.policy.tiers import BuildOptions, BuildSection, JudgeEntry, TierConfig, field_name

#: Credentials of the runner itself, which no model's server is ever shown.
_NOT_FOR_MODELS = re.compile(r"GITHUB_TOKEN|GH_TOKEN|INPUT_GITHUB.TOKEN|ACTIONS_\w+", re.IGNORECASE)


class ModelConfig(PolicySection, frozen=True):
    """One model: a provider (`auto`: by the key that is present), its name there, and options."""

    provider: Annotated[str, "`auto`, `openai` (or alike), `anthropic`, `google`, `command`"] = (
        "auto"
    )
    name: Annotated[str | None, "the provider's name for it; else our default"] = None
    base_url: Annotated[
        str | None, "the server's address, if not the provider's own; for `openai` with its `/v1`"
    ] = None
    key_env: Annotated[Variable | None, "the variable with the key, if not the usual one"] = None
    command: Annotated[
        Annotated[list[str], Meta(min_length=1)] | None,
        "a program that reads the prompt and prints the answer",
    ] = None
    answer: Annotated[str | None, "where in a command's JSON it is, such as `result`"] = None
    temperature: Annotated[
        Annotated[float, Meta(ge=0.0, le=2.0)] | None,
        "0 if not set; not sent to a model that takes none",
    ] = None
    thinking: Annotated[
        Literal["off", "low", "medium", "high"] | None, "how much it thinks first, where it can"
    ] = None
    max_output_tokens: Annotated[
        Annotated[int, Meta(ge=256, le=1_000_000)] | None, "for one answer, with its thinking"
    ] = None
    timeout: Annotated[Duration, "for one call"] = seconds(120)
    room: Annotated[int, Meta(ge=2_000, le=2_000_000), "tokens of material in one prompt"] = 30_000

    def __post_init__(self) -> None:
        if self.key_env and _NOT_FOR_MODELS.fullmatch(self.key_env):
            raise ValueError(f"{self.key_env} is a credential of the runner; no model may see it")
        if (self.provider == "command") != (self.command is not None):
            raise ValueError("`command` and `provider: command` belong together")
        if self.answer is not None and self.command is None:
            raise ValueError("`answer` says where the answer of a command is; there is no command")
        if self.command is not None and (self.key_env or self.base_url):
            raise ValueError("a command has neither `key_env` nor `base_url`")
        if self.provider == "auto" and self.key_env and not self.base_url:
            raise ValueError("`key_env` names a key without its provider: name `provider` as well")


class RetryConfig(PolicySection, frozen=True):
    """When all models are asked again, and how often."""

    confidence: Annotated[Share, "mean confidence below which all are asked again"] = 0.7
    iterations: Annotated[int, Meta(ge=1, le=5), "rounds at most"] = 2
    trigger: Annotated[
        Literal["evidence", "flip"],
        "what confidence is: the share of true quotes, or asked twice in another order",
    ] = "evidence"


class RateConfig(PolicySection, frozen=True):
    """How many requests a provider gets at a time, from all judges together."""

    requests_per_minute: Annotated[Annotated[int, Meta(ge=1, le=10_000)] | None, "others wait"] = (
        None
    )
    max_parallel: Annotated[int, Meta(ge=1, le=64), "under way at the same time"] = 8


class ModelsConfig(PolicySection, frozen=True):
    """The models behind model-backed judges."""

    default: ModelConfig = field(default_factory=ModelConfig)
    panel: Annotated[list[ModelConfig], Meta(max_length=9), "asked instead of the default"] = []
    chair: Annotated[ModelConfig | None, "reads what the panel says, and decides"] = None
    base_url: Annotated[str | None, "the address of `openai` models that name none"] = None
    retry: RetryConfig = RetryConfig()
    rate: RateConfig = RateConfig()

    @property
    def reaches_out(self) -> bool:
        """Whether it says where models are reached, with which key, or by which program."""
        configs = [self.default, *self.panel, *filter(None, [self.chair])]
        own = any(model.base_url or model.key_env or model.command for model in configs)
        return own or self.base_url is not None

    @property
    def without_addresses(self) -> ModelsConfig:
        """The same where it does not say how models are reached, for models that others name."""
        return ModelsConfig(retry=self.retry, rate=self.rate)


class OpenConfig(PolicySection, frozen=True):
    """Whether pull requests are opened for backports once the change is merged."""

    enabled: Annotated[bool, "whether they are opened at all"] = False
    conflicts: Annotated[Literal["nothing", "draft"], "what is opened for a conflict"] = "nothing"
    labels: Annotated[list[Label], "what is opened gets these"] = []


class BackportConfig(PolicySection, frozen=True):
    """Which release branches a change is judged for."""

    branches: Annotated[Literal["auto"] | list[BranchName], "globs; auto: the newest"] = "auto"
    default: Annotated[Literal["ask", "yes", "no"], "the verdict where nothing asks for it"] = "ask"
    merge: Annotated[Literal["squash", "merge", "rebase"], "how changes are merged"] = "squash"
    build: Annotated[bool, "whether the picked tree is built as well"] = False
    locked: Annotated[list[BranchName], "closed branches, as names or globs"] = []
    labels: Annotated[list[BranchLabel], "labels that ask for one, beside the usual ones"] = []
    open: OpenConfig = OpenConfig()


class GateConfig(PolicySection, frozen=True):
    """What closes the merge gate."""

    block_on: Annotated[list[Literal["fail", "error", "abstain"]], "the verdicts that close it"] = (
        field(default_factory=lambda: ["fail", "error", "abstain"])
    )
    not_configured: Annotated[Literal["pass", "block"], "what a model without a key does"] = "pass"
    coverage_floor: Annotated[Share, "the share of added lines that a judge must have read"] = 0.95


#: What the labels that a run sets may stand for: the verdict's status, and suitable branches.
LabelKey: TypeAlias = Literal["pass", "fail", "abstain", "error", "backport"]


class PublishConfig(PolicySection, frozen=True):
    """Where the report is published."""

    comment: Annotated[bool, "the one comment below the pull request"] = True
    check: Annotated[bool, "a check run with the report"] = True
    annotations: Annotated[bool, "findings beside the lines, by the check"] = True
    summary: Annotated[bool, "the summary of the job"] = True
    review: Annotated[bool, "findings as review comments"] = False
    sarif: Annotated[bool, "a SARIF file for code scanning"] = False
    labels: Annotated[dict[LabelKey, Label], "by verdict, such as `{fail: prjury-fails}`"] = {}

    def __post_init__(self) -> None:
        if "backport" in self.labels and "{branch}" not in self.labels["backport"]:
            raise MisfitError("labels", "backport: the label has to hold {branch}")


class ReviewConfig(PolicySection, frozen=True):
    """How judges that ask models come to their findings."""

    confirm: Annotated[
        bool, "whether a second question has to confirm each error, which is a warning else"
    ] = True
    passes: Annotated[int, Meta(ge=1, le=5), "how often a model is asked; all findings count"] = 1


class LimitsConfig(PolicySection, frozen=True):
    """How much money, text and time a run may take."""

    usd: Annotated[Amount, "dollars for models"] = 1.0
    input_tokens: Annotated[int, Meta(ge=0), "tokens that models may read"] = 200_000
    wall: Annotated[Duration, "the time of all judges together"] = seconds(2700)


#: Files with credentials, such as those of a private package index.
Lent: TypeAlias = Literal["maven-settings", "npmrc", "pip-conf", "cargo-credentials", "netrc"]


class SandboxConfig(PolicySection, frozen=True):
    """How builds are contained."""

    level: Annotated[Literal["auto", "L0", "L1", "L2"], "the containment; `auto`: the highest"] = (
        "auto"
    )
    network: Annotated[bool, "whether a build may use the network; not a list of hosts"] = True
    env: Annotated[list[str], "variables that a build may see"] = []
    lend: Annotated[list[Lent], "your credentials that a build may read; never those of forks"] = []


class CoverageConfig(PolicySection, frozen=True):
    """Which files of a change have to be read."""

    exempt: Annotated[
        list[Glob],
        "files that need no judge, left out of `gate.coverage_floor`; `**` crosses directories, "
        "and a glob without a slash holds in each",
    ] = []


class SuppressionsConfig(PolicySection, frozen=True):
    """Whether comments in the code may suppress findings: ours, and those for other tools."""

    allow: Annotated[bool, "whether `prjury-ignore` and comments such as `noqa` count"] = True


class PullsConfig(PolicySection, frozen=True):
    """What is done with drafts and with the pull requests of bots."""

    drafts: Annotated[bool, "whether models are asked about drafts"] = False
    bots: Annotated[list[str], "accounts, without [bot], of which no model is asked"] = field(
        default_factory=lambda: ["dependabot", "renovate"]
    )


class PathsConfig(PolicySection, frozen=True):
    """Paths that only some tiers judge."""

    match: Annotated[
        list[Glob], Meta(min_length=1, max_length=100), "globs; the first match counts"
    ]
    tiers: Annotated[list[str], Meta(min_length=1), "the names of tiers"]


_DEFAULT_TIERS: list[dict[str, Any]] = [
    {"name": "build", "judges": ["merge", "build"]},
    {"name": "version-patterns", "continue_on_reject": True, "judges": ["patterns"]},
    {
        "name": "quality",
        "policy": "final_tier",
        "voting": {"weighted_average": {"threshold": 0.7}},
        "judges": ["quality"],
    },
]


class Config(PolicySection, frozen=True):
    """The whole policy; every part has a default, so that it works without a file."""

    version: Annotated[Version, "the version of this file's form"] = 1
    build: Annotated[BuildSection, "options of the judge `build`, and its reports of coverage"] = (
        field(default_factory=BuildSection)
    )
    extend: Annotated[
        list[JudgeEntry],
        Meta(max_length=50),
        "further judges: programs in a tier `rules` after the build, models in the last",
    ] = []
    ignore: Annotated[
        list[RuleName], Meta(max_length=500), "rules or packs that this repository does not want"
    ] = []
    per_file_ignores: Annotated[dict[Glob, list[RuleName]], "the same for files by glob"] = {}
    suppressions: SuppressionsConfig = SuppressionsConfig()
    tiers: Annotated[
        list[TierConfig],
        Meta(min_length=1),
        "asked one after the other, in place of the default ones",
    ] = field(default_factory=lambda: convert_section(_DEFAULT_TIERS, list[TierConfig]))
    backport: BackportConfig = BackportConfig()
    gate: GateConfig = field(default_factory=GateConfig)
    publish: PublishConfig = PublishConfig()
    models: ModelsConfig = field(default_factory=ModelsConfig)
    review: ReviewConfig = ReviewConfig()
    limits: LimitsConfig = field(default_factory=LimitsConfig)
    sandbox: SandboxConfig = SandboxConfig()
    coverage: CoverageConfig = CoverageConfig()
    fix: FixConfig = field(default_factory=FixConfig)
    paths: Annotated[
        list[PathsConfig], Meta(max_length=100), "which tiers judge which paths; all judge the rest"
    ] = []
    pulls: PullsConfig = field(default_factory=PullsConfig)
    calibration: Annotated[InsidePath, "the record by which models earn the gate"] = (
        ".github/prjury-calibration.yml"
    )


def complete_config(config: Config, commit: str | None = None) -> Config:
    """The policy whose tiers have what its other sections say of them."""
    ignores = {glob: tuple(names) for glob, names in config.per_file_ignores.items()}
    rules = RuleSelection(config.suppressions.allow, tuple(config.ignore), ignores)
    tiers = extend_rules_and_last_tier(config.tiers, config.extend)
    _refuse_inconsistencies(config, tiers)
    return replace(config, tiers=complete_and_check_tiers(tiers, config.build, rules, commit))


def _refuse_inconsistencies(config: Config, tiers: list[TierConfig]) -> None:
    names = [tier.name for tier in tiers]
    if len(set(names)) != len(names):
        raise MisfitError("tiers", f"tier names must be unique, not {', '.join(names)}")
    if tiers[-1].policy is not TierPolicy.FINAL_TIER:
        text = f"the last tier, {names[-1]}, must have the policy final_tier"
        raise MisfitError("tiers", text)
    if not any(entry.build for tier in tiers for entry in tier.judges):
        usual = BuildSection().options
        for key in sorted(config.build.keys):
            name = field_name(key)
            if getattr(config.build.options, name) != getattr(usual, name):
                text = f"build.{key} is set, and no tier has the judge `build`"
                raise MisfitError("tiers", text)
    for entry in config.paths:
        for name in entry.tiers:
            if name not in names:
                raise MisfitError("paths", f"there is no tier {name}, only {', '.join(names)}")
    own = config.publish.labels.get("backport", "").casefold()
    if own and own in map(str.casefold, config.backport.labels):
        raise MisfitError("publish", "labels: a run cannot give the label that asks for a backport")


RULES_TIER = "rules"


def extend_rules_and_last_tier(
    tiers: Sequence[TierConfig], extend: Sequence[JudgeEntry]
) -> list[TierConfig]:
    """The tiers with further judges: programs after the build, models in the last tier."""
    programs = [entry for entry in extend if not entry.asks_models]
    models = [entry for entry in extend if entry.asks_models]
    *others, last = tiers
    extended = [*others, last.with_judges([*last.judges, *models])]
    if not programs:
        return extended
    for index, tier in enumerate(extended):
        if tier.name == RULES_TIER:
            extended[index] = tier.with_judges([*tier.judges, *programs])
            return extended
    builds = [i for i, tier in enumerate(extended[:-1]) if any(one.build for one in tier.judges)]
    rules = TierConfig(RULES_TIER, programs, continue_on_reject=True)
    extended.insert(builds[-1] + 1 if builds else 0, rules)
    return extended


def complete_and_check_tiers(
    tiers: Sequence[TierConfig], build: BuildSection, rules: RuleSelection, commit: str | None
) -> list[TierConfig]:
    """The tiers whose judges have what other parts say; builds keep what other judges read."""
    _refuse_readers_before_builds(tiers)
    entries = [entry for tier in tiers for entry in tier.judges]
    coverage = [one.options for one in entries if isinstance(one.options, CoverageOptions)]
    reports = [*sorted({one.report for one in entries if one.report}), *build.coverage]
    of_base = sorted({seat.report for seat in coverage if seat.baseline == "base"})

    def complete(entry: JudgeEntry) -> JudgeEntry:
        chosen = build.complete(entry) if entry.build else entry
        options = chosen.options
        if isinstance(options, PatternsOptions):
            options = options.with_rules(rules)
        if isinstance(options, CommandOptions):
            options = replace(options, keep=_join(options.keep, reports))
        if isinstance(options, BuildOptions):
            options = options.with_changes(
                keep=_join(options.keep, reports), keep_of_base=_join(options.keep_of_base, of_base)
            )
            free = "affected" not in entry.keys | build.keys
            if free and any(seat.whole for seat in coverage):
                options = options.with_changes(affected=False)
        if isinstance(options, FilesOfPolicy):
            options = options.at(commit)
        return chosen.with_options(options)

    return [tier.with_judges(map(complete, tier.judges)) for tier in tiers]


def _join(first: Iterable[str], second: Iterable[str]) -> list[str]:
    return list(dict.fromkeys([*first, *second]))


def _refuse_readers_before_builds(tiers: Sequence[TierConfig]) -> None:
    for tier in tiers:
        for entry in tier.judges:
            if entry.report:
                text = f"{entry.name} in the tier {tier.name} reads a report, and no tier before it"
                raise MisfitError("tiers", f"{text} has a `build` or `command` that could write it")
        if any(entry.build or entry.command for entry in tier.judges):
            return
