"""Which step follows which: counts, shares, and loops in which a run goes round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

#: Steps that have a row and a column of their own; the rest is one.
MOST_STATES = 10
_OTHER = "(others)"
#: Steps of a loop at most, and how often it is gone round at least.
_LONGEST_LOOP, _FEWEST_ROUNDS = 4, 2
_CELL = 34
#: The share from which on a cell is too dark for black figures.
_DARK = 0.5


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
        """How often the second follows where the first was, 0..1."""
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

    def picture(self) -> str:
        """The shares as an SVG: the darker, the likelier; counts in the cells."""
        names = [escape(name[:24]) for name in self.states]
        left, top = 190, 150
        width, height = left + _CELL * len(names) + 10, top + _CELL * len(names) + 10
        size = f'width="{width}" height="{height}"'
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-size="12">',
            f'<rect {size} fill="white"/>',
        ]
        for index, name in enumerate(names):
            middle = _CELL * index + _CELL // 2
            y, x = top + middle + 4, left + middle + 4
            parts.append(f'<text x="{left - 8}" y="{y}" text-anchor="end">{name}</text>')
            turn = f"rotate(-60 {x} {top - 8})"
            parts.append(f'<text x="{x}" y="{top - 8}" transform="{turn}">{name}</text>')
        parts += self._cells(left, top)
        return "\n".join([*parts, "</svg>", ""])

    def _cells(self, left: int, top: int) -> Iterator[str]:
        for row, before in enumerate(self.states):
            for column, after in enumerate(self.states):
                share, count = self.share(before, after), self.counts[before, after]
                x, y = left + _CELL * column, top + _CELL * row
                yield (
                    f'<rect x="{x}" y="{y}" width="{_CELL - 2}" height="{_CELL - 2}" '
                    f'fill="#1f5fa8" fill-opacity="{max(share, 0.04):.2f}"/>'
                )
                if count:
                    ink = "white" if share > _DARK else "black"
                    place = f'x="{x + _CELL // 2 - 1}" y="{y + _CELL // 2 + 4}"'
                    yield f'<text {place} fill="{ink}" text-anchor="middle">{count}</text>'


def find_loops(sequence: Sequence[str]) -> list[tuple[tuple[str, ...], int]]:
    """Steps that are repeated in the same order without a break, and how often; most first."""
    found: dict[tuple[str, ...], int] = {}
    for length in range(1, _LONGEST_LOOP + 1):
        start = 0
        while start + length <= len(sequence):
            unit = tuple(sequence[start : start + length])
            rounds = _rounds(sequence, start, unit)
            if rounds >= _FEWEST_ROUNDS and (length == 1 or len(set(unit)) > 1):
                if not _is_turned(unit, found):
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


def _is_turned(unit: tuple[str, ...], found: dict[tuple[str, ...], int]) -> bool:
    """Whether the loop is known already, with another beginning or gone round twice."""
    turns = {unit[index:] + unit[:index] for index in range(1, len(unit))}
    half = unit[: len(unit) // 2]
    return bool(turns & found.keys()) or (half * 2 == unit and half in found)
