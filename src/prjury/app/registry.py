"""Names in the configuration and the factories behind them: a visible table, plus entry points.

A factory is named as ``module:function`` and imported when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeAlias
from typing import cast as typed

from msgspec import Struct
from msgspec.structs import asdict

from prjury.errors import ConfigError, did_you_mean
from prjury.judges.context import PullRequestContext
from prjury.jury.cascade import CascadedJury, Tier
from prjury.jury.count import NeverLifting, NeverOverruling
from prjury.jury.guard import catch_crash
from prjury.jury.judge import MODEL_BACKED, FunctionJudge, Judge, type_of
from prjury.jury.judgment import Status
from prjury.jury.jury import Jury, Seat
from prjury.jury.verdicts import TierPolicy
from prjury.jury.voting import (
    AverageVoting,
    ConsensusVoting,
    MajorityVoting,
    MedianVoting,
    VotingStrategy,
    WeightedAverageVoting,
)
from prjury.policy.options import VotingEntry
from prjury.policy.schema import Config
from prjury.policy.tiers import TierConfig
from prjury.ports import Ports
from prjury.report.model import SkippedJudge

PullJudge: TypeAlias = Judge[PullRequestContext]
JudgeFactory: TypeAlias = Callable[[Any, Ports], PullJudge]
Make: TypeAlias = Callable[[Ports], PullJudge]


class SeatPosition(Struct, frozen=True, order=True):
    """A judge's place in a policy: its tier, the number of its entry there, and its name."""

    tier: str
    number: int
    name: str


#: Decides which judge is seated in a place; usually the one that the policy names.
Casting: TypeAlias = Callable[[SeatPosition, Make, Ports], PullJudge]

#: The judges that ship with the program; others come from the entry points ``prjury.judges``.
JUDGES: Mapping[str, str] = {
    "merge": "prjury.judges.merge.judge:make",
    "build": "prjury.judges.builds.judge:make",
    "patterns": "prjury.judges.patterns.judge:make",
    "quality": "prjury.judges.quality.kinds:make_quality",
    "tests-exercise-behaviour": "prjury.judges.quality.kinds:make_tests",
    "description-matches-change": "prjury.judges.quality.kinds:make_description",
    "backport-suitability": "prjury.judges.quality.kinds:make_suitability",
    "prompt": "prjury.judges.quality.kinds:make_prompt_judge",
    "command": "prjury.judges.merged_tree.command:make",
    "file-exists": "prjury.judges.merged_tree.tree:make",
    "file-content": "prjury.judges.merged_tree.tree:make",
    "findings": "prjury.judges.findings.judge:make",
    "python": "prjury.judges.functions.judge:make",
    "coverage": "prjury.judges.merged_tree.coverage:make",
    "agent": "prjury.agents.seat:AgentSeat",
}

#: Where the judges are that ask models.
ASKING = ("prjury.judges.quality.", "prjury.agents.")

VOTING: Mapping[str, Callable[..., VotingStrategy]] = {
    "majority": MajorityVoting,
    "average": AverageVoting,
    "weighted_average": WeightedAverageVoting,
    "median": MedianVoting,
    "consensus": ConsensusVoting,
}


def find_installed() -> Mapping[str, EntryPoint]:
    return {point.name: point for point in entry_points(group="prjury.judges")}


def require_judge_factory(name: str, where: str = "") -> JudgeFactory:
    if name in JUDGES:
        module, _, function = JUDGES[name].partition(":")
        factory: JudgeFactory = getattr(import_module(module), function)
        return factory
    outside = find_installed()
    if name in outside:
        return lambda options, ports: _make_installed_judge(name, outside[name], options, ports)
    names = {*JUDGES, *outside}
    what = f"there is no judge called {name!r}"
    raise ConfigError(
        f"{where}{': ' if where else ''}{what}",
        why=did_you_mean(name, names) or f"Known are {', '.join(sorted(names))}",
        remedy="Correct the name in the configuration, or install the package that brings it",
    )


def _make_installed_judge(name: str, point: EntryPoint, options: object, ports: Ports) -> PullJudge:
    """A judge of another package; one that cannot be made is seated as an error."""
    return catch_crash(
        lambda: typed("JudgeFactory", point.load())(options, ports),
        lambda crash: FunctionJudge(lambda _: crash, name, "could not be made"),
    )


