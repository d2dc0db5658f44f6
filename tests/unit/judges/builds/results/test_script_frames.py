"""What a test file of Node printed before it ended."""

from __future__ import annotations

import pytest

from prjury.judges.builds.results.error_text import Thrown, error_above, first_frame
from prjury.judges.builds.results.runner_output import LogSection
from prjury.judges.builds.results.script_runners import node
from prjury.judges.builds.results.tap import tap
from prjury.judges.builds.results.tree import TreeFiles

TREE = TreeFiles(frozenset({"core/index.js", "core/price.test.js"}))
PRINTED = [
    "core/index.js:2",
    "  return 2 * (cents;",
    "                   ^",
    "",
    "SyntaxError: Unexpected token ';'",
    "    at wrapSafe (node:internal/modules/cjs/loader:1464:18)",
    "    at Object.<anonymous> (core/price.test.js:3:19)",
    "",
    "Node.js v20.20.2",
]
COMMENTED = [f"# {line}" if line else "#" for line in PRINTED]


def section(lines: list[str]) -> LogSection:
    return LogSection(lines, range(len(lines)), TREE)


@pytest.mark.parametrize("lines", [PRINTED, COMMENTED])
def test_the_file_that_could_not_be_read(lines: list[str]) -> None:
    thrown = error_above(lines, len(lines))
    assert thrown == Thrown("SyntaxError: Unexpected token ';'", "core/index.js", "2")
    assert thrown.kind == "compile"


def test_an_error_without_a_place() -> None:
    thrown = error_above(["Error: Cannot find module 'x'", "    at f (a.js:1:1)"], 2)
    assert thrown == Thrown("Error: Cannot find module 'x'")
    assert thrown.kind == "error"


@pytest.mark.parametrize(
    "lines", [[], ["nothing"], ["core/index.js:2"], [*PRINTED, "ok 1 - a", ""]]
)
def test_no_error(lines: list[str]) -> None:
    assert error_above(lines, len(lines)) == Thrown()


def test_what_belongs_to_an_earlier_result_is_not_meant() -> None:
    lines = ["core/index.js:2", "ok 1 - a", "Error: no", "", "# Subtest: b"]
    assert error_above(lines, len(lines)) == Thrown("Error: no")


@pytest.mark.parametrize("blank", [[""], []])
@pytest.mark.parametrize("comment", ["", "# "])
def test_the_values_that_an_assertion_outside_of_all_tests_compared(
    blank: list[str], comment: str
) -> None:
    message = "AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:"
    printed = ["core/price.test.js:2", message, *blank, "3 !== 2", *blank, "    at f (a.js:1:1)"]
    lines = [f"{comment}{line}" for line in printed]
    assert error_above(lines, len(lines)).message == f"{message} 3 !== 2"


def test_tap_of_a_file_that_could_not_be_read() -> None:
    lines = [
        "TAP version 13",
        *COMMENTED,
        "# Subtest: core/price.test.js",
        "not ok 1 - core/price.test.js",
        "  ---",
        "  error: 'test failed'",
        "  ...",
        "1..1",
        "# pass 0",
        "# fail 1",
        "# cancelled 0",
    ]
    ((_, failure),) = tap(section(lines)).failures
    assert (failure.kind, failure.place) == ("compile", "core/index.js:2")
    assert failure.message == "SyntaxError: Unexpected token ';'"


def test_tap_of_a_file_that_ended_without_a_word() -> None:
    lines = [
        "TAP version 13",
        "not ok 1 - core/price.test.js",
        "  ---",
        "  error: 'test failed'",
        "  ...",
        "1..1",
        "# pass 0",
        "# fail 1",
        "# cancelled 0",
    ]
    ((_, failure),) = tap(section(lines)).failures
    assert (failure.kind, failure.place) == ("error", "core/price.test.js")
    assert failure.message == "test failed"


def test_the_readable_reporter_of_a_file_that_could_not_be_read() -> None:
    lines = [
        *PRINTED,
        "✖ core/price.test.js (42.5ms)",
        "ℹ tests 1",
        "ℹ suites 0",
        "ℹ pass 0",
        "ℹ fail 1",
        "ℹ cancelled 0",
        "",
        "✖ failing tests:",
        "",
        "test at core/price.test.js:1:1",
        "✖ core/price.test.js (42.5ms)",
        "  'test failed'",
    ]
    ((_, failure),) = node(section(lines)).failures
    assert (failure.kind, failure.place) == ("compile", "core/index.js:2")


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("    at TestContext.<anonymous> (a.js:3:29)", ("a.js", "3")),
        ("    at TestContext.<anonymous> (quo'te/a.js:3:29)", ("quo'te/a.js", "3")),
        (
            "    at Object.<anonymous> (mit leer/größe & maß/a.js:3:8) {",
            ("mit leer/größe & maß/a.js", "3"),
        ),
        ("    at f (a (b)/a.js:3:8)", ("a (b)/a.js", "3")),
        ("    at async mit leer/a.mjs:3:8", ("mit leer/a.mjs", "3")),
        ("    at eval (eval at <anonymous> (a.js:1:1), <anonymous>:1:1)", ("a.js", "1")),
        (" ❯ helper b/a.ts:5:19", ("b/a.ts", "5")),
        ("    at Test.run (node:internal/test_runner/test:796:25)", (None, None)),
        ("    at f (node_modules/mit leer/a.js:3:8)", (None, None)),
    ],
)
def test_the_file_in_a_frame(line: str, place: tuple[str | None, str | None]) -> None:
    assert first_frame([line]) == place


@pytest.mark.parametrize(
    ("directory", "location"),
    [
        ("quo'te", '"{}"'),
        ('it\'s a "quote"', "`{}`"),
        ("a b", "'{}'"),
        ("all'\"`three", "'{}'"),
        ("yaml's", "'{}'"),
    ],
)
def test_tap_quotes_a_path_as_it_needs(directory: str, location: str) -> None:
    path = f"{directory}/a.test.js"
    quoted = path.replace("'", "\\'" if "all" in path else "''") if location[0] == "'" else path
    lines = [
        "TAP version 13",
        "# Subtest: it's",
        "not ok 1 - it's",
        "  ---",
        f"  location: {location.format(quoted + ':3:1')}",
        '  error: "it\'s not"',
        "  ...",
        "1..1",
        "# pass 0",
        "# fail 1",
        "# cancelled 0",
    ]
    told = tap(LogSection(lines, range(len(lines)), TreeFiles(frozenset({path}))))
    ((_, failure),) = told.failures
    assert (failure.path, failure.line, failure.message) == (path, 3, "it's not")
