"""The court's page says what the court does: its tables are generated, its programs are run."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from fakes import asking_tables, cascade_tables, voting_tables
from fakes.pages import Program, programs, renewed, tables

PAGE = Path(__file__).resolve().parents[3] / ".github" / "docs" / "court.md"
TABLES: Mapping[str, Callable[[], str]] = {
    "comparison": voting_tables.comparison,
    "errors": voting_tables.errors,
    "majority": voting_tables.majority,
    "consensus": voting_tables.consensus,
    "average": voting_tables.average,
    "weighted": voting_tables.weighted,
    "median": voting_tables.median,
    "models": voting_tables.models,
    "tiers": cascade_tables.tiers,
    "lenient": cascade_tables.lenient,
    "options": cascade_tables.options,
    "confidence": cascade_tables.confidence,
    "later": cascade_tables.later,
    "gate": cascade_tables.merge_gate,
    "block-on": cascade_tables.block_on,
    "representatives": asking_tables.representatives,
    "uncounted": asking_tables.uncounted,
    "rounds": asking_tables.rounds,
    "strategies": asking_tables.strategies,
    "chairs": asking_tables.chairs,
    "limits": asking_tables.limits,
}


def text() -> str:
    return PAGE.read_text(encoding="utf-8")


def test_every_table_has_its_place_on_the_page() -> None:
    if os.environ.get("PRJURY_UPDATE_GOLDEN"):
        PAGE.write_text(renewed(text(), TABLES), encoding="utf-8")
    assert list(tables(text())) == list(TABLES)


@pytest.mark.parametrize("name", TABLES)
def test_the_tables_are_what_the_court_does(name: str) -> None:
    assert tables(text())[name] == TABLES[name]() + "\n"


@pytest.mark.parametrize("program", programs(text()), ids=lambda program: program.heading)
def test_the_programs_print_what_is_shown(program: Program) -> None:
    assert program.run() == program.output


def test_every_program_shows_what_it_prints() -> None:
    assert text().count("\n```python\n") == len(programs(text()))


def test_its_links_lead_somewhere() -> None:
    headings = {line.lstrip("# ") for line in text().splitlines() if line.startswith("#")}
    anchors = {"".join(c for c in h.lower() if c not in ",'?").replace(" ", "-") for h in headings}
    links = re.findall(r"\]\(([^)]+)\)", text())
    assert [link for link in links if link.startswith("#") and link[1:] not in anchors] == []
    files = [link.partition("#")[0] for link in links if not link.startswith(("#", "http"))]
    assert [name for name in files if not (PAGE.parent / name).exists()] == []
