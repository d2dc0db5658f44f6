"""The pages about packs are made from the packs, and hold what a reader looks for."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from prjury.judges.patterns.pack_tests import run_pack_tests
from prjury.resources import rule_packs
from prjury.rulepacks.description import Described, DescribedRule
from prjury.rulepacks.display import index_page, pack_page, table
from prjury.rulepacks.find import packs_at
from prjury.rulepacks.load import read, shipped_heads
from prjury.rulepacks.rule import Pack

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / ".github" / "docs" / "rules"
JUDGE = ROOT / ".github" / "docs" / "judges" / "patterns.md"
README = ROOT / "README.md"
NAMES = sorted(shipped_heads())


def pack(name: str) -> Pack:
    return read(rule_packs() / f"{name}.yml").pack


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
def test_a_page_tells_of_every_rule(name: str) -> None:
    told, page = pack(name), pack_page(pack(name))
    for rule in told.rules:
        assert f"| [`{rule.id}`](#{rule.id}) |" in page
        assert f"\n## {rule.id}\n" in page
    for entry in told.not_rules:
        assert f"| `{entry.id}` | " in page
    rows = [line.replace(r"\|", "") for line in page.splitlines() if line.startswith("| ")]
    widths = {row.count("|") for row in rows if row.startswith(("| Rule |", "| [`"))}
    assert len(widths) == 1
    assert {row.count("|") for row in rows} <= {3, *widths}


def test_a_pack_says_whom_it_looks_at() -> None:
    assert "It looks at every project." in pack_page(pack("docker"))
    assert "It looks at projects that declare numpy. Languages: Python.\n" in pack_page(
        pack("numpy-2")
    )
    index = table([pack("docker"), pack("rust-2024")])
    assert "| every project |" in index
    assert "| projects that declare Rust |" in index


def test_a_rule_says_what_a_finding_is_with_which_versions() -> None:
    names = ("numpy-2", "docker", "go", "pytest")
    told = {each.rule.id: each.outcomes for name in names for each in rules(name)}
    assert told["find-common-type"] == (
        "Error with numpy 2.0 or later; warning with numpy 1.25 or later; "
        "before that a hint with numpy 1.6 or later."
    )
    # Its replacement came when it was deprecated: there is no time before that.
    assert told["skip-msg"] == "Error with pytest 8.0 or later; warning with pytest 7.0 or later."
    assert told["maintainer"] == "Warning always."
    assert told["golint"] == "Warning with any version of Go."


def test_only_columns_that_say_something_are_shown() -> None:
    assert "| Rule | What | Warning | Hint | Languages | Fix |" in pack_page(pack("docker"))
    assert "| Rule | What | Error | Warning | Hint | Fix |" in pack_page(pack("numpy-2"))


def test_a_page_says_which_modules_keep_the_old_way() -> None:
    page = pack_page(pack("jackson-3"))
    assert "or whose name fits `(?i)jackson-?2($|[^0-9])`, is left alone." in page
    assert "`org.opensearch.client:*`), findings are warnings at most." in page
    servlet = next(rule for rule in rules("jakarta") if rule.rule.id == "servlet")
    assert servlet.kept_by
    assert f"{servlet.kept_by}\n" in pack_page(pack("jakarta"))


def test_what_would_be_markup_is_only_text() -> None:
    sound = pack("jackson-3")
    rule = sound.rules[0].model_copy(update={"title": "a | <b> *c* `List<T>`", "why": "x\n\n# y"})
    page = pack_page(sound.model_copy(update={"rules": [rule]}))
    assert r"| a \| \<b\> \*c\* `List<T>` |" in page
    assert "x # y" in page


def test_a_table_without_links_is_for_elsewhere() -> None:
    assert "](" not in table([pack("jakarta")])


def test_the_pack_that_the_judges_page_shows_is_sound(tmp_path: Path) -> None:
    blocks = re.findall(
        r"^```yaml\n# (\S+)\n(.*?)^```$", JUDGE.read_text(), re.MULTILINE | re.DOTALL
    )
    assert [name for name, _ in blocks] == ["acme.yml", "acme.cases.yml"]
    for name, text in blocks:
        (tmp_path / name).write_text(text)
    (loaded,) = packs_at([tmp_path])
    assert run_pack_tests(loaded).failures == []


def test_links_between_the_pages_lead_somewhere() -> None:
    for page in (JUDGE, *DOCS.glob("*.md")):
        local = re.findall(r"\]\(((?!https?:)[^)#\s]+\.md)", page.read_text())
        assert [link for link in local if not (page.parent / link).exists()] == [], page
        if page != JUDGE:
            assert local, page


def test_the_readme_counts_the_packs() -> None:
    assert f"[{len(NAMES)} packs of rules](.github/docs/rules/README.md)" in README.read_text()
