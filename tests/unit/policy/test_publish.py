"""Labels: what they may stand for, and what GitHub takes for one."""

from __future__ import annotations

import pytest

from prjury.errors import ConfigError
from prjury.policy.load import json_schema, parse_policy


def labels(text: str) -> dict[str, str]:
    policy = parse_policy(f"version: 1\npublish:\n  labels: {text}\n", "f.yml")
    return {str(key): name for key, name in policy.config.publish.labels.items()}


_FORM = "a label has 1 to 50 characters, and neither a comma nor a line break"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "{foo: bar}",
            (
                "f.yml line 3: publish.labels.foo: 'pass', 'fail', 'abstain', 'error' or "
                "'backport' is expected here, not \"foo\"."
            ),
        ),
        ("{fail: 'a,b'}", f'f.yml line 3: publish.labels.fail: {_FORM}, not "a,b".'),
        ("{fail: ' '}", f'f.yml line 3: publish.labels.fail: {_FORM}, not " ".'),
        (
            '{error: "a\\nb"}',
            f'f.yml line 3: publish.labels.error: {_FORM}, not "a\\\\nb".'.replace("\\\\", "\\"),
        ),
        (f"{{pass: {'x' * 51}}}", f'publish.labels.pass: {_FORM}, not "{"x" * 51}".'),
        ("{fail: 3}", "f.yml line 3: publish.labels.fail: a text is expected here, not 3."),
        ("{backport: x}", "publish.labels: backport: the label has to hold {branch}."),
    ],
)
def test_anything_else_is_an_error_with_its_place(text: str, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        labels(text)
    assert str(caught.value).endswith(told)


def test_the_schema_for_editors_knows_the_keys() -> None:
    section = json_schema()["$defs"]["PublishConfig"]["properties"]["labels"]
    assert section["propertyNames"]["enum"] == ["pass", "fail", "abstain", "error", "backport"]
