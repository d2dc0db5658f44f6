"""The configuration file as values: names, types, defaults and allowed values in one place."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, field
from msgspec.structs import replace

from prjury.policy.agents import FixConfig
from prjury.policy.fields import (
    Amount,
    BranchLabel,
    BranchName,
    Duration,
    Glob,
    InsidePath,
    Label,
    MisfitError,
    PolicySection,
    RuleName,
    Share,
    Version,
    convert_section,
    seconds,
)
from prjury.policy.models import ModelsConfig
from prjury.policy.tiers import (
    BuildSection,
    JudgeEntry,
    TierConfig,
)


class OpenConfig(PolicySection, frozen=True):
    """Whether pull requests are opened for backports once the change is merged.

    Nothing is ever pushed to a release branch.
    """

    enabled: Annotated[bool, "whether they are opened at all"] = False
    conflicts: Annotated[Literal["nothing", "draft"], "what is opened for a conflict"] = "nothing"
    labels: Annotated[list[Label], "what is opened gets these"] = []


class BackportConfig(PolicySection, frozen=True):
    """Which release branches a change is judged for."""

    branches: Annotated[Literal["auto"] | list[BranchName], "names or globs; auto: the newest"] = (
        "auto"
    )
    default: Annotated[Literal["ask", "yes", "no"], "the verdict where nothing asks for it"] = "ask"
    merge: Annotated[Literal["squash", "merge", "rebase"], "how changes are merged"] = "squash"
    build: Annotated[bool, "whether the picked tree is built as well"] = False
    locked: Annotated[list[BranchName], "closed branches, as names or globs"] = []
    labels: Annotated[
        list[BranchLabel], "labels that ask for one, beside those of common tools"
    ] = []
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
    labels: Annotated[
        dict[LabelKey, Label], "labels by verdict, such as `{fail: prjury-fails}`"
    ] = {}

    def __post_init__(self) -> None:
        if "backport" in self.labels and "{branch}" not in self.labels["backport"]:
            raise MisfitError("labels", "backport: the label has to hold {branch}")


class ReviewConfig(PolicySection, frozen=True):
    """How judges that ask models come to their findings."""

    confirm: Annotated[
        bool,
        "whether a second question has to confirm each error before it counts; what is not "
        "confirmed is told as a warning",
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

    level: Annotated[
        Literal["auto", "L0", "L1", "L2"],
        "the containment that is needed; `auto` is the highest that works here",
    ] = "auto"
    network: Annotated[bool, "whether a build may use the network; not a list of hosts"] = True
    env: Annotated[list[str], "variables that a build may see"] = []
    lend: Annotated[list[Lent], "your credentials that a build may read; never those of forks"] = []


class CoverageConfig(PolicySection, frozen=True):
    """Which files of a change have to be read."""

    exempt: Annotated[
        list[Glob],
        "globs of files that need no judge: none is asked about their lines, and "
        "`gate.coverage_floor` leaves them out. `*` stays in a directory, `**` crosses them; a "
        "glob without a slash holds in every directory",
    ] = []


class SuppressionsConfig(PolicySection, frozen=True):
    """Whether comments in the code may suppress findings: ours, and those for other tools."""

    allow: Annotated[bool, "whether `prjury-ignore` and comments such as `noqa` count"] = True


class PullsConfig(PolicySection, frozen=True):
    """What is done with drafts and with the pull requests of bots."""

    drafts: Annotated[bool, "whether models are asked about drafts"] = False
    bots: Annotated[
        list[str], "accounts, without their [bot], about whose changes no model is asked"
    ] = field(default_factory=lambda: ["dependabot", "renovate"])


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


def _default_tiers() -> list[TierConfig]:
    tiers: list[TierConfig] = convert_section(_DEFAULT_TIERS, list[TierConfig])
    return tiers


class Config(PolicySection, frozen=True):
    """The whole policy; every part has a default, so that it works without a file."""

    version: Annotated[Version, "the version of this file's form"] = 1
    build: Annotated[BuildSection, "options of the judge `build`, and its reports of coverage"] = (
        field(default_factory=BuildSection)
    )
    extend: Annotated[
        list[JudgeEntry],
        Meta(max_length=50),
        "judges besides those of the tiers: programs in a tier `rules` after the build, judges "
        "that ask models in the last tier",
    ] = []
    ignore: Annotated[
        list[RuleName],
        Meta(max_length=500),
        "rules or packs of version patterns that this repository does not want",
    ] = []
    per_file_ignores: Annotated[dict[Glob, list[RuleName]], "the same for files by glob"] = {}
    suppressions: SuppressionsConfig = SuppressionsConfig()
    tiers: Annotated[
        list[TierConfig],
        Meta(min_length=1),
        "the tiers, asked one after the other; they replace the default ones",
    ] = field(default_factory=_default_tiers)
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
        list[PathsConfig],
        Meta(max_length=100),
        "which tiers judge which paths; what no entry matches is judged by all",
    ] = []
    pulls: PullsConfig = field(default_factory=PullsConfig)
    calibration: Annotated[
        InsidePath, "the record by which models earn the gate, if it is in the base commit"
    ] = ".github/prjury-calibration.yml"

    def adapt_to(self, branch: str) -> Config:
        """The policy as it is for changes to a branch."""
        return replace(self, tiers=[tier.adapt_to(branch) for tier in self.tiers])
