"""Reading causes out of what real tools printed; the logs were captured from them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prjury.judges.build.failure import distinct, make_failure
from prjury.judges.build.reading import Places, merged, read_failures, read_log

LOGS = Path(__file__).parent / "logs"
TREE = Path("/tmp/prjury-x/tree")
KNOWN = frozenset(
    "a.go a_test.go sub/a_test.go src/lib.rs a.c a.ts a.test.js src/a.test.js A.java c.py "
    "src/main/java/A.java src/test/java/p/FooTest.java tests/test_a.py tests/test_b.py "
    "tests/test_c.py tests/test_u.py Makefile".split()
)


def told(name: str) -> list[tuple[str, str, str]]:
    """Kind, place and message of each failure in a captured log."""
    text = (LOGS / f"{name}.txt").read_text().replace("{tree}", str(TREE))
    failures = read_failures(text, KNOWN, Places(TREE, TREE.parent).relative)
    return [(failure.kind, failure.place, failure.message) for failure in failures]


COMPILE_A = [
    ("compile", "A.java:5", "cannot find symbol (class Strin)"),
    ("compile", "A.java:4", "cannot find symbol (variable nowhere)"),
]
MAVEN = "org.apache.maven.plugins:maven"
FAILING = "There are test failures."
TWICE = "Compilation failure: Compilation failure:"
EXPECTED = {
    "javac": COMPILE_A,
    "mvn-compile": [
        *((kind, f"src/main/java/{place}", text) for kind, place, text in COMPILE_A),
        (
            "goal",
            "",
            f"{MAVEN}-compiler-plugin:3.1:compile (default-compile) on project t: {TWICE}",
        ),
    ],
    "mvn-test": [
        (
            "goal",
            "",
            f"{MAVEN}-surefire-plugin:3.2.5:test (default-test) on project t: {FAILING}",
        )
    ],
    "go-build": [("compile", "a.go:3", "undefined: nope")],
    "go-test": [
        ("test", "a_test.go:5", "no"),
        ("test", "sub/a_test.go:6", "got 3"),
        ("test", "sub/a_test.go:9", "panic: oh [recovered, repanicked]"),
    ],
    "go-test-build": [("compile", "a_test.go:5", "undefined: undefinedFn")],
    "cargo-build": [("compile", "src/lib.rs:1", "mismatched types")],
    "cargo-test": [
        ("test", "", 'Error: "bad"'),
        ("test", "src/lib.rs:7", "assertion `left == right` failed: wrong answer"),
    ],
    "make": [
        ("compile", "a.c:1", "‘nope’ undeclared (first use in this function)"),
        ("goal", "Makefile:4", "make: *** [Makefile:4: a] Error 1"),
    ],
    "tsc": [("compile", "a.ts:1", "TS2322: Type 'string' is not assignable to type 'number'.")],
    "node-tap": [
        ("test", "a.test.js:3", "Expected values to be strictly equal:"),
        ("test", "a.test.js:5", "boom"),
    ],
    "node-spec": [
        (
            "test",
            "a.test.js:3",
            "AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:",
        ),
        ("test", "a.test.js:5", "Error: boom"),
    ],
    "jest": [("test", "src/a.test.js:3", "expect(received).toBe(expected) // Object.is equality")],
    "vitest": [
        (
            "test",
            "src/a.test.js:5",
            "AssertionError: expected 2 to be 3 // Object.is equality",
        )
    ],
    "pytest": [
        ("test", "tests/test_a.py:4", "AssertionError: not two"),
        ("test", "tests/test_a.py:13", "ValueError: boom"),
        ("test", "tests/test_u.py:4", "AssertionError: 1 != 2"),
    ],
    "unittest": [("test", "tests/test_u.py:4", "AssertionError: 1 != 2")],
    "compileall": [("compile", "c.py:1", "SyntaxError: invalid syntax")],
}


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_what_tools_print(name: str) -> None:
    assert told(name) == EXPECTED[name]


def test_a_module_that_pytest_cannot_load() -> None:
    found = told("pytest-collect")
    assert ("compile", "tests/test_c.py:1", "SyntaxError: invalid syntax") in found
    assert ("compile", "tests/test_b.py", "failed") in found


def test_every_captured_log_is_expected_to_say_something() -> None:
    assert {path.stem for path in LOGS.glob("*.txt")} == {*EXPECTED, "pytest-collect"}


def test_colours_and_carriage_returns_do_not_hide_an_error(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"\x1b[1m\x1b[31m./a.go:3:1: \x1b[0mbad\xff\r\n")
    (failure,) = read_failures(read_log(log), KNOWN, str)
    assert (failure.place, failure.message) == ("a.go:3", "bad�")


@pytest.mark.parametrize("path", ["/etc/passwd.c", "../up.c", "~/x.c", "a/../../b.c"])
def test_a_path_outside_the_tree_is_not_a_place(path: str) -> None:
    failure = make_failure("compile", "bad", path, 3)
    assert (failure.path, failure.line) == (None, None)


def test_lines_may_move_and_times_may_differ_between_two_runs() -> None:
    one = make_failure("compile", "took 3 ms at 0xff00", "a.c", 3)
    other = make_failure("compile", "took 17 ms at 0xab12", "a.c", 30)
    assert one.id == other.id
    assert one.id != make_failure("compile", "took 3 ms at 0xff00", "b.c", 3).id


def test_a_test_is_known_by_its_suite_or_file_and_its_name() -> None:
    assert make_failure("test", "1 != 2", "a.py", 3, "a#t").id == "test:a.py:a#t"
    assert make_failure("test", "1 != 2", "a.py", 3, "a#t", "b.py").id == "test:b.py:a#t"
    one, other = (make_failure("test", "no", path, 3, "works") for path in ("a.js", "b.js"))
    assert distinct([one, other]) == [one, other]


def test_the_goal_comes_after_the_cause() -> None:
    goal, cause = make_failure("goal", "gave up"), make_failure("compile", "bad", "a.c", 1)
    assert distinct([goal, cause, cause]) == [cause, goal]


def test_reports_outweigh_what_the_log_says_of_tests() -> None:
    reported = make_failure("test", "no", "a.py", 3, "a#t")
    in_log = [
        make_failure("test", "no", "a.py", 3, "a.py::t"),
        make_failure("compile", "bad", "b.c", 1),
        make_failure("goal", "gave up", name="test"),
    ]
    assert merged([reported], in_log) == (reported, *in_log[1:])
    assert merged([reported, reported], []) == (reported, reported)
    assert merged([], in_log) == tuple(in_log)


@settings(deadline=None)
@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_can_be_read(one: str, other: str) -> None:
    text = f"{one}\n--- FAIL: T (0s)\n{other}\nnot ok 1 - x\n{one}"
    for failure in read_failures(text, KNOWN, str):
        assert failure.message
        assert failure.line is None or failure.line > 0


def test_a_hostile_log_is_read_in_time() -> None:
    text = "--- FAIL: T (0s)\n" * 50_000 + ("a" * 100_000 + ":" * 100_000 + "\n") * 20
    assert read_failures(text, KNOWN, str)
