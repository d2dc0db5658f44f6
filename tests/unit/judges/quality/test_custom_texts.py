from __future__ import annotations

from typing import Any

import pytest

from fakes.repository import BASE, FakeRepository, Files
from prjury.errors import ConfigError
from prjury.judges.quality.question import OwnTexts

PROMPTS = ".github/prjury/prompts"
QUALITY = f"{PROMPTS}/quality.md.j2"


def own(files: Files, **more: Any) -> OwnTexts:
    return OwnTexts.of(FakeRepository({BASE: files}, **more), BASE)


@pytest.mark.parametrize("name", ["qualty", "chair", "more/quality", "tests-exercise-behaviour"])
def test_a_template_that_nobody_would_use_is_a_clear_error(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"{name}\.md\.j2 is no template of a judge"):
        own({f"{PROMPTS}/{name}.md.j2": "a"}).prompts()


UNUSABLE: dict[str, tuple[str | bytes, dict[str, Any], str]] = {
    "huge": ("x" * 70_000, {}, "is larger than 64 KiB"),
    "binary": (b"\xff\xfe", {}, "is not UTF-8"),
    "a link": ("../../x", {"modes": {QUALITY: "120000"}}, "is not a file of the base"),
    "a submodule": ("x", {"modes": {QUALITY: "160000"}}, "is not a file of the base"),
}


@pytest.mark.parametrize(("content", "more", "problem"), UNUSABLE.values(), ids=UNUSABLE.keys())
def test_a_template_that_cannot_be_read_is_a_clear_error(
    content: str | bytes, more: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ConfigError, match=problem) as error:
        own({QUALITY: content}, **more).prompts()
    assert QUALITY in str(error.value)
    assert error.value.reason == "prompt_invalid"


def test_a_text_that_a_partial_clone_lacks_is_told() -> None:
    repository = FakeRepository({BASE: {QUALITY: "x"}})
    repository.gone = {entry.blob for entry in repository.files(BASE)}
    with pytest.raises(ConfigError, match=r"missing from this clone \(partial or damaged\)"):
        OwnTexts.of(repository, BASE).prompts()


# Guidelines.


def test_the_first_guidelines_count() -> None:
    files = {
        "CONTRIBUTING.md": "contributing",
        ".github/prjury/guidelines.md": "ours",
        "docs/CONTRIBUTING.md": "docs",
    }
    assert own(files).guidelines() == ".github/prjury/guidelines.md:\n\nours"
    del files[".github/prjury/guidelines.md"]
    assert own(files).guidelines() == "CONTRIBUTING.md:\n\ncontributing"
    assert own({}).guidelines() == ""


def test_hidden_characters_of_guidelines_are_visible() -> None:
    assert own({"CONTRIBUTING.md": "a\u202eb\r\nc\n"}).guidelines().endswith("a\\u{202e}b\nc")


def test_guidelines_that_are_ours_and_cannot_be_read_are_an_error() -> None:
    path = ".github/prjury/guidelines.md"
    with pytest.raises(ConfigError, match="not UTF-8"):
        own({path: b"\xff"}).guidelines()
    with pytest.raises(ConfigError, match="not a file of the base"):
        own({path: "x"}, modes={path: "120000"}).guidelines()


def test_guidelines_by_path_count_for_the_paths_that_they_name() -> None:
    files = {
        ".github/prjury/guidelines.md": "For all.",
        ".github/prjury/guidelines/sql.md": "---\napplyTo: 'db/**, *.sql'\n---\nNo locks.",
        ".github/instructions/web.instructions.md": "---\napplyTo:\n  - web/**\n---\nUse hooks.",
        ".github/prjury/guidelines/none.md": "Without a heading.",
    }
    general = ".github/prjury/guidelines.md:\n\nFor all."
    sql = ".github/prjury/guidelines/sql.md:\n\nNo locks."
    web = ".github/instructions/web.instructions.md:\n\nUse hooks."
    assert own(files).guidelines(["src/a.py"]) == general
    assert own(files).guidelines(["src/a.sql"]) == f"{general}\n\n{sql}"
    assert own(files).guidelines(["web/a.tsx", "db/x"]) == f"{general}\n\n{web}\n\n{sql}"


def test_more_guidelines_than_fit_are_named() -> None:
    place, heading = ".github/prjury/guidelines", "---\napplyTo: '**'\n---\n"
    text = own({f"{place}/{name}.md": heading + name for name in "abcde"}).guidelines(["x.py"])
    assert text.count(":\n\n") == 3
    assert text.endswith(f"(not shown: {place}/d.md, {place}/e.md)")


def test_a_link_to_guidelines_is_passed_over() -> None:
    files = {"CONTRIBUTING.md": "docs/CONTRIBUTING.md", "docs/CONTRIBUTING.md": "here"}
    link = {"CONTRIBUTING.md": "120000"}
    assert own(files, modes=link).guidelines() == "docs/CONTRIBUTING.md:\n\nhere"
    assert own({"CONTRIBUTING.md": "elsewhere"}, modes=link).guidelines() == ""
