from __future__ import annotations

import re

import pytest

from prjury.judges.patterns.findings import find_code, propose_repair
from prjury.judges.patterns.pack_tests import run_tests
from prjury.manifests.manifest import Role
from prjury.manifests.module import DeclaredVersion
from prjury.resources import rule_packs
from prjury.rulepacks.applicability import Basis, Doubt, compose_finding_text, narrow_head_to_code
from prjury.rulepacks.load import load_packs

ALIASES = (
    "np.float_, complex_ and longfloat were removed in NumPy 2.0; use float64 and so on",
    "np.float_",
)
NUMPY = DeclaredVersion(
    "", "numpy", ">=2.1", ">=2.1", Role.DEPENDENCY, "pyproject.toml", 0, "pypi", line=12
)


def test_a_finding_says_why_it_is_one_here() -> None:
    message, found = ALIASES
    words = compose_finding_text(message, found, "np.float64", Basis(NUMPY), established=False)
    assert words == (
        "`np.float_` was removed in NumPy 2.0; pyproject.toml:12 declares numpy >=2.1. "
        "Write `np.float64`."
    )


@pytest.mark.parametrize(
    ("doubt", "said"),
    [
        ("", "NumPy 2.0; pyproject.toml:12 declares numpy >=2.1. Use"),
        ("some", "pyproject.toml:12 declares numpy >=2.1, which allows such versions. Use"),
        ("deprecated", "pyproject.toml:12 declares numpy >=2.1, which deprecates it. Use"),
        ("itself", "NumPy 2.0. A hint only: this repository is numpy itself. Use"),
        ("unknown", "A hint only: pyproject.toml:12 declares numpy >=2.1, and that does not say"),
        ("undeclared", "A hint only: no build file here says which version is used. Use"),
    ],
)
def test_what_a_severity_rests_on_is_said(doubt: Doubt, said: str) -> None:
    message, found = ALIASES
    assert said in compose_finding_text(
        message, found, None, Basis(NUMPY, doubt), established=False
    )


@pytest.mark.parametrize(
    ("message", "found", "said"),
    [
        (*ALIASES, "`np.float_` was removed in NumPy 2.0"),
        ("a.x and a.y were removed", "a.x(a.y)", "`a.x` and `a.y` were removed"),
        ("a.x and a.y were removed", "f() + 1", "a.x and a.y were removed"),
        ("a.x and a.y were removed", "a.z", "`a.z` was removed"),
        ("x and y are v and w in 3", "y", "`y` is `w` in 3"),
        ("This name was removed in 3; use it", "b.z", "`b.z` was removed in 3"),
        ("this is odd", "print 'x'", "this is odd"),
        ("old_x and its likes were removed", "old_y", "`old_y` was removed"),
        ("The methods a, b and c of arrays were removed", "b", "`b` of arrays was removed"),
        ("Do not do this", "this", "Do not do this"),
    ],
)
def test_only_names_that_the_code_uses_are_named(message: str, found: str, said: str) -> None:
    assert narrow_head_to_code(message, found) == said


def test_of_two_ways_that_of_the_used_name_is_told() -> None:
    message = "np.recfrom and np.alltrue were removed; use np.genfrom and np.all"
    words = compose_finding_text(message, "np.alltrue", None, Basis(), established=False)
    assert words == "`np.alltrue` was removed. Use `np.all`."


@pytest.mark.nightly
def test_no_shipped_rule_names_what_its_own_cases_do_not_use() -> None:
    """A list of three names and more before the verb is one that nobody has narrowed."""
    unread = []
    for loaded in load_packs([rule_packs()], lambda _: ()):
        for case in run_tests(loaded.pack).ran:
            for hit in case.hits[:1] if case.must_match else ():
                line = hit.lines[0]
                text = case.code.split("\n")[line - 1]
                found = find_code(case.scan, hit, line, text)
                repair = propose_repair(case.scan, hit, line, text)
                fixed = repair.repair_single_piece(text, found) if repair else None
                words = compose_finding_text(
                    hit.active.rule.message, found, fixed, Basis(), established=False
                )
                assert not re.search(r"\.\.(?!\.)|``|\s\s", words.replace("...", "")), words
                if re.match(r"[\w.()]+, [\w.()]+(?:, [\w.()]+)* (?:and|or) ", words):
                    unread.append(f"{hit.active.name}: {words} <- {text.strip()}")
    assert unread == []
