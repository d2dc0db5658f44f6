"""No row of the table of languages is forgotten in the tuple of its module."""

from __future__ import annotations

from prjury.code.languages import LANGUAGES, Language, programs


def test_each_row_is_in_the_table() -> None:
    rows = [value for value in vars(programs).values() if isinstance(value, Language)]
    assert [row.name for row in rows if LANGUAGES.get(row.name) is not row] == []
