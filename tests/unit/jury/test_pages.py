"""The library's pages say what it does: their tables are generated, their programs are run."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from fakes import asking_tables, cascade_tables, voting_tables
from fakes.pages import Program, programs, renewed, tables
from prjury import CRITERIA, CRITERIA_GROUPS

DOCS = Path(__file__).resolve().parents[3] / ".github" / "docs"
COURT: Mapping[str, Callable[[], str]] = {
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
    "escalated": cascade_tables.escalated,
    "gate": cascade_tables.merge_gate,
    "block-on": cascade_tables.block_on,
    "representatives": asking_tables.representatives,
    "uncounted": asking_tables.uncounted,
    "rounds": asking_tables.rounds,
    "strategies": asking_tables.strategies,
    "chairs": asking_tables.chairs,
    "limits": asking_tables.limits,
}


def criteria() -> str:
    rows = [
        f"| `{name}` | {group} | {CRITERIA[name].question} |"
        for group, names in CRITERIA_GROUPS.items()
        for name in names
    ]
    return "\n".join(["| Name | Group | Question |", "| --- | --- | --- |", *rows])


PAGES: Mapping[str, Mapping[str, Callable[[], str]]] = {
    "court.md": COURT,
    "judging.md": {"criteria": criteria},
}
TABLES = [(page, name) for page, made in PAGES.items() for name in made]


def text(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


PROGRAMS = [
    pytest.param(program, id=f"{page}-{program.heading}")
    for page in PAGES
    for program in programs(text(page))
]


@pytest.mark.parametrize("page", PAGES)
def test_every_table_has_its_place_on_the_page(page: str) -> None:
    if os.environ.get("PRJURY_UPDATE_GOLDEN"):
        (DOCS / page).write_text(renewed(text(page), PAGES[page]), encoding="utf-8")
    assert list(tables(text(page))) == list(PAGES[page])


@pytest.mark.parametrize(("page", "name"), TABLES)
def test_the_tables_are_what_the_court_does(page: str, name: str) -> None:
    assert tables(text(page))[name] == PAGES[page][name]() + "\n"


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_programs_print_what_is_shown(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert program.run() == program.output


@pytest.mark.parametrize("page", PAGES)
def test_every_program_shows_what_it_prints(page: str) -> None:
    assert text(page).count("\n```python\n") == len(programs(text(page)))
