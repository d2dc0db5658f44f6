"""Reading what Rust projects declare."""

from __future__ import annotations

import pytest

from prjury.manifests.cargo import read_cargo_toml, read_toolchain
from prjury.manifests.formats import reader_of
from prjury.manifests.manifest import Manifest, Role

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
