"""Version cases: how declarations are written, and which outcomes a rule can have."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prjury.policy.fields import Words, convert_section
from prjury.rulepacks.applicability import list_testable_outcomes, outcome_of, parse_library_version
from prjury.rulepacks.rule import Pack, VersionCase

ANY = {"error", "warning", "hint", "none"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("org.acme:lib:1.0", ("maven", "org.acme", "lib", "1.0")),
        ("org.acme:lib", ("maven", "org.acme", "lib", None)),
        ("org.acme:lib:[3.5,4.1)", ("maven", "org.acme", "lib", "[3.5,4.1)")),
        ("org.acme:lib:[3.5, 4.1)", ("maven", "org.acme", "lib", "[3.5, 4.1)")),
        ("maven:org.acme:lib", ("maven", "org.acme", "lib", None)),
        ("maven:org.acme:lib [3.5, 4.1)", ("maven", "org.acme", "lib", "[3.5, 4.1)")),
        ("pypi:numpy 2.0", ("pypi", "", "numpy", "2.0")),
        ("pypi:numpy >=1.26,<2", ("pypi", "", "numpy", ">=1.26,<2")),
        ("npm:react ^18", ("npm", "", "react", "^18")),
        ("npm:@types/react  ^18 || ^19", ("npm", "", "@types/react", "^18 || ^19")),
        ("runtime:python >=3.8", ("runtime", "", "python", ">=3.8")),
        ("go:github.com/pkg/errors v0.9.1", ("go", "", "github.com/pkg/errors", "v0.9.1")),
        ("cargo:serde", ("cargo", "", "serde", None)),
        ("action:actions/checkout v4", ("action", "", "actions/checkout", "v4")),
    ],
)
def test_a_declaration_is_read(text: str, expected: tuple[str, str, str, str | None]) -> None:
    found = parse_library_version(text)
    assert (found.ecosystem, found.group, found.artifact, found.version) == expected


@pytest.mark.parametrize(
    "text",
    ["", "numpy", "numpy 2.0", "pypi:", "pypi: ", "maven:org.acme", "maven:a:b:1.0", ":a", "a:"],
)
def test_anything_else_is_refused_with_the_forms(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not `ECOSYSTEM:NAME \[version\]`"):
        parse_library_version(text)


@given(st.text())
def test_every_text_is_read_or_refused(text: str) -> None:
    with suppress(ValueError):
        assert parse_library_version(text).artifact


def pack(gate: str, **rule: object) -> Pack:
    values = {
        "id": "one",
        "title": "One",
        "why": "Because.",
        "match": [{"languages": ["java"], "regex": "x"}],
        "literals": ["xxx"],
        "message": "no",
        "severity": "error",
        "confidence": "high",
        "references": ["https://example.org"],
        **rule,
    }
    made: Pack = convert_section(
        {"id": "mine", "title": "M", "gate": gate, "rules": [values]}, Pack
    )
    return made


@pytest.mark.parametrize(
    ("gate", "rule", "expected"),
    [
        ("maven:g:a >=2", {}, {"error", "none"}),
        ("maven:g:a", {}, set()),
        ("always", {}, set()),
        ("always", {"requires": "npm:react >=19"}, {"error", "none"}),
        ("npm:react >=18", {"requires": "always"}, set()),
        ("maven:g:a >=2", {"severity": "warning"}, {"warning", "none"}),
        ("maven:g:a >=2", {"deprecated": "maven:g:a >=1"}, {"error", "warning", "none"}),
        ("maven:g:a >=2", {"replaceable": "maven:g:a >=1"}, {"error", "hint", "none"}),
        ("maven:g:a >=2", {"replaceable": "maven:g:a"}, {"error", "hint"}),
    ],
)
def test_the_outcomes_that_a_rules_versions_tell_apart(
    gate: str, rule: dict[str, object], expected: set[str]
) -> None:
    made = pack(gate, **rule)
    assert list_testable_outcomes(made, made.rules[0]) == expected


@pytest.mark.parametrize(
    ("declares", "expected"),
    [
        ("npm:react 19.0.0", "error"),
        ("npm:react >=18", "warning"),
        ("npm:react", "hint"),
        ("npm:react ^18", "none"),
        ("pypi:react 19", "none"),
    ],
)
def test_a_case_of_another_ecosystem_has_its_outcome(declares: str, expected: str) -> None:
    made = pack("npm:react >=19")
    case = VersionCase(declares=Words([declares]), expect="none")
    assert outcome_of(made, made.rules[0], case) == expected


def test_a_module_that_does_not_open_the_pack_has_no_finding() -> None:
    made = pack("npm:react", requires="npm:next >=15")
    case = VersionCase(declares=Words(["npm:next 15.0.0"]), expect="none")
    assert outcome_of(made, made.rules[0], case) == "none"
