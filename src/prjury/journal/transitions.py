"""Which step follows which, and loops in which a run goes round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

#: Steps that have a row and a column of their own; the rest is one.
MOST_STATES = 10
#: Steps of a loop at most.
_LONGEST_LOOP = 4


class Transitions(Struct, frozen=True):
    """A Markov matrix of first order: how often one state follows another."""

    states: tuple[str, ...]
    counts: Counter[tuple[str, str]]

    @classmethod
    def of(cls, sequence: Sequence[str]) -> Transitions:
        """Count the transitions of a sequence of steps."""
        common = dict(Counter(sequence).most_common(MOST_STATES))
        steps = [name if name in common else "(others)" for name in sequence]
        return cls(tuple(dict.fromkeys(steps)), Counter(pairwise(steps)))

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
    loops = Counter[tuple[str, ...]]()
    start = 0
    while start < len(sequence):
        unit, rounds = _find_longest_loop(sequence, start)
        if rounds > 1:
            loops[unit] = max(rounds, loops[unit])
        start += len(unit) * rounds
    return sorted(loops.items(), key=lambda item: -len(item[0]) * item[1])


def _find_longest_loop(sequence: Sequence[str], start: int) -> tuple[tuple[str, ...], int]:
    """Return what is repeated from here on for longest, and how often; else one step, once."""
    longest, most = tuple(sequence[start : start + 1]), 1
    for length in range(1, _LONGEST_LOOP + 1):
        unit, end = sequence[start : start + length], start + length
        while sequence[end : end + length] == unit:
            end += length
        rounds = (end - start) // length
        if rounds > 1 and end - start > len(longest) * most:
            longest, most = tuple(unit), rounds
    return longest, most
