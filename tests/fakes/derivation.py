"""The gate of a report, decided again: no repository, no network, no model.

The ballots are believed, and nothing that the report concludes from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prjury.app.registry import make_voting_strategy
from prjury.jury.count import LOWERING, NeverLifting, NeverOverruling, aggregate_ballots
from prjury.jury.gate import Gate, gate
from prjury.jury.judgment import Judgment
from prjury.jury.voting import Ballot, VotingStrategy
from prjury.policy.load import read_options
from prjury.policy.tiers import TierConfig
from prjury.report.assemble import gate_policy_of
from prjury.report.codec import ReportJson, read_form, verdict_from_report


def gate_from_report(data: Mapping[str, Any], *, recounts: bool = False) -> Gate:
    """Decide the gate again; votes as they were counted, or counted again by the policy.

    A maintainer's override is no conclusion from anything, so it is taken as it stands there.

    Raises:
        ValueError: for a value that is no such report.
    """
    report = read_form(data, ReportJson)
    if report.verdict.override:
        return Gate.SUCCESS
    recount = _Recount({tier.name: tier for tier in _tiers(report)}) if recounts else None
    return gate(verdict_from_report(report, recount), gate_policy_of(report.policy))


def _tiers(report: ReportJson) -> list[TierConfig]:
    """The tiers of the policy that was in force, by name and how they vote and decide."""
    fields = ("name", "policy", "voting", "continue_on_reject", "on_error", "min_confidence")
    entries = report.policy.resolved.get("tiers", [])
    return [
        read_options(
            {key: entry[key] for key in (*fields, "advisory") if key in entry}
            | {"judges": [_bare(judge) for judge in entry["judges"]]},
            TierConfig,
        )
        for entry in entries
    ]


def _bare(judge: str | Mapping[str, Any]) -> dict[str, Any]:
    """A seat without the judge's options: they are for another version, perhaps, and not needed."""
    weight = judge.get("weight", 1.0) if isinstance(judge, Mapping) else 1.0
    return {"seat": {}, "weight": weight}


@dataclass(frozen=True)
class _Recount:
    """Counts the votes of a tier by its policy."""

    tiers: Mapping[str, TierConfig]

    def __call__(self, name: str, ballots: Sequence[Ballot], counts: Mapping[str, Any]) -> Judgment:
        if name not in self.tiers:
            raise ValueError(f"its policy has no tier called {name!r}")
        voting: VotingStrategy = make_voting_strategy(self.tiers[name].voting)
        if lowering := frozenset(map(str, counts.get(LOWERING, ()))):
            voting = NeverLifting(voting, lowering)
        return aggregate_ballots(NeverOverruling(voting), ballots)
