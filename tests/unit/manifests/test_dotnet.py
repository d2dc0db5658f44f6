"""Reading what .NET projects declare."""

from __future__ import annotations

import pytest

from prjury.manifests.dotnet import read_msbuild
from prjury.manifests.manifest import Manifest, ManifestError, Role

PROJECT = b"""\
<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <TargetFrameworks>net6.0;net8.0</TargetFrameworks>
    <SerilogVersion>3.1.1</SerilogVersion>
  </PropertyGroup>
  <ItemGroup>
    <PackageReference Include="Newtonsoft.Json" Version="13.0.1" />
    <PackageReference Include="Serilog" Version="$(SerilogVersion)" />
    <PackageReference Include="Central" />
    <PackageReference Include="Mine" VersionOverride="2.0" />
    <PackageReference Include="Nested"><Version>1.*</Version></PackageReference>
    <!-- <PackageReference Include="Old" Version="1.0" /> -->
    <ProjectReference Include="../x.csproj" />
  </ItemGroup>
</Project>
"""


def told(manifest: Manifest, role: Role = Role.DEPENDENCY) -> list[tuple[str, str | None]]:
    return [(c.artifact, c.version) for c in manifest.coordinates if c.role is role]


def test_a_project() -> None:
    manifest = read_msbuild(PROJECT)
    assert told(manifest) == [
        ("newtonsoft.json", "13.0.1"),
        ("serilog", "${SerilogVersion}"),
        ("central", None),
        ("mine", "2.0"),
        ("nested", "1.*"),
    ]
    assert told(manifest, Role.MANAGED) == [("dotnet", "net6.0;net8.0")]
    assert manifest.properties["SerilogVersion"] == "3.1.1"
    assert [c.lines for c in manifest.coordinates] == [(3,), (7,), (8,), (9,), (10,), (11,)]


def test_central_versions() -> None:
    content = b"""\
<Project>
  <ItemGroup>
    <PackageVersion Include="Central" Version="4.0" />
    <GlobalPackageReference Include="Analyzers" Version="1.0" />
  </ItemGroup>
</Project>"""
    manifest = read_msbuild(content)
    assert told(manifest, Role.MANAGED) == [("central", "4.0")]
    assert told(manifest) == [("analyzers", "1.0")]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not XML"),
        (b"<x/>", "no <Project>"),
        (b"<!DOCTYPE x [<!ENTITY a 'b'>]><Project/>", "DTD"),
        (b"<Project>" + b"<a>" * 100, "nested deeper"),
    ],
)
def test_what_is_no_project(content: bytes, reason: str) -> None:
    with pytest.raises(ManifestError, match=reason):
        read_msbuild(content)
