"""The reference pages are made of the program."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from fakes import reference

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
