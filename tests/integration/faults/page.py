"""The page with the table of the matrix: written by the tests, and compared with what they see."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from fakes.pages import tables, with_tables

PAGE = Path(__file__).resolve().parents[2] / "golden" / "github-faults.md"
_MOMENTS = ("before", "during", "after")
_TIMES = ("once", "always")
_HEAD = "| What fails | before | during | after |\n| --- | --- | --- | --- |"

Key = tuple[str, str, str]


@dataclass
class Page:
    """What the page says of each row and moment, by how often it fails."""

    rows: list[str]
    told: dict[Key, set[str]]
    seen: dict[Key, set[str]] = field(default_factory=dict)

    @classmethod
    def read(cls, rows: list[str]) -> Page:
        told: dict[Key, set[str]] = {}
        text = PAGE.read_text(encoding="utf-8")
        for line in tables(text).get("matrix", "").splitlines()[2:]:
            row, *cells = (cell.strip() for cell in line.strip("|").split("|"))
            for moment, cell in zip(_MOMENTS, cells, strict=True):
                once, _, always = cell.partition(" / ")
                told[row, moment, "once"] = set(once.split(" or "))
                told[row, moment, "always"] = set((always or once).split(" or "))
        return cls(rows, told)

    def compare(self, row: str, moment: str, times: str, outcome: str) -> None:
        self.seen.setdefault((row, moment, times), set()).add(outcome)
        if not os.environ.get("PRJURY_UPDATE_GOLDEN"):
            assert outcome in self.told[row, moment, times]

    def write(self) -> None:
        text = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(with_tables(text, {"matrix": self.table}), encoding="utf-8")

    def table(self) -> str:
        return "\n".join([_HEAD, *map(self._line, self.rows)])

    def _line(self, row: str) -> str:
        cells = []
        for moment in _MOMENTS:
            once, always = (" or ".join(sorted(self.seen[row, moment, times])) for times in _TIMES)
            cells.append(once if once == always else f"{once} / {always}")
        return f"| {row} | {' | '.join(cells)} |"
