"""Logs that were captured from tools themselves, and the tree in which the tools ran."""

from __future__ import annotations

from pathlib import Path

from prjury.judges.builds.failure import Failure, Results
from prjury.judges.builds.results.read import LogResults, merge_results, read_log
from prjury.judges.builds.results.tree import TemporaryPaths, TreeFiles

LOGS = Path(__file__).parents[1] / "unit" / "judges" / "builds" / "logs"
TREE = Path("/tmp/prjury-x/tree")
PLACES = TemporaryPaths(TREE, TREE.parent)
KNOWN = frozenset(
    "a.go a_test.go sub/a_test.go sub/b_test.go crash/c_test.go hang/h_test.go broken/b_test.go "
    "vetted/v_test.go green/g_test.go src/lib.rs src/other.rs a/src/lib.rs a/tests/it.rs "
    "b/src/main.rs Cargo.toml a.c a.h b.h sub/link.c sub/inc.c Makefile sub/Makefile t.cpp a.ts "
    "b.ts "
    "a.js b.js deep.js run.js eslint.config.js a.test.js b.test.js c.test.js d.test.js helper.js "
    "src/a.test.js a.test.mjs b.test.mjs c.test.mjs d.test.mjs helper.mjs test/a.js test/a.test.js "
    "test/b.test.js test/c.test.js test/d.test.js packages/a/package.json packages/a/a.ts "
    "packages/a/test/a.test.js packages/b/package.json packages/b/a.ts packages/b/test/a.test.js "
    "pom.xml A.java src/main/java/p/A.java src/main/java/p/B.java src/main/scala/A.scala "
    "src/main/kotlin/A.kt src/main/groovy/A.groovy src/test/java/p/FooTest.java "
    "one/src/test/java/p/ATest.java one/src/test/java/p/SetupTest.java a.py b.py c.py crash.py "
    "sub.py tests/__init__.py tests/test_a.py tests/test_b.py tests/test_c.py tests/test_u.py "
    "test_doc.txt a.cs a.csproj sub/meson.build CMakeLists.txt lib/calc.rb test/calc_test.rb "
    "spec/calc_spec.rb".split()
)


def read_step(
    content: str | bytes, tmp_path: Path, known: frozenset[str] = KNOWN, *, failed: bool = True
) -> LogResults:
    """Read the log of one step."""
    log = tmp_path / "log"
    content = content.encode() if isinstance(content, str) else content
    log.write_bytes(content.replace(b"{tree}", str(TREE).encode()))
    return read_log(log, TreeFiles(known), PLACES.make_paths_relative, failed=failed)


def read_failed(
    content: str | bytes, tmp_path: Path, known: frozenset[str] = KNOWN
) -> tuple[tuple[Failure, ...], Results]:
    """Read the failures and the tests in the log of a step that failed."""
    return merge_results([read_step(content, tmp_path, known)], Results(), expected=False)
