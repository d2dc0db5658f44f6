from __future__ import annotations

import pytest

from prjury.judges.builds.systems.manifest import read_json, read_toml, strings, table


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ("[1]", None),
        ("", None),
        ("{", None),
        ("[" * 100_000, None),
        (f'{{"a": "{"x" * 5_000_000}"}}', None),
    ],
)
def test_json(text: str, value: object) -> None:
    assert read_json(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a = 1\r\n[b]\r\nc = 2\r\n", {"a": 1, "b": {"c": 2}}),
        ("", {}),
        ("a = ", None),
        ("a = 1\na = 2\n", None),
        ("a = " + "[" * 100_000, None),
        (".".join("a" * 50_000) + " = 1", None),
        ("#" * 5_000_000, None),
    ],
)
def test_toml(text: str, value: object) -> None:
    assert read_toml(text) == value


def test_tables_and_lists_of_any_shape() -> None:
    value = {"a": {"b": {"c": 1}}, "d": ["x", "y"], "e": ["x", 1], "f": 3}
    assert table(value, "a", "b") == {"c": 1}
    assert table(value, "a", "x", "y") == {}
    assert table(value, "f") == {}
    assert table(None) == {}
    assert strings(value["d"]) == ("x", "y")
    assert strings(value["e"]) is None
    assert strings(value["f"]) is None
    assert strings(None) == ()
