"""The section of backports: what it takes, and what it says of anything else."""

from __future__ import annotations

import pytest

from prjury.errors import ConfigError
from prjury.policy.load import json_schema, parse_policy
from prjury.policy.schema import BackportConfig, OpenConfig


def section(text: str) -> BackportConfig:
    return parse_policy(f"version: 1\nbackport:\n  {text}\n", "f.yml").config.backport


def test_without_a_word_the_newest_branches_are_judged_and_nothing_is_opened() -> None:
    config = BackportConfig()
    assert (config.branches, config.default, config.merge, config.build) == (
        *("auto", "ask", "squash", False),
    )
    assert (config.locked, config.labels) == ([], [])
    assert config.open == OpenConfig(enabled=False, conflicts="nothing", labels=[])


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("branches: auto", "branches", "auto"),
        ("branches: []", "branches", []),
        ("branches: [1.1.x, 'release/*']", "branches", ["1.1.x", "release/*"]),
        ("locked: ['0.*', v1]", "locked", ["0.*", "v1"]),
        (
            "labels: ['port/{branch}', 'to {branch} 🍒']",
            "labels",
            ["port/{branch}", "to {branch} 🍒"],
        ),
    ],
)
def test_what_it_takes(text: str, key: str, value: object) -> None:
    assert getattr(section(text), key) == value


def test_what_is_opened() -> None:
    text = "open: {enabled: true, conflicts: draft, labels: [backport]}"
    assert section(text).open == OpenConfig(enabled=True, conflicts="draft", labels=["backport"])


_BRANCH = "a branch is a name such as 1.0.x, or a glob such as release/*"
_LABEL = (
    "a label has {branch} once and up to 50 other characters, with no comma, brace or line break, "
    "and no blank at its ends"
)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("branches: both", "branches: 'auto' or a list is expected here, not \"both\"."),
        ("branches: 1.0", "branches: 'auto' or a list is expected here, not 1.0."),
        ("branches: [1.0]", "branches[0]: a text is expected here, not 1.0."),
        ("branches: [1.x, a b]", f'branches[1]: {_BRANCH}, not "a b".'),
        ("locked: ['']", f'locked[0]: {_BRANCH}, not "".'),
        ("locked: ['a:b']", f'locked[0]: {_BRANCH}, not "a:b".'),
        (f"locked: ['{'x' * 256}']", f"locked[0]: {_BRANCH}, not …."),
        ("locked: 1.x", 'locked: a list is expected here, not "1.x".'),
        ("default: maybe", "default: 'ask', 'yes' or 'no' is expected here, not \"maybe\"."),
        ("labels: [port]", f'labels[0]: {_LABEL}, not "port".'),
        ("labels: ['a,{branch}']", f'labels[0]: {_LABEL}, not "a,{{branch}}".'),
        ("labels: ['{branch}{branch}']", f'labels[0]: {_LABEL}, not "{{branch}}{{branch}}".'),
        ("open: true", "open: a mapping of keys to values is expected here, not true."),
        (
            "open: {conflicts: push}",
            "open.conflicts: 'nothing' or 'draft' is expected here, not \"push\".",
        ),
    ],
)
def test_anything_else_is_an_error_with_its_place(text: str, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        section(text)
    assert str(caught.value) == f"f.yml line 3: backport.{told}"


def test_a_key_that_is_not_known_is_told_with_the_one_that_was_meant() -> None:
    with pytest.raises(
        ConfigError, match=r"backport\.lockd is not a known key; did you mean locked"
    ):
        section("lockd: []")


@pytest.mark.parametrize("text", ["labels: ['Bp:{branch}']"])
def test_a_run_cannot_ask_itself(text: str) -> None:
    with pytest.raises(ConfigError, match="cannot give the label that asks for a backport"):
        section(f"{text}\npublish:\n  labels: {{backport: 'bp:{{branch}}'}}")


def test_the_schema_for_editors_knows_the_keys() -> None:
    schemas = json_schema()["$defs"]
    properties = schemas["BackportConfig"]["properties"]
    assert set(properties) == set(BackportConfig.forms())
    assert set(schemas["OpenConfig"]["properties"]) == set(OpenConfig.forms())
    assert [*map(len, properties["branches"]["anyOf"])] == [1, 2]
