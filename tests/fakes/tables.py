"""What the truth tables of the court's page are made with.

A ballot is one letter. Rows that end alike are one row, so that a table shows each way that things
can end exactly once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations_with_replacement

from prjury.jury.judgment import Judgment, Status

SAYS: Mapping[str, Judgment] = {
    "P": Judgment.passed("fine"),
    "F": Judgment.failed("broken"),
    "A": Judgment.abstained("too dear", "budget"),
    "N": Judgment.abstained("nothing here for me", "not_applicable"),
    "K": Judgment.abstained("no key", "not_configured"),
    "E": Judgment.errored("crashed", metadata={"reason": "crashed"}),
}

Rows = Iterable[Sequence[str]]


def markdown(head: Sequence[str], rows: Rows) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def several(letters: str, largest: int) -> Iterator[str]:
    """All benches of one to ``largest`` ballots, whatever their order."""
    for size in range(1, largest + 1):
        yield from map("".join, combinations_with_replacement(letters, size))


def grouped(benches: Iterable[str], ends: Callable[[str], Sequence[str]]) -> Rows:
    """One row for each way to end, with all the benches that end so."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for bench in benches:
        rows.setdefault(tuple(ends(bench)), []).append(bench)
    return [[f"`{' '.join(benches)}`", *end] for end, benches in rows.items()]


def word(status: Status) -> str:
    return status.name
