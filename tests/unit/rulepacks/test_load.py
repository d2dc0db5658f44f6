"""A pack that is wrong is an error with file and line."""

from __future__ import annotations

import os
import time
import tracemalloc
from contextlib import suppress
from pathlib import Path

import pytest

from prjury.errors import ConfigError
from prjury.judges.patterns.pack_tests import run_tests
from prjury.rulepacks.load import (
    find_publishing_problems,
    list_heads,
    load_own_packs,
    load_packs,
    load_shipped,
)
from prjury.rulepacks.rule import Cases, Pack

PACK = r"""id: mine
title: Mine
gate: maven:g:a >=1.0
rules:
  - id: one
    title: One
    why: Because.
    literals: [javax]
    match:
      - languages: [java]
        ast-grep: {kind: identifier, regex: '^javax$'}
    message: no
    severity: error
    confidence: high
    references: ['https://example.org']
    tests:
      code:
        java: {valid: ['class A {}'], invalid: ['class A { int javax; }']}
"""


def load_pack(path: Path) -> Pack:
    (loaded,) = load_packs([path])
    return loaded.pack


def load(tmp_path: Path, text: str, cases: str | None = None) -> str:
    """The error's text."""
    (tmp_path / "mine.yml").write_text(text)
    if cases:
        (tmp_path / "mine.cases.yml").write_text(cases)
    with pytest.raises(ConfigError) as error:
        load_pack(tmp_path / "mine.yml")
    assert error.value.exit_code == 2
    return str(error.value)


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("title: Mine", "titel: Mine", 2, "titel is not a known key; did you mean title?"),
        (
            "title: Mine\n",
            "title: Mine\ncolour: red\n",
            3,
            "colour is not a known key; allowed are gate, id, ",
        ),
        ("kind: identifier", "kind: nonsense", 11, "Kind `nonsense` is invalid"),
        ("kind: identifier", "kinds: identifier", 11, "unknown field `kinds`"),
        ("'^javax$'}", "'(javax'}", 11, "unclosed group"),
        ("kind: identifier", "matches: no-such-util", 11, "`no-such-util` is not defined"),
        ("ast-grep: {kind: identifier, regex: '^javax$'}", "regex: '(?=javax)'", 11, "RE2 refuses"),
        ("ast-grep: {kind: identifier, regex: '^javax$'}", "regex: '(a)\\1'", 11, "RE2 refuses"),
        ("ast-grep: {kind: identifier, regex: '^javax$'}", "files: []", 10, "exactly one of"),
        ("languages: [java]", "languages: [cobol]", 10, "cobol is no language"),
        ("languages: [java]", "languages: [xml]", 10, "`ast-grep` cannot look at xml"),
        ("        java:", "        jav: {valid: [a], invalid: [b]}\n        java:", 18, "jav is"),
        ("gate: maven:g:a >=1.0", "gate: always\nutils:\n  jav: {}", 5, "utils.jav: jav is no"),
        ("gate: maven:g:a >=1.0", "gate:\n  - always\n  - [1]", 5, "a text is expected here"),
        ("gate: maven:g:a >=1.0", "gate: {a: b}", 3, "gate: a list or a text is expected"),
        ("gate: maven:g:a >=1.0", "gate:\n  - always\n  - a b", 5, "'a b' is not a requirement"),
        ("literals: [javax]", "literals: [ja]", 8, "at least 3 characters"),
        ("gate: maven:g:a >=1.0", "gate: maven:g:a ==1.0", 3, "is not a requirement"),
        ("confidence: high", "confidence: medium", 5, "only a rule of high confidence"),
        ("severity: error", "severity: fatal", 13, "'error', 'warning' or 'hint'"),
        ("invalid: ['class A { int javax; }']", "invalid: []", 18, "at least 1 entry"),
        ("id: one", "id: One!", 5, "a name has up to 60 letters"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(
    tmp_path: Path, old: str, new: str, line: int, words: str
) -> None:
    assert old in PACK
    told = load(tmp_path, PACK.replace(old, new, 1))
    assert words in told
    assert f"mine.yml line {line}: " in told


def test_a_repeated_id(tmp_path: Path) -> None:
    second = PACK[PACK.index("  - id: one") :]
    assert "the id one is used twice" in load(tmp_path, PACK + second)


def test_a_pack_runs_without_cases_and_references_and_is_not_published_without(
    tmp_path: Path,
) -> None:
    bare = PACK[: PACK.index("    tests:")].replace("    confidence: high\n", "")
    bare = bare.replace("    references: ['https://example.org']\n", "")
    (tmp_path / "mine.yml").write_text(bare)
    assert load_own_packs([str(tmp_path)])[0].rules[0].confidence == "high"
    with pytest.raises(ConfigError) as error:
        load_packs([tmp_path], find_publishing_problems)
    assert error.value.exit_code == 2
    assert "line 5: rules[0].references: rule one: has no `references`; " in str(error.value)
    assert "rule one: does not say its `confidence`; " in str(error.value)
    assert "rule one: has no failing and passing case for java" in str(error.value)


def test_all_that_is_wrong_in_a_file_is_told_at_once(tmp_path: Path) -> None:
    wrong = PACK.replace("title: Mine\n", "").replace("    why: Because.\n", "")
    told = load(tmp_path, wrong)
    assert "mine.yml line 1: title: this key is needed; " in told
    assert "rules[0].why: this key is needed" in told


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id: [", "is not YAML"),
        ("a: &x 1\nb: *x\n", "alias"),
        ("", "a mapping of keys to values is expected"),
        ("- 1", "a mapping of keys to values is expected"),
        ("id: a\nid: b\n", "repeats the key"),
        ("x: " + "y" * 600_000, "larger than 512 KiB"),
    ],
)
def test_what_is_no_pack_at_all(tmp_path: Path, text: str, words: str) -> None:
    assert words in load(tmp_path, text)


