"""One table of languages, from which every reader of code takes what it knows."""

from __future__ import annotations

import pytest
import re2

from prjury.code.languages import LANGUAGES, Language, kin_of, language_of

CODE = {
    "python": ".py .pyi .pyx .pxd",
    "jvm": ".java .kt .kts .groovy .scala .sc",
    "script": ".js .jsx .mjs .cjs .ts .tsx .mts .cts .vue .svelte",
    "go": ".go",
    "rust": ".rs",
    "c": ".c .h .cc .cpp .cxx .hh .hpp .hxx .m .mm .inc",
    "dotnet": ".cs",
    "swift": ".swift",
    "dart": ".dart",
    "php": ".php",
}


@pytest.mark.parametrize("kin", CODE)
def test_a_language_of_code_is_known_to_every_reader(kin: str) -> None:
    for suffix in CODE[kin].split():
        language = language_of(f"A{suffix.upper()}")
        assert language
        assert kin_of(f"a.b/x{suffix}") == language.kin == kin
        assert language.parser or language.comment


@pytest.mark.parametrize("suffix", ".json .proto .xml .css .scss .less .toml .ini .cfg".split())
def test_other_texts_have_no_kin(suffix: str) -> None:
    assert language_of(f"a{suffix}")
    assert kin_of(f"a{suffix}") is None


@pytest.mark.parametrize("language", LANGUAGES.values(), ids=lambda each: each.name)
def test_a_row_is_whole(language: Language) -> None:
    assert language_of(language.sample) is language
    for pattern in (language.comment, language.string):
        re2.compile(pattern)
    if language.parser is None and language.kin:
        assert language.comment


def test_a_build_in_kotlin_is_gradles_and_other_names_are_nobodys() -> None:
    assert language_of("a/build.gradle.kts") is LANGUAGES["gradle"]
    assert language_of("a.txt") is language_of("Makefile") is None


def test_each_suffix_and_name_stands_in_one_row() -> None:
    for column in ("suffixes", "files"):
        every = [name for each in LANGUAGES.values() for name in getattr(each, column)]
        assert len(every) == len(set(every))
