"""Which step follows which: counts, shares, and loops in which a run goes round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

#: Steps that have a row and a column of their own; the rest is one.
MOST_STATES = 10
_OTHER = "(others)"
#: Steps of a loop at most, and how often it is gone round at least.
_LONGEST_LOOP, _FEWEST_ROUNDS = 4, 2


class Transitions(Struct, frozen=True):
    """A Markov matrix of first order: how often one state follows another."""

    states: tuple[str, ...]
    counts: Counter[tuple[str, str]]

    @classmethod
    def of(cls, sequence: Sequence[str]) -> Transitions:
        """Count the transitions of a sequence of steps."""
        common = dict(Counter(sequence).most_common(MOST_STATES))
        steps = [name if name in common else _OTHER for name in sequence]
        return cls(tuple(dict.fromkeys(steps)), Counter(pairwise(steps)))

    def share(self, before: str, after: str) -> float:
        """Return how often the second follows where the first was, 0..1."""
        total = sum(count for (first, _), count in self.counts.items() if first == before)
        return self.counts[before, after] / total if total else 0.0

    def lines(self) -> Iterator[str]:
        """Iterate over the counts as text; a column is called by the letter of its row."""
        letters = [chr(ord("a") + index) for index in range(len(self.states))]
        yield " " * 26 + "".join(f"{letter:>4}" for letter in letters)
        for letter, before in zip(letters, self.states, strict=True):
            row = (self.counts[before, after] for after in self.states)
            cells = "".join(f"{count or '.':>4}" for count in row)
            yield f"  {letter} {before[:22]:<22}{cells}"


def find_loops(sequence: Sequence[str]) -> list[tuple[tuple[str, ...], int]]:
    """Return steps that are repeated in the same order without a break, and how often."""
    loops: dict[tuple[str, ...], int] = {}
    for length in range(1, _LONGEST_LOOP + 1):
        start = 0
        while start + length <= len(sequence):
            unit = tuple(sequence[start : start + length])
            end = start
            while tuple(sequence[end : end + length]) == unit:
                end += length
            rounds = (end - start) // length
            if rounds < _FEWEST_ROUNDS or length > 1 == len(set(unit)):
                start += 1
                continue
            start = end
            turns = {unit[index:] + unit[:index] for index in range(1, length)}
            half = unit[: length // 2]
            if not turns & loops.keys() and not (half * 2 == unit and half in loops):
                loops[unit] = max(rounds, loops.get(unit, 0))
    return sorted(loops.items(), key=lambda item: -len(item[0]) * item[1])
