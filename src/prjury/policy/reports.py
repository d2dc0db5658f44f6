"""Reports that builds and commands keep, because judges of later tiers read them."""

from __future__ import annotations

from collections.abc import Sequence

from prjury.policy.tiers import BuildOptions, JudgeEntry, TierConfig


def keep_reports(tiers: list[TierConfig], more: Sequence[str] = ()) -> list[TierConfig]:
    """The tiers, in which builds and commands keep the reports that later tiers read.

    Args:
        more: globs of reports that are kept in any case.

    Raises:
        ValueError: for a judge that reads a report before anything is run.
    """
    wanted = sorted({path for tier in tiers for one in tier.judges for path in one.reports})
    wanted += [glob for glob in more if glob not in wanted]
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
        tier.model_copy(update={"judges": [_keeping(one, tiers, wanted) for one in tier.judges]})
        for tier in tiers
    ]


def _keeping(entry: JudgeEntry, tiers: Sequence[TierConfig], wanted: Sequence[str]) -> JudgeEntry:
    if entry.runs is None or not wanted:
        return entry
    new: dict[str, object] = {"keep": [*dict.fromkeys([*entry.runs.keep, *wanted])]}
    if entry.build:
        new |= _measured(entry.build, tiers)
    runs = entry.runs.model_copy(update=new)
    return entry.model_copy(update={entry.name: runs})


def _measured(build: BuildOptions, tiers: Sequence[TierConfig]) -> dict[str, object]:
    """What coverage asks of a build: the base's reports, and all of the code unless said."""
    seats = [one.coverage for tier in tiers for one in tier.judges if one.coverage]
    compared = sorted({seat.report for seat in seats if seat.baseline == "base"})
    new: dict[str, object] = {"keep_of_base": [*dict.fromkeys([*build.keep_of_base, *compared])]}
    if any(seat.whole for seat in seats) and "affected" not in build.model_fields_set:
        new["affected"] = False
    return new
