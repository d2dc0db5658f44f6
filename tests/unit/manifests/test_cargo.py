"""Reading what projects of Rust, Go and .NET declare."""

from __future__ import annotations

import pytest

from prjury.manifests.cargo import read_cargo_toml, read_toolchain
from prjury.manifests.dotnet import read_msbuild
from prjury.manifests.formats import reader_of
from prjury.manifests.go import read_go_mod_or_work
from prjury.manifests.manifest import Manifest, ManifestError, Role

CARGO = b"""\
[package]
name = "app"
version = "0.2.0"
edition = "2021"
rust-version = "1.70"

[dependencies]
serde = { version = "1.0", features = ["derive"] }
rand_old = { package = "rand", version = "0.7" }
local = { path = "../local" }
shared.workspace = true
any = "*"

[dev-dependencies.tokio]
version = "1"

[target.'cfg(unix)'.dependencies]
nix = "0.27"

[build-dependencies]
cc = "1"
"""


def told(manifest: Manifest, role: Role = Role.DEPENDENCY) -> list[tuple[str, str | None]]:
    return [(c.artifact, c.version) for c in manifest.coordinates if c.role is role]


def test_a_cargo_toml() -> None:
    manifest = read_cargo_toml(CARGO)
    assert told(manifest) == [
        ("serde", "1.0"),
        ("rand", "0.7"),
        ("local", None),
        ("shared", "${workspace.dependencies.shared}"),
        ("any", None),
        ("nix", "0.27"),
        ("tokio", "1"),
        ("cc", "1"),
    ]
    assert told(manifest, Role.MANAGED) == [("rust", "1.70"), ("rust-edition", "2021")]
    assert told(manifest, Role.SELF) == [("app", "0.2.0")]
    lines = {c.artifact: c.lines for c in manifest.coordinates}
    assert (lines["serde"], lines["rand"], lines["tokio"]) == ((8,), (9,), (14,))
    assert lines["shared"] == (11,)


def test_a_package_without_an_edition_is_of_2015() -> None:
    manifest = read_cargo_toml(b'[package]\nname = "a"\n')
    assert told(manifest, Role.MANAGED) == [("rust-edition", "2015")]


def test_a_workspace_offers_its_members_versions() -> None:
    content = b"""\
[workspace.package]
edition = "2024"
rust-version = "1.85"
authors = ["a"]
[workspace.dependencies]
shared = { version = "3", default-features = false }
plain = "1"
"""
    manifest = read_cargo_toml(content)
    assert manifest.properties == {
        "workspace.package.edition": "2024",
        "workspace.package.rust-version": "1.85",
        "workspace.dependencies.shared": "3",
        "workspace.dependencies.plain": "1",
    }
    assert told(manifest, Role.MANAGED) == [("shared", "3"), ("plain", "1")]


def test_a_lock() -> None:
    lock = b'version = 3\n\n[[package]]\nname = "serde"\nversion = "1.0.1"\n'
    assert told(reader_of("Cargo.lock", "")(lock), Role.LOCKED) == [("serde", "=1.0.1")]


@pytest.mark.parametrize(
    ("content", "version"),
    [
        (b"1.75.0\n", "1.75.0"),
        (b'[toolchain]\nchannel = "1.70"\n', "1.70"),
        (b'[toolchain]\nchannel = "stable"\n', None),
        (b"nightly-2024-01-01", None),
    ],
)
def test_a_toolchain(content: bytes, version: str | None) -> None:
    assert [c.version for c in read_toolchain(content).coordinates] == (
        [version] if version else []
    )


GO_MOD = b"""\
// Deprecated: use v2
module "example.org/app"

go 1.21
toolchain go1.22.1

require (
	github.com/a/b v1.2.3
	github.com/c/d/v2 v2.0.0+incompatible // indirect
	golang.org/x/net v0.0.0-20200101000000-abcdefabcdef
)
require example.org/one v1.0.0 // the one

replace (
	github.com/a/b => github.com/fork/b v1.9.0
	golang.org/x/net v0.0.0-20200101000000-abcdefabcdef => ../net
)
replace example.org/far => example.org/far v3.0.0
exclude example.org/one v1.0.1
retract [v1.0.0, v1.0.5]
tool golang.org/x/tools/cmd/stringer
"""


def test_a_go_mod() -> None:
    manifest = read_go_mod_or_work(GO_MOD)
    assert told(manifest) == [
        ("github.com/a/b", "v1.9.0"),
        ("github.com/fork/b", "v1.9.0"),
        ("golang.org/x/net", None),
        ("example.org/one", "v1.0.0"),
    ]
    assert told(manifest, Role.LOCKED) == [("github.com/c/d/v2", "v2.0.0+incompatible")]
    assert told(manifest, Role.MANAGED) == [("go", "1.21"), ("example.org/far", "v3.0.0")]
    assert told(manifest, Role.SELF) == [("example.org/app", None)]
    assert told(manifest, Role.PLUGIN) == [("golang.org/x/tools/cmd/stringer", None)]
    lines = {c.artifact: c.lines for c in manifest.coordinates}
    assert (lines["github.com/a/b"], lines["example.org/one"], lines["go"]) == ((8,), (12,), (4,))


def test_a_workspace() -> None:
    manifest = read_go_mod_or_work(b"go 1.22\r\n\r\nuse (\r\n\t.\r\n\t./tools\r\n)\r\n")
    assert told(manifest, Role.MANAGED) == [("go", "1.22")]


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


def test_what_is_no_project() -> None:
    with pytest.raises(ManifestError, match="no <Project>"):
        read_msbuild(b"<x/>")
