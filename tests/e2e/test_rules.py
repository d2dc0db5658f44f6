"""`prjury rules` as a process: packs listed, explained and tested; each exit code, each line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from e2e.conftest import Prjury
from prjury.rulepacks.load import list_heads

NAMES = sorted(list_heads())
PACK = """id: mine
title: Mine
gate: runtime:python >=3.12
rules:
  - id: no-imp
    title: imp is gone
    why: Removed in 3.12.
    literals: [import imp]
    match:
      - languages: [python]
        ast-grep: {pattern: import imp}
    message: imp was removed
    replacement: importlib
    severity: error
    confidence: high
    references: ['https://example.org']
    tests:
      code:
        python: {valid: [import importlib], invalid: [import imp]}
      versions:
        - {declares: 'runtime:python 3.12', expect: error}
        - {declares: 'runtime:python >=3.8', expect: warning}
        - {declares: 'runtime:python', expect: hint}
        - {declares: 'runtime:python 3.11', expect: none}
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    (tmp_path / "packs").mkdir()
    (tmp_path / "packs" / "mine.yml").write_text(PACK)
    return tmp_path / "packs"


def test_the_shipped_packs_are_listed(prjury: Prjury) -> None:
    done = prjury("rules", "list")
    assert done.code == 0
    assert [line.partition(":")[0] for line in done.out.splitlines() if line[0] != " "] == NAMES
    assert "for projects that declare org.springframework.boot 3.4 or later" in done.out


def test_own_packs_are_listed_in_every_format(prjury: Prjury, own: Path) -> None:
    assert prjury("rules", "list", own).out.splitlines() == [
        "mine: Mine",
        "    1 rule: 1 error; Python",
        "    for projects that declare Python 3.12 or later",
    ]
    assert prjury("rules", "list", own, "--format", "json").report == {
        "packs": [
            {
                "id": "mine",
                "title": "Mine",
                "gate": ["runtime:python >=3.12"],
                "applies_to": "Python 3.12 or later",
                "rules": {"error": 1, "warning": 0, "hint": 0},
                "languages": ["python"],
            }
        ]
    }
    told = prjury("rules", "list", own, "--format", "markdown").out
    assert "| `mine` | Mine | 1 rule: 1 error |\n" in told


def test_a_rule_is_explained(prjury: Prjury) -> None:
    done = prjury("rules", "show", "spring-boot-4/mockbean-removed")
    assert done.code == 0
    for words in (
        "@MockBean is gone",
        "Deprecated in 3.4 and removed in 4.0",
        "error: org.springframework.boot 4.0+; warning: org.springframework.boot 3.4+",
        "For Java, Kotlin; confidence: high",
        "prjury-ignore[spring-boot-4/mockbean-removed]",
        "(https://github.com/spring-projects/",
        "`import org.springframework.boot.test.mock.mockito.MockBean;` →",
        "→ `import org.springframework.test.context.bean.override",
        "Left alone:\n",
    ):
        assert words in done.out


def test_rules_and_packs_are_explained_to_machines(prjury: Prjury, own: Path) -> None:
    rule = prjury("rules", "show", "mine/no-imp", own, "--format", "json").report
    assert rule["since"] == {"error": "Python 3.12 or later", "warning": "", "hint": ""}
    assert rule["found"] == {"language": "python", "code": "import imp", "fixed": None}
    assert prjury("rules", "show", "mine", own, "--format", "json").report["rules"] == [rule]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("jakrta", "there is no pack or rule 'jakrta'. Did you mean jakarta"),
        ("servlet", "Did you mean jakarta/servlet?"),
        ("jakarta/servlets", "Did you mean jakarta/servlet"),
        ("zzzzzz", "`prjury rules list` names the packs."),
    ],
)
def test_an_unknown_name(prjury: Prjury, name: str, words: str) -> None:
    done = prjury("rules", "show", name)
    assert done.code == 2
    assert words in done.complaint


def test_a_case_that_fails_is_told_with_file_and_line(prjury: Prjury, own: Path) -> None:
    (own / "mine.yml").write_text(PACK.replace("invalid: [import imp]", "invalid: [import os]"))
    done = prjury("rules", "test", "packs")
    assert done.code == 1
    assert done.out.splitlines()[:2] == [
        "FAIL mine: 1 rule, 2 cases of code, 4 of versions, 1 failed",
        "    packs/mine.yml:19 mine/no-imp (python): not found: 'import os'",
    ]
    told = prjury("rules", "test", "packs", "--format", "json")
    assert told.code == 1
    assert told.report["passed"] is False
    assert told.report["packs"][0]["failures"] == [
        {
            "rule": "mine/no-imp",
            "language": "python",
            "problem": "not found",
            "code": "import os",
            "path": "packs/mine.yml",
            "line": 19,
        }
    ]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("pattern: import imp", "kind: nope", "packs/mine.yml line 11: rules[0].match[0].ast-grep"),
        ("[python]", "[python, go]", "no failing and passing case for go"),
        ("title: Mine", "title: Mine\ncolour: red", "line 3: colour is not a known key"),
    ],
)
def test_a_pack_that_is_wrong(prjury: Prjury, own: Path, old: str, new: str, words: str) -> None:
    (own / "mine.yml").write_text(PACK.replace(old, new, 1))
    done = prjury("rules", "test", "packs")
    assert done.code == 2
    assert words in done.complaint


def test_nothing_in_a_pack_moves_the_cursor(prjury: Prjury, own: Path) -> None:
    (own / "mine.yml").write_text(PACK.replace("title: Mine", r'title: "\e[2JMine\u202e"'))
    assert prjury("rules", "list", own).out.startswith(r"mine: \x1b[2JMine\u202e")
    listed = prjury("rules", "list", own, "--format", "json").out
    assert json.loads(listed)["packs"][0]["title"] == "\x1b[2JMine\u202e"
