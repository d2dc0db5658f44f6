"""The figures of replays: predicted against what happened."""

from __future__ import annotations

import random
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.backport_replay import Replay

_YES = frozenset({"suitable", "suitable_with_changes"})
_NO = frozenset({"not_suitable", "not_applicable", "already_present"})
_SAME = frozenset({"same patch", "same lines"})


def figures(replays: Sequence[Replay]) -> None:
    """Prints them."""
    came = [one for one in replays if one.how]
    never = [one for one in replays if not one.how]
    print(f"{len(replays)} replays, {len(came)} came, {len(never)} never came")
    print(f"  found by: {_counts(one.how for one in came)}")
    for name, some in (("came", came), ("never came", never)):
        applying = sum(one.applies is True for one in some)
        told = f"{applying} of {len(some)} ({_share(applying, len(some))})"
        print(f"  {name}: predicted clean {told}")
    clean = [one for one in came if one.applies]
    equal = sum(one.same in _SAME for one in clean)
    compared = sum(bool(one.same) for one in clean)
    print(f"  clean: the human's patch equals the trial's {equal} of {compared}: ", end="")
    print(_counts(one.same or "in several commits" for one in clean))
    print(f"    on the branch of the arrival: {_counts(one.later or '-' for one in clean)}")
    clash = [one for one in came if one.applies is False]
    print(f"  conflict: on the branch of the arrival: {_counts(one.later or '-' for one in clash)}")
    named = [there for one in clash for there in one.first]
    print(f"    prerequisites named {len(named)}, of them there at the arrival {sum(named)}")
    _verdicts(replays)
    print_goals(replays)
    scored = [(one.score, bool(one.how)) for one in replays if one.score is not None]
    print(f"  score: AUC {_told(scored)}")
    seconds = sorted(one.seconds for one in replays)
    if seconds:
        ninth = seconds[min(len(seconds) - 1, int(0.9 * len(seconds)))]
        print(f"  a branch takes {statistics.median(seconds):.2f} s (90 %: {ninth:.2f} s)")
    _claims(replays)


def _verdicts(replays: Sequence[Replay]) -> None:
    table: dict[str, Counter[bool]] = defaultdict(Counter)
    for one in replays:
        table[one.verdict][bool(one.how)] += 1
    print(f"  {'verdict':24}{'came':>6}{'never':>7}")
    for verdict, counts in sorted(table.items()):
        print(f"  {verdict:24}{counts[True]:6}{counts[False]:7}")
    told = [(one.verdict in _YES, bool(one.how)) for one in replays if one.verdict in _YES | _NO]
    right = sum(yes == came for yes, came in told)
    print(f"  decided {len(told)} of {len(replays)}, right {right} ({_share(right, len(told))})")


def print_goals(replays: Sequence[Replay]) -> None:
    """Print the four shares that have a bound, of all changes of the branches."""
    shares: Sequence[tuple[str, Callable[[Replay], bool], Callable[[Replay], bool]]] = (
        ("of backports not_suitable", _came, lambda one: one.verdict == "not_suitable"),
        ("of backports not_requested", _came, lambda one: one.verdict == "not_requested"),
        ("of all needs_human", lambda one: True, lambda one: one.verdict == "needs_human"),
        ("of suitable backports", lambda one: one.verdict == "suitable", _came),
    )
    for name, belongs, counts in shares:
        some = [one for one in replays if belongs(one)]
        print(f"  {name}: {_weighed(replays, belongs, counts)}", end="")
        print(f"; drawn {sum(map(counts, some))} of {len(some)}")


def _came(one: Replay) -> bool:
    return bool(one.how)


def _weighed(
    replays: Sequence[Replay],
    belongs: Callable[[Replay], bool],
    counts: Callable[[Replay], bool],
) -> str:
    """A share by weight, with the interval of 1,000 samples with replacement."""

    def share(drawn: Sequence[Replay]) -> float | None:
        some = [one for one in drawn if belongs(one)]
        every = sum(one.weight for one in some)
        return sum(one.weight for one in some if counts(one)) / every if every else None

    whole = share(replays)
    chance = random.Random(7)  # noqa: S311 - a sample
    drawn = (share(chance.choices(replays, k=len(replays))) for _ in range(1_000))
    ordered = sorted(one for one in drawn if one is not None)
    if whole is None:
        return "-"
    low, high = ordered[int(0.025 * len(ordered))], ordered[int(0.975 * len(ordered)) - 1]
    return f"{whole:.1%} [{low:.1%}, {high:.1%}]"


def _claims(replays: Sequence[Replay]) -> None:
    """How often each check spoke, by what happened."""
    table: dict[str, Counter[str]] = defaultdict(Counter)
    for one in replays:
        for name, severity, message in one.claims:
            unseen = message.startswith("not checked")
            table[f"{name}, {'unseen' if unseen else severity}"][_became(one)] += 1
    kinds = ("came unchanged", "came changed", "never came")
    print(f"  {'check that failed':32}" + "".join(f"{kind:>16}" for kind in kinds))
    for name, counts in sorted(table.items()):
        print(f"  {name:32}" + "".join(f"{counts[kind]:16}" for kind in kinds))


def _became(one: Replay) -> str:
    if not one.how:
        return "never came"
    return "came unchanged" if one.same in _SAME or one.later in _SAME else "came changed"


def _told(scored: Sequence[tuple[float, bool]]) -> str:
    """The area under the curve, with the interval of 1,000 samples with replacement."""
    whole = auc(scored)
    if whole is None:
        return "-"
    chance = random.Random(7)  # noqa: S311 - a sample
    drawn = (auc(chance.choices(scored, k=len(scored))) for _ in range(1_000))
    ordered = sorted(one for one in drawn if one is not None)
    low, high = ordered[int(0.025 * len(ordered))], ordered[int(0.975 * len(ordered)) - 1]
    return f"{whole:.3f} [{low:.3f}, {high:.3f}] of {len(scored)}"


def auc(scored: Sequence[tuple[float, bool]]) -> float | None:
    """How often a change that came has the higher score than one that did not; ties count half."""
    yes = [score for score, came in scored if came]
    no = [score for score, came in scored if not came]
    if not yes or not no:
        return None
    wins = sum((a > b) + 0.5 * (a == b) for a in yes for b in no)
    return wins / (len(yes) * len(no))


def _counts(words: Iterable[str]) -> str:
    counts = Counter(words).most_common()
    return ", ".join(f"{word} {count}" for word, count in counts) or "none"


def _share(some: int, every: int) -> str:
    return f"{some / every:.0%}" if every else "-"
