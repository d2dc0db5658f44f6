"""Findings that a maintainer has dismissed: they stay listed, and no longer fail their judge.

Only findings of patterns and of models can be dismissed; what a build or a program has proved
stands until the change is another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from msgspec import structs

from prjury.app.registry import Casting, Make, PullJudge, SeatPosition
from prjury.app.stages.evidence import Records, SeatRecord
from prjury.app.stages.replay import StandInJudge, record_of
from prjury.judges.context import PullRequestContext
from prjury.judges.patterns.judge import NAME
from prjury.jury.judge import MODEL_BACKED, JudgeType, ask, type_of
from prjury.jury.judgment import Judgment, Severity, Status
from prjury.policy.schema import Config
from prjury.ports import Ports
from prjury.report.model import Dismissal
from prjury.report.wording import pluralize
from prjury.rulepacks.applicability import at_least


def is_dismissible(judge: str, kind: JudgeType) -> bool:
    """Tell whether findings of a judge can be dismissed."""
    return kind in MODEL_BACKED or judge.partition("-")[0] == NAME


def apply_dismissals(
    judgment: Judgment, dismissals: Sequence[Dismissal], threshold: Severity = "warning"
) -> Judgment:
    """A judgment that passes if only dismissed findings fail it; else the judgment itself."""
    if judgment.status is not Status.FAIL:
        return judgment
    failed = [
        check
        for check in judgment.checks
        if not check.passed and at_least(check.severity, threshold)
    ]
    by_finding = {one.finding: one for one in dismissals}
    if not failed or not all(check.fingerprint in by_finding for check in failed):
        return judgment
    people = dict.fromkeys(f"@{by_finding[check.fingerprint].by}" for check in failed)
    dismissed = f"{pluralize(len(failed), 'finding')} dismissed by {', '.join(people)}"
    return replace(
        judgment,
        status=Status.PASS,
        reasoning=f"{dismissed}: {judgment.reasoning}",
        score=None,
        label=None,
    )


def seat_leniently(cast: Casting, config: Config, dismissals: Sequence[Dismissal]) -> Casting:
    """Seat the same judges, which dismissed findings do not fail."""

    def cast_leniently(place: SeatPosition, make: Make, ports: Ports) -> PullJudge:
        judge = cast(place, make, ports)
        if not is_dismissible(place.name, type_of(judge)):
            return judge
        threshold = _threshold_of(place, config)

        def judge_leniently(context: PullRequestContext) -> Judgment:
            return apply_dismissals(ask(judge, context), dismissals, threshold)

        return StandInJudge(record_of(judge), judge_leniently, getattr(judge, "description", ""))

    return cast_leniently


def _threshold_of(place: SeatPosition, config: Config) -> Severity:
    tier = next(tier for tier in config.tiers if tier.name == place.tier)
    patterns = tier.judges[place.number].patterns
    return patterns.severity if patterns else "warning"


def dismiss_in_records(
    records: Records, config: Config, dismissals: Sequence[Dismissal]
) -> dict[SeatPosition, SeatRecord]:
    """The judgments of another stage, of which dismissed findings fail none."""
    lenient = dict(records)
    for place, record in records.items():
        if record.judgment and is_dismissible(place.name, record.type):
            threshold = _threshold_of(place, config)
            judgment = apply_dismissals(record.judgment, dismissals, threshold)
            lenient[place] = structs.replace(record, judgment=judgment)
    return lenient
