from __future__ import annotations

import difflib
import json
import random
import subprocess
import sys
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from fakes.llm import changed, context
from fakes.repository import FakeRepository, pull_between
from fakes.shell import ScriptedShell, SilentProgress
from prjury.errors import ConfigError
from prjury.judges.builds.evidence import KeptReports
from prjury.judges.builds.results.tree import TreeFiles
from prjury.judges.merged_tree.coverage import decide_added_lines, make, match_coverage
from prjury.judges.merged_tree.tree import find_added_lines_in_merge
from prjury.judges.workspace.coverage import CoverageJudge
from prjury.judges.workspace.coverage_readers import CoverageMetrics, CoverageReport, read_coverage
from prjury.jury.judgment import Judgment, Location, Status
from prjury.policy.load import read_options
from prjury.policy.options import CoverageOptions
from prjury.ports import Ports
from prjury.snapshot.diff import read_patches
from prjury.snapshot.model import FileChange, MergeTrial

TREE = "d" * 40
FILES = {"src/a.py": "a\nb\n", "src/b.py": "b\n", "notes.md": "x\n"}
PORTS = Ports(FakeRepository({TREE: FILES}), ScriptedShell(), SilentProgress())
CODE = changed("src/a.py", "+a", "+b")
REPORT = "lcov.info"


def report(covered: int, missed: int, file: str = "src/a.py") -> bytes:
    """A report of so many lines, the covered ones first."""
    lines = [f"DA:{at},{int(at <= covered)}" for at in range(1, covered + missed + 1)]
    return "\n".join([f"SF:{file}", *lines, "end_of_record\n"]).encode()


def judged(
    merged: Mapping[str, bytes | None] | bytes,
    base: bytes | None = None,
    files: tuple[FileChange, ...] = (CODE,),
    **asked: Any,
) -> Judgment:
    around = context(*files)
    kept = KeptReports.of(around)
    kept.files.update({REPORT: merged} if isinstance(merged, bytes) else merged)
    if base:
        kept.base[REPORT] = base
    options = read_options({"report": REPORT, **asked}, CoverageOptions)
    return make(options, PORTS).judge(around)


def outcome(judgment: Judgment) -> str:
    reason = judgment.label or judgment.metadata.get("reason")
    return f"{judgment.status.value} {reason}" if reason else judgment.status.value


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"minimum": 66.66}, "pass"),
        ({"minimum": 66.67}, "fail"),
        ({"minimum": 60, "metric": "branch"}, "error no_such_counter"),
        ({"minimum": 60, "baseline": "base"}, "pass"),
        ({"minimum": 67, "baseline": "base"}, "fail"),
        ({"baseline": "base", "mode": "preserved"}, "pass"),
        ({"baseline": "base", "mode": "improved"}, "fail"),
        ({"baseline": 66.67, "mode": "preserved"}, "fail"),
        ({"baseline": 66.67, "max_drop": 0.1}, "pass"),
        ({"baseline": 50, "mode": "improved"}, "pass"),
    ],
)
def test_two_thirds_after_two_thirds(asked: dict[str, Any], told: str) -> None:
    assert outcome(judged(report(2, 1), report(4, 2), **asked)) == told


def test_without_the_base_there_is_no_baseline() -> None:
    for base in (None, b"broken"):
        for asked in ({}, {"mode": "improved"}, {"minimum": 60}):
            found = judged(report(2, 1), base, baseline="base", **asked)
            assert outcome(found) == "abstain no_baseline"
    assert outcome(judged(report(2, 1), baseline="base", minimum=90)) == "fail"


def test_the_added_lines() -> None:
    files = (CODE, changed("src/b.py", "+b"), changed("notes.md", "+x"))
    judgment = judged(report(1, 3), files=files, mode="added_lines", minimum=50)
    assert judgment.status is Status.PASS
    assert judgment.reasoning == (
        "coverage of the 2 added lines is 50 %, at least 50 % is asked for; "
        "lcov.info knows nothing of src/b.py"
    )
    places = [check.location for check in judgment.failed_checks]
    assert places == [Location("src/a.py", 2), None]


def test_reports_of_several_modules_add_up() -> None:
    both = {f"one/{REPORT}": report(2, 0), f"two/{REPORT}": report(0, 2, "src/b.py")}
    assert judged(both, minimum=1).metadata["percent"] == 50


def test_what_cannot_be_judged() -> None:
    broken = judged(b"odd", minimum=1)
    assert outcome(broken) == "error report_invalid"
    assert broken.reasoning.startswith("the report lcov.info cannot be understood. It is in none")
    assert outcome(judged({REPORT: None}, minimum=1)) == "error report_invalid"
    assert outcome(judged({}, minimum=1)) == "error report_missing"
    assert outcome(judged({"other.info": report(1, 0)}, minimum=1)) == "error report_missing"
    assert outcome(judged({}, files=(changed("a.md", "+x"),), minimum=1)) == (
        "abstain not_applicable"
    )


