"""`rules test` tells what fails and what is missing, with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from prjury.code.parser import Parser
from prjury.errors import ConfigError
from prjury.judges.patterns.pack_tests import PackTestResult, run_pack_tests, run_tests
from prjury.rulepacks.load import find_publishing_problems, load

PACK = r"""id: mine
title: Mine
gate: npm:react >=18
rules:
  - id: one
    title: One
    why: Because.
    requires: npm:react >=19
    literals: [oldName]
    match:
      - languages: [javascript]
        ast-grep: {kind: identifier, regex: '^oldName$'}
    message: no
    fix:
      - {find: '^oldName$', replace: newName, applicability: machine-applicable}
    severity: error
    confidence: high
    references: ['https://example.org']
"""
CASES = """pack: mine
tests:
  one:
    code:
      javascript:
        valid:
          - newName()
        invalid:
          - code: oldName()
            fixed: newName()
    versions:
      - {declares: 'npm:react 19.0.0', expect: error}
      - {declares: 'npm:react >=18', expect: warning}
      - {declares: 'npm:react', expect: hint}
      - {declares: 'npm:react ^18', expect: none}
"""


def trial(tmp_path: Path, cases: str = CASES, pack: str = PACK) -> PackTestResult:
    (tmp_path / "mine.yml").write_text(pack)
    (tmp_path / "mine.cases.yml").write_text(cases)
    return run_pack_tests(load(tmp_path / "mine.yml"))


def test_a_complete_pack_is_sound(tmp_path: Path) -> None:
    made = trial(tmp_path)
    assert made.failures == []
    assert made.sound
    assert made.line == "ok   mine: 1 rule, 2 cases of code, 4 of versions"


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("code: oldName()", "code: otherName()", 9, "not found: 'otherName()'"),
        ("- newName()\n", "- oldName()\n", 7, "found in line 1: 'oldName()'"),
        ("fixed: newName()", "fixed: news()", 9, "fixed to 'newName()'"),
        ("react 19.0.0'", "react 18.0.0'", 12, "none, expected error: 'npm:react 18.0.0'"),
        ("            fixed: newName()\n", "", 15, "no case with `fixed` needs this fix"),
        ("19.0.0', expect: error", "18.0.0', expect: none", 11, "no version case expects error"),
        (
            "      - {declares: 'npm:react ^18', expect: none}\n",
            "",
            11,
            "no version case expects none",
        ),
    ],
)
def test_what_fails_or_is_missing_is_told_with_its_line(
    tmp_path: Path, old: str, new: str, line: int, words: str
) -> None:
    assert old in CASES
    failures = trial(tmp_path, CASES.replace(old, new, 1)).failures
    file = "mine.yml" if "needs this fix" in words else "mine.cases.yml"
    assert [f for f in failures if f.startswith(f"{tmp_path / file}:{line} ") and words in f]


def test_a_rule_without_a_case_for_a_language_is_an_error_of_the_pack(tmp_path: Path) -> None:
    pack = PACK.replace("[javascript]", "[javascript, typescript]")
    trial(tmp_path, pack=pack)
    with pytest.raises(ConfigError, match=r"cases.yml line 3: .*passing case for typescript"):
        load(tmp_path / "mine.yml", find_publishing_problems)


def test_a_declaration_that_nobody_can_read_is_an_error_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"mine.cases.yml line 14: .*'react' is not `ECOSYSTEM"):
        trial(tmp_path, CASES.replace("'npm:react', expect: hint", "react, expect: hint"))


def test_the_cases_of_another_pack_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"line 1: .*the cases of yours, beside the pack mine"):
        trial(tmp_path, CASES.replace("pack: mine", "pack: yours"))


def test_code_that_the_parser_does_not_survive_fails_its_cases_only(tmp_path: Path) -> None:
    (tmp_path / "mine.yml").write_text(PACK)
    (tmp_path / "mine.cases.yml").write_text(CASES)
    dying = Parser(run_worker_with_exit_code=lambda *_: (b"", 3))
    failures = run_tests(load(tmp_path / "mine.yml").pack, dying).failures
    assert [failure.problem for failure in failures] == ["parser_died: exit code 3"]
