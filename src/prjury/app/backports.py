"""The release branches of a run: tried by program, and where that leaves it open, an opinion."""

from __future__ import annotations

from collections.abc import Sequence

from prjury.config.schema import SuitabilityOptions
from prjury.judges.backport import is_open, try_backport, with_opinion
from prjury.judges.context import PullRequestContext
from prjury.judges.llm.kinds import suitability
from prjury.jury.asking import guarded, itself
from prjury.jury.judgment import Judgment
from prjury.ports import Doors
from prjury.report.model import Backport
from prjury.sources.pulls import Photo


def tried(photo: Photo, named: Sequence[str], branches: Sequence[str]) -> tuple[Backport, ...]:
    """Each branch's trial.

    Args:
        named: those that the operator names himself, which have to be there.

    Raises:
        SourceError: for a branch of the operator's own word that is not there.
    """
    for branch in named:
        photo.store.operator.commit(branch)
    return tuple(try_backport(photo.pull, branch, photo.store) for branch in branches)


def opinion(
    tried: Sequence[Backport], doors: Doors, context: PullRequestContext
) -> Judgment | None:
    """What a model says where a trial leaves the decision open; None where none does."""
    if not any(map(is_open, tried)):
        return None
    judge = suitability.make(SuitabilityOptions(), doors)
    return guarded(lambda: judge.judge(context), itself)


def told(tried: Sequence[Backport], opinion: Judgment | None) -> tuple[Backport, ...]:
    """The trials, with the opinion where the decision is open."""
    if opinion is None:
        return tuple(tried)
    return tuple(with_opinion(one, opinion) if is_open(one) else one for one in tried)
