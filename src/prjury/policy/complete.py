"""The tiers of a policy with what its other sections say of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from prjury.jury.verdicts import TierPolicy
from prjury.policy.fields import FilesOfPolicy, MisfitError
from prjury.policy.patterns import PatternsOptions, RuleSelection
from prjury.policy.schema import Config
from prjury.policy.seats import CommandOptions, CoverageOptions
from prjury.policy.tiers import BuildOptions, BuildSection, JudgeEntry, TierConfig, field_name


def complete_config(config: Config, commit: str | None = None) -> Config:
    """The policy whose tiers have what its other sections say of them."""
    ignores = {glob: tuple(names) for glob, names in config.per_file_ignores.items()}
    rules = RuleSelection(config.suppressions.allow, tuple(config.ignore), ignores)
    tiers = extend_tiers(config.tiers, config.extend)
    _refuse_misfits(config, tiers)
    try:
        tiers = complete_entries(tiers, config.build, rules, commit)
    except ValueError as error:
        raise MisfitError("tiers", str(error)) from error
    return replace(config, tiers=tiers)


def _refuse_misfits(config: Config, tiers: list[TierConfig]) -> None:
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


#: The tier of programs that `extend` adds.
RULES_TIER = "rules"


def extend_tiers(tiers: Sequence[TierConfig], extend: Sequence[JudgeEntry]) -> list[TierConfig]:
    """The tiers with further judges: programs after the build, models in the last tier."""
    programs = [entry for entry in extend if not entry.asks_models]
    models = [entry for entry in extend if entry.asks_models]
    extended = list(tiers)
    if models:
        last = extended[-1]
        extended[-1] = last.with_judges([*last.judges, *models])
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


def complete_entries(
    tiers: Sequence[TierConfig], build: BuildSection, rules: RuleSelection, commit: str | None
) -> list[TierConfig]:
    """The tiers whose judges have what other parts of the policy say of them.

    Builds and commands keep the reports that other judges read.
    """
    _refuse_early_readers(tiers)
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
                keep=_join(options.keep, reports),
                keep_of_base=_join(options.keep_of_base, of_base),
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


def _refuse_early_readers(tiers: Sequence[TierConfig]) -> None:
    for tier in tiers:
        for entry in tier.judges:
            if entry.report:
                raise ValueError(
                    f"{entry.name} in the tier {tier.name} reads a report, and no tier "
                    "before it has a `build` or a `command` that could write it"
                )
        if any(entry.build or entry.command for entry in tier.judges):
            return
