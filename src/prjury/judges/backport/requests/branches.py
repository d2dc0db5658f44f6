"""Which branches a change is judged for: those of the policy, or the newest release branches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase

from prjury.judges.backport.requests.lines import RequestLine, bare, line_of
from prjury.policy.schema import BackportConfig
from prjury.ports.types import BranchTip
from prjury.snapshot.model import visible

#: Seconds; a line that rests for so long while others move is one that nobody maintains.
_ASLEEP = 2 * 365 * 86_400
_GLOB = frozenset("*?[")
#: So many branches that are passed over are named.
_FEW = 5


@dataclass(frozen=True, slots=True)
class Chosen:
    """The branches that a change is judged for.

    Attributes:
        names: each once, in order; those that a list names stay, whether they are there or not.
        notes: what is wrong with the policy's list, one sentence each.
        passed: the branches that auto passes over where it takes none, and why.
    """

    names: tuple[str, ...]
    notes: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()


def release_branches(
    found: Sequence[BranchTip], default: str, config: BackportConfig, base: str | None = None
) -> Chosen:
    """The branches to judge for, newest version first, or in the order of the policy's list.

    Args:
        found: the repository's branches.
        default: its default branch, which is no release branch whatever its name is.
        base: the branch that the change is to be merged into, which is none either.
    """
    others = [one for one in found if bare(one.name) not in {bare(default), bare(base or default)}]
    if isinstance(config.branches, str):
        # A change of a release line may be brought to older ones; newer ones get it by a merge.
        own = line_of(base) if base and bare(base) != bare(default) else None
        older = [one for one in others if own is None or _is_older(one, own)]
        kept = [one for one in found if bare(one.name) == bare(default)] or found
        return _newest(older, kept, config)
    return _listed(others, config.branches)


def _is_older(branch: BranchTip, than: RequestLine) -> bool:
    line = line_of(branch.name)
    return line is not None and line.version < than.version


def is_locked(name: str, locked: Sequence[str]) -> str | None:
    """The entry by which a branch takes nothing any more; None for one that does."""
    return next((entry for entry in locked if fnmatchcase(bare(name), entry)), None)


def _listed(found: Sequence[BranchTip], entries: Sequence[str]) -> Chosen:
    names: list[str] = []
    notes: list[str] = []
    for entry in entries:
        matching = [one for one in found if fnmatchcase(bare(one.name), entry)]
        if not set(entry) & _GLOB:
            names.append(entry)
        elif matching:
            names += [one.name for one in sorted(matching, key=_newest_first)]
        else:
            notes.append(f"backport.branches: {visible(entry)} matches no branch")
    return Chosen(tuple(dict.fromkeys(names)), tuple(notes))


def _newest(
    others: Sequence[BranchTip], found: Sequence[BranchTip], config: BackportConfig
) -> Chosen:
    named = list(_lines(others))
    # A branch for one release is a line only where the repository has no better ones.
    lines = [one for one, line in named if not line.is_release] or [one for one, _ in named]
    open_ones = [one for one in lines if not is_locked(one.name, config.locked)]
    moved = max((one.date for one in found), default=0) - _ASLEEP
    awake = [one for one in open_ones if not 0 < one.date < moved]
    taken = sorted(awake, key=_newest_first)[: config.most]
    if taken:
        return Chosen(tuple(one.name for one in taken))
    left = sorted(lines, key=_newest_first)[:_FEW]
    return Chosen((), passed=tuple(_passed(one, open_=one in open_ones) for one in left))


def _lines(found: Sequence[BranchTip]) -> Iterator[tuple[BranchTip, RequestLine]]:
    for one in found:
        if line := line_of(one.name):
            yield one, line


def _passed(branch: BranchTip, *, open_: bool) -> str:
    if not open_:
        return f"{visible(branch.name)} not tried: locked by the policy"
    year = datetime.fromtimestamp(branch.date, UTC).year
    how = "name it in `backport.branches` to include it"
    return f"{visible(branch.name)} not tried: last commit {year}; {how}"


def _newest_first(branch: BranchTip) -> tuple[bool, tuple[int, ...], int, str]:
    line = line_of(branch.name)
    version = line.version if line else ()
    return line is None, tuple(-number for number in version), -branch.date, branch.name
