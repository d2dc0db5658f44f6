"""The pages about packs are made from the packs, and hold what a reader looks for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from prjury.judges.patterns import shipped_heads
from prjury.judges.patterns.packs.load import read
from prjury.judges.patterns.packs.pages import index_page, pack_page, table
from prjury.judges.patterns.packs.rule import Pack
from prjury.resources import rule_packs

DOCS = Path(__file__).resolve().parents[5] / ".github" / "docs" / "rules"
NAMES = sorted(shipped_heads())


def pack(name: str) -> Pack:
    return read(rule_packs() / f"{name}.yml").pack


def checked(file: Path, expected: str) -> None:
    if os.environ.get("PRJURY_UPDATE_GOLDEN"):
        DOCS.mkdir(parents=True, exist_ok=True)
        file.write_text(expected, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == expected


@pytest.mark.parametrize("name", NAMES)
def test_the_page_of_a_pack_is_what_the_pack_says(name: str) -> None:
    checked(DOCS / f"{name}.md", pack_page(pack(name)))


def test_the_index_names_every_pack() -> None:
    checked(DOCS / "README.md", index_page([pack(name) for name in NAMES]))


def test_there_is_no_page_of_a_pack_that_is_gone() -> None:
    assert {page.stem for page in DOCS.glob("*.md")} == {*NAMES, "README"}


@pytest.mark.parametrize("name", NAMES)
def test_a_page_tells_of_every_rule(name: str) -> None:
    told, page = pack(name), pack_page(pack(name))
    for rule in told.rules:
        assert f"| [`{rule.id}`](#{rule.id}) |" in page
        assert f"\n## {rule.id}\n" in page
    for entry in told.not_rules:
        assert f"| `{entry.id}` | " in page
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    assert {row.replace(r"\|", "").count("|") for row in rows} <= {3, 7}


def test_what_would_be_markup_is_only_text() -> None:
    sound = pack("jackson-3")
    rule = sound.rules[0].model_copy(update={"title": "a | <b> *c* `List<T>`", "why": "x\n\n# y"})
    page = pack_page(sound.model_copy(update={"rules": [rule]}))
    assert r"| a \| \<b\> \*c\* `List<T>` |" in page
    assert "x # y" in page


def test_a_table_without_links_is_for_elsewhere() -> None:
    assert "](" not in table([pack("jakarta")])