def test_tests_may_stand_in_a_file_of_their_own(tmp_path: Path) -> None:
    at = PACK.index("    tests:")
    (tmp_path / "mine.yml").write_text(PACK[:at])
    (tmp_path / "mine.cases.yml").write_text(
        "pack: mine\ntests:\n  one:\n    code:\n"
        "      java: {valid: ['class A {}'], invalid: ['class A { int javax; }']}\n"
    )
    assert load_pack(tmp_path / "mine.yml").rules[0].tests.code == {
        "java": Cases(["class A {}"], ["class A { int javax; }"])
    }
    assert [pack.id for pack in load_own_packs([str(tmp_path)])] == ["mine"]


def test_a_case_for_a_rule_that_does_not_exist(tmp_path: Path) -> None:
    cases = "pack: mine\ntests:\n  two:\n    versions: []\n"
    told = load(tmp_path, PACK, cases)
    assert "mine.cases.yml line 3" in told
    assert "tests.two: there is no such rule in " in told


def test_two_packs_of_one_name(tmp_path: Path) -> None:
    (tmp_path / "a.yml").write_text(PACK)
    (tmp_path / "b.yml").write_text(PACK)
    with pytest.raises(ConfigError, match="two packs have the id mine"):
        load_own_packs([str(tmp_path)])


def test_an_empty_directory(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no pack"):
        load_own_packs([str(tmp_path)])


def test_not_utf_8(tmp_path: Path) -> None:
    (tmp_path / "mine.yml").write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="not UTF-8"):
        load_pack(tmp_path / "mine.yml")


def test_a_shipped_pack_by_name() -> None:
    assert load_shipped("jakarta").id == "jakarta"
    with pytest.raises(ConfigError, match=f"Known packs are: {', '.join(sorted(list_heads()))}"):
        load_shipped("../secrets")


def test_links_that_lead_to_themselves(tmp_path: Path) -> None:
    (tmp_path / "loop.yml").symlink_to(tmp_path / "loop.yml")
    (tmp_path / "round").symlink_to(tmp_path)
    for path in (tmp_path, tmp_path / "loop.yml", tmp_path / "round" / "round"):
        with pytest.raises(ConfigError, match="cannot be read: Too many levels of symbolic links"):
            load_own_packs([str(path)])


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "mine.yml").open("wb") as file:
        file.truncate(100 * 1024**2)
    tracemalloc.start()
    with pytest.raises(ConfigError, match=r"mine.yml is larger than 512 KiB"):
        load_own_packs([str(tmp_path)])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * 1024**2


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "mine.yml")
    with pytest.raises(ConfigError, match="is not a file"):
        load_own_packs([str(tmp_path)])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (PACK.encode("utf-16"), r"not UTF-8 \(byte 0\)"),
        (PACK.replace("Mine", "Mi\0ne").encode(), r"line 2 is not YAML: it holds .* U\+0000"),
        (b"\0" * 100, r"U\+0000"),
        (b"PK\x03\x04", r"is not YAML"),
        (b"<html>", r"a mapping of keys to values is expected"),
    ],
)
def test_what_is_not_even_text(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "mine.yml").write_bytes(content)
    with pytest.raises(ConfigError, match=words):
        load_own_packs([str(tmp_path)])


@pytest.mark.parametrize("path", ["no\0name", "missing.yml", "missing.yml/mine.yml"])
def test_a_path_that_leads_nowhere(path: str) -> None:
    with pytest.raises(ConfigError, match=r"cannot be read|there is no pack"):
        load_own_packs([path])


#: Exponential for engines that go back; linear for those that are used here.
BOMB = "(x+x+)+y"


@pytest.mark.parametrize("matcher", ["regex: '{}'", "ast-grep: {{kind: identifier, regex: '{}'}}"])
def test_a_regex_bomb_is_harmless(tmp_path: Path, matcher: str) -> None:
    code = "class A { int " + "x" * 5_000 + "; }"
    text = PACK.replace("ast-grep: {kind: identifier, regex: '^javax$'}", matcher.format(BOMB))
    text = text.replace("literals: [javax]", "literals: [xxx]").replace("class A {}", code)
    (tmp_path / "mine.yml").write_text(text.replace("int javax;", "int xxxy;"))
    started = time.monotonic()
    assert run_tests(load_pack(tmp_path / "mine.yml")).failures == []
    assert time.monotonic() - started < 60


@pytest.mark.parametrize("matcher", ["regex: '{}'", "ast-grep: {{kind: identifier, regex: '{}'}}"])
def test_ten_thousand_alternatives_are_taken_or_refused_in_time(
    tmp_path: Path, matcher: str
) -> None:
    regex = "|".join(f"n{number:x}" for number in range(10_000))
    text = PACK.replace("ast-grep: {kind: identifier, regex: '^javax$'}", matcher.format(regex))
    (tmp_path / "mine.yml").write_text(text)
    started = time.monotonic()
    with suppress(ConfigError):
        run_tests(load_pack(tmp_path / "mine.yml"))
    assert time.monotonic() - started < 60


@pytest.mark.parametrize("matcher", ["regex: '{}'", "ast-grep: {{kind: identifier, regex: '{}'}}"])
def test_a_regex_that_grows_without_end_is_refused(tmp_path: Path, matcher: str) -> None:
    regex = "((a{1000}){1000}){1000}"
    assert "line 11" in load(
        tmp_path,
        PACK.replace("ast-grep: {kind: identifier, regex: '^javax$'}", matcher.format(regex)),
    )
