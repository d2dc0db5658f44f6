from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from fakes.llm import changed, context
from fakes.repository import FakeRepository, pull_between
from fakes.shell import ScriptedShell, SilentProgress
from prjury.errors import ConfigError
from prjury.judges.builds.evidence import KeptReports
from prjury.judges.merged_tree.coverage import make
from prjury.judges.merged_tree.tree import read_merged_lines
from prjury.jury.judgment import Judgment, Location, Status
from prjury.policy.load import read_options
from prjury.policy.options import CoverageOptions
from prjury.ports import Ports
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
    found = {file.path: read_merged_lines(file, blobs, repository) for file in files}
    assert found == {"a.py": {4: "new"}, "b.py": {2: "new"}, "gone.py": {2: "new"}}
