"""Reading go.mod and go.work."""

from __future__ import annotations

from prjury.manifests.go import read_go_mod
from prjury.manifests.manifest import Manifest, Role

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


def told(manifest: Manifest, role: Role = Role.DEPENDENCY) -> list[tuple[str, str | None]]:
    return [(c.artifact, c.version) for c in manifest.coordinates if c.role is role]


def test_a_go_mod() -> None:
    manifest = read_go_mod(GO_MOD)
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
    manifest = read_go_mod(b"go 1.22\r\n\r\nuse (\r\n\t.\r\n\t./tools\r\n)\r\n")
    assert told(manifest, Role.MANAGED) == [("go", "1.22")]
