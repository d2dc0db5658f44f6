"""What test runners tell of single tests; the logs were captured from the runners themselves."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from prjury.judges.builds.failure import Failure, Results, make_failure
from prjury.judges.builds.results.log import transcribe
from prjury.judges.builds.results.read import LogResults, merge_results, read_log, root_cause
from prjury.judges.builds.results.runner_output import RunnerOutput, ambiguous
from prjury.judges.builds.results.tree import TemporaryPaths, TreeFiles

LOGS = Path(__file__).parent / "logs"
TREE = Path("/tmp/prjury-x/tree")
PLACES = TemporaryPaths(TREE, TREE.parent)
KNOWN = frozenset(
    "a.go a_test.go sub/a_test.go sub/b_test.go crash/c_test.go hang/h_test.go broken/b_test.go "
    "vetted/v_test.go green/g_test.go src/lib.rs a/src/lib.rs a/tests/it.rs b/src/main.rs "
    "a.test.js b.test.js c.test.js d.test.js helper.js src/a.test.js a.test.mjs b.test.mjs "
    "c.test.mjs d.test.mjs helper.mjs test/a.js test/a.test.js test/b.test.js test/c.test.js "
    "test/d.test.js packages/a/package.json packages/a/test/a.test.js packages/b/package.json "
    "packages/b/test/a.test.js src/test/java/p/FooTest.java one/src/test/java/p/ATest.java "
    "one/src/test/java/p/SetupTest.java tests/__init__.py tests/test_a.py tests/test_b.py "
    "tests/test_c.py tests/test_u.py".split()
)


@dataclass(frozen=True)
class Expected:
    """What a log is to tell.

    `tests` are place, message and id of the failing tests, `others` kind, place and message of the
    other failures, `passed` the ids of the tests that are known to have passed.
    """

    tests: list[tuple[str, str, str]]
    others: list[tuple[str, str, str]] = field(default_factory=list)
    passed: list[str] | None = None
    counted: int = 0
    doubts: list[str] = field(default_factory=list)


def read(
    content: str, tmp_path: Path, known: frozenset[str] = KNOWN, *, failed: bool = True
) -> LogResults:
    log = tmp_path / "log"
    log.write_bytes(content.replace("{tree}", str(TREE)).encode())
    return read_log(log, TreeFiles(known), PLACES.relative, failed=failed)


def told(
    content: str, tmp_path: Path, known: frozenset[str] = KNOWN
) -> tuple[tuple[Failure, ...], Results]:
    """The failures and the tests in a log of a step that failed."""
    return merge_results([read(content, tmp_path, known)], Results(), reported=False)


TOLD: dict[str, Expected] = {
    "go-json": Expected(
        [
            ("a_test.go:11", "got 2, want 3", "test:example.com/m:TestAdd"),
            ("a_test.go:23", "no", "test:example.com/m:TestTable/three"),
            ("", "got: 3 want: 4", "test:example.com/m:ExampleAdd"),
            (
                "sub/b_test.go:9",
                "panic: assignment to entry in nil map [recovered, repanicked]",
                "test:example.com/m/sub:TestPanics",
            ),
            (
                "hang/h_test.go:10",
                "panic: test timed out after 3s",
                "test:example.com/m/hang:TestHangs",
            ),
        ],
        others=[
            ("compile", "broken/b_test.go:5", "undefined: undefinedFn"),
            ("compile", "broken/b_test.go:5", "declared and not used: x"),
            (
                "compile",
                "broken/b_test.go:5",
                'cannot use "s" (untyped string constant) as int value in variable declaration',
            ),
            (
                "compile",
                "vetted/v_test.go:8",
                'fmt.Printf format %d has arg "x" of wrong type string',
            ),
            ("error", "", "no database"),
            ("goal", "", "FAIL example.com/m/broken [build failed]"),
            ("goal", "", "FAIL example.com/m/vetted [build failed]"),
        ],
        passed=[
            "test:example.com/m:TestOk",
            "test:example.com/m:TestTable/one_two",
            "test:example.com/m:TestTable",
            "test:example.com/m/green:TestG",
            "test:example.com/m/hang:TestQuick",
            "test:example.com/m/sub:TestFine",
        ],
        doubts=[
            "the tests of the package example.com/m/sub stopped early",
            "the tests of the package example.com/m/hang stopped early",
        ],
    ),
    "go-plain": Expected(
        [
            ("a_test.go:11", "got 2, want 3", "test:example.com/m:TestAdd"),
            ("a_test.go:23", "no", "test:example.com/m:TestTable/three"),
            ("", "got: 3 want: 4", "test:example.com/m:ExampleAdd"),
            (
                "sub/b_test.go:9",
                "panic: assignment to entry in nil map [recovered, repanicked]",
                "test:example.com/m/sub:TestPanics",
            ),
        ],
        others=[
            ("compile", "broken/b_test.go:5", "undefined: undefinedFn"),
            ("compile", "broken/b_test.go:5", "declared and not used: x"),
            (
                "compile",
                "broken/b_test.go:5",
                'cannot use "s" (untyped string constant) as int value in variable declaration',
            ),
            (
                "compile",
                "vetted/v_test.go:8",
                'fmt.Printf format %d has arg "x" of wrong type string',
            ),
            ("error", "", "no database"),
            ("error", "", "panic: test timed out after 3s"),
            ("goal", "", "FAIL example.com/m/broken [build failed]"),
            ("goal", "", "FAIL example.com/m/vetted [build failed]"),
        ],
        doubts=[
            "the tests of the package example.com/m/hang stopped early",
            "the tests of the package example.com/m/sub stopped early",
        ],
    ),
    "go-v": Expected(
        [
            ("a_test.go:11", "got 2, want 3", "test:example.com/m:TestAdd"),
            ("a_test.go:23", "no", "test:example.com/m:TestTable/three"),
            ("", "got: 3 want: 4", "test:example.com/m:ExampleAdd"),
            (
                "hang/h_test.go:10",
                "panic: test timed out after 3s",
                "test:example.com/m/hang:TestHangs",
            ),
            (
                "sub/b_test.go:9",
                "panic: assignment to entry in nil map [recovered, repanicked]",
                "test:example.com/m/sub:TestPanics",
            ),
        ],
        others=[
            ("compile", "broken/b_test.go:5", "undefined: undefinedFn"),
            ("compile", "broken/b_test.go:5", "declared and not used: x"),
            (
                "compile",
                "broken/b_test.go:5",
                'cannot use "s" (untyped string constant) as int value in variable declaration',
            ),
            (
                "compile",
                "vetted/v_test.go:8",
                'fmt.Printf format %d has arg "x" of wrong type string',
            ),
            ("error", "", "no database"),
            ("goal", "", "FAIL example.com/m/broken [build failed]"),
            ("goal", "", "FAIL example.com/m/vetted [build failed]"),
        ],
        doubts=[
            "the tests of the package example.com/m/hang stopped early",
            "the tests of the package example.com/m/sub stopped early",
        ],
    ),
    "go-cached": Expected(
        [],
        passed=[
            "test:example.com/m/green:TestG",
        ],
    ),
    "go-test": Expected(
        [
            ("a_test.go:5", "no", "test:example.com/m:TestY"),
            ("sub/a_test.go:6", "got 3", "test:example.com/m/sub:TestX/inner_case"),
            (
                "sub/a_test.go:9",
                "panic: oh [recovered, repanicked]",
                "test:example.com/m/sub:TestPanic",
            ),
        ],
        doubts=[
            "the tests of the package example.com/m/sub stopped early",
        ],
    ),
    "go-test-build": Expected(
        [],
        others=[
            ("compile", "a_test.go:5", "undefined: undefinedFn"),
            ("goal", "", "FAIL example.com/m [build failed]"),
        ],
    ),
    "gotestsum": Expected(
        [],
        others=[
            ("compile", "broken/b_test.go:5", "undefined: undefinedFn"),
            ("compile", "broken/b_test.go:5", "declared and not used: x"),
            (
                "compile",
                "broken/b_test.go:5",
                'cannot use "s" (untyped string constant) as int value in variable declaration',
            ),
            (
                "compile",
                "vetted/v_test.go:8",
                'fmt.Printf format %d has arg "x" of wrong type string',
            ),
            ("error", "", "no database"),
            ("error", "", "panic: test timed out after 3s"),
            ("goal", "", "FAIL example.com/m/broken [build failed]"),
            ("goal", "", "FAIL example.com/m/vetted [build failed]"),
        ],
        doubts=[
            "the tests of the package example.com/m/hang stopped early",
        ],
    ),
    "cargo-test": Expected(
        [
            ("", 'Error: "bad"', "test::tests::res"),
            (
                "src/lib.rs:7",
                "assertion `left == right` failed: wrong answer (left: 1, right: 2)",
                "test::tests::it_fails",
            ),
        ],
        others=[
            ("goal", "", "test failed: --lib"),
        ],
        counted=3,
    ),
    "cargo-test-ws": Expected(
        [
            (
                "a/src/lib.rs:44",
                "note: test did not panic as expected at a/src/lib.rs:44:8",
                "test:a/src/lib.rs:tests::does_not_panic",
            ),
            ("", 'Error: "bad"', "test:a/src/lib.rs:tests::returns"),
            (
                "a/src/lib.rs:21",
                "assertion `left == right` failed: wrong answer (left: 2, right: 3)",
                "test:a/src/lib.rs:tests::adds",
            ),
            ("a/tests/it.rs:6", "oh", "test:a/tests/it.rs:fails"),
            (
                "a/src/lib.rs:7",
                "assertion `left == right` failed (left: 2, right: 3)",
                "test:doc-tests a:a/src/lib.rs - add",
            ),
        ],
        others=[
            (
                "error",
                "",
                "test failed: -p b-pkg --bin b-pkg (signal: 6, SIGABRT: process abort signal)",
            ),
            ("goal", "", "test failed: -p a --lib"),
            ("goal", "", "test failed: -p a --test it"),
            ("goal", "", "test failed: -p a --doc"),
        ],
        passed=[
            "test:a/src/lib.rs:tests::fine",
            "test:a/src/lib.rs:tests::panics",
            "test:a/tests/it.rs:fine",
        ],
        doubts=[
            "the tests of b/src/main.rs stopped early",
            "several tests are called doc-tests a:a/src/lib.rs - add, and not all of them failed",
        ],
    ),
    "cargo-test-q": Expected(
        [
            (
                "a/src/lib.rs:44",
                "note: test did not panic as expected at a/src/lib.rs:44:8",
                "test::tests::does_not_panic",
            ),
            (
                "a/src/lib.rs:21",
                "assertion `left == right` failed: wrong answer (left: 2, right: 3)",
                "test::tests::adds",
            ),
            ("", 'Error: "bad"', "test::tests::returns"),
            ("a/tests/it.rs:6", "oh", "test::fails"),
            (
                "a/src/lib.rs:7",
                "assertion `left == right` failed (left: 2, right: 3)",
                "test::a/src/lib.rs - add",
            ),
        ],
        others=[
            (
                "error",
                "",
                "test failed: -p b-pkg --bin b-pkg (signal: 6, SIGABRT: process abort signal)",
            ),
            ("goal", "", "test failed: -p a --lib"),
            ("goal", "", "test failed: -p a --test it"),
            ("goal", "", "test failed: -p a --doc"),
        ],
        counted=9,
        doubts=[
            "the tests of a test program stopped early",
        ],
    ),
    "jest": Expected(
        [
            (
                "src/a.test.js:3",
                "expect(received).toBe(expected) // Object.is equality (Expected: 3, Received: 2)",
                "test:src/a.test.js:sum › adds",
            ),
        ],
        passed=[
            "test:src/a.test.js:sum › ok",
        ],
    ),
    "jest-verbose": Expected(
        [
            (
                "a.test.js:3",
                "expect(received).toBe(expected) // Object.is equality (Expected: 3, Received: 2)",
                "test:a.test.js:sum › adds",
            ),
            (
                "a.test.js:7",
                "expect(received).toBe(expected) // Object.is equality (Expected: 1, Received: 2)",
                "test:a.test.js:sum › deep › case 2",
            ),
            ("helper.js:2", "TypeError: boom", "test:a.test.js:sum › thrown"),
        ],
        others=[
            ("compile", "d.test.js:2", "SyntaxError: Unexpected token"),
            ("compile", "c.test.js:1", "Cannot find module './gone' from 'c.test.js'"),
        ],
        passed=[
            "test:a.test.js:sum › fine",
            "test:a.test.js:sum › deep › case 1",
            "test:b.test.js:ok",
            "test:b.test.js:sum › adds",
        ],
    ),
    "nextest": Expected(
        [
            (
                "a/src/lib.rs:44",
                "note: test did not panic as expected at a/src/lib.rs:44:8",
                "test:a:tests::does_not_panic",
            ),
            (
                "a/src/lib.rs:21",
                "assertion `left == right` failed: wrong answer (left: 2, right: 3)",
                "test:a:tests::adds",
            ),
            ("", 'Error: "bad"', "test:a:tests::returns"),
            ("", "SIGABRT", "test:b-pkg::bin/b-pkg:crashes"),
            ("a/tests/it.rs:6", "oh", "test:a::it:fails"),
        ],
        passed=[
            "test:a:tests::fine",
            "test:a:tests::panics",
            "test:a::it:fine",
            "test:b-pkg::bin/b-pkg:fine",
        ],
    ),
    "vitest": Expected(
        [
            (
                "src/a.test.js:5",
                "AssertionError: expected 2 to be 3 // Object.is equality",
                "test:src/a.test.js:sum > adds",
            ),
        ],
        counted=1,
    ),
    "vitest-verbose": Expected(
        [
            (
                "a.test.mjs:3",
                "AssertionError: expected 2 to be 3 // Object.is equality",
                "test:a.test.mjs:sum > adds",
            ),
            (
                "a.test.mjs:7",
                "AssertionError: expected 2 to be 1 // Object.is equality",
                "test:a.test.mjs:sum > deep > case 2",
            ),
            ("helper.mjs:2", "TypeError: boom", "test:a.test.mjs:sum > thrown"),
        ],
        others=[
            (
                "compile",
                "c.test.mjs:1",
                "Error: Cannot find module './gone.mjs' imported from c.test.mjs",
            ),
            (
                "compile",
                "d.test.mjs:1",
                "RolldownError: Parse failure: Parse failed with 1 error: Unexpected token",
            ),
        ],
        passed=[
            "test:a.test.mjs:sum > fine",
            "test:a.test.mjs:sum > deep > case 1",
            "test:b.test.mjs:ok",
            "test:b.test.mjs:sum › adds",
        ],
    ),
    "mocha": Expected(
        [
            (
                "test/a.js:3",
                "AssertionError [ERR_ASSERTION]: Expected values to be strictly equal: 2 !== 3",
                "test::sum > adds",
            ),
            ("test/a.js:7", "TypeError: boom", "test::sum > deep > thrown"),
        ],
        others=[
            ("error", "test/a.js:8", 'sum > hook > "before all" hook for "never": Error: no db'),
        ],
        passed=[
            "test::top",
            "test::sum > fine",
        ],
    ),
    "uvu": Expected(
        [
            (
                "test/a.test.js:3",
                "Expected values to be strictly equal: ++3 (Expected) --2 (Actual)",
                "test:a.test.js:adds",
            ),
            ("test/b.test.js:3", "boom", "test:b.test.js:thrown"),
        ],
        counted=3,
    ),
    "vitest-tap": Expected(
        [
            (
                "src/a.test.js:3",
                "expected 2 to be 3 // Object.is equality",
                "test:src/a.test.js:sum > adds",
            ),
            ("helper.mjs:2", "boom", "test:src/a.test.js:sum > thrown"),
            ("src/a.test.js:7", "first", "test:src/a.test.js:sum > lines"),
        ],
        others=[
            ("error", "", "Vitest caught 1 unhandled error during the test run"),
            (
                "error",
                "",
                (
                    "src/c.test.js: Failed to load url ./gone.mjs (resolved id: ./gone.mjs) in "
                    "src/c.test.js. Does the file exist?"
                ),
            ),
        ],
        passed=[
            "test:src/a.test.js:sum > fine # 1",
            "test:src/a.test.js:sum > ends late",
            "test:src/a.test.js:top",
        ],
    ),
    "mocha-tap": Expected(
        [
            ("test/a.js:3", "Expected values to be strictly equal: 2 !== 3", "test::sum adds"),
            ("test/a.js:7", "boom", "test::sum deep thrown"),
            ("test/a.js:8", "no db", 'test::sum hook "before all" hook for "never"'),
        ],
        passed=[
            "test::top",
            "test::sum fine",
        ],
    ),
    "node-tap": Expected(
        [
            ("a.test.js:3", "Expected values to be strictly equal: 1 !== 2", "test::adds"),
            ("a.test.js:5", "boom", "test::suite > inner"),
        ],
        passed=[
            "test::ok",
        ],
    ),
    "node-spec": Expected(
        [
            (
                "a.test.js:3",
                "AssertionError [ERR_ASSERTION]: Expected values to be strictly equal: 1 !== 2",
                "test::adds",
            ),
            ("a.test.js:5", "Error: boom", "test::suite > inner"),
        ],
        passed=[
            "test::ok",
        ],
    ),
    "node-tap-files": Expected(
        [
            ("test/a.test.js:3", "Expected values to be strictly equal: 2 !== 3", "test::adds"),
            ("test/a.test.js:7", "boom", "test::suite > inner"),
            ("test/a.test.js:8", "c", "test::parent > child 2"),
        ],
        others=[
            ("error", "test/c.test.js", "Error: Cannot find module './gone'"),
            ("error", "test/d.test.js", "test failed"),
        ],
        passed=[
            "test::ok",
            "test::suite > fine",
            "test::parent > child # 1",
            "test::parent",
            "test::ok",
        ],
        doubts=[
            "several tests are called :adds, and not all of them failed",
        ],
    ),
    "node-spec-files": Expected(
        [
            (
                "test/a.test.js:3",
                "AssertionError [ERR_ASSERTION]: Expected values to be strictly equal: 2 !== 3",
                "test::adds",
            ),
            ("test/a.test.js:7", "Error: boom", "test::suite > inner"),
            ("test/a.test.js:8", "Error: c", "test::parent > child 2"),
        ],
        others=[
            ("error", "test/c.test.js", "Error: Cannot find module './gone'"),
            ("error", "test/d.test.js", "test failed"),
        ],
        counted=11,
    ),
    "npm-ws": Expected(
        [
            (
                "packages/a/test/a.test.js:2",
                "Expected values to be strictly equal: 1 !== 2",
                "test:packages/a:adds",
            ),
        ],
        others=[
            ("goal", "", "npm script test failed"),
        ],
        passed=[
            "test:packages/b:adds",
        ],
    ),
    "pnpm-ws": Expected(
        [
            (
                "packages/a/test/a.test.js:2",
                "Expected values to be strictly equal: 1 !== 2",
                "test:packages/a:adds",
            ),
        ],
        others=[
            ("goal", "", "[ELIFECYCLE] Test failed. See above for more details."),
        ],
        passed=[
            "test:packages/b:adds",
        ],
    ),
    "pytest": Expected(
        [
            (
                "tests/test_a.py:4",
                "AssertionError: not two",
                "test:tests/test_a.py:tests.test_a#test_bad",
            ),
            (
                "tests/test_a.py:13",
                "ValueError: boom",
                "test:tests/test_a.py:tests.test_a#test_p[x y]",
            ),
            (
                "tests/test_u.py:4",
                "AssertionError: 1 != 2",
                "test:tests/test_u.py:tests.test_u.T#test_x",
            ),
        ],
        counted=4,
    ),
    "pytest-v": Expected(
        [
            (
                "tests/test_a.py:10",
                "AssertionError: not two",
                "test:tests/test_a.py:tests.test_a#test_bad",
            ),
            (
                "tests/test_a.py:23",
                "AssertionError: assert 'x y' == 'b::c'",
                "test:tests/test_a.py:tests.test_a#test_p[x y]",
            ),
            (
                "tests/test_a.py:23",
                "AssertionError: assert 'ü' == 'b::c'",
                "test:tests/test_a.py:tests.test_a#test_p[\\xfc]",
            ),
            (
                "tests/test_a.py",
                "[XPASS(strict)]",
                "test:tests/test_a.py:tests.test_a#test_strict",
            ),
            (
                "tests/test_a.py:45",
                "ValueError: boom",
                "test:tests/test_a.py:tests.test_a.TestC#test_in",
            ),
            ("tests/test_a.py:69", "assert 0", "test:tests/test_a.py:tests.test_a#test_both"),
            (
                "tests/test_u.py:14",
                "AssertionError: 0 != 1",
                "test:tests/test_u.py:tests.test_u.T#test_sub",
            ),
            (
                "tests/test_u.py:14",
                "AssertionError: 2 != 1",
                "test:tests/test_u.py:tests.test_u.T#test_sub",
            ),
            (
                "tests/test_u.py",
                "Failed: Unexpected success",
                "test:tests/test_u.py:tests.test_u.T#test_unexpected",
            ),
            (
                "tests/test_u.py:6",
                "AssertionError: 1 != 2",
                "test:tests/test_u.py:tests.test_u.T#test_x",
            ),
            (
                "tests/test_a.py:53",
                "RuntimeError: no db",
                "test:tests/test_a.py:tests.test_a#test_setup",
            ),
            (
                "tests/test_a.py:59",
                "RuntimeError: no end",
                "test:tests/test_a.py:tests.test_a#test_teardown",
            ),
            (
                "tests/test_a.py:69",
                "RuntimeError: no end",
                "test:tests/test_a.py:tests.test_a#test_both",
            ),
            (
                "tests/test_u.py:30",
                "OSError: no db",
                "test:tests/test_u.py:tests.test_u.S#test_never",
            ),
        ],
        others=[
            ("compile", "tests/test_b.py:1", "ModuleNotFoundError: No module named 'nope_nope'"),
            ("compile", "tests/test_c.py:1", "SyntaxError: invalid syntax"),
        ],
        passed=[
            "test:tests/test_a.py:tests.test_a#test_ok",
            "test:tests/test_a.py:tests.test_a#test_p[b::c]",
            "test:tests/test_a.py:tests.test_a#test_xpass",
            "test:tests/test_a.py:tests.test_a.TestC.TestD#test_deep",
            "test:tests/test_u.py:tests.test_u.T#test_doc",
        ],
    ),
    "pytest-xdist": Expected(
        [
            (
                "tests/test_a.py:23",
                "AssertionError: assert 'x y' == 'b::c'",
                "test:tests/test_a.py:tests.test_a#test_p[x y]",
            ),
            (
                "tests/test_a.py:10",
                "AssertionError: not two",
                "test:tests/test_a.py:tests.test_a#test_bad",
            ),
            (
                "tests/test_a.py:23",
                "AssertionError: assert 'ü' == 'b::c'",
                "test:tests/test_a.py:tests.test_a#test_p[\\xfc]",
            ),
            (
                "tests/test_a.py",
                "[XPASS(strict)]",
                "test:tests/test_a.py:tests.test_a#test_strict",
            ),
            (
                "tests/test_a.py:45",
                "ValueError: boom",
                "test:tests/test_a.py:tests.test_a.TestC#test_in",
            ),
            ("tests/test_a.py:69", "assert 0", "test:tests/test_a.py:tests.test_a#test_both"),
            (
                "tests/test_u.py:14",
                "AssertionError: 0 != 1",
                "test:tests/test_u.py:tests.test_u.T#test_sub",
            ),
            (
                "tests/test_u.py:14",
                "AssertionError: 2 != 1",
                "test:tests/test_u.py:tests.test_u.T#test_sub",
            ),
            (
                "tests/test_u.py:6",
                "AssertionError: 1 != 2",
                "test:tests/test_u.py:tests.test_u.T#test_x",
            ),
            (
                "tests/test_u.py",
                "Failed: Unexpected success",
                "test:tests/test_u.py:tests.test_u.T#test_unexpected",
            ),
            (
                "tests/test_a.py:53",
                "RuntimeError: no db",
                "test:tests/test_a.py:tests.test_a#test_setup",
            ),
            (
                "tests/test_a.py:59",
                "RuntimeError: no end",
                "test:tests/test_a.py:tests.test_a#test_teardown",
            ),
            (
                "tests/test_a.py:69",
                "RuntimeError: no end",
                "test:tests/test_a.py:tests.test_a#test_both",
            ),
            (
                "tests/test_u.py:30",
                "OSError: no db",
                "test:tests/test_u.py:tests.test_u.S#test_never",
            ),
        ],
        others=[
            ("compile", "tests/test_b.py:1", "ModuleNotFoundError: No module named 'nope_nope'"),
            ("compile", "tests/test_c.py:1", "SyntaxError: invalid syntax"),
        ],
        passed=[
            "test:tests/test_a.py:tests.test_a#test_ok",
            "test:tests/test_a.py:tests.test_a#test_p[b::c]",
            "test:tests/test_a.py:tests.test_a#test_xpass",
            "test:tests/test_a.py:tests.test_a.TestC.TestD#test_deep",
            "test:tests/test_u.py:tests.test_u.T#test_doc",
        ],
    ),
    "pytest-maxfail": Expected(
        [
            (
                "tests/test_a.py:10",
                "AssertionError: not two",
                "test:tests/test_a.py:tests.test_a#test_bad",
            ),
        ],
        counted=2,
        doubts=[
            "pytest stopped early: stopping after 1 failures",
        ],
    ),
    "pytest-collect": Expected(
        [],
        others=[
            ("compile", "tests/test_b.py:1", "ModuleNotFoundError: No module named 'nope_nope'"),
            ("compile", "tests/test_c.py:1", "SyntaxError: invalid syntax"),
        ],
        doubts=[
            "pytest stopped early: Interrupted: 2 errors during collection",
        ],
    ),
    "unittest": Expected(
        [
            (
                "tests/test_u.py:4",
                "AssertionError: 1 != 2",
                "test:tests/test_u.py:tests.test_u.T#test_x",
            ),
        ],
        counted=1,
    ),
    "unittest-verbose": Expected(
        [
            (
                "tests/test_u.py:14",
                "AssertionError: 0 != 1",
                "test:tests/test_u.py:tests.test_u.T#test_sub",
            ),
            (
                "tests/test_u.py:14",
                "AssertionError: 2 != 1",
                "test:tests/test_u.py:tests.test_u.T#test_sub",
            ),
            (
                "tests/test_u.py:6",
                "AssertionError: 1 != 2",
                "test:tests/test_u.py:tests.test_u.T#test_x",
            ),
            ("", "unexpected success", "test:tests/test_u.py:tests.test_u.T#test_unexpected"),
        ],
        others=[
            ("compile", "tests/test_b.py:1", "ModuleNotFoundError: No module named 'nope_nope'"),
            ("compile", "tests/test_c.py:1", "SyntaxError: invalid syntax"),
            ("error", "tests/test_u.py:30", "setUpClass: OSError: no db"),
        ],
        passed=[
            "test:tests/test_u.py:tests.test_u.T#test_doc",
            "test:tests/test_u.py:tests.test_u.T#test_expected",
        ],
    ),
    "mvn-test": Expected(
        [
            (
                "src/test/java/p/FooTest.java:5",
                "org.opentest4j.AssertionFailedError: expected: <1> but was: <2>",
                "test::p.FooTest#bad",
            ),
            (
                "src/test/java/p/FooTest.java:6",
                "java.lang.IllegalStateException: x",
                "test::p.FooTest$In#inner",
            ),
        ],
        others=[
            (
                "goal",
                "",
                (
                    "org.apache.maven.plugins:maven-surefire-plugin:3.2.5:test "
                    "(default-test) on project t: There are test failures."
                ),
            ),
        ],
        counted=3,
    ),
    "mvn-multi": Expected(
        [
            (
                "one/src/test/java/p/ATest.java:9",
                "org.opentest4j.AssertionFailedError: expected: <1> but was: <2>",
                "test::p.ATest#bad",
            ),
            (
                "one/src/test/java/p/ATest.java:16",
                "org.opentest4j.AssertionFailedError: expected: <x> but was: <y>",
                "test::p.ATest#dyn",
            ),
            (
                "one/src/test/java/p/ATest.java:10",
                "org.opentest4j.AssertionFailedError: first time",
                "test::p.ATest#flaky",
            ),
            (
                "one/src/test/java/p/ATest.java:12",
                "org.opentest4j.AssertionFailedError: expected: <c> but was: <a b>",
                "test::p.ATest#param(String)[1]",
            ),
            (
                "one/src/test/java/p/ATest.java:13",
                "java.lang.IllegalStateException: x",
                "test::p.ATest$In#inner",
            ),
        ],
        others=[
            (
                "error",
                "one/src/test/java/p/SetupTest.java:4",
                "java.lang.RuntimeException: no db",
            ),
            (
                "goal",
                "",
                (
                    "org.apache.maven.plugins:maven-surefire-plugin:3.2.5:test "
                    "(default-test) on project one: There are test failures."
                ),
            ),
        ],
        counted=12,
        doubts=[
            "the module two was left out after a failure",
        ],
    ),
    "tox": Expected(
        [
            (
                "tests/test_a.py:4",
                "AssertionError: assert 'two' != 'two'",
                "test:tests/test_a.py:tests.test_a#test_two",
            ),
        ],
        others=[
            ("error", "tests/test_a.py:3", "E302 expected 2 blank lines, found 0"),
            ("goal", "", "two: exit 1"),
            ("goal", "", "lint: exit 1"),
        ],
        counted=4,
    ),
}


@pytest.mark.parametrize("name", sorted(TOLD))
def test_what_runners_print(name: str, tmp_path: Path) -> None:
    failures, reports = told((LOGS / f"{name}.txt").read_text(), tmp_path)
    tests = [failure for failure in failures if failure.kind == "test"]
    others = [failure for failure in failures if failure.kind != "test"]
    expected = TOLD[name]
    assert [(failure.place, failure.message, failure.id) for failure in tests] == expected.tests
    assert [(failure.kind, failure.place, failure.message) for failure in others] == expected.others
    ids = {failure.id for failure in tests}
    assert [run for run in reports.ran if run not in ids] == (expected.passed or [])
    assert (ids <= set(reports.ran)) == (expected.passed is not None or not tests)
    assert reports.counted == expected.counted
    assert list(reports.problems) == expected.doubts
    assert reports.tests == len(reports.ran)


#: Runs without a failure, in which a test prints what looks like another test that passed.
FORGED = {
    "cargo": (
        (
            "     Running unittests src/lib.rs (target/debug/deps/a-0123456789abcdef)\n\n"
            "running 1 test\n{}test tests::real ... ok\n\n"
            "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; "
            "finished in 0.00s\n"
        ),
        "test tests::forged ... ok\n",
        "test:a/src/lib.rs:tests::real",
    ),
    "pytest": (
        "{}tests/test_a.py::real PASSED [100%]\n\n==== 1 passed in 0.01s ====\n",
        "tests/test_a.py::forged PASSED [100%]\n",
        "test:tests/test_a.py:tests.test_a#real",
    ),
    "unittest": (
        "{}real (tests.test_u.T.real) ... ok\n\n---\nRan 1 test in 0.000s\n\nOK\n",
        "forged (tests.test_u.T.forged) ... ok\n",
        "test:tests/test_u.py:tests.test_u.T#real",
    ),
    "tap": (
        (
            "TAP version 13\n{}# Subtest: real\nok 1 - real\n  ---\n  duration_ms: 1\n  ...\n1..1\n"
            "# tests 1\n# suites 0\n# pass 1\n# fail 0\n# cancelled 0\n"
        ),
        "ok 7 - forged\n",
        "test::real",
    ),
    "plain-tap": ("1..1\n{}ok 1 real\n", "ok 2 forged\n", "test::real"),
    "nextest": (
        (
            "    Starting 1 test across 1 binary\n{}        PASS [   0.004s] a tests::real\n"
            "     Summary [   0.355s] 1 test run: 1 passed, 0 skipped\n"
        ),
        "        PASS [   0.004s] a tests::forged\n",
        "test:a:tests::real",
    ),
    "vitest": (
        (
            " RUN  v4.1.12 .\n{} ✓ a.test.mjs > real 0ms\n\n Test Files  1 passed (1)\n"
            "      Tests  1 passed (1)\n"
        ),
        " ✓ a.test.mjs > forged 0ms\n",
        "test:a.test.mjs:real",
    ),
    "mocha": ("\n{}  ✔ real\n\n  1 passing (5ms)\n", "  ✔ forged\n", "test::real"),
    "vitest-tap": (
        "TAP version 13\n1..1\nok 1 - a.test.mjs > real # time=0.10ms\n{}",
        "ok 2 - a.test.mjs > forged # time=0.10ms\n",
        "test:a.test.mjs:real",
    ),
    "node": (
        "{}✔ real (0.1ms)\nℹ tests 1\nℹ suites 0\nℹ pass 1\nℹ fail 0\nℹ cancelled 0\n",
        "✔ forged (0.1ms)\n",
        "test::real",
    ),
    "jest": (
        (
            "PASS ./a.test.js\n{}  ✓ real (1 ms)\n\nTest Suites: 1 passed, 1 total\n"
            "Tests:       1 passed, 1 total\n"
        ),
        "  ✓ forged (1 ms)\n",
        "test:a.test.js:real",
    ),
}


@pytest.mark.parametrize("runner", sorted(FORGED))
def test_names_count_only_where_the_runner_counts_as_many(runner: str, tmp_path: Path) -> None:
    text, forged, real = FORGED[runner]
    _, honest = merge_results(
        [read(text.format(""), tmp_path, failed=False)], Results(), reported=False
    )
    assert (honest.ran, honest.counted, honest.tests) == ((real,), 0, 1)
    _, other = merge_results(
        [read(text.format(forged), tmp_path, failed=False)], Results(), reported=False
    )
    assert other.ran == ()
    assert other.counted in {1, 2}


def test_what_a_go_test_prints_is_inside_of_its_events(tmp_path: Path) -> None:
    _, reports = told((LOGS / "go-json.txt").read_text(), tmp_path)
    assert not any("Forged" in name for name in reports.ran)


def test_go_tests_that_are_run_twice_ran_twice(tmp_path: Path) -> None:
    events = (LOGS / "go-cached.txt").read_text()
    _, reports = told(events + events, tmp_path)
    assert reports.ran == ("test:example.com/m/green:TestG",) * 2


def test_a_go_test_that_was_cut_off_is_a_doubt(tmp_path: Path) -> None:
    events = (LOGS / "go-cached.txt").read_text().splitlines(keepends=True)
    _, reports = told("".join(events[:-1]), tmp_path)
    assert reports.problems == ("the tests of 1 packages did not end",)


def test_a_go_test_that_fails_by_itself_besides_its_subtest_is_told(tmp_path: Path) -> None:
    lines = (LOGS / "go-json.txt").read_text().splitlines()
    own = json.dumps(
        {
            "Action": "output",
            "Package": "example.com/m",
            "Test": "TestTable",
            "Output": "    a_test.go:27: its own\n",
        }
    )
    at = next(i for i, line in enumerate(lines) if "--- FAIL: TestTable (" in line)
    failures, _ = told("\n".join([*lines[:at], own, *lines[at:]]), tmp_path)
    assert [(f.place, f.message) for f in failures if f.name == "TestTable"] == [
        ("a_test.go:27", "its own")
    ]


def test_errors_of_an_older_go_stand_between_the_events(tmp_path: Path) -> None:
    text = (
        "# example.com/m/broken [example.com/m/broken.test]\n"
        "broken/b_test.go:5:28: undefined: nope\n"
        '{"Action":"output","Package":"example.com/m/broken",'
        '"Output":"FAIL\\texample.com/m/broken [build failed]\\n"}\n'
        '{"Action":"fail","Package":"example.com/m/broken","Elapsed":0}\n'
    )
    failures, reports = told(text, tmp_path)
    assert [(f.kind, f.place, f.message) for f in failures] == [
        ("compile", "broken/b_test.go:5", "undefined: nope"),
        ("goal", "", "FAIL example.com/m/broken [build failed]"),
    ]
    assert reports.problems == ()


def test_what_testify_asserts(tmp_path: Path) -> None:
    output = [
        "    a_test.go:9: \n",
        "        \tError Trace:\t/x/a_test.go:9\n",
        "        \tError:      \tNot equal: \n",
    ]
    events = [{"Action": "start"}, {"Action": "run", "Test": "T"}]
    events += [{"Action": "output", "Test": "T", "Output": text} for text in output]
    events += [{"Action": "fail", "Test": "T"}, {"Action": "fail"}]
    text = "\n".join(json.dumps({**event, "Package": "example.com/m"}) for event in events)
    ((failure,), _) = told(text, tmp_path)
    assert (failure.place, failure.message) == ("a_test.go:9", "Not equal:")


def test_two_test_programs_of_one_name_cannot_be_told_apart(tmp_path: Path) -> None:
    program = (
        "     Running tests/it.rs (target/debug/deps/it-0123456789abcdef)\n\nrunning 1 test\n"
        "test t ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; "
        "0 filtered out; finished in 0.00s\n"
    )
    known = frozenset({"a/tests/it.rs", "b/tests/it.rs"})
    _, reports = told(program + program, tmp_path, known)
    assert reports.ran == ("test:tests/it.rs (it):t",) * 2
    assert reports.problems == ("several test programs are called tests/it.rs (it)",)
    _, reports = told(program, tmp_path, frozenset({"a/tests/it.rs"}))
    assert reports.ran == ("test:a/tests/it.rs:t",)


def test_a_library_s_own_tests_are_told_by_its_package(tmp_path: Path) -> None:
    text = (
        "     Running unittests src/lib.rs (target/debug/deps/b_c-0123456789abcdef)\n\n"
        "running 1 test\ntest t ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; "
        "0 measured; 0 filtered out\n"
    )
    known = frozenset({"a/src/lib.rs", "b-c/src/lib.rs", "src/lib.rs"})
    assert told(text, tmp_path, known)[1].ran == ("test:b-c/src/lib.rs:t",)


def test_failing_tests_without_a_name_are_a_doubt(tmp_path: Path) -> None:
    failures, reports = told("==== 2 failed, 1 passed in 0.01s ====\n", tmp_path)
    assert failures == ()
    assert reports.counted == 3
    assert reports.problems == ("pytest counts 2 failed tests and names none",)
    text = "FAILED tests/test_a.py::t - no\n==== 2 failed, 1 passed in 0.01s ====\n"
    assert told(text, tmp_path)[1].problems == ("pytest counts 2 failed tests and names 1",)


def test_gradle_s_own_output(tmp_path: Path) -> None:
    text = (
        "> Task :test FAILED\n\nFooTest > bad() FAILED\n"
        "    org.opentest4j.AssertionFailedError at FooTest.java:5\n\n"
        "3 tests completed, 1 failed, 1 skipped\n\n* What went wrong:\n"
        "Execution failed for task ':test'.\n"
        "> There were failing tests. See the report at: file:///x/index.html\n"
    )
    failures, reports = told(text, tmp_path)
    assert [(f.kind, f.place, f.name) for f in failures] == [
        ("test", "src/test/java/p/FooTest.java:5", "FooTest#bad()"),
        ("goal", "", ":test"),
    ]
    assert reports.counted == 2


def test_the_older_form_of_surefire(tmp_path: Path) -> None:
    text = (
        "Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 s <<< FAILURE!\n"
        "bad(p.FooTest)  Time elapsed: 0.012 s  <<< FAILURE!\njava.lang.AssertionError: no\n"
        "\tat p.FooTest.bad(FooTest.java:7)\n\n"
        "Tests run: 2, Failures: 1, Errors: 0, Skipped: 0\n"
    )
    ((failure,), reports) = told(text, tmp_path)
    assert (failure.place, failure.name) == ("src/test/java/p/FooTest.java:7", "p.FooTest#bad")
    assert reports.counted == 2


def test_a_summary_of_all_failing_tests_tells_none_of_them_twice(tmp_path: Path) -> None:
    heading = "  ● sum › adds\n\n    no\n\n      at Object.x (a.test.js:3:1)\n\n"
    text = (
        f"FAIL ./a.test.js\n{heading}Summary of all failing tests\nFAIL ./a.test.js\n{heading}"
        "Tests:       1 failed, 1 total\n"
    )
    assert [f.place for f in told(text, tmp_path)[0]] == ["a.test.js:3"]


def test_jest_that_stopped_at_the_first_failing_file_is_a_doubt(tmp_path: Path) -> None:
    text = "Test Suites: 1 failed, 1 of 4 total\nTests:       2 passed, 2 total\n"
    assert told(text, tmp_path)[1].problems == ("jest did not run all files",)
    text = "Test Suites: 1 failed, 1 passed, 2 total\nTests:       2 passed, 2 total\n"
    assert told(text, tmp_path)[1].problems == ()


def test_another_error_at_the_place_of_a_reported_test_is_kept(tmp_path: Path) -> None:
    test = make_failure("test", "no", "tests/test_a.py", 4, "t", "tests/test_a.py")
    text = "tests/test_a.py:4:1: F821 undefined name\n"
    failures, _ = merge_results([read(text, tmp_path)], Results(1, 1, (test,)), reported=False)
    assert [failure.kind for failure in failures] == ["test", "error"]


def test_tests_that_bail_out_are_a_doubt(tmp_path: Path) -> None:
    text = "1..3\nok 1 - a\nBail out! no db\n"
    assert told(text, tmp_path)[1].problems == ("the tests bailed out: no db",)


def test_an_error_outside_of_all_tests(tmp_path: Path) -> None:
    text = "Vitest caught 1 unhandled error during the test run.\n\n      Tests  1 passed (1)\n"
    ((failure,), _) = told(text, tmp_path)
    assert failure.kind == "error"


def reported(*cases: tuple[str, str], runner: str = "pytest", failing: str = "") -> Results:
    """Reports with these tests, of which one may fail."""
    failures = [make_failure("test", "no", None, None, n, s) for s, n in cases if n == failing]
    ran = tuple(f"test:{suite}:{name}" for suite, name in cases)
    return Results(1, len(ran), tuple(failures), (), ran, by_runner={runner: len(ran)})


VERBOSE = (
    "tests/test_a.py::one PASSED\ntests/test_a.py::two FAILED\n"
    "FAILED tests/test_a.py::two - no\n==== 1 failed, 1 passed in 0.1s ====\n"
)
ONE, TWO = ("tests/test_a.py", "tests.test_a#one"), ("tests/test_a.py", "tests.test_a#two")


def test_reports_outweigh_what_the_log_says_of_tests(tmp_path: Path) -> None:
    of_log = read(VERBOSE, tmp_path)
    reports = reported(ONE, TWO, failing="tests.test_a#two")
    failures, both = merge_results([of_log], reports, reported=False)
    assert [(failure.id, failure.message) for failure in failures] == [
        ("test:tests/test_a.py:tests.test_a#two", "no")
    ]
    assert (both.ran, both.counted, both.tests, both.problems) == (reports.ran, 0, 2, ())
    failures, both = merge_results([of_log], reported(ONE, TWO), reported=False)
    assert failures == ()  # the runner's own report says that it passed


def test_a_report_that_holds_fewer_tests_than_the_runner_counts(tmp_path: Path) -> None:
    reports = reported(ONE)
    failures, both = merge_results([read(VERBOSE, tmp_path)], reports, reported=False)
    assert [failure.name for failure in failures] == ["tests.test_a#two"]
    assert (both.ran, both.counted) == (reports.ran, 1)


def test_a_failing_test_that_the_report_does_not_hold_is_kept_however_many_it_holds(
    tmp_path: Path,
) -> None:
    others = [(suite, f"{name}{number}") for suite, name in (ONE, TWO) for number in range(3)]
    failures, _ = merge_results([read(VERBOSE, tmp_path)], reported(*others), reported=False)
    assert [failure.name for failure in failures] == ["tests.test_a#two"]


def test_a_class_that_cannot_be_set_up_is_told_once(tmp_path: Path) -> None:
    text = (
        "[ERROR] p.SetupTest -- Time elapsed: 0.018 s <<< ERROR!\n"
        "java.lang.RuntimeException: no db\n\n"
        "[ERROR] Tests run: 1, Failures: 0, Errors: 1, Skipped: 0\n"
    )
    error = make_failure("error", "no db", name="p.SetupTest")
    reports = replace(reported(("target", "p.ATest#a"), runner="jvm"), failures=(error,))
    assert merge_results([read(text, tmp_path)], reports, reported=False)[0] == (error,)
    other = replace(reports, failures=(replace(error, name="p.OtherTest"),))
    assert len(merge_results([read(text, tmp_path)], other, reported=False)[0]) == 2


def test_where_reports_were_asked_for_names_in_a_log_prove_nothing(tmp_path: Path) -> None:
    of_log = read(VERBOSE, tmp_path)
    failures, reports = merge_results([of_log], Results(), reported=True)
    assert [failure.name for failure in failures] == ["tests.test_a#two"]
    assert (reports.ran, reports.tests, reports.counted) == ((), 0, 2)
    assert merge_results([of_log], Results(), reported=False)[1].tests == 2


def test_reports_of_one_runner_say_nothing_of_another_one_s_tests(tmp_path: Path) -> None:
    reports = reported(("a.test.js", "x"), runner="jest")
    failures, both = merge_results([read(VERBOSE, tmp_path)], reports, reported=False)
    assert [failure.name for failure in failures] == ["tests.test_a#two"]
    assert Counter(both.ran) == Counter(
        [
            *reports.ran,
            "test:tests/test_a.py:tests.test_a#one",
            "test:tests/test_a.py:tests.test_a#two",
        ]
    )


def test_a_test_that_a_report_of_unknown_origin_names_is_not_counted_twice(tmp_path: Path) -> None:
    reports = reported(ONE, TWO, runner="", failing="tests.test_a#two")
    failures, both = merge_results([read(VERBOSE, tmp_path)], reports, reported=False)
    assert len(failures) == 1
    assert (both.ran, both.problems) == (reports.ran, ())


def test_what_is_no_test_is_kept_beside_reports(tmp_path: Path) -> None:
    text = (LOGS / "jest-verbose.txt").read_text()
    cases = [("", f"sum {name}") for name in "abcdefg"]
    failures, _ = merge_results(
        [read(text, tmp_path)], reported(*cases, runner="jest"), reported=False
    )
    assert [(failure.kind, failure.place) for failure in failures] == [
        ("compile", "d.test.js:2"),
        ("compile", "c.test.js:1"),
    ]


def test_what_a_report_and_a_log_place_alike_is_told_once(tmp_path: Path) -> None:
    error = make_failure("compile", "SyntaxError: invalid syntax", "tests/test_c.py", 1, "tests.c")
    reports = Results(1, 1, (error, error))
    failures, _ = merge_results(
        [read((LOGS / "pytest-collect.txt").read_text(), tmp_path)], reports, reported=False
    )
    assert [(f.kind, f.place, f.name) for f in failures] == [
        ("compile", "tests/test_c.py:1", "tests.c"),
        ("compile", "tests/test_b.py:1", "tests/test_b.py"),
    ]


def test_two_failures_of_one_test_in_a_report_stay_two() -> None:
    reports = reported(ONE, failing="tests.test_a#one")
    twice = Results(1, 1, reports.failures * 2, (), reports.ran)
    assert len(merge_results([], twice, reported=False)[0]) == 2


def test_a_failing_test_whose_name_a_passing_one_bears_as_well() -> None:
    failure = make_failure("test", "no", name="adds", suite="")
    assert ambiguous([failure], ["test::adds", "test::adds"]) == ["test::adds"]
    assert ambiguous([failure, failure], ["test::adds"]) == []
    assert ambiguous([], ["test::adds", "test::adds"]) == []
    reports = Results(1, 2, (failure,), (), ("test::adds", "test::adds"))
    assert merge_results([], reports, reported=False)[1].problems == (
        "several tests are called :adds, and not all of them failed",
    )


def test_tests_of_several_steps_add_up(tmp_path: Path) -> None:
    one = read("==== 2 passed in 0.1s ====\n", tmp_path, failed=False)
    other = read("==== 1 failed, 3 passed in 0.1s ====\n", tmp_path)
    _, reports = merge_results([one, other], reported(ONE), reported=False)
    assert reports.counted == 5


def test_failures_of_several_steps_come_in_the_steps_order(tmp_path: Path) -> None:
    one, other = (read(f"a.go:{line}:1: bad {line}\n", tmp_path) for line in (9, 3))
    assert [f.line for f in merge_results([one, other], Results(), reported=False)[0]] == [9, 3]


def goals(*messages: str, causes: tuple[int, ...] = ()) -> list[str]:
    """The kinds that these goals, one line apart, come to; a test fails just before some."""
    found = []
    for number, message in enumerate(messages):
        if number in causes:
            found.append((number * 2, make_failure("test", "no", name="t")))
        found.append((number * 2 + 1, make_failure("goal", message)))
    return [failure.kind for failure in root_cause(found) if failure.kind != "test"]


@pytest.mark.parametrize(
    ("messages", "causes", "kinds"),
    [
        (["make: *** [Makefile:1: a] Error 1"], (), ["error"]),
        (["make: *** [Makefile:1: a] Error 1"], (0,), ["goal"]),
        (
            ["make: *** [Makefile:1: a] Error 1", "make: *** [Makefile:2: b] Error 1"],
            (0,),
            ["goal", "error"],
        ),
        (
            ["make[1]: *** [Makefile:1: a] Error 1", "make: *** [Makefile:2: b] Error 2"],
            (0,),
            ["goal", "goal"],
        ),
        (["test failed: --lib", "test failed: --test it"], (0,), ["goal", "error"]),
        (["npm script test failed", "make: *** [Makefile:1: a] Error 1"], (0,), ["goal", "goal"]),
        (["one: exit 1", "two: exit 1"], (1,), ["error", "goal"]),
        (["org.x:maven-y:1:test on project t: There are test failures."], (), ["goal"]),
    ],
)
def test_a_goal_that_gave_up_for_no_reason_that_is_known_stands_for_itself(
    messages: list[str], causes: tuple[int, ...], kinds: list[str]
) -> None:
    assert goals(*messages, causes=causes) == kinds


def test_a_caller_is_at_hand() -> None:
    inner = make_failure("goal", "make[1]: *** [Makefile:1: a] Error 1")
    outer = make_failure("goal", "make: *** [Makefile:2: b] Error 2")
    test = make_failure("test", "no", name="t")
    near = root_cause([(1, test), (2, inner), (4, outer)])
    assert [failure.kind for failure in near] == ["test", "goal", "goal"]
    far = root_cause([(1, test), (2, inner), (5, outer)])
    assert [failure.kind for failure in far] == ["test", "goal", "error"]


def test_lines_for_programs_are_shown_as_people_would_read_them(tmp_path: Path) -> None:
    tail = read((LOGS / "rustc-json.txt").read_text(), tmp_path).tail
    assert tail.splitlines()[-9:-7] == [
        "error[E0425]: cannot find function `nope` in this scope",
        "  --> src/lib.rs:12:5",
    ]
    assert "reason" not in tail
    tail = read((LOGS / "go-json.txt").read_text(), tmp_path).tail
    assert tail.splitlines()[-1] == "FAIL\texample.com/m/hang\t3.058s"
    assert '"Action"' not in tail


def test_the_tail_of_any_other_log_is_its_last_lines(tmp_path: Path) -> None:
    text = "".join(f"line {number}\n" for number in range(40)) + '{"a": 1}\n' + "x" * 600
    tail = read(text, tmp_path).tail.splitlines()
    assert len(tail) == 30
    assert tail[0] == "line 12"
    assert tail[-2:] == ['{"a": 1}', "x" * 500]


def test_only_what_cargo_and_rustc_mean_for_programs_is_taken_for_it(tmp_path: Path) -> None:
    lines = ['{"reason": "why"}', '{"Action": "stop"}', '{"$message_type": "artifact"}', "{]"]
    assert read("\n".join(lines), tmp_path).tail.splitlines() == lines


def test_rustc_s_own_messages(tmp_path: Path) -> None:
    message = {
        "$message_type": "diagnostic",
        "level": "error",
        "message": "mismatched types",
        "spans": [
            {"file_name": "x.rs", "line_start": 1, "is_primary": False},
            {"file_name": "src/lib.rs", "line_start": 5, "is_primary": True},
        ],
        "rendered": "error: mismatched types\n",
    }
    warning = {**message, "level": "warning"}
    summary = {**message, "message": "aborting due to 1 previous error", "spans": []}
    text = "\n".join(json.dumps(one) for one in (message, warning, summary))
    failures, _ = told(text, tmp_path)
    assert [(f.kind, f.place, f.message) for f in failures] == [
        ("compile", "src/lib.rs:5", "mismatched types")
    ]


def test_lines_are_read_whatever_ends_them(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"one\r\ntwo\rthree\n\nfour")
    sections = transcribe(log, TreeFiles(frozenset()), str).sections
    assert [list(section.lines) for section in sections] == [["one", "two", "three", "", "four"]]


def test_a_line_break_at_the_edge_of_a_piece_is_one(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"x" * (1024**2 - 1) + b"\r\nend\r")
    (section,) = transcribe(log, TreeFiles(frozenset()), str).sections
    assert [line[-3:] for line in section.lines] == ["xxx", "end"]
    assert len(section.lines[0]) == 2000


@pytest.mark.nightly
def test_a_long_log_keeps_its_beginning_and_its_end(tmp_path: Path) -> None:
    line = "a line that says nothing, in many words, over and over again; number {}\n"
    text = "a.go:1:1: first\n" + "".join(map(line.format, range(470_000))) + "a.go:9:1: last\n"
    failures, reports = told(text, tmp_path)
    assert [failure.message for failure in failures] == ["first", "last"]
    assert reports.problems == ("the log is too long to be read in full",)


@pytest.mark.slow
def test_the_end_of_a_log_of_very_many_lines_is_read(tmp_path: Path) -> None:
    text = "a.go:1:1: first\n" + "\n" * 3_200_000 + "a.go:9:1: last\n"
    failures, reports = told(text, tmp_path)
    assert [failure.message for failure in failures] == ["first", "last"]
    assert reports.problems == ("the log is too long to be read in full",)


TREE_OF_FILES = TreeFiles(
    frozenset(
        "a.py sub/a.py sub/deep/b.py only.py m/x/c.go x/c.go one/src/p/A.java two/src/p/A.java "
        "packages/web/package.json packages/api/package.json x/web/package.json tests/t.py "
        "pkg/__init__.py pkg/mod.py".split()
    ),
    "sub",
)


@pytest.mark.parametrize(
    ("told_path", "found"),
    [
        ("a.py", "sub/a.py"),
        ("./a.py", "sub/a.py"),
        ("../a.py", "a.py"),
        ("deep/b.py", "sub/deep/b.py"),
        ("b.py", "sub/deep/b.py"),
        ("only.py", "only.py"),
        ("A.java", None),
        ("gone.py", None),
        ("/usr/lib/a.py", None),
        ("…/home/only.py", None),
        ("", None),
    ],
)
def test_the_file_that_a_tool_means(told_path: str, found: str | None) -> None:
    assert TREE_OF_FILES.find(told_path) == found


def test_files_that_are_not_there_keep_their_place() -> None:
    assert TREE_OF_FILES.resolved("made/up.py") == "sub/made/up.py"
    assert TREE_OF_FILES.resolved("/usr/x.py") == "/usr/x.py"
    assert TREE_OF_FILES.resolved("x.py", "") == "x.py"


def test_files_by_package_type_and_module() -> None:
    tree = TreeFiles(TREE_OF_FILES.known)
    assert tree.of_package("example.com/m/x", "c.go") == "m/x/c.go"
    assert tree.of_package("example.com/other/x", "c.go") == "x/c.go"
    assert tree.of_package("example.com/y", "d.go") is None
    assert (
        tree.of_type("p.A$Inner", "A.java", "two/target/reports/TEST-p.A.xml") == "two/src/p/A.java"
    )
    assert tree.of_type("q.A", "A.java") is None
    assert tree.package("@x/api") == "packages/api"
    assert tree.package("web") is None
    assert tree.module("tests.t.Class.test") == "tests/t.py"
    assert tree.module("pkg.mod.f") == "pkg/mod.py"
    assert tree.module("pkg.other") == "pkg/__init__.py"
    assert tree.module("p." * 200) is None
    assert TREE_OF_FILES.module("deep.b.test") == "sub/deep/b.py"


def test_a_runner_that_printed_nothing_has_no_results() -> None:
    assert not RunnerOutput(doubts=["x"]).has_results
    assert RunnerOutput(counted=1).has_results
