"""Rules that look for a dependency in a build file, by name, version and role."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from prjury.code.languages import LANGUAGES
from prjury.code.source import Source
from prjury.judges.patterns.match import Active, FileScan
from prjury.rulepacks.rule import ManifestMatch, Pack

WORKFLOW = """\
jobs:
  a:
    steps:
      - uses: actions/cache@v2
      - uses: actions/cache/restore@v3.0.1
      - uses: Actions/Cache@0123456789012345678901234567890123456789 # v1.2.0
      - uses: actions/cache@main
"""

POM = """\
<project><properties><v>1.5</v></properties><dependencies><dependency><groupId>g</groupId>
<artifactId>a</artifactId><version>${v}</version></dependency></dependencies></project>
"""


def found(language: str, path: str, text: str, **manifest: object) -> list[int]:
    """The lines in which a rule with that matcher finds something."""
    pack = Pack.model_validate(
        {
            "id": "p",
            "title": "P",
            "gate": "always",
            "rules": [
                {
                    "id": "r",
                    "title": "R",
                    "why": "because",
                    "literals": ["abc"],
                    "match": [{"languages": [language], "manifest": manifest}],
                    "message": "m",
                    "severity": "warning",
                    "confidence": "high",
                    "references": ["https://example.org"],
                    **_EVIDENCE,
                }
            ],
        }
    )
    source = Source.of(text, LANGUAGES[language])
    scan = FileScan(path, source, text.encode(), [Active(pack, pack.rules[0])])
    return [hit.lines[0] for hit in scan.hits(None)]


#: Fields that a rule may have to have besides.
_EVIDENCE: dict[str, object] = {}


@pytest.mark.parametrize(
    ("manifest", "lines"),
    [
        ({"dependencies": ["actions/cache"]}, [4, 6, 7]),
        ({"dependencies": "actions/cache*"}, [4, 5, 6, 7]),
        ({"dependencies": "actions/cache*", "versions": "<3"}, [4, 6]),
        ({"dependencies": "actions/cache*", "versions": ">=2 <4"}, [4, 5]),
        ({"dependencies": "actions/*", "except": "actions/cache"}, [5]),
        ({"dependencies": "actions/cache", "roles": ["plugin"]}, []),
    ],
)
def test_actions(manifest: dict[str, object], lines: list[int]) -> None:
    assert found("workflow", ".github/workflows/ci.yml", WORKFLOW, **manifest) == lines


@pytest.mark.parametrize(
    ("language", "path", "text", "name", "versions"),
    [
        ("npm", "package.json", '{"dependencies":\n{"node-fetch": "^2.6"}}', "node-fetch", "<3"),
        ("npm", "package.json", '{"engines":\n{"node": "16.x"}}', "runtime:node", "<18"),
        ("pypi", "requirements.txt", "# x\nDjango==3.2\n", "django", "<4"),
        ("pypi", "Requirements/a.TXT", "# x\nDjango==3.2\n", "django", "<4"),
        ("pypi", "pyproject.toml", "[project]\ndependencies=['Django~=3.2']\n", "django", "<4"),
        ("gomod", "go.mod", "module a\nrequire b.c/d v1.0.0\n", "b.c/d", "<2"),
        ("cargo", "Cargo.toml", "[dependencies]\nrand = '0.7'\n", "rand", "<0.8"),
        ("nuget", "a.csproj",
         '<Project><ItemGroup>\n<PackageReference Include="X" Version="1"/></ItemGroup></Project>',
         "x", "<2"),
        ("nuget", "Directory.Packages.props",
         '<Project><ItemGroup>\n<PackageVersion Include="X" Version="1.0"/></ItemGroup></Project>',
         "x", "<2"),
        ("gradle", "a/deps.gradle", "v = '1.5'\nimplementation \"g:a:$v\"\n", "g:a", "<2"),
        ("maven", "pom.xml", POM, "g:a", "<2"),
    ],
)  # fmt: skip
def test_every_format(language: str, path: str, text: str, name: str, versions: str) -> None:
    assert found(language, path, text, dependencies=[name], versions=versions) == [2]
    assert found(language, path, text, dependencies=[name]) == [2]
    assert found(language, path, text, dependencies=[name], versions=">=99") == []
    assert found(language, path, text, dependencies=["other"]) == []


def test_a_version_that_may_be_outside_does_not_count() -> None:
    wanted = {"dependencies": ["django"], "versions": "<4"}
    for told in ("Django", "Django>=3", "Django!=3", "Django @ https://example.org/x.zip"):
        assert found("pypi", "requirements.txt", f"{told}\n", **wanted) == []


def test_plugins_only_where_a_rule_asks_for_them() -> None:
    text = "[build-system]\nrequires = ['setuptools>=40,<60']\n"
    assert found("pypi", "pyproject.toml", text, dependencies=["setuptools"]) == []
    wanted = {"dependencies": ["setuptools"], "roles": ["plugin"], "versions": "<60"}
    assert found("pypi", "pyproject.toml", text, **wanted) == [2]


@pytest.mark.parametrize(
    ("manifest", "reason"),
    [
        ({"dependencies": ["a"], "versions": "3"}, "are no versions"),
        ({"plugin": "a:b", "settings": {"a": "b"}, "versions": "<3"}, "are those of"),
        ({"dependencies": ["a"], "roles": ["lock"]}, "roles"),
    ],
)
def test_what_a_rule_must_not_say(manifest: dict[str, object], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        ManifestMatch.model_validate(manifest)