def make_voting_strategy(entry: VotingEntry) -> VotingStrategy:
    options = asdict(entry.options)
    if "on_disagreement" in options:
        options["on_disagreement"] = Status(options["on_disagreement"])
    return VOTING[entry.name](**options)


class Seating(Struct, frozen=True):
    """The cascade, the judges that were left out of it, by tier, and every judge by its place."""

    cascade: CascadedJury[PullRequestContext]
    skipped: Mapping[str, Sequence[SkippedJudge]]
    judges: Mapping[SeatPosition, PullJudge]


class Unwanted(Struct, frozen=True):
    """The judges that the operator has switched off, each with the option for the report."""

    judges: Mapping[str, str]
    model_backed: str | None = None
    #: Those that judge no file of this change, as the policy says.
    tiers: tuple[str, ...] = ()

    def reason(self, tier: str, name: str) -> str | None:
        """Return why the judge of this name is left out, or None."""
        if name in self.judges:
            return self.judges[name]
        if tier in self.tiers:
            return "paths: no file that it judges is changed"
        return self.model_backed if JUDGES.get(name, "").startswith(ASKING) else None


def seat_as_named(_place: SeatPosition, make: Make, ports: Ports) -> PullJudge:
    return make(ports)


def seat_judges(
    config: Config, ports: Ports, unwanted: Unwanted, cast: Casting = seat_as_named
) -> Seating:
    """Seat every judge of the configuration that is not switched off; the others are not made."""
    tiers: list[Tier[PullRequestContext]] = []
    skipped: dict[str, list[SkippedJudge]] = {}
    judges: dict[SeatPosition, PullJudge] = {}
    for tier in config.tiers:
        seats: list[Seat[PullRequestContext]] = []
        skipped[tier.name] = []
        for number, entry in enumerate(tier.judges):
            place = SeatPosition(tier.name, number, entry.name)
            reason = unwanted.reason(tier.name, entry.name)
            if reason is None:
                factory = require_judge_factory(entry.name, f"tier {tier.name}")
                judges[place] = judge = cast(place, partial(factory, entry.options), ports)
                if type_of(judge) in MODEL_BACKED:
                    reason = unwanted.model_backed
            if reason:
                skipped[tier.name].append(SkippedJudge(entry.name, reason))
            else:
                seats.append(Seat(judges[place], entry.weight))
        tiers.append(_make_tier(tier, seats))
    return Seating(CascadedJury(tiers), skipped, judges)


def try_models(config: Config, ports: Ports) -> None:
    """Make every judge that asks models, without asking any."""
    for tier in config.tiers:
        asking = [entry for entry in tier.judges if JUDGES.get(entry.name, "").startswith(ASKING)]
        seats = [Seat(require_judge_factory(entry.name)(entry.options, ports)) for entry in asking]
        if len(seats) == len(tier.judges):
            _refuse_accepting_by_lowering_judges(tier, seats)


def _make_tier(
    config: TierConfig, seats: Sequence[Seat[PullRequestContext]]
) -> Tier[PullRequestContext]:
    jury: Jury[PullRequestContext] | None = None
    _refuse_accepting_by_lowering_judges(config, seats)
    if seats:
        # No vote overrules a unanimous or must failure, and models lift nothing.
        jury = Jury(seats, make_voting_strategy(config.voting), config.name)
        lowering = [seat.title for seat in seats if getattr(seat.judge, "lowers_only", False)]
        voting = NeverLifting(jury.voting, frozenset(lowering)) if lowering else jury.voting
        jury = replace(jury, voting=NeverOverruling(voting), models_lift=False)
    advisory = config.advisory
    if advisory == "auto":
        advisory = all(type_of(seat.judge) in MODEL_BACKED for seat in seats)
    return Tier(
        config.name,
        jury,
        config.policy,
        config.continue_on_reject,
        config.on_error,
        config.min_confidence,
        advisory,
    )


def _refuse_accepting_by_lowering_judges(
    config: TierConfig, seats: Sequence[Seat[PullRequestContext]]
) -> None:
    """Refuse an accepting tier of judges that can only lower a result."""
    lowers = [getattr(seat.judge, "lowers_only", False) for seat in seats]
    if config.policy is TierPolicy.ACCEPT_ON_ALL_PASS and lowers and all(lowers):
        raise ConfigError(
            f"tier {config.name} accepts by judges that can only lower a result",
            why="They read what the author says, which influences the model",
            remedy="Add another judge to the tier, or use another policy",
        )