def test_conflicts_leave_nothing_to_measure() -> None:
    around = context(CODE, merge=MergeTrial(None))
    judge = make(CoverageOptions(report=REPORT, minimum=1), PORTS)
    assert outcome(judge.judge(around)) == "abstain conflicts"


def test_options_that_do_not_go_together() -> None:
    options = CoverageOptions(report=REPORT, minimum=1, mode="added_lines", metric="branch")
    with pytest.raises(ConfigError, match="counts lines"):
        make(options, PORTS)


def test_added_lines_are_counted_in_the_merged_tree() -> None:
    base = {"a.py": "1\n2\n", "b.py": "1\n", "gone.py": "1\n"}
    head = {"a.py": "1\nnew\n2\n", "b.py": "1\nnew\n", "gone.py": "1\nnew\n"}
    merged = {"a.py": "0\n0\n1\nnew\n2\n", "b.py": "1\nnew\n"}
    repository = FakeRepository({"head": head, "merged": merged})
    blobs = {entry.path: entry.blob for entry in repository.files("merged")}
    files = pull_between(base, head).files
    found = {file.path: find_added_lines_in_merge(file, blobs, repository) for file in files}
    assert found == {"a.py": {4: "new"}, "b.py": {2: "new"}, "gone.py": {2: "new"}}


REPORTS = Path(__file__).parents[1] / "workspace" / "coverage_reports"


@pytest.mark.parametrize(
    ("name", "roots", "place", "path"),
    [
        ("src/a.py", (), "", "src/a.py"),
        ("/home/runner/work/x/src/a.py", (), "", "src/a.py"),
        ("a.py", ("/home/runner/work/x/src",), "", "src/a.py"),
        ("a.py", ("/home/runner/work/x",), "", "a.py"),
        ("example.com/x/a.py", (), "", "a.py"),
        ("till/Till.java", (), "two/target/jacoco.xml", "two/src/main/java/till/Till.java"),
        ("till/Till.java", (), "one/target/jacoco.xml", "one/src/main/java/till/Till.java"),
        ("other/Till.java", (), "", ""),
    ],
)
def test_which_file_a_report_means(
    name: str, roots: tuple[str, ...], place: str, path: str
) -> None:
    modules = [f"{module}/src/main/java/till/Till.java" for module in ("one", "two")]
    known = ["a.py", "src/a.py", *modules]
    report = CoverageReport(CoverageMetrics(), {name: {1: True}}, roots, Path(place))
    found = match_coverage([report], {one: {1: "x"} for one in known}, TreeFiles(frozenset(known)))
    assert list(found) == ([path] if path else [])


def test_blocks_of_go_hold_lines_that_are_no_code() -> None:
    lines = {4: "if x {", 5: "}", 6: "", 7: "\t// why", 8: "return 0"}
    report = CoverageReport(
        CoverageMetrics(), {"example.com/x/a.go": dict.fromkeys(lines, False)}, by_block=True
    )
    found = match_coverage([report], {"a.go": lines}, TreeFiles(frozenset(["a.go"])))
    assert found == {"a.go": {4: False, 8: False}}


def laid(place: Path, before: str, after: str, hits: dict[int, int]) -> str:
    """A file, a report of it, and the diff that made it."""
    (place / "pkg").mkdir(exist_ok=True)
    (place / "pkg" / "a.py").write_text(after)
    lines = "".join(f'<line number="{n}" hits="{hit}"/>' for n, hit in hits.items())
    (place / "coverage.xml").write_text(
        f"<coverage><sources><source>{place}</source></sources><packages><package><classes>"
        f'<class filename="pkg/a.py"><methods/><lines>{lines}</lines></class>'
        "</classes></package></packages></coverage>"
    )
    return "diff --git a/pkg/a.py b/pkg/a.py\n" + "\n".join(
        line.rstrip("\n")
        for line in difflib.unified_diff(
            before.splitlines(), after.splitlines(), "a/pkg/a.py", "b/pkg/a.py", lineterm=""
        )
    ) + "\n"  # fmt: skip


def measure(place: Path, diff: str, minimum: float = 100) -> Judgment:
    [patch] = read_patches(diff.encode())
    lines = [line for hunk in patch.hunks() for line in hunk.lines]
    added = {"pkg/a.py": {line.new: line.text for line in lines if line.sign == "+" and line.new}}
    reports = read_coverage(place / "coverage.xml")
    coverage = match_coverage(reports, added, TreeFiles(frozenset(["pkg/a.py"])))
    return decide_added_lines(CoverageJudge("coverage.xml", minimum), coverage, ())


