"""Which step follows which: counts, shares, and loops in which a run goes round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

#: Steps that have a row and a column of their own; the rest is one.
MOST_STATES = 10
_OTHER = "(others)"
#: Steps of a loop at most, and how often it is gone round at least.
_LONGEST_LOOP, _FEWEST_ROUNDS = 4, 2


@dataclass(frozen=True)
class Transitions:
    """A Markov matrix of first order.

    Attributes:
        states: in the order in which they first appear.
        counts: how often the second follows the first.
    """

    states: tuple[str, ...]
    counts: Counter[tuple[str, str]]

    @classmethod
    def of(cls, sequence: Sequence[str]) -> Transitions:
        """The transitions of a sequence of steps."""
        common = Counter(sequence)
        kept = {name for name, _ in common.most_common(MOST_STATES)}
        steps = [name if name in kept else _OTHER for name in sequence]
        pairs = Counter(pairwise(steps))
        return cls(tuple(dict.fromkeys(steps)), pairs)

    def share(self, before: str, after: str) -> float:
        """Return how often the second follows where the first was, 0..1."""
        total = sum(count for (first, _), count in self.counts.items() if first == before)
        return self.counts[before, after] / total if total else 0.0

    def lines(self) -> Iterator[str]:
        """The counts as text; a column is called by the letter of its row."""
        letters = [chr(ord("a") + index) for index in range(len(self.states))]
        yield " " * 26 + "".join(f"{letter:>4}" for letter in letters)
        for letter, before in zip(letters, self.states, strict=True):
            row = (self.counts[before, after] for after in self.states)
            cells = "".join(f"{count or '.':>4}" for count in row)
            yield f"  {letter} {before[:22]:<22}{cells}"


def find_loops(sequence: Sequence[str]) -> list[tuple[tuple[str, ...], int]]:
    """Steps that are repeated in the same order without a break, and how often; most first."""
    found: dict[tuple[str, ...], int] = {}
    for length in range(1, _LONGEST_LOOP + 1):
        start = 0
        while start + length <= len(sequence):
            unit = tuple(sequence[start : start + length])
            rounds = _rounds(sequence, start, unit)
            if rounds >= _FEWEST_ROUNDS and (length == 1 or len(set(unit)) > 1):
                if not _is_known_loop(unit, found):
                    found[unit] = max(rounds, found.get(unit, 0))
                start += length * rounds
            else:
                start += 1
    return sorted(found.items(), key=lambda item: -len(item[0]) * item[1])


def _rounds(sequence: Sequence[str], start: int, unit: tuple[str, ...]) -> int:
    rounds = 0
    while tuple(sequence[start : start + len(unit)]) == unit:
        rounds += 1
        start += len(unit)
    return rounds


def _is_known_loop(unit: tuple[str, ...], found: dict[tuple[str, ...], int]) -> bool:
    turns = {unit[index:] + unit[:index] for index in range(1, len(unit))}
    half = unit[: len(unit) // 2]
    return bool(turns & found.keys()) or (half * 2 == unit and half in found)
