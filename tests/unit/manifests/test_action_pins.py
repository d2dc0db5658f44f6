"""Reading which actions workflows use."""

from __future__ import annotations

import pytest

from prjury.manifests.action_pins import read_workflow_pins

SHA = "8e5e7e5ab8b370d6c329ec480221332ada57f0ab"


def told(text: str) -> list[tuple[str, str | None, tuple[int, ...]]]:
    return [(c.artifact, c.version, c.lines) for c in read_workflow_pins(text.encode()).coordinates]


@pytest.mark.parametrize(
    ("line", "name", "version"),
    [
        ("- uses: actions/checkout@v4", "actions/checkout", "v4"),
        ("  uses: actions/checkout@v4.1.2", "actions/checkout", "v4.1.2"),
        ("-   uses:   'actions/checkout@v4'  # comment", "actions/checkout", "v4"),
        ('- "uses": "Actions/Checkout@v4"', "actions/checkout", "v4"),
        ("- - uses: a/b@v1", "a/b", "v1"),
        (f"- uses: a/b@{SHA} # v4.1.2", "a/b", "v4.1.2"),
        (f"- uses: a/b@{SHA} # tag=v3", "a/b", "v3"),
        (f"- uses: a/b@{SHA} # pin@v2.1", "a/b", "v2.1"),
        (f"- uses: a/b@{SHA} # ratchet:a/b@v5", "a/b", "v5"),
        (f"- uses: a/b@{SHA} # main", "a/b", SHA),
        (f"- uses: a/b@{SHA}", "a/b", SHA),
        ("- uses: a/b@main # v4", "a/b", "main"),
        ("- uses: a/b@release/v1", "a/b", "release/v1"),
        ("- uses: github/codeql-action/init@v3", "github/codeql-action/init", "v3"),
        ("uses: o/r/.github/workflows/x.yml@v2", "o/r/.github/workflows/x.yml", "v2"),
        ("- { name: x, uses: a/b@v1, with: {} }", "a/b", "v1"),
        ("- uses: &anchor a/b@v1", "a/b", "v1"),
        ("\t- uses: a/b@v1", "a/b", "v1"),
        (r'- uses: "a\/b@v1"', "a/b", "v1"),
        (r'- uses: "a\x2fb\u0040v1"', "a/b", "v1"),
    ],
)
def test_what_is_used(line: str, name: str, version: str) -> None:
    assert told(f"jobs:\n{line}\n") == [(name, version, (2,))]


@pytest.mark.parametrize(
    "line",
    [
        "# - uses: a/b@v1",
        "- uses: ./local",
        "- uses: docker://alpine:3.8",
        "- uses: a/b",
        "- uses: a/b@${{ matrix.ref }}",
        "- uses: *anchor",
        "- run: echo uses a/b@v1",
        "- name: x # uses: a/b@v1",
        "- confuses: a/b@v1",
    ],
)
def test_what_is_not(line: str) -> None:
    assert told(f"jobs:\n{line}\n") == []


def test_a_script_is_no_workflow() -> None:
    text = """\
steps:
  - name: x
    run: |
      uses: a/b@v1

      - uses: a/b@v2
    # a comment
  - run: >-
      uses: a/b@v3
  - uses: a/b@v4
    with:
      script: |2 # text
        uses: a/b@v5
      other: a
"""
    assert told(text) == [("a/b", "v4", (10,))]
