"""Rules that look for a dependency in a build file, by name, version and role."""

from __future__ import annotations

import pytest
from msgspec import ValidationError

from prjury.code.languages import LANGUAGES
from prjury.code.source import Source
from prjury.judges.patterns.match import ActiveRule, FileScan
from prjury.policy.fields import convert_section
from prjury.rulepacks.rule import ManifestMatch, Pack

POM = """\
<project><properties><v>1.5</v></properties><dependencies><dependency><groupId>g</groupId>
<artifactId>a</artifactId><version>${v}</version></dependency></dependencies></project>
"""


def found(language: str, path: str, text: str, **manifest: object) -> list[int]:
    """The lines in which a rule with that matcher finds something."""
    pack = convert_section(
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
        },
        Pack,
    )
    source = Source.of(text, LANGUAGES[language])
    scan = FileScan(path, source, text.encode(), [ActiveRule(pack, pack.rules[0])])
    return [hit.lines[0] for hit in scan.hits(None)]


#: Fields that a rule may have to have besides.
_EVIDENCE: dict[str, object] = {}


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
        convert_section(manifest, ManifestMatch)
