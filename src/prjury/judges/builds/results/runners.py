"""Read what test runners print for people, as a witness where no file of results came.

A row says what a runner prints of a single test, above a failure, and when it comes to its end;
``runner_reader`` reads them all. To add a runner, add a row, a log in
``tests/unit/judges/builds/logs`` and what is read from it.

Lines are written as they are printed, with fields in braces and ``*`` for any text; ``(s)`` may be
missing, a blank stands for any number of them. ``ran``, ``passed``, ``failed`` and ``errors`` are
numbers (so are Automake's ``known`` and ``unexpected``), ``out`` those of the ran ones that did not
run after all, ``left`` those that are not among them; ``counts`` is a list such as ``1 failed``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from prjury.judges.builds.results.runner_output import LogSection


def _pytest_name(section: LogSection, _suite: str, fields: dict[str, str]) -> tuple[str, str]:
    """Name a test as pytest's reports do: dotted module and class, ``#``, function."""
    path, test = section.file(fields["path"]), fields.get("name", "")
    plain, bracket, parameters = test.partition("[")
    *classes, function = plain.split("::")
    module = fields["path"].removesuffix(".py").replace("/", ".")
    return path, f"{'.'.join([module, *classes])}#{function}{bracket}{parameters}"


def _unittest_name(section: LogSection, _suite: str, fields: dict[str, str]) -> tuple[str, str]:
    """Name a test as pytest does; newer Pythons repeat the test in the owner."""
    owner = fields["owner"].removesuffix(f".{fields['name']}")
    return section.tree.module(owner) or "", f"{owner}#{fields['name']}"


def _cargo_name(_section: LogSection, suite: str, fields: dict[str, str]) -> tuple[str, str]:
    """Name a test as it is written in the code; in documentation without its line."""
    name = fields["name"].removesuffix(" - should panic")
    name = name.removesuffix(" - compile fail").removesuffix(" - compile")
    file, dash, item = name.partition(".rs - ")
    if dash and " (line " in item:
        name = f"{file}{dash}{item.rpartition(' (line ')[0]}".removesuffix(" - ").strip()
        name = name.removesuffix(" -")
    return suite, name


def _name_in_directory(section: LogSection, _suite: str, fields: dict[str, str]) -> tuple[str, str]:
    owner = fields.get("owner", "")
    return section.directory, f"{owner}#{fields['name']}" if owner else fields["name"]


def _name_in_suite(section: LogSection, suite: str, fields: dict[str, str]) -> tuple[str, str]:
    if "path" in fields:
        suite = section.file(fields["path"])
    return fields.get("suite", suite), fields["name"]


class Runner(NamedTuple):
    """What one runner prints.

    Attributes:
        by: its name; its reports count under the same one.
        marks: text without which there is nothing of it.
        totals: lines that count.
        good, bad, out: lines about one test that passed, failed or was left out.
        failures: lines above the message of a failure, or that hold it.
        unloaded: the same of a file that cannot be loaded.
        file: headings that name the file, or program, of what follows.
        begins: the first line of a run; a run that has one has an end as well.
        place: a line that places the failure named on the next one.
        lists: the line below which failures are listed; before it nothing is one.
        outline: between suite and test in names; indentation shows the suites.
        name: the identity of a test.
        python: the innermost frame is the last one.
        sums: names are believed only with totals; else each line is counted.
        sections: headings of what is said of one failure.
        doubts: lines that say that tests were left out.
        timed: lines end in how long something took.
    """

    by: str
    marks: tuple[str, ...]
    totals: tuple[str, ...] = ()
    good: tuple[str, ...] = ()
    bad: tuple[str, ...] = ()
    out: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    unloaded: tuple[str, ...] = ()
    file: tuple[str, ...] = ()
    begins: str = ""
    place: str = ""
    lists: str = ""
    outline: str = ""
    name: Callable[[LogSection, str, dict[str, str]], tuple[str, str]] = _name_in_directory
    python: bool = False
    sums: bool = True
    sections: str = ""
    doubts: tuple[str, ...] = ()
    timed: bool = False


