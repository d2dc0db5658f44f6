"""The reference pages are made of the program."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

import prjury
from fakes import reference
from prjury.cli import make_app

HELP = Path(prjury.__file__).with_name("help.txt")
PLACE = Path(__file__).resolve().parents[2] / ".github" / "docs" / "reference"
PAGES: Mapping[str, Callable[[], str]] = {
    "README.md": reference.index,
    "command-line.md": reference.command_line,
    "policy.md": reference.policy,
    "action.md": reference.action,
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_what_the_program_says(name: str) -> None:
    made = PAGES[name]()
    if os.environ.get("PRJURY_UPDATE_GOLDEN"):
        (PLACE / name).write_text(made, "utf-8")
    assert (PLACE / name).read_text("utf-8") == made


def test_the_help_that_is_kept_is_what_the_program_says() -> None:
    made = CliRunner().invoke(make_app(), ["--help"], prog_name="prjury", terminal_width=80).output
    if os.environ.get("PRJURY_UPDATE_GOLDEN"):
        HELP.write_text(made, "utf-8")
    assert HELP.read_text("utf-8") == made
