"""The pages about packs are made from the packs, and hold what a reader looks for."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace

from prjury.judges.patterns.pack_tests import run_pack_tests
from prjury.resources import rule_packs
from prjury.rulepacks.description import Described, DescribedRule
from prjury.rulepacks.display import index_page, pack_page
from prjury.rulepacks.find import packs_at
from prjury.rulepacks.load import list_heads, load
from prjury.rulepacks.rule import Pack

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / ".github" / "docs" / "rules"
PAGE = ROOT / ".github" / "docs" / "judges" / "packs.md"
README = ROOT / "README.md"
NAMES = sorted(list_heads())


@cache
def pack(name: str) -> Pack:
    return load(rule_packs() / f"{name}.yml").pack


def rules(name: str) -> list[DescribedRule]:
    return Described(pack(name)).rules


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
def test_a_page_has_a_section_for_every_rule(name: str) -> None:
    shown, page = pack(name), pack_page(pack(name))
    sections = re.findall(r"^## (.*)$", page, re.MULTILINE)
    others = ["What no rule decides"] if shown.not_rules else []
    assert sections == [*(rule.id for rule in shown.rules), *others]
    assert all(f"* `{entry.id}`: " in page for entry in shown.not_rules)


def test_what_would_be_markup_is_only_text() -> None:
    sound = pack("jackson-3")
    rule = replace(sound.rules[0], title="a | <b> *c* `List<T>`", why="x\n\n# y")
    page = pack_page(replace(sound, rules=[rule]))
    assert r"**a \| \<b\> \*c\* `List<T>`.** x # y" in page


def test_the_pack_that_the_judges_page_shows_is_sound(tmp_path: Path) -> None:
    blocks = re.findall(
        r"^```yaml\n# (\S+)\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL
    )
    assert [name for name, _ in blocks] == ["acme.yml", "acme.cases.yml"]
    for name, text in blocks:
        (tmp_path / name).write_text(text)
    (loaded,) = packs_at([tmp_path])
    assert run_pack_tests(loaded).failures == []


def test_the_readme_counts_the_packs() -> None:
    assert f"[{len(NAMES)} packs of rules](.github/docs/rules/README.md)" in README.read_text()
