from __future__ import annotations

import copy
import json
import math
import pickle
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given

import strategies
from fakes.refusals import refused
from prjury.jury.frozen import FrozenDict, freeze


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def endless() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


# What is kept.


@given(strategies.json_values())
def test_what_is_frozen_is_the_same_json(value: Any) -> None:
    assert json.dumps(freeze(value)) == json.dumps(value)


@given(strategies.json_values())
def test_what_is_frozen_is_frozen_already(value: Any) -> None:
    assert freeze(freeze(value)) == freeze(value)


def test_dictionaries_and_lists_at_every_depth_are_frozen() -> None:
    frozen = freeze({"a": [1, {"b": None}], "c": MappingProxyType({"d": (True,)})})
    assert frozen == {"a": (1, {"b": None}), "c": {"d": (True,)}}
    assert {type(frozen), type(frozen["a"][1]), type(frozen["c"])} == {FrozenDict}
    assert {type(frozen["a"]), type(frozen["c"]["d"])} == {tuple}


def test_what_is_frozen_does_not_follow_its_source() -> None:
    inner = {"read": ["a.py"]}
    source = {"scope": inner}
    frozen = freeze(source)
    inner["read"].append("b.py")
    source["verdict"] = inner
    assert frozen == {"scope": {"read": ("a.py",)}}


@pytest.mark.parametrize("value", [nested(100), 2**14_000 - 1, -(2**14_000) + 1, "\U0010ffff", ""])
def test_the_largest_and_the_smallest_that_is_kept(value: Any) -> None:
    assert json.loads(json.dumps(freeze(value))) == value


# What is refused, and where.

DEEP = f"metadata.a{'[0]' * 100} is nested deeper than 100 levels"


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        ({"a": {1, 2}}, "metadata.a is a set, which JSON cannot hold"),
        ({"a": [{"b": object()}]}, "metadata.a[0].b is a object, which JSON cannot hold"),
        ({"a": b"bytes"}, "metadata.a is a bytes, which JSON cannot hold"),
        ({"a": {"b": [0, math.nan]}}, "metadata.a.b[1] is nan, which JSON cannot hold"),
        ({"a": -math.inf}, "metadata.a is -inf, which JSON cannot hold"),
        ({"a": {1: "one"}}, "metadata.a has the key 1, which is not a string"),
        ({None: "one"}, "metadata has the key None, which is not a string"),
        ({"a": "\udc80"}, "metadata.a holds a lone surrogate, which JSON cannot hold"),
        ({"a": {"\udc80": 1}}, "metadata.a (a key) holds a lone surrogate, which JSON cannot hold"),
        ({"a": 2**14_000}, "metadata.a is an integer of 14001 bits, which is too large"),
        ({"a": [-(2**14_000)]}, "metadata.a[0] is an integer of 14001 bits, which is too large"),
        ({"a": nested(100)}, DEEP),
        ({"a": endless()}, DEEP),
    ],
)
def test_a_refused_value_is_named_by_its_path(metadata: dict[Any, Any], words: str) -> None:
    with refused(ValueError, words):
        freeze(metadata)


def test_the_depth_of_dictionaries_counts_too() -> None:
    value: Any = 1
    for _ in range(101):
        value = {"a": value}
    with refused(ValueError, f"evidence{'.a' * 101} is nested deeper than 100 levels"):
        freeze(value, "evidence")
    assert freeze(value["a"]) == value["a"]


# A dictionary that refuses every change.

CHANGES: Mapping[str, Callable[[Any], object]] = {
    "update": lambda frozen: frozen.update(a=1),
    "setdefault": lambda frozen: frozen.setdefault("b", 1),
    "pop": lambda frozen: frozen.pop("a"),
    "popitem": lambda frozen: frozen.popitem(),
    "clear": lambda frozen: frozen.clear(),
    "set": lambda frozen: frozen.__setitem__("a", 1),
    "delete": lambda frozen: frozen.__delitem__("a"),
    "|=": lambda frozen: frozen.__ior__({"a": 1}),
    "inner": lambda frozen: frozen["a"].__setitem__("b", 1),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_nothing_changes_at_any_depth(change: Callable[[Any], object]) -> None:
    frozen = freeze({"a": {"b": [1]}})
    with refused(TypeError, "this dictionary cannot be changed"):
        change(frozen)
    assert frozen == {"a": {"b": (1,)}}


@given(strategies.metadata())
def test_a_frozen_dictionary_is_a_value(metadata: dict[str, Any]) -> None:
    frozen = freeze(metadata)
    assert isinstance(frozen, dict)
    for twin in (copy.copy(frozen), pickle.loads(pickle.dumps(frozen))):  # noqa: S301 - our own
        assert type(twin) is FrozenDict
        assert twin == frozen
        assert hash(twin) == hash(frozen)
    assert copy.deepcopy(frozen) is frozen
