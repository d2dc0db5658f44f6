"""Names and kinds, as a table."""

from __future__ import annotations

import pytest

from prjury.snapshot.kinds import holds_text, kind_of
from prjury.snapshot.model import FileKind

TABLE = {
    FileKind.SOURCE: "a.py src/A.java lib/x.RB main.go run Main.PY authors.py models/license.rb "
    "notice.java src/history.js query.sql web/app.vue latest/contest.py src/testimony.py "
    "words/words.txt notes.txt src/docs/data.txt pages/home.mdx "
    "src/main/java/com/acme/vendor/V.java app/vendor/models.py app/third_party/x.py X.g.java "
    "V.pb.java V.generated.java V.Designer.java generated-sources/V.java "
    "src/main/java/generated-sources/V.java src/target/generated-sources/V.java "
    "tools/install.bin tools/x.class a.db a.o src/app/prompts/system.md content/post.markdown "
    "pkg/templates/mail.md",
    FileKind.TEST: "tests/a.py test/a.rb src/test/java/A.java a/__tests__/b.js test_a.py "
    "pkg/conftest.py test.c src/unit_test.sh a_spec.lua bin/a.bats t/url.t "
    "a_test.go ATest.java ATests.kt AIT.java x.spec.ts x.test.tsx "
    "tests/golden/out.txt spec/a_spec.rb",
    FileKind.CONFIG: "pom.xml build.gradle.kts Makefile Dockerfile .github/workflows/ci.yml a.toml "
    ".github/prjury.yml requirements.txt requirements-dev.txt dev-requirements.txt "
    "requirements/base.txt constraints.txt CMakeLists.txt src/main/resources/words.txt .env "
    ".gitattributes",
    FileKind.DOCS: "README.md docs/a.adoc LICENSE CHANGELOG NEWS a.rst docs/notes.txt AUTHORS "
    "LICENSE.txt sub/README.mdx doc/paper.tex web/docs/a.org guide.md pkg/guide.md "
    "src/app/README.md "
    "docs/src/a.md src/main/antora/pages/a.adoc",
    FileKind.LOCK: "package-lock.json a/yarn.lock Cargo.lock go.sum uv.lock gradle.lockfile",
    FileKind.GENERATED: "a.min.js a_pb2.py a.pb.go x/__generated__/y.ts a.js.map a.snap "
    "target/generated-sources/A.java m/build/generated-sources/x/A.java a.g.dart a.g.cs "
    "a.designer.vb",
    FileKind.VENDORED: "vendor/a.go third_party/x.c a/node_modules/b/c.js src/node_modules/x.js",
    FileKind.BINARY: "a.png lib/x.jar data.npy model.safetensors a.TAR logo.ICO",
}


@pytest.mark.parametrize(
    ("path", "kind"), [(path, kind) for kind, paths in TABLE.items() for path in paths.split()]
)
def test_the_kind_of_a_name(path: str, kind: FileKind) -> None:
    assert kind_of(path) is kind


def test_modes_come_before_names() -> None:
    assert kind_of("README.md", "120000") is FileKind.SYMLINK
    assert kind_of("vendor/lib.py", "160000") is FileKind.SUBMODULE
    assert kind_of("a.py", "100755") is FileKind.SOURCE
    assert kind_of("bin/news", "100755") is kind_of("install.md", "100755") is FileKind.SOURCE
    assert kind_of("bin/news", "100644") is FileKind.DOCS


@pytest.mark.parametrize("path", ["a.py", "Makefile", "Dockerfile", ".gitattributes", "x.unknown"])
def test_binary_content_does_not_hide_a_file_that_should_hold_text(path: str) -> None:
    assert holds_text(path)
    assert kind_of(path, binary=True) is kind_of(path)


@pytest.mark.parametrize("path", ["tool", "a.png", ".DS_Store", "bin/busybox", "a.bin", "x.class"])
def test_binary_content_makes_other_files_binary(path: str) -> None:
    assert not holds_text(path)
    assert kind_of(path, binary=True) is FileKind.BINARY


def test_a_lock_file_stays_one_whatever_it_holds() -> None:
    assert kind_of("bun.lockb", binary=True) is FileKind.LOCK


@pytest.mark.parametrize("path", ["", ".", "a/", "\n", "a\nb.py", "\\xff.py", "x" * 5_000])
def test_odd_names_have_a_kind(path: str) -> None:
    assert kind_of(path) in FileKind
