"""What the mode ``backport`` gets from the judge of the merged change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from prjury.action.inputs import Inputs
from prjury.github.event import Event
from prjury.publishers.backport_pulls import Opening
from prjury.report.model import Backport
from prjury.snapshot.picked import Pick


@dataclass(frozen=True)
class Picks:
    """The verdicts on a merged change, and what is to be proposed.

    Attributes:
        opening: how pull requests are opened by the policy; None where it wants none.
        backports: the verdicts.
        picks: one for each verdict that `prjury.publishers.backport_pulls.is_proposable` takes.
        reason: why there is nothing to judge; empty where there is.
    """

    opening: Opening | None
    backports: tuple[Backport, ...] = ()
    picks: tuple[Pick, ...] = ()
    reason: str = ""


#: Judges the event's pull request for these branches; for none, those of the policy and its labels.
Picking: TypeAlias = Callable[[Event, Inputs, Sequence[str]], Picks]
