"""Compare the reader of JUnit's XML with a naive one, over the report files of other projects.

``python tests/fitting/compare_junit.py MIRRORS`` takes a directory of bare repositories as
``tests/field`` uses them (``OWNER+NAME/repo``), reads each XML file that is a test report, and
prints where names or counts differ, with the totals at the end. Nothing of the files is kept.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from defusedxml.ElementTree import ParseError, fromstring

from prjury.judges.builds.results.junit import parse_reports
from prjury.judges.builds.results.tree import TreeFiles

COLLECTIONS = (
    "EnricoMi+publish-unit-test-result-action",
    "dorny+test-reporter",
    "mikepenz+action-junit-report",
    "jenkinsci+junit-plugin",
)


class Counts(NamedTuple):
    """Cases by how they ended, classes that failed, and the names of failing cases."""

    tests: int
    failed: int
    skipped: int
    suites: int
    names: Counter[str]


def list_files(mirrors: Path) -> Iterator[tuple[str, bytes]]:
    """Yield each XML file of the collections."""
    for name in COLLECTIONS:
        git = ["git", "-C", str(mirrors / name / "repo")]
        listing = subprocess.run(
            [*git, "ls-tree", "-r", "--name-only", "-z", "HEAD"], check=True, capture_output=True
        ).stdout
        for path in listing.decode().split("\0"):
            if path.endswith((".xml", ".trx")):
                shown = subprocess.run(
                    [*git, "show", f"HEAD:{path}"], check=True, capture_output=True
                )
                yield f"{name}/{path}", shown.stdout


def read_naively(content: bytes) -> Counts | None:
    """Count what stands there; None for what is no JUnit."""
    tree = fromstring(content, forbid_dtd=True)
    for element in tree.iter():
        element.tag = str(element.tag).rpartition("}")[2].lower()
    if tree.tag not in {"testsuites", "testsuite"}:
        return None
    tests = failed = skipped = suites = 0
    names = Counter[str]()
    for element in tree.iter():
        children = [child.tag for child in element]
        bad = "failure" in children or "error" in children
        if element.tag in {"testsuites", "testsuite"}:
            suites += children.count("failure") + children.count("error")
        if element.tag == "testcase":
            tests += 1
            bad = bad or element.get("status", "").lower() in {"failed", "failure", "error"}
            failed += bad
            skipped += not bad and (
                "skipped" in children or _has_not_run(element.get("status", ""))
            )
            names.update([element.get("name", "")] if bad else [])
    return Counts(tests, failed, skipped, suites, names)


def _has_not_run(status: str) -> bool:
    return status.lower() in {"notrun", "disabled", "skipped", "ignored", "pending"}


def read_ours(name: str, content: bytes) -> tuple[Counts, int, tuple[str, ...]]:
    """Read with the reader that is compared; also how many reports it counts, and its problems."""
    results = parse_reports([(name, content)], [], TreeFiles(frozenset()), str)
    suites = [one for one in results.failures if one.kind == "error"]
    cases = [one for one in results.failures if one.kind != "error"]
    names = Counter((one.name or "").rpartition("#")[2] for one in cases)
    counts = Counts(results.tests, len(cases), results.skipped, len(suites), names)
    return counts, results.files, results.problems


def main() -> None:
    """Print the differences and the totals."""
    totals, differences = Counter[str](), 0
    for name, content in list_files(Path(sys.argv[1])):
        counts, files, problems = read_ours(name, content)
        try:
            naive = read_naively(content)
        except (ParseError, ValueError) as error:
            totals["unreadable"] += 1
            print(f"unreadable {name}: {error} | {problems}")
            continue
        if naive is None:
            totals["no JUnit"] += 1
            totals["no JUnit, and not named"] += files > 0 or not problems
            print(f"no JUnit {name}: {problems}")
            continue
        totals["JUnit"] += 1
        totals["tests"] += counts.tests
        totals["failing"] += counts.failed
        totals["doubted"] += bool(problems)
        if counts != naive or problems:
            differences += 1
            missing, more = naive.names - counts.names, counts.names - naive.names
            print(f"differs {name}: {counts[:4]} naive {naive[:4]} {problems} -{missing} +{more}")
    print(dict(totals), "differences", differences)


if __name__ == "__main__":
    main()