RUNNERS: tuple[Runner, ...] = (
    Runner(
        "pytest", (" passed", " failed", " error", "FAILED ", "ERROR "),
        totals=("=* {counts} in *s*=*", "{counts} in *s"),
        good=(
            "{path}::{name} PASSED*", "{path}::{name} XPASS*", "[gw*] [*] PASSED {path}::{name}",
            "[gw*] [*] XPASS {path}::{name}",
        ),
        bad=("{path}::{name} FAILED*", "[gw*] [*] FAILED {path}::{name}"),
        failures=(
            "FAILED {path}::{name} - {message}", "FAILED {path}::{name}",
            "ERROR {path}::{name} - {message}", "ERROR {path}::{name}",
            "SUBFAILED* {path}::{name} - {message}",
        ),
        unloaded=("ERROR {path} - {message}", "ERROR {path}"), begins="=* test session starts =*",
        sections="__* {name} _*_", doubts=("!!!* {why} !!!*",), name=_pytest_name, python=True,
    ),
    Runner(
        "unittest", ("\nRan ", "\nFAIL: ", "\nERROR: "),
        totals=("Ran {ran} test(s) in *s", "FAILED ({counts})", "OK ({counts})"),
        good=(
            "{name} ({owner}) ... ok", "{name} ({owner}) ... expected failure",
            "{name} ({owner}) ...",
        ),
        bad=(
            "{name} ({owner}) ... FAIL", "{name} ({owner}) ... ERROR",
            "{name} ({owner}) ... unexpected success",
        ),
        out=("{name} ({owner}) ... skipped*",),
        failures=(
            "FAIL: {name} ({owner})*", "ERROR: {name} ({owner})*",
            "UNEXPECTED SUCCESS: {name} ({owner})*",
        ),
        name=_unittest_name, python=True,
    ),
    Runner(
        "cargo", ("\nrunning ", "\ntest result: "),
        totals=("test result: *. {counts}; finished in *", "test result: *. {counts}"),
        good=("test {name} ... ok*",), bad=("test {name} ... FAILED*", "{name} --- FAILED"),
        out=("test {name} ... ignored*",), failures=("---- {name} stdout ----",),
        file=(
            "Running unittests {path} ({program})", "Running {path} ({program})",
            "Doc-tests {crate}",
        ),
        begins="running {ran} test(s)", name=_cargo_name,
    ),
    Runner(
        "nextest", (" Summary [",),
        totals=(
            "Summary [*] {ran} test(s) run: {passed} passed*",
            "Summary [*] {ran}/* test(s) run: {passed} passed*",
        ),
        doubts=(),
        good=(
            "PASS [*] (*) {suite} {name}", "PASS [*] {suite} {name}",
            "FLAKY * [*] (*) {suite} {name}", "FLAKY * [*] {suite} {name}",
            "LEAK [*] (*) {suite} {name}", "LEAK [*] {suite} {name}",
        ),
        failures=(
            "FAIL [*] (*) {suite} {name}", "FAIL [*] {suite} {name}",
            "TIMEOUT [*] (*) {suite} {name}", "TIMEOUT [*] {suite} {name}",
            "SIG* [*] (*) {suite} {name}", "SIG* [*] {suite} {name}", "ABORT [*] {suite} {name}",
        ),
        name=_name_in_suite,
    ),
    Runner(
        "node", ("\nℹ tests ",),
        totals=("ℹ pass {passed}", "ℹ fail {failed}", "ℹ cancelled {errors}", "ℹ skipped {left}"),
        good=("✔ {name}",), bad=("✖ {name}",),
        out=(
            "﹣ {name}", "✔ {name} # SKIP*", "✔ {name} # TODO*", "✖ {name} # TODO*",
            "⚠ {name} # TODO*",
        ),
        failures=("✖ {name}",), place="test at {path}:{line}:*", lists="✖ failing tests:",
        outline=" > ", timed=True,
    ),
    Runner(
        "jest", ("\nTests: ", "\nFAIL "), totals=("Tests: {counts}",), good=("✓ {name}",),
        bad=("✕ {name}",), out=("○ {name}", "✎ {name}"), failures=("● {name}",),
        unloaded=("● Test suite failed to run",),
        file=("PASS {path}", "FAIL {path}", "PASS * {path}", "FAIL * {path}"), outline=" › ",
        timed=True, doubts=("Test Suites: {part}",), name=_name_in_suite,
    ),
    Runner(
        "vitest", (" Tests ", " FAIL ", "Vitest caught"), totals=("Tests {counts} (*)",),
        good=("✓ {path} > {name}", "✓ |*| {path} > {name}"),
        bad=("× {path} > {name}", "× |*| {path} > {name}"),
        failures=("FAIL {path} > {name}", "FAIL |*| {path} > {name}"),
        unloaded=("FAIL {path} [ * ]", "FAIL {path}"), name=_name_in_suite, timed=True,
    ),
    Runner(
        "mocha", (" passing", " failing"),
        totals=("{passed} passing*", "{failed} failing*", "{left} pending*"),
        good=("✔ {name}", "✓ {name}"), bad=("{number}) {name}",), out=("- {name}",),
        failures=("{number}) {name}",), lists="{failed} failing*", outline=" > ", timed=True,
    ),
    Runner(
        "uvu", ("\n  Total:  ",), totals=("Total: {ran}", "Passed: {passed}", "Skipped: {left}"),
        failures=('FAIL "{name}"', 'FAIL * "{name}"'), file=("{path}",), name=_name_in_suite,
    ),
    Runner(
        "jvm", ("Tests run: ", "<<< ", " FAILED", " completed"),
        totals=(
            "Tests run: {ran}, Failures: {failed}, Errors: {errors}, Skipped: {out}",
            "Tests run: {ran}, Failures: {failed}, Errors: {errors}, Skipped: {out}, Flakes: *",
            "{ran} test(s) completed, {failed} failed, {out} skipped",
            "{ran} test(s) completed, {failed} failed",
        ),
        failures=(
            "{owner}.{name} -- Time elapsed: * <<< *!", "{name}({owner}) Time elapsed: * <<< *!",
            "{owner} > {name} FAILED",
        ),
        doubts=("{why} .* SKIPPED",),
    ),
    Runner(
        "minitest or test-unit", (" assertions, ",),
        totals=(
            "{ran} run(s), * assertions, {failed} failures, {errors} errors, {out} skips",
            "{ran} test(s), * assertions, {failed} failures, {errors} errors, {out} pendings*",
        ),
        good=("{owner}#{name} = * s = .",),
        bad=("{owner}#{name} = * s = F", "{owner}#{name} = * s = E"),
        out=("{owner}#{name} = * s = S",),
        failures=(
            "{owner}#{name} [{path}:{line}]*", "{owner}#test_{tail}:",
            "Failure: {name}({owner}): {message}", "Failure: {name}({owner})*",
            "Error: {name}({owner})*",
        ),
    ),
    Runner(
        "RSpec", (" example",),
        totals=(
            "{ran} example(s), {failed} failure(s), {out} pending*",
            "{ran} example(s), {failed} failure(s)",
        ),
        failures=("{number}) {name}",), lists="Failures:",
    ),
    Runner(
        "ExUnit", (" tests, ", " test, "),
        totals=(
            "{ran} test(s), {failed} failure(s)",
            "* {ran} test(s), {failed} failure(s), {out} skipped",
            "{ran} test(s), {failed} failure(s), {out} skipped",
            "* {ran} test(s), {failed} failure(s)",
        ),
        failures=("{number}) test {name} ({owner})",),
    ),
    Runner(
        "Automake", ("# PASS:",),
        totals=(
            "# PASS: {passed}", "# XFAIL: {known}", "# FAIL: {failed}", "# XPASS: {unexpected}",
            "# ERROR: {errors}", "# SKIP: {left}",
        ),
        good=("PASS: {name}", "XFAIL: {name}"),
        bad=("FAIL: {name}", "XPASS: {name}", "ERROR: {name}"),
    ),
    Runner(
        "GoogleTest", ("[==", "SKIPPED ]"),
        totals=(
            "[=*] {ran} test(s) from * ran*", "[=*] {ran} test cases ran.",
            "[ SKIPPED ] {out} test(s), listed below:",
        ),
        good=("[ OK ] {name} (*s)",),
        bad=("[ FAILED ] {name}, where * (*s)", "[ FAILED ] {name} (*s)"),
    ),
    Runner(
        "cmocka", ("test(s) run.",),
        totals=("[=*] {ran} test* run.", "[=*] *: {ran} test* run.", "[ SKIPPED ] {out} test*"),
        good=("[ OK ] {name}",), bad=("[ FAILED ] {name}",),
    ),
    Runner(
        "Unity", (" Failures ",), totals=("{ran} Tests {failed} Failures {out} Ignored*",),
        good=("{path}:{line}:{name}:PASS",), bad=("{path}:{line}:{name}:FAIL*",),
    ),
    Runner("Check", ("Checks: ",), ("*%: Checks: {ran}, Failures: {failed}, Errors: {errors}",)),
    Runner(
        "Catch2", ("test cases",),
        (
            "All tests passed (* in {ran} test case(s))",
            "test cases: {ran} | * passed | {failed} failed | {out} skipped",
            "test cases: {ran} | * passed | {failed} failed",
            "test cases: {ran} | {failed} failed",
            "[doctest] test cases: {ran} | * passed | {failed} failed | {left} skipped",
        ),
    ),
    Runner(
        "Jasmine", (" spec",),
        (
            "{ran} spec(s), {failed} failure(s), {out} pending*",
            "{ran} spec(s), {failed} failure(s)*",
        ),
    ),
    Runner(
        "PHPUnit", (" assertion", "Assertions: "),
        (
            "OK ({ran} test(s), * assertion(s))",
            "Tests: {ran}, Assertions: *, Errors: {errors}, Failures: {failed}*",
            "Tests: {ran}, Assertions: *, Failures: {failed}, Skipped: {out}*",
            "Tests: {ran}, Assertions: *, Failures: {failed}*",
            "Tests: {ran}, Assertions: *, Errors: {errors}*",
            "Tests: {ran}, Assertions: *, Skipped: {out}*",
        ),
    ),
    Runner("prove", ("\nFiles=",), ("Files=*, Tests={ran},*",)),
    Runner("Deno", (" passed",), ("* | {passed} passed * | {failed} failed *",)),
    Runner(
        "Bun", (" across ",),
        ("Ran {ran} test(s) across * file(s)*", "{out} skip", "{out} todo", "{failed} fail"),
    ),
    Runner(
        "AVA", (" tests passed", " test passed", " tests failed", " test failed"),
        ("{passed} test(s) passed", "{failed} test(s) failed"),
    ),
)  # fmt: skip
#: Read where no other runner is known: what programs of tests print of their own accord.
PROGRAM = Runner(
    "the test program",
    ("ass", "ASS", "ail", "AIL", "OK", " ok", "SUCC", "succ"),
    totals=(
        "{ran} test(s) conducted, {failed} failed*",
        "{ran} test(s)* passed, {failed} failed*",
        "{passed} passed, {failed} failed, {errors} errored, {left} skipped",
        "{passed} passed, {failed} failed, {left} skipped",
        "{passed} passed, {failed} failed",
        "Pass {passed}, Fail {failed}*",
        "Passed: {passed}, Failed: {failed}*",
        "{passed} of {ran} tests passed*",
        "* {passed} of {ran} tests passed*",
        "* {passed} test(s) passed.",
        "* {failed} out of {ran} test(s) failed*",
        "{passed}/{ran} tests *",
        "Tests passed: {passed}",
        "Tests failed: {failed}",
        "PASSED: {passed}",
        "FAILED: {failed}",
        "{failed} of {ran} tests failed*",
        "All {ran} tests passed",
    ),
    good=(
        "PASS: {name}", "[ OK ] {name}", "[PASS] {name}", "{name}: PASS", "{name}: PASSED",
        "{name} ... PASSED", "{name} ... Passed!", "{name}: OK", "{name} ... OK", "{name} [OK]",
        "{name}: SUCCESS!",
    ),
    bad=(
        "FAIL: {name}", "[FAIL] {name}", "[ FAILED ] {name}", "{name}: FAIL", "{name}: FAILED",
        "{name} ... FAILED", "{name} ... Failed!", "{name} ... FAIL", "{name}: FAILURE!",
    ),
    sums=False,
)  # fmt: skip
