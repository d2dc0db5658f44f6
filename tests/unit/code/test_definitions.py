"""Definitions in every language that has some, and texts that have none."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from prjury.code.hunk_context import has_definitions, list_definitions
from prjury.code.languages import LANGUAGES
from prjury.code.parser import Parser
from prjury.code.source import Source
from prjury.deadline import Deadline

TEXTS = yaml.safe_load(Path(__file__).with_name("definitions.yml").read_text())
SOON = Deadline.after(3_600)  # counted from the import: the whole suite may run before


def found(language: str, text: str) -> str:
    """``kind first heading last`` of each definition; the text begins in line 1."""
    source = Source.of(text, LANGUAGES[language])
    (listed,) = list_definitions([source], Parser(), SOON)
    return "; ".join(
        f"{'function' if each.is_function else 'class'} {each.first} {each.heading} {each.last}"
        for each in listed
    )


CASES = {
    "python": (TEXTS["python"], "function 1 6 10; class 13 13 17; function 14 15 15"),
    "java": (
        TEXTS["java"],
        (
            "class 2 4 35; function 6 6 8; function 10 12 18; function 15 15 16; function 20 20 "
            "21; class 23 23 26; function 24 24 25; class 28 28 28; class 30 30 30; class 32 32 "
            "34; function 33 33 33"
        ),
    ),
    "kotlin": (
        TEXTS["kotlin"],
        (
            "class 1 2 19; function 3 3 5; function 7 7 9; function 12 12 14; class 16 16 18; "
            "function 17 17 17; class 21 21 28; function 22 25 27; class 30 30 30"
        ),
    ),
    "javascript": (
        TEXTS["javascript"],
        (
            "class 1 1 8; function 2 2 2; function 3 3 5; function 6 6 7; function 9 11 12; "
            "function 13 13 14; function 15 15 16; function 18 18 19; class 21 21 26; function 22 "
            "22 23"
        ),
    ),
    "typescript": (
        TEXTS["typescript"],
        (
            "class 1 4 9; function 5 7 8; class 10 10 12; class 13 13 15; class 16 16 19; "
            "function 17 17 18"
        ),
    ),
    "go": (TEXTS["go"], "class 3 3 5; class 8 8 10; function 14 16 19; function 21 21 21"),
    "rust": (
        TEXTS["rust"],
        (
            "class 1 4 6; class 8 10 16; function 12 13 15; class 18 18 20; function 19 19 19; "
            "class 22 22 24; class 23 23 23; function 26 26 28"
        ),
    ),
    "shell": (TEXTS["shell"], "function 1 1 3; function 4 4 7"),
}


@pytest.mark.parametrize("language", CASES)
def test_definitions_have_a_kind_a_heading_and_an_end(language: str) -> None:
    text, expected = CASES[language]
    assert found(language, text) == expected


@pytest.mark.parametrize("name", sorted(name for name, each in LANGUAGES.items() if each.parser))
def test_every_language_that_programs_are_written_in_has_definitions(name: str) -> None:
    data = {"application", "json", "npm", "yaml", "workflow"}
    assert has_definitions(LANGUAGES[name]) is (name not in data)


def test_lines_are_counted_as_git_does() -> None:
    text = "\ufeffclass A {\r\n\tint a;\r\tint b;\r\n\tvoid f() {\r\n\t}\r\n}\r\n"
    assert found("java", text) == "class 1 1 5; function 3 3 4"


def test_several_texts_are_answered_in_their_order() -> None:
    texts = [
        ("python", "def f(): pass"),
        ("json", "{}"),
        ("docker", "FROM a"),
        ("go", "func f() {}"),
    ]
    sources = [Source.of(text, LANGUAGES[name]) for name, text in texts]
    assert [len(listed) for listed in list_definitions(sources, Parser(), SOON)] == [1, 0, 0, 1]
    assert list_definitions([], Parser(), SOON) == []


def test_there_are_none_when_the_parser_dies_or_the_time_is_over() -> None:
    source = Source.of("class A {}", LANGUAGES["java"])
    dying = Parser(run_worker_with_exit_code=lambda *_: (b"", 3))
    assert list_definitions([source], dying, SOON) == [()]
    assert list_definitions([source], Parser(), Deadline.after(0)) == [()]
