"""Settings by dotted name, in properties files and in YAML."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prjury.manifests.manifest import ManifestError
from prjury.manifests.settings import list_properties, plain_name, read_yaml_settings

YAML = """
a:
  b: 1   # c: 2
  d.e: [x, {f: y}]
? - odd
: value
---
&anchor g: {h: *anchor}
"""


def test_names_of_yaml_are_joined() -> None:
    names = [setting.name for setting in read_yaml_settings(YAML)]
    assert names == ["a", "a.b", "a.d.e", "a.d.e.f", "g", "g.h"]


@pytest.mark.parametrize("text", ["a: [" * 200, "a: b: c", "\tx: 1\n", "{" * 5_000])
def test_yaml_that_nobody_writes_is_refused(text: str) -> None:
    with pytest.raises(ManifestError):
        list(read_yaml_settings(text))


@given(st.text())
def test_no_file_is_too_odd(text: str) -> None:
    for setting in list_properties(text):
        assert text[setting.start : setting.end] == setting.name
    try:
        names = [setting.name for setting in read_yaml_settings(text)]
    except ManifestError:
        names = []
    assert all(isinstance(name, str) for name in names)


def test_names_are_compared_as_spring_compares_them() -> None:
    assert plain_name("a.replica-set[0].nameX") == plain_name("a.replicaSet.name_x")