def change_lines(seed: int, place: Path) -> str:
    pick = random.Random(seed)  # noqa: S311 - to choose lines
    old = [f"a{n} = {n}" for n in range(pick.randint(0, 30))]
    new = [line for line in old if pick.random() > 0.2]
    for number in range(pick.randint(1, 20)):
        new.insert(pick.randint(0, len(new)), pick.choice(["", f"b{number} = 1", "++ c"]))
    hits = {n: pick.randint(0, 2) for n in range(1, len(new) + 1) if pick.random() > 0.3}
    return laid(place, "\n".join(old), "\n".join(new), hits)


@pytest.mark.slow
def test_the_figure_is_that_of_diff_cover(tmp_path: Path) -> None:
    for seed in range(10):
        place = tmp_path / str(seed)
        subprocess.run(["git", "init", "-q", place], check=True)
        (place / "change.diff").write_text(change_lines(seed, place))
    program = (
        "import os, sys; from diff_cover.diff_cover_tool import main\n"
        "for seed in range(10):\n"
        "    os.chdir(sys.argv[1] + f'/{seed}')\n"
        "    main(['diff-cover', 'coverage.xml', '--diff-file', 'change.diff', '-q',"
        " '--format', 'json:out.json'])\n"
    )
    run = [sys.executable, "-c", program, str(tmp_path)]
    subprocess.run(run, check=True, capture_output=True, cwd=tmp_path)
    compared = 0
    for seed in range(10):
        place = tmp_path / str(seed)
        told = json.loads((place / "out.json").read_text())
        ours = measure(place, (place / "change.diff").read_text())
        missed, total = told["total_num_violations"], told["total_num_lines"]
        if not total:
            assert ours.label == "not_applicable"
            continue
        assert ours.metadata["percent"] == float(Fraction(100 * (total - missed), total))
        compared += 1
        stats = told["src_stats"].get("pkg/a.py", {})
        found = [
            number
            for check in ours.failed_checks
            if check.name == "uncovered-lines" and check.location and check.location.line
            for number in range(check.location.line, (check.location.end_line or 0) + 1)
            or [check.location.line]
        ]
        assert found == stats["violation_lines"]
    assert compared >= 9


def test_uncovered_lines_are_findings_with_their_place(tmp_path: Path) -> None:
    diff = laid(tmp_path, "a", "a\nb\nc\nd\ne\nf", {1: 0, 2: 0, 3: 0, 4: 1, 6: 0})
    judgment = measure(tmp_path, diff, 75)
    assert judgment.status is Status.FAIL
    assert judgment.reasoning == (
        "coverage of the 4 added lines is 25 %, at least 75 % is asked for"
    )
    assert [(check.location, check.message) for check in judgment.failed_checks[1:]] == [
        (Location("pkg/a.py", 2, 3), "lines 2 to 3 are not covered by tests"),
        (Location("pkg/a.py", 6), "line 6 is not covered by tests"),
    ]
    passed = measure(tmp_path, diff, 25)
    assert passed.status is Status.PASS
    assert {check.severity for check in passed.failed_checks} == {"warning"}


def test_source_files_that_no_report_names_are_told() -> None:
    judgment = decide_added_lines(CoverageJudge("coverage.xml", 80), {}, ["new.py"])
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, "not_measured")
    both = decide_added_lines(CoverageJudge("coverage.xml", 80), {"a.py": {1: True}}, ["new.py"])
    assert both.status is Status.PASS
    assert both.reasoning.endswith("coverage.xml knows nothing of new.py")
    assert both.metadata["unmeasured"] == ("new.py",)


def test_nothing_that_counts_is_not_applicable(tmp_path: Path) -> None:
    diff = laid(tmp_path, "a", "a\n# why", {1: 1})
    assert measure(tmp_path, diff).label == "not_applicable"


def test_reports_of_real_tools_name_the_files_of_the_tree() -> None:
    known = ["src/pkg/a.py", "a.js", "a.go", "sub/s.go"]
    for name, path in (
        ("coverage.xml", "src/pkg/a.py"),
        ("coverage.lcov", "src/pkg/a.py"),
        ("c8.info", "a.js"),
        ("c8.xml", "a.js"),
        ("go.out", "a.go"),
    ):
        added = {one: {5: "return 0", 7: "def g():"} for one in known}
        assert path in match_coverage(
            read_coverage(REPORTS / name), added, TreeFiles(frozenset(known))
        )
