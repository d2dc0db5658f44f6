"""The YAML reader: plain values with their lines, and nothing that surprises."""

from __future__ import annotations

import time
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prjury.errors import ConfigError
from prjury.policy.yaml_reader import MAX_BYTES, MAX_DEPTH, read_yaml


def value(text: str) -> object:
    return read_yaml(text, "f.yml").value


def refusal(text: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        read_yaml(text, "f.yml")
    return caught.value


@pytest.mark.parametrize(
    ("scalar", "expected"),
    [
        ("null", None),
        ("~", None),
        ("", None),
        ("true", True),
        ("false", False),
        ("12", 12),
        ("-3", -3),
        ("+3", 3),
        ("0", 0),
        ("0.5", 0.5),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("'12'", "12"),
        ('"true"', "true"),
        ("text", "text"),
    ],
)
def test_plain_scalars(scalar: str, expected: object) -> None:
    assert value(f"a: {scalar}") == {"a": expected}
    assert type(value(f"a: {scalar}")["a"]) is type(expected)  # type: ignore[index]


@pytest.mark.parametrize(
    "scalar",
    "on off yes no Yes NO True FALSE Null y n 010 0x1F 0o17 0b1 1:30 1_000 .nan .inf -.INF "
    "2024-01-01 1.2.3 = 0.0.0.0 1e".split(),
)
def test_cfg_07_yaml_1_1_coercions_do_not_happen(scalar: str) -> None:
    assert value(f"a: {scalar}") == {"a": scalar}


def test_every_key_path_knows_its_line() -> None:
    document = read_yaml("a:\n  - b: 1\n  -\n    c: 2\nd: |\n  x\n  y\n", "f.yml")

    assert document.value == {"a": [{"b": 1}, {"c": 2}], "d": "x\ny\n"}
    assert document.place_of(("a", 1, "c")) == (4, 5)
    assert document.place_of(("a", 1, "c", "unknown")) == (4, 5)
    assert document.place_of(("d",)) == (5, 1)
    assert document.place_of(("unknown",)) == (1, 1)


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n", "---\n", "\ufeff"])
def test_an_empty_document_is_none(text: str) -> None:
    assert value(text) is None


def test_cfg_05_an_alias_bomb_is_refused_at_once() -> None:
    levels = "".join(f"{b}: &{b} [{','.join([f'*{a}'] * 9)}]\n" for a, b in pairwise("abcdefg"))
    started = time.process_time()
    error = refusal(f"a: &a [x]\n{levels}")

    assert error.reason == "config_alias_forbidden"
    assert "f.yml line 2 uses the alias *a" in str(error)
    assert time.process_time() - started < 1


@pytest.mark.parametrize(
    "tagged",
    [
        "!!python/object/apply:os.system ['touch CANARY']",
        "!!python/name:os.system",
        "!!binary aGk=",
        "!!set {a}",
        "!!str 5",
        "!!int '5'",
        "!own 1",
        "! 1",
    ],
)
def test_cfg_09_tags_are_refused(
    tagged: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    error = refusal(f"\na: {tagged}")

    assert error.reason == "config_tag_forbidden"
    assert "f.yml line 2 has the tag" in str(error)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "text", ["a: 1\nb:\n  c: 1\n  c: 2\n", 'a: 1\nb: {c: 1,\n  x: 2, "c": 2}\n']
)
def test_repeated_keys_are_refused(text: str) -> None:
    assert "repeats the key b.c" in str(refusal(text))


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? "])
def test_depth_has_a_limit(opening: str) -> None:
    assert f"nested deeper than {MAX_DEPTH} levels" in str(refusal(opening * 5_000))


def test_size_has_a_limit_in_bytes() -> None:
    assert refusal("ä" * (MAX_BYTES // 2) + "a").reason == "too_large"
    assert value("a" * MAX_BYTES) == "a" * MAX_BYTES


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: [\n", "line 2 is not YAML: "),
        ("a: 1\n b: 2\n", "line 2 is not YAML"),
        ("a:\n\tb: 1\n", "line 2 is not YAML: a tab stands where YAML wants spaces"),
        ("a: 1\nb: \0\n", "line 2 is not YAML: it holds the character U+0000"),
        ("a: 1\nb: \x1b[0m\n", "line 2 is not YAML: it holds the character U+001B"),
        ("a: 1\n---\nb: 1\n", "line 3 begins a second YAML document"),
        ("? [a]\n: b\n", "line 1 has a key that is not a word"),
        (f"a: 1\nb: {'9' * 5_000}\n", "line 2 has a number of 5000 characters"),
    ],
)
def test_errors_name_the_line(text: str, told: str) -> None:
    assert told in str(refusal(text))


@given(st.text(max_size=80) | st.text(alphabet="[]{}:-&*!?|>'\"%@ \nab1", max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(ConfigError):
        assert read_yaml(text, "f.yml").source == "f.yml"
