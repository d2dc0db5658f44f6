"""Reading what Node projects declare."""

from __future__ import annotations

import pytest

from prjury.manifests.formats import read_pnpm_lock, read_topmost_node_modules, reader_of
from prjury.manifests.manifest import Manifest, ManifestError, Role
from prjury.manifests.node import read_package_json, read_pnpm_workspace

PACKAGE = b"""{
  "name": "@scope/app",
  "version": "1.0.0",
  "packageManager": "pnpm@9.1.0+sha512.abc",
  "engines": { "node": ">=18", "npm": ">=9" },
  "keywords": ["react"],
  "peerDependencies": {
    "react": "^17.0.0 || ^18.0.0"
  },
  "dependencies": {
    "express": "^4.18.2",
    "lodash4": "npm:lodash@^4",
    "any": "*",
    "shared": "workspace:*",
    "ours": "catalog:",
    "theirs": "catalog:old"
  },
  "devDependencies": {
    "react": "^18.2.0",
    "odd": 7
  },
  "overrides": {
    "semver": "7.5.2",
    "foo": { ".": "1.0.0", "bar": "2.0.0" },
    "react": "$react"
  },
  "resolutions": { "**/minimist": "1.2.6", "a/b": "3" }
}
"""


def told(manifest: Manifest, role: Role = Role.DEPENDENCY) -> list[tuple[str, str | None]]:
    return [(c.artifact, c.version) for c in manifest.coordinates if c.role is role]


def test_a_package_json() -> None:
    manifest = read_package_json(PACKAGE)
    assert told(manifest) == [
        ("react", "^17.0.0 || ^18.0.0"),
        ("express", "^4.18.2"),
        ("lodash", "^4"),
        ("any", None),
        ("shared", "workspace:*"),
        ("ours", "${catalog:default:ours}"),
        ("theirs", "${catalog:old:theirs}"),
    ]
    assert told(manifest, Role.SELF) == [("@scope/app", "1.0.0")]
    assert told(manifest, Role.PLUGIN) == [("pnpm", "9.1.0")]
    assert told(manifest, Role.MANAGED) == [
        ("node", ">=18"),
        ("semver", "7.5.2"),
        ("foo", "1.0.0"),
        ("minimist", "1.2.6"),
    ]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not JSON"),
        (b"[]", "not a JSON object"),
        (b'{"a": ' * 3_000, "nested without end"),
        (b'{"dependencies": {"a": ' + b"9" * 5_000 + b"}}", "not JSON"),
        (b"// comment\n{}", "not JSON"),
    ],
)
def test_what_is_no_package_json(content: bytes, reason: str) -> None:
    with pytest.raises(ManifestError, match=reason):
        read_package_json(content)


def test_an_alias_beside_the_package_itself_is_for_other_imports() -> None:
    both = b'{"devDependencies": {"typescript56": "npm:typescript@5.6", "typescript": "6.0.3"}}'
    assert told(read_package_json(both)) == [("typescript", "6.0.3")]
    itself = b'{"dependencies": {"react": "npm:react@^19"}}'
    assert told(read_package_json(itself)) == [("react", "^19")]


def test_odd_types_are_passed_over() -> None:
    odd = b'{"name": 1, "dependencies": [], "overrides": {"a": {"b": 1}}, "engines": "x"}'
    assert read_package_json(odd).coordinates == ()


def test_catalogs_of_pnpm() -> None:
    content = b"""\
packages:
  - packages/*
catalog:
  ours: ^18.2.0
catalogs:
  old:
    theirs: "^17"
overrides:
  semver: 7.5.2
"""
    manifest = read_pnpm_workspace(content)
    assert manifest.properties == {
        "catalog:default:ours": "^18.2.0",
        "catalog:old:theirs": "^17",
    }
    assert told(manifest, Role.MANAGED) == [("semver", "7.5.2")]
    with pytest.raises(ManifestError, match="is not YAML"):
        read_pnpm_workspace(b"a: [")
    assert read_pnpm_workspace(b"- a\n") == Manifest()


def test_package_locks() -> None:
    new = b"""{"lockfileVersion": 3, "packages": {
      "": {"dependencies": {"a": "^1"}},
      "node_modules/a": {"version": "1.2.3"},
      "node_modules/@s/b": {"version": "2.0.0"},
      "node_modules/a/node_modules/@s/b": {"version": "1.0.0"},
      "node_modules/linked": {"link": true}
    }}"""
    assert told(read_topmost_node_modules(new), Role.LOCKED) == [("a", "1.2.3"), ("@s/b", "2.0.0")]
    old = b'{"lockfileVersion": 1, "dependencies": {"a": {"version": "1.2.3"}}}'
    assert told(read_topmost_node_modules(old), Role.LOCKED) == [("a", "1.2.3")]


YARN_1 = b"""\
# yarn lockfile v1


"@babel/core@^7.0.0", "@babel/core@^7.1.0":
  version "7.23.0"
  resolved "https://registry.yarnpkg.com/x"

react@^18.2.0:
  version "18.2.0"
  dependencies:
    loose-envify "^1.1.0"
"""


YARN_4 = b"""\
__metadata:
  version: 8

"@babel/core@npm:^7.0.0":
  version: 7.23.0
  resolution: "@babel/core@npm:7.23.0"

"react@npm:^18.2.0":
  version: 18.2.0
"""


def test_a_pnpm_lock() -> None:
    content = b"""\
lockfileVersion: '9.0'

importers:

  .:
    dependencies:
      react:
        specifier: ^18.2.0
        version: 18.2.0
      '@types/react':
        specifier: ^18
        version: 18.3.1(react@18.2.0)

packages:

  loose-envify@1.4.0:
    resolution: {integrity: x}
"""
    found = told(read_pnpm_lock(content), Role.LOCKED)
    assert found == [("react", "18.2.0"), ("@types/react", "18.3.1")]
    with pytest.raises(ManifestError, match="old form"):
        read_pnpm_lock(b"lockfileVersion: 5.3\n\nspecifiers:\n  a: 1\n")


@pytest.mark.parametrize("content", [YARN_1, YARN_4])
def test_yarn_locks(content: bytes) -> None:
    found = told(reader_of("yarn.lock", "")(content), Role.LOCKED)
    assert found == [("@babel/core", "7.23.0"), ("react", "18.2.0")]


@pytest.mark.parametrize(
    ("engines", "expected"), [("", "20.11.0"), (', "engines": {"node": ">=18"}', ">=18")]
)
def test_what_volta_pins_counts_where_no_engine_is_named(engines: str, expected: str) -> None:
    manifest = read_package_json(f'{{"volta": {{"node": "20.11.0"}}{engines}}}'.encode())
    [node] = [each for each in manifest.coordinates if each.ecosystem == "runtime"]
    assert node.version == expected
