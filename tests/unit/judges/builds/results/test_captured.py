"""What is read from logs and reports that tools wrote themselves, and from documented forms.

What is expected stands beside them in ``logs/expected.json``; ``PRJURY_UPDATE_GOLDEN=1`` renews it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from fakes.logs import KNOWN, LOGS, PLACES, TREE, read_failed, read_step
from prjury.judges.builds.failure import Results
from prjury.judges.builds.results.junit import parse_reports
from prjury.judges.builds.results.read import merge_results
from prjury.judges.builds.results.tree import TreeFiles

NAMES = sorted(path.name for path in LOGS.iterdir() if path.suffix in {".txt", ".xml"})
EXPECTED = LOGS / "expected.json"
#: Where the reports lie whose place matters.
PLACED = {
    "gotestsum.xml": "report/junit.xml",
    "nextest.xml": "target/nextest/ci/junit.xml",
    "surefire-nested.xml": "one/target/surefire-reports/TEST-p.ATest$In.xml",
    "surefire-setup.xml": "one/target/surefire-reports/TEST-p.SetupTest.xml",
    "surefire-rerun.xml": "one/target/surefire-reports/TEST-p.ATest$In.xml",
}


def read_facts(name: str, tmp_path: Path) -> dict[str, Any]:
    """Return what is read from a log of a step that failed, or from a report."""
    text = (LOGS / name).read_text()
    if name.endswith(".xml"):
        content = text.replace("{tree}", str(TREE)).encode()
        files = [(PLACED.get(name, "junit.xml"), content)]
        results = parse_reports(files, [], TreeFiles(KNOWN), PLACES.relative)
        failures = results.failures
    else:
        failures, results = read_failed(text, tmp_path)
    facts = {
        "failures": [f"{one.kind} {one.place or '-'} {one.message} | {one.id}" for one in failures],
        "ran": sorted(set(results.ran) - {one.id for one in failures}),
        "counts": f"{results.run} ran, {results.skipped} skipped, {len(results.flaky)} flaky",
        "problems": list(results.problems),
    }
    return {key: value for key, value in facts.items() if value}


@pytest.mark.parametrize("name", NAMES)
def test_what_is_read(name: str, tmp_path: Path) -> None:
    facts = read_facts(name, tmp_path)
    expected = json.loads(EXPECTED.read_text()) if EXPECTED.exists() else {}
    if os.environ.get("PRJURY_UPDATE_GOLDEN"):
        expected = {one: expected.get(one) for one in NAMES} | {name: facts}
        EXPECTED.write_text(json.dumps(expected, indent=1, ensure_ascii=False) + "\n")
    assert facts == expected[name]


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
        "test:src/lib.rs (a):tests::real",
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
        "test::a.test.mjs > real",
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
        [read_step(text.format(""), tmp_path, failed=False)], Results(), reported=False
    )
    assert (honest.ran, honest.counted, honest.tests) == ((real,), 0, 1)
    _, other = merge_results(
        [read_step(text.format(forged), tmp_path, failed=False)], Results(), reported=False
    )
    assert other.ran == ()
    assert other.counted in {1, 2}
